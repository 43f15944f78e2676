/* The words of the answer that is being made, from the brain to what is spoken. For control/room
 * only.
 *
 *   path     the brain's words                                 sound
 *   native   directives out, the rest is what it says          its own
 *   bridge   the same                                          its own
 *   brain    directives out, cut into pieces, planned          of each piece, by SPEAK
 *
 * What a brain says of whom it speaks to and how it keeps the floor is obeyed once the beginning of
 * its answer is over. On the brain path the playback is ended and another opened around a sound, so
 * that the sound begins when what was said before has left. How much sound still waits is written
 * less the time since the playback began: no more than that can have left, and it only steers how
 * far ahead words are made into speech. What was heard is never guessed. */
#ifndef CONTROL_ROOM_ANSWER_REPLY_H
#define CONTROL_ROOM_ANSWER_REPLY_H

#include "control/room/answer/chunker.h"
#include "control/room/answer/directive.h"
#include "control/room/answer/planner.h"
#include "control/room/room.h"
#include "control/room/answer/playout_position.h"

enum { ROOM_NOTES_MAX = 10 /* an answer */ };

struct room_reply {
	uint32_t turn;
	bool planned; /* the brain path */
	bool led;     /* whom it speaks to was obeyed */
	bool broke;   /* a piece could not be made into speech */
	struct room_directive directive;
	struct room_chunker chunker;
	struct room_plan plan;
	struct room_playout playout;
	unsigned notes;
	/* of the native path */
	uint32_t sounds; /* numbered */
	unsigned held;	 /* those that may not be heard yet */
	char sound[ROOM_SOUNDS_MAX][ROOM_SOUND_REF_MAX + 1];
	/* the playback that runs, on the brain path */
	bool open;
	uint64_t started_at, written, drained; /* drained: samples of those before */
	uint64_t sound_until;
};

void room_reply_begin(struct room *room, struct room_turn *turn);
/* The brain's next words. The turn is over afterwards when the answer was [SKIP]. */
void room_reply_add_text(struct room *room, struct room_turn *turn, struct slice text);
/* The brain has said all. */
void room_reply_complete(struct room *room, struct room_turn *turn);
/* It may be heard from now on. The turn may be over afterwards. */
void room_reply_released(struct room *room, struct room_turn *turn);
/* Sound may not be let out yet: what the words before it mean is not known. */
bool room_reply_undecided(const struct room_reply *reply);
/* More sound of this chunk is on its way to the playback. */
void room_reply_add_audio(struct room *room, struct room_turn *turn, uint32_t chunk,
			  uint64_t samples);
/* SPEECH_* and SOUND_DONE. True: there is sound of the turn in ev, of its plan. */
bool room_reply_on_event(struct room *room, struct room_turn *turn, const struct room_event *ev);
/* The brain path: does what comes next. The turn may be over afterwards. */
void room_reply_advance(struct room *room, struct room_turn *turn);
void room_reply_drained(struct room *room, struct room_turn *turn, uint64_t samples);
/* Cuts turn->answer to what was heard; of an answer of which nothing was heard nothing is left. */
void room_reply_close(struct room *room, struct room_turn *turn);
void room_reply_tick(struct room *room);
uint64_t room_reply_deadline(const struct room *room);

#endif
