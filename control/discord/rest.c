#include "control/discord/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/rate.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum {
	QUEUE_MAX = 1000,
	QUEUE_SPARE = QUEUE_MAX / 5,
	TRIES = 8, /* over 31 s: Discord's servers fail for seconds, rarely for minutes */
	INTERACTION_TRIES = 4, /* their callers repeat them, as long as their tokens are good */
	AGAIN_MS = 500,
	AGAIN_MOST_MS = 8000,
	LIMITED_TRIES = 10,
	TIMEOUT_MS = 15000
};

struct job {
	struct job *next;
	struct rest *rest;
	char *method, *route_key, *path, *major, *body;
	char type[96]; /* header of the body */
	bool idempotent, interaction, ordered;
	rest_h *h;
	void *arg;
	unsigned tries, limited;
	bool may_be_done; /* the last try may have reached Discord */
	uint64_t not_before;
	struct http_req *req; /* in flight */
};

struct rest {
	struct env *env;
	struct http *http;
	char *base, *auth;
	struct rate *rate;
	struct tmr *tmr;
	struct job *jobs; /* in order of request */
	unsigned n_jobs;
	bool refused;
};

static void pump(struct rest *r);

static struct job *job_free(struct job *j)
{
	if (!j)
		return NULL;
	if (j->req)
		http_req_cancel(j->req);
	free(j->method);
	free(j->route_key);
	free(j->path);
	free(j->major);
	free(j->body);
	free(j);
	return NULL;
}

static struct rate_key key_of(const struct job *j)
{
	return (struct rate_key){
		.route = j->route_key, .major = j->major, .exempt = j->interaction};
}

static void unlink_job(struct rest *r, struct job *j)
{
	for (struct job **at = &r->jobs; *at; at = &(*at)->next)
		if (*at == j) {
			*at = j->next;
			r->n_jobs--;
			return;
		}
}

/* j was removed from the list already. */
static void report_result(struct job *j, int err, int status, const json_t *body)
{
	if (j->h)
		j->h(err, status, body, j->arg);
	job_free(j);
}

static void finish(struct job *j, int err, int status, const json_t *body)
{
	unlink_job(j->rest, j);
	report_result(j, err, status, body);
}

static void finish_all(struct rest *r, int err, int status)
{
	struct job *j;

	while ((j = r->jobs)) {
		r->jobs = j->next;
		r->n_jobs--;
		report_result(j, err, status, NULL);
	}
}

static double header_number(const struct http_resp *resp, const char *name)
{
	char text[64], *end;
	double v;

	if (!http_header(resp, name, text, sizeof text))
		return -1;
	v = strtod(text, &end);
	return end == text || !(v >= 0) ? -1 : v;
}

static void read_headers(const struct http_resp *resp, const json_t *body, struct rate_headers *h)
{
	const json_t *after = json_object_get(body, "retry_after");
	char text[16];

	memset(h, 0, sizeof *h);
	h->status = resp->status;
	http_header(resp, "x-ratelimit-bucket", h->bucket, sizeof h->bucket);
	h->limit = header_number(resp, "x-ratelimit-limit");
	h->remaining = header_number(resp, "x-ratelimit-remaining");
	h->reset_after = header_number(resp, "x-ratelimit-reset-after");
	/* A 429 from Cloudflare has no JSON, so the header counts. */
	h->retry_after = json_is_number(after) ? json_number_value(after)
					       : header_number(resp, "retry-after");
	h->global = json_is_true(json_object_get(body, "global")) ||
		    (http_header(resp, "x-ratelimit-global", text, sizeof text) && text[0] == 't');
}

static bool retry_later(struct job *j, const struct http_resp *resp)
{
	bool worth = resp->err ? resp->err == ETIMEDOUT || resp->err == EIO ||
					 resp->err == ECONNREFUSED || resp->err == EHOSTUNREACH
			       : resp->status >= 500;
	uint64_t wait_ms = AGAIN_MS << j->tries;

	/* A refused connection transported nothing, so every call may be repeated. */
	if (!worth || (!j->idempotent && resp->err != ECONNREFUSED) ||
	    ++j->tries >= (j->interaction ? INTERACTION_TRIES : TRIES))
		return false;
	if (wait_ms > AGAIN_MOST_MS)
		wait_ms = AGAIN_MOST_MS;
	j->may_be_done = resp->err != ECONNREFUSED && resp->err != EHOSTUNREACH;
	j->not_before = env_now(j->rest->env) + wait_ms * NS_PER_MS;
	return true;
}

