/* The seeds' API of the voice monitor and of the actions, with a real client on loopback. */
#include "control/web/web.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct fixture {
	struct loop l;
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct web *web;
	struct http *http;
	json_t *got;
	int status;
	char text[1 << 17]; /* of a stream */
	size_t n;
	const char *want;
	bool busy;		 /* hundreds of people in hundreds of rooms */
	const char *transcribes; /* asr_sessions */
} fx;

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version;
	(void)arg;
	return EIO;
}

static void on_changed(void *arg)
{
	(void)arg;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name;
	(void)when;
	(void)author;
	(void)arg;
}

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

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("");
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
	if (fx.busy)
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
			 "sessions", fx.transcribes, "pending", 2, "holds", 1, "superseded", 3);
}

static json_t *on_stats(void *arg)
{
	(void)arg;
	return json_pack("{s:i}", "voiceSessions", 1);
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)o;
	(void)why;
	(void)arg;
	return 0;
}

static bool open_all(void)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {.saveh = on_save, .changedh = on_changed, .toldh = on_told};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .token = TOKEN,
			      .session_hours = &hours,
			      .mcph = on_mcp,
			      .readyh = on_ready,
			      .metricsh = on_metrics,
			      .roomsh = on_rooms,
			      .reasonsh = on_ready,
			      .statsh = on_stats,
			      .guildsh = on_ready,
			      .channelsh = on_channels,
			      .orderh = on_order};

	memset(&fx, 0, sizeof fx);
	fx.transcribes = "speaker";
	if (loop_open(&fx.l, NULL) || settings_alloc(&fx.settings))
		return false;
	lc.settings = fx.settings;
	if (live_settings_alloc(&fx.live, &lc) || bus_alloc(&fx.bus))
		return false;
	wc.env = fx.l.env;
	wc.live = fx.live;
	wc.bus = fx.bus;
	return web_alloc(&fx.web, &wc) == 0 && http_alloc(&fx.http, fx.l.env, NULL, "test") == 0;
}

static void close_all(void)
{
	http_free(fx.http);
	web_free(fx.web);
	bus_free(fx.bus);
	live_settings_free(fx.live);
	settings_free(fx.settings);
	json_decref(fx.got);
	loop_close(&fx.l);
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(fx.l.env);
	fx.status = resp->status;
	json_decref(fx.got);
	fx.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
}

static void on_part(const struct http_resp *resp, void *arg)
{
	size_t n = resp->body.n, room = sizeof fx.text - 1 - fx.n;

	(void)arg;
	n = n < room ? n : room;
	memcpy(fx.text + fx.n, resp->body.p, n);
	fx.n += n;
	fx.text[fx.n] = '\0';
	if (fx.want && strstr(fx.text, fx.want))
		env_stop(fx.l.env);
}

static struct http_req *begin(const char *method, const char *path, const char *body,
			      void (*parth)(const struct http_resp *resp, void *arg))
{
	static const char *const headers[] = {"Authorization: Bearer " TOKEN,
					      "Content-Type: application/json", NULL};
	struct http_call call = {.method = method,
				 .headers = headers,
				 .parth = parth,
				 .body = body,
				 .body_len = body ? strlen(body) : 0};
	struct http_req *req = NULL;
	char url[160];

	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(fx.web), path);
	call.url = url;
	call.timeout_ms = parth ? 0 : 5000;
	fx.n = 0;
	fx.text[0] = '\0';
	fx.status = 0;
	return http_request(&req, fx.http, &call, on_answer, NULL) ? NULL : req;
}

static int ask(const char *method, const char *path, const char *body)
{
	if (!begin(method, path, body, NULL))
		return -1;
	loop_run(&fx.l);
	return fx.status;
}

static bool await(const char *text)
{
	fx.want = text;
	return strstr(fx.text, text) || (loop_run(&fx.l) && strstr(fx.text, text));
}

static void tell_asr(void)
{
	bus_publish(fx.bus,
		    &(struct bus_event){.type = EVENT_ASR_SESSION,
					.at_ms = 1790000000000,
					.guild = 42,
					.user = 501,
					.asr = {.name = "alice", .state = "opened", .why = ""}});
}

