/* What members can cause in hours and days: few re-keys and no rejoins while our keys are not to
 * blame, and healing while they may be. */
#include "tests/unit/mediad/dave/toll.h"

#include "proto/base/time.h"
#include "tests/test.h"

/* A broken bot in the channel for a day, whose every packet is undecryptable, while a person speaks
 * now and then: few re-keys, no rejoin, and the person is given up never. */
TEST(dave_heal_one_broken_member_is_no_lever)
{
	unsigned rekeys = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_proof(t.s, t.now, 2, t.serial);
	for (unsigned i = 0; i < A_DAY; i++) {
		const char *said;

		script_wait(&t, SCRIPT_RUN);
		script_undecryptable(&t, 1);
		toll_answer(&t, &id, i % 50 == 0 ? 2 : 0);
		said = script_said(&t);
		rekeys += toll_count(said, "op31");
		rejoins += toll_count(said, "rejoin");
	}
	CHECK(rekeys >= 1 && rekeys <= 10);
	CHECK_INT(rejoins, 0);
	CHECK(dave_session_gave_up(t.s, 1) && !dave_session_gave_up(t.s, 2));
	CHECK_INT(dave_session_status(t.s)->undecryptable, 1);
	/* One good packet, and the speaker is like any other. */
	dave_session_decryption(t.s, t.now, 1, true);
	CHECK(!dave_session_gave_up(t.s, 1));
	CHECK_INT(dave_session_status(t.s)->undecryptable, 0);
	script_end(&t);
}

/* The same of one that comes and goes, sends a good packet after each outage, and is one of many.
 */
TEST(dave_heal_many_broken_members_are_no_lever)
{
	unsigned rekeys = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint64_t bot = 100; bot < 110; bot++)
		script_member(&t, bot, true);
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (20 * SCRIPT_RUN); i++) {
		const uint64_t bot = 100 + i % 10;
		const char *said;

		dave_session_proof(t.s, t.now, 2, t.serial);
		script_deaf_for(&t, bot, 10 * SCRIPT_RUN);
		toll_answer(&t, &id, 2);
		dave_session_decryption(t.s, t.now, bot, true);
		script_deaf_for(&t, bot, 5 * SCRIPT_RUN);
		toll_answer(&t, &id, 2);
		script_member(&t, bot, false);
		script_member(&t, bot, true);
		script_wait(&t, 5 * SCRIPT_RUN);
		said = script_said(&t);
		rekeys += toll_count(said, "op31");
		rejoins += toll_count(said, "rejoin");
	}
	CHECK(rekeys >= 1 && rekeys <= 10);
	CHECK_INT(rejoins, 0);
	script_end(&t);
}

/* So many that nothing more can be noted of those who are heard. */
TEST(dave_heal_a_crowd_of_broken_members_is_no_lever)
{
	enum { CROWD = 120, MINUTES = 30 };
	unsigned rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint64_t bot = 100; bot < 100 + CROWD; bot++)
		script_member(&t, bot, true);
	dave_session_proof(t.s, t.now, 2, t.serial);
	for (unsigned i = 0; i < MINUTES * 60 * 1000 / 500; i++) {
		for (uint64_t bot = 100; bot < 100 + CROWD; bot++)
			dave_session_decryption(t.s, t.now, bot, false);
		script_wait(&t, 500);
		toll_answer(&t, &id, 2);
		rejoins += toll_count(script_said(&t), "rejoin");
	}
	CHECK_INT(rejoins, 0);
	script_end(&t);
}

/* When the others stop being heard, too, our keys are wrong, and the steps go on to a rejoin. */
TEST(dave_heal_rejoins_when_the_last_speaker_is_lost)
{
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_proof(t.s, t.now, 2, t.serial);
	for (unsigned i = 0; i < 600; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		toll_answer(&t, &id, 2);
	}
	CHECK(dave_session_gave_up(t.s, 1));
	CHECK_INT(dave_session_status(t.s)->rejoins, 0);
	script_said(&t);
	for (unsigned i = 0; i < 200 && !strstr(t.log, "rejoin"); i++) {
		script_deaf_for(&t, 2, SCRIPT_RUN);
		if (t.job)
			script_done(&t);
	}
	CHECK(strstr(t.log, "rejoin"));
	CHECK_INT(dave_session_status(t.s)->rejoins, 1);
	script_end(&t);
}

