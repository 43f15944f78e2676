#include "control/web/live_voice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "proto/base/iso_time.h"
#include "proto/base/utf8.h"

enum { NAME_SIZE = 64, WHY_SIZE = 16 };

struct asr {
	uint64_t guild, user, session;	   /* session: its start, ms since 1970 */
	uint64_t opened_ms, transcript_ms; /* 0: none */
	uint64_t audio_ms, transcripts;	   /* of this voice session */
	bool open;
	char name[NAME_SIZE], why[WHY_SIZE], error[WHY_SIZE];
};

struct call {
	uint64_t guild, session, number;
	struct bus_event *ev; /* own */
};

/* Somebody came or left. */
struct move {
	uint64_t guild, user, at_ms;
	bool there;
	char name[NAME_SIZE];
};

struct live_voice {
	struct asr asr[LIVE_ASR_MAX];	  /* the oldest first */
	struct call call[LIVE_CALLS_MAX]; /* the same */
	struct move move[LIVE_MOVES_MAX]; /* the same */
	unsigned n_asr, n_calls, n_moves;
};

static void remove_asr(struct live_voice *v, unsigned i)
{
	memmove(&v->asr[i], &v->asr[i + 1], (--v->n_asr - i) * sizeof v->asr[0]);
}

static void remove_call(struct live_voice *v, unsigned i)
{
	free(v->call[i].ev);
	memmove(&v->call[i], &v->call[i + 1], (--v->n_calls - i) * sizeof v->call[0]);
}

static void remove_move(struct live_voice *v, unsigned i)
{
	memmove(&v->move[i], &v->move[i + 1], (--v->n_moves - i) * sizeof v->move[0]);
}

static void remove_guild(struct live_voice *v, uint64_t guild)
{
	for (unsigned i = v->n_moves; i-- > 0;)
		if (v->move[i].guild == guild)
			remove_move(v, i);
	for (unsigned i = v->n_asr; i-- > 0;)
		if (v->asr[i].guild == guild)
			remove_asr(v, i);
	for (unsigned i = v->n_calls; i-- > 0;)
		if (v->call[i].guild == guild)
			remove_call(v, i);
}

static struct asr *find_asr(struct live_voice *v, uint64_t guild, uint64_t user)
{
	for (unsigned i = 0; i < v->n_asr; i++)
		if (v->asr[i].guild == guild && v->asr[i].user == user)
			return &v->asr[i];
	return NULL;
}

static bool ends_by_itself(const char *why)
{
	return strcmp(why, "idle_ttl") == 0 || strcmp(why, "user_left") == 0;
}

/* The oldest one that is over, or the oldest. */
static unsigned least_asr(const struct live_voice *v)
{
	for (unsigned i = 0; i < v->n_asr; i++)
		if (!v->asr[i].open)
			return i;
	return 0;
}

static unsigned count_calls(const struct live_voice *v, uint64_t guild)
{
	unsigned n = 0;

	for (unsigned i = 0; i < v->n_calls; i++)
		n += v->call[i].guild == guild;
	return n;
}

/* The oldest one of this server that is over, or its oldest. */
static void drop_call(struct live_voice *v, uint64_t guild)
{
	unsigned oldest = v->n_calls;

	for (unsigned i = v->n_calls; i-- > 0;)
		if (v->call[i].guild == guild &&
		    (oldest == v->n_calls || v->call[i].ev->type != EVENT_TOOL_BEGAN ||
		     v->call[oldest].ev->type == EVENT_TOOL_BEGAN))
			oldest = i;
	if (oldest < v->n_calls)
		remove_call(v, oldest);
}

/* A server that calls many hides none of the others'. */
static void make_room(struct live_voice *v, uint64_t guild)
{
	uint64_t busiest = guild;

	if (count_calls(v, guild) >= LIVE_CALLS_EACH) {
		drop_call(v, guild);
	} else if (v->n_calls == LIVE_CALLS_MAX) {
		for (unsigned i = 0; i < v->n_calls; i++)
			if (count_calls(v, v->call[i].guild) > count_calls(v, busiest))
				busiest = v->call[i].guild;
		drop_call(v, busiest);
	}
}

