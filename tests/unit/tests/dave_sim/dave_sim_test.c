/* Whole calls: sessions and keyrooms of mediad through guildd's delivery service, with what the
 * network does to them. */
#include "tests/dave_sim/dave_sim.h"

#include "tests/test.h"

#define AGREED(v, most)                                                                            \
	do {                                                                                       \
		uint64_t ms_ = dave_sim_run_until_agreed(v, most);                                 \
		if (ms_ == UINT64_MAX) {                                                           \
			test_fail(__FILE__, __LINE__, "no agreement within %u ms",                 \
				  (unsigned)(most));                                               \
			dave_sim_free(v);                                                          \
			return;                                                                    \
		}                                                                                  \
	} while (0)

TEST(dave_village_comes_one_by_one)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 8; i++) {
		dave_sim_join(&v, i);
		AGREED(&v, 200);
	}
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}

TEST(dave_village_comes_at_once)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 12; i++)
		dave_sim_join(&v, i);
	AGREED(&v, 200);
	for (unsigned i = 3; i < 12; i++)
		dave_sim_leave(&v, i);
	AGREED(&v, 200);
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}

TEST(dave_village_empties_and_refills)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	dave_sim_join(&v, 0);
	for (unsigned n = 0; n < 6; n++) {
		AGREED(&v, 200);
		CHECK(!dave_session_sending(v.who[0].s));
		dave_sim_run(&v, 46000);
		CHECK(dave_sim_agree(&v));
		dave_sim_join(&v, 1 + n % 2);
		AGREED(&v, 200);
		dave_sim_leave(&v, 1 + n % 2);
	}
	CHECK(v.who[0].heal.recovers == 0 && v.who[0].heal.invalid == 0 && v.broken == 0);
	dave_sim_free(&v);
}

/* ---- faults: one message to one member ---- */

struct fault {
	unsigned to, op, left; /* so many messages */
	enum { GONE, BENT, AGAIN, CUT } how;
	unsigned at; /* byte that is bent */
};

static enum fate on_letter(struct dave_sim *v, struct dave_sim_message *l, void *arg)
{
	struct fault *f = arg;

	(void)v;
	if (!f->left || l->to != f->to || l->op != f->op)
		return DELIVER;
	f->left--;
	switch (f->how) {
	case GONE:
		return LOSE;
	case AGAIN:
		return TWICE;
	case CUT:
		l->n /= 2;
		return DELIVER;
	case BENT:
		if (l->n)
			l->p[f->at ? l->n * f->at / 100 : l->n - 1] ^= 0x40;
		return DELIVER;
	}
	return DELIVER;
}

static uint64_t longest_silence(const struct dave_sim *v)
{
	uint64_t ms = 0;

	for (unsigned i = 0; i < DAVE_SIM_MAX; i++)
		for (unsigned o = 0; o < DAVE_SIM_MAX; o++)
			ms = v->who[i].silent_ms[o] > ms ? v->who[i].silent_ms[o] : ms;
	return ms;
}

/* Three are there and a fourth comes, who is hit or another one is. How long somebody did not hear
 * somebody; UINT64_MAX when it did not end. */
static uint64_t healed(struct dave_sim *v, struct fault *f, unsigned rejoins)
{
	uint64_t ms;

	if (dave_sim_init(v))
		return UINT64_MAX;
	for (unsigned i = 0; i < 3; i++) {
		dave_sim_join(v, i);
		dave_sim_run(v, 40);
	}
	v->fateh = on_letter;
	v->arg = f;
	dave_sim_join(v, 3);
	dave_sim_run_until_agreed(v, 4000);
	/* And so it stays. */
	dave_sim_run(v, 20000);
	ms = dave_sim_agree(v) ? longest_silence(v) : UINT64_MAX;
	for (unsigned i = 0; i < 4; i++)
		if (v->who[i].heal.rejoins > rejoins)
			ms = UINT64_MAX;
	dave_sim_free(v);
	return ms;
}

