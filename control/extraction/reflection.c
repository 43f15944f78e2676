#include "control/extraction/reflection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/engine/model_conf.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/extraction/extraction.h"
#include "control/extraction/spending.h"
#include "control/memory/calendar.h"
#include "control/memory/reflect.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"

#define HOUR_MS INT64_C(3600000)

enum { ANSWER_BYTES = 16 << 10, ANSWER_TOKENS = 1500 };

enum state { IDLE, READING, ASKED, WRITING };

struct reflection {
	struct model_conf conf;
	struct spending *spending;
	struct roles *roles; /* NULL until the first request */
	enum state state;
	int64_t day, done; /* under way, and done: numbers of days */
	uint64_t asked_at, again_at;
	unsigned failures; /* answers to these pairs that were none */
	unsigned outage;   /* how often none came, one after the other */
	json_t *read;	   /* the pairs as the store gave them; NULL: none */
	uint64_t guild, owner, user, mark;
	size_t n;
	struct reflect_pair pair[REFLECT_PAIRS]; /* borrows its texts from read */
	char answer[ANSWER_BYTES];
	size_t answer_n;
};

static void begin_pairs(struct reflection *r);

static void clear_pairs(struct reflection *r)
{
	json_decref(r->read);
	r->read = NULL;
	r->n = r->answer_n = 0;
	r->state = IDLE;
}

/* ---- writing ---- */

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void tell_written(const struct reflection *r, const json_t *done)
{
	struct bus_event ev = {
		.type = EVENT_MEMORY_WRITTEN, .at_ms = env_wall_ms(r->conf.env), .guild = r->guild};

	ev.memory = (struct event_memory){.source = "reflected",
					  .updated = number_of(done, "updated"),
					  .duplicate = number_of(done, "merged"),
					  .refused = number_of(done, "conflicts")};
	if (ev.memory.updated + ev.memory.duplicate + ev.memory.refused)
		bus_publish(r->conf.bus, &ev);
}

static void take_written(int err, const struct store_document *document, void *arg)
{
	struct reflection *r = arg;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);

	if (done)
		tell_written(r, done);
	json_decref(done);
	if (err)
		log_warn("reflection_not_written", "error=\"%s\"", strerror(err));
	clear_pairs(r);
	r->failures = 0;
	if (!err)
		begin_pairs(r);
}

static json_t *decisions_json(const struct reflection *r, const struct reflect_result *result)
{
	json_t *list = json_array();

	for (size_t i = 0; result && i < r->n; i++)
		json_array_append_new(list, json_pack("{s:I,s:I,s:s}", "older",
						      (json_int_t)r->pair[i].older, "newer",
						      (json_int_t)r->pair[i].newer, "relation",
						      reflect_relation_name(result->relation[i])));
	return json_pack("{s:o}", "pairs", list);
}

/* NULL: nothing is decided about these pairs, and they are not given again. */
static void write_decisions(struct reflection *r, const struct reflect_result *result)
{
	struct store_decisions what = {
		.guild = r->guild, .owner = r->owner, .user = r->user, .mark = r->mark};
	json_t *decisions = decisions_json(r, result);
	char *request = decisions ? json_dumps(decisions, JSON_COMPACT) : NULL;

	r->state = WRITING;
	what.request = request;
	if (!request || store_end_pairs(r->conf.store, &what, take_written, r))
		clear_pairs(r);
	free(request);
	json_decref(decisions);
}

/* ---- asking ---- */

static bool may_tell(const struct reflection *r)
{
	return !r->conf.allowsh || r->conf.allowsh(r->guild, r->user, r->conf.arg);
}

static void fail_pairs(struct reflection *r, const char *why)
{
	log_warn("reflection_failed", "guild=%llu why=\"%s\"", (unsigned long long)r->guild, why);
	if (++r->failures >= EXTRACTION_TRIES)
		write_decisions(r, NULL);
	else
		clear_pairs(r);
}