static void take_asr(struct live_voice *v, const struct bus_event *ev)
{
	bool opened = strcmp(ev->asr.state, "opened") == 0;
	struct asr *a = find_asr(v, ev->guild, ev->user);

	if (!a && v->n_asr == LIVE_ASR_MAX)
		remove_asr(v, least_asr(v));
	if (!a) {
		a = &v->asr[v->n_asr++];
		*a = (struct asr){.guild = ev->guild, .user = ev->user};
	}
	if (opened && !a->open)
		a->opened_ms = ev->at_ms;
	a->open = opened;
	a->session = ev->asr.session;
	utf8_copy(a->name, sizeof a->name, ev->asr.name);
	snprintf(a->why, sizeof a->why, "%s", opened ? "" : ev->asr.why);
	if (!opened && !ends_by_itself(a->why))
		snprintf(a->error, sizeof a->error, "%s", a->why);
}

static void take_transcript(struct live_voice *v, const struct bus_event *ev)
{
	struct asr *a = find_asr(v, ev->guild, ev->user);

	if (!a)
		return;
	a->transcript_ms = ev->at_ms;
	a->transcripts++;
	if (ev->utterance.ended_ms > ev->utterance.started_ms)
		a->audio_ms += ev->utterance.ended_ms - ev->utterance.started_ms;
}

/* The end of a call takes the place of its beginning. */
static void take_call(struct live_voice *v, const struct bus_event *ev)
{
	struct bus_event lean = *ev, *copy;
	struct call *c = NULL;

	lean.tool.summary = NULL;
	copy = bus_event_copy(&lean, NULL);
	if (!copy)
		return;
	for (unsigned i = 0; i < v->n_calls && !c; i++)
		if (v->call[i].guild == ev->guild && v->call[i].session == ev->tool.session &&
		    v->call[i].number == ev->tool.call)
			c = &v->call[i];
	if (!c) {
		make_room(v, ev->guild);
		v->call[v->n_calls++] = (struct call){
			.guild = ev->guild, .session = ev->tool.session, .number = ev->tool.call};
	}
	c = c ? c : &v->call[v->n_calls - 1];
	free(c->ev);
	c->ev = copy;
}

/* The oldest of the server gives way, or the oldest of all. */
static void take_move(struct live_voice *v, const struct bus_event *ev)
{
	unsigned n = 0, oldest = 0;

	for (unsigned i = v->n_moves; i-- > 0;)
		if (v->move[i].guild == ev->guild) {
			n++;
			oldest = i;
		}
	if (n >= LIVE_MOVES_EACH)
		remove_move(v, oldest);
	else if (v->n_moves == LIVE_MOVES_MAX)
		remove_move(v, 0);
	v->move[v->n_moves] = (struct move){.guild = ev->guild,
					    .user = ev->user,
					    .at_ms = ev->at_ms,
					    .there = ev->member.there};
	utf8_copy(v->move[v->n_moves].name, NAME_SIZE, ev->member.name);
	v->n_moves++;
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct live_voice *v = arg;

	if (ev->type == EVENT_MEMBER)
		take_move(v, ev);
	else if (ev->type == EVENT_ASR_SESSION)
		take_asr(v, ev);
	else if (ev->type == EVENT_UTTERANCE)
		take_transcript(v, ev);
	else if (ev->type == EVENT_TOOL_BEGAN || ev->type == EVENT_TOOL_CALLED)
		take_call(v, ev);
	else
		remove_guild(v, ev->guild);
}

int live_voice_alloc(struct live_voice **out, struct bus *bus)
{
	struct live_voice *v = calloc(1, sizeof *v);
	int err = v ? bus_subscribe(bus,
				    BUS_MASK(EVENT_MEMBER) | BUS_MASK(EVENT_ASR_SESSION) |
					    BUS_MASK(EVENT_UTTERANCE) | BUS_MASK(EVENT_TOOL_BEGAN) |
					    BUS_MASK(EVENT_TOOL_CALLED) |
					    BUS_MASK(EVENT_SESSION_STARTED) |
					    BUS_MASK(EVENT_SESSION_OVER),
				    on_event, v)
		    : ENOMEM;

	if (err)
		free(v);
	else
		*out = v;
	return err;
}

void live_voice_forget(struct live_voice *v)
{
	v->n_asr = v->n_moves = 0;
	while (v->n_calls)
		remove_call(v, v->n_calls - 1);
}

struct live_voice *live_voice_free(struct live_voice *v)
{
	if (!v)
		return NULL;
	live_voice_forget(v);
	free(v);
	return NULL;
}

/* ---- as JSON ---- */

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

static json_t *time_json(uint64_t ms)
{
	char text[ISO_TIME_SIZE];

	iso_time_format(text, ms);
	return ms ? json_string(text) : json_null();
}

