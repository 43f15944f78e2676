#include "control/embeddings/embeddings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/agent/usage_event.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/memory/vectors.h"
#include "control/engine/model_conf.h"
#include "control/settings/settings.h"
#include "control/store/embedding.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/backoff.h"
#include "proto/base/time.h"

enum { NAME_SIZE = 96, BACKGROUND = 1 /* the turn of probes and batches */ };

enum state { NEW, PROBING, IDLE, READING, ASKED, KEEPING };

/* A question whose search waits in the store. */
struct question {
	uint64_t id; /* 0: free */
	uint32_t turn;
	uint64_t until; /* ns */
};

struct embeddings_client {
	struct model_conf conf;
	struct roles *roles;
	struct tmr *timer, *deadline;
	struct backoff backoff;
	enum state state;
	char model[NAME_SIZE]; /* of the vectors that are kept; "": not known */
	uint32_t dim, turns;
	struct embedding_vectors batch; /* ids of the texts that are out */
	struct {
		uint64_t guild, user; /* 0: nobody's */
	} author[EMBEDDING_SENT_TEXTS];
	struct question question[EMBEDDINGS_QUESTIONS];
};

static const struct backoff_conf rest = {
	.at_once = 0, .first_ms = 5000, .max_ms = 600000, .jitter_ms = 1000};

/* ---- questions ---- */

static void end_question(struct embeddings_client *c, struct question *q, const struct vector *v)
{
	uint64_t id = q->id;

	*q = (struct question){0};
	if (!v)
		log_info("memory_question", "kind=words");
	store_take_meaning(c->conf.store, id, v);
}

static struct question *question_of(struct embeddings_client *c, uint32_t turn)
{
	for (size_t i = 0; i < EMBEDDINGS_QUESTIONS; i++)
		if (c->question[i].id && c->question[i].turn == turn)
			return &c->question[i];
	return NULL;
}

static void set_deadline(struct embeddings_client *c)
{
	uint64_t now = env_now(c->conf.env), first = UINT64_MAX;

	for (size_t i = 0; i < EMBEDDINGS_QUESTIONS; i++)
		if (c->question[i].id && c->question[i].until < first)
			first = c->question[i].until;
	if (first != UINT64_MAX)
		tmr_start(c->deadline, first > now ? first - now : 0);
}

static void on_deadline(void *arg)
{
	struct embeddings_client *c = arg;
	uint64_t now = env_now(c->conf.env);

	for (size_t i = 0; i < EMBEDDINGS_QUESTIONS; i++) {
		struct question *q = &c->question[i];

		if (!q->id || q->until > now)
			continue;
		roles_cancel(c->roles, ENGINE_USE_EMBED, q->turn);
		end_question(c, q, NULL);
	}
	set_deadline(c);
}

static bool has_budget(const struct embeddings_client *c)
{
	return !c->conf.ledger || ledger_state(c->conf.ledger, c->conf.settings, 0,
					       env_wall_ms(c->conf.env)) != LEDGER_SPENT;
}

static void ask_provider(struct embeddings_client *c, uint32_t turn,
			 const struct engine_message *texts, size_t n)
{
	roles_ask(
		c->roles, ENGINE_USE_EMBED, 0,
		&(struct engine_ask){.turn = turn, .instructions = "", .messages = texts, .n = n});
}

/* A store_meaning_h. The ask waits for the next step: the store does not expect an answer inside.
 */
static bool take_question(const struct store_question *question, uint64_t id, void *arg)
{
	const struct engine_message text = {
		.role = ENGINE_USER, .speaker = "", .text = question->words};
	struct embeddings_client *c = arg;
	struct question *q = NULL;
	uint32_t ms = question->wait_ms ? question->wait_ms : EMBEDDINGS_QUESTION_MS;

	for (size_t i = 0; i < EMBEDDINGS_QUESTIONS && !q; i++)
		q = c->question[i].id ? NULL : &c->question[i];
	if (!q || !*c->model || !has_budget(c) ||
	    roles_health(c->roles, ENGINE_USE_EMBED) != ROLES_UP)
		return false;
	*q = (struct question){.turn = ++c->turns, .until = env_now(c->conf.env) + ms * NS_PER_MS};
	ask_provider(c, q->turn, &text, 1);
	/* A failure may have been told at once: then it has no id yet. */
	if (q->until == 0)
		return false;
	q->id = id;
	set_deadline(c);
	return true;
}

/* ---- texts ---- */

static void wait_for_next(struct embeddings_client *c, uint64_t ns)
{
	c->state = *c->model ? IDLE : NEW;
	tmr_start(c->timer, ns);
}

static void fail_batch(struct embeddings_client *c, const char *why)
{
	uint32_t random;
	uint64_t ns;

	env_random(c->conf.env, &random, sizeof random);
	ns = backoff_next(&c->backoff, random);
	log_warn("memory_not_embedded", "why=\"%s\" again_s=%llu", why,
		 (unsigned long long)(ns / NS_PER_S));
	wait_for_next(c, ns);
}

