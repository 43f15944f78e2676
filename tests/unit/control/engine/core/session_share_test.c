/* One transcription session that all speakers share: statement 57. */
#include "tests/test.h"

#include "control/engine/core/session_share.h"

TEST(rule_057_one_holds_the_session_and_hands_it_on)
{
	struct session_share s = {0};
	bool ended = false;

	CHECK(session_share_start(&s, 1, 10));
	CHECK_INT(session_share_sound(&s, 10, 960), SESSION_SHARE_KEEPS);
	CHECK(session_share_promoted(&s, 10));
	CHECK_INT(session_share_sound(&s, 10, 960), SESSION_SHARE_HOLDS);
	/* A second user waits, and ends meanwhile; a third is not speech yet; a fourth has no
	 * sound. */
	CHECK(session_share_start(&s, 2, 20));
	CHECK_INT(session_share_sound(&s, 20, 9600), SESSION_SHARE_KEEPS);
	CHECK(!session_share_promoted(&s, 20));
	CHECK_INT(session_share_sound(&s, 20, 960), SESSION_SHARE_WAITS);
	CHECK(session_share_start(&s, 3, 30));
	session_share_sound(&s, 30, 9600);
	CHECK(session_share_start(&s, 4, 40));
	CHECK(!session_share_promoted(&s, 40));
	CHECK(!session_share_ended(&s, 20));
	CHECK_INT(session_share_holder(&s), 10);
	CHECK(session_share_ended(&s, 10));
	CHECK_INT(session_share_holder(&s), 10);
	/* Then the second is replayed and committed at once. */
	CHECK_INT(session_share_over(&s, 10, &ended), 20);
	CHECK(ended);
	CHECK_INT(session_share_holder(&s), 20);
	CHECK_INT(session_share_over(&s, 20, &ended), 0);
	CHECK_INT(session_share_holder(&s), 0);
	CHECK(session_share_promoted(&s, 30));
	/* Thrown away while it holds. */
	CHECK(session_share_start(&s, 5, 50));
	session_share_sound(&s, 50, 960);
	CHECK(!session_share_promoted(&s, 50));
	CHECK_INT(session_share_over(&s, 30, &ended), 50);
	CHECK(!ended);
	CHECK_INT(session_share_sound(&s, 50, 960), SESSION_SHARE_HOLDS);
	/* Who does not hold takes nothing with them. */
	CHECK_INT(session_share_over(&s, 40, &ended), 0);
	CHECK_INT(session_share_holder(&s), 50);
}

/* Waiters are resolved by who said what, and one who goes on waits for the own words. */
TEST(rule_057_a_speaker_who_goes_on_waits_for_the_own_words)
{
	struct session_share s = {0};
	bool ended = false;

	CHECK(session_share_start(&s, 1, 10));
	session_share_sound(&s, 10, 960);
	CHECK(session_share_promoted(&s, 10));
	CHECK(session_share_ended(&s, 10));
	CHECK(session_share_start(&s, 1, 11));
	CHECK_INT(session_share_sound(&s, 11, 960), SESSION_SHARE_KEEPS);
	CHECK(!session_share_promoted(&s, 11));
	CHECK_INT(session_share_user(&s, 10), 1);
	CHECK_INT(session_share_over(&s, 10, &ended), 11);
	CHECK(!ended);
	CHECK_INT(session_share_user(&s, 10), 1); /* better words of it may come yet */
	CHECK_INT(session_share_user(&s, 99), 0);
	CHECK_INT(session_share_of(&s, 1), 11);
	CHECK_INT(session_share_over(&s, 11, &ended), 0);
	CHECK_INT(session_share_of(&s, 1), 0);
}

TEST(what_is_kept_for_the_shared_session_is_bounded)
{
	struct session_share s = {0};

	for (uint32_t u = 1; u <= SESSION_SHARES; u++)
		CHECK(session_share_start(&s, u, u));
	CHECK(!session_share_start(&s, 999, 999));
	for (unsigned i = 0; i < 1000; i++)
		session_share_sound(&s, 1, 960);
	CHECK_INT(s.v[0].kept, SESSION_SHARE_KEPT);
	CHECK_INT(session_share_sound(&s, 998, 960), SESSION_SHARE_NONE);
}
