/* A room and a simulation around it in simulated time: people whose audio enters in frames of 20
 * ms, a speech-to-text that knows their words, a brain that gives the answers of the scenario, and
 * a mediad that plays them. Every effect of the room is noted, one line each.
 *
 * The room's clock starts at STAGE_START. Settings are borrowed for the life of the stage and may
 * be changed through stage_setting(). Nothing here is random. */
#ifndef TESTS_ROOM_STAGE_H
#define TESTS_ROOM_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/room.h"
#include "proto/base/time.h"

struct settings;
struct stage;

#define STAGE_START (1000 * NS_PER_MS)

enum {
	STAGE_PEOPLE = 64,
	STAGE_PENDING = 4096,
	STAGE_NOTES = 200000,
	STAGE_WORDS = 2048, /* said and not yet in a transcript */
	STAGE_FRAME_MS = 20,
	STAGE_FRAME = STAGE_FRAME_MS * ROOM_RATE / 1000,
	STAGE_LOUD = 6000,
	STAGE_QUIET = 100,
	STAGE_ASR_MS = 150,   /* speech-to-text takes so long */
	STAGE_LETTER_MS = 60, /* a letter of speech whose length nobody said */
};

/* One thing the room did, or the world. */
struct stage_note {
	uint64_t at;
	int effect;  /* enum room_effect_type, -1 for the world */
	char *text;  /* in a reader's words; NULL for the pieces of sound */
	char *plain; /* of an effect: its name, then what it carries */
};

struct stage_conf {
	struct settings *settings;
	const char *name; /* of the bot */
	bool notes;	  /* keep them */
	/* Called after each step, before the world answers. May be NULL. */
	void (*steppedh)(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
			 void *arg);
	void *arg;
};

/* The call comes up at once. ENOMEM, and what room_alloc gives. Caller owns *out. */
int stage_alloc(struct stage **out, const struct stage_conf *conf);
struct stage *stage_free(struct stage *s);

uint64_t stage_now(const struct stage *s);
struct room *stage_room(struct stage *s);
/* Runs what is due until then, in the order of its time. */
void stage_run(struct stage *s, uint64_t until);
/* A fact that the world did not make. */
void stage_feed(struct stage *s, const struct room_event *ev);
int stage_setting(struct stage *s, const char *name, const char *value);

/* People by name; 0 when nobody has it, or past STAGE_PEOPLE. */
uint64_t stage_user(const struct stage *s, const char *name);
uint64_t stage_join(struct stage *s, const char *name, bool bot);
void stage_leave(struct stage *s, uint64_t user);
/* Words are what speech-to-text will have heard; `/` parts the pieces of long speech. Until
 * stage_stops(). */
void stage_speaks(struct stage *s, uint64_t user, const char *words, unsigned amp);
void stage_stops(struct stage *s, uint64_t user);
/* The same with its end; ms 0: by its letters. Returns how long it takes. */
unsigned stage_says(struct stage *s, uint64_t user, const char *words, unsigned ms, unsigned amp);
/* From now on this person's microphone sends without pause what `fill` writes, STAGE_FRAME samples
 * of s16; speech is added to it. */
typedef void (*stage_fill)(int16_t *samples, void *arg);
void stage_open_microphone(struct stage *s, uint64_t user, stage_fill fill, void *arg);
/* A tone, a second at most. Borrowed until the next of them. */
struct slice stage_tone(struct stage *s, unsigned amp, unsigned ms);
/* The newest utterance of theirs, their newest turn; 0 for none. */
uint32_t stage_utterance(const struct stage *s, uint64_t user);
uint32_t stage_turn(struct stage *s, const char *name);

/* Speech-to-text. manual: nothing comes by itself. */
void stage_transcripts(struct stage *s, unsigned take_ms, bool fail, bool manual);
void stage_partials(struct stage *s, unsigned every_ms);
void stage_transcript(struct stage *s, uint64_t user, const char *words, bool fails);

/* The brain, about the turn that was asked last; ENOENT when none is. ms 0: by its letters. */
enum stage_brain {
	STAGE_BRAIN_SAYS,
	STAGE_BRAIN_STARTS,
	STAGE_BRAIN_WRITES,
	STAGE_BRAIN_DONE,
	STAGE_BRAIN_FAILS
};
int stage_brain(struct stage *s, enum stage_brain what, const char *words, unsigned ms);
/* From now on it answers by itself, so long after each question. */
void stage_brain_answers(struct stage *s, const char *words, unsigned ms, unsigned after_ms);

/* From now on this decides about words over the bot's answer, so long after each question. Without
 * it the questions have no answer. `h` returns whether the words interrupt. */
typedef bool(stage_judge)(const char *prompt, void *arg);
void stage_classifier(struct stage *s, stage_judge *h, void *arg, unsigned after_ms);

/* Playback. manual: facts come only by stage_playback(). */
void stage_playback_manual(struct stage *s);
enum stage_playback { STAGE_PLAYBACK_STARTS, STAGE_PLAYBACK_DRAINS, STAGE_PLAYBACK_STOPS };
/* ms: as much was heard. */
void stage_playback(struct stage *s, enum stage_playback what, unsigned ms);
/* How much of the running answer left, ms. */
unsigned stage_played(const struct stage *s);

size_t stage_notes(const struct stage *s);
const struct stage_note *stage_note(const struct stage *s, size_t i);
/* The decisions about the newest turn of that person (NULL: of anybody), on one line. */
void stage_chain(struct stage *s, const char *name, char *buf, size_t size);

#endif
