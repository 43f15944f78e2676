#include "control/offline/server.h"

#include "control/offline/http_api.h"
#include "control/offline/record.h"
#include "control/offline/session.h"
#include "control/offline/speech_queue.h"
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CLIENTS = 64, MAX_CONNECTIONS = 256, MAX_KEPT = 70 * SESSION_RATE };

/* Sound kept for the record: of an utterance or of a spoken line. */
struct kept {
	struct kept *next;
	uint32_t id;
	bool said;
	char *text;
	int16_t *pcm;
	size_t n, cap;
};

struct client {
	struct client *next;
	struct server *server;
	struct ws *ws;
	struct session *session;
	struct tmr *expiry;
	uint32_t number;
	bool dead; /* freed at the next turn of the loop */
	struct kept *kept;
};

struct server {
	struct server_conf conf;
	struct http_server *http;
	struct ws_server *sockets; /* gets its connections from http */
	struct recogniser_pool *recognisers;
	struct speech_queue *speech;
	struct http_api *http_api;
	struct client *clients;
	struct tmr *reaper;
	unsigned n_clients;
	uint32_t next_number;
};

/* --- the record --------------------------------------------------------------------------------
 */

static struct kept *kept_find(struct client *c, bool said, uint32_t id)
{
	for (struct kept *k = c->kept; k; k = k->next)
		if (k->id == id && k->said == said)
			return k;
	return NULL;
}

static void kept_begin(struct client *c, bool said, uint32_t id, const char *text)
{
	struct kept *k = c->server->conf.record ? calloc(1, sizeof *k) : NULL;

	if (!k)
		return;
	k->id = id;
	k->said = said;
	k->text = strdup(text);
	k->next = c->kept;
	c->kept = k;
}

static void kept_add(struct client *c, bool said, uint32_t id, const int16_t *pcm, size_t n)
{
	struct kept *k = kept_find(c, said, id);

	if (!k || !n || n > MAX_KEPT - k->n)
		return;
	if (k->n + n > k->cap) {
		size_t to = (k->n + n) * 2;
		int16_t *p = realloc(k->pcm, to * sizeof *p);

		if (!p)
			return;
		k->pcm = p;
		k->cap = to;
	}
	memcpy(k->pcm + k->n, pcm, n * sizeof *pcm);
	k->n += n;
}

static void kept_end(struct client *c, bool said, uint32_t id, const char *text, int inside,
		     bool write)
{
	struct kept **p = &c->kept, *k;
	struct record *record = c->server->conf.record;
	int err;

	while (*p && ((*p)->id != id || (*p)->said != said))
		p = &(*p)->next;
	k = *p;
	if (!k)
		return;
	*p = k->next;
	text = text ? text : k->text ? k->text : "";
	if (write) {
		err = record_add(record, env_now(c->server->conf.env) / NS_PER_MS,
				 said ? "said" : "heard", text, inside,
				 k->pcm ? k->pcm : &(int16_t){0}, k->n);
		if (err)
			log_warn("record_failed", "error=%s", strerror(err));
	}
	free(k->text);
	free(k->pcm);
	free(k);
}

/* --- what a session wants ----------------------------------------------------------------------
 */

static uint64_t job_id(const struct client *c, uint32_t id)
{
	return (uint64_t)c->number << 32 | id;
}

static void client_fail(struct client *c, uint16_t code, const char *why)
{
	log_warn("session_closed", "client=%u why=%s", c->number, why);
	ws_close(c->ws, code, why);
	c->dead = true;
	tmr_start(c->server->reaper, 0);
}

static void on_event(const char *json, size_t len, void *arg)
{
	struct client *c = arg;

	if (!c->dead && ws_send(c->ws, true, json, len) == ENOBUFS)
		client_fail(c, 1008, "the client does not read");
}

static void on_hear_begin(uint32_t id, void *arg)
{
	struct client *c = arg;

	kept_begin(c, false, id, "");
	if (recogniser_pool_begin(c->server->recognisers, job_id(c, id)))
		client_fail(c, 1011, "out of memory");
}

static void on_hear_pcm(uint32_t id, const int16_t *pcm, size_t n, void *arg)
{
	struct client *c = arg;

	kept_add(c, false, id, pcm, n);
	if (recogniser_pool_feed(c->server->recognisers, job_id(c, id), pcm, n) == ENOMEM)
		client_fail(c, 1011, "out of memory");
}

static void on_hear_end(uint32_t id, void *arg)
{
	struct client *c = arg;

	recogniser_pool_end(c->server->recognisers, job_id(c, id));
}

static void on_hear_drop(uint32_t id, void *arg)
{
	struct client *c = arg;

	kept_end(c, false, id, NULL, -1, false);
	recogniser_pool_drop(c->server->recognisers, job_id(c, id));
}

