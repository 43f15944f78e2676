/* The classifier: a small model that is asked, only where the course of the conversation leaves it
 * open, whether words were meant for the bot. Asking is an effect (CLASSIFY), the answer an event
 * (JUDGED); the turn waits as JUDGED.
 *
 *   input                                   the turn                     the breaker
 *   YES…, ALLOW… (upper or lower case)      admitted, classifier_allow   counts from 0
 *   NO…, DENY…                              ended not_addressed          counts from 0
 *   anything else, failed, classify_ms      ended not_addressed          + 1; at classify_failures
 * it is open open                                    is not asked                 closed after
 * classify_rest_s
 *
 * What cannot be told is denied: the deterministic rows before have admitted what they are sure of.
 * For control/room only. */
#ifndef CONTROL_ROOM_TURN_CLASSIFIER_H
#define CONTROL_ROOM_TURN_CLASSIFIER_H

#include "control/room/room.h"

struct room_classifier {
	unsigned failures; /* in a row */
	uint64_t open_until;
};

/* The answer in what a model wrote: 1 yes, 0 no, -1 neither. */
int room_classifier_parse(const char *text, size_t n);
/* The prompt: who is there, the state of the room, the latest words and these. Always terminated;
 * its length. */
size_t room_classifier_prompt(const struct room *room, const struct room_turn *turn, char *buf,
			      size_t size);

bool room_classifier_ready(const struct room *room);
void room_classifier_ask(struct room *room, struct room_turn *turn);
/* ROOM_CLASSIFIED. */
void room_classifier_on_event(struct room *room, const struct room_event *ev);
/* The time of a turn that waits for the answer is up. */
void room_classifier_time_out(struct room *room, struct room_turn *turn);

#endif
