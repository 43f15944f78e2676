#include "mediad/call/key_marks.h"

#include <string.h>

#include "mediad/transport/rtpsize.h"
#include "tests/test.h"

static bool add(struct key_marks *m, unsigned number)
{
	uint8_t key[RTPSIZE_KEY] = {1};

	memcpy(key + 8, &number, sizeof number);
	if (!key_marks_begin(m, key))
		return false;
	key_marks_used(m);
	return true;
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

/* What was recorded was never opened, so it can be heard once at most. */
TEST(key_marks_leave_a_key_that_was_not_used)
{
	const uint8_t key[RTPSIZE_KEY] = {2};
	struct key_marks m = {0};

	CHECK(key_marks_begin(&m, key));
	CHECK(key_marks_begin(&m, key));
	key_marks_used(&m);
	key_marks_used(&m);
	CHECK_INT(m.n, 1);
	CHECK(!key_marks_begin(&m, key));
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