static void on_say(uint32_t id, const char *text, const char *voice, double speed, void *arg)
{
	struct client *c = arg;

	log_debug("said", "client=%u text=%s", c->number, text);
	kept_begin(c, true, id, text);
	if (speech_queue_say(c->server->speech, job_id(c, id), text, voice, speed))
		client_fail(c, 1011, "out of memory");
}

static void on_say_stop(uint32_t id, void *arg)
{
	struct client *c = arg;

	kept_end(c, true, id, NULL, -1, true);
	speech_queue_stop(c->server->speech, job_id(c, id));
}

/* --- what comes back ---------------------------------------------------------------------------
 */

static struct session_moment moment(struct server *s)
{
	struct session_moment m = {.now_ms = env_now(s->conf.env) / NS_PER_MS,
				   .wall_s = env_wall_ms(s->conf.env) / 1000};
	time_t t = (time_t)m.wall_s;

	localtime_r(&t, &m.local);
	env_random(s->conf.env, &m.random, sizeof m.random);
	return m;
}

static void outcome(struct client *c, int err)
{
	if (err && !c->dead)
		client_fail(c, 1011, "out of memory");
}

static struct client *client_of(struct server *s, uint64_t job)
{
	for (struct client *c = s->clients; c; c = c->next)
		if (c->number == job >> 32 && !c->dead)
			return c;
	return NULL;
}

static void on_heard(uint64_t job, const struct recognition *heard, void *arg)
{
	struct server *s = arg;
	struct client *c = client_of(s, job);
	const char *text = heard ? heard->text : NULL;
	struct session_moment m = moment(s);

	if (job >> 32 == HTTP_API_OWNER)
		http_api_recognised(s->http_api, job, heard);
	if (!c)
		return;
	if (heard)
		log_debug("heard", "client=%u text=%s inside=%d distance=%.1f", c->number, text,
			  heard->in_grammar, heard->distance);
	else
		log_warn("recogniser_failed", "client=%u", c->number);
	kept_end(c, false, (uint32_t)job, text ? text : "", heard ? heard->in_grammar : 0, true);
	outcome(c, session_recognised(c->session, &m, (uint32_t)job, text));
}

static void on_spoken(uint64_t job, const int16_t *pcm, size_t n, const char *piece, bool last,
		      void *arg)
{
	struct server *s = arg;
	struct client *c = client_of(s, job);
	struct session_moment m = moment(s);

	if (job >> 32 == HTTP_API_OWNER)
		http_api_take_speech(s->http_api, job, pcm, n, last);
	if (!c)
		return;
	kept_add(c, true, (uint32_t)job, pcm, n);
	if (last)
		kept_end(c, true, (uint32_t)job, NULL, -1, true);
	outcome(c, session_take_speech(c->session, &m, (uint32_t)job, pcm, n, piece, last));
}

/* --- clients -----------------------------------------------------------------------------------
 */

static void client_free(struct client *c)
{
	recogniser_pool_drop_owner(c->server->recognisers, c->number);
	speech_queue_stop_owner(c->server->speech, c->number);
	while (c->kept)
		kept_end(c, c->kept->said, c->kept->id, NULL, -1, false);
	tmr_free(c->expiry);
	session_free(c->session);
	ws_free(c->ws);
	free(c);
}

static void reap(void *arg)
{
	struct server *s = arg;

	for (struct client **p = &s->clients; *p;) {
		struct client *c = *p;

		if (!c->dead) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		s->n_clients--;
		client_free(c);
	}
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct client *c = arg;
	struct session_moment m;

	(void)ws;
	if (ev == WS_CLOSED) {
		log_info("client_gone", "client=%u code=%u", c->number, code);
		c->dead = true;
		tmr_start(c->server->reaper, 0);
	}
	if (c->dead || ev != WS_TEXT)
		return;
	m = moment(c->server);
	outcome(c, session_event(c->session, &m, (const char *)data, len));
}

static void on_expiry(void *arg)
{
	struct client *c = arg;
	static const char text[] =
		"{\"type\":\"error\",\"event_id\":\"event_expired\",\"error\":{\"type\":"
		"\"invalid_request_error\",\"code\":\"session_expired\",\"message\":\"Your session "
		"hit "
		"its maximum duration.\",\"param\":null,\"event_id\":null}}";

	ws_send(c->ws, true, text, sizeof text - 1);
	client_fail(c, 1000, "session expired");
}

/* The value of a query key, copied; "" when absent. */
static void query(const char *path, const char *key, char *buf, size_t size)
{
	const char *p = strchr(path, '?');
	size_t n = strlen(key);

	buf[0] = '\0';
	while (p && *p) {
		p++;
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			snprintf(buf, size, "%.*s", (int)strcspn(p + n + 1, "&"), p + n + 1);
			return;
		}
		p = strchr(p, '&');
	}
}

