/* The recovery steps: when the next one is taken, and when it must not be. */
#include "tests/unit/mediad/dave/toll.h"

#include "mediad/dave/media.h"
#include "proto/base/time.h"
#include "tests/test.h"

#define SAID(t, want) CHECK_STR(script_said(t), want)

static const struct dave_status *status(const struct script *t)
{
	return dave_session_status(t->s);
}

static void heard(struct script *t, uint64_t user)
{
	dave_session_decryption(t->s, t->now, user, true);
}

TEST(dave_heal_recovers_once_then_rejoins)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	CHECK_INT(status(&t)->heal, DAVE_HEAL_NONE);
	script_undecryptable(&t, 1);
	SAID(&t, "op31:9 job:rekey");
	CHECK(status(&t)->undecryptable == 1 && status(&t)->heal == DAVE_HEAL_RECOVER &&
	      status(&t)->recovers == 1);
	script_done(&t);
	SAID(&t, "op26");
	script_deaf_for(&t, 1, 9360);
	SAID(&t, "");
	script_deaf_for(&t, 1, 1440);
	SAID(&t, "send:none rejoin");
	CHECK(status(&t)->heal == DAVE_HEAL_REJOIN && status(&t)->rejoins == 1 &&
	      status(&t)->recovers == 1);
	script_end(&t);
}

TEST(dave_heal_resumes_when_a_gap_was_seen)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_gap(t.s, t.now);
	script_undecryptable(&t, 1);
	script_done(&t);
	SAID(&t, "op31:9 job:rekey op26");
	script_deaf_for(&t, 1, 10080);
	SAID(&t, "send:none resume");
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	script_deaf_for(&t, 1, 720);
	SAID(&t, "op31:9 job:rekey");
	script_done(&t);
	script_deaf_for(&t, 1, 59040);
	SAID(&t, "op26");
	script_deaf_for(&t, 1, 720);
	SAID(&t, "rejoin");
	CHECK(status(&t)->resumes == 1 && status(&t)->rejoins == 1);
	script_end(&t);
}

/* Op 31 would bring another welcome, and never op 25. */
TEST(dave_heal_fetches_a_lost_external_sender)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	dave_session_gap(t.s, t.now);
	script_mls(&t, 30, 9);
	script_verdict(&t, DAVE_NO_SENDER);
	SAID(&t, "job:welcome resume");
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	/* The resume did not bring it either. */
	script_mls(&t, 30, 9);
	script_verdict(&t, DAVE_NO_SENDER);
	script_wait(&t, 9999);
	SAID(&t, "job:welcome");
	script_wait(&t, 1);
	SAID(&t, "rejoin");
	script_end(&t);
	/* The gateway skipped no number. */
	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_mls(&t, 30, 9);
	script_verdict(&t, DAVE_NO_SENDER);
	script_wait(&t, 0);
	SAID(&t, "job:welcome rejoin");
	script_end(&t);
}

/* A resume that is in vain must not make the rejoin wait for a minute. */
TEST(dave_heal_misses_the_external_sender_after_it_asked_for_keys)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	dave_session_gap(t.s, t.now);
	script_wait(&t, DAVE_WELCOME_MS);
	script_done(&t);
	SAID(&t, "op31:0 job:rekey op26");
	script_mls(&t, 30, 9);
	script_verdict(&t, DAVE_NO_SENDER);
	SAID(&t, "job:welcome resume");
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	script_mls(&t, 30, 9);
	script_verdict(&t, DAVE_NO_SENDER);
	script_wait(&t, 9999);
	SAID(&t, "job:welcome");
	script_wait(&t, 1);
	SAID(&t, "rejoin");
	script_end(&t);
}

/* The gateway had given the socket up, and nobody resends what we sent to it. */
TEST(dave_heal_asks_again_when_the_question_may_be_lost)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	SAID(&t, "op31:9 job:rekey op26");
	dave_session_offline(t.s, t.now);
	script_wait(&t, 1000);
	dave_session_resumed(t.s, t.now);
	script_wait(&t, DAVE_ASK_AGAIN_MS - 1);
	SAID(&t, "");
	script_wait(&t, 1);
	SAID(&t, "op31:9 job:rekey");
	script_done(&t);
	SAID(&t, "op26");
	/* Once: a socket that is lost again and again must not re-key the group each time. */
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	script_wait(&t, 2 * DAVE_ASK_AGAIN_MS);
	SAID(&t, "");
	CHECK_INT(status(&t)->recovers, 1);
	script_end(&t);
}

