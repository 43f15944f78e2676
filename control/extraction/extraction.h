/* Extraction: after a voice session a text model finds facts in what people said, which are kept
 * once code has found their evidence (control/memory/extract.h). Of a session that goes on, as in a
 * room that never empties, it reads what was said so far once that is EXTRACT_LINES lines, or its
 * first line is EXTRACTION_RUNNING_S old.
 *
 *   state     input                                         next
 *   IDLE      a minute passed, or a voice session ended;    READING: asks the store for a session
 *             the settings want it, the hour and the day's
 *             budget allow it
 *   READING   none is left                                  IDLE
 *   READING   a session's lines                             ASKED: asks the purpose memory
 *   ASKED     facts                                         WRITING: one fact at a time
 *   ASKED     no result                                     IDLE, three times; then the session is
 *                                                           passed over
 *   ASKED     the model failed, or EXTRACTION_ANSWER_S      IDLE: waits a minute, then two, … then
 *                                                           64; the eighth failure passes the
 *                                                           session over
 *   WRITING   the server's five facts a minute are used up  READING: the episode is parked, and
 *                                                           another server's turn comes
 *   IDLE      a minute passed, and an episode is parked     WRITING: writes the same fact again
 *   any       the settings keep no facts any more           the same: drops the parked episodes
 *   WRITING   all are written                               IDLE: the session is marked as done
 *   any       a person of the session is erased             IDLE: drops its lines and facts, parked
 *                                                           or not; the rest of the session is
 *                                                           extracted again
 *
 * Reflection (reflection.h) shares its clock and its budget. No server holds up the others: each
 * may spend an equal share of the day's budget, by the number of servers that had voice sessions
 * lately, and an episode that has to wait for its server's facts is parked with the model's answer.
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

struct extraction;
struct model_conf;

enum {
	EXTRACTION_CHECK_S = 60,
	EXTRACTION_ANSWER_S = 120,
	EXTRACTION_RUNNING_S = 3600,
	EXTRACTION_TRIES = 3,
	EXTRACTION_LOSSES = 8,	/* answers that did not come, more than two hours in all */
	EXTRACTION_DOUBLED = 6, /* times at most */
	EXTRACTION_PARKED = 16
};

/* ENOMEM, ENOSPC. conf is copied, its pointers are borrowed. Caller owns *out and frees it before
 * the store, when all voice sessions are over. */
int extraction_alloc(struct extraction **out, const struct model_conf *conf);
struct extraction *extraction_free(struct extraction *x);
/* Drops the session under way if it may hold lines of this person. Called before the store erases
 * them. NULL accepted. */
void extraction_erase(struct extraction *x, uint64_t user);

#endif
