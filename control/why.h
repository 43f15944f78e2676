/* Why turns and written messages ended as they did, told to a person at a terminal: from the store.
 *
 *   turn 3 of alice, 2026-11-22 12:03:04 UTC: not_addressed (it was not meant for the bot)
 *     direct_address       no   0, limit 1        the bot was addressed by name
 *     …
 *   speech of bob, 2026-11-22 12:03:09 UTC, 320 ms: never became a turn (not_promoted)
 *   message 1442 of user 501 in channel 7, 2026-11-22 12:03:12 UTC: sent_reply (…)
 *     signal     direct (a mention of the bot, a reply to it, or a direct message)
 *     attention  direct_address (addressed)
 *     rule       force_respond (the signal forces an answer)
 *     answer 3 after 2140 ms: the model 1800 ms, what followed 0 ms */
#ifndef CONTROL_WHY_H
#define CONTROL_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

enum { WHY_MAX = 20 }; /* turns that are told at most: the newest */

struct why_query {
	const char *state_dir;
	bool one;			/* a single turn or message: the newest that fits */
	uint32_t turn;			/* its number in its voice session; 0: any */
	uint64_t message;		/* a written one, by its id; 0: any */
	uint64_t channel;		/* of a written message, then nothing else fits; 0: any */
	uint64_t guild, user, since_ms; /* 0: any */
	unsigned most;			/* the newest ones, of each kind; 0: WHY_MAX */
};

/* A turn's number, a message's id or "last" (also empty) for --why; a length of time such as 30m,
 * 2h, 3d for --since. False when it is none. */
bool why_parse_turn(struct why_query *q, const char *text);
bool why_parse_since(struct why_query *q, const char *text, uint64_t now_ms);

/* A turn as text, for a slash command or a terminal: a turn event as JSON (docs/events.md); *out is
 * freed by the caller. EBADMSG when it is none, ENOMEM. */
int why_text(char **out, const json_t *turn);
/* The same of a written message, as why_find gives it. */
int why_written_text(char **out, const json_t *x);
/* The store's record, oldest first: turn events as JSON, speech ({"speech": …}) that never became a
 * turn, and written messages ({"written": the event text_message, …}). The caller owns *out. ENOENT
 * when there is nothing, and what control/store/db.h gives. */
int why_find(json_t **out, const struct why_query *q);
/* By `at`, the oldest first. Takes the list, and returns another one. */
json_t *why_sort(json_t *list);
/* To stdout: what why_find gives, and entries {"line": text, "at"} between. list: borrowed. */
void why_print(const json_t *list);
/* `control --why`. The exit status. */
int why_run(const struct why_query *q);

#endif
