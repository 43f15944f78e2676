/* Costs of providers (roles.h): each answer has one usage. It is the provider's as far as that can
 * be true (core/traffic.h), and an estimate if the provider reports none or the answer was cut.
 * Costs that belong to no answer are collected and reported every 30 s. */
#include <string.h>

#include "control/engine/roles_state.h"
#include "control/settings/prices.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { BYTES_A_MS = ENGINE_SOUND_RATE / 1000 * 2 };

static bool has_session(const struct served *s)
{
	return s->caps->ops->hear != NULL;
}

/* ---- what passes ---- */

/* An ask to a session repeats the history, which its context holds once. */
void roles_count_ask(struct live *l, const struct engine_ask *ask)
{
	struct served *s = l->by;

	l->traffic = traffic_of_ask(ask);
	l->used = false;
	if (!has_session(s))
		return;
	s->context.sound_in_ms += l->traffic.sound_in_ms;
	s->context.images += l->traffic.images;
	if (l->traffic.text_in > s->asked_text) {
		s->context.text_in += l->traffic.text_in - s->asked_text;
		s->asked_text = l->traffic.text_in;
	}
}

void roles_count_event(struct live *l, const struct engine_event *ev)
{
	uint64_t ms = ev->data.n / BYTES_A_MS;

	if (ev->type == ENGINE_AUDIO)
		l->traffic.sound_out_ms += ms;
	else if (ev->type == ENGINE_WORDS || ev->type == ENGINE_TOOL_CALL)
		l->traffic.text_out += ev->data.n;
	else
		return;
	if (!has_session(l->by))
		return;
	l->by->context.sound_out_ms += ev->type == ENGINE_AUDIO ? ms : 0;
	l->by->context.text_out += ev->type == ENGINE_AUDIO ? 0 : ev->data.n;
}

void roles_count_heard(struct served *s, const struct engine_message *message)
{
	s->context.text_in += strlen(message->text);
	s->context.images += (uint32_t)message->n_images;
}

/* ---- what is told ---- */

static void tell_of(struct served *s, uint32_t turn, uint32_t chunk, const struct usage *usage)
{
	const struct live of = {.turn = turn, .chunk = chunk};

	roles_tell(s, &of, &(struct engine_event){.type = ENGINE_USAGE, .usage = usage});
}

/* The embedded engine costs nothing, and its model is none that has a price. */
static bool is_free(const struct served *s)
{
	return s->caps->dialect == DIALECT_EMBEDDED;
}

static bool read_prices(const struct served *s, bool priced[PRICE_KINDS])
{
	const char *model = settings_billed_model(s->r->settings, roles_role(s->use), s->record);
	bool any = false;
	uint64_t usd;

	for (unsigned i = 0; i < PRICE_KINDS; i++) {
		priced[i] = settings_price(s->r->settings, model, (enum price_kind)i, &usd);
		any = any || priced[i];
	}
	return any;
}

static void tell_estimate(struct served *s, uint32_t turn, uint32_t chunk, const struct traffic *t)
{
	bool priced[PRICE_KINDS];
	struct usage u;

	if (!is_free(s) && read_prices(s, priced) && traffic_estimate(t, priced, &u))
		tell_of(s, turn, chunk, &u);
}

/* A model that is priced by the second is billed for seconds, whatever else its provider counts. */
static void add_seconds(const struct served *s, const struct traffic *t, struct usage *u)
{
	bool priced[PRICE_KINDS], known = false;
	struct usage guess;

	read_prices(s, priced);
	for (unsigned i = 0; i < PRICE_KINDS; i++)
		known = known || (priced[i] && u->n[i]);
	if (known || !priced[PRICE_SECONDS] || !traffic_estimate(t, priced, &guess))
		return;
	u->n[PRICE_SECONDS] = guess.n[PRICE_SECONDS];
	u->estimated = true;
}

static void bound_usage(const struct served *s, const struct traffic *answer, struct usage *u)
{
	if (!traffic_bound(&s->context, answer, u))
		return;
	u->estimated = true;
	log_warn("usage_not_believed", "provider=%s role=%s", s->record->name,
		 role_name(roles_role(s->use)));
}

