/* The seeds' API of the voice monitor and of the actions, with a real client on loopback. */
#include "tests/unit/control/web/live_scene.h"

#include <string.h>

#include <jansson.h>

#include "control/web/inside.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

static bool busy;		/* hundreds of people in hundreds of rooms */
static const char *transcribes; /* asr_sessions */

static json_t *on_mcp(void *arg)
{
	(void)arg;
	return json_pack("{s:[{s:s}]}", "servers", "serverName", "notes");
}

static json_t *on_ready(void *arg)
{
	(void)arg;
	return json_pack("{s:b}", "ready", 1);
}

static json_t *busy_rooms(void)
{
	json_t *rooms = json_array(), *people = json_array();

	for (unsigned i = 0; i < 300; i++)
		json_array_append_new(people, json_pack("{s:s,s:s,s:b}", "user", "501", "name",
							"somebody with a name", "heard", 1));
	for (unsigned i = 0; i < 300; i++)
		json_array_append_new(
			rooms, json_pack("{s:s,s:s,s:s,s:O}", "guild", "42", "channel", "7",
					 "since", "2026-09-21T14:13:20.000Z", "people", people));
	json_decref(people);
	return rooms;
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	if (busy)
		return busy_rooms();
	return json_pack("[{s:s,s:s,s:s,s:[{s:s,s:s,s:b}],s:[{s:s}],s:n,s:s,s:i,"
			 "s:{s:{s:i,s:s},s:[{s:i,s:s},{s:i,s:s}],s:s,s:s,s:n,"
			 "s:{s:s,s:b},s:{s:b},s:{s:s,s:i},s:b,s:i}}]",
			 "guild", "42", "channel", "7", "since", "2026-09-21T14:13:20.000Z",
			 "people", "user", "501", "name", "alice", "heard", 1, "brainTools", "name",
			 "clock", "music", "mode", "native", "prompts", 32, "now", "floor", "turn",
			 2, "phase", "speaking", "turns", "turn", 2, "phase", "speaking", "turn", 3,
			 "phase", "queued", "lastActivityAt", "2026-09-21T14:14:20.000Z",
			 "maxEndsAt", "2026-09-21T15:13:20.000Z", "inactivityEndsAt", "wake",
			 "attentionMode", "ACTIVE", "active", 1, "thoughtEngine", "busy", 0, "asr",
			 "sessions", transcribes, "pending", 2, "holds", 1, "superseded", 3);
}

static json_t *on_stats(void *arg)
{
	(void)arg;
	return json_pack("{s:i}", "voiceSessions", 1);
}

static bool open_all(void)
{
	struct web_conf wc = web_idle;

	busy = false;
	transcribes = "speaker";
	wc.mcph = on_mcp;
	wc.readyh = wc.reasonsh = wc.guildsh = on_ready;
	wc.roomsh = on_rooms;
	wc.statsh = on_stats;
	return live_scene_open_as(&wc);
}

static void tell_asr(void)
{
	bus_publish(live_scene.bus,
		    &(struct bus_event){.type = EVENT_ASR_SESSION,
					.at_ms = 1790000000000,
					.guild = 42,
					.user = 501,
					.asr = {.name = "alice", .state = "opened", .why = ""}});
}

static void tell_call(void)
{
	bus_publish(live_scene.bus, &(struct bus_event){.type = EVENT_TOOL_CALLED,
							.at_ms = 1790000000000,
							.guild = 42,
							.tool = {.name = "clock",
								 .code = "ok",
								 .summary = "ten past four",
								 .nano = 2000000}});
}

static size_t size_of(const json_t *j, const char *name)
{
	return json_array_size(json_object_get(j, name));
}

