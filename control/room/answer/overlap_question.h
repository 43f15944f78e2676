/* The interrupt classifier: a small model that is asked once about words over the bot's answer,
 * where neither word lists (floor/phrase.h) nor the voice (floor/barge_in_gate.h) decide whether
 * they interrupt it. The question is an effect (CLASSIFY_OVERLAP) with a number, the answer an
 * event (CLASSIFIED) with the same number.
 *
 *   verdict    comes by                         the words
 *   NONE       no question, or none answered    count if they are of the person whom the bot
 *                                               answers, those of others do not
 *   ASKED      a question                       duck the answer until the verdict; their turn waits
 *                                               in the phase CLASSIFYING
 *   INTERRUPT  INTERRUPT..., YES...             stop the answer, whoever may do so by name
 *   IGNORE     IGNORE..., NO...                 do not stop it, and are not answered
 *
 * A question is open for classify_interruption_ms at most. An error, an answer that cannot be read
 * and a late one count as failures; classify_failures of them in a row open the circuit breaker for
 * classify_rest_s, and nobody is asked. An utterance is asked about once; its verdict holds for
 * further words of it, unless a list decides on these. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_OVERLAP_QUESTION_H
#define CONTROL_ROOM_ANSWER_OVERLAP_QUESTION_H

#include "control/room/base/answers.h"
#include "control/room/base/people.h"
#include "control/room/turn/classifier.h"

/* The newest question about the words of one speaker. */
struct room_overlap_question {
	uint32_t number, utterance, turn; /* turn: the answer that was spoken over */
	enum room_overlap_verdict verdict;
	uint64_t asked_at, deadline;
};

struct room_overlap_questions {
	struct room_breaker breaker;
	struct room_overlap_question of[ROOM_SPEAKERS]; /* by the person's place */
};

/* True if a question about this utterance can be asked: the setting, the breaker, the space for a
 * prompt, and none was asked about it before. */
bool room_overlap_question_possible(const struct room_context *context, unsigned place,
				    uint32_t utterance);
/* Asks about these words over the answer to a turn. */
void room_overlap_question_ask(struct room_context *context, unsigned place,
			       struct room_turn *answer, uint32_t utterance, const char *words);
/* The verdict on this utterance. */
enum room_overlap_verdict room_overlap_question_verdict(const struct room_context *context,
							unsigned place, uint32_t utterance);
/* The place of the open question with this number; ROOM_SPEAKERS: there is none. */
unsigned room_overlap_question_place(const struct room_context *context, uint32_t number);
/* Closes the open question with the classifier's answer (room_classifier_parse; -1: none), records
 * it in the turn that was spoken over, if that has not ended, and returns the question. */
struct room_overlap_question room_overlap_question_close(struct room_context *context,
							 unsigned place, int answer);
/* The place of a question whose time is over; ROOM_SPEAKERS: there is none. */
unsigned room_overlap_question_late(const struct room_context *context);
/* When the first open question is late; UINT64_MAX: none is open. */
uint64_t room_overlap_question_deadline(const struct room_context *context);
/* The person in this place left. */
void room_overlap_question_forget(struct room_context *context, unsigned place);

#endif
