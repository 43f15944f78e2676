/* The engine of embeddings over HTTP: the messages of an ask are texts, and ENGINE_VECTORS has one
 * vector for each. A shell around control/dialect/embeddings.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/embeddings.h"
#include "control/dialect/openai_http.h"
#include "control/engine/exchange.h"

enum { LONGEST_MS = 30000, AT_ONCE = 4 };

/* A request that is under way. */
struct batch {
	struct exchange x; /* first */
	size_t n;	   /* texts */
};

struct embed {
	struct endpoint *endpoint;
	unsigned dimensions; /* 0: as the model likes */
	struct exchanges batches;
};

static void tell_vectors(struct batch *b, const struct embeddings *e)
{
	exchange_tell(&b->x, &(struct engine_event){.type = ENGINE_USAGE, .usage = &e->usage});
	exchange_tell(&b->x, &(struct engine_event){.type = ENGINE_VECTORS,
						    .dim = e->dim,
						    .data = {(const uint8_t *)e->v,
							     e->n * e->dim * sizeof *e->v}});
	exchange_tell(&b->x, &(struct engine_event){.type = ENGINE_DONE});
}

static void end_batch(const struct http_resp *resp, void *arg)
{
	struct embeddings e = {0};
	struct batch *b = arg;
	int err = 0;

	exchange_enter_last(&b->x);
	if (resp->err || resp->status / 100 != 2) {
		exchange_fail_response(&b->x, resp);
	} else if ((err = embeddings_read(
			    &e, b->n,
			    (struct slice){(const uint8_t *)resp->body.p, resp->body.n})) != 0) {
		const char *text = err == ENOMEM ? "out of memory" : "no vectors in the answer";

		exchange_fail(&b->x, text, strlen(text));
	} else {
		tell_vectors(b, &e);
	}
	embeddings_clear(&e);
	exchange_leave_last(&b->x);
}

static int embed_ask(void *engine, const struct engine_ask *ask)
{
	struct endpoint_call call = {.type = "Content-Type: application/json",
				     .endpoint = "embeddings",
				     .ms = LONGEST_MS,
				     .max_body = EMBEDDINGS_ANSWER_MAX,
				     .h = end_batch};
	const char *texts[ENGINE_MESSAGES_MAX];
	struct embed *t = engine;
	const struct embeddings_query query = {ask->model, t->dimensions, texts, ask->n};
	struct batch *b;
	char *body = NULL;
	int err;

	if (t->batches.n >= AT_ONCE)
		return EBUSY;
	for (size_t i = 0; i < ask->n; i++)
		texts[i] = ask->messages[i].text;
	err = embeddings_build(&body, &query);
	if (err)
		return err;
	b = calloc(1, sizeof *b);
	if (!b) {
		free(body);
		return ENOMEM;
	}
	b->x.ask = ask->id;
	b->n = ask->n;
	call.body = body;
	call.n = strlen(body);
	err = exchange_post(&t->batches, &b->x, t->endpoint, &call);
	free(body);
	return err;
}

static void embed_cancel(void *engine, uint32_t ask)
{
	struct embed *t = engine;

	exchange_cancel(&t->batches, ask);
}

static int embed_rekey(void *engine, const char *key)
{
	struct embed *t = engine;

	return endpoint_rekey(t->endpoint, key);
}

static void embed_free(void *engine)
{
	struct embed *t = engine;

	if (!t)
		return;
	exchanges_clear(&t->batches);
	endpoint_free(t->endpoint);
	free(t);
}

static int embed_alloc(void **out, const struct engine_conf *conf)
{
	const struct endpoint_conf endpoint = {
		.http = conf->http, .base = conf->http_url, .key = conf->key};
	unsigned dimensions = 0;
	struct embed *t;
	int err;

	if (!conf->http || !conf->http_url || !conf->h ||
	    embeddings_read_options(&dimensions, conf->options ? conf->options : ""))
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->dimensions = dimensions;
	t->batches = (struct exchanges){.most = AT_ONCE, .h = conf->h, .arg = conf->arg};
	err = endpoint_alloc(&t->endpoint, &endpoint);
	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

const struct engine_ops engine_embed = {.alloc = embed_alloc,
					.free = embed_free,
					.rekey = embed_rekey,
					.ask = embed_ask,
					.cancel = embed_cancel};
