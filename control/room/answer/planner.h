/* The order in which an answer is spoken: pieces of speech and sounds between them, one after
 * another.
 *
 *   phase      input, or what is next                    next       asks the caller to
 *   READY      speech next, backlog low                  SPEAKING   speak it
 *   READY      speech next, backlog high                 READY      wait
 *   READY      a sound next, speech is playing           DRAINING   end the playback
 *   READY      a sound next, nothing is playing          SOUNDING   play it
 *   READY      no more will come, speech is playing      DRAINING   end the playback
 *   READY      no more will come, nothing is playing     OVER       -
 *   READY      anything but speech next, held            READY      wait: nothing of it may be
 * heard yet SPEAKING   its sound is whole, or failed             READY DRAINING   drained READY
 *   SOUNDING   it is over, or failed                     READY
 *
 * So a sound is a barrier: all speech before it has been heard when it begins, and none after it is
 * spoken before it is over. Speech is asked for one piece at a time, and no more of it while more
 * than `pause` samples wait to be heard, until no more than `resume` do. When no more will come,
 * pieces of speech that still wait are joined, for fewer seams, but for those next to a sound. Each
 * piece is spoken as it stands (an exact line). No allocation. */
#ifndef CONTROL_ROOM_ANSWER_PLANNER_H
#define CONTROL_ROOM_ANSWER_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ROOM_PLAN_STEPS = 24,
	ROOM_EXACT_LINE_MAX = 1200, /* bytes of one piece of speech */
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
	ROOM_PLAN_SOUND, /* chunk, text: its ref */
	ROOM_PLAN_END,	 /* of the playback that runs */
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
	uint32_t last;	    /* chunk that was given a number */
	uint32_t running;   /* chunk that is spoken or sounds */
	bool playing;	    /* sound went out and has not drained */
	bool paused;	    /* the backlog was high */
	bool whole;	    /* no more will be added */
	bool held;	    /* set by the caller: speech may be made, nothing may be heard */
	bool cut;	    /* more came than is kept */
	unsigned collapsed; /* pieces that were joined to another */
	unsigned first, n;
	struct room_plan_step step[ROOM_PLAN_STEPS];
};

struct room_plan_do {
	enum room_plan_what what;
	uint32_t chunk;
	const char *text; /* until the next call */
};

/* A struct of zeros is ready. Text without a letter or digit is no speech and left out. When all
 * places are taken, speech joins the piece before it while that has room; what finds none is
 * dropped. */
void room_plan_speech(struct room_plan *plan, const char *text, size_t n);
void room_plan_sound(struct room_plan *plan, const char *ref, size_t n);
/* No more will be added. */
void room_plan_complete(struct room_plan *plan);
/* Nothing that waits is wanted any more. */
void room_plan_abandon(struct room_plan *plan);
/* What is to be done now; backlog, pause and resume in samples. Called until it says WAIT or DONE.
 */
struct room_plan_do room_plan_next(struct room_plan *plan, uint64_t backlog, uint64_t pause,
				   uint64_t resume);
/* Facts. Those of another chunk than the running one say nothing and are dropped: false. */
bool room_plan_sounds(struct room_plan *plan, uint32_t chunk); /* some of its speech goes out */
bool room_plan_spoken(struct room_plan *plan, uint32_t chunk);
bool room_plan_sounded(struct room_plan *plan, uint32_t chunk);
void room_plan_drained(struct room_plan *plan);

#endif