/* The provider is away: nobody is asked for a minute, then twice as long each time. */
static void lose_answer(struct reflection *r, const char *why)
{
	unsigned doubled = r->outage < EXTRACTION_DOUBLED ? r->outage++ : EXTRACTION_DOUBLED;

	log_warn("reflection_failed", "guild=%llu why=\"%s\"", (unsigned long long)r->guild, why);
	r->again_at = env_now(r->conf.env) + (EXTRACTION_CHECK_S * NS_PER_S << doubled);
	clear_pairs(r);
}

static void read_answer(struct reflection *r)
{
	struct reflect_result result;

	r->answer[r->answer_n] = '\0';
	r->outage = 0;
	if (!reflect_read(r->answer, r->pair, r->n, &result)) {
		fail_pairs(r, "the answer is no result");
		return;
	}
	log_info("reflected", "guild=%llu pairs=%zu refused=%u", (unsigned long long)r->guild, r->n,
		 result.refused);
	/* The author may have withdrawn while the model read. */
	write_decisions(r, may_tell(r) ? &result : NULL);
}

static void take_event(const struct roles_event *ev, void *arg)
{
	const struct engine_event *e = ev->engine;
	struct reflection *r = arg;

	if (e->type == ENGINE_USAGE)
		spending_count(r->spending, r->guild, 0, ev);
	if (r->state != ASKED)
		return;
	if (e->type == ENGINE_WORDS && e->data.n < ANSWER_BYTES - r->answer_n) {
		memcpy(r->answer + r->answer_n, e->data.p, e->data.n);
		r->answer_n += e->data.n;
	} else if (e->type == ENGINE_DONE) {
		read_answer(r);
	} else if (e->type == ENGINE_FAILED) {
		lose_answer(r, "the model failed");
	}
}

/* Opens nothing but what is asked. */
static int open_roles(struct reflection *r)
{
	const struct roles_conf rc = {.env = r->conf.env,
				      .ws = r->conf.ws,
				      .http = r->conf.http,
				      .settings = r->conf.settings,
				      .idle = true,
				      .h = take_event,
				      .arg = r};

	return r->roles ? 0 : roles_alloc(&r->roles, &rc);
}

/* Its days, which the model is told. */
static int64_t offset_of_server(const struct reflection *r)
{
	char zone[sizeof r->conf.settings->time_zone] = "";

	if (r->conf.zoneh)
		r->conf.zoneh(r->guild, zone, sizeof zone, r->conf.arg);
	return env_utc_offset(r->conf.env, zone);
}

static void ask_model(struct reflection *r)
{
	char *request = reflect_request(r->pair, r->n, offset_of_server(r));
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = request};
	int err = request ? open_roles(r) : ENOMEM;

	if (err) {
		fail_pairs(r, strerror(err));
	} else {
		r->state = ASKED;
		r->asked_at = env_now(r->conf.env);
		roles_ask(r->roles, ENGINE_USE_SUMMARY, 0,
			  &(struct engine_ask){.instructions = PROMPT_REFLECT,
					       .answer_schema = reflect_schema,
					       .purpose = PURPOSE_MEMORY,
					       .output_tokens = ANSWER_TOKENS,
					       .messages = &message,
					       .n = 1});
	}
	free(request);
}

/* ---- reading ---- */

static void read_pair(struct reflection *r, const json_t *pair)
{
	struct reflect_pair p = {.older = number_of(pair, "older"),
				 .newer = number_of(pair, "newer"),
				 .older_ms = number_of(pair, "older_ms"),
				 .newer_ms = number_of(pair, "newer_ms"),
				 .was = json_string_value(json_object_get(pair, "was")),
				 .is = json_string_value(json_object_get(pair, "is"))};

	if (p.was && p.is && r->n < REFLECT_PAIRS)
		r->pair[r->n++] = p;
}

