#include "control/web/live_providers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "proto/base/iso_time.h"
#include "proto/base/utf8.h"

enum { NAME_SIZE = 64, ROLE_SIZE = 16, WHY_SIZE = 160, MINUTES = 60, ASKED_MAX = 64 };
#define MINUTE_MS 60000u

/* Events of the last hour, by minute. */
struct hour {
	uint64_t minute[MINUTES]; /* since 1970 */
	uint32_t n[MINUTES];
};

struct row {
	char provider[NAME_SIZE], role[ROLE_SIZE], why[WHY_SIZE];
	uint64_t used_ms, failed_ms, requests, failures;
	struct hour asked, failed;
	uint32_t delay[LIVE_PROVIDERS_DELAYS];
	unsigned n_delays, next_delay;
	bool told, up;
};

struct live_providers {
	struct row v[LIVE_PROVIDERS_MAX];
	unsigned n;
	/* Whom a turn asked last: the turn tells its delay when it ends, without a name. */
	struct asked {
		uint64_t guild, session, turn;
		char provider[NAME_SIZE], role[ROLE_SIZE];
	} asked[ASKED_MAX];
	unsigned next_asked;
};

static void count_minute(struct hour *h, uint64_t at_ms)
{
	uint64_t minute = at_ms / MINUTE_MS;
	unsigned i = (unsigned)(minute % MINUTES);

	if (h->minute[i] != minute)
		h->n[i] = 0;
	h->minute[i] = minute;
	h->n[i]++;
}

static json_int_t sum_hour(const struct hour *h, uint64_t now_ms)
{
	uint64_t now = now_ms / MINUTE_MS;
	json_int_t sum = 0;

	for (unsigned i = 0; i < MINUTES; i++)
		if (h->minute[i] <= now && now - h->minute[i] < MINUTES)
			sum += h->n[i];
	return sum;
}

static struct row *find_row(struct live_providers *p, const char *provider, const char *role,
			    uint64_t at_ms)
{
	struct row *r = &p->v[0];

	if (!provider || !*provider || !role)
		return NULL;
	for (unsigned i = 0; i < p->n; i++) {
		if (strcmp(p->v[i].provider, provider) == 0 && strcmp(p->v[i].role, role) == 0) {
			p->v[i].used_ms = at_ms;
			return &p->v[i];
		}
		if (p->v[i].used_ms < r->used_ms)
			r = &p->v[i];
	}
	if (p->n < LIVE_PROVIDERS_MAX)
		r = &p->v[p->n++];
	*r = (struct row){.used_ms = at_ms};
	utf8_copy(r->provider, sizeof r->provider, provider);
	utf8_copy(r->role, sizeof r->role, role);
	return r;
}

static void take_use(struct live_providers *p, const struct bus_event *ev)
{
	struct row *r = find_row(p, ev->usage.provider, ev->usage.role, ev->at_ms);
	struct asked *a = &p->asked[p->next_asked];

	if (!r)
		return;
	r->requests++;
	count_minute(&r->asked, ev->at_ms);
	if (!ev->usage.turn || (strcmp(r->role, "voice") != 0 && strcmp(r->role, "text") != 0))
		return;
	*a = (struct asked){
		.guild = ev->guild, .session = ev->usage.session, .turn = ev->usage.turn};
	memcpy(a->provider, r->provider, sizeof a->provider);
	memcpy(a->role, r->role, sizeof a->role);
	p->next_asked = (p->next_asked + 1) % ASKED_MAX;
}

static void take_failure(struct row *r, uint64_t at_ms, const char *why)
{
	if (!r)
		return;
	r->failures++;
	r->failed_ms = at_ms;
	count_minute(&r->failed, at_ms);
	utf8_copy(r->why, sizeof r->why, why ? why : "");
	utf8_plain(r->why);
}

static void take_state(struct live_providers *p, const struct bus_event *ev)
{
	struct row *r = find_row(p, ev->engine.provider, ev->engine.role, ev->at_ms);

	if (!r)
		return;
	r->told = true;
	r->up = ev->type == EVENT_ENGINE_UP;
	if (!r->up)
		take_failure(r, ev->at_ms, ev->engine.why);
}