static void watch_usage(struct roles *r)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		for (unsigned k = 0; k < r->list[i].n; k++) {
			const struct served *s = &r->list[i].v[k];
			uint64_t loose = s->loose_since + ROLES_USAGE_S * NS_PER_S;
			uint64_t owed = s->owed.since + ROLES_OWED_S * NS_PER_S;

			if (s->loose_since && loose < at)
				at = loose;
			if (s->owed.since && owed < at)
				at = owed;
		}
	if (at == UINT64_MAX)
		tmr_stop(r->usage);
	else
		tmr_start_at(r->usage, at);
}

/* ---- of no answer ---- */

static void begin_loose(struct served *s)
{
	if (s->loose_since)
		return;
	s->loose_since = env_now(s->r->env);
	watch_usage(s->r);
}

void roles_count_sound(struct served *s, size_t bytes)
{
	const struct traffic heard = {.sound_in_ms = bytes / BYTES_A_MS};

	if (is_free(s) || !heard.sound_in_ms)
		return;
	traffic_add(&s->loose, &heard);
	begin_loose(s);
}

static void tell_loose(struct served *s)
{
	struct usage u = s->loose_usage, none = {0};
	struct traffic t = s->loose;
	bool told = false;

	s->loose_usage = none;
	s->loose = (struct traffic){0};
	s->loose_since = 0;
	for (unsigned i = 0; i < PRICE_KINDS; i++)
		told = told || u.n[i];
	if (!told) {
		tell_estimate(s, 0, 0, &t);
		return;
	}
	bound_usage(s, &t, &u);
	tell_of(s, 0, 0, &u);
}

static void add_loose(struct served *s, const struct usage *usage)
{
	for (unsigned i = 0; i < PRICE_KINDS; i++) {
		uint64_t *n = &s->loose_usage.n[i];

		*n = usage->n[i] > UINT64_MAX - *n ? UINT64_MAX : *n + usage->n[i];
	}
	begin_loose(s);
}

/* ---- of an answer ---- */

static void tell_owed(struct served *s)
{
	const struct owed was = s->owed;

	if (!was.since)
		return;
	s->owed = (struct owed){0};
	tell_estimate(s, was.turn, was.chunk, &was.traffic);
}

void roles_settle(struct live *l, bool cut)
{
	struct served *s = l->by;

	if (l->used || !s || traffic_is_none(&l->traffic))
		return;
	l->used = true;
	if (!cut || !has_session(s) || !s->tells) {
		tell_estimate(s, l->turn, l->chunk, &l->traffic);
		return;
	}
	tell_owed(s);
	s->owed = (struct owed){.turn = l->turn,
				.chunk = l->chunk,
				.traffic = l->traffic,
				.since = env_now(s->r->env)};
	watch_usage(s->r);
}

/* The usage of an answer that was cut, which comes after its end. */
static void take_late(struct served *s, const struct usage *usage)
{
	const struct owed was = s->owed;
	struct usage u = *usage;

	s->owed = (struct owed){0};
	bound_usage(s, &was.traffic, &u);
	add_seconds(s, &was.traffic, &u);
	tell_of(s, was.turn, was.chunk, &u);
}

void roles_take_usage(struct served *s, struct live *l, const struct usage *usage)
{
	struct usage u = *usage;

	if (is_free(s))
		return;
	if (l && l->by == s && !l->used) {
		s->tells = l->used = true;
		bound_usage(s, &l->traffic, &u);
		add_seconds(s, &l->traffic, &u);
		tell_of(s, l->turn, l->chunk, &u);
	} else if (s->owed.since) {
		take_late(s, usage);
	} else {
		add_loose(s, usage);
	}
}

static void tell_before(struct roles *r, uint64_t owed, uint64_t loose)
{
	for (unsigned i = 0; i < ENGINE_USE_COUNT; i++)
		for (unsigned k = 0; k < r->list[i].n; k++) {
			struct served *s = &r->list[i].v[k];

			if (s->owed.since && s->owed.since <= owed)
				tell_owed(s);
			if (s->loose_since && s->loose_since <= loose)
				tell_loose(s);
		}
}

void roles_usage_time(void *arg)
{
	struct roles *r = arg;
	uint64_t now = env_now(r->env);

	tell_before(r, now > ROLES_OWED_S * NS_PER_S ? now - ROLES_OWED_S * NS_PER_S : 0,
		    now > ROLES_USAGE_S * NS_PER_S ? now - ROLES_USAGE_S * NS_PER_S : 0);
	watch_usage(r);
}

void roles_usage_end(struct roles *r)
{
	tell_before(r, UINT64_MAX, UINT64_MAX);
}
