#include "mediad/dave/rekey_budget.h"

#include <string.h>

#include "proto/base/time.h"

#define DAY (24 * 3600 * NS_PER_S)

/* Seconds between an answer and the re-key before it, by the number of re-keys in the day before.
 */
static const uint16_t gaps_s[REKEY_BUDGET_A_DAY] = {0, 0, 0, 0, 0, 60, 600, 3600, 14400, 28800};

static uint64_t min_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t rekey_budget_next(const struct rekey_budget *b)
{
	uint64_t last = b->n ? b->spent[b->n - 1].at : 0;
	uint64_t next = b->n ? b->spent[b->n - 1].at + DAY : 0;

	/* The gap is shorter once the i oldest are a day old. */
	for (unsigned i = 0; i < b->n; i++) {
		unsigned left = b->n - i;
		uint64_t expired = i ? b->spent[i - 1].at + DAY : 0, at;

		if (left == REKEY_BUDGET_A_DAY)
			continue;
		at = last + gaps_s[left] * NS_PER_S;
		next = min_time(next, at > expired ? at : expired);
	}
	return next;
}

static void forget_old(struct rekey_budget *b, uint64_t now)
{
	unsigned n = 0;

	while (n < b->n && now - b->spent[n].at >= DAY)
		n++;
	b->n -= n;
	memmove(b->spent, b->spent + n, b->n * sizeof b->spent[0]);
}

static void add(struct rekey_budget *b, uint64_t now, bool single)
{
	b->spent[b->n].at = now;
	b->spent[b->n++].single = single;
}

bool rekey_budget_take(struct rekey_budget *b, uint64_t now)
{
	if (now < rekey_budget_next(b))
		return false;
	forget_old(b, now);
	add(b, now, false);
	return true;
}

bool rekey_budget_take_early(struct rekey_budget *b, uint64_t now)
{
	forget_old(b, now);
	if (b->n == REKEY_BUDGET_A_DAY)
		return false;
	add(b, now, false);
	return true;
}

bool rekey_budget_has_single(struct rekey_budget *b, uint64_t now)
{
	unsigned n = 0;

	forget_old(b, now);
	for (unsigned i = 0; i < b->n; i++)
		n += b->spent[i].single;
	return b->n < REKEY_BUDGET_A_DAY && n < REKEY_BUDGET_SINGLE;
}

void rekey_budget_take_single(struct rekey_budget *b, uint64_t now)
{
	add(b, now, true);
}
