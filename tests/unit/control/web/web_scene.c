#include "tests/unit/control/web/web_scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

struct fixture web_scene;

/* Saving ends in a step of its own, as the store's answers do. */
static void on_saved(void *arg)
{
	(void)arg;
	live_settings_saved(web_scene.live, web_scene.save_err, web_scene.saved,
			    "The disk is full.");
}

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)arg;
	if (web_scene.begin_err)
		return web_scene.begin_err;
	if (web_scene.save_err != ESTALE) {
		free(web_scene.saved);
		web_scene.saved = strdup(version->text);
	}
	snprintf(web_scene.author, sizeof web_scene.author, "%s", version->author);
	web_scene.before = version->before;
	web_scene.saves++;
	if (!web_scene.hold)
		tmr_start(web_scene.saved_tmr, NS_PER_MS);
	return 0;
}

static void on_changed(void *arg)
{
	(void)arg;
	web_scene.changes++;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name;
	(void)when;
	(void)arg;
	snprintf(web_scene.told_author, sizeof web_scene.told_author, "%s", author ? author : "");
}

static json_t *on_mcp(void *arg)
{
	(void)arg;
	return json_pack("{s:[{s:s, s:b}]}", "servers", "serverName", "notes", "connected", 1);
}

static json_t *on_ready(void *arg)
{
	(void)arg;
	return json_pack("{s:b,s:{s:s}}", "ready", web_scene.ready, "parts", "mediad",
			 web_scene.ready ? "up" : "down");
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("parley_calls_up_total 7\n");
}

static json_t *on_rooms(void *arg)
{
	(void)arg;
	return json_pack("[{s:s}]", "guild", "42");
}

static json_t *on_reasons(void *arg)
{
	(void)arg;
	return json_pack("{s:{s:s}}", "reasons", "answered", "it was answered");
}

static json_t *on_guilds(void *arg)
{
	(void)arg;
	return json_pack("[{s:s,s:s}]", "id", "42", "name", "Home");
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == 42 ? json_pack("[{s:s}]", "id", "7") : NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)arg;
	snprintf(web_scene.order, sizeof web_scene.order, "%s %d %d %s", web_order_name(o->kind),
		 (int)o->guild, (int)o->channel, o->text ? o->text : "");
	snprintf(why, WEB_WHY_SIZE, "It is full.");
	return web_scene.order_err;
}

bool web_scene_open_with(const json_t *kept, struct journal *j)
{
	static const uint32_t hours = 1;
	struct live_settings_conf lc = {
		.kept = kept, .saveh = on_save, .changedh = on_changed, .toldh = on_told};
	struct web_conf wc = {.listen = "127.0.0.1:0",
			      .token = TOKEN,
			      .recorded = true,
			      .mcph = on_mcp,
			      .readyh = on_ready,
			      .session_hours = &hours,
			      .roomsh = on_rooms,
			      .reasonsh = on_reasons,
			      .statsh = on_ready,
			      .guildsh = on_guilds,
			      .channelsh = on_channels,
			      .orderh = on_order,
			      .metricsh = on_metrics};

	memset(&web_scene, 0, sizeof web_scene);
	if (loop_open(&web_scene.l, j) || settings_alloc(&web_scene.settings) ||
	    tmr_alloc(&web_scene.saved_tmr, web_scene.l.env, on_saved, NULL))
		return false;
	lc.settings = web_scene.settings;
	if (live_settings_alloc(&web_scene.live, &lc))
		return false;
	wc.env = web_scene.l.env;
	wc.live = web_scene.live;
	if (bus_alloc(&web_scene.bus))
		return false;
	wc.bus = web_scene.bus;
	return web_alloc(&web_scene.web, &wc) == 0 &&
	       http_alloc(&web_scene.http, web_scene.l.env, NULL, "test") == 0;
}

bool web_scene_open(const json_t *kept)
{
	return web_scene_open_with(kept, NULL);
}

void web_scene_close(void)
{
	http_free(web_scene.http);
	web_free(web_scene.web);
	bus_free(web_scene.bus);
	live_settings_free(web_scene.live);
	settings_free(web_scene.settings);
	tmr_free(web_scene.saved_tmr);
	free(web_scene.saved);
	json_decref(web_scene.got);
	loop_close(&web_scene.l);
}

void web_scene_on_answer(const struct http_resp *resp, void *arg)
{
	(void)arg;
	env_stop(web_scene.l.env);
	web_scene.answers++;
	web_scene.status = resp->status;
	json_decref(web_scene.got);
	web_scene.got = json_loadb(resp->body.p, resp->body.n, 0, NULL);
}

int web_scene_send_as(const char *token, const char *method, const char *path, const char *body,
		      struct http_req **req)
{
	char url[160], auth[160];
	const char *const headers[] = {auth, "Content-Type: application/json", NULL};
	struct http_call call = {.method = method,
				 .url = url,
				 .headers = headers,
				 .body = body,
				 .body_len = body ? strlen(body) : 0,
				 .timeout_ms = 5000};

	snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_port(web_scene.web), path);
	snprintf(auth, sizeof auth, "Authorization: Bearer %s", token);

	web_scene.status = 0;
	return http_request(req, web_scene.http, &call, web_scene_on_answer, NULL);
}

int web_scene_ask_as(const char *token, const char *method, const char *path, const char *body)
{
	if (web_scene_send_as(token, method, path, body, NULL))
		return -1;
	loop_run(&web_scene.l);
	return web_scene.status;
}

int web_scene_ask(const char *method, const char *path, const char *body)
{
	return web_scene_ask_as(TOKEN, method, path, body);
}

const char *web_scene_text_of(const char *name)
{
	const char *text = json_string_value(json_object_get(web_scene.got, name));

	return text ? text : "";
}