/* A member sends undecryptable frames and a good one after each healing; it must not make the group
 * re-key for ever. */
TEST(dave_heal_cannot_be_abused_by_a_member)
{
	unsigned recovers = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 3600 * 1000 / (2 * SCRIPT_RUN); i++) {
		script_wait(&t, SCRIPT_RUN);
		script_undecryptable(&t, 1);
		toll_answer(&t, &id, 1);
		script_wait(&t, SCRIPT_RUN);
		dave_session_decryption(t.s, t.now, 1, true);
		recovers += toll_count(script_said(&t), "op31");
	}
	CHECK(recovers >= 1 && recovers <= 3);
	CHECK_INT(t.heal.recovers, recovers);
	script_end(&t);
}

/* The same while the people only listen. Nothing shows whose keys are wrong, so a rejoin would be a
 * guess that costs everybody a gap. */
TEST(dave_heal_a_broken_bot_among_listeners_is_no_lever)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < A_DAY; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK(n.rekeys >= 1 && n.rekeys <= 10);
	CHECK_INT(n.rejoins, 0);
	CHECK(dave_session_gave_up(t.s, 1));
	script_end(&t);
}

TEST(dave_heal_a_bot_that_is_heard_once_an_hour_is_no_lever)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < A_DAY; i++) {
		script_wait(&t, SCRIPT_RUN);
		if (i % 5000 == 0)
			dave_session_proof(t.s, t.now, 1, t.serial);
		dave_session_decryption(t.s, t.now, 1, i % 5000 == 0);
		toll_take(&t, &id, &n);
	}
	CHECK(n.rekeys >= 1 && n.rekeys <= 10);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

/* More people speak than can be noted: the budget of the broken bot stays. */
TEST(dave_heal_a_budget_is_not_pushed_out)
{
	enum { PEOPLE = 120, AN_HOUR = A_DAY / 24 };
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (uint64_t user = 200; user < 200 + PEOPLE; user++)
		script_member(&t, user, true);
	toll_epoch(&t, &id);
	for (unsigned i = 0; i < A_DAY; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		dave_session_decryption(t.s, t.now, 200 + i % PEOPLE, true);
		toll_take(&t, &id, &n);
		CHECK(i >= AN_HOUR - 1 || n.rekeys <= DAVE_SINGLE_AN_HOUR);
	}
	CHECK(n.rekeys >= 1 && n.rekeys <= 10);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

/* A broken bot leaves, many others come and go, and it returns within the hour. */
TEST(dave_heal_a_budget_waits_for_a_member_to_return)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 200; i++) {
		if (i == 100) {
			script_member(&t, 1, false);
			for (uint64_t user = 200; user < 200 + 2 * DAVE_HEAL_SPEAKERS; user++) {
				script_member(&t, user, true);
				dave_session_decryption(t.s, t.now, user, true);
				script_member(&t, user, false);
			}
			script_member(&t, 1, true);
			toll_epoch(&t, &id);
		}
		script_deaf_for(&t, 1, SCRIPT_RUN);
		dave_session_decryption(t.s, t.now, 2, true);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, DAVE_SINGLE_AN_HOUR);
	script_end(&t);
}

/* A member who was heard once and is silent since proves nothing of later epochs, in which nobody
 * else of several can be heard. */
TEST(dave_heal_a_silent_member_forbids_no_rejoin)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_proof(t.s, t.now, 2, t.serial);
	script_epoch(&t, id);
	script_op(&t, 22, id++, 0, 0);
	for (uint64_t user = 100; user < 105; user++)
		script_member(&t, user, true);
	for (unsigned i = 0; i < 300 && !n.rejoins; i++) {
		script_deaf_for(&t, i % 6 ? 99 + i % 6 : 1, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rejoins, 1);
	script_end(&t);
}

/* A speaker is given up while another one is heard. When the other one leaves, nothing proves our
 * keys any more. */
TEST(dave_heal_a_speaker_who_was_given_up_is_tried_alone)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_proof(t.s, t.now, 2, t.serial);
	for (unsigned i = 0; i < 600 && !dave_session_gave_up(t.s, 1); i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK(dave_session_gave_up(t.s, 1));
	CHECK_INT(n.rejoins, 0);
	script_member(&t, 2, false);
	for (unsigned i = 0; i < 300 && !n.rejoins; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rejoins, 1);
	script_end(&t);
}

