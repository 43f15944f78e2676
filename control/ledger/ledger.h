/* The cost ledger: what requests cost, how much of the day's budget is spent, and what follows.
 *
 *   setting            state     meets
 *   cost_day_cents     of all servers together
 *   cost_guild_cents   of each server
 *
 *   state      from                                  what follows
 *   FREE       -                                     nothing
 *   WARNED     cost_warn_percent of the budget       people are told
 *   SPENT      all of the budget                     cost_at_limit: warn, degrade or stop
 *
 * A day is a day of UTC; the next one begins with nothing spent. Amounts are in billionths of a
 * dollar. A unit whose price nobody knows costs nothing, and the request counts as not priced: a
 * budget is not charged for what it cannot know.
 *
 * Pure. */
#ifndef CONTROL_LEDGER_LEDGER_H
#define CONTROL_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/settings/usage.h"

struct ledger;
struct settings;

enum { LEDGER_GUILDS = 1024 };

/* No request costs more, whatever its provider says: a thousand dollars. */
#define LEDGER_REQUEST_MAX UINT64_C(1000000000000)

enum ledger_state { LEDGER_FREE, LEDGER_WARNED, LEDGER_SPENT };

/* ENOMEM. Caller owns *out. */
int ledger_alloc(struct ledger **out);
struct ledger *ledger_free(struct ledger *l);

/* The cost of the usage, at most LEDGER_REQUEST_MAX. *priced (may be NULL): every unit of it has a
 * price. */
uint64_t ledger_cost(const struct settings *s, const char *model, const struct usage *usage,
		     bool *priced);

/* Spent in this server at this time (ms since 1970). */
void ledger_add(struct ledger *l, uint64_t guild, uint64_t nano, uint64_t wall_ms);
uint64_t ledger_spent(const struct ledger *l, uint64_t wall_ms);
uint64_t ledger_spent_by(const struct ledger *l, uint64_t guild, uint64_t wall_ms);
/* The worse of the two budgets. s: the settings of this server. */
enum ledger_state ledger_state(const struct ledger *l, const struct settings *s, uint64_t guild,
			       uint64_t wall_ms);
/* When its day began, ms since 1970. */
uint64_t ledger_day_ms(uint64_t wall_ms);

#endif
