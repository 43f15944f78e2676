#include "mediad/engine/pending_queue.h"

#include "tests/test.h"

enum { MOST = 4000 };

/* The ring beside a list that forgets nothing. */
TEST(pending_queue_keeps_the_newest_in_order)
{
	static struct pending_queue h;
	static struct pending_packet list[MOST];
	uint8_t p[1500];
	uint32_t r = 88172645;
	unsigned first = 0;

	memset(&h, 0, sizeof h);
	for (unsigned k = 0; k < MOST; k++) {
		r ^= r << 13;
		r ^= r >> 17;
		r ^= r << 5;
		list[k] = (struct pending_packet){.ssrc = k + 1,
						  .seq = (uint16_t)k,
						  .n = (uint16_t)(r % (k & 512 ? 1500 : 90))};
		memset(p, (int)(k & 0xff), sizeof p);
		while (!pending_queue_fits(&h, list[k].n)) {
			CHECK(h.n > 10);
			pending_queue_drop_oldest(&h);
			first++;
		}
		pending_queue_put(&h, &list[k], p);
		CHECK_INT(h.n, k + 1 - first);
		if (k % 37 == 0 && h.n > 5) {
			pending_queue_drop_oldest(&h);
			first++;
		}
		for (unsigned i = 0; i < h.n; i++) {
			const struct pending_packet *e = pending_queue_at(&h, i);

			CHECK_INT(e->ssrc, list[first + i].ssrc);
			CHECK_INT(e->n, list[first + i].n);
			for (unsigned b = 0; b < e->n; b += 7)
				CHECK_INT(pending_queue_bytes(&h, e)[b], (first + i) & 0xff);
		}
	}
	while (h.n)
		pending_queue_drop_oldest(&h);
	CHECK(pending_queue_fits(&h, PENDING_QUEUE_BYTES));
	CHECK(!pending_queue_fits(&h, PENDING_QUEUE_BYTES + 1));
}