TEST(dave_village_heals_one_fault_within_2_s)
{
	static struct dave_sim v;
	static const struct fault faults[] = {
		{1, 27, 1, GONE, 0},  {1, 27, 1, BENT, 50}, {1, 27, 1, BENT, 0},
		{1, 27, 1, CUT, 0},   {1, 29, 1, GONE, 0},  {1, 29, 1, BENT, 50},
		{1, 29, 1, BENT, 0},  {1, 29, 1, CUT, 0},   {3, 30, 1, GONE, 0},
		{3, 30, 1, BENT, 50}, {3, 30, 1, BENT, 15}, {3, 30, 1, CUT, 0},
		{1, 22, 1, GONE, 0},  {3, 22, 1, GONE, 0},  {3, 25, 1, BENT, 90},
		{3, 11, 1, GONE, 0},  {1, 11, 1, GONE, 0},  {1, 27, 1, AGAIN, 0},
		{1, 29, 1, AGAIN, 0}, {3, 30, 1, AGAIN, 0}, {1, 22, 1, AGAIN, 0},
		{3, 25, 1, AGAIN, 0},
	};

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct fault f = faults[i];
		uint64_t ms = healed(&v, &f, f.op == 25);

		if (f.left)
			test_fail(__FILE__, __LINE__, "fault %zu did not happen", i);
		if (ms > 2000)
			test_fail(__FILE__, __LINE__, "op %u to %u, %u: %lld ms", f.op, f.to, f.how,
				  (long long)ms);
		if (v.broken)
			test_fail(__FILE__, __LINE__, "op %u to %u: %u broken", f.op, f.to,
				  v.broken);
	}
}

/* ---- the life of a channel ---- */

TEST(dave_village_heals_a_changed_external_sender)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 4; i++)
		dave_sim_join(&v, i);
	AGREED(&v, 200);
	CHECK_INT(gd_group_new_sender(v.ds), 0);
	dave_sim_join(&v, 4);
	AGREED(&v, 4000);
	CHECK(longest_silence(&v) < 2000);
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}

TEST(dave_village_survives_groups_made_anew)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 5; i++)
		dave_sim_join(&v, i);
	AGREED(&v, 200);
	for (unsigned n = 0; n < 5; n++) {
		gd_group_reinit(v.ds, v.now);
		AGREED(&v, 2000);
	}
	CHECK_INT(longest_silence(&v), 0);
	CHECK(v.who[0].heal.recovers == 0 && v.broken == 0);
	dave_sim_free(&v);
}

TEST(dave_village_takes_no_harm_from_a_stale_proposal)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 3; i++) {
		dave_sim_join(&v, i);
		AGREED(&v, 200);
	}
	gd_group_stale_proposal(v.ds);
	dave_sim_run(&v, 10000);
	CHECK(dave_sim_agree(&v));
	CHECK(v.who[0].heal.invalid == 0 && v.who[0].heal.recovers == 0);
	dave_sim_free(&v);
}

TEST(dave_village_downgrades_for_who_speaks_no_dave_and_upgrades_again)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 3; i++)
		dave_sim_join(&v, i);
	AGREED(&v, 200);
	for (unsigned n = 0; n < 3; n++) {
		v.who[3].max = 0;
		dave_sim_join(&v, 3);
		dave_sim_run(&v, 3000);
		for (unsigned i = 0; i < 4; i++)
			CHECK(dave_session_status(v.who[i].s)->version == 0 && v.who[i].clear);
		dave_sim_leave(&v, 3);
		AGREED(&v, 3000);
		for (unsigned i = 0; i < 3; i++)
			CHECK(dave_session_status(v.who[i].s)->version == 1 && !v.who[i].clear);
	}
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}

static uint32_t dice(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(*state >> 8) * n >> 24);
}

