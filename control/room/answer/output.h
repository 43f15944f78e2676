/* The output: brings an answer from the brain to the playback.
 *
 *   active turn   the brain's audio   playback       output state
 *   none          -                   -              idle
 *   ASKED         none                -              pending
 *   ASKED         held back           not open       pending (is it "I did not catch that"?)
 *   SPEAKING      released            not started    pending
 *   SPEAKING      released            started        speaking
 *   SPEAKING      complete            started        speaking, until drained
 *   CLOSING       cancelled           stopping       fading
 *
 * A guest tells each speaker only rarely that it did not understand. The words of an answer show
 * whether it is that; so a guest's answer is held back until enough words or enough audio arrived.
 * For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_OUTPUT_H
#define CONTROL_ROOM_ANSWER_OUTPUT_H

#include "control/room/answer/output_state.h"
#include "control/room/base/people.h"

struct room_event;

/* Users who know that the bot did not understand. Kept by user and not by place: somebody who
 * leaves and returns is the same person. */
struct room_not_understood {
	uint64_t user, at; /* user 0: free */
};

struct room_output {
	enum room_output_phase phase;
	uint64_t at; /* when it was entered */
	struct room_not_understood not_understood[ROOM_SPEAKERS];
};

/* Retries the active turn, whose answer starts over: the same question, or with `anew`
 * a new one. */
void room_answer_ask_again(struct room_context *context, struct room_turn *turn, bool anew);
/* The brain's answer is complete, and its tools want no other one. */
void room_output_complete(struct room_context *context, struct room_turn *turn);
/* Opens the playback of the answer. */
void room_answer_open_playback(struct room_context *context, struct room_turn *turn);
/* Its audio is no longer held back. */
void room_answer_release(struct room_context *context, struct room_turn *turn);
/* The answer of the active turn is planned and synthesised here; a voice model speaks by itself. */
bool room_answer_planned(const struct room_context *context);

/* The state of the bot's output now. */
struct room_output_state room_output_state_now(const struct room_context *context);
void room_output_on_event(struct room_context *context, const struct room_event *ev);
/* At the end of each step: records the phase and when it was entered. */
void room_output_tick(struct room_context *context);

#endif
