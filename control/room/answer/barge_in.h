/* Somebody speaks over the bot: the one place that decides what becomes of its voice.
 *
 * room_barge_in_decide(), a function of what there is; the first row that fits:
 *   what is there                                                    verdict
 *   nobody may (policy none), or the answer is not to be heard       IGNORE
 *   words that take the floor or say the bot's name                  CUT, for anyone who may by
 * calling this speaker may not                                             IGNORE (the words become
 * a turn that waits) words of listening so far, or spoken to somebody else by name    IGNORE words,
 * while the stretch of voice lasts                          CUT speech for barge_in_ms that passes
 * the gate (gate.h)             CUT, but DUCK while words so far are awaited (peek.h) speech for
 * pause_ms                                              PAUSE, the same voice for duck_ms DUCK less
 * IGNORE
 *
 * Voice counts from its first sound, speech from when the utterance counts as such (capture.h): a
 * sound of listening ends before. A few words that may be either (phrase.h) are no more than the
 * voice that says them.
 *
 * A stretch of voice begins with voiced sound over an answer, counts on over pauses shorter than
 * barge_in_gap_ms, and is over after such a pause, but not before words had overlap_words_ms to
 * come since the voice was lowered: a blip, and the bot goes on as if nothing had been. Within one
 * stretch a lowered voice is not raised but by words of listening.
 *
 * The bot's voice itself (FULL, DUCKED, PAUSED) is the strongest verdict of all speakers;
 * room_barge_in_tick() at the end of each step tells changes to the playback. */
#ifndef CONTROL_ROOM_ANSWER_BARGE_IN_H
#define CONTROL_ROOM_ANSWER_BARGE_IN_H

#include "control/room/floor/barge_in_gate.h"
#include "control/room/answer/interim_request.h"
#include "control/room/floor/phrase.h"
#include "control/room/room.h"
#include "control/room/hearing/signal.h"

struct room_speaker;

enum room_barge_in_action {
	ROOM_BARGE_IN_IGNORE,
	ROOM_BARGE_IN_DUCK,
	ROOM_BARGE_IN_PAUSE,
	ROOM_BARGE_IN_STOP
};

/* One speaker's stretch of voice over an answer. */
struct room_overlap {
	uint32_t turn;		  /* the answer it is over, 0 = none */
	uint64_t capture;	  /* when what is said began to be said */
	uint32_t from, utterance; /* the first and the newest piece of it whose words count */
	enum room_phrase words;	  /* of it so far */
	size_t words_n;		  /* how long they were when they last grew ... */
	uint64_t words_voice_ms;  /* ... and how much of the stretch had been then */
	bool aside;		  /* they are for somebody else, by name */
	enum room_barge_in_action
		verdict; /* DUCK or PAUSE while the stretch holds the voice down */
	uint64_t voice_ms, voice_at, lowered_at;
	uint64_t early_ms; /* of voice_ms: before it counted as speech */
	struct room_interim interim;
};

struct room_barge_in_input {
	struct room_gate_input gate;
	uint64_t sound_ms; /* of the stretch; gate.voice_ms is of its speech */
	enum room_phrase words;
	bool aside, live; /* live: the stretch lasts */
	bool awaited;	  /* words so far are on their way */
	bool calls;	  /* this speaker may when they call: the name, or taking the floor */
	bool named;
};

enum room_barge_in_action room_barge_in_decide(const struct settings *s,
					       const struct room_barge_in_input *in);

/* A frame of somebody's sound, arrived at `at`. */
void room_overlap_audio(struct room *room, struct room_speaker *sp, const struct room_signal *frame,
			uint64_t at);
/* Words of an utterance: all of them, of a piece of this turn; or so far, of NULL. True: they told
 * the bot to be quiet, and it is: nothing to answer. */
bool room_overlap_words(struct room *room, struct room_speaker *sp, const struct room_turn *of,
			uint32_t utterance, const char *words);
/* Time passed; then the voice. */
void room_barge_in_tick(struct room *room);
uint64_t room_barge_in_deadline(const struct room *room);

#endif
