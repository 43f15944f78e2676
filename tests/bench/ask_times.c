#include "tests/bench/ask_times.h"

#include "proto/base/time.h"
#include "tests/bench/brain.h"
#include "tests/bench/journal_times.h"

enum { FIT_MS = 1000, CONNS = 64 };

unsigned ask_times_conn(const struct journal_times *s, const struct brain_asked *asked, size_t n)
{
	unsigned fits[CONNS] = {0}, best = 0;

	for (size_t i = 0; i < s->asks; i++)
		for (size_t k = 0; k < n; k++)
			if (asked[k].turn == s->ask[i].turn && asked[k].at >= s->ask[i].told &&
			    asked[k].at < s->ask[i].told + FIT_MS * NS_PER_MS)
				fits[asked[k].conn % CONNS]++;
	for (unsigned i = 0; i < CONNS; i++)
		if (fits[i] > fits[best])
			best = i;
	return best;
}

bool ask_times_ms(const struct journal_times *s, const struct brain_asked *asked, double *ms)
{
	unsigned number = 0;

	for (size_t i = 0; i < s->asks && !number; i++)
		if (asked->turn == s->ask[i].turn)
			number = s->ask[i].number;
	for (size_t i = 0; number && i < s->utterances; i++) {
		const struct journal_times_utterance *u = &s->utterance[i];

		if (u->number != number)
			continue;
		*ms = (double)(int64_t)(asked->at - u->speech - u->delay) / 1e6;
		return true;
	}
	return false;
}
