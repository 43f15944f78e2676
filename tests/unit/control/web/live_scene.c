#include "tests/unit/control/web/live_scene.h"

#include <string.h>

#include <jansson.h>

struct fixture live_scene;

static json_t *on_rooms(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:[s],s:{s:s}},{s:s,s:[s],s:{s:s}}]", "guild", "42", "brainTools",
			 "one", "secure", "code", "1234", "guild", "43", "brainTools", "two",
			 "secure", "code", "5678");
}

/* The bot is in a channel of servers below 100. */
static bool on_watch_music(uint64_t guild, bool on, void *arg)
{
	(void)arg;
	live_scene.watched = on;
	live_scene.watches++;
	if (live_scene.watch_ends && !on)
		env_stop(live_scene.l.env);
	return guild < 100;
}

static json_t *on_levels(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:{s:i},s:b},{s:s,s:{},s:b}]", "guild", "42", "users", "501",
			 live_scene.db, "bot", 0, "guild", "43", "users", "bot", 0);
}

static bool on_remembers(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	return live_scene.remembers && guild == 42 && user == 501;
}

static int on_again(const struct web_again *what, web_again_h *h, void *h_arg, void *arg)
{
	(void)arg;
	if (live_scene.again_err)
		return live_scene.again_err;
	json_decref(live_scene.asked);
	live_scene.asked = json_pack("{s:I,s:I,s:i,s:O}", "guild", (json_int_t)what->guild,
				     "session", (json_int_t)what->session, "turn", (int)what->turn,
				     "settings", what->settings);
	live_scene.againh = h;
	live_scene.again_arg = h_arg;
	return 0;
}

static int on_incident(const struct web_incident *what, web_incident_h *h, void *h_arg, void *arg)
{
	(void)arg;
	if (live_scene.incident_err)
		return live_scene.incident_err;
	live_scene.incident = *what;
	live_scene.incidenth = h;
	live_scene.incident_arg = h_arg;
	return 0;
}

static int on_erase(uint64_t user, void *arg)
{
	(void)arg;
	live_scene.erased = user;
	return live_scene.erase_err;
}

static void on_action(const struct bus_event *ev, void *arg)
{
	(void)arg;
	memcpy(live_scene.begun, live_scene.audit, sizeof live_scene.begun);
	snprintf(live_scene.audit, sizeof live_scene.audit, "%s %s: %s", ev->action.kind,
		 ev->action.target, ev->action.result);
}

static bool prepare(void)
{
	memset(&live_scene, 0, sizeof live_scene);
	return loop_open(&live_scene.l, NULL) == 0 && settings_alloc(&live_scene.settings) == 0 &&
	       bus_alloc(&live_scene.bus) == 0;
}

static bool serve(struct web_conf wc)
{
	struct live_settings_conf lc = web_idle_settings;

	lc.settings = live_scene.settings;
	if (live_settings_alloc(&live_scene.live, &lc))
		return false;
	wc.env = live_scene.l.env;
	wc.live = live_scene.live;
	wc.bus = live_scene.bus;
	wc.store = live_scene.store;
	return web_alloc(&live_scene.web, &wc) == 0 &&
	       http_alloc(&live_scene.http, live_scene.l.env, NULL, "test") == 0;
}

bool live_scene_open_as(const struct web_conf *wc)
{
	return prepare() && serve(*wc);
}

bool live_scene_open_with(const json_t *sessions)
{
	struct web_conf wc = web_idle;

	if (!prepare() || !folder_make(live_scene.dir) ||
	    settings_set(live_scene.settings, "keep_audio_hours", "1") ||
	    store_alloc(&live_scene.store, live_scene.l.env, live_scene.bus, live_scene.settings,
			live_scene.dir) ||
	    bus_subscribe(live_scene.bus, BUS_MASK(EVENT_OPERATOR_ACTION), on_action, NULL))
		return false;
	wc.sessions = sessions;
	wc.roomsh = on_rooms;
	wc.levelsh = on_levels;
	wc.watch_musich = on_watch_music;
	wc.remembersh = on_remembers;
	wc.againh = on_again;
	wc.incidenth = on_incident;
	wc.eraseh = on_erase;
	return serve(wc);
}

bool live_scene_open(void)
{
	return live_scene_open_with(NULL);
}

void live_scene_close(void)
{
	http_free(live_scene.http);
	web_free(live_scene.web);
	store_free(live_scene.store);
	bus_free(live_scene.bus);
	live_settings_free(live_scene.live);
	settings_free(live_scene.settings);
	json_decref(live_scene.asked);
	json_decref(live_scene.got);
	loop_close(&live_scene.l);
	if (*live_scene.dir)
		folder_remove(live_scene.dir);
}

static void on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(live_scene.l.env);
	live_scene.status = resp->status;
	live_scene.n = resp->body.n < sizeof live_scene.text - 1 ? resp->body.n
								 : sizeof live_scene.text - 1;
	if (live_scene.n)
		memcpy(live_scene.text, resp->body.p, live_scene.n);
	live_scene.text[live_scene.n] = '\0';
	json_decref(live_scene.got);
	live_scene.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
}

static void on_part(const struct http_resp *resp, void *arg)
{
	size_t n = resp->body.n, room = sizeof live_scene.text - 1 - live_scene.n;

	(void)arg;
	n = n < room ? n : room;
	memcpy(live_scene.text + live_scene.n, resp->body.p, n);
	live_scene.n += n;
	live_scene.text[live_scene.n] = '\0';
	if (live_scene.want && strstr(live_scene.text, live_scene.want))
		env_stop(live_scene.l.env);
}

static struct http_req *begin(const char *method, const char *path, const char *body,
			      void (*parth)(const struct http_resp *resp, void *arg))
{
	char origin[60];
	const char *headers[] = {
		*live_scene.cookie ? live_scene.cookie : "Authorization: Bearer " TOKEN,
		"Content-Type: application/json", "Sec-Fetch-Site: same-origin", origin, NULL};
	struct http_call call = {.method = method,
				 .headers = headers,
				 .parth = parth,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .timeout_ms = parth ? 0 : 5000};
	struct http_req *req = NULL;
	char url[160];

	snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u", web_port(live_scene.web));
	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(live_scene.web), path);
	call.url = url;
	live_scene.n = 0;
	live_scene.text[0] = '\0';
	live_scene.status = 0;
	return http_request(&req, live_scene.http, &call, on_answer, NULL) ? NULL : req;
}

struct http_req *live_scene_begin(const char *method, const char *path, const char *body)
{
	return begin(method, path, body, NULL);
}

struct http_req *live_scene_follow(const char *path)
{
	return begin("GET", path, NULL, on_part);
}

int live_scene_ask(const char *method, const char *path, const char *body)
{
	if (!live_scene_begin(method, path, body))
		return -1;
	loop_run(&live_scene.l);
	return live_scene.status;
}

bool live_scene_await(const char *text)
{
	live_scene.want = text;
	return strstr(live_scene.text, text) ||
	       (loop_run(&live_scene.l) && strstr(live_scene.text, text));
}

unsigned live_scene_count(const char *what)
{
	unsigned n = 0;

	for (const char *at = live_scene.text; (at = strstr(at, what)); at++)
		n++;
	return n;
}
