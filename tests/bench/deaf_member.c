/* A broken member in a channel for a simulated day: deaf_member_rejoins. Everybody speaks all the
 * time; the packets of one member open with nobody's key. The members are the sessions and MLS
 * states of mediad, the gateway is guildd's delivery service (tests/dave_sim).
 *
 *   BENCH_HOURS=n     of simulated time (24) */
#include "tests/bench/bench.h"
#include "tests/dave_sim/dave_sim.h"

#include <stdlib.h>

enum { WELL = 3, BROKEN = WELL, HOURS = 24, MINUTE_MS = 60000 };

int main(void)
{
	const char *wish = getenv("BENCH_HOURS");
	unsigned hours = wish ? (unsigned)atoi(wish) : HOURS, rejoins = 0, rekeys = 0;
	static struct dave_sim v;
	uint64_t silent = 0;

	BENCH_OK(dave_sim_init(&v));
	for (unsigned i = 0; i <= WELL; i++)
		dave_sim_join(&v, i);
	if (dave_sim_run_until_agreed(&v, 2000) == UINT64_MAX)
		bench_die("the members do not agree");
	v.who[BROKEN].broken = true;
	for (unsigned m = 0; m < hours * 60; m++)
		dave_sim_run(&v, MINUTE_MS);
	for (unsigned i = 0; i < WELL; i++) {
		rejoins += v.who[i].heal.rejoins;
		if (v.who[i].heal.recovers > rekeys)
			rekeys = v.who[i].heal.recovers;
		for (unsigned o = 0; o < WELL; o++)
			if (v.who[i].silent_ms[o] > silent)
				silent = v.who[i].silent_ms[o];
	}
	bench_row_more("deaf_member_rejoins", rejoins, "rejoins",
		       "\"hours\": %u, \"rekeys\": %u, \"others_not_heard_ms\": %llu, "
		       "\"violations\": %u",
		       hours, rekeys, (unsigned long long)silent, v.broken);
	dave_sim_free(&v);
	return 0;
}
