#include "tests/unit/control/web/auth_scene.h"

#include <string.h>
#include <sys/socket.h>
#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/web/routes.def"
#include "control/web/sessions.h"

struct fixture auth_scene;

static json_t *on_ready(void *arg)
{
	(void)arg;
	return json_pack("{s:b}", "ready", 1);
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("parley_up 1\n");
}

static json_t *on_mcp(void *arg)
{
	(void)arg;
	return json_pack("{s:[{s:s,s:s}]}", "servers", "serverName", "files", "lastError",
			 "no such file: diary");
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	auth_scene.described++;
	return json_pack("[{s:s,s:s,s:[{s:s,s:[{s:i,s:s}]}]}]", "guild", "42", "channel", "7",
			 "screens", "name", "Alice", "notes", "changed", 10, "text", "a letter");
}

static bool on_open(uint64_t guild, uint64_t channel, void *arg)
{
	(void)arg;
	return guild == 42 && channel == 7 && !auth_scene.closed;
}

static void on_action(const struct bus_event *ev, void *arg)
{
	size_t n = strlen(auth_scene.actions);

	(void)arg;
	snprintf(auth_scene.actions + n, sizeof auth_scene.actions - n, "%s/%s/%s ",
		 ev->action.kind, ev->action.actor, ev->action.result);
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return json_pack("[{s:s},{s:s}]", "id", "7", "id", "8");
}

bool auth_scene_open(const json_t *kept)
{
	static const uint32_t hours = 2;
	struct live_settings_conf lc = web_idle_settings;
	struct web_conf wc = web_idle;
	int err;

	memset(&auth_scene, 0, sizeof auth_scene);
	if (loop_open(&auth_scene.l, NULL) || settings_alloc(&auth_scene.settings))
		return false;
	lc.settings = auth_scene.settings;
	lc.kept = json_pack("{s:[{s:i,s:s,s:s,s:{s:i}}]}", "versions", "version", 1, "updatedAt",
			    "2026-11-22T12:00:00.000Z", "author", "alice", "intent", "hold_ms", 9);
	err = live_settings_alloc(&auth_scene.live, &lc);
	json_decref((json_t *)lc.kept);
	if (err || bus_alloc(&auth_scene.bus) ||
	    bus_subscribe(auth_scene.bus, BUS_MASK(EVENT_OPERATOR_ACTION), on_action, NULL))
		return false;
	wc.origin = "https://parley.example.org";
	wc.share_origin = "https://share.example.org";
	wc.proxies = "127.0.0.1";
	wc.sessions = kept;
	wc.session_hours = &hours;
	wc.mcph = on_mcp;
	wc.readyh = wc.reasonsh = wc.statsh = on_ready;
	wc.guildsh = wc.roomsh = on_rooms;
	wc.channelsh = on_channels;
	wc.openh = on_open;
	wc.metricsh = on_metrics;
	wc.env = auth_scene.l.env;
	wc.live = auth_scene.live;
	wc.bus = auth_scene.bus;
	return web_alloc(&auth_scene.web, &wc) == 0 &&
	       http_alloc(&auth_scene.http, auth_scene.l.env, NULL, "test") == 0;
}

void auth_scene_close(void)
{
	http_free(auth_scene.http);
	web_free(auth_scene.web);
	bus_free(auth_scene.bus);
	live_settings_free(auth_scene.live);
	settings_free(auth_scene.settings);
	json_decref(auth_scene.got);
	loop_close(&auth_scene.l);
}

/* Keeps "name=secret" and what follows. */
static void keep_cookie(const struct http_resp *resp)
{
	char field[320];
	char *end;

	if (!http_header(resp, "Set-Cookie", field, sizeof field))
		return;
	end = strchr(field, ';');
	if (end)
		*end++ = '\0';
	snprintf(auth_scene.cookie, sizeof auth_scene.cookie, "%.159s", field);
	snprintf(auth_scene.attributes, sizeof auth_scene.attributes, "%.159s", end ? end : "");
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(auth_scene.l.env);
	auth_scene.status = resp->status;
	json_decref(auth_scene.got);
	auth_scene.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
	keep_cookie(resp);
	http_header(resp, "Content-Security-Policy", auth_scene.policy, sizeof auth_scene.policy);
	http_header(resp, "Content-Type", auth_scene.type, sizeof auth_scene.type);
	auth_scene.coding[0] = '\0';
	http_header(resp, "Content-Encoding", auth_scene.coding, sizeof auth_scene.coding);
	http_header(resp, "ETag", auth_scene.tag, sizeof auth_scene.tag);
	auth_scene.n = resp->body.n;
	memcpy(auth_scene.magic, resp->body.p ? (const char *)resp->body.p : "",
	       auth_scene.n < 2 ? auth_scene.n : 2);
	http_header(resp, "Retry-After", auth_scene.retry, sizeof auth_scene.retry);
}

int auth_scene_ask(const char *method, const char *path, const char *const lines[4])
{
	const char *headers[6] = {"Content-Type: application/json"};
	struct http_call call = {.method = method, .headers = headers, .timeout_ms = 5000};
	unsigned n = 1;
	char url[200];

	for (unsigned i = 0; i < 4; i++)
		if (lines[i])
			headers[n++] = lines[i];
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(auth_scene.web), path);
	call.url = url;
	auth_scene.status = 0;
	if (http_request(NULL, auth_scene.http, &call, on_answer, NULL))
		return -1;
	loop_run(&auth_scene.l);
	return auth_scene.status;
}

const char *auth_scene_cookie_line(void)
{
	static char line[200];

	snprintf(line, sizeof line, "Cookie: other=1; %s; third=2", auth_scene.cookie);
	return line;
}

const char *auth_scene_origin_line(void)
{
	static char line[80];

	snprintf(line, sizeof line, "Origin: http://127.0.0.1:%u", web_port(auth_scene.web));
	return line;
}

int auth_scene_get(const char *path)
{
	return auth_scene_ask("GET", path, (const char *const[4]){auth_scene_cookie_line()});
}

int auth_scene_sign_in(const char *credentials)
{
	char line[256];

	snprintf(line, sizeof line, "Authorization: Bearer %s", credentials);
	return auth_scene_ask("POST", "/api/auth/session",
			      (const char *const[4]){line, auth_scene_origin_line(),
						     "Sec-Fetch-Site: same-origin"});
}

int auth_scene_sign_in_as(enum web_role role, uint8_t nonce)
{
	struct sign_in s = {.role = role,
			    .expires_ms = env_wall_ms(auth_scene.l.env) + 60000,
			    .nonce = {nonce}};
	char code[SIGN_IN_MAX];

	if (sign_in_format(code, sizeof code, &s, TOKEN))
		return -1;
	return auth_scene_sign_in(code);
}

const char *auth_scene_text_of(const char *name)
{
	const char *text = json_string_value(json_object_get(auth_scene.got, name));

	return text ? text : "";
}
