#include "control/room/room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/room/turn/deferred.h"
#include "control/room/hearing/captures.h"
#include "control/room/inside.h"
#include "control/room/people.h"
#include "control/room/turn/turn_queue.h"

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
	room->context.settings = settings;
	room_clean_name(name, strlen(name), room->context.name, sizeof room->context.name);
	room_apply_settings(&room->context);
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

void room_report_activity(struct room_context *context)
{
	room_session_active(&room_of(context)->session, context);
}

void room_report_change(struct room_context *context)
{
	room_instructions_changed(&room_of(context)->instructions, context);
}

const struct room_turn *room_active(const struct room *room)
{
	return room->active;
}

/* ---- the machines ---- */

/* Adapters to the machines that have the narrow context and their own state (context.h). */
#define ON_EVENT(machine, member)                                                                  \
	static void machine##_on_event(struct room *room, const struct room_event *ev)             \
	{                                                                                          \
		room_##machine##_on_event(&room->member, &room->context, ev);                      \
	}
#define TICK(machine, member)                                                                      \
	static void machine##_tick(struct room *room)                                              \
	{                                                                                          \
		room_##machine##_tick(&room->member, &room->context);                              \
	}
#define DEADLINE(machine, member)                                                                  \
	static uint64_t machine##_deadline(const struct room *room)                                \
	{                                                                                          \
		return room_##machine##_deadline(&room->member, &room->context);                   \
	}

ON_EVENT(session, session)
TICK(session, session)
DEADLINE(session, session)
TICK(reply, reply)
DEADLINE(reply, reply)
ON_EVENT(instructions, instructions)
TICK(instructions, instructions)
DEADLINE(instructions, instructions)
ON_EVENT(watchdog, retry)
TICK(watchdog, retry)
DEADLINE(watchdog, retry)
ON_EVENT(followup, followup)
ON_EVENT(choice, choice)
ON_EVENT(music, music)
TICK(music, music)
DEADLINE(music, music)
ON_EVENT(classifier, classifier)

static void thought_tick(struct room *room)
{
	struct room_thought_view view = {.floor = &room->floor,
					 .music = &room->music,
					 .live_captures = room_live_captures(room),
					 .up_at = room_session_up_at(&room->session)};

	room_thought_tick(&room->thought, &room->context, &view);
}

static uint64_t thought_deadline(const struct room *room)
{
	return room_thought_deadline(&room->thought, &room->context,
				     room_session_up_at(&room->session));
}

static const struct machine {
	const char *name;
	/* Each may be NULL. An event goes to every machine; a machine ignores the events of others.
	 */
	void (*on_event)(struct room *room, const struct room_event *ev);
	void (*tick)(struct room *room);
	uint64_t (*deadline)(const struct room *room);
} machines[] = {
	{"session", session_on_event, session_tick, session_deadline},
	{"people", room_people_on_event, NULL, NULL},
	{"captures", room_captures_on_event, room_captures_tick, room_captures_deadline},
	{"transcripts", room_transcripts_on_event, NULL, NULL},
	{"turns", NULL, room_turns_tick, room_turns_deadline},
	{"reply", NULL, reply_tick, reply_deadline},
	{"instructions", instructions_on_event, instructions_tick, instructions_deadline},
	{"watchdog", watchdog_on_event, watchdog_tick, watchdog_deadline},
	{"followup", followup_on_event, NULL, NULL},
	{"deferred turns", NULL, room_deferred_tick, room_deferred_deadline},
	{"turn queue", NULL, room_turn_queue_tick, room_turn_queue_deadline},
	{"thought", NULL, thought_tick, thought_deadline},
	{"choice", choice_on_event, NULL, NULL},
	{"music", music_on_event, music_tick, music_deadline},
	{"barge-in", NULL, room_barge_in_tick, room_barge_in_deadline},
	{"speculative", room_speculative_on_event, room_speculative_tick, NULL},
	{"endpointing", NULL, room_endpointing_tick, room_endpointing_deadline},
	{"classifier", classifier_on_event, NULL, NULL},
	{"output", room_output_on_event, room_output_tick, NULL},
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

void room_step(struct room *room, const struct room_event *event, uint64_t now,
	       struct room_effects *effects)
{
	effects->n = 0;
	room->context.effects = effects;
	room->context.now = now;
	room->context.texts.n = 0;
	room->context.messages.n = 0;
	for (unsigned i = 0; i < MACHINES && !room->context.over; i++)
		if (machines[i].on_event)
			machines[i].on_event(room, event);
	for (unsigned i = 0; i < MACHINES && !room->context.over; i++)
		if (machines[i].tick)
			machines[i].tick(room);
	room->context.effects = NULL;
}

uint64_t room_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < MACHINES && !room->context.over; i++) {
		uint64_t at = machines[i].deadline ? machines[i].deadline(room) : UINT64_MAX;

		if (at < first)
			first = at;
	}
	return first;
}
