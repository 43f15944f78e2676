#include "tests/guildd/api_inside.h"
#include "tests/guildd/history.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/dave.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/objects.h"
#include "tests/guildd/relay.h"
#include "tests/guildd/rest.h"
#include "tests/guildd/voice.h"

#include "ipc/env.h"
#include "ipc/log.h"

#include <stdio.h>

struct gd_api {
	struct guildd *g;
	struct httpd *http;
	char url[48];
};

struct route {
	const char *method, *path;
	api_h *h;
};

static const struct route routes[] = {
#define R(method, path, h, what) {#method, path, h},
	API_ROUTES(R)
#undef R
};

void api_ok(struct api_call *c, json_t *body)
{
	httpd_reply(c->http, 200, body ? body : json_object());
}

void api_wrong(struct api_call *c, const char *what)
{
	httpd_reply(c->http, 400, json_pack("{s:s}", "error", what));
}

void api_result(struct api_call *c, int err)
{
	if (!err)
		api_ok(c, NULL);
	else
		httpd_reply(c->http,
			    err == ENOENT		       ? 404
			    : err == EEXIST || err == ENOTCONN ? 409
							       : 400,
			    json_pack("{s:s}", "error", strerror(err)));
}

struct gd_guild *api_guild(struct api_call *c)
{
	struct gd_guild *guild = gd_guild_find(c->g->world, c->id[0]);

	if (!guild)
		api_result(c, ENOENT);
	return guild;
}

struct gd_channel *api_channel(struct api_call *c)
{
	struct gd_channel *ch = gd_channel_find(c->g->world, c->id[0]);

	if (!ch)
		api_result(c, ENOENT);
	return ch;
}

struct gd_vstate *api_vstate(struct api_call *c)
{
	uint64_t guild = api_number(c, "guild_id", 0);
	struct gd_guild *g = guild ? gd_guild_find(c->g->world, guild) : NULL;
	struct gd_vstate *v = g	      ? gd_vstate_find(g, c->id[0])
			      : guild ? NULL
				      : gd_call_of(c->g, c->id[0]);

	if (!v)
		api_result(c, ENOENT);
	return v;
}

const char *api_text(const struct api_call *c, const char *name, const char *def)
{
	const char *s = json_string_value(json_object_get(c->body, name));

	return s ? s : def;
}

/* Ids come as strings, other numbers as either. */
uint64_t api_number(const struct api_call *c, const char *name, uint64_t def)
{
	const json_t *v = json_object_get(c->body, name);

	if (json_is_string(v))
		return strtoull(json_string_value(v), NULL, 10);
	return json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v)
								: def;
}

static bool matches(const char *p, const struct httpd_req *req, uint64_t id[2])
{
	unsigned i = 0, n_ids = 0;

	while (*p == '/') {
		const char *end = strchr(p + 1, '/');
		size_t n = end ? (size_t)(end - p - 1) : strlen(p + 1);

		if (i == req->n_seg)
			return false;
		if (n == 2 && strncmp(p + 1, "{}", 2) == 0) {
			id[n_ids] = gd_id_text(req->seg[i]);
			if (!id[n_ids++])
				return false;
		} else if (strlen(req->seg[i]) != n || strncmp(p + 1, req->seg[i], n) != 0) {
			return false;
		}
		i++;
		p += n + 1;
	}
	return i == req->n_seg;
}

static void on_request(struct httpd_req *req, void *arg)
{
	struct gd_api *a = arg;
	struct api_call c = {.g = a->g, .http = req, .body = req->body};

	if (req->bad_body) {
		api_wrong(&c, "the body is no JSON");
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].method, req->method) == 0 &&
		    matches(routes[i].path, req, c.id)) {
			log_debug("control", "method=%s path=%s", req->method, routes[i].path);
			routes[i].h(&c);
			return;
		}
	}
	api_result(&c, ENOENT);
}

int gd_api_alloc(struct gd_api **out, struct guildd *g)
{
	struct gd_api *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return ENOMEM;
	a->g = g;
	err = httpd_alloc(&a->http, g->env, g->ip, g->port ? (uint16_t)(g->port + 1) : 0,
			  on_request, a);
	if (err) {
		free(a);
		return err;
	}
	snprintf(a->url, sizeof(a->url), "http://%s:%u", g->ip, httpd_port(a->http));
	*out = a;
	return 0;
}

struct gd_api *gd_api_free(struct gd_api *a)
{
	if (!a)
		return NULL;
	httpd_free(a->http);
	free(a);
	return NULL;
}

const char *gd_api_url(const struct gd_api *a)
{
	return a->url;
}

void api_stats(struct api_call *c)
{
	api_ok(c, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "switches",
			    gd_switches_json(&c->g->sw), "main", gd_gateway_json(c->g->gateway),
			    "voice", gd_voice_json(c->g->voice), "dave", gd_dave_json(c->g->dave),
			    "relay", gd_relay_json(c->g->relay), "golive", gd_golives_json(c->g),
			    "counts", c->g->counts));
}

void api_reset(struct api_call *c)
{
	struct guildd *g = c->g;
	struct gd_world *fresh;
	int err = gd_world_alloc(&fresh);

	if (!err)
		err = gd_world_defaults(fresh, g->sw.long_ids);
	if (err) {
		api_result(c, err);
		return;
	}
	for (size_t i = 0; i < g->world->users.n; i++) {
		const struct gd_user *u = g->world->users.v[i];

		gd_gateway_forget(g->gateway, u->id);
		gd_call_leave_all(g, u->id, 4014);
	}
	gd_world_free(g->world);
	g->world = fresh;
	gd_switches_default(&g->sw);
	gd_rest_reset(g->rest);
	gd_voice_reset(g->voice);
	gd_relay_reset(g->relay);
	gd_relay_seed(g->relay, g->sw.seed);
	gd_history_reset(g->history);
	json_object_clear(g->counts);
	api_ok(c, NULL);
}

void api_history(struct api_call *c)
{
	api_ok(c, gd_history_json(c->g->history));
}

void api_switches_get(struct api_call *c)
{
	api_ok(c, gd_switches_json(&c->g->sw));
}

void api_switches_set(struct api_call *c)
{
	struct gd_switches next = c->g->sw; /* all or nothing */
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)c->body, name, v)
	{
		int err = gd_switch_set(&next, name, v);

		if (err) {
			httpd_reply(c->http, 400,
				    json_pack("{s:s, s:s}", "error", strerror(err), "name", name));
			return;
		}
	}
	c->g->sw = next;
	if (json_object_get(c->body, "seed"))
		gd_relay_seed(c->g->relay, next.seed);
	api_ok(c, gd_switches_json(&c->g->sw));
}

void api_fault(struct api_call *c)
{
	struct gd_fault f = {.after = (unsigned)api_number(c, "after", 0),
			     .times = (unsigned)api_number(c, "times", 1),
			     .status = (int)api_number(c, "status", 429),
			     .global = json_is_true(json_object_get(c->body, "global"))};
	const json_t *retry = json_object_get(c->body, "retry_after");

	snprintf(f.method, sizeof(f.method), "%s", api_text(c, "method", ""));
	snprintf(f.contains, sizeof(f.contains), "%s", api_text(c, "contains", ""));
	snprintf(f.scope, sizeof(f.scope), "%s", api_text(c, "scope", "user"));
	f.retry_ms = retry ? (uint32_t)(json_number_value(retry) * 1000) : 1000;
	api_result(c, gd_rest_fault(c->g->rest, &f));
}

void api_requests(struct api_call *c)
{
	api_ok(c, json_deep_copy(gd_rest_log(c->g->rest)));
}
