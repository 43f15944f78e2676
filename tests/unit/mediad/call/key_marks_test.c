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
	return key_marks_used(m, m->number);
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
	CHECK(key_marks_used(&m, 2));
	CHECK(key_marks_used(&m, 2));
	CHECK_INT(m.n, 1);
	CHECK(!key_marks_begin(&m, key));
}

/* The audio thread tells of a key when the next one is in use already. */
TEST(key_marks_note_a_key_that_has_been_replaced)
{
	const uint8_t first[RTPSIZE_KEY] = {3}, second[RTPSIZE_KEY] = {4};
	struct key_marks m = {0};

	CHECK(key_marks_begin(&m, first));
	CHECK(key_marks_begin(&m, second));
	CHECK(key_marks_used(&m, 1));
	CHECK(!key_marks_begin(&m, first));
	CHECK(key_marks_begin(&m, second));
	CHECK_INT(m.n, 1);
	/* Too old, and never there. */
	for (unsigned i = 0; i < KEY_MARKS_RECENT; i++)
		CHECK(key_marks_begin(&m, second));
	CHECK(key_marks_used(&m, 2) && key_marks_used(&m, 0) && key_marks_used(&m, 1000));
	CHECK_INT(m.n, 1);
}

TEST(key_marks_find_the_same_key_in_use_again)
{
	const uint8_t key[RTPSIZE_KEY] = {5};
	struct key_marks m = {0};

	CHECK(key_marks_begin(&m, key));
	CHECK(key_marks_begin(&m, key));
	CHECK(!key_marks_used(&m, 1));
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
