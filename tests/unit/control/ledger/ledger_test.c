/* What requests cost, and the budgets of a day. */
#include "control/ledger/ledger.h"

#include "control/settings/prices.h"
#include "control/settings/settings.h"
#include "tests/test.h"

#define DAY  UINT64_C(86400000)
#define CENT UINT64_C(10000000)

static uint64_t cost(const struct settings *s, const char *model, enum price_kind kind, uint64_t n,
		     bool *priced)
{
	struct usage u = {0};

	u.n[kind] = n;
	return ledger_cost(s, model, &u, priced);
}

TEST(a_request_costs_what_its_units_cost)
{
	struct settings *s = NULL;
	struct usage u = {
		.n = {[PRICE_TEXT_IN] = 1000, [PRICE_TEXT_CACHED] = 200, [PRICE_TEXT_OUT] = 50}};
	bool priced = false;

	CHECK_INT(settings_alloc(&s), 0);
	/* 1000 x 0.15 + 200 x 0.075 + 50 x 0.60 millionths of a dollar */
	CHECK_INT(ledger_cost(s, "gpt-4o-mini", &u, &priced), 195000);
	CHECK(priced);
	/* A dated edition costs the same; another model does not. */
	CHECK_INT(ledger_cost(s, "gpt-4o-mini-2024-07-18", &u, &priced), 195000);
	CHECK_INT(cost(s, "gpt-4o-minimal", PRICE_TEXT_IN, 1000, &priced), 0);
	CHECK(!priced);
	/* The longest name counts. */
	CHECK_INT(cost(s, "gpt-realtime-mini", PRICE_AUDIO_OUT, 1000000, &priced), 20 * 100 * CENT);
	CHECK_INT(cost(s, "gpt-realtime-2.1", PRICE_AUDIO_OUT, 1000000, &priced), 64 * 100 * CENT);
	/* A unit without a price makes the request one that is not priced. */
	u.n[PRICE_SECONDS] = 3;
	CHECK_INT(ledger_cost(s, "gpt-4o-mini", &u, &priced), 195000);
	CHECK(!priced);
	settings_free(s);
}

TEST(numbers_of_a_provider_never_wrap_an_amount)
{
	struct usage u = {.n = {[PRICE_TEXT_IN] = UINT64_MAX, [PRICE_TEXT_OUT] = UINT64_MAX}};
	struct settings *s = NULL;
	struct ledger *l = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(ledger_alloc(&l), 0);
	CHECK(ledger_cost(s, "gpt-4o-mini", &u, NULL) == LEDGER_REQUEST_MAX);
	u.n[PRICE_TEXT_IN] = 1;
	CHECK(ledger_cost(s, "gpt-4o-mini", &u, NULL) == LEDGER_REQUEST_MAX);
	/* 2^64 / 150000 and a bit, which a product of 64 bits makes next to nothing. */
	u = (struct usage){.n = {[PRICE_TEXT_IN] = UINT64_C(122978293824731)}};
	CHECK(ledger_cost(s, "gpt-4o-mini", &u, NULL) == LEDGER_REQUEST_MAX);
	ledger_add(l, 1, UINT64_MAX - 1, DAY);
	ledger_add(l, 1, 5, DAY);
	CHECK(ledger_spent(l, DAY) == UINT64_MAX);
	CHECK(ledger_spent_by(l, 1, DAY) == UINT64_MAX);
	ledger_free(l);
	settings_free(s);
}

TEST(prices_of_the_settings_come_first)
{
	struct settings *s = NULL;
	bool priced = false;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "prices",
			       "[{\"model\":\"gpt-4o-mini\",\"kind\":\"text_in\",\"usd\":2},"
			       "{\"model\":\"mine\",\"kind\":\"seconds\",\"usd\":0}]"),
		  0);
	CHECK_INT(cost(s, "gpt-4o-mini", PRICE_TEXT_IN, 1000000, &priced), 200 * CENT);
	CHECK_INT(cost(s, "mine", PRICE_SECONDS, 1000, &priced), 0);
	CHECK(priced);
	settings_free(s);
}

