#include "mediad/dave/rekey_budget.h"

#include "proto/base/time.h"
#include "tests/test.h"

enum { A_DAY_S = 24 * 3600 };

static uint64_t at_s(uint64_t s)
{
	return (1000 + s) * NS_PER_S;
}

/* Takes one as soon as it may. *waited: how long that took, in s. */
static void take_next(struct rekey_budget *b, uint64_t *now, uint64_t *waited)
{
	uint64_t from = *now, next = rekey_budget_next(b);

	*now = next > from ? next : from;
	CHECK(*now == from || !rekey_budget_take(b, *now - 1));
	CHECK(rekey_budget_take(b, *now));
	*waited = (*now - from) / NS_PER_S;
}

TEST(rekey_budget_waits_longer_each_time)
{
	static const unsigned waits[] = {0, 0, 0, 0, 0, 60, 600, 3600, 14400, 28800};
	struct rekey_budget b = {0};
	uint64_t now = at_s(0), waited, sum = 0;

	for (unsigned i = 0; i < REKEY_BUDGET_A_DAY; i++) {
		take_next(&b, &now, &waited);
		CHECK_INT(waited, waits[i]);
		sum += waits[i];
	}
	take_next(&b, &now, &waited);
	CHECK_INT(waited, A_DAY_S - sum);
}

TEST(rekey_budget_is_for_any_day)
{
	struct rekey_budget b = {0};
	uint64_t now = at_s(0), waited, at[100];

	for (unsigned i = 0; i < 100; i++) {
		take_next(&b, &now, &waited);
		at[i] = now;
		CHECK(i < REKEY_BUDGET_A_DAY ||
		      now - at[i - REKEY_BUDGET_A_DAY] >= A_DAY_S * NS_PER_S);
	}
}

/* Hours apart, answers do not wait for one another. */
TEST(rekey_budget_answers_rare_messages_at_once)
{
	struct rekey_budget b = {0};

	for (uint64_t i = 0; i < 24; i++)
		CHECK(rekey_budget_take(&b, at_s(i * 4 * 3600)));
}

TEST(rekey_budget_keeps_some_for_answers)
{
	struct rekey_budget b = {0};
	uint64_t now = at_s(0), waited;

	for (unsigned i = 0; i < REKEY_BUDGET_SINGLE; i++) {
		CHECK(rekey_budget_has_single(&b, now));
		rekey_budget_take_single(&b, now);
	}
	CHECK(!rekey_budget_has_single(&b, now));
	for (unsigned i = REKEY_BUDGET_SINGLE; i < REKEY_BUDGET_A_DAY; i++)
		take_next(&b, &now, &waited);
	CHECK(rekey_budget_next(&b) == at_s(A_DAY_S));
	CHECK(!rekey_budget_has_single(&b, at_s(A_DAY_S) - 1));
	CHECK(rekey_budget_has_single(&b, at_s(A_DAY_S)));
}
