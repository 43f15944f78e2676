/* Every path and type of the seeds, by their exact names: one that is missing fails, and one that
 * decision 240 leaves out must be missing. */
#include "control/web/web.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/events/events.h"
#include "control/web/live_voice.h"
#include "control/web/roles.h"
#include "control/web/routes.def"
#include "tests/test.h"

/* Seed 004 section 16.4, and the API that it extends. LEFT_OUT: there is nothing like it here
 * (docs/decisions/0240). */
enum state { BUILT, LEFT_OUT };
static const struct seed {
	const char *method, *path;
	enum state state;
} seeds[] = {
	{"GET", "/api/auth/session", BUILT},
	{"POST", "/api/auth/session", BUILT},
	{"DELETE", "/api/auth/session", BUILT},
	{"GET", "/api/health", BUILT},
	{"GET", "/api/settings", BUILT},
	{"PUT", "/api/settings", BUILT},
	{"POST", "/api/settings/preset-defaults", BUILT},
	{"POST", "/api/settings/refresh", BUILT},
	{"POST", "/api/settings/reset", BUILT},
	{"GET", "/api/llm/models", BUILT},
	{"GET", "/api/elevenlabs/voices", LEFT_OUT},
	{"POST", "/api/elevenlabs/voices", LEFT_OUT},
	{"DELETE", "/api/elevenlabs/voices/:voice", LEFT_OUT},
	{"GET", "/api/guilds", BUILT},
	{"GET", "/api/guilds/:guild/channels", BUILT},
	{"GET", "/api/actions", BUILT},
	{"GET", "/api/stats", BUILT},
	{"GET", "/api/public-https", BUILT},
	{"GET", "/api/activity/events", BUILT},
	{"GET", "/api/automations", BUILT},
	{"GET", "/api/automations/runs", BUILT},
	{"POST", "/api/voice/join", BUILT},
	{"GET", "/api/voice/state", BUILT},
	{"GET", "/api/voice/asr-sessions", BUILT},
	{"GET", "/api/voice/tool-events", BUILT},
	{"GET", "/api/voice/events", BUILT},
	{"GET", "/api/voice/history/sessions", BUILT},
	{"GET", "/api/voice/history/sessions/:session/events", BUILT},
	{"GET", "/api/mcp/status", BUILT},
	{"GET", "/api/memory/search", BUILT},
	{"PUT", "/api/memory/facts/:id", LEFT_OUT},
	{"DELETE", "/api/memory/facts/:id", BUILT},
	{"GET", "/api/memory/subjects", BUILT},
	{"GET", "/api/memory/fact-profile", BUILT},
	{"GET", "/api/memory/reflections", BUILT},
	{"POST", "/api/memory/refresh", BUILT},
	{"GET", "/api/memory/runtime-snapshot", BUILT},
	{"DELETE", "/api/memory/guild/:guild", BUILT},
	{"POST", "/api/voice/share-session", BUILT},
	{"POST", "/api/voice/share-session/:token/frame", BUILT},
	{"POST", "/api/voice/share-session/:token/stop", BUILT},
	{"GET", "/share/:token", BUILT},
	{"POST", "/api/voice/stream-ingest/frame", BUILT},
};

static const struct route {
	const char *method, *path, *text;
	enum web_role role;
} routes[] = {
#define ROUTE(METHOD, path, r, seen, handler, n, ms, text) {#METHOD, path, text, WEB_##r},
	WEB_ROUTES(ROUTE)
#undef ROUTE
};

static const struct route *find_route(const char *method, const char *path)
{
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
		if (strcmp(routes[i].method, method) == 0 && strcmp(routes[i].path, path) == 0)
			return &routes[i];
	return NULL;
}

TEST(every_path_of_the_seeds_is_there_or_left_out_by_decision)
{
	unsigned n[2] = {0};

	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
		const struct route *r = find_route(seeds[i].method, seeds[i].path);

		if ((r != NULL) != (seeds[i].state == BUILT)) {
			test_fail(__FILE__, __LINE__, "%s %s", seeds[i].method, seeds[i].path);
			return;
		}
		n[seeds[i].state]++;
	}
	CHECK_INT(n[BUILT], 39);
	CHECK_INT(n[LEFT_OUT], 4);
}

/* Share and ingest routes, and no others, take no credentials at all. */
TEST(public_routes_are_those_of_shares)
{
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		const char *path = routes[i].path;
		bool share = strncmp(path, "/share/", 7) == 0 ||
			     strncmp(path, "/api/voice/share-session/", 25) == 0 ||
			     strncmp(path, "/api/voice/stream-ingest/", 25) == 0;

		CHECK_INT(routes[i].role == WEB_PUBLIC, share);
	}
}

struct member {
	const char *name;
	const char *kinds; /* s text, n null, b boolean, i number, o object, a list */
};

