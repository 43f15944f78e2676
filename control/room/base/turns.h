/* What a machine with the narrow context (context.h) may do with turns. The turns' table itself
 * belongs to turn.c, the queue to turn_queue.c, and their state is not visible here.
 *
 * Turns are borrowed and live until their place is needed again, at least to the end of the step.
 * For control/room only. */
#ifndef CONTROL_ROOM_BASE_TURNS_H
#define CONTROL_ROOM_BASE_TURNS_H

#include "control/room/base/turn.h"

struct room_context;

/* The turn that has the floor, ASKED, SPEAKING or CLOSING; NULL while the floor is free. */
struct room_turn *room_turn_active(const struct room_context *context);
/* When the floor became free last, ns; 0 = never. */
uint64_t room_turn_free_at(const struct room_context *context);
/* Whether a turn was heard and has not ended: it is transcribed, waits or is answered. */
bool room_turn_pending(const struct room_context *context);
struct room_turn *room_turn_by_id(const struct room_context *context, uint32_t id);
/* A turn that nobody spoke: a prompt of the room itself. NULL if there is no place. */
struct room_turn *room_turn_new_prompted(struct room_context *context, const char *text);
/* Aborts all work for the turn. The first reason stays. */
void room_turn_cancel(struct room_context *context, struct room_turn *turn,
		      enum room_reason reason);

/* Ends the turn; the first reason stays. */
void room_turn_end(struct room_context *context, struct room_turn *turn, enum room_reason reason);

/* turn_queue.c: the turn that waits for the floor, or NULL. */
struct room_turn *room_turn_queued(const struct room_context *context);
/* When the live captures will have ended if no more audio arrives: of the turn's speaker, and
 * of others too if asked for. 0: nobody speaks. turn may be NULL. */
uint64_t room_speech_until(const struct room_context *context, const struct room_turn *turn,
			   bool others);

/* admission.c: the classifier decided whether a turn was meant for the bot. */
void room_turn_admit_classified(struct room_context *context, struct room_turn *turn, bool meant);
/* output.c: gives the turn the floor and asks the brain. */
void room_answer_ask(struct room_context *context, struct room_turn *turn);
/* Asks once more for the active turn, whose answer begins anew: the same question, or with `anew`
 * a new one. */
void room_answer_ask_again(struct room_context *context, struct room_turn *turn, bool anew);
/* Opens the playback of the answer. */
void room_answer_open_playback(struct room_context *context, struct room_turn *turn);
/* The answer of the active turn is planned and synthesised here; a voice model speaks by itself. */
bool room_answer_planned(const struct room_context *context);

/* speculative.c: whether the answer to this turn must not be heard yet. */
bool room_speculative_holds(const struct room_context *context, uint32_t turn);

#endif
