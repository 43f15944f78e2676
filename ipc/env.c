#include "ipc/env.h"

#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "ipc/scrub.h"
#include "ipc/tmr_queue.h"
#include "ipc/zone_file.h"
#include "proto/base/cursor.h"
#include "proto/base/time.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_SOURCES = 64, DIGEST = 32, SHAPE_TEXT = 1024 };
/* Records in the digests beside enum env_out. */
enum { DIGEST_INPUT = 100, DIGEST_RANDOM, DIGEST_ANSWER, DIGEST_META };

struct source {
	env_input_h *h; /* NULL when free */
	env_shape_h *shapeh;
	void *arg;
	uint32_t next;
};

struct env {
	struct env_conf conf;
	struct event_base *base;
	struct tmr_queue *timers;
	struct zone_files *zones;
	struct source *sources; /* index = id - 1 */
	uint32_t n_sources, cap_sources;
	uint32_t free_id; /* ids given back, newest first, chained by `next` */
	uint64_t now;	  /* of the running step */
	bool in_step;
	bool digesting;
	bool stopping; /* a stop before the run ends it at once */
	bool finished; /* env_finish: nothing is recorded or digested any more */
	crypto_generichash_state digest, shape;
	struct scrub secrets;
	/* replay */
	const struct env_answer_rec *answers;
	size_t n_answers, at_answer;
	bool diverged;
	env_world_h *worldh; /* tests */
	void *world_arg;
	env_clock_h *clockh; /* tests; NULL: CLOCK_MONOTONIC */
	void *clock_arg;
};

