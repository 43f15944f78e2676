/* The session machine against scripted gateways and scripted key work. */
#include "tests/unit/mediad/dave/script.h"

#include "proto/base/time.h"
#include "tests/test.h"

#define SAID(t, want) CHECK_STR(script_said(t), want)

static const struct dave_status *status(const struct script *t)
{
	return dave_session_status(t->s);
}

/* ---- joining ---- */

TEST(dave_session_accepts_nothing_before_op_4)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_member(&t, 1, true);
	CHECK(!status(&t)->known && !status(&t)->ready);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_of_version_0_is_clear_both_ways)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 0);
	SAID(&t, "clear:yes,ever");
	CHECK(status(&t)->known && status(&t)->ready && status(&t)->version == 0);
	script_undecryptable(&t, 1);
	script_wait(&t, 60000);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_joins_by_a_welcome)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	SAID(&t, "job:reset");
	CHECK_INT(t.job->channel, CHANNEL);
	script_done(&t);
	SAID(&t, "op26");
	CHECK_MEM(t.last, t.last_n, "package", 7);
	script_bin(&t, 25, "sender");
	script_done(&t);
	script_mls(&t, 30, 700);
	script_done(&t);
	SAID(&t, "job:sender job:welcome epoch:1 op23:700");
	CHECK(!status(&t)->ready && status(&t)->pending && status(&t)->epoch == 101 &&
	      status(&t)->members == 1);
	CHECK(strlen(status(&t)->privacy_code) == 30);
	script_op(&t, 22, 700, 0, 0);
	SAID(&t, "send:1");
	CHECK(status(&t)->ready && !status(&t)->pending && status(&t)->version == 1);
	CHECK(dave_session_sending(t.s)->serial == 1);
	script_end(&t);
}

TEST(dave_session_accepts_op_25_before_op_4)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_bin(&t, 25, "sender");
	dave_session_start(t.s, t.now, CHANNEL, 1);
	SAID(&t, "job:sender");
	CHECK(!status(&t)->known);
	script_done(&t);
	SAID(&t, "job:reset");
	script_end(&t);
}

TEST(dave_session_accepts_nothing_in_the_clear_with_version_1)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	SAID(&t, "clear:yes,ever clear:no,never job:reset");
	script_end(&t);
}

/* ---- order ---- */

TEST(dave_session_keeps_ops_in_order_behind_a_job)
{
	struct script t;
	static const uint64_t with[] = {1, 2, SELF, 8}, without[] = {1, SELF, 8};

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "first");
	script_op(&t, 21, 30, 1, 0);
	script_member(&t, 8, true);
	script_bin(&t, 27, "second");
	script_member(&t, 2, false);
	script_bin(&t, 27, "third");
	SAID(&t, "job:proposals");
	CHECK_MEM(t.job->in.p, t.job->in.n, "first", 5);
	CHECK_INT(t.job->n_recognized, 3);
	script_done(&t);
	SAID(&t, "op23:30 job:proposals");
	CHECK_MEM(t.job->in.p, t.job->in.n, "second", 6);
	CHECK_MEM(t.job->recognized, t.job->n_recognized * 8, with, sizeof with);
	script_done(&t);
	SAID(&t, "job:proposals");
	CHECK_MEM(t.job->recognized, t.job->n_recognized * 8, without, sizeof without);
	script_end(&t);
}

TEST(dave_session_rejoins_when_too_much_waits)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "x");
	for (unsigned i = 0; i < DAVE_WAITING_MAX; i++)
		script_op(&t, 22, 1, 0, 0);
	script_wait(&t, 0);
	SAID(&t, "job:proposals");
	script_op(&t, 22, 1, 0, 0);
	script_wait(&t, 0);
	SAID(&t, "rejoin");
	CHECK_INT(status(&t)->rejoins, 1);
	script_done(&t);
	script_bin(&t, 27, "x");
	script_wait(&t, 3600 * 1000);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_takes_a_thousand_members_at_once)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	for (uint64_t i = 0; i < 990; i++)
		script_member(&t, 100 + i * 7, true);
	script_done(&t);
	script_bin(&t, 27, "x");
	CHECK_INT(t.job->n_recognized, 991);
	script_end(&t);
}

/* A stage has many thousand listeners and no encryption: nothing to heal. A group of so many cannot
 * be. */
