#include "control/room/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/answer/addressee.h"
#include "control/room/answer/prompt.h"
#include "control/room/base/text.h"
#include "control/room/inside.h"
#include "control/room/language/language.h"
#include "control/room/turn/deferred.h"
#include "control/room/turn/turn_queue.h"
#include "proto/base/time.h"

/* Shows the machines to one another, as pointers to types that only the owner knows. */
static void wire_machines(struct room *room)
{
	struct room_context *c = &room->context;

	c->names = &room->names;
	c->people = &room->people;
	c->turns = &room->turns;
	c->history = &room->history;
	c->moments = &room->moments;
	c->compaction = &room->compaction;
	c->retrieval = &room->retrieval;
	c->soundboard = &room->soundboard;
	c->tool_results = &room->tool_results;
	c->classifier = &room->classifier;
	c->captures = &room->captures;
	c->transcripts = &room->transcripts;
	c->eot_prediction = &room->eot_prediction;
	c->floor = &room->floor;
	c->followup = &room->followup;
	c->choice = &room->choice;
	c->music = &room->music;
	c->barge_in = &room->barge_in;
	c->overlap_questions = &room->overlap_questions;
	c->inherited_voice = &room->inherited_voice;
	c->speculative = &room->speculative;
	c->reply = &room->reply;
	c->retry = &room->retry;
	c->output = &room->output;
	c->played_words = &room->played_words;
	c->instructions = &room->instructions;
	c->thought = &room->thought;
	c->remark = &room->remark;
	c->session = &room->session;
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
	room_language_prepare();
	wire_machines(room);
	room->context.settings = settings;
	room_clean_name(name, strlen(name), room->context.name, sizeof room->context.name);
	room_apply_settings(&room->context);
	room->context.asr_shared = settings->asr_sessions == SETTINGS_ASR_SHARED;
	room->context.asr_files = settings->asr_sessions == SETTINGS_ASR_FILE;
	*out = room;
	return 0;
}

struct room *room_free(struct room *room)
{
	free(room);
	return NULL;
}

const struct room_turn *room_active(const struct room *room)
{
	return room_turn_active(&room->context);
}

const struct room_turn *room_live_turn(const struct room *room, unsigned *place)
{
	for (unsigned i = *place; i < ROOM_TURNS; i++) {
		const struct room_turn *t = &room->turns.turn[i];

		if (t->phase == ROOM_PHASE_FREE || t->phase == ROOM_PHASE_ENDED)
			continue;
		*place = i + 1;
		return t;
	}
	return NULL;
}

bool room_speculates(const struct room *room, uint32_t turn)
{
	return room_speculative_holds(&room->context, turn);
}

const char *room_person(const struct room *room, unsigned *place)
{
	return room_person_next(&room->context, place);
}

const char *room_written_line(const struct room *room, unsigned *place)
{
	while (*place < room_history_count(&room->history)) {
		const struct room_history_line *l = room_history_at(&room->history, (*place)++);

		if (l->message && !l->bot && !l->withheld)
			return l->text;
	}
	return NULL;
}

uint64_t room_told_since(const struct room *room)
{
	return room_prompt_told_since(&room->context);
}

bool room_said_since(const struct room *room, uint64_t since, uint64_t user, const char *words)
{
	for (unsigned i = 0; i < room_history_count(&room->history); i++) {
		const struct room_history_line *l = room_history_at(&room->history, i);

		if (l->at >= since && l->bot == !user && (l->bot || l->user == user) &&
		    strstr(l->text, words))
			return true;
	}
	return false;
}

unsigned room_people(const struct room *room)
{
	return room_people_present(&room->context);
}

bool room_label(const struct room *room, uint64_t user, const char *name, char to[ROOM_NAME_MAX])
{
	room_person_label(&room->context, user, name, to);
	return room_person_name(&room->context, user) != NULL;
}

uint64_t room_user_of(const struct room *room, const char *name)
{
	return room_person_by_name(&room->context, name);
}

bool room_alone_with(const struct room *room, uint64_t user)
{
	return room_is_alone(&room->context, user);
}

uint64_t room_asr_closes_at(const struct room *room, uint64_t user)
{
	unsigned place = room_place(&room->context, user);

	return place < ROOM_SPEAKERS ? room_asr_idle_at(&room->context, place) : UINT64_MAX;
}

void room_session_times(const struct room *room, struct room_times *out)
{
	room_session_find_times(&room->session, &room->context, out);
}

void room_attention(const struct room *room, uint64_t now, struct room_attention *out)
{
	const struct room_context *context = &room->context;
	const struct room_recording_queue *l = &room->transcripts.recordings;
	const struct room_floor *f = &room->floor;
	const struct room_thought *th = &room->thought;

	*out = (struct room_attention){
		.engaged = room_floor_engaged(f, context->settings, now),
		.relevant_at = f->relevant_at,
		.holds = room_turn_queue_holds(context),
		.thinks = th->turn != 0,
		.due_at = room_thought_due(th, context, room_session_up_at(context->session)),
		.tried_at = th->tried_at,
		.heard_at = th->heard_at,
		.asr_shared = context->asr_shared,
		.asr_files = context->asr_files,
		.recordings = l->running.n + l->waiting.n};
	if (out->engaged) {
		out->holder = f->holder;
		out->ends_at = room_floor_ends_at(f, context->settings);
	}
}

