#include "mediad/transport/nonces.h"

#include <string.h>

/* Inserts the counter into one list. Returns false when it has no place there. */
static bool insert_counter(unsigned *n, uint32_t top[NONCES_KEPT], uint32_t counter)
{
	unsigned i = 0;

	while (i < *n && top[i] > counter)
		i++;
	if (i == NONCES_KEPT || (i < *n && top[i] == counter))
		return false;
	*n += *n < NONCES_KEPT;
	memmove(&top[i + 1], &top[i], (*n - i - 1) * sizeof top[0]);
	top[i] = counter;
	return true;
}

bool nonces_take(struct nonces *w, const uint8_t counter[NONCES_BYTES])
{
	uint32_t read[2] = {0};
	bool fresh = false;

	for (unsigned i = 0; i < NONCES_BYTES; i++) {
		read[0] = read[0] << 8 | counter[i];
		read[1] = read[1] << 8 | counter[NONCES_BYTES - 1 - i];
	}
	/* Both lists are updated, so that a counter accepted in one order is known in the other. */
	for (unsigned o = 0; o < 2; o++)
		fresh = insert_counter(&w->order[o].n, w->order[o].top, read[o]) || fresh;
	return fresh;
}

struct counters_floor nonces_floor(const struct nonces *w)
{
	struct counters_floor f = {{0}};

	for (unsigned o = 0; o < 2; o++)
		if (w->order[o].n)
			f.next[o] = w->order[o].top[0] + (w->order[o].top[0] < UINT32_MAX);
	return f;
}

/* A full list of one counter refuses it and every lower one. */
void nonces_restart(struct nonces *w, const struct counters_floor *floor)
{
	memset(w, 0, sizeof *w);
	for (unsigned o = 0; o < 2; o++) {
		if (!floor->next[o])
			continue;
		w->order[o].n = NONCES_KEPT;
		for (unsigned i = 0; i < NONCES_KEPT; i++)
			w->order[o].top[i] = floor->next[o] - (floor->next[o] < UINT32_MAX);
	}
}
