/* Explores the core of text chat: text-explore [--steps N] [--seed N] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/text/explore.h"

enum { ROUND = 200000 }; /* a fresh core */

int main(int argc, char **argv)
{
	uint64_t steps = 20000000, seed = 1, done = 0, asks = 0, sends = 0, reactions = 0,
		 ended = 0, restarts = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--steps") == 0)
			steps = strtoull(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(argv[i + 1], NULL, 10);
	}
	for (; done < steps; seed++) {
		struct text_explore_result r;
		uint64_t left = steps - done;

		text_explore(&r, seed, left < ROUND ? left : ROUND);
		done += r.steps;
		asks += r.asks;
		sends += r.sends;
		reactions += r.reactions;
		ended += r.ended;
		restarts += r.restarts;
		if (!r.passed) {
			printf("seed %llu, step %llu: %s\n", (unsigned long long)seed,
			       (unsigned long long)r.steps, r.why);
			return 1;
		}
	}
	printf("%llu steps, %llu asked, %llu sent, %llu reactions, %llu ended, %llu restarts, no "
	       "violation\n",
	       (unsigned long long)done, (unsigned long long)asks, (unsigned long long)sends,
	       (unsigned long long)reactions, (unsigned long long)ended,
	       (unsigned long long)restarts);
	return 0;
}
