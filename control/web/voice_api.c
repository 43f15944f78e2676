/* The voice monitor of the seeds: GET /api/voice/state, /api/voice/asr-sessions and the stream
 * /api/voice/events. All of it is what /api/rooms, the bus and the servers of MCP tell. */
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/web/inside.h"
#include "control/web/live_turns.h"
#include "control/web/live_voice.h"
#include "control/web/state_stream.h"

enum { STATE_BYTES = 60 << 10 }; /* of an event, which takes SSE_EVENT_MAX with its frame */

static uint64_t guild_of(const json_t *room)
{
	const char *id = json_string_value(json_object_get(room, "guild"));

	return id ? strtoull(id, NULL, 10) : 0;
}

static json_t *participants_json(const json_t *room)
{
	json_t *list = json_array();
	const json_t *person;
	size_t i;

	json_array_foreach(json_object_get(room, "people"), i, person) json_array_append_new(
		list, json_pack("{s:O?,s:O?,s:O?}", "userId", json_object_get(person, "user"),
				"displayName", json_object_get(person, "name"), "heard",
				json_object_get(person, "heard")));
	return list;
}

/* What the seeds' snapshot of a session has and nobody tells here. */
static const char *const untold[] = {
	"textChannelId",
	"lastActivityAt",
	"maxEndsAt",
	"inactivityEndsAt",
	"mode",
	"assistantOutput",
	"wake",
	"thoughtEngine",
	"promptState",
	"membershipEvents",
	"sharedAsrSession",
	"batchAsr",
	"realtime",
	"latency",
};

static json_t *session_json(const struct web *w, const json_t *room, enum live_words words)
{
	uint64_t guild = guild_of(room);
	json_t *s = json_pack(
		"{s:O?,s:O?,s:O?,s:O?,s:o,s:o,s:o,s:o,s:o,s:O?,s:O?,s:O?,s:O?}", "sessionId",
		json_object_get(room, "since"), "guildId", json_object_get(room, "guild"),
		"voiceChannelId", json_object_get(room, "channel"), "startedAt",
		json_object_get(room, "since"), "participants", participants_json(room),
		"asrSessions", live_voice_asr(web_voice(w), guild, json_object_get(room, "people")),
		"toolCalls", live_voice_calls(web_voice(w), guild), "turns",
		live_turns_current(web_turns(w), guild, words), "lastTurn",
		live_turns_last(web_turns(w), guild, words != LIVE_NO_WORDS), "brainTools",
		json_object_get(room, "brainTools"), "music", json_object_get(room, "music"),
		"brain", json_object_get(room, "brain"), "muted", json_object_get(room, "muted"));

	json_object_set_new(s, "streamWatch",
			    json_pack("{s:O?}", "shares", json_object_get(room, "screens")));
	json_object_set_new(s, "recentTurns", json_array());
	if (json_is_object(json_object_get(s, "lastTurn")))
		json_array_append(json_object_get(s, "recentTurns"),
				  json_object_get(s, "lastTurn"));
	for (size_t i = 0; i < sizeof untold / sizeof untold[0]; i++)
		json_object_set_new(s, untold[i], json_null());
	return s;
}

/* A list of all sessions, one after the other. */
static json_t *gather(const json_t *sessions, const char *name)
{
	json_t *all = json_array();
	const json_t *s;
	size_t i;

	json_array_foreach(sessions, i, s) json_array_extend(all, json_object_get(s, name));
	return all;
}

json_t *web_voice_state(const struct web *w, enum live_words words, uint64_t scope)
{
	const struct web_conf *c = web_shown(w);
	json_t *rooms = web_only(c->roomsh(c->arg), "guild", scope), *sessions = json_array(),
	       *mcp = web_mcp(w, scope), *all;
	const json_t *room;
	size_t i;

	json_array_foreach(rooms, i, room)
		json_array_append_new(sessions, session_json(w, room, words));
	all = json_pack("{s:I,s:o,s:o,s:o,s:O?}", "activeCount",
			(json_int_t)json_array_size(sessions), "sessions", sessions, "asrSessions",
			gather(sessions, "asrSessions"), "toolCalls", gather(sessions, "toolCalls"),
			"mcpStatus", json_object_get(mcp, "servers"));
	json_decref(rooms);
	json_decref(mcp);
	return all;
}

void web_voice_state_get(struct web *w, const struct web_request *r)
{
	web_json(
		r->x, 200,
		web_voice_state(w, r->role >= WEB_OPERATOR ? LIVE_WORDS : LIVE_NO_WORDS, r->scope));
}