static uint64_t mono_ns(const struct env *env)
{
	struct timespec ts;

	if (env->clockh)
		return env->clockh(env->clock_arg);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

static int make_base(struct env *env)
{
	struct event_config *cfg = event_config_new();

	if (!cfg)
		return ENOMEM;
	/* Otherwise a timer counts from the start of the loop turn and fires early. */
	event_config_set_flag(cfg, EVENT_BASE_FLAG_NO_CACHE_TIME);
	event_config_set_max_dispatch_interval(cfg, NULL, 1, ENV_LAST);
	env->base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	if (!env->base || event_base_priority_init(env->base, ENV_PRIORITIES))
		return ENOMEM;
	return tmr_queue_alloc(&env->timers, env);
}

static bool recording(const struct env *env)
{
	return env->conf.journal && !env->finished;
}

/* ---- digests ---- */

/* A record of the digests; data is borrowed. firm: leading bytes that do not depend on a codec. */
struct digest_record {
	uint8_t what, kind;
	uint32_t source;
	uint64_t now;
	const void *data;
	size_t len, firm;
};

static void add_to_digests(struct env *env, const struct digest_record *r)
{
	const void *data = r->data;
	uint8_t head[1 + 1 + 4 + 8 + 8];
	struct wr w = wr_of(head, sizeof head);
	void *clean = NULL;

	if (!env->digesting || env->finished)
		return;
	/* Without memory the digests differ, which will be noticed. */
	if (scrub_copy(&env->secrets, data, r->len, &clean) == 0 && clean)
		data = clean;
	wr_be(&w, r->what, 1);
	wr_be(&w, r->kind, 1);
	wr_be(&w, r->source, 4);
	wr_be(&w, r->now, 8);
	/* The length depends on the codec too. */
	wr_be(&w, r->firm, 8);
	crypto_generichash_update(&env->shape, head, sizeof head);
	crypto_generichash_update(&env->shape, data, r->firm);
	w.pos -= 8;
	wr_be(&w, r->len, 8);
	crypto_generichash_update(&env->digest, head, sizeof head);
	crypto_generichash_update(&env->digest, data, r->len);
	if (clean) /* audio threads call no free */
		free(clean);
}

void env_output_sound(struct env *env, enum env_out kind, uint32_t source, const void *data,
		      size_t len, size_t firm)
{
	add_to_digests(env, &(struct digest_record){.what = (uint8_t)kind,
						    .source = source,
						    .data = data,
						    .len = len,
						    .firm = firm < len ? firm : len});
}

void env_output(struct env *env, enum env_out kind, uint32_t source, const void *data, size_t len)
{
	env_output_sound(env, kind, source, data, len, len);
}

static void digest_hex(const struct env *env, const crypto_generichash_state *of, char hex[65])
{
	crypto_generichash_state st = *of;
	uint8_t sum[DIGEST] = {0};

	if (env->digesting)
		crypto_generichash_final(&st, sum, sizeof sum);
	sodium_bin2hex(hex, 65, sum, sizeof sum);
}

void env_digest(struct env *env, char hex[65])
{
	digest_hex(env, &env->digest, hex);
}

void env_shape(struct env *env, char hex[65])
{
	digest_hex(env, &env->shape, hex);
}

int env_secret(struct env *env, const char *secret)
{
	return scrub_add(&env->secrets, secret);
}

/* ---- life ---- */

int env_alloc(struct env **out, const struct env_conf *conf)
{
	struct env *env;
	int err = 0;

	if (!out || !conf ||
	    (conf->replaying && conf->journal && !journal_of_shapes(conf->journal)))
		return EINVAL;
	if (sodium_init() < 0)
		return EIO;
	/* The hash state needs a stricter alignment than calloc guarantees. */
	env = aligned_alloc(_Alignof(struct env), sizeof *env);
	if (!env)
		return ENOMEM;
	memset(env, 0, sizeof *env);
	env->conf = *conf;
	env->digesting = conf->journal || conf->replaying;
	crypto_generichash_init(&env->digest, NULL, 0, DIGEST);
	crypto_generichash_init(&env->shape, NULL, 0, DIGEST);
	env->cap_sources = conf->loop ? FIRST_SOURCES : ENV_MAX_SOURCES_AUDIO;
	env->sources = calloc(env->cap_sources, sizeof *env->sources);
	if (conf->loop && !conf->replaying)
		env->zones = zone_files_new(ZONE_FILES);
	if (!env->sources || (conf->loop && !conf->replaying && !env->zones))
		err = ENOMEM;
	else if (conf->loop && !conf->replaying)
		err = make_base(env);
	if (err) {
		env_free(env);
		return err;
	}
	if (recording(env) && !conf->replaying)
		env_replay_meta(env, journal_meta_line(conf->journal));
	*out = env;
	return 0;
}

void env_finish(struct env *env)
{
	char hex[65];

	if (recording(env)) {
		env_shape(env, hex);
		journal_write(
			env->conf.journal, env->conf.thread,
			&(struct journal_record){.what = JOURNAL_SHAPE, .data = hex, .len = 64});
		env_digest(env, hex);
		journal_write(
			env->conf.journal, env->conf.thread,
			&(struct journal_record){.what = JOURNAL_DIGEST, .data = hex, .len = 64});
	}
	env->finished = true;
}

struct env *env_free(struct env *env)
{
	if (!env)
		return NULL;
	if (env->sources)
		env_finish(env);
	tmr_queue_free(env->timers);
	zone_files_free(env->zones);
	if (env->base)
		event_base_free(env->base);
	free(env->sources);
	scrub_clear(&env->secrets);
	free(env);
	return NULL;
}

struct event_base *env_base(struct env *env)
{
	return env->base;
}

struct tmr_queue *env_timers(struct env *env)
{
	return env->timers;
}

bool env_replaying(const struct env *env)
{
	return env->conf.replaying;
}

bool env_journalled(const struct env *env)
{
	return env->conf.replaying || (env->conf.journal && !journal_of_shapes(env->conf.journal));
}

void env_run(struct env *env)
{
	if (env->base && !env->stopping)
		event_base_loop(env->base, EVLOOP_NO_EXIT_ON_EMPTY);
	env->stopping = false;
}

void env_stop(struct env *env)
{
	env->stopping = true;
	if (env->base)
		event_base_loopbreak(env->base);
}

bool env_stopping(const struct env *env)
{
	return env->stopping;
}

uint64_t env_now(struct env *env)
{
	if (env->in_step || env->conf.replaying)
		return env->now;
	return mono_ns(env);
}

/* ---- answers of the system ---- */

/* Writes an answer of the system. A journal of shapes gets only the number of random bytes, because
 * keys are made of them. */
static void record_answer(struct env *env, enum journal_what what, const void *p, size_t n)
{
	uint8_t length[4];
	struct wr w = wr_of(length, sizeof length);

	if (!recording(env))
		return;
	if (what == JOURNAL_RANDOM && journal_of_shapes(env->conf.journal)) {
		wr_be(&w, n, 4);
		p = length;
		n = sizeof length;
	}
	journal_write(env->conf.journal, env->conf.thread,
		      &(struct journal_record){.what = what, .data = p, .len = n});
}

/* The next recorded answer of this kind and size; NULL when this run differs from the recorded one.
 */
static const uint8_t *recorded(struct env *env, uint8_t what, size_t n)
{
	const struct env_answer_rec *r;

	if (env->finished)
		return NULL;
	if (env->worldh)
		return env->worldh(what, n, env->world_arg);
	if (env->at_answer == env->n_answers || env->diverged) {
		env->diverged = true;
		return NULL;
	}
	r = &env->answers[env->at_answer];
	if (r->what != what || r->n != n) {
		env->diverged = true;
		return NULL;
	}
	env->at_answer++;
	return r->p;
}

void env_random(struct env *env, void *buf, size_t n)
{
	if (env->conf.replaying) {
		const uint8_t *p = recorded(env, JOURNAL_RANDOM, n);

		if (p)
			memcpy(buf, p, n);
		else
			memset(buf, 0, n);
	} else {
		randombytes_buf(buf, n);
	}
	record_answer(env, JOURNAL_RANDOM, buf, n);
	add_to_digests(env, &(struct digest_record){
				    .what = DIGEST_RANDOM, .data = buf, .len = n, .firm = n});
}

int64_t env_answer(struct env *env, int64_t live)
{
	uint8_t b[8];
	struct wr w = wr_of(b, sizeof b);

	if (env->conf.replaying) {
		const uint8_t *p = recorded(env, JOURNAL_ANSWER, sizeof b);
		struct rd r = rd_of(p, p ? sizeof b : 0);

		live = (int64_t)rd_be(&r, 8);
	}
	wr_be(&w, (uint64_t)live, 8);
	record_answer(env, JOURNAL_ANSWER, b, sizeof b);
	add_to_digests(
		env, &(struct digest_record){
			     .what = DIGEST_ANSWER, .data = b, .len = sizeof b, .firm = sizeof b});
	return live;
}

uint64_t env_wall_ms(struct env *env)
{
	struct timespec ts = {0};

	if (!env->conf.replaying)
		clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)env_answer(env, (int64_t)ms_of_timespec(&ts));
}

