/* The engine of text models: streamed answers, and answers of one word. A shell around
 * control/dialect (POST chat/completions).
 *
 * It keeps no conversation: each ask carries its instructions and history. Cancelling closes the
 * connection, on which servers stop generating. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/sse.h"
#include "control/engine/endpoint.h"
#include "control/engine/engine.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum { STREAM_MAX = 8 << 20, LONGEST_MS = 120000, AT_ONCE = 16, LINE_MAX_BYTES = 16384 };

/* An ask under way. */
struct job {
	struct job *next;
	struct text *t;
	uint32_t ask;
	bool words;  /* text came, or the server said that there is none */
	bool over;   /* no further event of it */
	bool inside; /* of a handler: freed when that returns */
	struct sse sse;
	struct http_req *req; /* NULL: answered or cancelled */
};

struct text {
	struct env *env;
	struct endpoint *endpoint;
	engine_h *h;
	void *arg;
	struct job *jobs;
	unsigned n_jobs;
};

static void job_free(struct job *j)
{
	for (struct job **at = &j->t->jobs; *at; at = &(*at)->next)
		if (*at == j) {
			*at = j->next;
			j->t->n_jobs--;
			break;
		}
	sse_clear(&j->sse);
	free(j);
}

/* Closes its connection; no further event of it comes. */
static void job_cancel(struct job *j)
{
	j->over = true;
	if (j->req)
		http_req_cancel(j->req);
	j->req = NULL;
	if (!j->inside)
		job_free(j);
}

static void tell_job(struct job *j, enum engine_event_type type, const void *data, size_t n)
{
	struct engine_event ev = {.type = type, .ask = j->ask, .data = {data, n}};

	if (type != ENGINE_WORDS)
		j->over = true;
	if (type == ENGINE_FAILED)
		ev.trouble = engine_trouble(data, n);
	j->t->h(&ev, j->t->arg);
}

/* ---- a stream ---- */

static bool take_data(const uint8_t *data, size_t n, void *arg)
{
	struct job *j = arg;
	struct openai_chunk c;

	if (openai_chunk(&c, data, n)) {
		log_debug("text_malformed", "ask=%u bytes=%zu", j->ask, n);
		return true;
	}
	j->words = j->words || c.finished || c.said == OPENAI_SAID_WORDS;
	if (c.said == OPENAI_SAID_WORDS)
		tell_job(j, ENGINE_WORDS, c.text.p, c.text.n);
	else if (c.said == OPENAI_SAID_WRONG)
		tell_job(j, ENGINE_FAILED, c.text.p, c.text.n);
	openai_chunk_clear(&c);
	return !j->over;
}

static void take_part(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	int err;

	j->inside = true;
	err = sse_feed(&j->sse, resp->body.p, resp->body.n, take_data, j);
	if (err && !j->over)
		tell_job(j, ENGINE_FAILED, strerror(err), strlen(strerror(err)));
	j->inside = false;
	if (j->over)
		job_cancel(j);
}

static void end_stream(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	char why[OPENAI_WHY_MAX];

	j->req = NULL;
	j->inside = true;
	/* Not all servers mark the last word. */
	if (!resp->err && resp->status / 100 == 2 && j->words) {
		tell_job(j, ENGINE_DONE, "", 0);
	} else if (!resp->err && resp->status / 100 == 2) {
		tell_job(j, ENGINE_FAILED, "the answer was empty", 20);
	} else {
		endpoint_why(resp, why, sizeof why);
		tell_job(j, ENGINE_FAILED, why, strlen(why));
	}
	job_free(j);
}

/* ---- an answer that comes whole ---- */

static void read_whole(struct job *j, const struct http_resp *resp)
{
	struct openai_chunk c;

	if (openai_chunk(&c, (const uint8_t *)resp->body.p, resp->body.n)) {
		tell_job(j, ENGINE_FAILED, "malformed", 9);
		return;
	}
	if (c.said == OPENAI_SAID_WORDS) {
		tell_job(j, ENGINE_WORDS, c.text.p, c.text.n);
		if (!j->over)
			tell_job(j, ENGINE_DONE, "", 0);
	} else {
		tell_job(j, ENGINE_FAILED, c.text.p, c.text.n);
	}
	openai_chunk_clear(&c);
}