TEST(the_state_of_the_calls_has_the_seeds_names)
{
	const json_t *session;

	CHECK(open_all());
	tell_asr();
	tell_call();
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	CHECK_INT(json_integer_value(json_object_get(live_scene.got, "activeCount")), 1);
	CHECK_INT(size_of(live_scene.got, "asrSessions"), 1);
	CHECK_INT(size_of(live_scene.got, "toolCalls"), 1);
	CHECK_INT(size_of(live_scene.got, "mcpStatus"), 1);
	session = json_array_get(json_object_get(live_scene.got, "sessions"), 0);
	CHECK_STR(json_string_value(json_object_get(session, "guildId")), "42");
	CHECK_STR(json_string_value(json_object_get(session, "voiceChannelId")), "7");
	CHECK_INT(size_of(session, "participants"), 1);
	CHECK_INT(size_of(session, "brainTools"), 1);
	CHECK_INT(size_of(session, "asrSessions"), 1);
	CHECK_INT(live_scene_ask("GET", "/api/voice/asr-sessions", NULL), 200);
	CHECK_INT(size_of(live_scene.got, "sessions"), 1);
	CHECK_INT(live_scene_ask("GET", "/api/stats", NULL), 200);
	CHECK_INT(json_integer_value(json_object_get(live_scene.got, "voiceSessions")), 1);
	CHECK_INT(live_scene_ask("GET", "/api/health", NULL), 200);
	live_scene_close();
}

TEST(a_reader_of_the_calls_gets_their_state_at_once_and_then_events)
{
	struct http_req *req;

	CHECK(open_all());
	req = live_scene_follow("/api/voice/events");
	CHECK(live_scene_await("event: voice_state\ndata: {\"activeCount\":1"));
	tell_asr();
	tell_call();
	CHECK(live_scene_await("\"type\":\"tool_call\""));
	CHECK(strstr(live_scene.text, "event: voice_event\ndata: {\"userId\":\"501\""));
	CHECK(strstr(live_scene.text, "\"type\":\"asr_session\""));
	CHECK(strstr(live_scene.text, "\"outputSummary\":\"ten past four\""));
	http_req_cancel(req);
	live_scene_close();
}

TEST(a_reader_of_one_server_gets_that_one_alone)
{
	struct http_req *req;

	CHECK(open_all());
	CHECK_INT(live_scene_ask("GET", "/api/voice/events?guild=x", NULL), 400);
	req = live_scene_follow("/api/voice/events?guild=43");
	CHECK(live_scene_await("event: voice_state\ndata: {\"activeCount\":0"));
	tell_call();
	bus_publish(live_scene.bus, &(struct bus_event){.type = EVENT_FAULT, .guild = 43});
	CHECK(live_scene_await("\"type\":\"fault\""));
	CHECK(!strstr(live_scene.text, "tool_call"));
	http_req_cancel(req);
	live_scene.n = 0;
	req = live_scene_follow("/api/voice/events?guild=42");
	CHECK(live_scene_await("event: voice_state\ndata: {\"activeCount\":1"));
	http_req_cancel(req);
	live_scene_close();
}

TEST(a_state_that_no_event_holds_is_cut)
{
	struct http_req *req;

	CHECK(open_all());
	busy = true;
	req = live_scene_follow("/api/voice/events");
	CHECK(live_scene_await("event: voice_state\ndata: {\"activeCount\":300"));
	/* A call that is not told of would have ended for its client. */
	CHECK(live_scene_await("}],\"asrSessions\""));
	CHECK(live_scene_count("\"cut\":true") > 200);
	/* All of it arrives, and so does the event behind it. */
	tell_call();
	CHECK(live_scene_await("\"type\":\"tool_call\""));
	http_req_cancel(req);
	live_scene_close();
}

TEST(rule_114_a_reader_of_the_actions_gets_a_snapshot_and_each_action)
{
	struct http_req *req;

	CHECK(open_all());
	req = live_scene_follow("/api/activity/events");
	CHECK(live_scene_await("event: activity_snapshot\ndata: {\"actions\":[],\"stats\":{"));
	tell_asr();
	tell_call();
	CHECK(live_scene_await("\"kind\":\"llm_tool_call\""));
	CHECK(strstr(live_scene.text, "event: action_event\n"));
	/* As /api/actions has it later, so that a client has it once (history_test.c). */
	CHECK(strstr(live_scene.text, "\"id\":\"llm_tool_call-1790000000000-42-0\""));
	CHECK(strstr(live_scene.text, "\"usdCost\":0.002"));
	CHECK(!strstr(live_scene.text, "asr_session"));
	http_req_cancel(req);
	live_scene_close();
}