/* New members change the epoch: the speaker who was given up gets another try. */
TEST(dave_heal_a_speaker_who_was_given_up_is_tried_in_the_next_epoch)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 600 && !dave_session_gave_up(t.s, 1); i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK(dave_session_gave_up(t.s, 1));
	script_wait(&t, 3600 * 1000);
	n.rekeys = 0;
	script_deaf_for(&t, 1, 60 * SCRIPT_RUN);
	toll_take(&t, &id, &n);
	CHECK_INT(n.rekeys, 0);
	script_epoch(&t, id);
	script_op(&t, 22, id++, 0, 0);
	script_said(&t);
	script_deaf_for(&t, 1, 10 * SCRIPT_RUN);
	toll_take(&t, &id, &n);
	CHECK_INT(n.rekeys, 1);
	script_end(&t);
}

/* Nobody but one member ever speaks, whose packets fail for over a minute; then comes a good one.
 */
TEST(dave_heal_a_lone_speaker_is_no_lever)
{
	unsigned rekeys = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (110 * SCRIPT_RUN); i++) {
		const char *said;

		for (unsigned k = 0; k < 100; k++) {
			script_deaf_for(&t, 1, SCRIPT_RUN);
			toll_answer(&t, &id, 0);
			said = script_said(&t);
			rekeys += toll_count(said, "op31");
			toll_join_again(&t, said, &rejoins);
		}
		dave_session_proof(t.s, t.now, 1, t.serial);
		dave_session_decryption(t.s, t.now, 1, true);
		script_wait(&t, 10 * SCRIPT_RUN);
	}
	CHECK(rekeys >= 1 && rekeys <= 60);
	CHECK(rejoins <= 60);
	script_end(&t);
}

/* The same of one whose good packets are made with the keys of the epoch before, which are accepted
 * for a while. */
TEST(dave_heal_old_keys_are_no_lever)
{
	unsigned rekeys = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (20 * SCRIPT_RUN); i++) {
		const char *said;

		script_deaf_for(&t, 1, 4 * SCRIPT_RUN);
		toll_answer(&t, &id, 0);
		dave_session_decryption(t.s, t.now, 1, true);
		script_wait(&t, 16 * SCRIPT_RUN);
		said = script_said(&t);
		rekeys += toll_count(said, "op31");
		toll_join_again(&t, said, &rejoins);
	}
	CHECK(rekeys >= 1 && rekeys <= 60);
	CHECK(rejoins <= 60);
	script_end(&t);
}

/* Two speakers are lost for hours while nobody is heard: new keys are requested. */
static void check_heals(struct script *t)
{
	struct toll n = {0};
	uint16_t id = 10;

	script_said(t);
	script_wait(t, 3 * 3600 * 1000);
	for (unsigned i = 0; i < 3000; i++) {
		script_deaf_for(t, 1, SCRIPT_RUN);
		script_deaf_for(t, 2, SCRIPT_RUN);
		toll_take(t, &id, &n);
	}
	CHECK(n.rekeys + n.rejoins > 0);
}

static void hear_full_room(struct script *t)
{
	for (uint64_t user = 200; user < 200 + DAVE_HEAL_SPEAKERS; user++) {
		script_member(t, user, true);
		dave_session_decryption(t->s, t->now, user, true);
	}
}

/* Members leave while the voice session is renewed, and do not come back. */
TEST(dave_heal_members_of_earlier_sessions_take_no_place)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	hear_full_room(&t);
	CHECK_INT(script_again(&t), 0);
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		CHECK_INT(t.heal.speakers[i].heard_at, 0);
	script_settled(&t);
	check_heals(&t);
	script_end(&t);
}

/* As many members as can be noted were heard in an earlier epoch, and are silent since. */
TEST(dave_heal_silent_members_take_no_place)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	hear_full_room(&t);
	script_epoch(&t, 10);
	script_op(&t, 22, 10, 0, 0);
	check_heals(&t);
	script_end(&t);
}

enum { ACCOUNTS = DAVE_HEAL_SPEAKERS - 1 };

/* As many accounts as can be noted beside the one who is heard, and had an outage, send packets
 * that nobody can decrypt. */
