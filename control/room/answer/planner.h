/* Plans the order in which an answer is spoken: chunks of speech and sounds between them, one
 * after another.
 *
 *   phase      input, or the next step                   next       the caller must
 *   READY      speech next, low backlog                  SPEAKING   synthesise it
 *   READY      speech next, high backlog                 READY      wait
 *   READY      a sound next, speech is playing           DRAINING   end the playback
 *   READY      a sound next, nothing is playing          SOUNDING   play it
 *   READY      complete, speech is playing               DRAINING   end the playback
 *   READY      complete, nothing is playing              OVER       -
 *   READY      anything but speech next, held            READY      wait: nothing may be heard yet
 *   SPEAKING   its audio is complete, or failed          READY
 *   DRAINING   drained                                   READY
 *   SOUNDING   finished, or failed                       READY
 *
 * A sound is a barrier: all speech before it was played when it begins, and no speech after it is
 * synthesised before it ends. Speech is requested one chunk at a time, and not while more than
 * `pause` samples wait to be played, until the backlog is down to `resume`. Once the answer is
 * complete, waiting chunks are joined for fewer seams, except next to a sound. Each chunk is
 * spoken as it stands (an exact line). No allocation. */
#ifndef CONTROL_ROOM_ANSWER_PLANNER_H
#define CONTROL_ROOM_ANSWER_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ROOM_PLAN_STEPS = 24,
	ROOM_EXACT_LINE_MAX = 1200, /* bytes of one chunk of speech */
};

enum room_plan_phase {
	ROOM_PLAN_READY,
	ROOM_PLAN_SPEAKING,
	ROOM_PLAN_DRAINING,
	ROOM_PLAN_SOUNDING,
	ROOM_PLAN_OVER,
};

enum room_plan_what {
	ROOM_PLAN_WAIT,
	ROOM_PLAN_SPEAK, /* chunk, text */
	ROOM_PLAN_SOUND, /* chunk, text: the sound's reference */
	ROOM_PLAN_END,	 /* ends the open playback */
	ROOM_PLAN_DONE,	 /* the answer is over */
};

struct room_plan_step {
	uint32_t chunk;
	bool sound;
	bool beat; /* speech next to a sound */
	size_t n;
	char text[ROOM_EXACT_LINE_MAX + 1];
};

struct room_plan {
	enum room_plan_phase phase;
	uint32_t last;	    /* the last chunk number that was assigned */
	uint32_t running;   /* the chunk that is being synthesised or played */
	bool playing;	    /* audio was sent and has not drained */
	bool paused;	    /* the backlog was high */
	bool whole;	    /* no more will be added */
	bool held;	    /* set by the caller: speech may be synthesised, nothing may be heard */
	bool cut;	    /* input was dropped at the limits */
	unsigned collapsed; /* chunks that were joined to another one */
	unsigned first, n;
	struct room_plan_step step[ROOM_PLAN_STEPS];
};

struct room_plan_do {
	enum room_plan_what what;
	uint32_t chunk;
	const char *text; /* until the next call */
};

/* A struct of zeros is ready for use. Text without a letter or digit is not speech and is
 * dropped. When all places are taken, speech joins the last chunk if that has room; anything else
 * is dropped. */
void room_plan_speech(struct room_plan *plan, const char *text, size_t n);
void room_plan_sound(struct room_plan *plan, const char *ref, size_t n);
/* No more will be added. */
void room_plan_complete(struct room_plan *plan);
/* Drops everything that waits. */
void room_plan_abandon(struct room_plan *plan);
/* The next action; backlog, pause and resume in samples. Called until it returns WAIT or DONE.
 * */
struct room_plan_do room_plan_next(struct room_plan *plan, uint64_t backlog, uint64_t pause,
				   uint64_t resume);
/* Events. An event of a chunk other than the running one is dropped and returns false. */
bool room_plan_sounds(struct room_plan *plan, uint32_t chunk); /* audio of its speech was sent */
bool room_plan_spoken(struct room_plan *plan, uint32_t chunk);
bool room_plan_sounded(struct room_plan *plan, uint32_t chunk);
void room_plan_drained(struct room_plan *plan);

#endif