TEST(dave_session_of_version_0_has_any_number_of_members)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	for (uint64_t i = 0; i < 3000; i++) {
		if (i == 1500)
			dave_session_start(t.s, t.now, CHANNEL, 0);
		script_member(&t, 100 + i, true);
	}
	script_wait(&t, 10000);
	SAID(&t, "clear:yes,ever");
	for (uint64_t i = 0; i < 2995; i++)
		script_member(&t, 100 + i, false);
	script_op(&t, 24, 0, 1, 1);
	script_wait(&t, 0);
	SAID(&t, "rejoin");
	script_end(&t);
}

TEST(dave_session_heals_when_a_job_could_not_be_run)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	script_verdict(&t, DAVE_NOT_RUN);
	script_wait(&t, 0);
	SAID(&t, "job:reset rejoin");
	script_end(&t);
}

/* ---- proposals and commits ---- */

TEST(dave_session_sends_a_commit_for_each_op_27_that_gives_one)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "add");
	script_commits(&t, "one");
	script_bin(&t, 27, "add");
	script_commits(&t, "two");
	SAID(&t, "job:proposals op28 job:proposals op28");
	CHECK_MEM(t.last, t.last_n, "two", 3);
	script_bin(&t, 27, "revoke");
	script_done(&t);
	script_bin(&t, 27, "too soon");
	script_verdict(&t, DAVE_IGNORED);
	SAID(&t, "job:proposals job:proposals");
	CHECK_INT(status(&t)->invalid, 0);
	script_end(&t);
}

TEST(dave_session_ignores_a_foreign_commit_softly)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_mls(&t, 29, 4);
	script_verdict(&t, DAVE_IGNORED);
	script_mls(&t, 30, 4);
	script_done(&t);
	SAID(&t, "job:commit job:welcome epoch:1 op23:4");
	script_end(&t);
}

TEST(dave_session_answers_an_invalid_message_with_its_id_and_a_key_package)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_mls(&t, 30, 0);
	script_verdict(&t, DAVE_INVALID);
	SAID(&t, "job:welcome op31:0 job:rekey");
	script_done(&t);
	SAID(&t, "op26");
	CHECK_INT(status(&t)->invalid, 1);
	script_mls(&t, 30, 12);
	script_done(&t);
	SAID(&t, "job:welcome epoch:1 op23:12");
	script_mls(&t, 29, 13);
	script_verdict(&t, DAVE_INVALID);
	SAID(&t, "job:commit op31:13 job:rekey");
	script_end(&t);
}

TEST(dave_session_takes_a_message_cut_short_for_invalid)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_binary(t.s, t.now, 29, (const uint8_t *)"\1", 1);
	CHECK_INT(t.job->in.n, 0);
	script_verdict(&t, DAVE_INVALID);
	SAID(&t, "job:commit op31:9 job:rekey");
	script_end(&t);
}

TEST(dave_session_continues_when_an_epoch_arrives)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	t.heal.not_before = t.now + 1000 * NS_PER_MS;
	for (unsigned i = 0; i < 6; i++) {
		script_mls(&t, 30, 9);
		script_verdict(&t, DAVE_INVALID);
		if (t.job)
			script_done(&t);
	}
	script_said(&t);
	script_mls(&t, 30, 10);
	script_done(&t);
	script_wait(&t, 5000);
	SAID(&t, "job:welcome epoch:2 op23:10");
	script_end(&t);
}

TEST(dave_session_rejoins_without_an_external_sender)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	script_done(&t);
	script_bin(&t, 25, "garbage");
	script_verdict(&t, DAVE_INVALID);
	script_wait(&t, 0);
	SAID(&t, "job:reset op26 job:sender rejoin");
	script_end(&t);
}

TEST(dave_session_heals_refused_proposals_when_no_epoch_follows)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "x");
	script_verdict(&t, DAVE_REFUSED);
	script_wait(&t, 500);
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	script_wait(&t, 5000);
	SAID(&t, "job:proposals job:commit epoch:2 op23:10 send:2");
	script_bin(&t, 27, "x");
	script_verdict(&t, DAVE_REFUSED);
	script_wait(&t, DAVE_REFUSED_MS - 1);
	SAID(&t, "job:proposals");
	script_wait(&t, 1);
	SAID(&t, "op31:10 job:rekey");
	script_end(&t);
}

