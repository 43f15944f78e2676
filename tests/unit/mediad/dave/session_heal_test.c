/* The recovery steps: when the next one is taken, and when it must not be. */
#include "tests/unit/mediad/dave/script.h"

#include "proto/base/time.h"
#include "tests/test.h"

#define SAID(t, want) CHECK_STR(script_said(t), want)

enum { RUN = 720 }; /* ms that DAVE_OUTAGE_PACKETS take */

static const struct dave_status *status(const struct script *t)
{
	return dave_session_status(t->s);
}

/* A decryption outage of this length: reported with every 36th packet. */
static void deaf_for(struct script *t, uint64_t user, uint64_t ms)
{
	for (uint64_t i = RUN; i <= ms; i += RUN) {
		script_wait(t, RUN);
		script_undecryptable(t, user);
	}
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
	deaf_for(&t, 1, 9360);
	SAID(&t, "");
	deaf_for(&t, 1, 1440);
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
	deaf_for(&t, 1, 10080);
	SAID(&t, "send:none resume");
	dave_session_offline(t.s, t.now);
	dave_session_resumed(t.s, t.now);
	deaf_for(&t, 1, 720);
	SAID(&t, "op31:9 job:rekey");
	script_done(&t);
	deaf_for(&t, 1, 59040);
	SAID(&t, "op26");
	deaf_for(&t, 1, 720);
	SAID(&t, "rejoin");
	CHECK(status(&t)->resumes == 1 && status(&t)->rejoins == 1);
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
		before = t.now;
		script_undecryptable(&t, 1);
		CHECK(strstr(script_said(&t), "op31"));
		script_done(&t);
		for (unsigned n = 0; n < 6000 && !strstr(t.log, "rejoin"); n++)
			deaf_for(&t, 1, RUN);
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
	deaf_for(&t, 1, 10800);
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
	deaf_for(&t, 1, 7200);
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
	deaf_for(&t, 1, 2160);
	SAID(&t, "job:commit epoch:2 op23:10");
	script_op(&t, 22, 10, 0, 0);
	script_wait(&t, 0);
	SAID(&t, "send:2");
	/* The others switched just now. */
	deaf_for(&t, 1, 720);
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
	deaf_for(&t, 1, 2880);
	SAID(&t, "job:commit epoch:2 op23:10");
	deaf_for(&t, 1, 720);
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
	deaf_for(&t, 1, 1440);
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
	deaf_for(&t, 1, 10800);
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

/* ---- what goes on for hours ---- */

static unsigned count(const char *log, const char *word)
{
	unsigned n = 0;

	for (const char *p = log; (p = strstr(p, word)); p++)
		n++;
	return n;
}

/* The gateway answers a new key package by a welcome, which is executed; `speaker` uses its keys.
 */
static void answer_package(struct script *t, uint16_t *id, uint64_t speaker)
{
	if (!t->job)
		return;
	script_done(t);
	script_mls(t, 30, *id);
	script_done(t);
	script_op(t, 22, (*id)++, 0, 0);
	if (speaker)
		dave_session_proof(t->s, t->now, speaker, t->serial);
}

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
	for (unsigned i = 0; i < 24 * 3600 * 1000 / RUN; i++) {
		const char *said;

		script_wait(&t, RUN);
		script_undecryptable(&t, 1);
		answer_package(&t, &id, i % 50 == 0 ? 2 : 0);
		said = script_said(&t);
		rekeys += count(said, "op31");
		rejoins += count(said, "rejoin");
	}
	CHECK(rekeys >= 1 && rekeys <= 10);
	CHECK_INT(rejoins, 0);
	CHECK(dave_session_gave_up(t.s, 1) && !dave_session_gave_up(t.s, 2));
	CHECK_INT(status(&t)->undecryptable, 1);
	/* One good packet, and the speaker is like any other. */
	heard(&t, 1);
	CHECK(!dave_session_gave_up(t.s, 1));
	CHECK_INT(status(&t)->undecryptable, 0);
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
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (20 * RUN); i++) {
		const uint64_t bot = 100 + i % 10;
		const char *said;

		dave_session_proof(t.s, t.now, 2, t.serial);
		deaf_for(&t, bot, 10 * RUN);
		answer_package(&t, &id, 2);
		heard(&t, bot);
		deaf_for(&t, bot, 5 * RUN);
		answer_package(&t, &id, 2);
		script_member(&t, bot, false);
		script_member(&t, bot, true);
		script_wait(&t, 5 * RUN);
		said = script_said(&t);
		rekeys += count(said, "op31");
		rejoins += count(said, "rejoin");
	}
	CHECK(rekeys >= 1 && rekeys <= 10);
	CHECK_INT(rejoins, 0);
	script_end(&t);
}