static void refuse_all(struct rest *r)
{
	log_info("rest_refused",
		 "text=\"Discord answered 401: the token is wrong; nothing is sent any more\"");
	r->refused = true;
	finish_all(r, EACCES, 401);
}

static void on_resp(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	struct rest *r = j->rest;
	struct rate_key key = key_of(j);
	struct rate_headers h;
	json_t *body = NULL;

	j->req = NULL;
	if (resp->err) {
		rate_lost(r->rate, &key);
		log_debug("rest", "method=%s route=\"%s\" err=%d text=\"%s\"", j->method,
			  j->route_key, resp->err, resp->errtext);
		if (!retry_later(j, resp))
			finish(j, resp->err, 0, NULL);
		pump(r);
		return;
	}
	if (resp->body.n)
		body = json_loadb(resp->body.p, resp->body.n, JSON_DECODE_ANY, NULL);
	read_headers(resp, body, &h);
	rate_answer(r->rate, &key, &h, env_now(r->env));
	log_debug("rest", "route=\"%s\" status=%d", j->route_key, resp->status);
	if (resp->status == 401 && !j->interaction) {
		refuse_all(r);
	} else if (resp->status == 429 && ++j->limited < LIMITED_TRIES) {
		/* It may have to wait for an hour, in which nobody waits for a try before it. */
		j->may_be_done = false;
		log_info("rest_limited", "route=\"%s\" global=%d wait=%.3f", j->route_key, h.global,
			 h.retry_after);
	} else if (!retry_later(j, resp)) {
		finish(j, 0, resp->status, body);
	}
	json_decref(body);
	pump(r);
}

static int launch(struct job *j)
{
	struct rest *r = j->rest;
	const char *headers[4];
	struct http_call call = {.method = j->method, .timeout_ms = TIMEOUT_MS, .headers = headers};
	char url[1024];
	unsigned n = 0;

	if ((size_t)snprintf(url, sizeof url, "%s%s", r->base, j->path) >= sizeof url)
		return EMSGSIZE;
	call.url = url;
	if (!j->interaction)
		headers[n++] = r->auth;
	if (j->body) {
		headers[n++] = j->type;
		call.body = j->body;
		call.body_len = strlen(j->body);
	}
	headers[n] = NULL;
	return http_request(&j->req, r->http, &call, on_resp, j);
}

/* An earlier call that has to be over before this one. */
static bool is_behind(const struct rest *r, const struct job *j)
{
	for (const struct job *o = r->jobs; j->ordered && o != j; o = o->next)
		if (o->ordered && strcmp(o->major, j->major) == 0)
			return true;
	return false;
}

/* Sends the calls whose limits allow it, in order, and arms the timer for the first that must wait.
 */
static void pump(struct rest *r)
{
	uint64_t now = env_now(r->env), wake = RATE_AFTER_ANSWER;
	struct job *next;
	int err;

	for (struct job *j = r->jobs; j; j = next) {
		struct rate_key key = key_of(j);
		uint64_t at;

		next = j->next;
		if (j->req || is_behind(r, j))
			continue;
		at = j->not_before > now ? j->not_before : rate_when(r->rate, &key, now);
		if (at) {
			wake = at < wake ? at : wake;
			continue;
		}
		err = rate_sent(r->rate, &key, now);
		if (!err) {
			err = launch(j);
			if (err)
				rate_lost(r->rate, &key);
		}
		if (err) {
			log_warn("rest_failed", "route=\"%s\" err=%d", j->route_key, err);
			finish(j, err, 0, NULL);
			wake = now; /* the handler may have changed the list: start over */
			break;
		}
	}
	if (wake == RATE_AFTER_ANSWER)
		tmr_stop(r->tmr);
	else
		tmr_start_at(r->tmr, wake);
}

static void on_tmr(void *arg)
{
	pump(arg);
}