/* The seeds know three reasons: a session that speech-to-text found no words in, or that ended with
 * the program, did not end by itself. */
static json_t *reason_json(const struct asr *a)
{
	if (a->open || !*a->why)
		return json_null();
	return json_string(ends_by_itself(a->why) ? a->why : "error");
}

static json_t *asr_json(const struct asr *a, json_t *idle)
{
	return json_pack("{s:o,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:s?}", "userId",
			 id_json(a->user), "displayName", a->name, "connected", (int)a->open,
			 "createdAt", time_json(a->opened_ms), "lastTranscriptAt",
			 time_json(a->transcript_ms), "idleTimerEndsAt", idle, "closedReason",
			 reason_json(a), "guildId", id_json(a->guild), "sessionId",
			 time_json(a->session), "audioMs", (json_int_t)a->audio_ms, "transcripts",
			 (json_int_t)a->transcripts, "lastError", *a->error ? a->error : NULL);
}

/* Of the person among those of /api/rooms. */
static json_t *idle_json(const struct asr *a, const json_t *people)
{
	const json_t *person;
	char id[24];
	size_t i;

	snprintf(id, sizeof id, "%llu", (unsigned long long)a->user);
	json_array_foreach(people, i, person)
	{
		const char *user = json_string_value(json_object_get(person, "user"));
		json_t *at = json_object_get(person, "asrIdleEndsAt");

		if (a->open && user && strcmp(user, id) == 0 && at)
			return json_incref(at);
	}
	return json_null();
}

json_t *live_voice_asr(const struct live_voice *v, uint64_t guild, const json_t *people)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < v->n_asr; i++)
		if (v->asr[i].guild == guild)
			json_array_append_new(list,
					      asr_json(&v->asr[i], idle_json(&v->asr[i], people)));
	return list;
}

json_t *live_voice_asr_json(const struct live_voice *v, const struct bus_event *ev)
{
	for (unsigned i = 0; i < v->n_asr; i++)
		if (v->asr[i].guild == ev->guild && v->asr[i].user == ev->user)
			return asr_json(&v->asr[i], json_null());
	return NULL;
}

/* A hash of the arguments is all that is kept of them. */
static json_t *arguments_json(const char *hash)
{
	return hash && *hash ? json_pack("{s:s}", "hash", hash) : json_object();
}

json_t *live_voice_call_json(const struct bus_event *ev, bool words)
{
	const struct event_tool *t = &ev->tool;
	bool runs = ev->type == EVENT_TOOL_BEGAN, ok = !runs && strcmp(t->code, "ok") == 0;
	const char *name = t->name ? t->name : "", *server = strstr(name, "__");
	const char *summary = words && t->summary && *t->summary ? t->summary : NULL;
	uint64_t began = ev->at_ms - (runs ? 0 : t->lasted_ms);

	return json_pack(
		"{s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:b,s:s?,s:s?,s:o,s:o,s:I,s:o,s:s,s:s?}", "callId",
		json_sprintf("%llu-%llu", (unsigned long long)t->session,
			     (unsigned long long)t->call),
		"toolName", name, "toolType", server ? "mcp" : "function", "arguments",
		arguments_json(words ? t->arguments : NULL), "startedAt", time_json(began),
		"completedAt", runs ? json_null() : time_json(ev->at_ms), "runtimeMs",
		runs ? json_null() : json_integer((json_int_t)t->lasted_ms), "success", (int)ok,
		"outputSummary", ok ? summary : NULL, "error",
		ok || runs ? NULL
		: summary  ? summary
			   : t->code,
		"guild", id_json(ev->guild), "sessionId", time_json(t->session), "turn",
		(json_int_t)t->turn, "serverName",
		server ? json_stringn(name, (size_t)(server - name)) : json_null(), "state",
		runs ? "running" : t->code, "argumentsHash", words ? t->arguments : NULL);
}

json_t *live_voice_calls(const struct live_voice *v, uint64_t guild)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < v->n_calls; i++)
		if (v->call[i].guild == guild)
			json_array_append_new(list, live_voice_call_json(v->call[i].ev, false));
	return list;
}

json_t *live_voice_moves(const struct live_voice *v, uint64_t guild)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < v->n_moves; i++) {
		const struct move *m = &v->move[i];

		if (m->guild == guild)
			json_array_append_new(list,
					      json_pack("{s:o,s:s,s:s,s:o}", "userId",
							id_json(m->user), "displayName", m->name,
							"eventType", m->there ? "join" : "leave",
							"at", time_json(m->at_ms)));
	}
	return list;
}
