#include "tests/guildd/rest_inside.h"

#include "tests/guildd/files.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

#include <inttypes.h>
#include <stdio.h>

struct route {
	const char *method, *path;
	rest_h *h;
	bool token;
	unsigned limit, window_s;
};

static const struct route routes[] = {
#define R(method, path, h, token, limit, window) {#method, path, h, token, limit, window},
	REST_ROUTES(R)
#undef R
};
enum { N_ROUTES = sizeof(routes) / sizeof(routes[0]) };

struct gd_rest {
	struct guildd *g;
	struct httpd *http;
	char url[64];
	struct gd_vec buckets, interactions, files;
	struct gd_fault faults[REST_FAULTS];
	unsigned n_faults;
	json_t *log, *codes, *tokens;
};

void rest_status(struct rest_call *c, int status, json_t *body)
{
	c->status = status;
	httpd_reply(c->http, status, body);
}

void rest_ok(struct rest_call *c, json_t *body)
{
	rest_status(c, body ? 200 : 500, body);
}

void rest_empty(struct rest_call *c)
{
	rest_status(c, 204, NULL);
}

void rest_error(struct rest_call *c, int status, int code, const char *message)
{
	rest_status(c, status, json_pack("{s:s, s:i}", "message", message, "code", code));
}

void rest_bad_field(struct rest_call *c, const char *field, const char *why)
{
	rest_status(c, 400,
		    json_pack("{s:i, s:s, s:{s:{s:[{s:s, s:s}]}}}", "code", 50035, "message",
			      "Invalid Form Body", "errors", field, "_errors", "code",
			      "BASE_TYPE_INVALID", "message", why));
}

struct gd_guild *rest_guild_of(struct rest_call *c, unsigned cap)
{
	struct gd_guild *guild = gd_guild_find(c->g->world, c->id[cap]);

	if (!guild || !gd_member_find(guild, c->bot->user->id)) {
		rest_error(c, 404, 10004, "Unknown Guild");
		return NULL;
	}
	return guild;
}

struct gd_channel *rest_channel_of(struct rest_call *c, uint64_t need)
{
	struct gd_channel *ch = gd_channel_find(c->g->world, c->id[0]);
	struct gd_guild *guild = ch ? gd_guild_find(c->g->world, ch->guild) : NULL;
	uint64_t have;

	if (!ch) {
		rest_error(c, 404, 10003, "Unknown Channel");
		return NULL;
	}
	have = ch->bot == c->bot->user->id ? GD_PERM_ALL
	       : guild			   ? gd_permissions(guild, c->bot->user->id, ch)
					   : 0;
	if (!(have & GD_PERM_VIEW)) {
		rest_error(c, 403, 50001, "Missing Access");
		return NULL;
	}
	if (gd_channel_is_thread(ch) && need & GD_PERM_SEND)
		need = (need & ~GD_PERM_SEND) | GD_PERM_SEND_THREADS;
	if ((have & need) != need) {
		rest_error(c, 403, 50013, "Missing Permissions");
		return NULL;
	}
	return ch;
}

/* Part of a template: "{}" takes anything, else it must be equal. */
static bool matches(const struct route *r, const struct httpd_req *req, unsigned skip,
		    struct rest_call *c)
{
	const char *p = r->path;
	unsigned i = skip, caps = 0;

	memset(c->cap, 0, sizeof(c->cap));
	memset(c->id, 0, sizeof(c->id));
	while (*p == '/') {
		const char *end = strchr(p + 1, '/');
		size_t n = end ? (size_t)(end - p - 1) : strlen(p + 1);

		if (i == req->n_seg)
			return false;
		if (n == 2 && strncmp(p + 1, "{}", 2) == 0) {
			c->cap[caps] = req->seg[i];
			c->id[caps++] = gd_id_text(req->seg[i]);
		} else if (strlen(req->seg[i]) != n || strncmp(p + 1, req->seg[i], n) != 0) {
			return false;
		}
		i++;
		p += n + 1;
	}
	return i == req->n_seg;
}