static void read_pairs(struct reflection *r)
{
	const json_t *pair;
	size_t i;

	r->n = 0;
	r->mark = number_of(r->read, "mark");
	r->spending->servers = (unsigned)number_of(r->read, "servers");
	discord_u64(json_string_value(json_object_get(r->read, "guild")), &r->guild);
	discord_u64(json_string_value(json_object_get(r->read, "owner")), &r->owner);
	discord_u64(json_string_value(json_object_get(r->read, "user")), &r->user);
	json_array_foreach(json_object_get(r->read, "pairs"), i, pair)
	{
		read_pair(r, pair);
	}
}

static void take_pairs(int err, const struct store_document *document, void *arg)
{
	struct reflection *r = arg;

	r->read = err ? NULL : json_loads(document->document, 0, NULL);
	if (err == ENOENT)
		r->done = r->day;
	if (!r->read) {
		clear_pairs(r);
		return;
	}
	read_pairs(r);
	if (!r->n) { /* it looked at some, and there are more */
		clear_pairs(r);
		begin_pairs(r);
	} else if (!may_tell(r)) {
		write_decisions(r, NULL);
	} else if (!spending_has_share(r->spending, r->guild)) {
		clear_pairs(r);
		begin_pairs(r);
	} else {
		ask_model(r);
	}
}

/* ---- when it runs ---- */

static bool is_wanted(const struct reflection *r)
{
	const struct settings *s = r->conf.settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_MEMORY, 0);

	return s->memory_reflect && !s->unread && s->memory_days && s->store_words_hours && p &&
	       p->dialect != DIALECT_EMBEDDED && env_now(r->conf.env) >= r->again_at;
}

/* The caller frees it. NULL without memory. */
static char *list_excluded(const struct reflection *r)
{
	json_t *list = json_array();
	char *text;

	spending_list(r->spending, list);
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void begin_pairs(struct reflection *r)
{
	const struct settings *s = r->conf.settings;
	struct store_pairs what = {.most = REFLECT_PAIRS};
	uint64_t now;
	int64_t offset;
	char *without;

	if (!is_wanted(r))
		return;
	now = env_wall_ms(r->conf.env);
	offset = env_utc_offset(r->conf.env, s->time_zone);
	r->day = calendar_day(now, offset, s->memory_reflect_hour);
	if (r->day <= r->done || !spending_has_budget(r->spending, now))
		return;
	what.day = (uint64_t)r->day;
	what.since_ms = (uint64_t)((r->day * 24 + s->memory_reflect_hour) * HOUR_MS -
				   offset * (int64_t)MS_PER_S);
	without = list_excluded(r);
	what.without = without;
	r->state = READING;
	if (!without || store_next_pairs(r->conf.store, &what, take_pairs, r))
		r->state = IDLE;
	free(without);
}

void reflection_check(struct reflection *r)
{
	if (r->state == IDLE) {
		begin_pairs(r);
	} else if (r->state == ASKED &&
		   env_now(r->conf.env) >= r->asked_at + EXTRACTION_ANSWER_S * NS_PER_S) {
		roles_cancel_all(r->roles);
		lose_answer(r, "no answer came");
	}
}

/* Facts may name the person, too. */
void reflection_erase(struct reflection *r)
{
	if (!r || r->state == IDLE)
		return;
	store_forget(r->conf.store, r);
	clear_pairs(r);
	if (r->roles)
		roles_cancel_all(r->roles);
}

int reflection_alloc(struct reflection **out, const struct model_conf *conf,
		     struct spending *spending)
{
	struct reflection *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->conf = *conf;
	r->spending = spending;
	*out = r;
	return 0;
}

struct reflection *reflection_free(struct reflection *r)
{
	if (!r)
		return NULL;
	store_forget(r->conf.store, r);
	roles_free(r->roles);
	json_decref(r->read);
	free(r);
	return NULL;
}
