/* The voice monitor of the seeds: GET /api/voice/state, /api/voice/asr-sessions and the stream
 * /api/voice/events. All of it is what /api/rooms, the bus and the servers of MCP tell. */
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/web/inside.h"
#include "control/web/live_turns.h"
#include "control/web/live_voice.h"
#include "control/web/state_stream.h"
#include "proto/discord.h"

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

/* The seeds' phases of the output. */
static const char *output_phase(const json_t *floor)
{
	const char *phase = json_string_value(json_object_get(floor, "phase"));

	if (!phase)
		return "idle";
	return strcmp(phase, "speaking") == 0  ? "speaking_live"
	       : strcmp(phase, "closing") == 0 ? "speaking_buffered"
					       : "response_pending";
}

static bool runs_tool(const json_t *calls)
{
	const json_t *call;
	size_t i;

	json_array_foreach(calls, i, call)
	{
		if (json_is_null(json_object_get(call, "completedAt")))
			return true;
	}
	return false;
}

static json_t *output_json(const json_t *now, const json_t *calls)
{
	const json_t *floor = json_object_get(now, "floor");
	const char *phase = output_phase(floor);

	if (strcmp(phase, "response_pending") == 0 && runs_tool(calls))
		phase = "awaiting_tool_outputs";
	return json_pack("{s:s,s:O?,s:O?}", "phase", phase, "turn", json_object_get(floor, "turn"),
			 "addressee", json_object_get(floor, "addressee"));
}

/* Turns that wait, whether one of them is held for more words, and how many gave way to newer
 * words. */
static json_t *realtime_json(const json_t *now)
{
	const json_t *turn;
	json_int_t pending = 0;
	size_t i;

	json_array_foreach(json_object_get(now, "turns"), i, turn)
	{
		const char *phase = json_string_value(json_object_get(turn, "phase"));

		pending += phase && (!strcmp(phase, "queued") || !strcmp(phase, "deferred"));
	}
	return json_pack("{s:O?,s:I,s:b,s:O?}", "replySuperseded",
			 json_object_get(now, "superseded"), "pendingTurns", pending, "drainActive",
			 (int)(strcmp(output_phase(json_object_get(now, "floor")),
				      "speaking_buffered") == 0),
			 "coalesceActive", json_object_get(now, "holds"));
}

/* asr_sessions is `shared`: whose speech is transcribed in the one session of the room. Otherwise
 * each speaker has one of `asrSessions`. */
static json_t *shared_asr_json(const json_t *now, const json_t *each)
{
	const char *how =
		json_string_value(json_object_get(json_object_get(now, "asr"), "sessions"));
	json_t *users, *since = NULL, *last = NULL, *one;
	size_t i;

	if (!how || strcmp(how, "shared") != 0)
		return json_null();
	users = json_array();
	json_array_foreach(each, i, one)
	{
		json_t *at = json_object_get(one, "lastTranscriptAt");

		if (json_is_string(at) &&
		    (!last || strcmp(json_string_value(at), json_string_value(last)) > 0))
			last = at;
		if (!json_is_true(json_object_get(one, "connected")))
			continue;
		json_array_append(users, json_object_get(one, "userId"));
		at = json_object_get(one, "createdAt");
		if (json_is_string(at) &&
		    (!since || strcmp(json_string_value(at), json_string_value(since)) < 0))
			since = at;
	}
	return json_pack("{s:b,s:O?,s:O?,s:o}", "connected", json_array_size(users) > 0,
			 "createdAt", since, "lastTranscriptAt", last, "userIds", users);
}

/* asr_sessions is `file`: recordings that wait for their transcript, with the one that is
 * transcribed. */
static json_t *batch_asr_json(const json_t *now)
{
	const json_t *asr = json_object_get(now, "asr");
	const char *how = json_string_value(json_object_get(asr, "sessions"));

	return how && strcmp(how, "file") == 0
		       ? json_pack("{s:O?}", "pendingTurns", json_object_get(asr, "pending"))
		       : json_null();
}

/* From the end of speech to the first sound, of the last turns that were answered. */
static json_t *latency_json(const json_t *turns)
{
	json_t *list = json_array(), *turn;
	size_t i;

	json_array_foreach(turns, i, turn)
	{
		json_t *ms = json_object_get(turn, "firstAudioMs");

		if (json_is_integer(ms))
			json_array_append_new(list, json_pack("{s:O,s:O,s:O}", "turn",
							      json_object_get(turn, "turn"), "at",
							      json_object_get(turn, "at"),
							      "totalMs", ms));
	}
	return list;
}