TEST(dave_heal_does_not_ask_again_after_a_welcome)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	script_mls(&t, 30, 10); /* repeated by the gateway */
	script_done(&t);
	script_said(&t);
	script_wait(&t, 2 * DAVE_ASK_AGAIN_MS);
	SAID(&t, "");
	script_end(&t);
}

/* The first step of each session comes at once, the rejoin that ends it later each time. */
TEST(dave_heal_waits_longer_each_time_of_a_call)
{
	static const uint32_t want[] = {10, 60, 120, 240, 480, 960, 1920, 3600, 3600};
	uint64_t rejoined_at = 0;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t before;

		CHECK_INT(script_again(&t), 0);
		script_settled(&t);
		script_member(&t, 2,
			      false); /* the one who is left may show that our keys are wrong */
		before = t.now;
		script_undecryptable(&t, 1);
		CHECK(strstr(script_said(&t), "op31"));
		script_done(&t);
		for (unsigned n = 0; n < 6000 && !strstr(t.log, "rejoin"); n++)
			script_deaf_for(&t, 1, SCRIPT_RUN);
		script_said(&t);
		before = rejoined_at ? rejoined_at : before;
		CHECK((t.now - before) / NS_PER_S + 1 >= want[i]);
		CHECK((t.now - before) / NS_PER_S <= want[i] + 1);
		CHECK_INT(t.heal.cooldown_ms, want[i + 1] * 1000);
		rejoined_at = t.now;
	}
	CHECK(t.heal.recovers == 8 && t.heal.rejoins == 8);
	script_end(&t);
}

/* The welcome of a session that a rejoin began is lost: its own first step does not wait for the
 * cool-down of that rejoin. */
TEST(dave_heal_a_new_session_begins_with_its_own_first_step)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	script_deaf_for(&t, 1, 10800);
	CHECK_INT(status(&t)->rejoins, 1);
	CHECK_INT(script_again(&t), 0);
	script_join(&t);
	script_wait(&t, DAVE_WELCOME_MS - 1);
	SAID(&t, "");
	script_wait(&t, 1);
	SAID(&t, "op31:0 job:rekey");
	script_end(&t);
}

TEST(dave_heal_starts_with_the_first_step_after_an_outage)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	script_mls(&t, 30, 10);
	script_done(&t);
	script_op(&t, 22, 10, 0, 0);
	heard(&t, 1);
	CHECK(status(&t)->undecryptable == 0 && status(&t)->heal == DAVE_HEAL_NONE);
	script_said(&t);
	/* Too soon: the wait holds, then the first step is taken again. */
	script_wait(&t, 3000);
	script_undecryptable(&t, 1);
	SAID(&t, "");
	script_deaf_for(&t, 1, 7200);
	SAID(&t, "op31:10 job:rekey");
	script_done(&t);
	script_mls(&t, 30, 11);
	script_done(&t);
	script_op(&t, 22, 11, 0, 0);
	heard(&t, 1);
	/* After a quiet time of half the wait there is none. */
	script_wait(&t, 30000);
	script_said(&t);
	script_undecryptable(&t, 2);
	SAID(&t, "op31:11 job:rekey");
	CHECK_INT(t.heal.cooldown_ms, 10000);
	script_end(&t);
}

TEST(dave_heal_does_nothing_while_a_transition_is_pending)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	script_deaf_for(&t, 1, 2160);
	SAID(&t, "job:commit epoch:2 op23:10");
	script_op(&t, 22, 10, 0, 0);
	script_wait(&t, 0);
	SAID(&t, "send:2");
	/* The others switched just now. */
	script_deaf_for(&t, 1, 720);
	SAID(&t, "op31:10 job:rekey");
	script_end(&t);
}

TEST(dave_heal_is_not_delayed_for_ever_by_rekeying)
{
	struct script t;
	uint16_t id = 100;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned ms = 0; ms < 8000 && !strstr(t.log, "op31"); ms += 240) {
		script_epoch(&t, id);
		script_op(&t, 22, id++, 0, 0);
		script_wait(&t, 240);
		if (ms % 720 == 480)
			script_undecryptable(&t, 1);
	}
	CHECK(strstr(t.log, "op31"));
	CHECK((t.now - t.began) / NS_PER_MS < 7000);
	script_end(&t);
}