static int client_alloc(struct client **out, struct server *s, struct ws *ws, const char *path)
{
	char model[128], intent[32];
	struct session_conf conf = {.rules = s->conf.rules, .model = model};
	struct client *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return ENOMEM;
	query(path, "model", model, sizeof model);
	query(path, "intent", intent, sizeof intent);
	conf.transcription = strcmp(intent, "transcription") == 0;
	env_random(s->conf.env, &conf.seed, sizeof conf.seed);
	conf.out = (struct session_out){on_event,     on_hear_begin, on_hear_pcm, on_hear_end,
					on_hear_drop, on_say,	     on_say_stop, c};
	c->server = s;
	c->number = ++s->next_number;
	err = session_alloc(&c->session, &conf);
	if (!err)
		err = tmr_alloc(&c->expiry, s->conf.env, on_expiry, c);
	if (err) {
		client_free(c);
		return err;
	}
	c->ws = ws;
	*out = c;
	return 0;
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	struct server *s = arg;
	struct session_moment m = moment(s);
	struct client *c;

	if (s->n_clients >= MAX_CLIENTS || client_alloc(&c, s, ws, path)) {
		log_warn("client_refused", "clients=%u", s->n_clients);
		ws_free(ws);
		return;
	}
	c->next = s->clients;
	s->clients = c;
	s->n_clients++;
	ws_set_handler(ws, on_ws, c);
	log_info("client", "client=%u transcription=%d", c->number,
		 strstr(path, "intent=transcription") != NULL);
	tmr_start(c->expiry, SESSION_LIFE_S * NS_PER_S);
	outcome(c, session_open(c->session, &m));
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	struct server *s = arg;
	struct session_moment m = moment(s);

	(void)last;
	log_debug("asked", "path=%s", http_request_head(x)->path);
	http_api_post(s->http_api, x, (struct slice){data, n}, &m);
}

static void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	struct server *s = arg;

	ws_server_adopt(s->sockets, fd, head, n);
}

/* Any page that somebody opens could ask this address, and take all places. A browser tells the
 * origin with each WebSocket and POST; other programs do not. */
static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	/* For clients that check whether the server is up. */
	static const char models[] =
		"{\"object\":\"list\",\"data\":[{\"id\":\"rules\","
		"\"object\":\"model\",\"created\":0,\"owned_by\":\"parley\"}]}";
	struct server *s = arg;

	if (http_head_field(head, "origin").p)
		http_api_refuse(x, 403, NULL, "This is not for pages of a browser.");
	else if (head->websocket && strcmp(head->path, "/v1/realtime") == 0)
		http_upgrade(x, on_upgrade, s);
	else if (head->method == HTTP_POST)
		http_take_body(x, &(struct http_body_limits){.max = HTTP_API_BODY_MAX}, on_body, s);
	else if (head->method == HTTP_GET && strcmp(head->path, "/v1/models") == 0)
		http_reply(x, 200, "application/json", models, sizeof models - 1);
	else
		http_api_refuse(x, 404, NULL, "There is no such thing here.");
}

static int serve(struct server *s)
{
	const struct ws_listen_conf wc = {.max_message = SESSION_MAX_EVENT};
	/* One control is one address, with many requests. */
	const struct http_server_conf hc = {.host = s->conf.host,
					    .port = s->conf.port,
					    .max_per_address = MAX_CONNECTIONS,
					    .h = on_request,
					    .arg = s};
	int err = ws_listen(&s->sockets, s->conf.ws, &wc, on_accept, s);

	return err ? err : http_server_alloc(&s->http, s->conf.env, &hc);
}

int server_alloc(struct server **out, const struct server_conf *conf, const char **why)
{
	struct recogniser_pool_conf pool = {
		.recognisers = conf->recognisers, .recogniser = conf->recogniser, .h = on_heard};
	struct server *s = calloc(1, sizeof *s);
	int err;

	*why = "out of memory";
	if (!s)
		return ENOMEM;
	s->conf = *conf;
	pool.arg = s;
	err = tmr_alloc(&s->reaper, conf->env, reap, s);
	if (!err)
		err = speech_queue_alloc(&s->speech, conf->env, on_spoken, s);
	if (!err)
		err = recogniser_pool_alloc(&s->recognisers, conf->env, &pool, why);
	if (!err) {
		struct http_api_conf asks = {conf->env, s->recognisers, s->speech, conf->rules,
					     conf->record};

		err = http_api_alloc(&s->http_api, &asks);
	}
	if (!err) {
		*why = "cannot listen there";
		err = serve(s);
	}
	if (err) {
		server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct server *server_free(struct server *s)
{
	if (!s)
		return NULL;
	http_server_free(s->http);
	ws_server_free(s->sockets);
	while (s->clients) {
		struct client *c = s->clients;

		s->clients = c->next;
		client_free(c);
	}
	http_api_free(s->http_api);
	recogniser_pool_free(s->recognisers);
	speech_queue_free(s->speech);
	tmr_free(s->reaper);
	free(s);
	return NULL;
}

uint16_t server_port(const struct server *s)
{
	return http_server_port(s->http);
}