/* A join or a leave every half second. */
static void storm(struct dave_sim *v, uint32_t seed, unsigned events, unsigned ms)
{
	for (unsigned i = 0; i < 3; i++)
		dave_sim_join(v, i);
	dave_sim_run(v, 100);
	for (unsigned n = 0; n < events; n++) {
		unsigned i = 3 + dice(&seed, 7);

		if (v->who[i].here)
			dave_sim_leave(v, i);
		else
			dave_sim_join(v, i);
		dave_sim_run(v, ms);
	}
}

TEST(dave_village_in_a_storm_hears_without_a_break)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	storm(&v, 7, 60, 500);
	AGREED(&v, 3000);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned o = 0; o < 3; o++)
			CHECK_INT(v.who[i].silent_ms[o], 0);
	CHECK(v.who[0].heal.invalid == 0 && v.who[0].heal.recovers == 0 && v.broken == 0);
	dave_sim_free(&v);
}

TEST(dave_village_in_a_storm_of_overlapping_transitions)
{
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	v.sw.dave_overlap = 1;
	storm(&v, 8, 60, 60);
	AGREED(&v, 3000);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned o = 0; o < 3; o++)
			CHECK_INT(v.who[i].silent_ms[o], 0);
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}

/* ---- anything at all ---- */

struct weather {
	uint32_t state;
	unsigned permille;
};

static enum fate weather(struct dave_sim *v, struct dave_sim_message *l, void *arg)
{
	struct weather *w = arg;

	(void)v;
	/* Op 4 has no sequel in a session; the rest may be hit. */
	if (l->op == 4 || dice(&w->state, 1000) >= w->permille)
		return DELIVER;
	switch (dice(&w->state, 4)) {
	case 0:
		return LOSE;
	case 1:
		return TWICE;
	case 2:
		l->n = dice(&w->state, (uint32_t)l->n + 1);
		return DELIVER;
	default:
		if (l->n)
			l->p[dice(&w->state, (uint32_t)l->n)] ^=
				(uint8_t)(1 + dice(&w->state, 255));
		return DELIVER;
	}
}

/* Bad weather for a while; afterwards all hear each other again, however long the waits have
 * become. */
TEST(dave_village_outlives_bad_weather)
{
	static struct dave_sim v;

	for (uint32_t seed = 1; seed <= 3; seed++) {
		struct weather w = {seed, 60};

		CHECK_INT(dave_sim_init(&v), 0);
		v.sw.dave_overlap = seed % 2;
		v.fateh = weather;
		v.arg = &w;
		storm(&v, seed, 20, 300);
		w.permille = 0;
		AGREED(&v, 200 * 1000);
		CHECK_INT(v.broken, 0);
		dave_sim_free(&v);
	}
}

/* Two members have the gateway re-key the group every 2 s, each by an op 31: what they say of a
 * commit that was never sent. Nobody else notices. */
TEST(dave_village_hears_through_op_31_of_two_members)
{
	static const uint8_t cut[1];
	static struct dave_sim v;

	CHECK_INT(dave_sim_init(&v), 0);
	for (unsigned i = 0; i < 5; i++)
		dave_sim_join(&v, i);
	AGREED(&v, 200);
	for (unsigned i = 0; i < 60; i++) {
		for (unsigned hostile = 3; hostile < 5; hostile++) {
			v.who[hostile].heal = (struct dave_heal_state){0};
			dave_session_binary(v.who[hostile].s, v.now, 29, cut, 1);
			dave_sim_run(&v, 1000);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		CHECK(v.who[i].epochs >= 100);
		CHECK(v.who[i].heal.recovers + v.who[i].heal.rejoins + v.who[i].heal.invalid == 0);
		for (unsigned o = 0; o < 3; o++)
			CHECK_INT(v.who[i].silent_ms[o], 0);
	}
	AGREED(&v, 5000);
	CHECK_INT(v.broken, 0);
	dave_sim_free(&v);
}