static void tell_turn(enum event_type type, const char *words, bool transient)
{
	bus_publish(live_scene.bus, &(struct bus_event){.type = type,
							.guild = 42,
							.user = 501,
							.turn = {.turn = 1,
								 .heard = words,
								 .said = words,
								 .reason = "answered",
								 .transient = transient}});
}

/* A reader that comes back is told again what the stream has told. */
TEST(words_that_may_not_be_kept_are_told_to_nobody_who_comes_back)
{
	struct http_req *req;
	const json_t *turn;

	CHECK(open_all());
	req = live_scene_follow("/api/activity/events");
	CHECK(live_scene_await("event: activity_snapshot"));
	tell_turn(EVENT_TURN, "marzipan", true);
	tell_turn(EVENT_TURN, "nougat", false);
	CHECK(live_scene_await("nougat"));
	CHECK(!strstr(live_scene.text, "marzipan"));
	http_req_cancel(req);
	req = live_scene_follow("/api/events");
	CHECK(live_scene_await(":\n\n"));
	tell_turn(EVENT_TURN_ADMITTED, "marzipan", true);
	tell_turn(EVENT_TURN_SPEAKING, "marzipan", true);
	tell_turn(EVENT_TURN, "marzipan", true);
	bus_publish(live_scene.bus,
		    &(struct bus_event){.type = EVENT_UTTERANCE,
					.guild = 42,
					.utterance = {.text = "marzipan", .transient = true}});
	tell_turn(EVENT_TURN, "nougat", false);
	CHECK(live_scene_await("\"heard\":\"nougat\""));
	CHECK(!strstr(live_scene.text, "marzipan"));
	http_req_cancel(req);
	req = live_scene_follow("/api/voice/events");
	CHECK(live_scene_await("event: voice_state"));
	tell_turn(EVENT_TURN_ADMITTED, "marzipan", true);
	/* The state is told anew with the turn under way. */
	CHECK(live_scene_await("\"turns\":[{\"turn\":1"));
	CHECK(!strstr(live_scene.text, "marzipan"));
	http_req_cancel(req);
	/* It is shown for as long as it lasts. */
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	turn = json_array_get(
		json_object_get(json_array_get(json_object_get(live_scene.got, "sessions"), 0),
				"turns"),
		0);
	CHECK_STR(json_string_value(json_object_get(turn, "heard")), "marzipan");
	live_scene_close();
}

static void ignore_answer(const struct http_resp *resp, void *arg)
{
	(void)resp;
	(void)arg;
}

/* A reader that is gone soon. */
static void come_and_go(void *arg)
{
	static const char *const headers[] = {"Authorization: Bearer " TOKEN, NULL};
	struct http_call call = {.method = "GET", .headers = headers, .timeout_ms = 500};
	struct tmr **timer = arg;
	char url[160];

	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/activity/events",
		 web_port(live_scene.web));
	call.url = url;
	http_request(NULL, live_scene.http, &call, ignore_answer, NULL);
	tmr_start(*timer, NS_PER_S);
}

/* Others that join again and again do not keep a reader from the state. */
TEST(the_state_is_told_whoever_comes_and_goes)
{
	struct tmr *timer = NULL;
	struct http_req *req;

	CHECK(open_all());
	req = live_scene_follow("/api/activity/events");
	CHECK(live_scene_await("event: activity_snapshot"));
	CHECK_INT(tmr_alloc(&timer, live_scene.l.env, come_and_go, &timer), 0);
	tmr_start(timer, NS_PER_S);
	CHECK(live_scene_await("event: stats_update"));
	tmr_free(timer);
	http_req_cancel(req);
	live_scene_close();
}

