#include "mediad/engine/deadlines.h"

void deadlines_init(struct deadlines *d)
{
	for (unsigned i = 0; i < DEADLINES; i++)
		d->at[i] = UINT64_MAX;
	d->end = 0;
}

void deadlines_set(struct deadlines *d, unsigned i, uint64_t at)
{
	d->at[i] = at;
	if (i >= d->end)
		d->end = i + 1;
}

uint64_t deadlines_earliest(const struct deadlines *d)
{
	uint64_t earliest = UINT64_MAX;

	for (unsigned i = 0; i < d->end; i++)
		if (d->at[i] < earliest)
			earliest = d->at[i];
	return earliest;
}