int rest_alloc(struct rest **out, struct env *env, struct http *http, const char *base,
	       const char *token)
{
	static const char prefix[] = "Authorization: Bot ";
	struct rest *r;
	size_t n;
	int err = ENOMEM;

	if (!out || !env || !http || !base || !token)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->env = env;
	r->http = http;
	r->base = strdup(base);
	n = sizeof prefix + strlen(token);
	r->auth = calloc(1, n);
	if (!r->base || !r->auth)
		goto out;
	snprintf(r->auth, n, "%s%s", prefix, token);
	err = rate_alloc(&r->rate);
	if (!err)
		err = tmr_alloc(&r->tmr, env, on_tmr, r);
out:
	if (err)
		rest_free(r);
	else
		*out = r;
	return err;
}

struct rest *rest_free(struct rest *r)
{
	if (!r)
		return NULL;
	r->refused = true; /* calls made by handlers are refused */
	finish_all(r, ECANCELED, 0);
	tmr_free(r->tmr);
	rate_free(r->rate);
	if (r->auth)
		explicit_bzero(r->auth, strlen(r->auth));
	free(r->auth);
	free(r->base);
	free(r);
	return NULL;
}

/* RFC 7578. Nobody can guess the boundary, so no file holds it. */
static int write_form(struct job *j, const struct rest_call *call, const char *json)
{
	uint8_t bits[12];
	char boundary[2 * sizeof bits + 1];

	env_random(j->rest->env, bits, sizeof bits);
	for (size_t i = 0; i < sizeof bits; i++)
		snprintf(boundary + 2 * i, 3, "%02x", bits[i]);
	snprintf(j->type, sizeof j->type, "Content-Type: multipart/form-data; boundary=%s",
		 boundary);
	if (asprintf(
		    &j->body,
		    "--%s\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n"
		    "Content-Type: application/json\r\n\r\n%s\r\n"
		    "--%s\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"%s\"\r\n"
		    "Content-Type: %s\r\n\r\n%s\r\n--%s--\r\n",
		    boundary, json, boundary, call->file_name,
		    call->file_type ? call->file_type : "application/json", call->file,
		    boundary) >= 0)
		return 0;
	j->body = NULL;
	return ENOMEM;
}

static int write_body(struct job *j, const struct rest_call *call)
{
	char *json = call->body ? json_dumps(call->body, JSON_COMPACT) : NULL;
	int err = 0;

	if (!call->body)
		return 0;
	if (!json)
		return ENOMEM;
	if (call->file_name) {
		err = write_form(j, call, json);
		free(json);
	} else {
		snprintf(j->type, sizeof j->type, "Content-Type: application/json");
		j->body = json;
	}
	return err;
}

int rest_request(struct rest *r, const struct rest_call *call, rest_h *h, void *arg)
{
	struct job *j, **tail;
	size_t n = strlen(call->method) + strlen(call->route) + 2;

	if (r->refused)
		return EACCES;
	if (r->n_jobs >= (call->spare ? QUEUE_SPARE : QUEUE_MAX))
		return ENOBUFS;
	j = calloc(1, sizeof *j);
	if (!j)
		return ENOMEM;
	j->rest = r;
	j->idempotent = call->idempotent;
	j->interaction = call->interaction;
	j->ordered = call->ordered;
	j->h = h;
	j->arg = arg;
	j->method = strdup(call->method);
	j->path = strdup(call->path);
	j->major = strdup(call->major ? call->major : "");
	j->route_key = malloc(n);
	if (!j->method || !j->path || !j->major || !j->route_key || write_body(j, call)) {
		job_free(j);
		return ENOMEM;
	}
	snprintf(j->route_key, n, "%s %s", call->method, call->route);
	for (tail = &r->jobs; *tail; tail = &(*tail)->next)
		;
	*tail = j;
	r->n_jobs++;
	/* The timer sends it, so that no handler runs inside this call. */
	tmr_start(r->tmr, 0);
	return 0;
}

bool rest_withdraw(struct rest *r, rest_h *h, const void *arg)
{
	for (struct job *j = r->jobs; j; j = j->next)
		if (j->h == h && j->arg == arg && !j->req && !j->may_be_done) {
			unlink_job(r, j);
			job_free(j);
			return true;
		}
	return false;
}

bool rest_refused(const struct rest *r)
{
	return r->refused;
}
