#include "control/room/room.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/room/turn/deferred.h"
#include "control/room/hearing/captures.h"
#include "control/room/inside.h"
#include "control/room/people.h"
#include "control/room/turn/turn_queue.h"
#include "proto/base/utf8.h"

/* Settings that the room keeps in a form of its own. */
void room_apply_settings(struct room *room)
{
	const struct settings *s = room->settings;

	room->guest = settings_guest(s);
	if (*s->bot_name)
		room_clean_name(s->bot_name, strlen(s->bot_name), room->name, sizeof room->name);
	room->names = (struct room_names){0};
	room_names_add(&room->names, room->name);
	room_names_add(&room->names, s->aliases);
}

int room_alloc(struct room **out, const struct settings *settings, const char *name)
{
	struct room *room;

	if (!out || !settings)
		return EINVAL;
	if (*settings->bot_name)
		name = settings->bot_name;
	if (!name || !*name)
		return EINVAL;
	room = calloc(1, sizeof *room);
	if (!room)
		return ENOMEM;
	room->settings = settings;
	room_clean_name(name, strlen(name), room->name, sizeof room->name);
	room_apply_settings(room);
	room->shared = settings->asr_sessions == SETTINGS_ASR_SHARED;
	room->files = settings->asr_sessions == SETTINGS_ASR_FILE;
	*out = room;
	return 0;
}

struct room *room_free(struct room *room)
{
	free(room);
	return NULL;
}

struct room_effect *room_emit(struct room *room, enum room_effect_type type)
{
	static struct room_effect nowhere;
	struct room_effect *e = &nowhere;

	/* ROOM_EFFECTS holds the most effects of any step: 3 for each speaker and 8 for each
	 * turn. */
	_Static_assert(ROOM_EFFECTS >= 3 * ROOM_SPEAKERS + 8 * ROOM_TURNS, "effects");
	assert(room->fx->n < ROOM_EFFECTS);
	if (room->fx->n < ROOM_EFFECTS)
		e = &room->fx->v[room->fx->n++];
	*e = (struct room_effect){.type = type};
	return e;
}

char *room_text(struct room *room, size_t size, size_t most)
{
	struct room_texts *t = &room->texts;

	if (t->n > most || size > most - t->n)
		return NULL;
	t->buf[t->n] = '\0';
	return t->buf + t->n;
}

const char *room_text_keep(struct room *room, const char *text)
{
	room->texts.n = (size_t)(text - room->texts.buf) + strlen(text) + 1;
	return text;
}

const char *room_text_of(struct room *room, const char *text, size_t n)
{
	char *to = room_text(room, n + 1, ROOM_TEXTS_MANY);

	if (!to)
		return NULL;
	memcpy(to, text, n);
	to[n] = '\0';
	utf8_mend(to);
	return room_text_keep(room, to);
}

const struct room_turn *room_active(const struct room *room)
{
	return room->active;
}

/* ---- the machines ---- */

/* Followup and choice are independent of struct room: these adapters pass what they need. */
static void step_followup(struct room *room, const struct room_event *ev)
{
	if (ev->type == ROOM_TOOL)
		room_followup_tool(&room->followup, room->settings, ev->yes, ev->user, room->now);
}

static void step_choice(struct room *room, const struct room_event *ev)
{
	if (ev->type != ROOM_CHOICE)
		return;
	if (ev->yes)
		room_choice_offer(&room->choice, ev->user, (const char *)ev->text.p, ev->text.n,
				  room->now);
	else
		room_choice_clear(&room->choice);
}

static const struct machine {
	const char *name;
	/* Each may be NULL. An event goes to every machine; a machine ignores the events of others.
	 */
	void (*on_event)(struct room *room, const struct room_event *ev);
	void (*tick)(struct room *room);
	uint64_t (*deadline)(const struct room *room);
} machines[] = {
	{"session", room_session_on_event, room_session_tick, room_session_deadline},
	{"people", room_people_on_event, NULL, NULL},
	{"captures", room_captures_on_event, room_captures_tick, room_captures_deadline},
	{"transcripts", room_transcripts_on_event, NULL, NULL},
	{"turns", NULL, room_turns_tick, room_turns_deadline},
	{"reply", NULL, room_reply_tick, room_reply_deadline},
	{"instructions", room_instructions_on_event, room_instructions_tick,
	 room_instructions_deadline},
	{"watchdog", room_watchdog_on_event, room_watchdog_tick, room_watchdog_deadline},
	{"followup", step_followup, NULL, NULL},
	{"deferred turns", NULL, room_deferred_tick, room_deferred_deadline},
	{"turn queue", NULL, room_turn_queue_tick, room_turn_queue_deadline},
	{"thought", NULL, room_thought_tick, room_thought_deadline},
	{"choice", step_choice, NULL, NULL},
	{"music", room_music_on_event, room_music_tick, room_music_deadline},
	{"barge-in", NULL, room_barge_in_tick, room_barge_in_deadline},
	{"speculative", room_speculative_on_event, room_speculative_tick, NULL},
	{"endpointing", NULL, room_endpointing_tick, room_endpointing_deadline},
	{"classifier", room_classifier_on_event, NULL, NULL},
	{"output", room_output_on_event, room_output_tick, NULL},
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

void room_step(struct room *room, const struct room_event *event, uint64_t now,
	       struct room_effects *effects)
{
	effects->n = 0;
	room->fx = effects;
	room->now = now;
	room->texts.n = 0;
	room->messages.n = 0;
	for (unsigned i = 0; i < MACHINES && !room->over; i++)
		if (machines[i].on_event)
			machines[i].on_event(room, event);
	for (unsigned i = 0; i < MACHINES && !room->over; i++)
		if (machines[i].tick)
			machines[i].tick(room);
	room->fx = NULL;
}

uint64_t room_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < MACHINES && !room->over; i++) {
		uint64_t at = machines[i].deadline ? machines[i].deadline(room) : UINT64_MAX;

		if (at < first)
			first = at;
	}
	return first;
}
