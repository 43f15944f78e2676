/* The operations on turns that machines may use. Their table belongs to turn/turns.c and is not
 * visible here.
 *
 * Turns are borrowed and live until their place is needed again, at least to the end of the step.
 * For control/room only. */
#ifndef CONTROL_ROOM_BASE_TURNS_H
#define CONTROL_ROOM_BASE_TURNS_H

#include "control/room/base/turn.h"

enum { ROOM_TURNS = 96 };

struct room_context;

/* The turn whose answer is generated or played, ASKED, SPEAKING or CLOSING, or NULL. */
struct room_turn *room_turn_active(const struct room_context *context);
/* The same if it has the floor, which a speculative answer does not have: the words of others are
 * admitted and asked as if it had not begun. */
struct room_turn *room_turn_on_floor(const struct room_context *context);
/* Gives the floor to this turn, or with NULL to nobody. The end of the active turn frees the floor
 * by itself. */
void room_turn_activate(struct room_context *context, struct room_turn *turn);
/* turn_queue.c: the turn that waits for the floor, or NULL. */
struct room_turn *room_turn_queued(const struct room_context *context);
/* When the floor became free last, ns; 0 = never. */
uint64_t room_turn_free_at(const struct room_context *context);
/* True if a turn was heard and has not ended: it is transcribed, waits or is answered. */
bool room_turn_pending(const struct room_context *context);
struct room_turn *room_turn_by_id(const struct room_context *context, uint32_t id);
/* The next turn that has not ended, NULL after the last one; begins with after = NULL. A step that
 * ends turns may still meet an ended one. */
struct room_turn *room_turn_next(const struct room_context *context, const struct room_turn *after);
/* The same with turns that ended and are still known. */
struct room_turn *room_turn_known(const struct room_context *context,
				  const struct room_turn *after);
/* The turn of the person's open capture, HEARING; NULL: there is none. */
struct room_turn *room_turn_hearing(const struct room_context *context, unsigned place);

/* A new turn of the person in this place, HEARING. NULL if there is no place for a turn. */
struct room_turn *room_turn_new(struct room_context *context, unsigned place);
/* A turn that nobody spoke: a prompt of the room itself. NULL if there is no place. */
struct room_turn *room_turn_new_prompted(struct room_context *context, const char *text);
/* Another turn with the same words, in the phase HEARING; NULL if there is no place. */
struct room_turn *room_turn_copy(struct room_context *context, const struct room_turn *of);
/* The turn's capture has ended: its transcripts are awaited. */
void room_turn_await_transcripts(struct room_context *context, struct room_turn *turn);
/* Its first speaker left: the turn now belongs to the speaker of its first segment. */
void room_turn_reassign(struct room_turn *turn);
/* The person in this place left. */
void room_turn_forget(struct room_context *context, unsigned place);

/* Aborts all work for the turn. The first reason stays. */
void room_turn_cancel(struct room_context *context, struct room_turn *turn,
		      enum room_reason reason);
/* Ends the turn; the first reason stays. */
void room_turn_end(struct room_context *context, struct room_turn *turn, enum room_reason reason);

#endif