static void tell_call(void)
{
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_TOOL_CALLED,
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
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	CHECK_INT(json_integer_value(json_object_get(fx.got, "activeCount")), 1);
	CHECK_INT(size_of(fx.got, "asrSessions"), 1);
	CHECK_INT(size_of(fx.got, "toolCalls"), 1);
	CHECK_INT(size_of(fx.got, "mcpStatus"), 1);
	session = json_array_get(json_object_get(fx.got, "sessions"), 0);
	CHECK_STR(json_string_value(json_object_get(session, "guildId")), "42");
	CHECK_STR(json_string_value(json_object_get(session, "voiceChannelId")), "7");
	CHECK_INT(size_of(session, "participants"), 1);
	CHECK_INT(size_of(session, "brainTools"), 1);
	CHECK_INT(size_of(session, "asrSessions"), 1);
	CHECK_INT(ask("GET", "/api/voice/asr-sessions", NULL), 200);
	CHECK_INT(size_of(fx.got, "sessions"), 1);
	CHECK_INT(ask("GET", "/api/stats", NULL), 200);
	CHECK_INT(json_integer_value(json_object_get(fx.got, "voiceSessions")), 1);
	CHECK_INT(ask("GET", "/api/health", NULL), 200);
	close_all();
}

TEST(a_reader_of_the_calls_gets_their_state_at_once_and_then_events)
{
	struct http_req *req;

	CHECK(open_all());
	req = begin("GET", "/api/voice/events", NULL, on_part);
	CHECK(await("event: voice_state\ndata: {\"activeCount\":1"));
	tell_asr();
	tell_call();
	CHECK(await("\"type\":\"tool_call\""));
	CHECK(strstr(fx.text, "event: voice_event\ndata: {\"userId\":\"501\""));
	CHECK(strstr(fx.text, "\"type\":\"asr_session\""));
	CHECK(strstr(fx.text, "\"outputSummary\":\"ten past four\""));
	http_req_cancel(req);
	close_all();
}

static unsigned count_of(const char *word)
{
	unsigned n = 0;

	for (const char *at = fx.text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

TEST(a_reader_of_one_server_gets_that_one_alone)
{
	struct http_req *req;

	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/voice/events?guild=x", NULL), 400);
	req = begin("GET", "/api/voice/events?guild=43", NULL, on_part);
	CHECK(await("event: voice_state\ndata: {\"activeCount\":0"));
	tell_call();
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_FAULT, .guild = 43});
	CHECK(await("\"type\":\"fault\""));
	CHECK(!strstr(fx.text, "tool_call"));
	http_req_cancel(req);
	fx.n = 0;
	req = begin("GET", "/api/voice/events?guild=42", NULL, on_part);
	CHECK(await("event: voice_state\ndata: {\"activeCount\":1"));
	http_req_cancel(req);
	close_all();
}

TEST(a_state_that_no_event_holds_is_cut)
{
	struct http_req *req;

	CHECK(open_all());
	fx.busy = true;
	req = begin("GET", "/api/voice/events", NULL, on_part);
	CHECK(await("event: voice_state\ndata: {\"activeCount\":300"));
	/* A call that is not told of would have ended for its client. */
	CHECK(await("}],\"asrSessions\""));
	CHECK(count_of("\"cut\":true") > 200);
	/* All of it arrives, and so does the event behind it. */
	tell_call();
	CHECK(await("\"type\":\"tool_call\""));
	http_req_cancel(req);
	close_all();
}

TEST(rule_114_a_reader_of_the_actions_gets_a_snapshot_and_each_action)
{
	struct http_req *req;

	CHECK(open_all());
	req = begin("GET", "/api/activity/events", NULL, on_part);
	CHECK(await("event: activity_snapshot\ndata: {\"actions\":[],\"stats\":{"));
	tell_asr();
	tell_call();
	CHECK(await("\"kind\":\"llm_tool_call\""));
	CHECK(strstr(fx.text, "event: action_event\n"));
	/* As /api/actions has it later, so that a client has it once (history_test.c). */
	CHECK(strstr(fx.text, "\"id\":\"llm_tool_call-1790000000000-42-0\""));
	CHECK(strstr(fx.text, "\"usdCost\":0.002"));
	CHECK(!strstr(fx.text, "asr_session"));
	http_req_cancel(req);
	close_all();
}