/* So many that nothing more can be noted of those who are heard. */
TEST(dave_heal_a_crowd_of_broken_members_is_no_lever)
{
	enum { CROWD = 40, MINUTES = 30 };
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
		answer_package(&t, &id, 2);
		rejoins += count(script_said(&t), "rejoin");
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
		deaf_for(&t, 1, RUN);
		answer_package(&t, &id, 2);
	}
	CHECK(dave_session_gave_up(t.s, 1));
	CHECK_INT(status(&t)->rejoins, 0);
	script_said(&t);
	for (unsigned i = 0; i < 200 && !strstr(t.log, "rejoin"); i++) {
		deaf_for(&t, 2, RUN);
		if (t.job)
			script_done(&t);
	}
	CHECK(strstr(t.log, "rejoin"));
	CHECK_INT(status(&t)->rejoins, 1);
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
	for (unsigned i = 0; i < 3600 * 1000 / (2 * RUN); i++) {
		script_wait(&t, RUN);
		script_undecryptable(&t, 1);
		answer_package(&t, &id, 1);
		script_wait(&t, RUN);
		heard(&t, 1);
		recovers += count(script_said(&t), "op31");
	}
	CHECK(recovers >= 1 && recovers <= 3);
	CHECK_INT(t.heal.recovers, recovers);
	script_end(&t);
}

/* Begins the next session of the call when the last one was left. */
static void join_again(struct script *t, const char *said, unsigned *rejoins)
{
	if (!strstr(said, "rejoin"))
		return;
	++*rejoins;
	CHECK_INT(script_again(t), 0);
	script_settled(t);
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
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (110 * RUN); i++) {
		const char *said;

		for (unsigned k = 0; k < 100; k++) {
			deaf_for(&t, 1, RUN);
			answer_package(&t, &id, 0);
			said = script_said(&t);
			rekeys += count(said, "op31");
			join_again(&t, said, &rejoins);
		}
		dave_session_proof(t.s, t.now, 1, t.serial);
		heard(&t, 1);
		script_wait(&t, 10 * RUN);
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
	for (unsigned i = 0; i < 24 * 3600 * 1000 / (20 * RUN); i++) {
		const char *said;

		deaf_for(&t, 1, 4 * RUN);
		answer_package(&t, &id, 0);
		heard(&t, 1);
		script_wait(&t, 16 * RUN);
		said = script_said(&t);
		rekeys += count(said, "op31");
		join_again(&t, said, &rejoins);
	}
	CHECK(rekeys >= 1 && rekeys <= 60);
	CHECK(rejoins <= 60);
	script_end(&t);
}

/* Every key package is answered by a welcome that does not hold, for an hour. */
static void broken_server(unsigned answer_ms)
{
	unsigned invalid = 0, rejoins = 0, wait = 0;
	struct script t;

	CHECK_INT(script_start(&t), 0);
	script_join(&t);
	for (unsigned i = 0; i < 36000; i++) {
		const char *said;

		script_wait(&t, 100);
		if (i % 8 == 0)
			script_undecryptable(&t, 1);
		if (t.job && t.job->type == DAVE_JOB_WELCOME)
			script_verdict(&t, DAVE_INVALID);
		if (t.job)
			script_done(&t);
		said = script_said(&t);
		invalid += count(said, "op31");
		if (strstr(said, "op26"))
			wait = answer_ms / 100;
		if (wait && !--wait)
			script_mls(&t, 30, 1);
		if (!strstr(said, "rejoin"))
			continue;
		rejoins++;
		CHECK_INT(script_again(&t), 0);
		script_join(&t);
		wait = answer_ms / 100;
	}
	CHECK(rejoins >= 5 && rejoins <= 12);
	CHECK(invalid <= 200);
	script_end(&t);
}

TEST(dave_heal_does_not_flood_a_broken_server)
{
	broken_server(100);
	broken_server(2500);
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

/* Two members commit in turns, one of them with secrets that only we find invalid. Each op 31 of
 * ours would have the whole group re-keyed, every 2 s for as long as they like. */
TEST(dave_heal_invalid_commits_are_no_lever)
{
	unsigned answers = 0, rejoins = 0;
	struct script t;
	uint16_t id = 10;

	CHECK_INT(script_start(&t), 0);
	script_settled(&t);
	for (unsigned i = 0; i < 24 * 3600 / 2; i++) {
		const char *said;

		script_mls(&t, 29, id++);
		script_verdict(&t, DAVE_INVALID);
		answer_package(&t, &id, 1);
		script_wait(&t, 2000);
		said = script_said(&t);
		answers += count(said, "op31");
		join_again(&t, said, &rejoins);
	}
	CHECK(answers >= 24 && answers <= 24 + 24 * 12);
	CHECK(rejoins <= 60);
	script_end(&t);
}