static void take_kept(int err, void *arg)
{
	struct embeddings_client *c = arg;

	if (err) {
		fail_batch(c, strerror(err));
		return;
	}
	backoff_reset(&c->backoff);
	wait_for_next(c, EMBEDDINGS_BATCH_S * NS_PER_S);
}

static bool is_allowed(const struct embeddings_client *c, uint64_t guild, uint64_t user)
{
	return !user || !c->conf.allowsh || c->conf.allowsh(guild, user, c->conf.arg);
}

/* People may change their consent while the provider has their texts. */
static void drop_refused(struct embeddings_client *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->batch.n; i++)
		if (is_allowed(c, c->author[i].guild, c->author[i].user))
			c->batch.v[n++] = c->batch.v[i];
	c->batch.n = n;
}

static void keep_batch(struct embeddings_client *c)
{
	int err;

	drop_refused(c);
	err = store_keep_vectors(c->conf.store, &c->batch, take_kept, c);
	c->state = KEEPING;
	if (err)
		fail_batch(c, strerror(err));
}

/* A line of the bot's may hold words of people who do not agree any more. 0: nobody knows who. */
static bool are_allowed(const struct embeddings_client *c, uint64_t guild, const json_t *people)
{
	const json_t *one;
	size_t i;

	json_array_foreach(people, i, one)
	{
		uint64_t user = (uint64_t)json_integer_value(one);

		if (!user || !is_allowed(c, guild, user))
			return false;
	}
	return true;
}

/* Its row counts as done, with or without a vector. */
static void add_text(struct embeddings_client *c, const json_t *item, struct engine_message *text)
{
	uint64_t guild = (uint64_t)json_integer_value(json_object_get(item, "guild"));
	uint64_t user = (uint64_t)json_integer_value(json_object_get(item, "user"));
	size_t i = c->batch.n;

	if (i == EMBEDDING_SENT_TEXTS || !is_allowed(c, guild, user) ||
	    !are_allowed(c, guild, json_object_get(item, "people")))
		return;
	c->author[i].guild = guild;
	c->author[i].user = user;
	c->batch.v[i].kind = (enum embedding_kind)json_integer_value(json_object_get(item, "kind"));
	c->batch.v[i].id = (uint64_t)json_integer_value(json_object_get(item, "id"));
	text[i] = (struct engine_message){.role = ENGINE_USER,
					  .speaker = "",
					  .text = json_string_value(json_object_get(item, "text"))};
	c->batch.n++;
}

static void take_texts(int err, const struct store_document *document, void *arg)
{
	struct embeddings_client *c = arg;
	struct engine_message text[EMBEDDING_SENT_TEXTS];
	json_t *root = err ? NULL : json_loads(document->document, 0, NULL);
	const json_t *until = json_object_get(root, "until"), *item;
	uint64_t before[2] = {c->batch.until[0], c->batch.until[1]};
	size_t i;

	if (!root) {
		fail_batch(c, err ? strerror(err) : "no list of texts");
		return;
	}
	c->batch.n = 0;
	for (i = 0; i < 2; i++)
		c->batch.until[i] = (uint64_t)json_integer_value(json_array_get(until, i));
	json_array_foreach(json_object_get(root, "texts"), i, item)
	{
		add_text(c, item, text);
	}
	if (c->batch.n) {
		c->state = ASKED;
		ask_provider(c, BACKGROUND, text, c->batch.n);
	} else if (memcmp(before, c->batch.until, sizeof before) != 0) {
		keep_batch(c);
	} else {
		wait_for_next(c, EMBEDDINGS_PAUSE_S * NS_PER_S);
	}
	json_decref(root);
}

/* ---- the provider ---- */

/* The first provider's: vectors of a stand-in with another model are of no use. */
static const char *wanted_model(const struct embeddings_client *c)
{
	const struct settings *s = c->conf.settings;
	const struct provider_record *p = settings_role(s, ROLE_EMBED, 0);

	return p ? settings_model(s, ROLE_EMBED, p) : "";
}

static bool is_of_model(const struct embeddings_client *c, const struct roles_event *ev)
{
	return ev->provider &&
	       strcmp(settings_model(c->conf.settings, ROLE_EMBED, ev->provider),
		      wanted_model(c)) == 0 &&
	       (!c->dim || ev->engine->dim == c->dim);
}

static void read_vector(const struct engine_event *e, size_t i, struct vector *out)
{
	float v[VECTOR_DIM_MAX];

	memcpy(v, e->data.p + i * e->dim * sizeof v[0], e->dim * sizeof v[0]);
	vector_pack(out, v, e->dim);
	explicit_bzero(v, sizeof v);
}

static void take_probe(struct embeddings_client *c, const struct engine_event *e)
{
	char name[NAME_SIZE];
	int err;

	snprintf(name, sizeof name, "%s/%u", wanted_model(c), (unsigned)e->dim);
	err = store_set_encoder(c->conf.store, name);
	if (err) {
		fail_batch(c, strerror(err));
		return;
	}
	memcpy(c->model, name, sizeof name);
	c->dim = e->dim;
	backoff_reset(&c->backoff);
	wait_for_next(c, 0);
}

