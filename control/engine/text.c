/* The engine of text models: streamed answers with calls of tools, and answers of one word. A shell
 * around one row of control/dialect/text.h.
 *
 * Each ask carries its instructions and history. With the option `store`, a provider whose dialect
 * allows it keeps the conversation: an ask that continues the last answer sends only the messages
 * after it. Whether it does is found by comparing what was said; anything else, as an answer that
 * was cut, sends all of it. Cancelling closes the connection, on which servers stop generating, and
 * clears the slot of a local server that offers it. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/sse.h"
#include "control/dialect/text.h"
#include "control/engine/exchange.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/fnv.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum { STREAM_MAX = 8 << 20, LONGEST_MS = 120000, AT_ONCE = 16, LINE_MAX_BYTES = 16384 };

/* A hash of an answer. Blanks and directives ("[[TO: …]]") do not count, since the history keeps
 * answers without them. */
struct said {
	uint64_t hash;
	unsigned open; /* brackets of a directive */
};

/* The answer that the next ask may continue. */
struct kept {
	char id[TEXT_ID_MAX]; /* "": none */
	uint64_t said;	      /* of the messages up to it */
	size_t n;	      /* of these messages */
};

struct text {
	struct env *env;
	struct endpoint *endpoint;
	const struct text_dialect *dialect;
	struct text_options options;
	struct exchanges jobs;
	struct kept kept;
};

/* An ask under way. */
struct job {
	struct exchange x; /* first */
	struct text *t;
	struct sse sse;
	struct text_stream stream;
	bool whole;	  /* the answer does not come in a stream */
	bool told;	  /* an event of it */
	struct said said; /* the messages, then the answer */
	size_t n;
	struct engine_ask *again; /* the ask that was sent as a continuation; NULL otherwise */
};

static void clear_job(struct exchange *x)
{
	struct job *j = (struct job *)x;

	sse_clear(&j->sse);
	text_stream_clear(&j->stream);
	engine_ask_free(j->again);
}

/* ---- what was said ---- */

static void add_said(struct said *s, const void *text, size_t n)
{
	const char *p = text;

	for (size_t i = 0; i < n; i++) {
		bool blank = p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t';

		if (p[i] == '[' && i + 1 < n && p[i + 1] == '[')
			s->open = 2;
		if (!blank && !s->open)
			s->hash = fnv_value(s->hash, (uint8_t)p[i]);
		if (s->open && p[i] == ']')
			s->open--;
	}
}

static void add_role(struct said *s, enum engine_speaker role)
{
	s->open = 0;
	s->hash = fnv_value(s->hash, 0x100u + role);
}

static void add_message(struct said *s, const struct engine_message *m)
{
	add_role(s, m->role);
	if (m->role == ENGINE_USER && *m->speaker) {
		add_said(s, "[", 1);
		add_said(s, m->speaker, strlen(m->speaker));
		add_said(s, "]:", 2);
	}
	add_said(s, m->text, strlen(m->text));
	for (size_t i = 0; i < m->n_images; i++)
		s->hash = fnv_bytes(s->hash, m->images[i].data.p, m->images[i].data.n);
}

/* Returns the number of messages that the provider knows already, with the answer that it keeps. */
static size_t count_known(const struct text *t, const struct engine_ask *ask)
{
	struct said s = {0};

	if (!*t->kept.id || ask->one_word || t->kept.n >= ask->n)
		return 0;
	for (size_t i = 0; i < t->kept.n; i++)
		add_message(&s, &ask->messages[i]);
	return s.hash == t->kept.said ? t->kept.n : 0;
}

static void keep_answer(struct text *t, const struct job *j)
{
	if (j->whole || !t->options.store || !t->dialect->continues || !*j->stream.response ||
	    j->stream.n_calls)
		return;
	memcpy(t->kept.id, j->stream.response, sizeof t->kept.id);
	t->kept.said = j->said.hash;
	t->kept.n = j->n + 1;
}

/* ---- what comes back ---- */

/* The provider searches by itself. */
static void put_search(struct engine_event *ev, const struct text_fact *f)
{
	ev->type = f->type == TEXT_SEARCHED ? ENGINE_SEARCHED
		   : f->type == TEXT_SOURCE ? ENGINE_SOURCE
					    : ENGINE_SEARCH_BEGAN;
	ev->failed = f->failed;
	ev->title = f->title;
}

static bool take_fact(const struct text_fact *f, void *arg)
{
	struct job *j = arg;
	struct engine_event ev = {.data = f->text};

	switch (f->type) {
	case TEXT_WORDS:
		ev.type = ENGINE_WORDS;
		add_said(&j->said, f->text.p, f->text.n);
		break;
	case TEXT_CALL:
		ev.type = ENGINE_TOOL_CALL;
		ev.call = f->call;
		ev.tool = f->tool;
		ev.session = j->x.ask;
		ev.too_large = f->too_large;
		break;
	case TEXT_SEARCH_BEGAN:
	case TEXT_SEARCHED:
	case TEXT_SOURCE:
		put_search(&ev, f);
		break;
	case TEXT_USAGE:
		ev.type = ENGINE_USAGE;
		ev.usage = f->usage;
		break;
	case TEXT_DONE:
		ev.type = ENGINE_DONE;
		ev.end = f->end;
		keep_answer(j->t, j);
		break;
	case TEXT_FAILED:
		ev.type = ENGINE_FAILED;
		break;
	case TEXT_CALL_START:
	case TEXT_CALL_MORE:
		return true;
	}
	j->told = true;
	exchange_tell(&j->x, &ev);
	return !j->x.over;
}

