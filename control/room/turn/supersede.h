/* Superseding: a newer turn of the same speaker replaces one whose answer has not been heard yet.
 *
 *   stage              the older turn                            result
 *   PRE_GENERATION     waits, more is being transcribed          held, then merged: one question
 *   GENERATION         the brain was asked                       cancelled, no audio, no history
 *   SPEECH             audio is on its way, none was played      cancelled before it is heard
 *
 * Only words qualify (admission has dropped noise and backchannels before), only those of the
 * speaker who is being answered, and not while the answer holds a lease or addresses everybody.
 * The newer turn holds the words of both. A revised transcript of an utterance that is being
 * answered counts as a newer turn. For control/room only. */
#ifndef CONTROL_ROOM_TURN_SUPERSEDE_H
#define CONTROL_ROOM_TURN_SUPERSEDE_H

#include <stdbool.h>
#include <stdint.h>

struct room_context;
struct room_event;
struct room_turn;

enum room_stage {
	ROOM_STAGE_NONE,
	ROOM_STAGE_PRE_GENERATION,
	ROOM_STAGE_GENERATION,
	ROOM_STAGE_SPEECH,
};

/* The stage of the active turn that words of this user would supersede; NONE: they do not. */
enum room_stage room_supersede_stage(const struct room_context *context, uint64_t user);
/* Cancels the active turn; its words go before those of `newer`. */
void room_turn_supersede(struct room_context *context, struct room_turn *newer,
			 enum room_stage stage);
/* Handles ROOM_TRANSCRIPT of an utterance that has a transcript already. Returns false if no
 * turn knows it. */
bool room_turn_revise(struct room_context *context, const struct room_event *ev);

#endif