int64_t env_utc_offset_at(struct env *env, const char *zone, uint64_t at_ms)
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm here = {0};
	int32_t there = 0;
	bool found = *zone && env->zones && zone_files_offset(env->zones, zone, at, &there);

	if (!found && !env->conf.replaying)
		localtime_r(&at, &here);
	return env_answer(env, found ? there : here.tm_gmtoff);
}

int64_t env_utc_offset(struct env *env, const char *zone)
{
	return env_utc_offset_at(env, zone, env_wall_ms(env));
}

int env_source_add(struct env *env, uint32_t *id, env_input_h *h, void *arg)
{
	if (!env || !id || !h)
		return EINVAL;
	if (env->free_id) {
		struct source *s = &env->sources[env->free_id - 1];

		*id = env->free_id;
		env->free_id = s->next;
		*s = (struct source){.h = h, .arg = arg};
		return 0;
	}
	if (env->n_sources == env->cap_sources) {
		struct source *more;

		if (!env->conf.loop)
			return ENOSPC;
		more = realloc(env->sources, 2 * (size_t)env->cap_sources * sizeof *more);
		if (!more)
			return ENOMEM;
		env->sources = more;
		env->cap_sources *= 2;
	}
	env->sources[env->n_sources++] = (struct source){.h = h, .arg = arg};
	*id = env->n_sources;
	return 0;
}

