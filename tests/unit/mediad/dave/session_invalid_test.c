/* Commits and welcomes that only we find invalid: a member can make them without end, and each
 * answer of ours re-keys the whole group. */
#include "tests/unit/mediad/dave/toll.h"

#include "mediad/dave/media.h"
#include "proto/base/time.h"
#include "tests/test.h"

static void commit_invalidly(struct script *t, uint16_t id)
{
	script_mls(t, 29, id);
	script_verdict(t, DAVE_INVALID);
}

/* For a day, each key package is answered by a welcome that does not hold, so many looks later. */
static void welcome_invalidly(struct toll *n, unsigned delay)
{
	enum { LOOK_MS = 500 };
	unsigned wait = delay;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	for (unsigned i = 1; i < 24 * 3600 * 1000 / LOOK_MS; i++) {
		const char *said;

		script_wait(&t, LOOK_MS);
		script_undecryptable(&t, 1);
		if (t.job && t.job->type == DAVE_JOB_WELCOME)
			script_verdict(&t, DAVE_INVALID);
		if (t.job)
			script_done(&t);
		said = script_said(&t);
		n->rekeys += toll_count(said, "op31");
		if (strstr(said, "op26"))
			wait = delay;
		if (wait && !--wait)
			script_mls(&t, 30, 1);
		if (!strstr(said, "rejoin"))
			continue;
		n->rejoins++;
		CHECK_INT(script_again(&t), 0);
		script_join(&t);
		wait = delay;
	}
	script_end(&t);
}

TEST(dave_heal_invalid_welcomes_are_no_lever)
{
	struct toll soon = {0}, late = {0};

	welcome_invalidly(&soon, 1);
	CHECK(soon.rejoins >= 1 && soon.rekeys + soon.rejoins <= REKEY_BUDGET_A_DAY);
	welcome_invalidly(&late, 8);
	/* Until the first one arrives, nothing tells it from a lost welcome. */
	CHECK(late.rejoins >= 1 && late.rekeys + late.rejoins <= REKEY_BUDGET_A_DAY + 1);
}

/* Two members commit in turns, one of them with secrets that only we find invalid, every 2 s for as
 * long as they like. */
TEST(dave_heal_invalid_commits_are_no_lever)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 1; i < 24 * 3600 / 2; i++) {
		commit_invalidly(&t, id++);
		toll_take(&t, &id, &n);
		script_wait(&t, 2000);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, REKEY_BUDGET_A_DAY);
	CHECK_INT(n.rejoins, 0);
	/* The others have forgotten our key, which is no secret of ours. */
	CHECK(!dave_session_status(t.s)->ready);
	/* When somebody leaves, the group is re-keyed in any case. */
	n.rekeys = 0;
	script_member(&t, 2, false);
	toll_take(&t, &id, &n);
	CHECK_INT(n.rekeys, 1);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* The same member sends packets that nobody can decrypt, too. */
TEST(dave_heal_packets_and_commits_share_a_budget)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 2; i < A_DAY; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		dave_session_proof(t.s, t.now, 2, t.serial);
		toll_take(&t, &id, &n);
		if (i % 10 == 0)
			commit_invalidly(&t, id++);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, REKEY_BUDGET_A_DAY);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

/* A burst of eight, and no more: we are mute for about a minute. */
TEST(dave_heal_a_short_attack_mutes_us_shortly)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 8; i++) {
		commit_invalidly(&t, id++);
		toll_take(&t, &id, &n);
		script_wait(&t, 2000);
	}
	CHECK_INT(n.rekeys, 5);
	script_wait(&t, 20 * 1000);
	toll_take(&t, &id, &n);
	CHECK(!dave_session_status(t.s)->ready);
	script_wait(&t, 60 * 1000);
	toll_take(&t, &id, &n);
	CHECK(dave_session_status(t.s)->ready);
	CHECK_INT(n.rekeys, 6);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