TEST(requests_of_search_services_have_prices)
{
	struct settings *s = NULL;
	bool priced = false;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(cost(s, "brave", PRICE_REQUESTS, 1, &priced), 5000000);
	CHECK(priced);
	CHECK_INT(settings_set(s, "prices",
			       "[{\"model\":\"brave\",\"kind\":\"requests\",\"usd\":3000}]"),
		  0);
	CHECK_INT(cost(s, "brave", PRICE_REQUESTS, 1, &priced), 3000000);
	cost(s, "brave", PRICE_TEXT_IN, 1, &priced);
	CHECK(!priced);
	settings_free(s);
}

TEST(kinds_have_the_names_of_the_records)
{
	char name[16];

	settings_price_kind(PRICE_TEXT_IN, name, sizeof name);
	CHECK_STR(name, "text_in");
	settings_price_kind(PRICE_SECONDS, name, sizeof name);
	CHECK_STR(name, "seconds");
	settings_price_kind(PRICE_REQUESTS, name, sizeof name);
	CHECK_STR(name, "requests");
}

TEST(a_budget_is_warned_about_and_spent_for_a_day)
{
	struct settings *s = NULL;
	struct ledger *l = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(ledger_alloc(&l), 0);
	ledger_add(l, 1, 900 * CENT, 10 * DAY);
	CHECK_INT(ledger_state(l, s, 1, 10 * DAY), LEDGER_FREE); /* no budget */
	CHECK_INT(settings_set(s, "cost_guild_cents", "1000"), 0);
	CHECK_INT(ledger_state(l, s, 1, 10 * DAY), LEDGER_WARNED);
	CHECK_INT(ledger_state(l, s, 2, 10 * DAY), LEDGER_FREE);
	CHECK_INT(settings_set(s, "cost_warn_percent", "0"), 0);
	CHECK_INT(ledger_state(l, s, 1, 10 * DAY), LEDGER_FREE);
	ledger_add(l, 1, 100 * CENT, 10 * DAY + 5);
	CHECK_INT(ledger_state(l, s, 1, 10 * DAY + 5), LEDGER_SPENT);
	CHECK_INT(ledger_spent_by(l, 1, 10 * DAY + 5), 1000 * CENT);
	/* That of all servers together counts for each. */
	CHECK_INT(settings_set(s, "cost_day_cents", "1000"), 0);
	CHECK_INT(ledger_state(l, s, 2, 10 * DAY + 5), LEDGER_SPENT);
	/* A clock that is set back opens no day again, and the next day begins with nothing. */
	ledger_add(l, 2, CENT, 9 * DAY);
	CHECK_INT(ledger_spent(l, 10 * DAY), 1001 * CENT);
	CHECK_INT(ledger_state(l, s, 1, 11 * DAY), LEDGER_FREE);
	ledger_add(l, 1, CENT, 11 * DAY + 1);
	CHECK_INT(ledger_spent(l, 11 * DAY + 1), CENT);
	CHECK_INT(ledger_day_ms(11 * DAY + 77), 11 * DAY);
	ledger_free(l);
	settings_free(s);
}

TEST(servers_beyond_the_table_count_together_alone)
{
	struct ledger *l = NULL;

	CHECK_INT(ledger_alloc(&l), 0);
	for (uint64_t g = 1; g <= LEDGER_GUILDS + 3; g++)
		ledger_add(l, g, 2, DAY);
	CHECK_INT(ledger_spent(l, DAY), 2 * (LEDGER_GUILDS + 3));
	CHECK_INT(ledger_spent_by(l, LEDGER_GUILDS, DAY), 2);
	CHECK_INT(ledger_spent_by(l, LEDGER_GUILDS + 1, DAY), 0);
	ledger_free(l);
}

TEST_OOM(a_ledger_without_memory)
{
	struct ledger *l = NULL;
	int err = ledger_alloc(&l);

	ledger_free(l);
	CHECK_OOM(err, (void)0);
}