/* ---- transitions ---- */

TEST(dave_session_executes_transition_0_at_once)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_mls(&t, 30, 0);
	script_done(&t);
	SAID(&t, "job:welcome epoch:1 send:1");
	CHECK(status(&t)->ready && !status(&t)->pending);
	script_end(&t);
}

TEST(dave_session_sends_with_the_old_key_until_op_22)
{
	struct script t;
	const struct dave_epoch *e[4];

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	SAID(&t, "job:commit epoch:2 op23:10");
	CHECK(dave_session_sending(t.s)->serial == 1);
	CHECK_INT(dave_session_epochs(t.s, e, 4), 2);
	CHECK(e[0]->serial == 2 && e[1]->serial == 1);
	script_op(&t, 22, 11, 0, 0);
	SAID(&t, "");
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "send:2");
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "");
	script_wait(&t, 10000);
	CHECK_INT(dave_session_epochs(t.s, e, 4), 1);
	script_end(&t);
}

TEST(dave_session_keeps_transitions_apart_by_id)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	script_epoch(&t, 11);
	script_epoch(&t, 12);
	script_said(&t);
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "send:2");
	script_op(&t, 22, 12, 0, 0);
	SAID(&t, "send:4");
	CHECK(!status(&t)->pending);
	script_op(&t, 22, 11, 0, 0);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_executes_by_proof_when_op_22_is_lost)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	dave_session_proof(t.s, t.now, 1, 1);
	script_wait(&t, 1000);
	SAID(&t, "job:commit epoch:2 op23:10");
	dave_session_proof(t.s, t.now, 1, 2);
	script_wait(&t, DAVE_EXECUTE_GRACE_MS - 1);
	SAID(&t, "");
	script_wait(&t, 1);
	SAID(&t, "send:2");
	CHECK_INT(status(&t)->executes, 1);
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_executes_before_the_others_forget_its_old_key)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	script_wait(&t, DAVE_EXECUTE_LATE_MS - 1);
	SAID(&t, "job:commit epoch:2 op23:10");
	script_wait(&t, 1);
	SAID(&t, "send:2");
	script_end(&t);
}

TEST(dave_session_downgrades)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_require(t.s, false);
	script_op(&t, 21, 20, 0, 0);
	SAID(&t, "clear:no,8000 op23:20");
	CHECK(status(&t)->version == 1);
	script_op(&t, 22, 20, 0, 0);
	SAID(&t, "send:none clear:yes,ever job:drop");
	script_done(&t);
	CHECK(status(&t)->version == 0 && status(&t)->ready && status(&t)->epoch == 0);
	CHECK_STR(status(&t)->privacy_code, "");
	script_end(&t);
}

/* No single message ends encryption, with any id: without op 22 we go on to encrypt. */
TEST(dave_session_never_sends_in_the_clear_by_op_21_alone)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_require(t.s, false);
	script_op(&t, 21, 20, 0, 0);
	script_op(&t, 21, 0, 0, 0);
	script_wait(&t, 3600 * 1000);
	SAID(&t, "clear:no,8000 op23:20");
	CHECK(status(&t)->version == 1 && status(&t)->ready);
	CHECK_INT(status(&t)->executes, 0);
	script_op(&t, 22, 0, 0, 0);
	SAID(&t, "send:none clear:yes,ever job:drop");
	script_end(&t);
}

/* Where encryption is required, op 21 changes nothing, and op 22 ends the call. */
TEST(dave_session_leaves_when_required_encryption_ends)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_require(t.s, true);
	script_op(&t, 21, 20, 0, 0);
	script_wait(&t, 10000);
	SAID(&t, "");
	script_op(&t, 22, 20, 0, 0);
	SAID(&t, "leave");
	CHECK(status(&t)->version == 1);
	script_end(&t);
}

/* A downgrade that was prepared before encryption became required no longer lets clear frames in.
 */
TEST(dave_session_closes_the_door_that_op_21_opened)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_op(&t, 21, 20, 0, 0);
	dave_session_require(t.s, true);
	SAID(&t, "clear:no,8000 op23:20 clear:no,never");
	script_op(&t, 22, 20, 0, 0);
	SAID(&t, "leave");
	script_end(&t);
}

