/* What the parts of a stage share: stage.c, people and the world; stage_perform.c, the room's
 * effects and what comes of them; stage_notes.c, the notes. */
#ifndef TESTS_ROOM_STAGE_INSIDE_H
#define TESTS_ROOM_STAGE_INSIDE_H

#include "tests/room/stage.h"

enum {
	STUCK = 1000,
	SPEAKING_OFF_MS = 100,
	PLAYBACK_MS = 40,
	VOICE_MS = 100,
	SOUND_MS = 500,
	LETTER_MS = 60,
	WORD_MS = 300,
	LEVELS = 8,
	TEXT = 2400
};

struct person {
	char name[32];
	bool here, bot, told;
	unsigned amp;
	uint64_t packet_at, began_at;
	unsigned lasts;		       /* of the speech that goes on, 0 = not known */
	uint32_t utterance, committed; /* the newest */
	char words[STAGE_WORDS];
	stage_fill fill; /* of an open microphone */
	void *fill_arg;
	unsigned frames; /* of speech over it */
};

enum what {
	W_FRAME,
	W_OFF,
	W_END,
	W_STOP,
	W_PARTIAL,
	W_INTERIM,
	W_WORDS,
	W_NO_WORDS,
	W_ANSWER,
	W_STARTED,
	W_DRAINED,
	W_STOPPED,
	W_INSTRUCTED,
	W_JUDGED,
	W_SPOKEN, /* who: the chunk */
	W_SOUNDED
};

struct pending {
	uint64_t at;
	enum what what;
	unsigned who; /* person */
	uint32_t id;  /* utterance, turn */
	char *text;
};

/* The part of an answer that was given to mediad, and its playback position. */
struct playback {
	uint32_t turn;
	uint64_t written, started_at;
	uint64_t paused_at, silent; /* ns: since when, 0 = not; in all pauses before */
	bool open, ended, over;
};

struct stage {
	struct stage_conf conf;
	struct room *room;
	struct room_effects *fx;
	uint64_t now;
	struct person person[STAGE_PEOPLE];
	unsigned people;
	struct pending *pending;
	unsigned n_pending;
	struct stage_note *note;
	size_t n_notes, note_cap;
	struct {
		unsigned amp;
		uint8_t pcm[STAGE_FRAME * 2];
	} level[LEVELS];
	unsigned levels;
	unsigned asr_ms, partial_ms;
	bool asr_fails, asr_manual, playback_manual;
	uint32_t asked, newest_turn;
	struct {
		char *text;
		unsigned ms, after;
	} answer;
	struct {
		stage_judge *h;
		void *arg;
		unsigned after;
	} classifier;
	struct playback say;
};

/* Ends the program for want of memory. */
void *stage_must(void *p);
/* effect: -1 = not one of the room's. */
__attribute__((format(printf, 3, 4))) void stage_note_line(struct stage *s, int effect,
							   const char *fmt, ...);
void stage_note_effect(struct stage *s, const struct room_effect *e);

struct pending *stage_later(struct stage *s, uint64_t ms, enum what what, unsigned who);
void stage_forget(struct stage *s, enum what what, unsigned who);
uint64_t stage_played_samples(const struct stage *s);
void stage_plan_playback(struct stage *s);
size_t stage_said_so_far(const struct stage *s, const struct person *x);
void stage_perform(struct stage *s, const struct room_effect *e);
#endif
