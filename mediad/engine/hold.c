#include "mediad/engine/hold.h"

#include <string.h>

/* Where n bytes begin: in one piece, so what is too long for the ring's end begins at its start. */
static uint64_t place(const struct hold *h, size_t n)
{
	size_t left = HOLD_BYTES - (size_t)(h->head % HOLD_BYTES);

	return n > left ? h->head + left : h->head;
}

bool hold_fits(const struct hold *h, size_t n)
{
	if (h->n == HOLD_PACKETS || n > HOLD_BYTES)
		return false;
	return !h->n || place(h, n) + n - h->packets[h->first].pos <= HOLD_BYTES;
}

void hold_put(struct hold *h, const struct held *e, const uint8_t *p)
{
	struct held *to = &h->packets[(h->first + h->n++) % HOLD_PACKETS];

	*to = *e;
	to->pos = place(h, e->n);
	if (e->n)
		memcpy(h->bytes + to->pos % HOLD_BYTES, p, e->n);
	h->head = to->pos + e->n;
}

struct held *hold_at(struct hold *h, unsigned i)
{
	return &h->packets[(h->first + i) % HOLD_PACKETS];
}

const uint8_t *hold_bytes(const struct hold *h, const struct held *e)
{
	return h->bytes + e->pos % HOLD_BYTES;
}

void hold_drop_oldest(struct hold *h)
{
	h->first = (h->first + 1) % HOLD_PACKETS;
	h->n--;
}