int room_why(const struct room *room, uint32_t turn, char *buf, size_t size)
{
	return room_turns_why(&room->context, turn, buf, size);
}

uint64_t room_count(const struct room *room, enum room_reason reason)
{
	return room_turns_count(&room->context, reason);
}

/* ---- the machines ---- */

/* Adapters to the machines that get their own state beside the context. */
#define ON_EVENT(machine, member)                                                                  \
	static void machine##_on_event(struct room_context *context, const struct room_event *ev)  \
	{                                                                                          \
		room_##machine##_on_event(context->member, context, ev);                           \
	}
#define TICK(machine, member)                                                                      \
	static void machine##_tick(struct room_context *context)                                   \
	{                                                                                          \
		room_##machine##_tick(context->member, context);                                   \
	}
#define DEADLINE(machine, member)                                                                  \
	static uint64_t machine##_deadline(const struct room_context *context)                     \
	{                                                                                          \
		return room_##machine##_deadline(context->member, context);                        \
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
ON_EVENT(soundboard, soundboard)
ON_EVENT(tool_results, tool_results)
TICK(tool_results, tool_results)
DEADLINE(tool_results, tool_results)
ON_EVENT(history, history)
ON_EVENT(inherited_voice, inherited_voice)
ON_EVENT(compaction, compaction)
TICK(compaction, compaction)
DEADLINE(compaction, compaction)
ON_EVENT(retrieval, retrieval)
TICK(retrieval, retrieval)

static void thought_tick(struct room_context *context)
{
	room_thought_tick(context->thought, context, room_session_up_at(context->session));
}

static void remark_on_event(struct room_context *context, const struct room_event *ev)
{
	room_remark_on_event(context->remark, context, ev);
}

static void remark_tick(struct room_context *context)
{
	room_remark_tick(context->remark, context, room_session_up_at(context->session));
}

static uint64_t remark_deadline(const struct room_context *context)
{
	return room_remark_deadline(context->remark, context, room_session_up_at(context->session));
}

static uint64_t thought_deadline(const struct room_context *context)
{
	return room_thought_deadline(context->thought, context,
				     room_session_up_at(context->session));
}

static const struct machine {
	const char *name;
	/* Each may be NULL. An event goes to every machine; a machine ignores the events of others.
	 */
	void (*on_event)(struct room_context *context, const struct room_event *ev);
	void (*tick)(struct room_context *context);
	uint64_t (*deadline)(const struct room_context *context);
} machines[] = {
	{"session", session_on_event, session_tick, session_deadline},
	{"people", room_people_on_event, NULL, NULL},
	{"history", history_on_event, NULL, NULL},
	{"captures", room_captures_on_event, room_captures_tick, room_captures_deadline},
	{"transcripts", room_transcripts_on_event, NULL, NULL},
	{"turns", NULL, room_turns_tick, room_turns_deadline},
	{"reply", NULL, reply_tick, reply_deadline},
	{"instructions", instructions_on_event, instructions_tick, instructions_deadline},
	{"watchdog", watchdog_on_event, watchdog_tick, watchdog_deadline},
	{"followup", followup_on_event, NULL, NULL},
	{"deferred turns", NULL, room_deferred_tick, room_deferred_deadline},
	{"retrieval", retrieval_on_event, retrieval_tick, NULL},
	{"turn queue", NULL, room_turn_queue_tick, room_turn_queue_deadline},
	{"tool results", tool_results_on_event, tool_results_tick, tool_results_deadline},
	{"thought", NULL, thought_tick, thought_deadline},
	{"remark", remark_on_event, remark_tick, remark_deadline},
	{"choice", choice_on_event, NULL, NULL},
	{"music", music_on_event, music_tick, music_deadline},
	{"barge-in", room_barge_in_on_event, room_barge_in_tick, room_barge_in_deadline},
	{"inherited voice", inherited_voice_on_event, NULL, NULL},
	{"speculative", room_speculative_on_event, room_speculative_tick, NULL},
	{"end-of-turn prediction", NULL, room_eot_prediction_tick, room_eot_prediction_deadline},
	{"classifier", classifier_on_event, NULL, NULL},
	{"soundboard", soundboard_on_event, NULL, NULL},
	{"addressee", room_addressee_on_event, NULL, NULL},
	{"compaction", compaction_on_event, compaction_tick, compaction_deadline},
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
			machines[i].on_event(&room->context, event);
	for (unsigned i = 0; i < MACHINES && !room->context.over; i++)
		if (machines[i].tick)
			machines[i].tick(&room->context);
	room->context.effects = NULL;
}

uint64_t room_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < MACHINES && !room->context.over; i++) {
		uint64_t at =
			machines[i].deadline ? machines[i].deadline(&room->context) : UINT64_MAX;

		if (at < first)
			first = at;
	}
	return first;
}

bool room_holds_order(const struct room *room, uint64_t order)
{
	return room_tool_results_holds(&room->tool_results, order);
}

const char *room_bot_name(const struct room *room)
{
	return room->context.name;
}

bool room_is_bot_name(const struct room *room, const char *name)
{
	const struct room_names *names = &room->names;

	for (unsigned i = 0; i < names->n; i++)
		if (room_script_same(names->name[i].form, name))
			return true;
	return room_script_same(room->context.name, name);
}

const char *room_sound_names(const struct room *room)
{
	return room_soundboard_names(&room->soundboard);
}

const char *room_language_now(const struct room *room)
{
	return room_spoken_language(&room->context);
}
