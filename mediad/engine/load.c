#include "mediad/engine/load.h"

#include "proto/base/time.h"

#define WINDOW (LOAD_WINDOW_MS * NS_PER_MS)

/* Evaluates a window that ended. Returns true when *degraded changed. */
static bool evaluate_window(struct load *l, uint64_t permille, unsigned *degraded)
{
	l->calm = permille < LOAD_LOW ? l->calm + 1 : 0;
	if (permille > LOAD_HIGH && *degraded < LOAD_DEGRADED_MAX) {
		++*degraded;
		return true;
	}
	if (l->calm < LOAD_CALM || !*degraded)
		return false;
	l->calm = 0;
	--*degraded;
	return true;
}

bool load_measure(struct load *l, uint64_t from, uint64_t to, unsigned *degraded)
{
	uint64_t took;
	bool changes;

	if (!l->since)
		l->since = from;
	l->busy += to - from;
	took = to - l->since;
	if (took < WINDOW)
		return false;
	changes = evaluate_window(l, l->busy * 1000 / took, degraded);
	l->since = to;
	l->busy = 0;
	return changes;
}