static void fill_with_charged(struct script *t, uint16_t *id, struct toll *n)
{
	CHECK_INT(script_start(t), 0);
	script_settled(t);
	script_deaf_for(t, 2, 5 * SCRIPT_RUN);
	toll_take(t, id, n);
	CHECK_INT(n->rekeys, 1);
	dave_session_proof(t->s, t->now, 2, t->serial);
	dave_session_decryption(t->s, t->now, 2, true);
	for (uint64_t bot = 100; bot < 100 + ACCOUNTS; bot++)
		script_member(t, bot, true);
	for (unsigned i = 0; i < 100; i++) {
		for (uint64_t bot = 100; bot < 100 + ACCOUNTS; bot++)
			dave_session_decryption(t->s, t->now, bot, false);
		script_wait(t, SCRIPT_RUN);
		dave_session_proof(t->s, t->now, 2, t->serial);
		toll_take(t, id, n);
	}
	CHECK_INT(n->rejoins, 0);
}

TEST(dave_heal_new_keys_are_requested_for_a_newcomer)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;
	unsigned before;

	fill_with_charged(&t, &id, &n);
	before = n.rekeys;
	script_member(&t, 500, true);
	for (unsigned i = 0; i < 30; i++) {
		script_deaf_for(&t, 500, SCRIPT_RUN);
		dave_session_proof(t.s, t.now, 2, t.serial);
		toll_take(&t, &id, &n);
	}
	CHECK(n.rekeys > before && n.rekeys <= REKEY_BUDGET_SINGLE);
	script_end(&t);
}

/* The newcomer alone proves that our keys are right. */
TEST(dave_heal_a_newcomer_is_heard_among_charged_accounts)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	fill_with_charged(&t, &id, &n);
	script_member(&t, 2, false);
	script_member(&t, 500, true);
	for (unsigned i = 0; i < 300; i++) {
		dave_session_decryption(t.s, t.now, 500, true);
		for (uint64_t bot = 100; bot < 100 + ACCOUNTS; bot++)
			dave_session_decryption(t.s, t.now, bot, false);
		script_wait(&t, SCRIPT_RUN);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rejoins, 0);
	CHECK(n.rekeys <= REKEY_BUDGET_A_DAY);
	script_end(&t);
}

/* More people are heard than can be noted. */
TEST(dave_heal_new_keys_are_requested_in_a_full_room)
{
	struct toll n = {0};
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	hear_full_room(&t);
	toll_epoch(&t, &id);
	script_said(&t);
	for (unsigned i = 0; i < 30; i++) {
		script_deaf_for(&t, 1, SCRIPT_RUN);
		dave_session_decryption(t.s, t.now, 200 + i, true);
		toll_take(&t, &id, &n);
	}
	CHECK_INT(n.rekeys, DAVE_SINGLE_AN_HOUR);
	CHECK_INT(n.rejoins, 0);
	script_end(&t);
}

static void spend_single_rekeys(struct script *t)
{
	for (unsigned i = 0; i < REKEY_BUDGET_SINGLE; i++)
		rekey_budget_take_single(&t->heal.rekeys, t->now);
}

/* The messages of an epoch were skipped, and a speaker has gone on without us. A resume re-keys
 * nobody. */
TEST(dave_heal_resumes_a_gap_although_the_budget_is_spent)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	dave_session_proof(t.s, t.now, 2, t.serial);
	spend_single_rekeys(&t);
	dave_session_gap(t.s, t.now);
	script_deaf_for(&t, 1, 2 * SCRIPT_RUN);
	CHECK_INT(toll_count(script_said(&t), "resume"), 1);
	CHECK(!dave_session_gave_up(t.s, 1));
	/* Once. */
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	for (unsigned i = 0; i < 100 && !dave_session_gave_up(t.s, 1); i++) {
		dave_session_proof(t.s, t.now, 2, t.serial);
		script_deaf_for(&t, 1, SCRIPT_RUN);
	}
	CHECK(dave_session_gave_up(t.s, 1));
	CHECK_INT(dave_session_status(t.s)->resumes, 1);
	CHECK_INT(dave_session_status(t.s)->recovers, 0);
	script_end(&t);
}

/* The same of a member who is in no epoch that we know. */
TEST(dave_heal_resumes_a_gap_for_a_newcomer_although_the_budget_is_spent)
{
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	spend_single_rekeys(&t);
	dave_session_gap(t.s, t.now);
	script_said(&t);
	script_member(&t, 9, true);
	script_wait(&t, 60000);
	CHECK_INT(toll_count(script_said(&t), "resume"), 1);
	CHECK_INT(dave_session_status(t.s)->recovers, 0);
	script_end(&t);
}
