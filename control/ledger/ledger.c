#include "control/ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "control/settings/prices.h"
#include "control/settings/settings.h"

#define DAY_MS	      UINT64_C(86400000)
#define NANO_PER_CENT UINT64_C(10000000)
#define PICO_MAX      (LEDGER_REQUEST_MAX * 1000)

struct spent {
	uint64_t guild, nano;
};

struct ledger {
	uint64_t day; /* days since 1970 */
	uint64_t nano;
	/* A server beyond these counts for all of them together alone. */
	struct spent by[LEDGER_GUILDS];
	unsigned n;
};

int ledger_alloc(struct ledger **out)
{
	struct ledger *l = calloc(1, sizeof *l);

	if (!l)
		return ENOMEM;
	*out = l;
	return 0;
}

struct ledger *ledger_free(struct ledger *l)
{
	free(l);
	return NULL;
}

uint64_t ledger_cost(const struct settings *s, const char *model, const struct usage *usage,
		     bool *priced)
{
	uint64_t pico = 0, usd;
	bool all = true;

	/* Millionths of a dollar per million units: units times price are 10^-12 dollars. */
	for (unsigned i = 0; i < PRICE_KINDS; i++) {
		if (!usage->n[i])
			continue;
		if (!settings_price(s, model, (enum price_kind)i, &usd))
			all = false;
		else if (usd && usage->n[i] > (PICO_MAX - pico) / usd)
			pico = PICO_MAX;
		else
			pico += usage->n[i] * usd;
	}
	if (priced)
		*priced = all;
	return (pico + 500) / 1000;
}

uint64_t ledger_day_ms(uint64_t wall_ms)
{
	return wall_ms / DAY_MS * DAY_MS;
}

static struct spent *find_guild(const struct ledger *l, uint64_t guild)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->by[i].guild == guild)
			return (struct spent *)&l->by[i];
	return NULL;
}

/* A sum that is full stays so: it never begins again. */
static void add_amount(uint64_t *sum, uint64_t nano)
{
	*sum = nano > UINT64_MAX - *sum ? UINT64_MAX : *sum + nano;
}

void ledger_add(struct ledger *l, uint64_t guild, uint64_t nano, uint64_t wall_ms)
{
	struct spent *by;

	/* A clock that was set back does not open a day again. */
	if (wall_ms / DAY_MS > l->day) {
		l->day = wall_ms / DAY_MS;
		l->nano = 0;
		l->n = 0;
	}
	add_amount(&l->nano, nano);
	by = find_guild(l, guild);
	if (!by && l->n < LEDGER_GUILDS) {
		by = &l->by[l->n++];
		*by = (struct spent){.guild = guild};
	}
	if (by)
		add_amount(&by->nano, nano);
}

uint64_t ledger_spent(const struct ledger *l, uint64_t wall_ms)
{
	return wall_ms / DAY_MS > l->day ? 0 : l->nano;
}

uint64_t ledger_spent_by(const struct ledger *l, uint64_t guild, uint64_t wall_ms)
{
	const struct spent *by = find_guild(l, guild);

	return !by || wall_ms / DAY_MS > l->day ? 0 : by->nano;
}

static enum ledger_state state_of(const struct settings *s, uint64_t nano, uint32_t cents)
{
	uint64_t limit = cents * NANO_PER_CENT;

	if (!cents)
		return LEDGER_FREE;
	if (nano >= limit)
		return LEDGER_SPENT;
	return s->cost_warn_percent && nano >= limit / 100 * s->cost_warn_percent ? LEDGER_WARNED
										  : LEDGER_FREE;
}

enum ledger_state ledger_state(const struct ledger *l, const struct settings *s, uint64_t guild,
			       uint64_t wall_ms)
{
	enum ledger_state all = state_of(s, ledger_spent(l, wall_ms), s->cost_day_cents);
	enum ledger_state one =
		state_of(s, ledger_spent_by(l, guild, wall_ms), s->cost_guild_cents);

	return all > one ? all : one;
}