static void take_vectors(struct embeddings_client *c, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	size_t n = e->dim ? e->data.n / sizeof(float) / e->dim : 0;
	struct question *q = ev->turn == BACKGROUND ? NULL : question_of(c, ev->turn);
	bool fits = n && e->dim <= VECTOR_DIM_MAX && is_of_model(c, ev);
	struct vector v;

	if (ev->turn == BACKGROUND && c->state == PROBING && fits) {
		take_probe(c, e);
	} else if (ev->turn == BACKGROUND && c->state == ASKED && fits && n == c->batch.n) {
		for (size_t i = 0; i < n; i++)
			read_vector(e, i, &c->batch.v[i].vector);
		keep_batch(c);
	} else if (ev->turn == BACKGROUND && (c->state == PROBING || c->state == ASKED)) {
		fail_batch(c, "vectors of another model");
	} else if (q && fits) {
		read_vector(e, 0, &v);
		end_question(c, q, &v);
	} else if (q) {
		end_question(c, q, NULL);
	}
}

static void take_failure(struct embeddings_client *c, const struct roles_event *ev)
{
	struct question *q = question_of(c, ev->turn);

	if (ev->turn == BACKGROUND && (c->state == PROBING || c->state == ASKED))
		fail_batch(c, "the provider failed");
	else if (q)
		end_question(c, q, NULL);
	else
		for (size_t i = 0; i < EMBEDDINGS_QUESTIONS; i++)
			if (c->question[i].turn == ev->turn)
				c->question[i] = (struct question){0};
}

static void count_cost(struct embeddings_client *c, const struct roles_event *ev)
{
	struct bus_event out = {.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(c->conf.env)};

	usage_event_fill(&out.usage, c->conf.settings, ev);
	out.usage.turn = 0;
	if (c->conf.ledger)
		ledger_add(c->conf.ledger, 0, out.usage.nano, out.at_ms);
	bus_publish(c->conf.bus, &out);
}

static void take_event(const struct roles_event *ev, void *arg)
{
	struct embeddings_client *c = arg;

	if (ev->engine->type == ENGINE_USAGE)
		count_cost(c, ev);
	else if (ev->engine->type == ENGINE_VECTORS)
		take_vectors(c, ev);
	else if (ev->engine->type == ENGINE_FAILED)
		take_failure(c, ev);
}

/* ---- the timer ---- */

static void on_timer(void *arg)
{
	static const struct engine_message probe = {
		.role = ENGINE_USER, .speaker = "", .text = "memory"};
	struct embeddings_client *c = arg;

	if (!has_budget(c)) {
		wait_for_next(c, EMBEDDINGS_PAUSE_S * NS_PER_S);
	} else if (c->state == NEW) {
		c->state = PROBING;
		ask_provider(c, BACKGROUND, &probe, 1);
	} else {
		c->state = READING;
		if (store_list_texts(c->conf.store, take_texts, c))
			wait_for_next(c, EMBEDDINGS_PAUSE_S * NS_PER_S);
	}
}

/* The role has no default model. Some servers have only one, and take a request without its name.
 */
static void warn_no_model(const struct settings *s)
{
	const struct provider_record *p = settings_role(s, ROLE_EMBED, 0);

	if (!*settings_model(s, ROLE_EMBED, p))
		log_warn("embeddings_no_model",
			 "provider=\"%s\" hint=\"set model in its line of providers\"", p->name);
}

int embeddings_alloc(struct embeddings_client **out, const struct model_conf *conf)
{
	struct embeddings_client *c;
	struct roles_conf rc = {.env = conf->env,
				.ws = conf->ws,
				.http = conf->http,
				.settings = conf->settings,
				.idle = true,
				.h = take_event};
	int err;

	if (!settings_role(conf->settings, ROLE_EMBED, 0))
		return 0;
	warn_no_model(conf->settings);
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->turns = BACKGROUND;
	c->backoff = backoff_of(&rest);
	rc.arg = c;
	err = roles_alloc(&c->roles, &rc);
	if (!err)
		err = tmr_alloc(&c->timer, conf->env, on_timer, c);
	if (!err)
		err = tmr_alloc(&c->deadline, conf->env, on_deadline, c);
	if (err) {
		embeddings_free(c);
		return err;
	}
	store_ask_meanings(conf->store, take_question, c);
	tmr_start(c->timer, 0);
	*out = c;
	return 0;
}

struct embeddings_client *embeddings_free(struct embeddings_client *c)
{
	if (!c)
		return NULL;
	store_ask_meanings(c->conf.store, NULL, NULL);
	store_forget(c->conf.store, c);
	tmr_free(c->timer);
	tmr_free(c->deadline);
	roles_free(c->roles);
	explicit_bzero(&c->batch, sizeof c->batch);
	free(c);
	return NULL;
}