static void tell_turn(enum event_type type, const char *words, bool transient)
{
	bus_publish(fx.bus, &(struct bus_event){.type = type,
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
	req = begin("GET", "/api/activity/events", NULL, on_part);
	CHECK(await("event: activity_snapshot"));
	tell_turn(EVENT_TURN, "marzipan", true);
	tell_turn(EVENT_TURN, "nougat", false);
	CHECK(await("nougat"));
	CHECK(!strstr(fx.text, "marzipan"));
	http_req_cancel(req);
	req = begin("GET", "/api/events", NULL, on_part);
	CHECK(await(":\n\n"));
	tell_turn(EVENT_TURN_ADMITTED, "marzipan", true);
	tell_turn(EVENT_TURN_SPEAKING, "marzipan", true);
	tell_turn(EVENT_TURN, "marzipan", true);
	bus_publish(fx.bus,
		    &(struct bus_event){.type = EVENT_UTTERANCE,
					.guild = 42,
					.utterance = {.text = "marzipan", .transient = true}});
	tell_turn(EVENT_TURN, "nougat", false);
	CHECK(await("\"heard\":\"nougat\""));
	CHECK(!strstr(fx.text, "marzipan"));
	http_req_cancel(req);
	req = begin("GET", "/api/voice/events", NULL, on_part);
	CHECK(await("event: voice_state"));
	tell_turn(EVENT_TURN_ADMITTED, "marzipan", true);
	/* The state is told anew with the turn under way. */
	CHECK(await("\"turns\":[{\"turn\":1"));
	CHECK(!strstr(fx.text, "marzipan"));
	http_req_cancel(req);
	/* It is shown for as long as it lasts. */
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	turn = json_array_get(
		json_object_get(json_array_get(json_object_get(fx.got, "sessions"), 0), "turns"),
		0);
	CHECK_STR(json_string_value(json_object_get(turn, "heard")), "marzipan");
	close_all();
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

	snprintf(url, sizeof url, "http://127.0.0.1:%u/api/activity/events", web_port(fx.web));
	call.url = url;
	http_request(NULL, fx.http, &call, ignore_answer, NULL);
	tmr_start(*timer, NS_PER_S);
}

/* Others that join again and again do not keep a reader from the state. */
TEST(the_state_is_told_whoever_comes_and_goes)
{
	struct tmr *timer = NULL;
	struct http_req *req;

	CHECK(open_all());
	req = begin("GET", "/api/activity/events", NULL, on_part);
	CHECK(await("event: activity_snapshot"));
	CHECK_INT(tmr_alloc(&timer, fx.l.env, come_and_go, &timer), 0);
	tmr_start(timer, NS_PER_S);
	CHECK(await("event: stats_update"));
	tmr_free(timer);
	http_req_cancel(req);
	close_all();
}

TEST(without_a_database_there_are_no_actions_and_bad_queries_are_named)
{
	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/actions?kinds=turn,fault&sinceHours=2&limit=1000", NULL), 503);
	CHECK_INT(ask("GET", "/api/actions?limit=1001", NULL), 400);
	CHECK_INT(ask("GET", "/api/actions?kinds=Robert'%3B--", NULL), 400);
	CHECK_INT(ask("GET", "/api/actions?guildId=x", NULL), 400);
	CHECK_INT(ask("GET", "/api/voice/history/sessions/42-1790000000000/events", NULL), 503);
	CHECK_INT(ask("GET", "/api/voice/history/sessions/42/events", NULL), 404);
	CHECK_INT(ask("GET", "/api/voice/history/sessions/42-x/events", NULL), 404);
	CHECK_INT(ask("GET", "/api/voice/history/sessions/-1/events", NULL), 404);
	CHECK_INT(ask("GET", "/api/memory/search?guild=42", NULL), 400);
	CHECK_INT(ask("GET", "/api/memory/search?guild=42&q=blue", NULL), 503);
	CHECK_INT(ask("GET", "/api/memory/fact-profile", NULL), 400);
	CHECK_INT(ask("GET", "/api/memory/subjects", NULL), 503);
	CHECK_INT(ask("GET", "/api/memory/writes", NULL), 503);
	CHECK_INT(ask("GET", "/api/memory/reflections", NULL), 503);
	close_all();
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
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	session = json_array_get(json_object_get(fx.got, "sessions"), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK(json_object_get(session, names[i]) != NULL);
	close_all();
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

TEST(a_session_tells_its_state_as_the_seeds_do)
{
	const json_t *s, *part;

	CHECK(open_all());
	bus_publish(fx.bus, &(struct bus_event){.type = EVENT_MEMBER,
						.at_ms = 1790000000000,
						.guild = 42,
						.user = 501,
						.member = {.name = "alice", .there = true}});
	for (unsigned i = 1; i <= 2; i++)
		bus_publish(fx.bus, &(struct bus_event){.type = EVENT_TURN,
							.at_ms = 1790000000000,
							.guild = 42,
							.user = 501,
							.turn = {.turn = i,
								 .stage = "ended",
								 .reason = "answered",
								 .first_audio_ms = 700 + i}});
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(fx.got, "sessions"), 0);
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
	close_all();
}

TEST(a_session_tells_of_the_transcription_that_speakers_share)
{
	const json_t *s, *part;

	CHECK(open_all());
	fx.transcribes = "shared";
	tell_asr();
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(fx.got, "sessions"), 0);
	part = json_object_get(s, "sharedAsrSession");
	CHECK(json_is_true(json_object_get(part, "connected")));
	CHECK_STR(json_string_value(json_array_get(json_object_get(part, "userIds"), 0)), "501");
	CHECK(text_of(part, "createdAt") &&
	      json_is_null(json_object_get(part, "lastTranscriptAt")));
	fx.transcribes = "file";
	CHECK_INT(ask("GET", "/api/voice/state", NULL), 200);
	s = json_array_get(json_object_get(fx.got, "sessions"), 0);
	part = json_object_get(s, "batchAsr");
	CHECK_INT(json_integer_value(json_object_get(part, "pendingTurns")), 2);
	CHECK(json_is_null(json_object_get(s, "sharedAsrSession")));
	close_all();
}

TEST(what_parley_does_not_do_has_no_path)
{
	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/elevenlabs/voices", NULL), 404);
	CHECK_INT(ask("DELETE", "/api/elevenlabs/voices/Ab-9_", "{}"), 404);
	CHECK_INT(ask("GET", "/api/automations", NULL), 404);
	CHECK_INT(ask("GET", "/api/automations/runs", NULL), 404);
	CHECK_INT(ask("PUT", "/api/memory/facts/3", "{}"), 405);
	CHECK_INT(ask("POST", "/api/memory/refresh", "{}"), 404);
	close_all();
}

TEST(shares_need_somebody_who_looks)
{
	const char *ids = "{\"guildId\":\"1\",\"channelId\":\"2\",\"userId\":\"3\"}";

	CHECK(open_all());
	CHECK_INT(ask("POST", "/api/voice/share-session", "{}"), 400);
	CHECK_INT(ask("POST", "/api/voice/share-session", ids), 503);
	CHECK_INT(ask("POST", "/api/voice/share-session/abc/frame", "{}"), 503);
	CHECK_INT(ask("POST", "/api/voice/share-session/abc/stop", "{}"), 503);
	CHECK_INT(ask("POST", "/api/voice/stream-ingest/frame", "{}"), 401);
	/* A part of a path is a plain word. */
	CHECK_INT(ask("GET", "/share/", NULL), 404);
	CHECK_INT(ask("GET", "/share/a.b", NULL), 404);
	CHECK_INT(ask("GET", "/share/a/b", NULL), 404);
	close_all();
}

TEST(models_addresses_and_ways_to_sign_in_are_told)
{
	const json_t *model;

	CHECK(open_all());
	CHECK_INT(ask("GET", "/api/llm/models", NULL), 200);
	model = json_array_get(json_object_get(fx.got, "models"), 0);
	CHECK(json_string_value(json_object_get(model, "provider")) != NULL);
	CHECK(size_of(model, "roles") > 0);
	CHECK_INT(ask("GET", "/api/public-https", NULL), 200);
	CHECK(json_is_false(json_object_get(fx.got, "enabled")));
	CHECK(json_is_null(json_object_get(fx.got, "publicUrl")));
	CHECK_INT(ask("GET", "/api/memory/runtime-snapshot?guild=42", NULL), 400);
	CHECK_INT(ask("GET", "/api/memory/runtime-snapshot?guild=42&q=blue", NULL), 503);
	CHECK_INT(ask("DELETE", "/api/memory/guild/42", "{}"), 503);
	CHECK_INT(ask("DELETE", "/api/memory/guild/x", "{}"), 404);
	CHECK_INT(ask("GET", "/api/auth/methods", NULL), 200);
	CHECK(json_is_false(json_object_get(fx.got, "discord")));
	CHECK_INT(ask("GET", "/api/auth/discord", NULL), 404);
	CHECK_INT(ask("GET", "/api/auth/discord/callback?code=a&state=b", NULL), 404);
	close_all();
}

TEST(what_a_preset_means_is_told_without_a_change)
{
	CHECK(open_all());
	CHECK_INT(ask("POST", "/api/settings/preset-defaults", "{\"preset\": \"quiet\"}"), 200);
	CHECK(json_is_true(json_object_get(json_object_get(fx.got, "effective"), "command_only")));
	CHECK(!fx.settings->command_only);
	CHECK_INT(ask("POST", "/api/settings/preset-defaults", "{\"preset\": \"loud\"}"), 400);
	CHECK_INT(ask("POST", "/api/settings/preset-defaults", "{}"), 400);
	CHECK_INT(ask("POST", "/api/settings/refresh", "{}"), 200);
	CHECK(json_is_true(json_object_get(fx.got, "saveAppliedToRuntime")));
	close_all();
}
