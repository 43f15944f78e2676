/* A group that has ended. */
#include "tests/unit/mediad/dave/script.h"

#include "mediad/dave/media.h"
#include "tests/test.h"

/* Nobody is there whom the end of its keys could leave deaf. Who was in the group could speak as
 * anybody who comes back, until the next epoch, if the voice server helps. */
TEST(dave_session_hears_nobody_by_a_group_that_has_ended)
{
	const struct dave_epoch *epoch;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 1, false);
	script_member(&t, 2, false);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	script_wait(&t, DAVE_GRACE_MS - 1);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 1);
	script_wait(&t, 1);
	script_member(&t, 1, true);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 0);
	script_end(&t);
}

/* The group ends first, and then the others leave. */
TEST(dave_session_hears_nobody_by_a_group_that_ended_before_they_left)
{
	const struct dave_epoch *epoch;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	script_member(&t, 1, false);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 1);
	script_member(&t, 2, false);
	script_wait(&t, DAVE_GRACE_MS - 1);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 1);
	script_wait(&t, 1);
	script_member(&t, 1, true);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 0);
	script_end(&t);
}

/* The others have left, and then we are removed from the group. */
TEST(dave_session_hears_nobody_by_a_group_that_it_was_removed_from)
{
	const struct dave_epoch *epoch;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 1, false);
	script_member(&t, 2, false);
	script_mls(&t, 29, 10);
	CHECK(t.job != NULL);
	t.job->verdict = DAVE_IGNORED;
	t.job->in_group = false;
	script_finish(&t);
	script_wait(&t, DAVE_GRACE_MS);
	script_member(&t, 1, true);
	CHECK_INT(dave_session_epochs(t.s, &epoch, 1), 0);
	script_end(&t);
}
