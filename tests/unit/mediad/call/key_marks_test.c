#include "mediad/call/key_marks.h"

#include <string.h>

#include "mediad/transport/rtpsize.h"
#include "tests/test.h"

static bool add(struct key_marks *m, unsigned number)
{
	uint8_t key[RTPSIZE_KEY] = {1};

	memcpy(key + 8, &number, sizeof number);
	return key_marks_add(m, key);
}

TEST(key_marks_know_a_key_that_returns)
{
	struct key_marks m = {0};

	CHECK(add(&m, 1));
	CHECK(add(&m, 2));
	CHECK(!add(&m, 1));
	CHECK(!add(&m, 2));
	CHECK(add(&m, 3));
}

/* The oldest are forgotten, never those at the other end. */
TEST(key_marks_keep_the_newest)
{
	struct key_marks m = {0};

	for (unsigned k = 0; k < 2 * KEY_MARKS + 5; k++)
		CHECK(add(&m, k));
	CHECK(!add(&m, 2 * KEY_MARKS + 4));
	CHECK(!add(&m, KEY_MARKS + 5));
	CHECK(add(&m, KEY_MARKS + 4));
}