TEST(dave_heal_does_not_wait_for_a_pending_transition_for_ever)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_epoch(&t, 10);
	script_deaf_for(&t, 1, 2880);
	SAID(&t, "job:commit epoch:2 op23:10");
	script_deaf_for(&t, 1, 720);
	SAID(&t, "op31:10 job:rekey");
	script_end(&t);
}

TEST(dave_heal_does_nothing_while_a_job_runs)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_bin(&t, 27, "x");
	script_undecryptable(&t, 1);
	SAID(&t, "job:proposals");
	script_done(&t);
	script_wait(&t, 0);
	SAID(&t, "op31:9 job:rekey");
	script_end(&t);
}

TEST(dave_heal_finds_a_lost_welcome_within_2_s)
{
	struct script t;
	uint64_t began;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	began = t.now;
	script_deaf_for(&t, 1, 1440);
	SAID(&t, "");
	script_wait(&t, 100);
	SAID(&t, "op31:0 job:rekey");
	CHECK((t.now - began) / NS_PER_MS < 1600);
	script_end(&t);
}

TEST(dave_heal_finds_a_lost_welcome_when_nobody_speaks)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_wait(&t, DAVE_WELCOME_MS);
	SAID(&t, "op31:0 job:rekey");
	script_done(&t);
	/* Other members are there, so the next step is taken: a member without keys is not heard
	 * either. */
	script_wait(&t, 9999);
	SAID(&t, "op26");
	script_wait(&t, 3600 * 1000);
	SAID(&t, "rejoin");
	script_end(&t);
}

TEST(dave_heal_waits_for_another_user)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	dave_session_start(t.s, t.now, CHANNEL, 1);
	script_done(&t);
	script_said(&t);
	script_wait(&t, 46000);
	SAID(&t, "");
	script_member(&t, 1, true);
	script_wait(&t, DAVE_WELCOME_MS - 1);
	SAID(&t, "");
	script_wait(&t, 1);
	SAID(&t, "op31:0 job:rekey");
	script_end(&t);
}

TEST(dave_heal_ignores_outages_before_the_newest_keys)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_undecryptable(&t, 1);
	script_wait(&t, 300);
	script_mls(&t, 30, 3);
	script_done(&t);
	script_op(&t, 22, 3, 0, 0);
	script_wait(&t, 60000);
	SAID(&t, "job:welcome epoch:1 op23:3 send:1");
	script_end(&t);
}

TEST(dave_heal_does_nothing_for_a_speaker_who_stopped)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	script_wait(&t, 100);
	script_undecryptable(&t, 1);
	script_wait(&t, DAVE_WELCOME_MS - 200);
	SAID(&t, "");
	CHECK_INT(status(&t)->undecryptable, 1);
	script_member(&t, 1, false);
	CHECK_INT(status(&t)->undecryptable, 0);
	script_end(&t);
}

TEST(dave_heal_takes_one_step_for_many_outages)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint64_t i = 0; i < 25; i++)
		script_undecryptable(&t, 1000 - i * 3);
	SAID(&t, "op31:9 job:rekey");
	CHECK_INT(status(&t)->undecryptable, 25);
	script_done(&t);
	for (uint64_t i = 0; i < 24; i++)
		heard(&t, 1000 - i * 3);
	CHECK(status(&t)->undecryptable == 1 && status(&t)->heal == DAVE_HEAL_RECOVER);
	script_end(&t);
}

TEST(dave_heal_is_proved_by_a_speaker_in_the_next_session)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	script_deaf_for(&t, 1, 10800);
	SAID(&t, "op31:9 job:rekey op26 send:none rejoin");
	CHECK_INT(script_again(&t), 0);
	script_settled(&t);
	CHECK_INT(status(&t)->heal, DAVE_HEAL_REJOIN);
	dave_session_proof(t.s, t.now, 1, t.serial);
	CHECK_INT(status(&t)->heal, DAVE_HEAL_NONE);
	script_wait(&t, 31000);
	script_undecryptable(&t, 1);
	SAID(&t, "op31:9 job:rekey");
	CHECK_INT(t.heal.cooldown_ms, 10000);
	script_end(&t);
}

/* ---- outside the group without a reason ---- */

/* A commit that removes us though we stay: nothing of ours opens for the others soon, and they may
 * be silent. */
TEST(dave_heal_returns_when_it_was_removed)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_mls(&t, 29, 10);
	t.job->verdict = DAVE_IGNORED;
	t.job->in_group = false;
	script_finish(&t);
	SAID(&t, "job:commit");
	CHECK(status(&t)->epoch == 0);
	script_wait(&t, DAVE_JOIN_GRACE_MS);
	SAID(&t, "op31:9 job:rekey");
	script_end(&t);
}

