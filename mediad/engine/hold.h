/* Packets that cannot be heard yet: nobody said whose they are, or the key for them is still under
 * way. They wait as they came, opened at the transport layer alone, in the order of their arrival;
 * the oldest give way.
 *
 * Plain memory of its owner; all zero is empty. */
#ifndef MEDIAD_ENGINE_HOLD_H
#define MEDIAD_ENGINE_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOLD_PACKETS = 512, HOLD_BYTES = 65536 };

struct held {
	uint64_t at;   /* arrival */
	uint64_t pos;  /* the ring's */
	uint32_t ssrc; /* 0: it was taken */
	uint32_t ts;
	uint16_t seq, n;
	uint8_t level;
	bool padding; /* nothing but that */
	bool tried;   /* it was refused once */
	bool counts;  /* as undecryptable, should it never be opened */
};

struct hold {
	struct held packets[HOLD_PACKETS]; /* ring */
	unsigned first, n;
	uint64_t head; /* bytes written so far, with the gaps at the ring's end */
	uint8_t bytes[HOLD_BYTES];
};

/* Whether n more bytes fit, or the oldest must be dropped first. */
bool hold_fits(const struct hold *h, size_t n);
/* Only what fits: *e (but for pos) and its e->n bytes. */
void hold_put(struct hold *h, const struct held *e, const uint8_t *p);
/* The i-th, oldest first; i < h->n. */
struct held *hold_at(struct hold *h, unsigned i);
const uint8_t *hold_bytes(const struct hold *h, const struct held *e);
void hold_drop_oldest(struct hold *h);

#endif
