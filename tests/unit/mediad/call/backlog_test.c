#include "mediad/call/backlog.h"

#include <errno.h>

#include "tests/test.h"

/* What goes in comes out, in order, however the portions differ. */
TEST(backlog_keeps_order_and_gives_memory_back)
{
	struct backlog b = {0};
	int16_t in[700], out[960];
	uint32_t wrote = 0, read = 0;

	for (unsigned round = 0; round < 4000; round++) {
		size_t n = round % 700, got;

		for (size_t i = 0; i < n; i++)
			in[i] = (int16_t)wrote++;
		CHECK_INT(backlog_append(&b, (const uint8_t *)in, n), 0);
		/* It grows for a while, then it shrinks. */
		got = backlog_take(&b, out, round < 1000 ? 100 : 960);
		for (size_t i = 0; i < got; i++)
			CHECK_INT(out[i], (int16_t)read++);
	}
	while (b.n) {
		size_t got = backlog_take(&b, out, 960);

		for (size_t i = 0; i < got; i++)
			CHECK_INT(out[i], (int16_t)read++);
	}
	CHECK_INT(read, wrote);
	CHECK_INT(backlog_take(&b, out, 960), 0);
	backlog_clear(&b);
	CHECK(!b.pcm && !b.cap);
}

/* A long stream that is taken as fast as it comes needs no more memory than its greatest length. */
TEST(backlog_does_not_grow_with_what_went_through)
{
	static int16_t pcm[24000];
	struct backlog b = {0};

	CHECK_INT(backlog_append(&b, (const uint8_t *)pcm, 24000), 0);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK_INT(backlog_append(&b, (const uint8_t *)pcm, 960), 0);
		CHECK_INT(backlog_take(&b, pcm, 960), 960);
	}
	CHECK(b.cap <= 4 * 24000);
	backlog_clear(&b);
}

/* It is filled to what was reserved, and stays so while a part of it goes and comes. */
TEST(backlog_holds_no_more_than_was_reserved)
{
	enum { MOST = 100000, PART = 960 };
	struct backlog b = {0};
	int16_t pcm[PART], out[PART];
	uint32_t wrote = 0, read = 0;

	CHECK(backlog_reserve(&b, MOST * sizeof(int16_t)));
	for (unsigned i = 0; i < 1000; i++) {
		size_t n = MOST - b.n < PART ? MOST - b.n : PART;

		for (size_t k = 0; k < n; k++)
			pcm[k] = (int16_t)wrote++;
		CHECK_INT(backlog_append(&b, (const uint8_t *)pcm, n), 0);
		CHECK(b.cap <= MOST);
		n = i % 3 ? 0 : backlog_take(&b, out, 500 + i % 400);
		for (size_t k = 0; k < n; k++)
			CHECK_INT(out[k], (int16_t)read++);
	}
	CHECK(wrote > 2 * MOST);
	backlog_clear(&b);
	backlog_release(&b);
}

TEST_OOM(backlog_without_memory_keeps_what_it_has)
{
	static int16_t pcm[30000], out[4];
	struct backlog b = {0};
	int err;

	pcm[0] = 5;
	err = backlog_append(&b, (const uint8_t *)pcm, 4);
	CHECK_OOM(err, backlog_clear(&b));
	err = backlog_append(&b, (const uint8_t *)pcm, 30000);
	if (err)
		CHECK(b.n == 4 && backlog_take(&b, out, 4) == 4 && out[0] == 5);
	backlog_clear(&b);
	CHECK_OOM(err, (void)0);
}

/* However many playbacks there are, they hold no more than this together. */
TEST(backlogs_share_what_they_may_hold)
{
	struct backlog b[3] = {0};

	CHECK(backlog_reserve(&b[0], BACKLOG_ALL_MAX - 10));
	CHECK(!backlog_reserve(&b[0], 1)); /* once */
	CHECK(!backlog_reserve(&b[1], 11));
	CHECK(backlog_reserve(&b[1], 10));
	CHECK(!backlog_reserve(&b[2], 1));
	backlog_clear(&b[0]); /* the playback may be sent more */
	CHECK(!backlog_reserve(&b[2], 1));
	backlog_release(&b[0]);
	CHECK(backlog_reserve(&b[2], BACKLOG_ALL_MAX - 10));
	backlog_release(&b[1]);
	backlog_release(&b[2]);
	backlog_release(&b[2]); /* twice frees nothing of others */
	CHECK(backlog_reserve(&b[0], BACKLOG_ALL_MAX));
	backlog_release(&b[0]);
}
