#include "control/extraction/spending.h"

#include <errno.h>
#include <stdio.h>

#include "control/agent/usage_event.h"
#include "control/engine/model_conf.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/discord.h"

#define NANO_PER_CENT UINT64_C(10000000)

int spending_begin(struct spending *s, const struct model_conf *conf, void (*readyh)(void *arg),
		   void *arg)
{
	*s = (struct spending){.conf = conf, .spent = json_object(), .readyh = readyh, .arg = arg};
	return s->spent ? 0 : ENOMEM;
}

void spending_end(struct spending *s)
{
	if (s->loading)
		store_forget(s->conf->store, s);
	json_decref(s->spent);
	*s = (struct spending){0};
}

/* What the server has spent that day. */
static uint64_t spent_by(const struct spending *s, const char *guild)
{
	return (uint64_t)json_integer_value(json_object_get(s->spent, guild));
}

static void note_spent(struct spending *s, uint64_t guild, uint64_t nano)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild);
	nano += spent_by(s, id);
	json_object_set_new(s->spent, id, json_integer((json_int_t)nano));
}

static void take_sums(int err, const struct store_document *list, size_t n, void *arg)
{
	struct spending *s = arg;
	uint64_t guild;

	s->loading = false;
	/* Without it the limit would begin anew: it is read again at the next check. */
	if (err)
		return;
	for (size_t i = 0; i < n; i++) {
		s->day_nano += list[i].version;
		if (discord_u64(list[i].author, &guild))
			note_spent(s, guild, list[i].version);
	}
	s->loaded = true;
	if (s->readyh)
		s->readyh(s->arg);
}

/* False: it is not known yet. */
static bool knows_spent(struct spending *s)
{
	if (!s->loaded && !s->loading && s->conf->settings->memory_extract_cents)
		s->loading = !store_sum_memory_costs(s->conf->store, s->day_ms, take_sums, s);
	return s->loaded || !s->conf->settings->memory_extract_cents;
}

/* Every server has the same share of the day's budget. */
static bool is_share(const struct spending *s, uint64_t nano)
{
	uint64_t budget = s->conf->settings->memory_extract_cents * NANO_PER_CENT;

	return budget && nano >= budget / (s->servers ? s->servers : 1);
}

bool spending_has_share(const struct spending *s, uint64_t guild)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild);
	return !is_share(s, spent_by(s, id));
}

void spending_list(const struct spending *s, json_t *list)
{
	const char *guild;
	json_t *nano;

	json_object_foreach(s->spent, guild, nano)
	{
		if (is_share(s, (uint64_t)json_integer_value(nano)))
			json_array_append_new(list, json_string(guild));
	}
}

void spending_count(struct spending *s, uint64_t guild, uint64_t session,
		    const struct roles_event *ev)
{
	const struct model_conf *conf = s->conf;
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(conf->env), .guild = guild};

	usage_event_fill(&out.usage, conf->settings, ev);
	out.usage.session = session;
	if (!out.usage.priced && conf->settings->memory_extract_cents && !s->unpriced) {
		log_warn("memory_not_priced",
			 "model=%s hint=\"name its price in prices; until then "
			 "memory_extract_cents does not count it\"",
			 out.usage.model);
		s->unpriced = true;
	}
	s->day_nano += out.usage.nano;
	note_spent(s, guild, out.usage.nano);
	if (conf->ledger)
		ledger_add(conf->ledger, guild, out.usage.nano, out.at_ms);
	bus_publish(conf->bus, &out);
}

bool spending_has_budget(struct spending *s, uint64_t now)
{
	const struct settings *settings = s->conf->settings;
	uint64_t day = ledger_day_ms(now);

	if (day != s->day_ms) {
		s->day_nano = 0;
		json_object_clear(s->spent);
	}
	s->day_ms = day;
	return knows_spent(s) &&
	       (!settings->memory_extract_cents ||
		s->day_nano < settings->memory_extract_cents * NANO_PER_CENT) &&
	       (!s->conf->ledger ||
		ledger_state(s->conf->ledger, settings, 0, now) != LEDGER_SPENT);
}