/* The route, or NULL; *other tells that the path is one of another method. Fixed parts win over {}:
 * they come first in the table. */
static const struct route *route_of(struct httpd_req *req, unsigned skip, struct rest_call *c,
				    bool *other)
{
	*other = false;
	for (unsigned i = 0; i < N_ROUTES; i++) {
		if (!matches(&routes[i], req, skip, c))
			continue;
		if (strcmp(routes[i].method, req->method) == 0)
			return &routes[i];
		*other = true;
	}
	return NULL;
}

static struct gd_bucket *bucket_of(struct gd_rest *r, uint64_t key, unsigned limit,
				   unsigned window_s)
{
	struct gd_bucket *b;

	for (size_t i = 0; i < r->buckets.n; i++) {
		b = r->buckets.v[i];
		if (b->key == key)
			return b;
	}
	b = calloc(1, sizeof(*b));
	if (!b || gd_vec_add(&r->buckets, b)) {
		free(b);
		return NULL;
	}
	*b = (struct gd_bucket){
		.key = key, .limit = limit, .window_ns = window_s * 1000 * NS_PER_MS};
	return b;
}

static void seconds(struct rest_call *c, const char *name, uint64_t ms)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ms / 1000, (unsigned)(ms % 1000));
	httpd_set(c->http, name, text);
}

static void too_many(struct rest_call *c, uint64_t wait_ms, const char *scope, bool global)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, (wait_ms + 999) / 1000);
	httpd_set(c->http, "Retry-After", text);
	httpd_set(c->http, "X-RateLimit-Scope", scope);
	if (global)
		httpd_set(c->http, "X-RateLimit-Global", "true");
	rest_status(c, 429,
		    json_pack("{s:s, s:f, s:b}", "message", "You are being rate limited.",
			      "retry_after", (double)wait_ms / 1000.0, "global", global));
}

/* Bucket of the route and its major id (the first id of channels, guilds and webhooks); the
 * headers. False when the call was refused. */
static bool within_limits(struct gd_rest *r, struct rest_call *c, const struct route *route)
{
	bool webhook = strncmp(route->path, "/webhooks", 9) == 0 ||
		       strncmp(route->path, "/interactions", 13) == 0;
	char person[24] = "";
	const char *key[] = {route->method, route->path, c->cap[0], webhook ? c->cap[1] : person};
	const char *all[] = {"everything", c->bot ? c->bot->token : ""};
	uint64_t now = env_now(c->g->env), wall = env_wall_ms(c->g->env);
	struct gd_bucket *b, *whole = c->bot ? bucket_of(r, gd_bucket_hash(all, 2), 50, 1) : NULL;
	struct gd_bucket_answer a, w;
	uint64_t after_ms;
	char text[24];

	/* A person has buckets of their own. */
	if (!c->bot && c->user)
		snprintf(person, sizeof(person), "%" PRIu64, c->user->id);
	b = bucket_of(r, gd_bucket_hash(key, 4), route->limit, route->window_s);
	if (!b) {
		rest_error(c, 500, 0, "500: Internal Server Error");
		return false;
	}
	if (whole) {
		w = gd_bucket_take(whole, now);
		if (!w.allowed) {
			too_many(c, w.reset_after_ns / NS_PER_MS + 1, "global", true);
			return false;
		}
	}
	a = gd_bucket_take(b, now);
	after_ms = a.reset_after_ns / NS_PER_MS + 1;
	snprintf(text, sizeof(text), "%u", a.limit);
	httpd_set(c->http, "X-RateLimit-Limit", text);
	snprintf(text, sizeof(text), "%u", a.remaining);
	httpd_set(c->http, "X-RateLimit-Remaining", text);
	seconds(c, "X-RateLimit-Reset", wall + after_ms);
	seconds(c, "X-RateLimit-Reset-After", after_ms);
	snprintf(text, sizeof(text), "%016" PRIx64, gd_bucket_hash(key, 2));
	httpd_set(c->http, "X-RateLimit-Bucket", text);
	if (!a.allowed)
		too_many(c, after_ms, "user", false);
	return a.allowed;
}

