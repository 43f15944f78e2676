/* A member is erased once in a while, at once again after a failure. */
#include "control/consent/erasures.h"

#include "proto/base/time.h"
#include "tests/test.h"

enum { ANA = 501, BOB = 502 };

static const uint64_t pause = ERASURE_PAUSE_S * NS_PER_S;

TEST(a_member_waits_for_the_next_erasure)
{
	struct erasures e = {0};

	CHECK(erasures_allow(&e, ANA, 1));
	erasures_begin(&e, ANA, 1);
	CHECK(erasures_renew(&e, ANA, true));
	CHECK(!erasures_allow(&e, ANA, pause));
	CHECK(erasures_allow(&e, BOB, pause));
	CHECK(erasures_allow(&e, ANA, pause + 1));
	erasures_begin(&e, ANA, pause + 1);
	CHECK(erasures_renew(&e, ANA, true));
}

/* Words may have come into them since, whose rows are still there. */
TEST(a_failed_erasure_is_repeated_with_new_conversations)
{
	struct erasures e = {0};

	erasures_begin(&e, ANA, 1);
	CHECK(erasures_renew(&e, ANA, true));
	erasures_fail(&e, ANA);
	CHECK(erasures_allow(&e, ANA, 2));
	erasures_begin(&e, ANA, 2);
	CHECK(!erasures_allow(&e, ANA, 3)); /* it runs */
	CHECK(erasures_renew(&e, ANA, true));
	CHECK(!erasures_renew(&e, ANA, true));
	erasures_fail(&e, ANA);
	/* The pause counts from the first one. */
	erasures_begin(&e, ANA, pause + 1);
	CHECK(erasures_renew(&e, ANA, true));
}

TEST(an_erasure_that_failed_before_the_conversations_reaches_them_the_next_time)
{
	struct erasures e = {0};

	erasures_begin(&e, ANA, 1);
	erasures_fail(&e, ANA);
	erasures_begin(&e, ANA, 2);
	CHECK(erasures_renew(&e, ANA, true));
}

TEST(erasures_by_operators_always_begin_conversations_anew)
{
	struct erasures e = {0};

	CHECK(erasures_renew(&e, ANA, false));
	CHECK(erasures_renew(&e, ANA, false));
	erasures_fail(&e, ANA);
	CHECK(erasures_allow(&e, ANA, 1));
}

TEST(an_operators_erasure_after_the_members_own_begins_conversations_anew)
{
	struct erasures e = {0};

	erasures_begin(&e, ANA, 1);
	CHECK(erasures_renew(&e, ANA, true));
	CHECK(erasures_renew(&e, ANA, false));
	/* The member's own limit stays as it was. */
	CHECK(!erasures_renew(&e, ANA, true));
}

TEST(the_oldest_erasure_makes_room)
{
	struct erasures e = {0};

	for (uint64_t user = 1; user <= ERASURES_KEPT + 1; user++)
		erasures_begin(&e, user, 1);
	CHECK(erasures_allow(&e, 1, 2));
	CHECK(!erasures_allow(&e, 2, 2));
}

/* Each with an account of their own. */
TEST(strangers_are_erased_one_a_minute)
{
	struct erasures e = {0};

	CHECK(erasures_allow_stranger(&e, NS_PER_S));
	for (unsigned i = 0; i < 65; i++)
		CHECK(!erasures_allow_stranger(&e, (2 + i / 2) * NS_PER_S));
	CHECK(erasures_allow_stranger(&e, 61 * NS_PER_S));
}