void web_asr_sessions_get(struct web *w, const struct web_request *r)
{
	json_t *all = web_voice_state(w, LIVE_NO_WORDS, r->scope);

	web_json(r->x, 200,
		 all ? json_pack("{s:O?}", "sessions", json_object_get(all, "asrSessions")) : NULL);
	json_decref(all);
}

/* ---- the stream ---- */

/* The newest entries of each list, which stand last. */
static void cut_lists(json_t *object, size_t most)
{
	const char *name;
	json_t *list;

	json_object_foreach(object, name, list)
	{
		while (strcmp(name, "sessions") != 0 && json_array_size(list) > most)
			json_array_remove(list, 0);
	}
}

static size_t size_of(const json_t *j)
{
	return json_dumpb(j, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(12));
}

static bool is_too_large(const json_t *all)
{
	return size_of(all) > STATE_BYTES;
}

/* Each is measured once: writing the whole again for each would take a tenth of a second of the
 * loop for 100 calls. */
static void drop_sessions(json_t *sessions, size_t bytes)
{
	size_t n;

	while (bytes > STATE_BYTES && (n = json_array_size(sessions)) > 0) {
		bytes -= size_of(json_array_get(sessions, n - 1)) + (n > 1); /* a comma */
		json_array_remove(sessions, n - 1);
	}
}

/* As much as one event holds: otherwise a busy room, or many, would stop the stream for everybody.
 * All of it is in /api/voice/state. */
static json_t *fit(json_t *all)
{
	static const size_t most[] = {32, 8, 2, 0};
	json_t *sessions = json_object_get(all, "sessions"), *s;
	size_t k;

	for (size_t i = 0; all && i < sizeof most / sizeof most[0] && is_too_large(all); i++) {
		cut_lists(all, most[i]);
		json_array_foreach(sessions, k, s) cut_lists(s, most[i]);
		json_object_set_new(all, "cut", json_true());
	}
	drop_sessions(sessions, all ? size_of(all) : 0);
	return all;
}

static json_t *snapshot(bool words, json_t *first, void *arg)
{
	(void)first;
	return fit(web_voice_state(arg, words ? LIVE_WORDS : LIVE_NO_WORDS, 0));
}

/* Who comes back is told it again: a stream keeps what it tells. */
static json_t *state(bool words, void *arg)
{
	return fit(web_voice_state(arg, words ? LIVE_KEPT_WORDS : LIVE_NO_WORDS, 0));
}

/* The seeds' VoiceEvent: calls of tools and sessions of speech-to-text in their form, others as
 * docs/events.md has them. */
static json_t *event(const struct bus_event *ev, bool words, void *arg)
{
	bool tool = ev->type == EVENT_TOOL_BEGAN || ev->type == EVENT_TOOL_CALLED;
	bool asr = ev->type == EVENT_ASR_SESSION;
	json_t *j = tool  ? live_voice_call_json(ev, words)
		    : asr ? live_voice_asr_json(ev)
			  : bus_event_json(ev, words && !bus_event_is_transient(ev));

	(void)arg;
	json_object_set_new(j, "type",
			    json_string(tool  ? "tool_call"
					: asr ? "asr_session"
					      : bus_event_info(ev->type)->name));
	return j;
}

int web_make_voice_stream(struct web *w, bool words, struct state_stream **out)
{
	struct state_stream_conf conf = {
		.env = web_env(w),
		.bus = web_shown(w)->bus,
		.mask = BUS_MASK(EVENT_TURN_ADMITTED) | BUS_MASK(EVENT_TURN_SPEAKING) |
			BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_UTTERANCE) |
			BUS_MASK(EVENT_SPEECH_DROPPED) | BUS_MASK(EVENT_SESSION_STARTED) |
			BUS_MASK(EVENT_SESSION_OVER) | BUS_MASK(EVENT_CALL_STATE) |
			BUS_MASK(EVENT_FAULT) | BUS_MASK(EVENT_SOUND_PLAYED) |
			BUS_MASK(EVENT_TOOL_BEGAN) | BUS_MASK(EVENT_TOOL_CALLED) |
			BUS_MASK(EVENT_ASR_SESSION),
		.words = words,
		.snapshot = "voice_state",
		.state = "voice_state",
		.event = "voice_event",
		.snapshoth = snapshot,
		.stateh = state,
		.eventh = event,
		.arg = w};

	return state_stream_alloc(out, &conf);
}

void web_voice_events_get(struct web *w, const struct web_request *r)
{
	bool words = r->role >= WEB_OPERATOR;

	/* It tells of all servers. /api/events has those of one. */
	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (web_refuse_stream(w, r->x))
		return;
	else if (state_stream_join(web_stream(w, WEB_STREAM_VOICE, words), r->x, r->head, NULL))
		http_reply(r->x, 503, NULL, NULL, 0);
}