TEST(without_a_database_there_are_no_actions_and_bad_queries_are_named)
{
	CHECK(open_all());
	CHECK_INT(live_scene_ask(
			  "GET",
			  "/api/"
			  "actions?kinds=voice_turn_out,fault,sent_reply&sinceHours=2&limit=1000",
			  NULL),
		  503);
	/* One of the seeds, of which there is never an entry. */
	CHECK_INT(live_scene_ask("GET", "/api/actions?kinds=voice_error", NULL), 503);
	CHECK_INT(live_scene_ask("GET", "/api/actions?kinds=screen", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/actions?kinds=fault,screen", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/actions?kinds=", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/actions?kind=fault", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/turns?limt=3", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/turns?reason=foo", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/turns?limit=3", NULL), 503);
	CHECK_INT(live_scene_ask("GET", "/api/stats?guild=42", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/healthz?at=1", NULL), 200);
	CHECK_INT(live_scene_ask("GET", "/api/actions?limit=1001", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/actions?kinds=Robert'%3B--", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/actions?guildId=x", NULL), 400);
	CHECK_INT(
		live_scene_ask("GET", "/api/voice/history/sessions/42-1790000000000/events", NULL),
		503);
	CHECK_INT(live_scene_ask("GET", "/api/voice/history/sessions/42/events", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/voice/history/sessions/42-x/events", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/voice/history/sessions/-1/events", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/memory/search?guild=42", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/memory/search?guild=42&q=blue", NULL), 503);
	CHECK_INT(live_scene_ask("GET", "/api/memory/fact-profile", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/memory/subjects", NULL), 503);
	CHECK_INT(live_scene_ask("GET", "/api/memory/writes", NULL), 503);
	CHECK_INT(live_scene_ask("GET", "/api/memory/reflections", NULL), 503);
	live_scene_close();
}

TEST(a_session_has_the_members_of_the_seeds_snapshot)
{
	static const char *const names[] = {"sessionId",
					    "guildId",
					    "voiceChannelId",
					    "textChannelId",
					    "startedAt",
					    "lastActivityAt",
					    "maxEndsAt",
					    "inactivityEndsAt",
					    "mode",
					    "assistantOutput",
					    "wake",
					    "thoughtEngine",
					    "participants",
					    "membershipEvents",
					    "recentTurns",
					    "promptState",
					    "streamWatch",
					    "asrSessions",
					    "sharedAsrSession",
					    "brainTools",
					    "toolCalls",
					    "music",
					    "batchAsr",
					    "realtime",
					    "latency"};
	const json_t *session;

	CHECK(open_all());
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	session = json_array_get(json_object_get(live_scene.got, "sessions"), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK(json_object_get(session, names[i]) != NULL);
	live_scene_close();
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

TEST(a_session_tells_its_state_as_the_seeds_do)
{
	const json_t *s, *part;

	CHECK(open_all());
	bus_publish(live_scene.bus,
		    &(struct bus_event){.type = EVENT_MEMBER,
					.at_ms = 1790000000000,
					.guild = 42,
					.user = 501,
					.member = {.name = "alice", .there = true}});
	for (unsigned i = 1; i <= 2; i++)
		bus_publish(live_scene.bus,
			    &(struct bus_event){.type = EVENT_TURN,
						.at_ms = 1790000000000,
						.guild = 42,
						.user = 501,
						.turn = {.turn = i,
							 .stage = "ended",
							 .reason = "answered",
							 .first_audio_ms = 700 + i}});
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(live_scene.got, "sessions"), 0);
	CHECK_STR(text_of(s, "mode"), "native");
	CHECK_STR(text_of(s, "textChannelId"), "7");
	CHECK_STR(text_of(s, "maxEndsAt"), "2026-09-21T15:13:20.000Z");
	CHECK_STR(text_of(s, "lastActivityAt"), "2026-09-21T14:14:20.000Z");
	CHECK_STR(text_of(json_object_get(s, "assistantOutput"), "phase"), "speaking_live");
	CHECK_INT(
		json_integer_value(json_object_get(json_object_get(s, "realtime"), "pendingTurns")),
		1);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(s, "promptState"), "version")),
		  32);
	part = json_array_get(json_object_get(s, "membershipEvents"), 0);
	CHECK_STR(text_of(part, "userId"), "501");
	CHECK_STR(text_of(part, "eventType"), "join");
	CHECK_INT(size_of(s, "recentTurns"), 2);
	part = json_array_get(json_object_get(s, "latency"), 1);
	CHECK_INT(json_integer_value(json_object_get(part, "totalMs")), 702);
	CHECK_STR(text_of(json_object_get(s, "wake"), "attentionMode"), "ACTIVE");
	CHECK(json_is_false(json_object_get(json_object_get(s, "thoughtEngine"), "busy")));
	part = json_object_get(s, "realtime");
	CHECK_INT(json_integer_value(json_object_get(part, "replySuperseded")), 3);
	CHECK(json_is_true(json_object_get(part, "coalesceActive")));
	/* Each speaker has a session of their own. */
	CHECK(json_is_null(json_object_get(s, "sharedAsrSession")));
	CHECK(json_is_null(json_object_get(s, "batchAsr")));
	live_scene_close();
}

TEST(a_session_tells_of_the_transcription_that_speakers_share)
{
	const json_t *s, *part;

	CHECK(open_all());
	transcribes = "shared";
	tell_asr();
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(live_scene.got, "sessions"), 0);
	part = json_object_get(s, "sharedAsrSession");
	CHECK(json_is_true(json_object_get(part, "connected")));
	CHECK_STR(json_string_value(json_array_get(json_object_get(part, "userIds"), 0)), "501");
	CHECK(text_of(part, "createdAt") &&
	      json_is_null(json_object_get(part, "lastTranscriptAt")));
	transcribes = "file";
	CHECK_INT(live_scene_ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(live_scene.got, "sessions"), 0);
	part = json_object_get(s, "batchAsr");
	CHECK_INT(json_integer_value(json_object_get(part, "pendingTurns")), 2);
	CHECK(json_is_null(json_object_get(s, "sharedAsrSession")));
	live_scene_close();
}

TEST(what_parley_does_not_do_has_no_path)
{
	CHECK(open_all());
	CHECK_INT(live_scene_ask("GET", "/api/elevenlabs/voices", NULL), 404);
	CHECK_INT(live_scene_ask("DELETE", "/api/elevenlabs/voices/Ab-9_", "{}"), 404);
	CHECK_INT(live_scene_ask("PUT", "/api/memory/facts/3", "{}"), 405);
	live_scene_close();
}

/* There are no automations, and the memory needs no refresh: true answers in the former shapes. */
TEST(what_there_is_none_of_is_told_so)
{
	static const char *const refused[] = {
		"/api/automations", "/api/automations?guildId=1&limit=121",
		"/api/automations?guildId=1&channelId=x", "/api/automations/runs?guildId=1",
		"/api/automations/runs?automationId=3"};
	const json_t *got;

	CHECK(open_all());
	CHECK_INT(live_scene_ask("GET", "/api/automations?guildId=7", NULL), 200);
	got = live_scene.got;
	CHECK_STR(text_of(got, "guildId"), "7");
	CHECK(json_is_null(json_object_get(got, "channelId")));
	CHECK_INT(json_array_size(json_object_get(got, "statuses")), 2);
	CHECK_INT(json_integer_value(json_object_get(got, "limit")), 30);
	CHECK(json_is_array(json_object_get(got, "rows")) &&
	      !json_array_size(json_object_get(got, "rows")));
	CHECK_INT(live_scene_ask("GET",
				 "/api/automations?guildId=7&channelId=8&status=done&q=a&limit=5",
				 NULL),
		  200);
	got = live_scene.got;
	CHECK_STR(text_of(got, "channelId"), "8");
	CHECK_STR(text_of(got, "query"), "a");
	CHECK_STR(json_string_value(json_array_get(json_object_get(got, "statuses"), 0)), "done");
	CHECK_INT(live_scene_ask("GET", "/api/automations/runs?guildId=7&automationId=3", NULL),
		  200);
	CHECK_INT(json_integer_value(json_object_get(live_scene.got, "automationId")), 3);
	CHECK_INT(live_scene_ask("POST", "/api/memory/refresh", "{}"), 200);
	CHECK(json_is_true(json_object_get(live_scene.got, "ok")));
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		CHECK_INT(live_scene_ask("GET", refused[i], NULL), 400);
	live_scene_close();
}

TEST(shares_need_somebody_who_looks)
{
	const char *ids = "{\"guildId\":\"1\",\"channelId\":\"2\",\"userId\":\"3\"}";

	CHECK(open_all());
	CHECK_INT(live_scene_ask("POST", "/api/voice/share-session", "{}"), 400);
	CHECK_INT(live_scene_ask("POST", "/api/voice/share-session", ids), 503);
	CHECK_INT(live_scene_ask("POST", "/api/voice/share-session/abc/frame", "{}"), 503);
	CHECK_INT(live_scene_ask("POST", "/api/voice/share-session/abc/stop", "{}"), 503);
	CHECK_INT(live_scene_ask("POST", "/api/voice/stream-ingest/frame", "{}"), 401);
	/* A part of a path is a plain word. */
	CHECK_INT(live_scene_ask("GET", "/share/", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/share/a.b", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/share/a/b", NULL), 404);
	live_scene_close();
}

/* As in a prompt: control/agent/retrieval.c, control/text_session/recall.c. */
TEST(a_snapshot_of_the_memory_holds_nothing_in_doubt)
{
	json_t *facts = json_pack("[{s:s,s:b},{s:s,s:[{s:s,s:b},{s:s}]},{s:s,s:b}]", "text",
				  "my bike is blue", "unsure", 1, "text", "the door is green",
				  "former", "text", "the gate is red", "unsure", 1, "text",
				  "the door is red", "text", "it rains", "unsure", 1);
	const json_t *former;

	web_memory_drop_unsure(facts);
	CHECK_INT(json_array_size(facts), 1);
	former = json_object_get(json_array_get(facts, 0), "former");
	CHECK_INT(json_array_size(former), 1);
	CHECK_STR(json_string_value(json_object_get(json_array_get(former, 0), "text")),
		  "the door is red");
	json_decref(facts);
}

TEST(models_addresses_and_ways_to_sign_in_are_told)
{
	const json_t *model;

	CHECK(open_all());
	CHECK_INT(live_scene_ask("GET", "/api/llm/models", NULL), 200);
	model = json_array_get(json_object_get(live_scene.got, "models"), 0);
	CHECK(json_string_value(json_object_get(model, "provider")) != NULL);
	CHECK(size_of(model, "roles") > 0);
	CHECK_INT(live_scene_ask("GET", "/api/public-https", NULL), 200);
	CHECK(json_is_false(json_object_get(live_scene.got, "enabled")));
	CHECK(json_is_null(json_object_get(live_scene.got, "publicUrl")));
	CHECK_INT(live_scene_ask("GET", "/api/memory/runtime-snapshot?guild=42", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/memory/runtime-snapshot?guild=42&q=blue", NULL), 503);
	CHECK_INT(live_scene_ask("DELETE", "/api/memory/guild/42", "{}"), 503);
	CHECK_INT(live_scene_ask("DELETE", "/api/memory/guild/x", "{}"), 404);
	CHECK_INT(live_scene_ask("GET", "/api/auth/methods", NULL), 200);
	CHECK(json_is_false(json_object_get(live_scene.got, "discord")));
	CHECK_INT(live_scene_ask("GET", "/api/auth/discord", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/auth/discord/callback?code=a&state=b", NULL), 404);
	live_scene_close();
}

TEST(what_a_preset_means_is_told_without_a_change)
{
	CHECK(open_all());
	CHECK_INT(
		live_scene_ask("POST", "/api/settings/preset-defaults", "{\"preset\": \"quiet\"}"),
		200);
	CHECK(json_is_true(
		json_object_get(json_object_get(live_scene.got, "effective"), "command_only")));
	CHECK(!live_scene.settings->command_only);
	CHECK_INT(live_scene_ask("POST", "/api/settings/preset-defaults", "{\"preset\": \"loud\"}"),
		  400);
	CHECK_INT(live_scene_ask("POST", "/api/settings/preset-defaults", "{}"), 400);
	CHECK_INT(live_scene_ask("POST", "/api/settings/refresh", "{}"), 200);
	CHECK(json_is_true(json_object_get(live_scene.got, "saveAppliedToRuntime")));
	CHECK_INT(live_scene_ask("POST", "/api/settings/refresh", NULL), 200);
	CHECK(json_is_true(json_object_get(live_scene.got, "saveAppliedToRuntime")));
	live_scene_close();
}