static bool has_members(const json_t *o, const struct member *members, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(o, members[i].name);
		const char kind[2] = {!v		   ? '?'
				      : json_is_string(v)  ? 's'
				      : json_is_null(v)	   ? 'n'
				      : json_is_boolean(v) ? 'b'
				      : json_is_number(v)  ? 'i'
				      : json_is_object(v)  ? 'o'
							   : 'a'};

		if (!strstr(members[i].kinds, kind)) {
			test_fail(__FILE__, __LINE__, "%s is %s", members[i].name, kind);
			return false;
		}
	}
	return true;
}

/* Each of these leaves out what is of channels that the client may not enter, or tells of none. A
 * route that is written OPEN by mistake tells of all; so whoever adds one says so here. */
TEST(routes_that_members_reach_who_do_not_see_every_channel)
{
	static const char *const open[] = {
		"GET /metrics",
		"GET /api/events",
		"GET /api/auth/session",
		"PUT /api/auth/session",
		"DELETE /api/auth/session",
		"DELETE /api/auth/sessions",
		"DELETE /api/auth/sessions/:id",
		"GET /api/rooms",
		"POST /api/rooms/:guild/say",
		"POST /api/rooms/:guild/stop",
		"POST /api/rooms/:guild/mute",
		"POST /api/rooms/:guild/leave",
		"POST /api/rooms/:guild/move",
		"POST /api/rooms/:guild/music",
		"GET /api/guilds",
		"GET /api/guilds/:guild/channels",
		"GET /api/turns",
		"GET /api/turns/:id",
		"GET /api/voice/state",
		"GET /api/voice/asr-sessions",
		"GET /api/actions",
		"GET /api/voice/tool-events",
		"GET /api/voice/history/sessions",
		"GET /api/voice/history/sessions/:session/events",
		"GET /api/openapi.json",
		"GET /api/reasons",
		"GET /api/settings",
		"PUT /api/settings",
		"GET /api/settings/schema",
		"GET /api/mcp/status",
		"GET /api/providers",
		"GET /api/llm/models",
		"GET /api/public-https",
	};
	enum { N_OPEN = sizeof open / sizeof open[0] };
	unsigned n = 0;

#define OPEN  true
#define WHOLE false
#define ROUTE(METHOD, path, role, seen, handler, bytes, ms, text)                                  \
	if ((seen) && WEB_##role >= WEB_VIEWER) {                                                  \
		CHECK_STR(#METHOD " " path, n < N_OPEN ? open[n] : "");                            \
		n++;                                                                               \
	}
	WEB_ROUTES(ROUTE)
#undef ROUTE
#undef OPEN
#undef WHOLE
	CHECK_INT(n, N_OPEN);
}

TEST(asr_session_state_has_the_seeds_members)
{
	static const struct member members[] = {
		{"userId", "s"},       {"displayName", "s"},	   {"connected", "b"},
		{"createdAt", "sn"},   {"lastTranscriptAt", "sn"}, {"idleTimerEndsAt", "sn"},
		{"closedReason", "sn"}};
	struct bus_event ev = {.type = EVENT_ASR_SESSION,
			       .at_ms = 1790000000000,
			       .guild = 42,
			       .user = 501,
			       .asr = {.name = "alice", .state = "opened", .why = ""}};
	struct bus *bus = NULL;
	struct live_voice *v = NULL;
	json_t *j;

	CHECK_INT(bus_alloc(&bus), 0);
	CHECK_INT(live_voice_alloc(&v, bus), 0);
	bus_publish(bus, &ev);
	j = live_voice_asr_json(v, &ev);
	CHECK(has_members(j, members, sizeof members / sizeof members[0]));
	live_voice_free(v);
	bus_free(bus);
	json_decref(j);
}

TEST(tool_call_event_has_the_seeds_members)
{
	static const struct member members[] = {{"callId", "s"},	 {"toolName", "s"},
						{"toolType", "s"},	 {"arguments", "o"},
						{"startedAt", "s"},	 {"completedAt", "sn"},
						{"runtimeMs", "in"},	 {"success", "b"},
						{"outputSummary", "sn"}, {"error", "sn"}};
	struct bus_event ev = {
		.type = EVENT_TOOL_CALLED,
		.at_ms = 1790000000000,
		.tool = {.name = "clock", .code = "ok", .arguments = "ab12", .summary = "four"}};
	json_t *j = live_voice_call_json(&ev, true);

	CHECK(has_members(j, members, sizeof members / sizeof members[0]));
	CHECK_STR(json_string_value(json_object_get(json_object_get(j, "arguments"), "hash")),
		  "ab12");
	CHECK(json_is_string(json_object_get(j, "completedAt")));
	json_decref(j);
	ev.type = EVENT_TOOL_BEGAN;
	j = live_voice_call_json(&ev, false);
	CHECK(has_members(j, members, sizeof members / sizeof members[0]));
	CHECK(json_is_null(json_object_get(j, "completedAt")));
	json_decref(j);
}
