/* Plays random people, models and Discords against the core of text chat, and holds each step
 * against what must always be true:
 *
 *   - every message ends in exactly one reason, and none is left after SHUTDOWN
 *   - a channel has one answer at a time; what is asked ends by SEND, ABANDON, a failure or a
 * reason
 *   - an answer is sent once, in the step that brought it, and no message is in two of them
 *   - messages that share an answer have one author, and are no more than the settings allow
 *   - an answer is required if one of its messages forces it
 *   - nothing that was deleted, or written by somebody who is forgotten, is told to the model
 *   - a message has one reaction at most, which was offered, within the number of an hour
 *   - while many people talk to one another, what addresses the bot has a place, and comes first
 *   - a deadline that has passed is passed no more after a TIMER
 *
 * Now and then the core ends, by SHUTDOWN or without a word, and another one goes on with what the
 * store kept (control/text/taken.h) and the history of the channels (control/text/missed.h):
 *
 *   - no message is answered by both, whether or not Discord took the answer under way
 *   - a message that addresses the bot and is not deleted has ended, or waits in the new core */
#ifndef TESTS_TEXT_EXPLORE_H
#define TESTS_TEXT_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

struct text_explore_result {
	bool passed;
	uint64_t steps; /* done, or that of the violation */
	char why[256];
	uint64_t asks, sends, reactions, ended, restarts;
};

void text_explore(struct text_explore_result *out, uint64_t seed, uint64_t steps);

#endif
