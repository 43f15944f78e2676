/* The explorer's figures (tests/room/explore.h): EXPLORE_SECONDS of processor time, else two
 * million steps of random runs that changed something. */
#include <stdlib.h>

#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/room/explore.h"

enum { RUN_OPS = 600, STEPS = 2000000 };

int main(void)
{
	static struct explore_run run;
	static struct seen seen;
	const char *seconds = getenv("EXPLORE_SECONDS");
	uint64_t seed = 1, most = seconds ? strtoull(seconds, NULL, 10) * NS_PER_S : 0;
	struct explore *x = NULL;
	unsigned broken = 0;

	BENCH_OK(explore_alloc(&x, &seen));
	while (most ? bench_cpu() < most : seen.changed < STEPS)
		broken += explore_random(x, &run, seed++, RUN_OPS) != NULL;
	bench_row_more("explore_steps", (double)seen.changed, "", "\"all\": %llu",
		       (unsigned long long)seen.steps);
	bench_row("explore_violations", broken, "");
	explore_free(x);
	return 0;
}
