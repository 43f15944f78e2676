#include "mediad/engine/load.h"

#include "proto/base/time.h"

#define WINDOW (LOAD_WINDOW_MS * NS_PER_MS)

/* One window is over. */
static bool judge(struct load *l, uint64_t permille, unsigned *eased)
{
	l->calm = permille < LOAD_LOW ? l->calm + 1 : 0;
	if (permille > LOAD_HIGH && *eased < LOAD_EASED_MAX) {
		++*eased;
		return true;
	}
	if (l->calm < LOAD_CALM || !*eased)
		return false;
	l->calm = 0;
	--*eased;
	return true;
}

bool load_busy(struct load *l, uint64_t from, uint64_t to, unsigned *eased)
{
	uint64_t took;
	bool changes;

	if (!l->since)
		l->since = from;
	l->busy += to - from;
	took = to - l->since;
	if (took < WINDOW)
		return false;
	changes = judge(l, l->busy * 1000 / took, eased);
	l->since = to;
	l->busy = 0;
	return changes;
}