static bool faulty(struct gd_rest *r, struct rest_call *c, const char *path)
{
	for (unsigned i = 0; i < r->n_faults; i++) {
		struct gd_fault *f = &r->faults[i], now = *f;

		if ((f->method[0] && strcmp(f->method, c->http->method) != 0) ||
		    !strstr(path, f->contains))
			continue;
		if (f->after) {
			f->after--;
			continue;
		}
		if (--f->times == 0)
			r->faults[i] = r->faults[--r->n_faults];
		if (now.status == 429) {
			httpd_set(c->http, "X-RateLimit-Remaining", "0");
			seconds(c, "X-RateLimit-Reset-After", now.retry_ms);
			too_many(c, now.retry_ms, now.scope[0] ? now.scope : "user", now.global);
		} else {
			rest_error(c, now.status, 0, "A requested fault");
		}
		return true;
	}
	return false;
}

/* Discord asks for "DiscordBot (url, version)" and turns away, before its API, what names no
 * program or only a bare HTTP library of old. It serves libraries that call themselves something
 * else: oceanic.js arrives as "node". */
static bool agent_ok(const struct rest_call *c)
{
	static const char *const refused[] = {"Python-urllib/", "libwww-perl/", "Java/"};
	const char *agent = httpd_header(c->http, "User-Agent");

	if (!c->g->sw.check_user_agent)
		return true;
	if (!agent || c->g->sw.check_user_agent == 2)
		return agent && strncmp(agent, "DiscordBot (", 12) == 0;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (strncmp(agent, refused[i], strlen(refused[i])) == 0)
			return false;
	}
	return (*agent >= 'A' && *agent <= 'Z') || (*agent >= 'a' && *agent <= 'z');
}

/* "Bot TOKEN", or a person's "Bearer TOKEN". False when refused. */
static bool authorized(struct rest_call *c)
{
	const char *auth = httpd_header(c->http, "Authorization");

	if (auth && strncmp(auth, "Bearer ", 7) == 0)
		return rest_oauth_bearer(c, auth + 7);
	if (auth && strncmp(auth, "Bot ", 4) == 0)
		c->bot = gd_bot_by_token(c->g->world, auth + 4);
	if (!c->bot) {
		rest_error(c, 401, 0, "401: Unauthorized");
		return false;
	}
	c->user = c->bot->user;
	if (!agent_ok(c)) {
		rest_error(c, 403, 40333, "internal network error");
		return false;
	}
	return true;
}

/* The host of attachments. */
static void serve_file(struct gd_rest *r, struct rest_call *c, const char *path)
{
	const struct httpd_req *req = c->http;
	const struct gd_file *f = req->n_seg == 4
					  ? gd_files_find(&r->files, gd_id_text(req->seg[1]),
							  gd_id_text(req->seg[2]), req->seg[3])
					  : NULL;

	if (faulty(r, c, path))
		return;
	if (!f || strcmp(req->method, "GET") != 0) {
		rest_error(c, 404, 0, "404: Not Found");
		return;
	}
	c->status = 200;
	httpd_reply_file(c->http, f->type ? f->type : "application/octet-stream", f->data, f->n);
}

static void serve(struct gd_rest *r, struct rest_call *c, const char *path)
{
	struct httpd_req *req = c->http;
	const struct route *route;
	bool other;

	if (req->n_seg < 2 || strcmp(req->seg[0], "api") != 0 || strcmp(req->seg[1], "v10") != 0) {
		rest_error(c, 404, 0, "404: Not Found");
		return;
	}
	route = route_of(req, 2, c, &other);
	if (!route) {
		if (other)
			rest_error(c, 405, 0, "405: Method Not Allowed");
		else
			rest_error(c, 404, 0, "404: Not Found");
		return;
	}
	if ((route->token && !authorized(c)) || faulty(r, c, path) || !within_limits(r, c, route))
		return;
	if (req->bad_body) {
		rest_error(c, 400, 50109, "The request body contains invalid JSON.");
		return;
	}
	route->h(c);
}

