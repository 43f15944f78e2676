/* Extraction: after a voice session a text model finds facts in what people said, which are kept
 * once code has found their evidence (control/memory/extract.h).
 *
 *   state     input                                         next
 *   IDLE      a minute passed, or a voice session ended;    READING: asks the store for a session
 *             the settings want it, the hour and the day's
 *             budget allow it
 *   READING   none is left                                  IDLE
 *   READING   a session's lines                             ASKED: asks the purpose memory
 *   ASKED     facts                                         WRITING: one fact at a time
 *   ASKED     no result, or EXTRACTION_ANSWER_S             IDLE, three times; then the session is
 *                                                           passed over
 *   WRITING   the server's five facts a minute are used up  WRITING: goes on a minute later
 *   WRITING   all are written                               IDLE: the session is marked as done
 *
 * The mark is in the database, so a restart goes on with the next session; a session that was
 * interrupted is extracted again, and facts that are there already are duplicates. Lines are those
 * of people who had agreed to be remembered, never the bot's. Each fact goes into the memory of the
 * person who said it, because a fact of the server's memory would be told in channels that its
 * listeners cannot see. Everything runs on env's loop thread. */
#ifndef CONTROL_EXTRACTION_EXTRACTION_H
#define CONTROL_EXTRACTION_EXTRACTION_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct env;
struct extraction;
struct http;
struct ledger;
struct settings;
struct store;
struct ws_ctx;

enum { EXTRACTION_CHECK_S = 60, EXTRACTION_ANSWER_S = 120, EXTRACTION_TRIES = 3 };

/* All is borrowed. */
struct extraction_conf {
	struct env *env;
	struct http *http;
	struct ws_ctx *ws;
	const struct settings *settings;
	struct store *store;
	struct ledger *ledger; /* NULL: nobody counts */
	struct bus *bus;       /* where costs are told */
	/* True if models may be told this person's words. NULL: everybody's. */
	bool (*allowsh)(uint64_t guild, uint64_t user, void *arg);
	void *arg;
};

/* ENOMEM, ENOSPC. Caller owns *out and frees it before the store, when all voice sessions are over.
 */
int extraction_alloc(struct extraction **out, const struct extraction_conf *conf);
struct extraction *extraction_free(struct extraction *x);

#endif