/* The value of the decision that tells of the first sound; -1: there was none. */
static json_int_t read_delay(const char *why)
{
	json_t *list = json_loads(why ? why : "", 0, NULL), *d;
	json_int_t ms = -1;
	size_t i;

	json_array_foreach(list, i, d)
	{
		const char *rule = json_string_value(json_object_get(d, "rule"));

		if (rule && strcmp(rule, "first_audio") == 0 &&
		    json_is_true(json_object_get(d, "yes")))
			ms = json_integer_value(json_object_get(d, "value"));
	}
	json_decref(list);
	return ms;
}

static void take_turn(struct live_providers *p, const struct bus_event *ev)
{
	for (unsigned i = 1; i <= ASKED_MAX; i++) {
		const struct asked *a = &p->asked[(p->next_asked + ASKED_MAX - i) % ASKED_MAX];
		struct row *r;
		json_int_t ms;

		if (a->guild != ev->guild || a->turn != ev->turn.turn ||
		    a->session != ev->turn.session || !*a->provider)
			continue;
		ms = read_delay(ev->turn.why);
		r = ms < 0 ? NULL : find_row(p, a->provider, a->role, ev->at_ms);
		if (r) {
			r->delay[r->next_delay] = (uint32_t)ms;
			r->next_delay = (r->next_delay + 1) % LIVE_PROVIDERS_DELAYS;
			r->n_delays += r->n_delays < LIVE_PROVIDERS_DELAYS;
		}
		return;
	}
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct live_providers *p = arg;

	if (ev->type == EVENT_ENGINE_USED)
		take_use(p, ev);
	else if (ev->type == EVENT_ENGINE_UP || ev->type == EVENT_ENGINE_DOWN)
		take_state(p, ev);
	else if (ev->type == EVENT_ENGINE_REFUSED)
		take_failure(find_row(p, ev->refusal.provider, ev->refusal.role, ev->at_ms),
			     ev->at_ms, ev->refusal.why);
	else
		take_turn(p, ev);
}

int live_providers_alloc(struct live_providers **out, struct bus *bus)
{
	struct live_providers *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return ENOMEM;
	err = bus_subscribe(bus,
			    BUS_MASK(EVENT_ENGINE_USED) | BUS_MASK(EVENT_ENGINE_UP) |
				    BUS_MASK(EVENT_ENGINE_DOWN) | BUS_MASK(EVENT_ENGINE_REFUSED) |
				    BUS_MASK(EVENT_TURN),
			    on_event, p);
	if (err)
		free(p);
	else
		*out = p;
	return err;
}

struct live_providers *live_providers_free(struct live_providers *p)
{
	free(p);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* By the nearest rank. */
static json_t *percentile(const uint32_t *sorted, unsigned n, unsigned percent)
{
	return n ? json_integer(sorted[(n * percent + 99) / 100 - 1]) : json_null();
}

static json_t *delays_json(const struct row *r)
{
	uint32_t sorted[LIVE_PROVIDERS_DELAYS];

	memcpy(sorted, r->delay, sizeof sorted);
	qsort(sorted, r->n_delays, sizeof sorted[0], compare);
	return json_pack("{s:i,s:o,s:o}", "count", (int)r->n_delays, "p50Ms",
			 percentile(sorted, r->n_delays, 50), "p95Ms",
			 percentile(sorted, r->n_delays, 95));
}

static json_t *row_json(const struct row *r, uint64_t now_ms, bool errors)
{
	char at[ISO_TIME_SIZE];

	iso_time_format(at, r->failed_ms);
	return json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:I,s:o,s:s?,s:s?}", "provider", r->provider,
			 "role", r->role, "up", r->told ? json_boolean(r->up) : json_null(),
			 "requests", (json_int_t)r->requests, "requestsLastHour",
			 sum_hour(&r->asked, now_ms), "failures", (json_int_t)r->failures,
			 "failuresLastHour", sum_hour(&r->failed, now_ms), "delays", delays_json(r),
			 "lastFailureAt", r->failed_ms ? at : NULL, "lastFailure",
			 errors && *r->why ? r->why : NULL);
}

json_t *live_providers_json(const struct live_providers *p, uint64_t now_ms, bool errors)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < p->n; i++)
		json_array_append_new(list, row_json(&p->v[i], now_ms, errors));
	return list;
}
