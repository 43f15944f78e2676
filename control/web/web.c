#include "control/web/web.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/settings/listen.h"
#include "control/web/event_stream.h"
#include "control/web/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"

enum { TOKEN_MAX = 128, TOKEN_MIN = 16 };

struct route {
	enum http_method method;
	const char *path;
	enum web_role role;
	web_handle_h *h;
	size_t body;
	uint32_t ms;
};
static const struct route routes[] = {
#define ROUTE(METHOD, p, r, handler, n, ms, text) {HTTP_##METHOD, p, WEB_##r, web_##handler, n, ms},
	WEB_ROUTES(ROUTE)
#undef ROUTE
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

/* Arguments of a body's handler. */
struct way {
	struct web *web;
	const struct route *route;
};

struct web {
	struct env *env;
	struct live_settings *live;
	struct http_server *server;
	struct event_stream *events;
	struct way way[ROUTES];
	char token[TOKEN_MAX];
	char stars[TOKEN_MAX]; /* what a journal leaves of the token; "" when there is none */
	char host[LISTEN_MAX];
	json_t *(*mcph)(void *arg);
	json_t *(*readyh)(void *arg);
	char *(*metricsh)(void *arg);
	void *arg;
	struct http_exchange *change; /* waits until the settings are saved; NULL */
};

struct live_settings *web_live(const struct web *w)
{
	return w->live;
}

struct env *web_env(const struct web *w)
{
	return w->env;
}

static void lose_change(struct http_exchange *x, void *arg)
{
	struct web *w = arg;

	(void)x;
	w->change = NULL;
}

void web_keep_change(struct web *w, struct http_exchange *x)
{
	w->change = x;
	http_on_gone(x, lose_change, w);
}

struct http_exchange *web_take_change(struct web *w)
{
	struct http_exchange *x = w->change;

	w->change = NULL;
	return x;
}

/* ---- answers ---- */

static void answer(struct http_exchange *x, int status, const char *type, json_t *body)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	if (text)
		http_reply(x, status, type, text, strlen(text));
	else
		http_reply(x, 503, NULL, NULL, 0);
	free(text);
}

void web_json(struct http_exchange *x, int status, json_t *body)
{
	answer(x, status, "application/json", body);
}

void web_problem(struct http_exchange *x, int status, const char *code, const char *text,
		 json_t *more)
{
	json_t *all = json_pack("{s:s,s:s,s:i,s:s}", "type", "about:blank", "title", text, "status",
				status, "error", code);

	if (all && more)
		json_object_update(all, more);
	json_decref(more);
	answer(x, status, "application/problem+json", all);
}

void web_refuse(struct http_exchange *x, enum web_refusal refusal)
{
	static const struct {
		int status;
		const char *code, *text;
	} problems[] = {
#define PROBLEM(NAME, status, code, text) {status, #code, text},
		WEB_PROBLEMS(PROBLEM)
#undef PROBLEM
	};

	web_problem(x, problems[refusal].status, problems[refusal].code, problems[refusal].text,
		    NULL);
}

void web_healthz(struct web *w, const struct web_request *r)
{
	(void)w;
	http_reply(r->x, 200, "text/plain", "ok\n", 3);
}

void web_readyz(struct web *w, const struct web_request *r)
{
	json_t *parts = w->readyh(w->arg);

	web_json(r->x, json_is_true(json_object_get(parts, "ready")) ? 200 : 503, parts);
}

void web_metrics(struct web *w, const struct web_request *r)
{
	char *text = w->metricsh(w->arg);

	if (text)
		http_reply(r->x, 200, "text/plain; version=0.0.4; charset=utf-8", text,
			   strlen(text));
	else
		http_reply(r->x, 503, NULL, NULL, 0);
	free(text);
}

void web_mcp_status(struct web *w, const struct web_request *r)
{
	web_json(r->x, 200, w->mcph(w->arg));
}

void web_events_get(struct web *w, const struct web_request *r)
{
	int err = event_stream_join(w->events, r->x, r->head);

	if (err == EINVAL)
		web_refuse(r->x, WEB_BAD_EVENTS_QUERY);
	else if (err)
		http_reply(r->x, 503, NULL, NULL, 0);
}

/* ---- requests ---- */

enum token { TOKEN_OTHER, TOKEN_RIGHT, TOKEN_STARS, TOKEN_AS_LONG };

/* Nothing about the token but its length can be told from the time this takes. */
static enum token read_token(const struct web *w, const struct http_head *head)
{
	char field[sizeof "Bearer " + TOKEN_MAX];
	enum token token = TOKEN_OTHER;
	size_t n = strlen(w->token);

	if (!http_head_copy(head, "Authorization", field, sizeof field))
		return TOKEN_OTHER;
	if (strncmp(field, "Bearer ", 7) == 0 && strlen(field + 7) == n)
		token = sodium_memcmp(field + 7, w->token, n) == 0   ? TOKEN_RIGHT
			: sodium_memcmp(field + 7, w->stars, n) == 0 ? TOKEN_STARS
								     : TOKEN_AS_LONG;
	sodium_memzero(field, sizeof field);
	return token;
}

static bool allowed(const struct web *w, const struct http_head *head)
{
	enum token token = read_token(w, head);

	return token == TOKEN_RIGHT || token == TOKEN_STARS;
}