TEST(dave_session_accepts_clear_frames_10_s_after_an_upgrade)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 0);
	script_bin(&t, 25, "sender");
	script_done(&t);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	script_mls(&t, 30, 3);
	script_done(&t);
	SAID(&t, "clear:yes,ever job:sender job:reset op26 job:welcome epoch:1 op23:3");
	CHECK(status(&t)->version == 0 && status(&t)->ready);
	script_op(&t, 22, 3, 0, 0);
	SAID(&t, "clear:no,10000 send:1");
	script_end(&t);
}

TEST(dave_session_executes_what_op_21_prepares)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_op(&t, 21, 20, 0, 0);
	script_op(&t, 21, 21, 1, 0);
	script_said(&t);
	/* The later word holds: what it goes back to is the group that is still there. */
	script_op(&t, 22, 21, 0, 0);
	SAID(&t, ""); /* clear frames are accepted for less than the 10 s after an upgrade */
	CHECK(dave_session_sending(t.s)->serial == 1);
	script_op(&t, 22, 20, 0, 0);
	script_op(&t, 21, 22, 2, 0);
	SAID(&t, "");
	script_end(&t);
}

/* Transitions 7 and 8 lead to keys that we lack, and so to the newest group when they are executed,
 * past 9, 10 and 11. With keys that come back the nonces would begin anew. */
static void waits_for_older_epochs(struct script *t)
{
	script_join(t);
	script_op(t, 21, 7, 1, 0);
	script_op(t, 21, 8, 1, 0);
	script_mls(t, 30, 9);
	script_done(t);
	script_epoch(t, 10);
	script_epoch(t, 11);
	script_said(t);
	script_op(t, 22, 7, 0, 0);
}

TEST(dave_session_never_goes_back_to_an_older_key)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	waits_for_older_epochs(&t);
	SAID(&t, "send:3");
	script_op(&t, 22, 9, 0, 0);
	script_op(&t, 22, 10, 0, 0);
	script_op(&t, 22, 11, 0, 0);
	SAID(&t, "");
	CHECK(dave_session_sending(t.s)->serial == 3);
	script_end(&t);
}

TEST(dave_session_never_goes_back_to_an_older_key_from_none)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	waits_for_older_epochs(&t);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	SAID(&t, "send:3 job:reset op26");
	script_op(&t, 22, 8, 0, 0);
	SAID(&t, "send:none");
	script_op(&t, 22, 9, 0, 0);
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "");
	CHECK(!dave_session_sending(t.s));
	script_end(&t);
}

static void left_alone(struct script *t)
{
	script_settled(t);
	script_member(t, 1, false);
	script_member(t, 2, false);
}

TEST(dave_session_sends_nothing_when_it_is_alone)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	left_alone(&t);
	script_op(&t, 24, 0, 1, 1);
	script_op(&t, 21, 0, 1, 0);
	SAID(&t, "send:none job:reset");
	script_done(&t);
	SAID(&t, "op26");
	CHECK(!status(&t)->ready && status(&t)->epoch == 0 && status(&t)->version == 1);
	script_wait(&t, 600000);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_sends_nothing_when_it_is_alone_whatever_the_order)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	left_alone(&t);
	script_op(&t, 21, 0, 1, 0);
	script_op(&t, 24, 0, 1, 1);
	SAID(&t, "send:none job:reset");
	script_end(&t);
}

TEST(dave_session_empties_and_refills)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	left_alone(&t);
	for (uint16_t i = 0; i < 5; i++) {
		script_op(&t, 24, 0, 1, 1);
		script_done(&t);
		script_op(&t, 21, 0, 1, 0);
		script_member(&t, 1, true);
		script_bin(&t, 27, "add");
		script_commits(&t, "commit");
		script_mls(&t, 29, (uint16_t)(20 + i));
		script_done(&t);
		script_op(&t, 22, (uint16_t)(20 + i), 0, 0);
		CHECK(status(&t)->ready && status(&t)->epoch);
		script_member(&t, 1, false);
	}
	CHECK_INT(status(&t)->invalid, 0);
	script_end(&t);
}

