#include "tests/unit/control/room/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

static void note(struct scene *s, const struct room_effect *e)
{
	struct scene_did *d = &s->did[s->n];

	if (s->n == SCENE_DID)
		abort();
	if (e->type == ROOM_DO_ASR_APPEND || e->type == ROOM_DO_SAY_PCM)
		return;
	*d = (struct scene_did){.type = e->type,
				.ms = s->ms,
				.user = e->user,
				.turn = e->turn,
				.chunk = e->chunk,
				.writings = e->writings,
				.titles = e->titles,
				.gain = e->gain};
	if (e->record) {
		d->turn = e->record->id;
		d->user = e->record->user;
		d->reason = e->record->reason;
	}
	snprintf(d->text, sizeof d->text, "%s", e->text ? e->text : "");
	if (e->type == ROOM_DO_INSTRUCT)
		s->instructions = e->chunk;
	if (e->type == ROOM_DO_ASR_COMMIT && e->user < SCENE_USERS)
		s->utterance[e->user] = e->utterance;
	s->n++;
}

void scene_event(struct scene *s, struct room_event ev)
{
	if (ev.type == ROOM_INSTRUCTED)
		ev.chunk = s->instructions;
	room_step(s->room, &ev, s->ms * NS_PER_MS, s->fx);
	for (size_t i = 0; i < s->fx->n; i++)
		note(s, &s->fx->v[i]);
}

enum { TIMERS_MAX = 1000 };

void scene_wait(struct scene *s, unsigned ms)
{
	uint64_t until = s->ms + ms, at;

	for (unsigned idle = 0; (at = room_deadline(s->room)) <= until * NS_PER_MS; idle++) {
		at = (at + NS_PER_MS - 1) / NS_PER_MS;
		idle = at > s->ms ? 0 : idle;
		if (idle > TIMERS_MAX)
			abort(); /* a deadline that never gets later */
		if (at > s->ms)
			s->ms = at;
		scene_event(s, (struct room_event){.type = ROOM_TIMER});
	}
	s->ms = until;
}

struct scene *scene_open(const char *sets)
{
	struct scene *s = calloc(1, sizeof *s);
	char *copy = strdup(sets), *at = copy, *name, *value;

	if (!s || !copy || settings_alloc(&s->settings))
		abort();
	s->fx = calloc(1, sizeof *s->fx);
	s->did = calloc(SCENE_DID, sizeof *s->did);
	settings_set(s->settings, "guest", "off");
	settings_set(s->settings, "interim_ms", "0"); /* nobody here would answer */
	while ((name = strsep(&at, " ")) && *name && (value = strsep(&at, " ")))
		if (settings_set(s->settings, name, value))
			abort();
	free(copy);
	if (!s->fx || !s->did || room_alloc(&s->room, s->settings, "Parley"))
		abort();
	s->ms = 1000;
	scene_event(s, (struct room_event){.type = ROOM_CALL, .yes = true});
	return s;
}

struct scene *scene_close(struct scene *s)
{
	room_free(s->room);
	settings_free(s->settings);
	free(s->fx);
	free(s->did);
	free(s);
	return NULL;
}

static void member(struct scene *s, uint64_t user, const char *name, bool here)
{
	scene_event(s, (struct room_event){.type = ROOM_MEMBER,
					   .user = user,
					   .yes = here,
					   .text = {(const uint8_t *)name, strlen(name)}});
}

void scene_join(struct scene *s, uint64_t user, const char *name)
{
	member(s, user, name, true);
}

void scene_leave(struct scene *s, uint64_t user)
{
	member(s, user, "", false);
}