void env_source_shape(struct env *env, uint32_t id, env_shape_h *h)
{
	if (id && id <= env->n_sources && env->sources[id - 1].h)
		env->sources[id - 1].shapeh = h;
}

void env_source_del(struct env *env, uint32_t id)
{
	struct source *s;

	if (!id || id > env->n_sources || !env->sources[id - 1].h)
		return;
	s = &env->sources[id - 1];
	*s = (struct source){.next = env->free_id};
	env->free_id = id;
}

/* `u32 length | text`: the input's length and its harmless part. */
static void record_shape(struct env *env, uint64_t now, uint32_t id, uint8_t kind, const uint8_t *p,
			 size_t n)
{
	env_shape_h *h = id && id <= env->n_sources ? env->sources[id - 1].shapeh : NULL;
	char rec[4 + SHAPE_TEXT];
	struct wr w = wr_of((uint8_t *)rec, sizeof rec);

	wr_be(&w, n, 4);
	if (h)
		w.pos += h(kind, p, n, rec + 4, SHAPE_TEXT);
	journal_write(env->conf.journal, env->conf.thread,
		      &(struct journal_record){.what = JOURNAL_INPUT,
					       .now = now,
					       .source = id,
					       .kind = kind,
					       .data = rec,
					       .len = w.pos});
}

static void step(struct env *env, uint64_t now, uint32_t id, uint8_t kind, const uint8_t *p,
		 size_t n)
{
	struct source s;

	assert(!env->in_step);
	add_to_digests(env, &(struct digest_record){.what = DIGEST_INPUT,
						    .kind = kind,
						    .source = id,
						    .now = now,
						    .data = p,
						    .len = n,
						    .firm = n});
	if (!id || id > env->n_sources || !env->sources[id - 1].h)
		return;
	s = env->sources[id - 1];
	env->now = now;
	env->in_step = true;
	s.h(kind, p, n, s.arg);
	env->in_step = false;
}

void env_deliver(struct env *env, uint32_t id, uint8_t kind, const void *data, size_t len)
{
	uint64_t now = mono_ns(env);
	void *clean = NULL;

	if (env->conf.replaying)
		return;
	if (recording(env)) {
		if (scrub_copy(&env->secrets, data, len, &clean))
			journal_lose(env->conf.journal);
		/* The handler gets the same bytes as on replay. */
		if (clean)
			data = clean;
		if (journal_of_shapes(env->conf.journal))
			record_shape(env, now, id, kind, data, len);
		else
			journal_write(env->conf.journal, env->conf.thread,
				      &(struct journal_record){.what = JOURNAL_INPUT,
							       .now = now,
							       .source = id,
							       .kind = kind,
							       .data = data,
							       .len = len});
	}
	step(env, now, id, kind, data, len);
	if (clean) /* audio threads call no free */
		free(clean);
}

void env_replay_meta(struct env *env, const char *meta)
{
	add_to_digests(env, &(struct digest_record){.what = DIGEST_META,
						    .data = meta,
						    .len = strlen(meta),
						    .firm = strlen(meta)});
}

void env_replay_answers(struct env *env, const struct env_answer_rec *recs, size_t n)
{
	env->answers = recs;
	env->n_answers = n;
	env->at_answer = 0;
}

void env_replay_world(struct env *env, env_world_h *h, void *arg)
{
	env->worldh = h;
	env->world_arg = arg;
}

bool env_replay_step(struct env *env, uint64_t now, uint32_t source, uint8_t kind, const uint8_t *p,
		     size_t n)
{
	if (recording(env))
		record_shape(env, now, source, kind, p, n);
	step(env, now, source, kind, p, n);
	return !env->diverged;
}

void env_replay_clock(struct env *env, env_clock_h *h, void *arg)
{
	env->clockh = h;
	env->clock_arg = arg;
}

void *env_replay_arg(const struct env *env, uint32_t source)
{
	bool there = source && source <= env->n_sources && env->sources[source - 1].h;

	return there ? env->sources[source - 1].arg : NULL;
}

bool env_replay_done(const struct env *env)
{
	return !env->diverged && env->at_answer == env->n_answers;
}
