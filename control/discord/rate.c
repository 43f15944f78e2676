#include "control/discord/rate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

/* Keys and names are truncated to these sizes; ours are far shorter. */
enum { ROUTE_SIZE = 96, MAJOR_SIZE = 96, MAX_ENTRIES = 1024 };

/* A limit of (bucket, major), or of (route, major) while the bucket is unknown. */
struct limit {
	struct limit *next;
	char name[ROUTE_SIZE]; /* bucket, or the route itself */
	char major[MAJOR_SIZE];
	bool known;
	double limit;
	long remaining;
	unsigned in_flight;
	uint64_t reset_at;
	uint64_t used_at;
};

struct route {
	struct route *next;
	char route[ROUTE_SIZE];
	char bucket[64];
};

struct rate {
	struct limit *limits;
	struct route *routes;
	unsigned n_limits;
	uint64_t global_until;
	uint64_t sends[RATE_GLOBAL_PER_SECOND];
	uint64_t n_sends;
};

int rate_alloc(struct rate **out)
{
	struct rate *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	*out = r;
	return 0;
}

struct rate *rate_free(struct rate *r)
{
	if (!r)
		return NULL;
	for (struct limit *l = r->limits, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	for (struct route *t = r->routes, *next; t; t = next) {
		next = t->next;
		free(t);
	}
	free(r);
	return NULL;
}

static const char *bucket_of(const struct rate *r, const char *route)
{
	for (const struct route *t = r->routes; t; t = t->next)
		if (strncmp(t->route, route, ROUTE_SIZE - 1) == 0)
			return t->bucket;
	return NULL;
}

static struct limit *find(const struct rate *r, const char *name, const char *major)
{
	for (struct limit *l = r->limits; l; l = l->next)
		if (strncmp(l->name, name, ROUTE_SIZE - 1) == 0 &&
		    strncmp(l->major, major, MAJOR_SIZE - 1) == 0)
			return l;
	return NULL;
}

/* Every command brings a new webhook token, so expired limits are removed. */
static void forget_old(struct rate *r, uint64_t now)
{
	for (struct limit **at = &r->limits; *at;) {
		struct limit *l = *at;

		if (l->in_flight || l->reset_at > now || l->used_at + 3600 * NS_PER_S > now) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free(l);
		r->n_limits--;
	}
}

static struct limit *add(struct rate *r, const char *name, const char *major, uint64_t now)
{
	struct limit *l;

	if (r->n_limits >= MAX_ENTRIES)
		forget_old(r, now);
	l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	snprintf(l->name, sizeof l->name, "%s", name);
	snprintf(l->major, sizeof l->major, "%s", major);
	l->used_at = now;
	l->next = r->limits;
	r->limits = l;
	r->n_limits++;
	return l;
}

/* The limit of a key: by bucket when that is known, else by route. NULL when the key was never
 * used. */
static struct limit *limit_of(const struct rate *r, const struct rate_key *key)
{
	const char *bucket = bucket_of(r, key->route);
	struct limit *own = find(r, key->route, key->major);

	/* Requests in flight under the route must be answered before the bucket is used. */
	if (own && (own->in_flight || !bucket))
		return own;
	return bucket ? find(r, bucket, key->major) : own;
}

static uint64_t global_when(const struct rate *r, uint64_t now)
{
	uint64_t oldest;

	if (r->global_until > now)
		return r->global_until;
	if (r->n_sends < RATE_GLOBAL_PER_SECOND)
		return 0;
	oldest = r->sends[r->n_sends % RATE_GLOBAL_PER_SECOND];
	return oldest + NS_PER_S > now ? oldest + NS_PER_S : 0;
}

uint64_t rate_when(struct rate *r, const struct rate_key *key, uint64_t now)
{
	struct limit *l = limit_of(r, key);
	uint64_t global = key->exempt ? 0 : global_when(r, now);

	if (global)
		return global;
	if (!l)
		return 0;
	if (!l->known) {
		if (l->in_flight)
			return RATE_AFTER_ANSWER;
		return l->reset_at > now ? l->reset_at : 0;
	}
	if (l->reset_at <= now && !l->in_flight)
		return 0;
	if (l->remaining > (long)l->in_flight)
		return 0;
	if (l->reset_at > now)
		return l->reset_at;
	return l->in_flight ? RATE_AFTER_ANSWER : 0;
}

int rate_sent(struct rate *r, const struct rate_key *key, uint64_t now)
{
	struct limit *l = limit_of(r, key);
	const char *bucket = bucket_of(r, key->route);

	if (!l)
		l = add(r, bucket ? bucket : key->route, key->major, now);
	if (!l)
		return ENOMEM;
	if (l->known && l->reset_at <= now) {
		l->remaining = l->limit > 0 ? (long)l->limit : 1;
		/* The new window is unknown until an answer describes it. */
		l->reset_at = 0;
	}
	l->in_flight++;
	l->used_at = now;
	if (!key->exempt)
		r->sends[r->n_sends++ % RATE_GLOBAL_PER_SECOND] = now;
	return 0;
}

static uint64_t seconds_from(uint64_t now, double s)
{
	if (!(s > 0))
		return now;
	if (s > 86400)
		s = 86400;
	return now + (uint64_t)(s * 1e9) + RATE_OFFSET_MS * NS_PER_MS;
}

static void learn_bucket(struct rate *r, const char *name, const char *bucket)
{
	struct route *t;

	for (t = r->routes; t; t = t->next)
		if (strncmp(t->route, name, ROUTE_SIZE - 1) == 0)
			break;
	if (!t) {
		t = calloc(1, sizeof *t);
		if (!t)
			return; /* the route stays serialised, which is correct */
		snprintf(t->route, sizeof t->route, "%s", name);
		t->next = r->routes;
		r->routes = t;
	}
	snprintf(t->bucket, sizeof t->bucket, "%s", bucket);
}

static struct limit *landed(struct rate *r, const struct rate_key *key)
{
	struct limit *l = limit_of(r, key);

	if (l && l->in_flight)
		l->in_flight--;
	return l;
}

void rate_answer(struct rate *r, const struct rate_key *key, const struct rate_headers *h,
		 uint64_t now)
{
	struct limit *l = landed(r, key);
	bool has_window = h->remaining >= 0 && h->reset_after >= 0;

	if (h->bucket[0]) {
		learn_bucket(r, key->route, h->bucket);
		if (!l || strncmp(l->name, h->bucket, ROUTE_SIZE - 1) != 0) {
			struct limit *b = find(r, h->bucket, key->major);

			l = b ? b : add(r, h->bucket, key->major, now);
		}
	}
	if (l && has_window) {
		bool same = l->known && l->reset_at > now;

		/* Answers may arrive out of order; within one window the count only falls. */
		if (!same || (long)h->remaining < l->remaining)
			l->remaining = (long)h->remaining;
		l->limit = h->limit;
		l->reset_at = seconds_from(now, h->reset_after);
		l->known = true;
	}
	if (h->status != 429)
		return;
	if (h->global) {
		r->global_until = seconds_from(now, h->retry_after > 0 ? h->retry_after : 1);
	} else if (l) {
		l->remaining = 0;
		l->reset_at = seconds_from(now, h->retry_after > 0 ? h->retry_after : 1);
	}
}

void rate_lost(struct rate *r, const struct rate_key *key)
{
	landed(r, key);
}
