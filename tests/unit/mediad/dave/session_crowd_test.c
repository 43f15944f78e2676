/* More people than a group can have, while a key job runs. */
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
