/* A room with people for unit tests: facts in, and commands kept until a test reads them. Times
 * are ms of a clock that each call moves on to; nothing else moves it. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include "control/room/room.h"
#include "control/settings/settings.h"

struct world {
	struct settings *settings;
	struct room *room;
	uint64_t ms;
	uint32_t utterance[8];			/* of user 1 to 7: started last */
	uint32_t asked;				/* turn of the newest ROOM_DO_ASK */
	unsigned effects, first[ROOM_DO_COUNT]; /* since world_forget: all, and which each was */
	unsigned did[ROOM_DO_COUNT];		/* effects since world_forget */
	struct room_effect last[ROOM_DO_COUNT]; /* the newest of each; text and pcm not kept */
	char ask[ROOM_TEXT_MAX];		/* text of the newest ROOM_DO_ASK */
	char instructions[8192];		/* that came with it */
	char memory[4096];			/* the slice of the memory that did */
	enum room_reason ended; /* of the newest ROOM_DO_RECORD, and whose turn it was */
	uint32_t ended_turn;
	struct room_turn ended_as;
};

/* name=value settings, separated by blanks. The call is up, users 1 ("Alice") to n ("Bob", "Carol",
 * …) are there. */
void world_begin(struct world *w, const char *settings, unsigned n);
void world_end(struct world *w);
void world_step(struct world *w, struct room_event ev);
/* Runs the room's timers until then. */
void world_until(struct world *w, uint64_t ms);
void world_forget(struct world *w);
/* Both happened since world_forget, and the first one came first. */
bool world_order(const struct world *w, enum room_effect_type first, enum room_effect_type then);
/* Loud sound in frames of 20 ms from now on, for ms. */
void world_sound(struct world *w, uint64_t user, unsigned ms, int amp);
void world_speaking(struct world *w, uint64_t user, bool on);
void world_sound_end(struct world *w, uint64_t user);
void world_partial(struct world *w, uint64_t user, const char *text);
void world_words(struct world *w, uint64_t user, const char *text);
/* The user says it: 600 ms of sound, its end, and the transcript. */
void world_says(struct world *w, uint64_t user, const char *text);
/* Alice asks by name and the answer of so many ms is being spoken, its first sound left just now.
 * Turn. */
uint32_t world_answering(struct world *w, unsigned ms);
void world_brain_audio(struct world *w, uint32_t turn, unsigned ms);

#endif
