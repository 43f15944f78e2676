#include "control/engine/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/sse.h"
#include "control/engine/endpoint.h"
#include "ipc/log.h"

enum { STREAM_MAX = 8 << 20 };

/* A question under way. */
struct job {
	struct job *next;
	struct engine_text *t;
	uint32_t turn;
	bool judge;
	bool words;  /* some came, or the last word that there will be none */
	bool over;   /* nothing more of it is told */
	bool inside; /* of a handler: freed when that returns */
	struct sse sse;
	struct http_req *req; /* NULL: answered, or let go */
};

struct engine_text {
	struct endpoint *provider;
	engine_text_h *h;
	void *arg;
	struct job *jobs;
	unsigned n_jobs;
	char *last; /* the body of what was asked last */
	uint32_t last_turn;
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

/* Its connection is closed; it is told no more. */
static void job_drop(struct job *j)
{
	j->over = true;
	if (j->req)
		http_req_cancel(j->req);
	j->req = NULL;
	if (!j->inside)
		job_free(j);
}

static void tell(struct job *j, enum engine_text_event ev, const char *data, size_t n)
{
	if (ev != ENGINE_TEXT_WORDS)
		j->over = true;
	j->t->h(ev, j->turn, data, n, j->t->arg);
}

/* ---- a stream ---- */

static bool on_data(const uint8_t *data, size_t n, void *arg)
{
	struct job *j = arg;
	struct openai_chunk c;

	if (openai_chunk(&c, data, n)) {
		log_debug("text_malformed", "turn=%u bytes=%zu", j->turn, n);
		return true;
	}
	j->words = j->words || c.finished || c.said == OPENAI_SAID_WORDS;
	if (c.said == OPENAI_SAID_WORDS)
		tell(j, ENGINE_TEXT_WORDS, (const char *)c.text.p, c.text.n);
	else if (c.said == OPENAI_SAID_WRONG)
		tell(j, ENGINE_TEXT_FAILED, (const char *)c.text.p, c.text.n);
	openai_chunk_clear(&c);
	return !j->over;
}

static void on_part(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	int err;

	j->inside = true;
	err = sse_feed(&j->sse, resp->body.p, resp->body.n, on_data, j);
	if (err && !j->over)
		tell(j, ENGINE_TEXT_FAILED, strerror(err), strlen(strerror(err)));
	j->inside = false;
	if (j->over)
		job_drop(j);
}

static void on_streamed(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	char why[OPENAI_WHY_MAX];

	j->req = NULL;
	j->inside = true;
	/* Not all servers say that it was the last word. */
	if (!resp->err && resp->status / 100 == 2 && j->words) {
		tell(j, ENGINE_TEXT_DONE, "", 0);
	} else if (!resp->err && resp->status / 100 == 2) {
		tell(j, ENGINE_TEXT_FAILED, "nothing came", 12);
	} else {
		endpoint_why(resp, why, sizeof why);
		tell(j, ENGINE_TEXT_FAILED, why, strlen(why));
	}
	job_free(j);
}

/* ---- an answer that comes whole ---- */

static void judged(struct job *j, const struct http_resp *resp)
{
	struct openai_chunk c;

	if (openai_chunk(&c, (const uint8_t *)resp->body.p, resp->body.n)) {
		tell(j, ENGINE_TEXT_UNJUDGED, "malformed", 9);
		return;
	}
	tell(j, c.said == OPENAI_SAID_WORDS ? ENGINE_TEXT_JUDGED : ENGINE_TEXT_UNJUDGED,
	     (const char *)c.text.p, c.text.n);
	openai_chunk_clear(&c);
}

static void on_judged(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	char why[OPENAI_WHY_MAX];

	j->req = NULL;
	j->inside = true;
	if (!resp->err && resp->status / 100 == 2) {
		judged(j, resp);
	} else {
		endpoint_why(resp, why, sizeof why);
		tell(j, ENGINE_TEXT_UNJUDGED, why, strlen(why));
	}
	job_free(j);
}

/* ---- questions ---- */

static int post(struct engine_text *t, uint32_t turn, bool judge, const char *body, uint32_t ms)
{
	struct endpoint_call call = {.endpoint = "chat/completions",
				     .type = "Content-Type: application/json",
				     .body = body,
				     .n = strlen(body),
				     .ms = ms,
				     .max_body = judge ? OPENAI_ANSWER_MAX : STREAM_MAX,
				     .parth = judge ? NULL : on_part,
				     .h = judge ? on_judged : on_streamed};
	struct job *j;
	int err;

	if (t->n_jobs >= ENGINE_TEXT_AT_ONCE)
		return EBUSY;
	j = calloc(1, sizeof *j);
	if (!j)
		return ENOMEM;
	j->t = t;
	j->turn = turn;
	j->judge = judge;
	j->next = t->jobs;
	t->jobs = j;
	t->n_jobs++;
	call.arg = j;
	err = endpoint_post(t->provider, &call, &j->req);
	if (err)
		job_free(j);
	return err;
}

int engine_text_ask(struct engine_text *t, const char *model, uint32_t turn, const char *context,
		    const char *line)
{
	char *body = openai_chat(&(struct openai_chat){
		.model = model, .system = context, .user = line, .stream = true});

	if (!body)
		return ENOMEM;
	engine_text_cancel(t, turn);
	free(t->last);
	t->last = body;
	t->last_turn = turn;
	return post(t, turn, false, body, ENGINE_TEXT_MS);
}

int engine_text_again(struct engine_text *t, uint32_t turn)
{
	if (!t->last || t->last_turn != turn)
		return ENOENT;
	engine_text_cancel(t, turn);
	return post(t, turn, false, t->last, ENGINE_TEXT_MS);
}

int engine_text_judge(struct engine_text *t, const char *model, uint32_t turn, const char *prompt,
		      unsigned tokens, uint32_t ms)
{
	char *body = openai_chat(&(struct openai_chat){
		.model = model, .system = "", .user = prompt, .tokens = tokens});
	int err = body ? post(t, turn, true, body, ms) : ENOMEM;

	free(body);
	return err;
}

void engine_text_cancel(struct engine_text *t, uint32_t turn)
{
	struct job *next;

	for (struct job *j = t->jobs; j; j = next) {
		next = j->next;
		if (j->turn == turn && !j->judge && !j->over)
			job_drop(j);
	}
}

int engine_text_alloc(struct engine_text **out, struct endpoint *provider, engine_text_h *h,
		      void *arg)
{
	struct engine_text *t;

	if (!out || !provider || !h)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->provider = provider;
	t->h = h;
	t->arg = arg;
	*out = t;
	return 0;
}

struct engine_text *engine_text_free(struct engine_text *t)
{
	struct job *j;

	if (!t)
		return NULL;
	while ((j = t->jobs) != NULL) {
		t->jobs = j->next;
		job_drop(j);
	}
	free(t->last);
	free(t);
	return NULL;
}
