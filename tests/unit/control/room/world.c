#include "tests/unit/control/room/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

enum { FRAME = 480, FRAME_MS = 20 };

static struct room_effects fx;

static struct slice text_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

static void learn(struct world *w)
{
	for (size_t i = 0; i < fx.n; i++) {
		const struct room_effect *e = &fx.v[i];

		w->effects++;
		if (!w->did[e->type]++)
			w->first[e->type] = w->effects;
		w->last[e->type] = *e;
		if (e->type == ROOM_DO_ASR_START && e->user < 8)
			w->utterance[e->user] = e->utterance;
		if (e->type == ROOM_DO_ASK) {
			w->asked = e->turn;
			snprintf(w->ask, sizeof w->ask, "%s", e->text);
			snprintf(w->instructions, sizeof w->instructions, "%s",
				 e->instructions ? e->instructions : "");
			snprintf(w->memory, sizeof w->memory, "%s", e->memory ? e->memory : "");
		}
		if (e->type == ROOM_DO_RECORD) {
			w->ended = e->record->reason;
			w->ended_turn = e->record->id;
			w->ended_as = *e->record;
		}
	}
}

void world_step(struct world *w, struct room_event ev)
{
	if (ev.type == ROOM_INSTRUCTED)
		ev.chunk = w->last[ROOM_DO_INSTRUCT].chunk;
	room_step(w->room, &ev, w->ms * NS_PER_MS, &fx);
	learn(w);
}

void world_until(struct world *w, uint64_t ms)
{
	for (;;) {
		uint64_t at = room_deadline(w->room);

		if (at > ms * NS_PER_MS)
			break;
		w->ms = (at + NS_PER_MS - 1) / NS_PER_MS > w->ms ? (at + NS_PER_MS - 1) / NS_PER_MS
								 : w->ms;
		world_step(w, (struct room_event){.type = ROOM_TIMER});
	}
	if (ms > w->ms)
		w->ms = ms;
}

void world_forget(struct world *w)
{
	memset(w->did, 0, sizeof w->did);
	w->effects = 0;
}

bool world_order(const struct world *w, enum room_effect_type first, enum room_effect_type then)
{
	return w->did[first] && w->did[then] && w->first[first] < w->first[then];
}

void world_begin(struct world *w, const char *settings, unsigned n)
{
	static const char *const names[] = {"Alice", "Bob",   "Carol", "Dave",
					    "Eve",   "Frank", "Grace"};
	char copy[512], *rest = copy, *one;

	memset(w, 0, sizeof *w);
	w->ms = 1000;
	snprintf(copy, sizeof copy, "%s", settings);
	/* Nobody here answers a request for an interim transcript. */
	if (settings_alloc(&w->settings) || settings_set(w->settings, "guest", "off") ||
	    settings_set(w->settings, "interim_ms", "0"))
		abort();
	while ((one = strsep(&rest, " ")) && *one) {
		char *value = strchr(one, '=');

		*value++ = '\0';
		if (settings_set(w->settings, one, value))
			abort();
	}
	if (room_alloc(&w->room, w->settings, "Parley"))
		abort();
	world_step(w, (struct room_event){.type = ROOM_CALL, .yes = true});
	for (unsigned i = 0; i < n; i++)
		world_step(w, (struct room_event){.type = ROOM_MEMBER,
						  .user = i + 1,
						  .yes = true,
						  .text = text_of(names[i])});
	world_forget(w);
}

void world_end(struct world *w)
{
	room_free(w->room);
	settings_free(w->settings);
}

void world_sound(struct world *w, uint64_t user, unsigned ms, int amp)
{
	uint8_t pcm[FRAME * 2];

	for (unsigned i = 0; i < FRAME; i++) {
		int16_t v = (int16_t)(i / 8 % 2 ? amp : -amp);

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)((uint16_t)v >> 8);
	}
	for (unsigned i = 0; i < ms / FRAME_MS; i++) {
		world_until(w, w->ms + FRAME_MS);
		world_step(w, (struct room_event){.type = ROOM_HEARD,
						  .user = user,
						  .at = w->ms * NS_PER_MS,
						  .pcm = {pcm, sizeof pcm}});
	}
}

void world_speaking(struct world *w, uint64_t user, bool on)
{
	world_step(w, (struct room_event){.type = ROOM_SPEAKING,
					  .user = user,
					  .yes = on,
					  .at = w->ms * NS_PER_MS});
}

void world_sound_end(struct world *w, uint64_t user)
{
	world_step(w, (struct room_event){
			      .type = ROOM_HEARD_END, .user = user, .at = w->ms * NS_PER_MS});
}

static void words(struct world *w, enum room_event_type type, uint64_t user, const char *text)
{
	world_step(w, (struct room_event){.type = type,
					  .user = user,
					  .utterance = w->utterance[user],
					  .text = text_of(text)});
}

void world_partial(struct world *w, uint64_t user, const char *text)
{
	words(w, ROOM_PARTIAL, user, text);
}

void world_words(struct world *w, uint64_t user, const char *text)
{
	words(w, ROOM_TRANSCRIPT, user, text);
}

void world_says(struct world *w, uint64_t user, const char *text)
{
	world_sound(w, user, 600, 6000);
	world_sound_end(w, user);
	world_until(w, w->ms + 150);
	world_words(w, user, text);
}

void world_brain_audio(struct world *w, uint32_t turn, unsigned ms)
{
	static const uint8_t silence[FRAME * 2];

	for (unsigned i = 0; i < ms / FRAME_MS; i++)
		world_step(w, (struct room_event){.type = ROOM_BRAIN_AUDIO,
						  .turn = turn,
						  .pcm = {silence, sizeof silence}});
}

uint32_t world_answering(struct world *w, unsigned ms)
{
	uint32_t turn;

	world_says(w, 1, "parley tell me a story");
	turn = w->asked;
	world_brain_audio(w, turn, ms);
	world_step(w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	world_step(w, (struct room_event){
			      .type = ROOM_SAY_STARTED, .turn = turn, .at = w->ms * NS_PER_MS});
	world_forget(w);
	return turn;
}