static void end_whole(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	char why[OPENAI_WHY_MAX];

	j->req = NULL;
	j->inside = true;
	if (!resp->err && resp->status / 100 == 2) {
		read_whole(j, resp);
	} else {
		endpoint_why(resp, why, sizeof why);
		tell_job(j, ENGINE_FAILED, why, strlen(why));
	}
	job_free(j);
}

/* ---- asks ---- */

/* The text of a request. NULL without memory. */
static char *build_body(const struct engine_ask *ask)
{
	struct openai_line lines[ENGINE_MESSAGES_MAX];
	char *text = malloc(ask->n * LINE_MAX_BYTES), *body = NULL;

	for (size_t i = 0; text && i < ask->n; i++) {
		char *line = text + i * LINE_MAX_BYTES;

		engine_message_line(&ask->messages[i], line, LINE_MAX_BYTES);
		lines[i] = (struct openai_line){ask->messages[i].role == ENGINE_ASSISTANT, line};
	}
	if (text)
		body = openai_chat(&(struct openai_chat){.model = ask->model,
							 .system = ask->instructions,
							 .lines = lines,
							 .n = ask->n,
							 .one_word = ask->one_word,
							 .stream = !ask->one_word});
	free(text);
	return body;
}

static uint32_t time_left_ms(const struct text *t, const struct engine_ask *ask)
{
	uint64_t now = env_now(t->env), ms = LONGEST_MS;

	if (ask->deadline)
		ms = ask->deadline > now ? (ask->deadline - now) / NS_PER_MS : 1;
	return ms < 1 ? 1 : ms > LONGEST_MS ? LONGEST_MS : (uint32_t)ms;
}

static int post(struct text *t, const struct engine_ask *ask, const char *body)
{
	struct endpoint_call call = {.endpoint = "chat/completions",
				     .type = "Content-Type: application/json",
				     .body = body,
				     .n = strlen(body),
				     .ms = time_left_ms(t, ask),
				     .max_body = ask->one_word ? OPENAI_ANSWER_MAX : STREAM_MAX,
				     .parth = ask->one_word ? NULL : take_part,
				     .h = ask->one_word ? end_whole : end_stream};
	struct job *j = calloc(1, sizeof *j);
	int err;

	if (!j)
		return ENOMEM;
	j->t = t;
	j->ask = ask->id;
	j->next = t->jobs;
	t->jobs = j;
	t->n_jobs++;
	call.arg = j;
	err = endpoint_post(t->endpoint, &call, &j->req);
	if (err)
		job_free(j);
	return err;
}

static int text_ask(void *engine, const struct engine_ask *ask)
{
	struct text *t = engine;
	char *body;
	int err;

	if (t->n_jobs >= AT_ONCE)
		return EBUSY;
	if (!ask->n || ask->n > ENGINE_MESSAGES_MAX)
		return EINVAL;
	body = build_body(ask);
	err = body ? post(t, ask, body) : ENOMEM;
	free(body);
	return err;
}

static void text_cancel(void *engine, uint32_t ask)
{
	struct text *t = engine;
	struct job *next;

	for (struct job *j = t->jobs; j; j = next) {
		next = j->next;
		if (j->ask == ask && !j->over)
			job_cancel(j);
	}
}

/* ---- coming and going ---- */

static int text_rekey(void *engine, const char *key)
{
	struct text *t = engine;

	return endpoint_rekey(t->endpoint, key);
}

static void text_free(void *engine)
{
	struct text *t = engine;
	struct job *j;

	if (!t)
		return;
	while ((j = t->jobs) != NULL) {
		t->jobs = j->next;
		job_cancel(j);
	}
	endpoint_free(t->endpoint);
	free(t);
}

static int text_alloc(void **out, const struct engine_conf *conf)
{
	struct text *t;
	int err;

	if (!conf->env || !conf->http || !conf->http_url || !conf->h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = conf->env;
	t->h = conf->h;
	t->arg = conf->arg;
	err = endpoint_alloc(&t->endpoint, conf->http, conf->http_url, conf->key);
	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

const struct engine_ops engine_text = {.alloc = text_alloc,
				       .free = text_free,
				       .rekey = text_rekey,
				       .ask = text_ask,
				       .cancel = text_cancel};