TEST(dave_session_keeps_its_key_while_a_group_is_made_anew)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	SAID(&t, "job:reset op26");
	CHECK(status(&t)->ready && status(&t)->epoch == 0);
	script_mls(&t, 30, 10);
	script_done(&t);
	script_op(&t, 22, 10, 0, 0);
	SAID(&t, "job:welcome epoch:2 op23:10 send:2");
	script_op(&t, 24, 0, 1, 2);
	SAID(&t, "");
	script_end(&t);
}

TEST(dave_session_keeps_its_sending_key_during_rekeying)
{
	struct script t;
	const struct dave_epoch *e[100];

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint16_t i = 0; i < 100; i++) {
		script_epoch(&t, (uint16_t)(100 + i));
		script_wait(&t, 1);
	}
	CHECK(dave_session_epochs(t.s, e, 100) <= 48);
	CHECK(e[0]->serial == 101);
	CHECK(dave_session_sending(t.s)->serial == 1);
	script_said(&t);
	script_op(&t, 22, 199, 0, 0);
	SAID(&t, "send:101");
	script_end(&t);
}

/* ---- resume ---- */

TEST(dave_session_holds_messages_until_resumed)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "add");
	dave_session_offline(t.s, t.now);
	script_commits(&t, "commit");
	SAID(&t, "job:proposals");
	/* Replayed before op 9. */
	script_epoch(&t, 10);
	SAID(&t, "job:commit epoch:2");
	dave_session_resumed(t.s, t.now);
	SAID(&t, "op23:10");
	/* And behind it. */
	script_epoch(&t, 11);
	script_op(&t, 22, 11, 0, 0);
	SAID(&t, "job:commit epoch:3 op23:11 send:3");
	script_end(&t);
}

TEST(dave_session_sends_a_held_key_package_and_commit)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	dave_session_offline(t.s, t.now);
	script_mls(&t, 30, 3);
	script_verdict(&t, DAVE_INVALID);
	script_done(&t);
	script_bin(&t, 27, "add");
	script_commits(&t, "commit");
	script_said(&t);
	dave_session_resumed(t.s, t.now);
	SAID(&t, "op31:3 op26 op28");
	dave_session_resumed(t.s, t.now);
	SAID(&t, "");
	script_end(&t);
}

/* ---- codes ---- */

TEST(dave_session_tells_verification_codes_one_at_a_time)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "x");
	dave_session_verify(t.s, t.now, 1);
	dave_session_verify(t.s, t.now, 2);
	dave_session_verify(t.s, t.now, 1);
	dave_session_verify(t.s, t.now, 3);
	dave_session_verify(t.s, t.now, SELF);
	SAID(&t, "job:proposals");
	script_done(&t);
	SAID(&t, "job:code");
	CHECK(t.code->user == 1 && t.code->self == SELF && t.code->theirs.n == 65 &&
	      t.code->mine.n == 65);
	/* Key work does not wait for it. */
	script_bin(&t, 27, "x");
	SAID(&t, "job:proposals");
	script_code(&t, "123");
	SAID(&t, "code:1=123");
	script_done(&t);
	SAID(&t, "job:code");
	script_code(&t, "");
	SAID(&t, "code:2= code:3= code:5=");
	script_end(&t);
}

TEST(dave_session_has_no_code_without_a_group)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	dave_session_verify(t.s, t.now, 1);
	SAID(&t, "code:1=");
	script_end(&t);
}

/* ---- allocation ---- */

TEST_OOM(dave_session_survives_a_lack_of_memory)
{
	struct script t;
	int err = script_start(&t);

	if (err)
		return;
	dave_session_start(t.s, t.now, CHANNEL, 1);
	for (uint64_t i = 0; i < 20; i++)
		script_member(&t, 100 + i, true);
	if (t.job)
		script_done(&t);
	script_bin(&t, 25, "sender");
	if (t.job)
		script_done(&t);
	script_mls(&t, 30, 3);
	if (t.job)
		script_done(&t);
	script_op(&t, 22, 3, 0, 0);
	script_bin(&t, 27, "add");
	if (t.job)
		script_done(&t);
	script_undecryptable(&t, 1);
	dave_session_verify(t.s, t.now, 1);
	if (t.code)
		script_code(&t, "1");
	script_wait(&t, 5000);
	/* What was lost is healed, or everything is well. */
	if (!test_oom_hit())
		CHECK(status(&t)->ready);
	script_end(&t);
}
