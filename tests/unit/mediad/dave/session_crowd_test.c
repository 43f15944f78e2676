/* More people than a group can have, while a key job runs; people who come one after the other. */
#include "tests/unit/mediad/dave/script.h"

#include "tests/test.h"

#define SAID(t, want) CHECK_STR(script_said(t), want)

enum { CROWD = 2 * 1000 + 1 };

static const struct dave_status *status(const struct script *t)
{
	return dave_session_status(t->s);
}

static void many_come(struct script *t, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		script_member(t, 1000 + i, true);
}

/* The worker serves all calls, so a job of one may take long. Without encryption the users need not
 * be known, so a stage of thousands must not make us rejoin, again in each session. */
TEST(dave_session_without_encryption_outlasts_a_crowd_behind_a_job)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 0);
	script_bin(&t, 25, "sender");
	SAID(&t, "clear:yes,ever job:sender");
	many_come(&t, CROWD);
	script_done(&t);
	script_wait(&t, 60000);
	SAID(&t, "");
	CHECK_INT(status(&t)->rejoins, 0);
	script_end(&t);
}

TEST(dave_session_is_described_behind_a_crowd_behind_a_job)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_bin(&t, 25, "sender");
	many_come(&t, CROWD);
	dave_session_start(t.s, t.now, CHANNEL, 0);
	script_done(&t);
	script_wait(&t, 60000);
	SAID(&t, "job:sender clear:yes,ever");
	CHECK_INT(status(&t)->rejoins, 0);
	script_end(&t);
}

/* The newest comes while the commit for the one before is under way, so each epoch lacks somebody.
 */
TEST(dave_heal_asks_nothing_while_people_come_one_after_the_other)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint16_t i = 0; i < 60; i++) {
		dave_session_member(t.s, t.now, 20 + i, true);
		script_epoch(&t, 10 + i);
		script_op(&t, 22, 10 + i, 0, 0);
		script_member(&t, 20 + i, true); /* in the next one */
		script_wait(&t, 500);
		CHECK(!strstr(script_said(&t), "op31"));
	}
	CHECK_INT(status(&t)->recovers, 0);
	/* The last of them is never added. */
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	CHECK(strstr(script_said(&t), "op31"));
	script_end(&t);
}
