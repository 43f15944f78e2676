/* The explorer's figures (tests/room/explore.h): EXPLORE_SECONDS of processor time, else three
 * million steps. */
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/room/explore.h"

enum { RUN_OPS = 600, STEPS = 3000000 };

int main(void)
{
	static struct watch_seen seen;
	const char *seconds = getenv("EXPLORE_SECONDS");
	uint64_t steps = 0, seed = 1, most = seconds ? strtoull(seconds, NULL, 10) * 1000000000 : 0;
	struct explore_run *run = calloc(1, sizeof *run);
	struct explore *x = NULL;
	unsigned broken = 0;

	if (!run)
		bench_die("out of memory");
	BENCH_OK(explore_alloc(&x, &seen));
	broken += explore_all(x, run, 3, &steps) != NULL;
	while (most ? bench_cpu() < most : seen.changed < STEPS)
		broken += explore_random(x, run, seed++, RUN_OPS, &steps) != NULL;
	bench_row_more("explore_steps", (double)seen.changed, "", "\"all\": %llu",
		       (unsigned long long)steps);
	bench_row("explore_violations", broken, "");
	explore_free(x);
	free(run);
	return 0;
}