/* Spends what may be answered at once, and waits until we are mute. */
static void mute(struct script *t, uint16_t *id)
{
	struct toll n = {0};

	CHECK_INT(script_start(t), 0);
	script_settled(t);
	for (unsigned i = 0; i < 6; i++) {
		commit_invalidly(t, (*id)++);
		toll_take(t, id, &n);
	}
	script_wait(t, 59 * 1000); /* an answer would be due in a second */
	CHECK(!dave_session_status(t->s)->ready);
	CHECK_STR(strstr(script_said(t), "op31:15") ? "answered" : "", "");
}

TEST(dave_heal_a_mute_ends_with_an_epoch)
{
	struct script t;
	uint16_t id = 10;

	mute(&t, &id);
	script_epoch(&t, id);
	script_op(&t, 22, id, 0, 0);
	CHECK(dave_session_status(t.s)->ready);
	/* Nothing is owed any more. */
	script_said(&t);
	script_wait(&t, 3600 * 1000);
	CHECK_STR(script_said(&t), "");
	script_end(&t);
}

/* The group is created anew: our new key package is the answer. */
TEST(dave_heal_a_mute_ends_with_a_new_group)
{
	struct script t;
	uint16_t id = 10;

	mute(&t, &id);
	script_op(&t, 24, 0, 1, 1);
	script_done(&t);
	CHECK_STR(script_said(&t), "job:reset op26");
	script_wait(&t, 2000);
	CHECK_STR(script_said(&t), "");
	script_mls(&t, 30, id);
	script_done(&t);
	script_op(&t, 22, id, 0, 0);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* While an answer waits, nobody can be decrypted. That is no reason to rejoin. */
TEST(dave_heal_an_owed_answer_is_sent_in_the_end)
{
	unsigned waited = 0;
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 6; i++) {
		commit_invalidly(&t, id++);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, 5);
	for (; waited < 200 && n.rekeys == 5 && !n.rejoins; waited++) {
		script_deaf_for(&t, 1 + waited % 2, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(waited, 60 * 1000 / SCRIPT_RUN + 1);
	CHECK_INT(n.rekeys, 6);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

/* No epoch follows proposals that we refuse. The others are still in our epoch and hear us. */
TEST(dave_heal_refused_proposals_do_not_mute_us)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 8; i++) {
		script_bin(&t, 27, "refused");
		script_verdict(&t, DAVE_REFUSED);
		script_wait(&t, 1500);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, 5);
	script_wait(&t, 20 * 1000);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* Starts a session in a group, after all re-keys that come at once. The next one is due in a
 * minute.
 */
static void spend_budget(struct script *t)
{
	CHECK_INT(script_start(t), 0);
	script_settled(t);
	for (unsigned i = 0; i < 5; i++)
		CHECK(rekey_budget_take(&t->heal.rekeys, t->now));
}

/* We committed, and the gateway announces the first valid commit at once. So its announcement was
 * lost, and the others are in an epoch that we know nothing of. */
TEST(dave_heal_a_missing_epoch_after_our_commit_ends_our_key)
{
	for (unsigned refused = 0; refused < 2; refused++) {
		struct script t;

		spend_budget(&t);
		script_bin(&t, 27, "x");
		script_commits(&t, "commit");
		if (refused) {
			script_bin(&t, 27, "y");
			script_verdict(&t, DAVE_REFUSED);
		}
		script_wait(&t, DAVE_ANNOUNCE_MS);
		CHECK(dave_session_status(t.s)->ready);
		CHECK(!strstr(script_said(&t), "op31"));
		script_wait(&t, DAVE_GRACE_MS);
		CHECK(!dave_session_status(t.s)->ready);
		CHECK(strstr(script_said(&t), "send:none"));
		script_wait(&t, 60 * 1000);
		CHECK(strstr(script_said(&t), "op31"));
		script_end(&t);
	}
}

/* An earlier commit whose epoch came says nothing of proposals that everybody refuses. */
TEST(dave_heal_a_commit_of_an_earlier_epoch_mutes_nobody)
{
	struct script t;

	spend_budget(&t);
	script_bin(&t, 27, "x");
	script_commits(&t, "commit");
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	script_bin(&t, 27, "y");
	script_verdict(&t, DAVE_REFUSED);
	script_wait(&t, DAVE_REFUSED_MS + DAVE_GRACE_MS + 1000);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* Proposals that we refuse may have been committed by another member. When nobody can be decrypted
 * any more they were. As long as somebody can, they were not. */
TEST(dave_heal_undecryptable_speakers_tell_that_the_others_have_moved)
{
	for (unsigned heard = 0; heard < 2; heard++) {
		struct script t;

		spend_budget(&t);
		script_bin(&t, 27, "x");
		script_verdict(&t, DAVE_REFUSED);
		script_wait(&t, DAVE_REFUSED_MS);
		/* Once will do: it proves our keys of this epoch. */
		if (heard)
			dave_session_proof(t.s, t.now, 2, t.serial);
		for (unsigned i = 0; i < 20; i++) {
			script_deaf_for(&t, 1, SCRIPT_RUN);
			if (!heard)
				script_deaf_for(&t, 2, SCRIPT_RUN);
		}
		CHECK_INT(dave_session_status(t.s)->ready, heard);
		script_end(&t);
	}
}

/* Makes both members undecryptable for long enough that our key ends, if it does. */
static void lose_both(struct script *t)
{
	for (unsigned i = 0; i < 20; i++) {
		script_deaf_for(t, 1, SCRIPT_RUN);
		script_deaf_for(t, 2, SCRIPT_RUN);
	}
}

/* Has the others go on, as far as we know, in the second epoch. */
static void lose_the_others(struct script *t)
{
	spend_budget(t);
	script_epoch(t, 10);
	script_op(t, 22, 10, 0, 0);
	script_bin(t, 27, "x");
	script_verdict(t, DAVE_REFUSED);
	script_wait(t, DAVE_REFUSED_MS);
	lose_both(t);
	CHECK(!dave_session_status(t->s)->ready);
}

static void hear_again(struct script *t, uint64_t user, uint64_t serial)
{
	dave_session_decryption(t->s, t->now, user, true);
	dave_session_proof(t->s, t->now, user, serial);
}

/* Who is heard again with our keys has them: the others had not moved. A member could say so again
 * and again, so it counts once. */
TEST(dave_heal_who_is_heard_again_ends_a_mute)
{
	struct script t;

	lose_the_others(&t);
	hear_again(&t, 1, t.serial);
	CHECK(dave_session_status(t.s)->ready);
	lose_both(&t);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* Keys of an earlier epoch are accepted for a while, and tell nothing of the newest. */
TEST(dave_heal_who_is_heard_with_an_earlier_key_ends_no_mute)
{
	struct script t;

	lose_the_others(&t);
	CHECK(t.serial > 1);
	hear_again(&t, 1, t.serial - 1);
	CHECK(!dave_session_status(t.s)->ready);
	hear_again(&t, 1, t.serial);
	CHECK(dave_session_status(t.s)->ready);
	script_end(&t);
}

/* We committed, and no epoch followed: whoever is heard then is heard with keys of before. */
TEST(dave_heal_who_is_heard_ends_no_mute_after_our_commit)
{
	struct script t;

	spend_budget(&t);
	script_bin(&t, 27, "x");
	script_commits(&t, "commit");
	script_wait(&t, DAVE_ANNOUNCE_MS + DAVE_GRACE_MS + 1000);
	CHECK(!dave_session_status(t.s)->ready);
	hear_again(&t, 1, t.serial);
	CHECK(!dave_session_status(t.s)->ready);
	script_end(&t);
}

TEST(dave_heal_leaves_a_session_whose_welcomes_are_invalid)
{
	struct script t;
	unsigned answers = 0;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 100; i++) {
		script_mls(&t, 30, 9);
		script_verdict(&t, DAVE_INVALID);
		if (t.job)
			script_done(&t);
		answers += strstr(script_said(&t), "op31:9") != NULL;
	}
	CHECK_INT(answers, 3);
	CHECK_INT(dave_session_status(t.s)->invalid, 100);
	script_wait(&t, 0);
	CHECK_STR(script_said(&t), "rejoin");
	script_end(&t);
}

/* Sends invalid welcomes until the fourth answer is owed or due. Earlier re-keys of the day: 2. */
static void fail_welcomes(struct script *t)
{
	CHECK_INT(script_start(t), 0);
	script_settled(t);
	script_member(t, 3, true);
	for (unsigned i = 0; i < 2; i++)
		CHECK(rekey_budget_take(&t->heal.rekeys, t->now));
	for (unsigned i = 0; i < 4; i++) {
		script_mls(t, 30, 9);
		script_verdict(t, DAVE_INVALID);
		if (t->job)
			script_done(t);
	}
	script_said(t);
}

/* Returns whether the session is given up within a day in which every welcome is invalid. */
static bool rejoins_in_a_day(struct script *t)
{
	for (unsigned i = 0; i < 24 * 3600; i++) {
		const char *said;

		script_wait(t, 1000);
		said = script_said(t);
		if (strstr(said, "rejoin"))
			return true;
		if (strstr(said, "op26")) {
			script_mls(t, 30, 9);
			script_verdict(t, DAVE_INVALID);
		}
		if (t->job)
			script_done(t);
	}
	return false;
}

TEST(dave_heal_a_departure_leaves_the_rejoin_due)
{
	for (unsigned leaves = 0; leaves < 2; leaves++) {
		struct script t;

		fail_welcomes(&t);
		if (leaves)
			script_member(&t, 1, false);
		CHECK(rejoins_in_a_day(&t));
		script_end(&t);
	}
}

/* Only the departure of a member re-keys the group in any case. */
TEST(dave_heal_departures_of_strangers_cost_no_answers)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 100; i++) {
		script_mls(&t, 29, id++);
		if (t.job)
			script_verdict(&t, DAVE_INVALID);
		toll_take(&t, &id, &n);
		script_member(&t, 1000 + i, i % 2);
		script_member(&t, 1000 + i, false);
		toll_take(&t, &id, &n);
		script_wait(&t, 1000);
	}
	CHECK(n.rekeys <= REKEY_BUDGET_A_DAY);
	script_end(&t);
}

TEST(dave_heal_an_external_sender_cancels_no_rejoin)
{
	for (unsigned sent = 0; sent < 2; sent++) {
		struct script t;
		bool rejoined = false;

		CHECK_INT(script_start(&t), 0);
		script_settled(&t);
		t.heal.not_before = t.now + 60 * NS_PER_S;
		for (unsigned i = 0; i < 4; i++) {
			script_mls(&t, 30, 9);
			script_verdict(&t, DAVE_INVALID);
			if (t.job)
				script_done(&t);
		}
		script_said(&t);
		if (sent) {
			script_bin(&t, 25, "sender");
			script_done(&t);
		}
		for (unsigned s = 0; s < 3600 && !rejoined; s++) {
			script_wait(&t, 1000);
			rejoined = strstr(script_said(&t), "rejoin") != NULL;
		}
		CHECK(rejoined);
		script_end(&t);
	}
}

/* Nine re-keys and a last invalid commit are behind it, and its welcome is lost. */
TEST(dave_heal_a_new_session_takes_its_first_step_at_once)
{
	struct script t;
	unsigned s = 0;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 9; i++)
		while (!rekey_budget_take(&t.heal.rekeys, t.now))
			t.now = rekey_budget_next(&t.heal.rekeys);
	script_mls(&t, 29, 9);
	script_verdict(&t, DAVE_INVALID);
	CHECK_INT(script_again(&t), 0);
	script_join(&t);
	while (s < 3600 && !strstr(script_said(&t), "op31")) {
		script_wait(&t, 1000);
		s++;
	}
	CHECK(s <= 10);
	CHECK_INT(t.heal.rekeys.n, REKEY_BUDGET_A_DAY);
	script_end(&t);
}
