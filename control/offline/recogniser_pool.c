#include "control/offline/recogniser_pool.h"

#include "control/offline/mailbox.h"
#include "control/offline/rate_convert.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { IN_RATE = 24000, MAX_RECOGNISERS = 8, MAX_SECONDS = 62, BLOCK = IN_RATE / 10 };

/* A recogniser is handed over when its utterance got no sound for this long and another waits. */
static const uint64_t PATIENCE_NS = 2000000000u;

struct utterance {
	struct utterance *next;
	uint64_t id;
	int16_t *pcm;
	size_t n, cap;
	size_t taken;	 /* given to the recogniser */
	uint64_t fed_at; /* env time of the last sound */
	bool ended, dropped;
	struct listener *by; /* the thread whose recogniser it has, or NULL */
};

struct listener {
	struct recogniser_pool *h;
	struct recogniser *recogniser;
	struct rate_convert *resample;
	pthread_t thread;
	bool started;
	int err;
	const char *why;
};

struct recogniser_pool {
	struct env *env;
	struct mailbox *mailbox;
	struct recogniser_pool_conf conf;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	struct utterance *list; /* in the order they began */
	bool quit;
	unsigned loading;
	uint64_t now; /* env time when the loop last called */
	struct listener listeners[MAX_RECOGNISERS];
};

/* A message: the utterance, and its recognition when ok. */
struct message {
	uint64_t id;
	bool ok;
	struct recognition heard;
};

static void utterance_unlink(struct recogniser_pool *h, struct utterance *u)
{
	struct utterance **p = &h->list;

	while (*p && *p != u)
		p = &(*p)->next;
	if (*p)
		*p = u->next;
	free(u->pcm);
	free(u);
}

static bool has_work(const struct utterance *u)
{
	return u->dropped || u->ended || u->n - u->taken >= BLOCK;
}

/* The utterance with sound that waits longest. */
static struct utterance *waiting(struct recogniser_pool *h)
{
	for (struct utterance *u = h->list; u; u = u->next)
		if (!u->by && !u->dropped && (u->ended || u->n - u->taken >= BLOCK))
			return u;
	return NULL;
}

/* Resamples one block of sound into the recogniser; called without the lock. */
static int hear(struct listener *l, const int16_t *pcm, size_t n, bool last)
{
	const int16_t *out;
	size_t out_n;
	int err = rate_convert_run(l->resample, pcm, n, last, &out, &out_n);

	return err ? err : recogniser_feed(l->recogniser, out, out_n);
}

static void tell(struct listener *l, uint64_t id, int err)
{
	struct message message = {.id = id};

	if (!err)
		err = recogniser_finish(l->recogniser, &message.heard);
	message.ok = !err;
	/* Without memory for a message the result is lost; the session's response then waits for
	 * its client. */
	mailbox_post(l->h->mailbox, 0, &message, sizeof message);
}

/* Hands the recogniser over if another utterance waits and this one is silent. */
static bool gives_way(struct recogniser_pool *h, const struct utterance *u)
{
	return !has_work(u) && h->now > u->fed_at + PATIENCE_NS && waiting(h);
}

/* Follows one utterance to its end. The lock is held on entry and on return. */
static void follow(struct listener *l, struct utterance *u)
{
	struct recogniser_pool *h = l->h;
	int16_t block[BLOCK];
	uint64_t id = u->id;
	bool ended = false;
	int err;

	u->by = l;
	u->taken = 0;
	rate_convert_reset(l->resample);
	pthread_mutex_unlock(&h->lock);
	err = recogniser_start(l->recogniser);
	pthread_mutex_lock(&h->lock);
	while (!h->quit && !u->dropped && !ended) {
		size_t n = u->n - u->taken < BLOCK ? u->n - u->taken : BLOCK;

		if (!has_work(u) && gives_way(h, u)) {
			u->by = NULL;
			return;
		}
		if (!has_work(u)) {
			pthread_cond_wait(&h->wake, &h->lock);
			continue;
		}
		memcpy(block, u->pcm + u->taken, n * sizeof *block);
		u->taken += n;
		ended = u->ended && u->taken == u->n;
		pthread_mutex_unlock(&h->lock);
		if (!err)
			err = hear(l, block, n, ended);
		pthread_mutex_lock(&h->lock);
	}
	ended = ended && !u->dropped;
	utterance_unlink(h, u);
	if (!ended)
		return;
	pthread_mutex_unlock(&h->lock);
	tell(l, id, err);
	pthread_mutex_lock(&h->lock);
}

