/* A room of a test, with a world around it that does what is usual: whoever speaks is heard in
 * frames of 20 ms, transcripts arrive 60 ms after their request, time passes with every timer
 * the room wants. What the room did is kept. */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "control/room/room.h"
#include "control/settings/settings.h"

enum { SCENE_DID = 8192, SCENE_USERS = 12, SCENE_TEXT = 1024 };

struct scene_did {
	enum room_effect_type type;
	uint64_t ms, user;
	uint32_t turn, chunk, gain;
	enum room_reason reason; /* of a record */
	bool writings;		 /* of an ASK */
	bool titles;		 /* likewise */
	char text[SCENE_TEXT];
};

struct scene {
	struct settings *settings;
	struct room *room;
	struct room_effects *fx;
	uint64_t ms;
	unsigned n;
	struct scene_did *did;
	unsigned mark; /* scene_find begins here */
	uint32_t utterance[SCENE_USERS];
	uint32_t instructions; /* number of the newest */
	unsigned amp;	       /* of speech from now on; 0: as usual */
};

/* sets: "name value name value …", for settings; guest is off unless it says otherwise. The call is
 * up. */
struct scene *scene_open(const char *sets);
struct scene *scene_close(struct scene *s);
void scene_event(struct scene *s, struct room_event ev);
/* Time passes; timers fire. */
void scene_wait(struct scene *s, unsigned ms);
void scene_join(struct scene *s, uint64_t user, const char *name);
void scene_leave(struct scene *s, uint64_t user);
/* Sound, loud enough to be speech, as time passes. */
void scene_speak(struct scene *s, uint64_t user, unsigned ms);
/* The same of several at once; users ends with 0. */
void scene_speak_all(struct scene *s, const uint64_t *users, unsigned ms);
/* The end of an utterance. */
void scene_stop(struct scene *s, uint64_t user);
/* The transcript of the last utterance of the user. */
void scene_words(struct scene *s, uint64_t user, const char *words);
/* All of that: speaks 600 ms, stops, 60 ms later the words. */
void scene_say(struct scene *s, uint64_t user, const char *words);
/* The brain's answer to the turn that was asked last, so long; heard from 40 ms later on. */
void scene_answer(struct scene *s, const char *words, unsigned ms);
/* ... to its end. */
void scene_drained(struct scene *s);

/* From here on. */
void scene_mark(struct scene *s);
const struct scene_did *scene_find(const struct scene *s, enum room_effect_type type);
const struct scene_did *scene_last(const struct scene *s, enum room_effect_type type);
unsigned scene_count(const struct scene *s, enum room_effect_type type);
/* Turns that ended for this reason since the mark. */
unsigned scene_ended(const struct scene *s, enum room_reason reason);
/* The rule by which a turn was admitted last, or "". */
const char *scene_admitted(const struct scene *s);
/* True if the last turn that ended or is active has this rule in its chain, with this answer. */
bool scene_decided(struct scene *s, uint32_t turn, const char *rule, bool yes);
uint32_t scene_asked(const struct scene *s);

#endif