/* Out of the group the others forget our key: then we seal with nothing, and say so. */
TEST(dave_heal_stops_sending_outside_the_group)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_undecryptable(&t, 1);
	script_done(&t);
	SAID(&t, "op31:9 job:rekey op26");
	heard(&t, 1);
	script_wait(&t, 9000);
	CHECK(status(&t)->ready);
	script_wait(&t, 1000);
	CHECK(strstr(script_said(&t), "send:none"));
	CHECK(!status(&t)->ready);
	script_end(&t);
}

TEST(dave_heal_reports_every_change)
{
	struct script t;
	unsigned before;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	before = t.states;
	script_undecryptable(&t, 1);
	CHECK_INT(t.states, before + 1);
	heard(&t, 1);
	CHECK_INT(t.states, before + 2);
	script_op(&t, 22, 77, 0, 0);
	CHECK_INT(t.states, before + 2);
	script_end(&t);
}

/* ---- members without an epoch ---- */

/* The group began again, and two of its members missed that: they hear one another, and the
 * third, who is in a group of its own, joins again without an epoch. */
TEST(dave_heal_asks_when_no_epoch_follows_a_member)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 2, false);
	script_member(&t, 2, true);
	dave_session_proof(t.s, t.now, 1, t.serial);
	/* Ours is the third turn. */
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS - 1);
	CHECK_STR(script_said(&t), "");
	script_wait(&t, 1);
	CHECK_STR(script_said(&t), "op31:9 job:rekey");
	script_done(&t);
	script_said(&t);
	script_mls(&t, 30, 10);
	script_done(&t);
	script_op(&t, 22, 10, 0, 0);
	script_said(&t);
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "");
	CHECK_INT(dave_session_status(t.s)->rejoins, 0);
	script_end(&t);
}

TEST(dave_heal_asks_nothing_when_an_epoch_follows_a_member)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 2, false);
	script_member(&t, 2, true);
	script_wait(&t, DAVE_CHANGE_MS / 2);
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	script_said(&t);
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "");
	script_end(&t);
}

/* Whoever left before being added is owed no epoch; who stays outside of one is still awaited. */
TEST(dave_heal_asks_for_a_newcomer_who_stays)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 7, true);
	script_wait(&t, 2000);
	script_member(&t, 7, false);
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "");
	t.stranger = 8;
	script_member(&t, 8, true);
	script_wait(&t, 2000);
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	script_said(&t);
	script_wait(&t, DAVE_CHANGE_MS);
	CHECK_STR(script_said(&t), "op31:10 job:rekey");
	script_end(&t);
}

/* A client that joins all day and never enters the group. */
TEST(dave_heal_a_member_who_is_never_added_is_no_lever)
{
	unsigned rekeys = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 24 * 60; i++) {
		const char *said;

		t.stranger = 100;
		script_member(&t, 100, true);
		script_wait(&t, 50 * 1000);
		toll_answer(&t, &id, 1);
		script_member(&t, 100, false);
		script_wait(&t, 10 * 1000);
		said = script_said(&t);
		rekeys += toll_count(said, "op31");
		rejoins += toll_count(said, "rejoin");
	}
	CHECK_INT(rekeys, REKEY_BUDGET_SINGLE);
	CHECK_INT(rejoins, 0);
	script_end(&t);
}

/* A member who never enters the group stays in the call. Others come, and an epoch follows each of
 * them at once, so they cause no request of new keys: neither is one made, nor are they charged. */
TEST(dave_heal_asks_nothing_for_members_whose_epoch_came)
{
	struct script t;
	uint16_t id = 11;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	t.stranger = 8;
	script_member(&t, 8, true);
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	CHECK_STR(script_said(&t), "op31:9 job:rekey");
	toll_answer(&t, &id, 1);
	script_said(&t);
	script_wait(&t, 3600 * 1000);
	for (uint64_t user = 20; user < 30; user++) {
		script_member(&t, user, true);
		toll_epoch(&t, &id);
		dave_session_proof(t.s, t.now, 1, t.serial);
		script_said(&t);
		script_wait(&t, 60 * 1000);
		CHECK_STR(script_said(&t), "");
	}
	script_end(&t);
}