static void on_request(struct httpd_req *req, void *arg)
{
	struct gd_rest *r = arg;
	struct rest_call c = {.g = r->g, .http = req, .body = req->body};
	char path[512] = "";
	bool file = req->n_seg && strcmp(req->seg[0], "attachments") == 0;
	size_t n = 0;

	for (unsigned i = file ? 0 : 2; i < req->n_seg && n < sizeof(path); i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "/%s", req->seg[i]);
	if (file)
		serve_file(r, &c, path);
	else
		serve(r, &c, path);
	log_debug("rest", "method=%s path=%s status=%d", req->method, path, c.status);
	gd_count(r->g, c.bot ? c.bot->user->id : 0, "rest_%d", c.status);
	if (json_array_size(r->log) >= REST_LOG)
		json_array_remove(r->log, 0);
	json_array_append_new(r->log,
			      json_pack("{s:s, s:s, s:i, s:O?}", "method", req->method, "path",
					path, "status", c.status, "body", req->body));
}

int gd_rest_alloc(struct gd_rest **out, struct guildd *g)
{
	struct gd_rest *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return ENOMEM;
	r->g = g;
	r->log = json_array();
	r->codes = json_object();
	r->tokens = json_object();
	err = r->log && r->codes && r->tokens
		      ? httpd_alloc(&r->http, g->env, g->ip, g->port, on_request, r)
		      : ENOMEM;
	if (err) {
		gd_rest_free(r);
		return err;
	}
	snprintf(r->url, sizeof(r->url), "http://%s:%u/api/v10", g->ip, httpd_port(r->http));
	*out = r;
	return 0;
}

void gd_rest_reset(struct gd_rest *r)
{
	for (size_t i = 0; i < r->buckets.n; i++)
		free(r->buckets.v[i]);
	gd_vec_clear(&r->buckets);
	for (size_t i = 0; i < r->interactions.n; i++)
		interaction_free(r->interactions.v[i]);
	gd_vec_clear(&r->interactions);
	gd_files_clear(&r->files);
	r->n_faults = 0;
	json_array_clear(r->log);
	json_object_clear(r->codes);
	json_object_clear(r->tokens);
}

struct gd_rest *gd_rest_free(struct gd_rest *r)
{
	if (!r)
		return NULL;
	httpd_free(r->http);
	gd_rest_reset(r);
	json_decref(r->log);
	json_decref(r->codes);
	json_decref(r->tokens);
	free(r);
	return NULL;
}

const char *gd_rest_url(const struct gd_rest *r)
{
	return r->url;
}

int gd_rest_fault(struct gd_rest *r, const struct gd_fault *f)
{
	if (r->n_faults == REST_FAULTS)
		return ENOSPC;
	if (!f->times || f->status < 400 || f->status > 599)
		return EINVAL;
	r->faults[r->n_faults++] = *f;
	return 0;
}

static uint64_t next_id(void *arg)
{
	return gd_world_id(arg);
}

json_t *gd_rest_files(struct gd_rest *r, uint64_t channel, const json_t *given)
{
	char base[64];

	snprintf(base, sizeof(base), "http://%s:%u", r->g->ip, httpd_port(r->http));
	return gd_files_keep(&r->files, next_id, r->g->world, channel, base, given);
}

const json_t *gd_rest_log(const struct gd_rest *r)
{
	return r->log;
}

struct gd_vec *rest_interactions(struct gd_rest *r)
{
	return &r->interactions;
}

json_t *rest_codes(struct gd_rest *r)
{
	return r->codes;
}

json_t *rest_tokens(struct gd_rest *r)
{
	return r->tokens;
}