static bool take_data(const uint8_t *data, size_t n, void *arg)
{
	struct job *j = arg;
	int err = text_stream_read(&j->stream, j->t->dialect, data, n, take_fact, j);

	if (err == EBADMSG)
		log_debug("text_malformed", "ask=%u bytes=%zu", j->x.ask, n);
	return !j->x.over;
}

static void take_part(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;
	int err;

	exchange_enter(&j->x);
	err = sse_feed(&j->sse, resp->body.p, resp->body.n, take_data, j);
	if (err && !j->x.over)
		exchange_fail(&j->x, strerror(err), strlen(strerror(err)));
	exchange_leave(&j->x);
}

static void read_whole(struct job *j, const struct http_resp *resp)
{
	int err = text_stream_read(&j->stream, j->t->dialect, (const uint8_t *)resp->body.p,
				   resp->body.n, take_fact, j);

	if (err && err != ECANCELED)
		exchange_fail(&j->x, "malformed", 9);
}

static int post(struct job *j, const struct engine_ask *ask, size_t known);

/* The provider no longer has the answer that this continues: it is sent everything, once. */
static bool ask_all(struct job *j, const struct http_resp *resp)
{
	struct engine_ask *ask;
	int err;

	if (!j->again || j->told || resp->err || (resp->status != 400 && resp->status != 404))
		return false;
	log_debug("text_not_kept", "ask=%u status=%d", j->x.ask, resp->status);
	j->t->kept = (struct kept){0};
	ask = j->again;
	j->again = NULL;
	err = post(j, ask, 0);
	engine_ask_free(ask);
	return !err;
}

static void end_job(const struct http_resp *resp, void *arg)
{
	struct job *j = arg;

	exchange_enter_last(&j->x);
	if (!resp->err && resp->status / 100 == 2) {
		if (j->whole)
			read_whole(j, resp);
		if (!j->x.over)
			text_stream_end(&j->stream, take_fact, j);
	} else if (!ask_all(j, resp)) {
		exchange_fail_response(&j->x, resp);
	}
	exchange_leave_last(&j->x);
}

/* ---- asks ---- */

static uint32_t time_left_ms(const struct text *t, const struct engine_ask *ask)
{
	uint64_t now = env_now(t->env), ms = LONGEST_MS;

	if (ask->deadline)
		ms = ask->deadline > now ? (ask->deadline - now) / NS_PER_MS : 1;
	return ms < 1 ? 1 : ms > LONGEST_MS ? LONGEST_MS : (uint32_t)ms;
}

static int post(struct job *j, const struct engine_ask *ask, size_t known)
{
	struct text *t = j->t;
	char *body = t->dialect->build(&(struct text_request){.ask = ask,
							      .options = &t->options,
							      .from = known,
							      .previous = known ? t->kept.id : "",
							      .stream = !j->whole});
	struct endpoint_call call = {.endpoint = t->dialect->path,
				     .type = "Content-Type: application/json",
				     .body = body,
				     .n = body ? strlen(body) : 0,
				     .ms = time_left_ms(t, ask),
				     .max_body = j->whole ? TEXT_EVENT_MAX : STREAM_MAX,
				     .parth = j->whole ? NULL : take_part,
				     .h = end_job};
	int err;

	if (!body) {
		if (!j->x.list) {
			clear_job(&j->x);
			free(j);
		}
		return ENOMEM;
	}
	err = exchange_post(&t->jobs, &j->x, t->endpoint, &call);
	/* It may hold pictures. */
	explicit_bzero(body, call.n);
	free(body);
	return err;
}

static int text_ask(void *engine, const struct engine_ask *ask)
{
	struct text *t = engine;
	size_t known = count_known(t, ask);
	struct job *j;
	int err;

	if (t->jobs.n >= AT_ONCE)
		return EBUSY;
	if (!ask->n || ask->n > ENGINE_MESSAGES_MAX)
		return EINVAL;
	j = calloc(1, sizeof *j);
	if (!j)
		return ENOMEM;
	j->t = t;
	j->x.ask = j->stream.ask = ask->id;
	j->whole = ask->one_word;
	j->n = ask->n;
	for (size_t i = 0; i < ask->n; i++)
		add_message(&j->said, &ask->messages[i]);
	add_role(&j->said, ENGINE_ASSISTANT);
	err = known ? engine_ask_copy(&j->again, ask) : 0;
	if (err) {
		free(j);
		return err;
	}
	return post(j, ask, known);
}

static void text_cancel(void *engine, uint32_t ask)
{
	struct text *t = engine;
	const char *method;
	char path[64];

	if (exchange_cancel(&t->jobs, ask) &&
	    text_slot_cancel(&t->options, &method, path, sizeof path))
		endpoint_notify(t->endpoint, method, path);
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

	if (!t)
		return;
	exchanges_clear(&t->jobs);
	endpoint_free(t->endpoint);
	free(t);
}

static int text_alloc(void **out, const struct engine_conf *conf)
{
	struct text *t;
	int err;

	if (!conf->env || !conf->http || !conf->http_url || !conf->h ||
	    !engine_text_dialect(conf->caps->dialect))
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = conf->env;
	t->jobs = (struct exchanges){
		.most = AT_ONCE, .h = conf->h, .arg = conf->arg, .clearh = clear_job};
	t->dialect = engine_text_dialect(conf->caps->dialect);
	text_options_parse(&t->options, conf->options ? conf->options : "");
	err = endpoint_of_text(&t->endpoint, conf->http, t->dialect, &t->options, conf->http_url,
			       conf->key);
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