static void *listen(void *arg)
{
	struct listener *l = arg;
	struct recogniser_pool *h = l->h;

	l->err = recogniser_alloc(&l->recogniser, &h->conf.recogniser, &l->why);
	if (!l->err)
		l->err = rate_convert_alloc(&l->resample, IN_RATE, RECOGNISER_RATE, false);
	pthread_mutex_lock(&h->lock);
	h->loading--;
	pthread_cond_broadcast(&h->wake);
	while (!h->quit && !l->err) {
		struct utterance *u = waiting(h);

		if (u)
			follow(l, u);
		else
			pthread_cond_wait(&h->wake, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static void on_letter(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct recogniser_pool *h = arg;
	struct message message;

	(void)kind;
	if (len != sizeof message)
		return;
	memcpy(&message, data, sizeof message);
	h->conf.h(message.id, message.ok ? &message.heard : NULL, h->conf.arg);
}

static int start(struct recogniser_pool *h, const char **why)
{
	int err = 0;

	for (unsigned i = 0; i < h->conf.recognisers && !err; i++) {
		h->listeners[i].h = h;
		h->loading++;
		err = pthread_create(&h->listeners[i].thread, NULL, listen, &h->listeners[i]);
		h->listeners[i].started = !err;
		h->loading -= err != 0;
	}
	pthread_mutex_lock(&h->lock);
	while (h->loading)
		pthread_cond_wait(&h->wake, &h->lock);
	pthread_mutex_unlock(&h->lock);
	for (unsigned i = 0; i < h->conf.recognisers && !err; i++) {
		err = h->listeners[i].err;
		if (err && why)
			*why = h->listeners[i].why;
	}
	return err;
}

int recogniser_pool_alloc(struct recogniser_pool **out, struct env *env,
			  const struct recogniser_pool_conf *conf, const char **why)
{
	struct recogniser_pool *h;
	int err;

	if (!conf->recognisers || conf->recognisers > MAX_RECOGNISERS)
		return EINVAL;
	h = calloc(1, sizeof *h);
	if (!h)
		return ENOMEM;
	h->env = env;
	h->conf = *conf;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, NULL);
	err = mailbox_alloc(&h->mailbox, env, on_letter, h);
	if (!err)
		err = start(h, why);
	if (err) {
		recogniser_pool_free(h);
		return err;
	}
	*out = h;
	return 0;
}

struct recogniser_pool *recogniser_pool_free(struct recogniser_pool *h)
{
	if (!h)
		return NULL;
	pthread_mutex_lock(&h->lock);
	h->quit = true;
	pthread_cond_broadcast(&h->wake);
	pthread_mutex_unlock(&h->lock);
	for (unsigned i = 0; i < MAX_RECOGNISERS; i++) {
		if (h->listeners[i].started)
			pthread_join(h->listeners[i].thread, NULL);
		recogniser_free(h->listeners[i].recogniser);
		rate_convert_free(h->listeners[i].resample);
	}
	while (h->list)
		utterance_unlink(h, h->list);
	mailbox_free(h->mailbox);
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return NULL;
}

/* With the lock held. */
static struct utterance *find(struct recogniser_pool *h, uint64_t id)
{
	for (struct utterance *u = h->list; u; u = u->next)
		if (u->id == id && !u->dropped)
			return u;
	return NULL;
}

int recogniser_pool_begin(struct recogniser_pool *h, uint64_t id)
{
	struct utterance *u = calloc(1, sizeof *u), **p = &h->list;

	if (!u)
		return ENOMEM;
	u->id = id;
	u->fed_at = env_now(h->env);
	pthread_mutex_lock(&h->lock);
	if (find(h, id)) {
		pthread_mutex_unlock(&h->lock);
		free(u);
		return EEXIST;
	}
	while (*p)
		p = &(*p)->next;
	*p = u;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

/* With the lock held. */
static int append(struct utterance *u, const int16_t *pcm, size_t n)
{
	size_t most = (size_t)MAX_SECONDS * IN_RATE, to = u->cap ? u->cap : 4 * IN_RATE;
	int16_t *p;

	if (n > most - u->n)
		n = most - u->n;
	while (to < u->n + n)
		to *= 2;
	if (to > u->cap) {
		p = realloc(u->pcm, to * sizeof *p);
		if (!p)
			return ENOMEM;
		u->pcm = p;
		u->cap = to;
	}
	if (n)
		memcpy(u->pcm + u->n, pcm, n * sizeof *pcm);
	u->n += n;
	return 0;
}

int recogniser_pool_feed(struct recogniser_pool *h, uint64_t id, const int16_t *pcm, size_t n)
{
	struct utterance *u;
	int err = ENOENT;

	pthread_mutex_lock(&h->lock);
	h->now = env_now(h->env);
	u = find(h, id);
	if (u) {
		err = append(u, pcm, n);
		u->fed_at = h->now;
		pthread_cond_broadcast(&h->wake);
	}
	pthread_mutex_unlock(&h->lock);
	return err;
}

int recogniser_pool_end(struct recogniser_pool *h, uint64_t id)
{
	struct utterance *u;

	pthread_mutex_lock(&h->lock);
	h->now = env_now(h->env);
	u = find(h, id);
	if (u)
		u->ended = true;
	pthread_cond_broadcast(&h->wake);
	pthread_mutex_unlock(&h->lock);
	return u ? 0 : ENOENT;
}

/* With the lock held. The recogniser's thread frees an utterance that holds it. */
static void drop(struct recogniser_pool *h, struct utterance *u)
{
	if (u->by)
		u->dropped = true;
	else
		utterance_unlink(h, u);
}

void recogniser_pool_drop(struct recogniser_pool *h, uint64_t id)
{
	struct utterance *u;

	pthread_mutex_lock(&h->lock);
	u = find(h, id);
	if (u)
		drop(h, u);
	pthread_cond_broadcast(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

void recogniser_pool_drop_owner(struct recogniser_pool *h, uint32_t owner)
{
	struct utterance *next;

	pthread_mutex_lock(&h->lock);
	for (struct utterance *u = h->list; u; u = next) {
		next = u->next;
		if (u->id >> 32 == owner && !u->dropped)
			drop(h, u);
	}
	pthread_cond_broadcast(&h->wake);
	pthread_mutex_unlock(&h->lock);
}