void scene_speak_all(struct scene *s, const uint64_t *users, unsigned ms)
{
	int amp = s->amp ? (int)s->amp : 6000;
	uint8_t pcm[960];

	for (unsigned i = 0; i < 480; i++) {
		int v = i / 8 % 2 ? amp : -amp;

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)(v >> 8 & 0xff);
	}
	for (unsigned k = 0; k < ms / 20; k++) {
		for (const uint64_t *u = users; *u; u++)
			scene_event(s, (struct room_event){.type = ROOM_HEARD,
							   .user = *u,
							   .at = s->ms * NS_PER_MS,
							   .pcm = {pcm, sizeof pcm}});
		scene_wait(s, 20);
	}
}

void scene_speak(struct scene *s, uint64_t user, unsigned ms)
{
	scene_speak_all(s, (const uint64_t[]){user, 0}, ms);
}

void scene_stop(struct scene *s, uint64_t user)
{
	scene_event(s, (struct room_event){.type = ROOM_HEARD_END,
					   .user = user,
					   .at = (s->ms - 20) * NS_PER_MS});
}

void scene_words(struct scene *s, uint64_t user, const char *words)
{
	scene_event(s, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = user,
					   .utterance = s->utterance[user],
					   .text = {(const uint8_t *)words, strlen(words)}});
}

void scene_say(struct scene *s, uint64_t user, const char *words)
{
	scene_speak(s, user, 600);
	scene_stop(s, user);
	scene_wait(s, 60);
	scene_words(s, user, words);
}

uint32_t scene_asked(const struct scene *s)
{
	const struct scene_did *d = scene_last(s, ROOM_DO_ASK);

	return d ? d->turn : 0;
}

void scene_answer(struct scene *s, const char *words, unsigned ms)
{
	static const uint8_t pcm[960];
	struct room_event ev = {.type = ROOM_BRAIN_TEXT,
				.turn = scene_asked(s),
				.text = {(const uint8_t *)words, strlen(words)}};

	scene_event(s, ev);
	for (unsigned i = 0; i < ms / 20; i++)
		scene_event(s, (struct room_event){.type = ROOM_BRAIN_AUDIO,
						   .turn = ev.turn,
						   .pcm = {pcm, sizeof pcm}});
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = ev.turn});
	scene_wait(s, 40);
	scene_event(s, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = ev.turn, .at = s->ms * NS_PER_MS});
}

void scene_drained(struct scene *s)
{
	const struct room_turn *a = room_active(s->room);

	if (a)
		scene_event(s, (struct room_event){.type = ROOM_SAY_DRAINED,
						   .turn = a->id,
						   .samples = a->samples});
}

void scene_mark(struct scene *s)
{
	s->mark = s->n;
}

const struct scene_did *scene_find(const struct scene *s, enum room_effect_type type)
{
	for (unsigned i = s->mark; i < s->n; i++)
		if (s->did[i].type == type)
			return &s->did[i];
	return NULL;
}

const struct scene_did *scene_last(const struct scene *s, enum room_effect_type type)
{
	for (unsigned i = s->n; i-- > s->mark;)
		if (s->did[i].type == type)
			return &s->did[i];
	return NULL;
}

unsigned scene_count(const struct scene *s, enum room_effect_type type)
{
	unsigned n = 0;

	for (unsigned i = s->mark; i < s->n; i++)
		n += s->did[i].type == type;
	return n;
}

unsigned scene_ended(const struct scene *s, enum room_reason reason)
{
	unsigned n = 0;

	for (unsigned i = s->mark; i < s->n; i++)
		n += s->did[i].type == ROOM_DO_RECORD && s->did[i].reason == reason;
	return n;
}

const char *scene_admitted(const struct scene *s)
{
	const struct scene_did *d = scene_last(s, ROOM_DO_ADMIT);

	return d ? d->text : "";
}

bool scene_decided(struct scene *s, uint32_t turn, const char *rule, bool yes)
{
	char why[16384], line[128];

	if (room_why(s->room, turn, why, sizeof why))
		return false;
	snprintf(line, sizeof line, "  %-20s %-3s ", rule, yes ? "yes" : "no");
	return strstr(why, line) != NULL;
}