/* The same spends the budget of answers: a message that is lost later makes us mute for minutes. */
TEST(dave_heal_members_whose_epoch_came_cost_no_answer)
{
	struct script t;
	uint16_t id = 11;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	t.stranger = 8;
	script_member(&t, 8, true);
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	toll_answer(&t, &id, 1);
	for (uint64_t user = 20; user < 30; user++) {
		script_member(&t, user, true);
		toll_epoch(&t, &id);
		dave_session_proof(t.s, t.now, 1, t.serial);
		script_wait(&t, 60 * 1000);
		toll_answer(&t, &id, 1);
	}
	script_said(&t);
	script_mls(&t, 29, id++);
	script_verdict(&t, DAVE_INVALID);
	script_wait(&t, 1000);
	toll_answer(&t, &id, 1);
	CHECK(strstr(script_said(&t), "op31"));
	script_wait(&t, 60 * 1000);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* An epoch was asked for because a member left. The same user comes back, and none follows again.
 */
TEST(dave_heal_asks_for_a_member_who_comes_back)
{
	struct script t;
	uint16_t id = 11;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 2, false);
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	CHECK_STR(script_said(&t), "op31:9 job:rekey");
	toll_answer(&t, &id, 1);
	script_said(&t);
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "");
	t.stranger = 2;
	script_member(&t, 2, true);
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	CHECK_STR(script_said(&t), "op31:11 job:rekey");
	script_end(&t);
}

/* A member was here before us, and the group that welcomes us lacks them. */
TEST(dave_heal_asks_for_a_member_whom_the_first_epoch_lacks)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	t.stranger = 2;
	script_join(&t);
	script_mls(&t, 30, 9);
	script_done(&t);
	script_op(&t, 22, 9, 0, 0);
	script_said(&t);
	script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
	CHECK_STR(script_said(&t), "op31:9 job:rekey");
	script_end(&t);
}

/* Otherwise a member who leaves meanwhile would go on hearing us for an hour. */
TEST(dave_heal_a_key_ends_when_input_is_lost_long_before_the_rejoin)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	t.heal.not_before = t.now + 3600 * NS_PER_S;
	script_bin(&t, 27, "x");
	script_verdict(&t, DAVE_NOT_RUN);
	script_said(&t);
	script_wait(&t, DAVE_GRACE_MS - 1);
	CHECK_STR(script_said(&t), "");
	script_wait(&t, 2);
	CHECK_STR(script_said(&t), "send:none");
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "rejoin");
	script_end(&t);
}

/* Two come, and the epoch that follows holds one of them: the request is charged to the other. */
TEST(dave_heal_asks_for_the_newcomer_without_an_epoch)
{
	struct script t;
	uint16_t id = 11;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	t.stranger = 8;
	for (unsigned i = 0; i < 2; i++) {
		script_member(&t, 20 + i, true);
		script_member(&t, 8, true);
		toll_epoch(&t, &id);
		dave_session_proof(t.s, t.now, 1, t.serial);
		script_said(&t);
		script_wait(&t, DAVE_CHANGE_MS + 2 * DAVE_CHANGE_STEP_MS);
		CHECK(strstr(script_said(&t), "op31"));
		toll_answer(&t, &id, 1);
		script_member(&t, 8, false);
		script_wait(&t, 60 * 1000);
		script_said(&t);
	}
	/* That was the other's share of this hour, and nobody else's. */
	script_member(&t, 8, true);
	script_wait(&t, 60 * 1000);
	CHECK_STR(script_said(&t), "");
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		CHECK(t.heal.speakers[i].user == 8 || !t.heal.speakers[i].rekeys);
	script_end(&t);
}

/* A member leaves while the commit that adds another is under way: that epoch still holds who has
 * left, so another one must follow. */
TEST(dave_heal_asks_when_the_epoch_that_came_holds_who_has_left)
{
	struct script t;
	uint16_t id = 11;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	script_member(&t, 7, true);
	dave_session_member(t.s, t.now, 2, false);
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	script_said(&t);
	script_wait(&t, DAVE_CHANGE_MS + 3 * DAVE_CHANGE_STEP_MS);
	CHECK_STR(script_said(&t), "op31:10 job:rekey");
	/* One who is never removed is asked about once. */
	toll_answer(&t, &id, 1);
	script_member(&t, 20, true);
	toll_epoch(&t, &id);
	dave_session_proof(t.s, t.now, 1, t.serial);
	script_said(&t);
	script_wait(&t, 60 * 1000);
	CHECK_STR(script_said(&t), "");
	script_end(&t);
}
