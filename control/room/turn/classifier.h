/* The classifier: a small model that is asked whether a turn was meant for the bot, only where the
 * rules of admission leave that open. The question is an effect (CLASSIFY), the answer an event
 * (CLASSIFIED); meanwhile the turn is in the phase CLASSIFYING. Each question has a number, which
 * its answer carries: the answer to another question, or a second one, changes nothing.
 *
 *   answer                            turn                        circuit breaker
 *   YES..., ALLOW... (any case)       admitted, classifier_allow  failures = 0
 *   NO..., DENY...                    ended as not_addressed      failures = 0
 *   anything else                     asked again, up to          -
 *                                     classify_attempts times
 *   after that, an error, a timeout   ended as not_addressed      failures + 1; opens at
 *                                                                 classify_failures
 *   (the breaker is open)             is not asked                closes after classify_rest_s
 *
 * An unreadable answer denies, because the earlier rules have admitted every turn that they are
 * sure of. The numbers, the breaker and the parser also serve the questions about words over an
 * answer (answer/overlap_question.h), which have a breaker of their own. For control/room only. */
#ifndef CONTROL_ROOM_TURN_CLASSIFIER_H
#define CONTROL_ROOM_TURN_CLASSIFIER_H

#include "control/room/base/context.h"

struct settings;

struct room_breaker {
	unsigned failures; /* in a row */
	uint64_t open_until;
};

struct room_classifier {
	struct room_breaker breaker;
	uint32_t question; /* number of the newest one */
};

bool room_breaker_open(const struct room_breaker *b, uint64_t now);
void room_breaker_record(struct room_breaker *b, const struct settings *s, bool failed,
			 uint64_t now);
/* The number of a new question. */
uint32_t room_classifier_number(struct room_context *context);
/* ": Ann, Bob", as many as the setting allows. */
void room_classifier_people(const struct room_context *context, char *buf, size_t size);
/* The end of a line, at most so many characters of it. */
const char *room_classifier_cut(const char *text, unsigned chars);

/* The answer in the model's text: 1 yes or interrupt, 0 no or ignore, -1 neither. */
int room_classifier_parse(const char *text, size_t n);
/* The circuit breaker is closed, and the step has space for a prompt. */
bool room_classifier_ready(const struct room_classifier *c, const struct room_context *context);
/* Asks with a prompt of people, floor, the latest moments and lines, and the turn's words. */
void room_classifier_ask(struct room_context *context, struct room_turn *turn);
/* ROOM_CLASSIFIED. */
void room_classifier_on_event(struct room_classifier *c, struct room_context *context,
			      const struct room_event *ev);
/* The classifier did not answer this turn in time. */
void room_classifier_time_out(struct room_classifier *c, struct room_context *context,
			      struct room_turn *turn);

#endif
