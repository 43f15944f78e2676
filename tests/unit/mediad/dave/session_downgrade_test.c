/* Transitions that were announced before a downgrade to version 0 and still wait when it is
 * executed. */
#include "tests/unit/mediad/dave/script.h"

#include "tests/test.h"

#define SAID(t, want) CHECK_STR(script_said(t), want)

/* A member joins or leaves between ops 21 and 22 of a downgrade. */
static void downgrade_during_commit(struct script *t)
{
	CHECK_INT(script_start(t), 0);
	script_settled(t);
	script_op(t, 21, 20, 0, 0);
	script_epoch(t, 21);
	script_op(t, 22, 20, 0, 0);
	SAID(t, "clear:no,8000 op23:20 job:commit epoch:2 op23:21 send:none clear:yes,ever "
		"job:drop");
	script_done(t);
}

/* The group of the commit has ended, so nothing but op 22 may end version 0. */
TEST(dave_session_stays_clear_after_a_commit_before_the_downgrade)
{
	struct script t;

	downgrade_during_commit(&t);
	script_wait(&t, 3600 * 1000);
	SAID(&t, "");
	CHECK(dave_session_status(t.s)->version == 0 && dave_session_status(t.s)->ready);
	CHECK_INT(dave_session_status(t.s)->executes, 0);
	script_end(&t);
}

/* In version 1 a client without a group neither hears nor speaks, so it asks for keys. */
TEST(dave_session_asks_for_keys_in_version_1_without_a_group)
{
	struct script t;

	downgrade_during_commit(&t);
	script_op(&t, 22, 21, 0, 0);
	SAID(&t, "clear:no,10000");
	CHECK(dave_session_status(t.s)->version == 1 && !dave_session_status(t.s)->ready);
	script_wait(&t, DAVE_WELCOME_MS);
	SAID(&t, "op31:21 job:rekey");
	script_end(&t);
}

/* The same once somebody comes whom we can hear. */
TEST(dave_session_asks_for_keys_when_a_member_comes)
{
	struct script t;

	downgrade_during_commit(&t);
	script_member(&t, 1, false);
	script_member(&t, 2, false);
	script_op(&t, 22, 21, 0, 0);
	script_wait(&t, 3600 * 1000);
	SAID(&t, "clear:no,10000");
	script_member(&t, 1, true);
	script_wait(&t, DAVE_WELCOME_MS);
	SAID(&t, "op31:21 job:rekey");
	script_end(&t);
}

/* ---- requests for keys in a call without encryption ---- */

static void execute_downgrade(struct script *t)
{
	script_op(t, 21, 20, 0, 0);
	script_op(t, 22, 20, 0, 0);
	SAID(t, "clear:no,8000 op23:20 send:none clear:yes,ever job:drop");
	script_done(t);
}

/* Nobody answers op 31 in version 0, and a rejoin would follow. */
static void wait_in_the_clear(struct script *t)
{
	script_wait(t, 2 * 24 * 3600 * (uint64_t)1000);
	SAID(t, "");
	CHECK_INT(dave_session_status(t->s)->rejoins, 0);
	CHECK(dave_session_status(t->s)->ready);
	script_end(t);
}

TEST(dave_session_asks_nothing_again_without_encryption)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_mls(&t, 29, 10);
	script_verdict(&t, DAVE_INVALID);
	script_done(&t);
	SAID(&t, "job:commit op31:10 job:rekey op26");
	execute_downgrade(&t);
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	wait_in_the_clear(&t);
}

TEST(dave_session_owes_no_answer_without_encryption)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	while (rekey_budget_take_early(&t.heal.rekeys, t.now))
		;
	script_mls(&t, 29, 10);
	script_verdict(&t, DAVE_INVALID);
	SAID(&t, "job:commit");
	execute_downgrade(&t);
	wait_in_the_clear(&t);
}