/* Discord gives each voice channel a text chat of the same id. */
static void add_state(const struct web *w, json_t *s, const json_t *room, enum live_words words)
{
	const json_t *now = json_object_get(room, "now");
	json_t *recent = live_turns_recent(web_turns(w), guild_of(room), words != LIVE_NO_WORDS);
	json_t *more = json_pack(
		"{s:O?,s:O?,s:O?,s:O?,s:O?,s:o,s:o,s:o,s:o,s:{s:O?},s:o}", "textChannelId",
		json_object_get(room, "channel"), "lastActivityAt",
		json_object_get(now, "lastActivityAt"), "maxEndsAt",
		json_object_get(now, "maxEndsAt"), "inactivityEndsAt",
		json_object_get(now, "inactivityEndsAt"), "mode", json_object_get(room, "mode"),
		"assistantOutput", output_json(now, json_object_get(s, "toolCalls")),
		"membershipEvents", live_voice_moves(web_voice(w), guild_of(room)), "realtime",
		realtime_json(now), "latency", latency_json(recent), "promptState", "version",
		json_object_get(room, "prompts"), "recentTurns", recent);

	json_object_update(s, more);
	json_decref(more);
	more = json_pack("{s:O?,s:O?,s:o,s:o}", "wake", json_object_get(now, "wake"),
			 "thoughtEngine", json_object_get(now, "thoughtEngine"), "sharedAsrSession",
			 shared_asr_json(now, json_object_get(s, "asrSessions")), "batchAsr",
			 batch_asr_json(now));
	json_object_update(s, more);
	json_decref(more);
}

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
	add_state(w, s, room, words);
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

json_t *web_voice_state(const struct web *w, enum live_words words, uint64_t scope, bool open)
{
	json_t *rooms = web_seen_rooms(w, scope, open), *sessions = json_array(),
	       *mcp = web_mcp(w, scope, words == LIVE_WORDS), *all;
	json_t *room;
	size_t i;

	json_array_foreach(rooms, i, room)
	{
		if (words != LIVE_WORDS)
			web_hide_notes(room);
		json_array_append_new(sessions, session_json(w, room, words));
	}
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
	web_json(r->x, 200,
		 web_voice_state(w, r->role >= WEB_OPERATOR ? LIVE_WORDS : LIVE_NO_WORDS, r->scope,
				 r->open));
}

void web_asr_sessions_get(struct web *w, const struct web_request *r)
{
	json_t *all = web_voice_state(w, LIVE_NO_WORDS, r->scope, r->open);

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

/* What tells which session it is, and what the bot does there: a client with many calls does not
 * take one for ended. */
static json_t *shorten(const json_t *s)
{
	return json_pack("{s:O?,s:O?,s:O?,s:O?,s:O?,s:O?,s:[],s:b}", "sessionId",
			 json_object_get(s, "sessionId"), "guildId", json_object_get(s, "guildId"),
			 "voiceChannelId", json_object_get(s, "voiceChannelId"), "startedAt",
			 json_object_get(s, "startedAt"), "mode", json_object_get(s, "mode"),
			 "assistantOutput", json_object_get(s, "assistantOutput"), "participants",
			 "cut", 1);
}

/* The last ones, until all fit. Returns the bytes of the whole then. */
static size_t shorten_sessions(json_t *sessions, size_t bytes)
{
	for (size_t i = json_array_size(sessions); i-- > 0 && bytes > STATE_BYTES;) {
		json_t *s = json_array_get(sessions, i), *less = shorten(s);
		size_t was = size_of(s);

		if (less)
			bytes = bytes - was + size_of(less);
		json_array_set_new(sessions, i, less);
	}
	return bytes;
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
	if (all)
		drop_sessions(sessions, shorten_sessions(sessions, size_of(all)));
	return all;
}

static json_t *snapshot(bool words, uint64_t guild, json_t *first, void *arg)
{
	(void)first;
	return fit(web_voice_state(arg, words ? LIVE_WORDS : LIVE_NO_WORDS, guild, false));
}

/* Who comes back is told it again: a stream keeps what it tells. */
static json_t *state(bool words, uint64_t guild, void *arg)
{
	return fit(web_voice_state(arg, words ? LIVE_KEPT_WORDS : LIVE_NO_WORDS, guild, false));
}

/* The seeds' VoiceEvent: calls of tools and sessions of speech-to-text in their form, others as
 * docs/events.md has them. */
static json_t *event(const struct bus_event *ev, bool words, void *arg)
{
	bool tool = ev->type == EVENT_TOOL_BEGAN || ev->type == EVENT_TOOL_CALLED;
	bool asr = ev->type == EVENT_ASR_SESSION;
	const struct web *w = arg;
	json_t *j = tool  ? live_voice_call_json(ev, words)
		    : asr ? live_voice_asr_json(web_voice(w), ev)
			  : bus_event_json(ev, words && !bus_event_is_transient(ev));

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
	uint64_t guild = r->scope;
	char text[24];

	if (http_head_has_query(r->head, "guild") &&
	    (!http_head_query(r->head, "guild", text, sizeof text) ||
	     !discord_snowflake(text, &guild)))
		web_refuse(r->x, WEB_BAD_GUILD);
	else if (web_refuse_stream(w, r->x))
		return;
	else if (state_stream_join(web_stream(w, WEB_STREAM_VOICE, words), r->x, r->head, guild,
				   NULL))
		http_reply(r->x, 503, NULL, NULL, 0);
}