/* In a journal stars stand in the place of every secret: those of another one, as often as it
 * takes, would pass for the token's. */
static int check_token(const struct http_head *head, void *arg)
{
	enum token token = read_token(arg, head);

	return token == TOKEN_STARS || token == TOKEN_AS_LONG ? 401 : 0;
}

static void take_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	const struct way *way = arg;
	json_t *body = json_loadb((const char *)data, n, JSON_REJECT_DUPLICATES, NULL);
	struct web_request r = {.x = x, .body = body};

	(void)last;
	if (json_is_object(body))
		way->route->h(way->web, &r);
	else
		web_refuse(x, WEB_NOT_AN_OBJECT);
	json_decref(body);
}

static bool is_json(const struct http_head *head)
{
	struct http_text type = http_head_field(head, "Content-Type");
	struct http_text plain = {type.p, 0};

	while (plain.n < type.n && type.p[plain.n] != ';' && type.p[plain.n] != ' ')
		plain.n++;
	return http_text_like(plain, "application/json");
}

static void run(struct web *w, unsigned i, struct http_exchange *x, const struct http_head *head)
{
	const struct route *route = &routes[i];
	struct web_request r = {.x = x, .head = head};

	if (route->role != WEB_NOBODY && !allowed(w, head)) {
		http_reply_field(x, "WWW-Authenticate", "Bearer");
		web_refuse(x, WEB_UNAUTHORIZED);
	} else if (!route->body) {
		route->h(w, &r);
	} else if (!is_json(head)) {
		web_refuse(x, WEB_NOT_JSON);
	} else {
		http_take_body(x, &(struct http_body_limits){.max = route->body, .ms = route->ms},
			       take_body, &w->way[i]);
	}
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	struct web *w = arg;
	char methods[64] = "";

	for (unsigned i = 0; i < ROUTES; i++) {
		if (strcmp(routes[i].path, head->path) != 0)
			continue;
		if (routes[i].method == head->method) {
			run(w, i, x, head);
			return;
		}
		snprintf(methods + strlen(methods), sizeof methods - strlen(methods), "%s%s",
			 *methods ? ", " : "", http_method_name(routes[i].method));
	}
	if (*methods) {
		http_reply_field(x, "Allow", methods);
		web_refuse(x, WEB_METHOD);
	} else {
		web_refuse(x, WEB_NOT_FOUND);
	}
}

/* A page of another name that resolves to this address is none of ours (DNS rebinding). */
static bool own_host(struct http_text host, void *arg)
{
	const struct web *w = arg;
	size_t n = 0;

	if (host.n && host.p[0] == '[')
		while (n < host.n && host.p[n++] != ']')
			;
	else
		while (n < host.n && host.p[n] != ':')
			n++;
	host.n = n;
	if (strcmp(w->host, "0.0.0.0") == 0 || strcmp(w->host, "[::]") == 0)
		return true;
	return http_text_is(host, w->host) || http_text_like(host, "localhost");
}

/* ---- making ---- */

int web_alloc(struct web **out, const struct web_conf *conf)
{
	struct http_server_conf sc = {.hosth = own_host, .h = on_request};
	struct listen_address at;
	struct web *w;
	int err;

	if (!out || !conf->live || !conf->bus || !conf->mcph || !conf->readyh || !conf->metricsh ||
	    !conf->token || strlen(conf->token) < TOKEN_MIN || strlen(conf->token) >= TOKEN_MAX)
		return EINVAL;
	w = calloc(1, sizeof *w);
	if (!w)
		return ENOMEM;
	w->env = conf->env;
	w->live = conf->live;
	w->mcph = conf->mcph;
	w->readyh = conf->readyh;
	w->metricsh = conf->metricsh;
	w->arg = conf->arg;
	for (unsigned i = 0; i < ROUTES; i++)
		w->way[i] = (struct way){w, &routes[i]};
	memcpy(w->token, conf->token, strlen(conf->token));
	if (conf->recorded)
		memset(w->stars, '*', strlen(conf->token));
	err = listen_parse(&at, conf->listen);
	if (!err) {
		snprintf(w->host, sizeof w->host, "%s", at.host);
		sc.host = at.address;
		sc.port = at.port;
		sc.arg = w;
		sc.checkh = conf->recorded ? check_token : NULL;
		err = http_server_alloc(&w->server, conf->env, &sc);
	}
	/* Last: the bus cannot be left again. */
	if (!err)
		err = event_stream_alloc(&w->events, conf->env, conf->bus);
	if (err) {
		log_fatal("web_not_up", "listen=%s error=\"%s\"", conf->listen, strerror(err));
		web_free(w);
		return err;
	}
	log_info("web_up", "address=%s port=%u", w->host, http_server_port(w->server));
	*out = w;
	return 0;
}

void web_forget_events(struct web *w)
{
	event_stream_forget(w->events);
}

struct web *web_free(struct web *w)
{
	if (!w)
		return NULL;
	event_stream_free(w->events);
	http_server_free(w->server);
	sodium_memzero(w->token, sizeof w->token);
	free(w);
	return NULL;
}

uint16_t web_port(const struct web *w)
{
	return http_server_port(w->server);
}
