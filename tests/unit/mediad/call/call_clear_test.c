/* Calls without end-to-end encryption, and commands of control to a call, in simulated time. */
#include "tests/unit/mediad/call/secure_rig.h"

#define PREPARE_CLEAR "{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}"
#define EXECUTE_CLEAR "{\"op\":22,\"d\":{\"transition_id\":8}}"

TEST(secure_without_encryption)
{
	CHECK_INT(rig_start(true), 0);
	rig_join("s1", 0);
	rig_audio();
	CHECK(rig.secure.known && rig.secure.ready && !rig.secure.version);
	CHECK(rig.c->stream->clear && rig.c->stream->clear_until == UINT64_MAX);
	CHECK(!rig.c->secure.clear_logged);
	rig_finish();
	/* No stage: said once. */
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 0);
	CHECK(rig.c->secure.clear_logged);
	rig_finish();
}

static void set_e2ee(enum media_e2ee e2ee, bool stage)
{
	struct media_call_set m = {
		.channel = 5, .bitrate = 64000, .stage = stage, .e2ee = (uint8_t)e2ee};

	call_set(rig.c, &m);
}

/* A call that was encrypted is left when that ends, and another session without encryption is
 * refused before anything is sent; an encrypted one is welcome. */
TEST(secure_leaves_a_call_that_loses_its_encryption)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_text(PREPARE_CLEAR);
	rig_audio();
	CHECK(!rig.c->stream->clear && rig.c->stream->clear_until <= rig.now);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_text(EXECUTE_CLEAR);
	rig_audio();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	CHECK(!rig.state.wants_credentials && !rig.c->stream->clear);
	rig_join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	rig_audio();
	CHECK(!rig.c->stream->clear);
	rig_join("s3", 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_finish();
}

/* The lease of a new server crosses the end of the call: control passes over the end, which has the
 * older generation, and is told again. A lease for another channel, or one that control fetched
 * afterwards, begins a call. */
TEST(secure_a_lease_that_crosses_the_loss_of_encryption_is_not_used)
{
	struct media_call_credentials m = {.session = slice_str("s2"),
					   .token = slice_str("tok2"),
					   .endpoint = slice_str("other.example:1"),
					   .channel = 5};
	uint32_t conn;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_text(PREPARE_CLEAR);
	rig_text(EXECUTE_CLEAR);
	rig_audio();
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	conn = rig.c->conn;
	m.gen = rig.c->gen + 1;
	call_credentials(rig.c, &m);
	CHECK_INT(rig.c->conn, conn);
	CHECK_INT(rig.state.gen, m.gen);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	m.gen++;
	m.after_failure = true;
	call_credentials(rig.c, &m);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_CONNECTING);
	CHECK(rig.c->conn != conn);
	rig_finish();

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_text(PREPARE_CLEAR);
	rig_text(EXECUTE_CLEAR);
	m.gen = rig.c->gen + 1;
	m.channel = 6;
	m.after_failure = false;
	call_credentials(rig.c, &m);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_CONNECTING);
	rig_finish();
}

TEST(secure_refuses_a_clear_call_where_encryption_is_required_from_the_start)
{
	CHECK_INT(rig_start(false), 0);
	set_e2ee(MEDIA_E2EE_ALWAYS, false);
	rig_join("s1", 0);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	set_e2ee(MEDIA_E2EE_PREFER, false);
	rig_join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	/* The setting is applied to the call at hand, too. A stage has none. */
	set_e2ee(MEDIA_E2EE_ALWAYS, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	set_e2ee(MEDIA_E2EE_ALWAYS, false);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	rig_finish();
}

TEST(secure_a_clear_call_that_became_encrypted_stays_so)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 0);
	rig_work();
	rig_text("{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	rig_binary(25, "sender", 6);
	rig_work();
	rig_work();
	rig_binary(30, "\0\11welcome", 9);
	rig_work();
	rig_text("{\"op\":22,\"d\":{\"transition_id\":9}}");
	CHECK(rig.secure.version == 1 && rig.c->secure.encrypted);
	rig_text(PREPARE_CLEAR);
	rig_text(EXECUTE_CLEAR);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	rig_finish();
}

TEST(secure_downgrade_and_upgrade)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	set_e2ee(MEDIA_E2EE_PREFER, false);
	rig_text("{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}");
	rig_audio();
	CHECK(!rig.c->stream->clear && rig.c->stream->clear_until == rig.now + 8 * NS_PER_S);
	rig_text("{\"op\":22,\"d\":{\"transition_id\":8}}");
	rig_audio();
	CHECK(rig.c->stream->clear && rig.secure.version == 0);
	rig_work();
	rig_text("{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	rig_work();
	rig_binary(30, "\0\11welcome", 9);
	rig_work();
	rig_audio();
	CHECK(rig.c->stream->clear);
	rig_text("{\"op\":22,\"d\":{\"transition_id\":9}}");
	rig_audio();
	CHECK(!rig.c->stream->clear && rig.secure.version == 1 && rig.secure.ready);
	CHECK(rig.c->stream->clear_until == rig.now + 10 * NS_PER_S);
	rig_finish();
}

/* CHANNEL_UPDATE of the main gateway calls the channel a stage, which has no encryption. */
/* Op 21 without op 22 opens an encrypted call to clear frames for seconds, however often it comes;
 * stricter settings end that. */
TEST(secure_op_21_alone_lets_clear_frames_in_for_seconds)
{
	uint64_t until;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	set_e2ee(MEDIA_E2EE_PREFER, false);
	rig_text(PREPARE_CLEAR);
	rig_audio();
	until = rig.c->stream->clear_until;
	CHECK(until == rig.now + 8 * NS_PER_S);
	rig_wait_ms(7000);
	rig_text("{\"op\":21,\"d\":{\"transition_id\":9,\"protocol_version\":0}}");
	rig_text(PREPARE_CLEAR);
	rig_audio();
	CHECK(rig.c->stream->clear_until == until);
	set_e2ee(MEDIA_E2EE_REQUIRE, false);
	rig_audio();
	CHECK(rig.c->stream->clear_until <= rig.now);
	rig_finish();
}

TEST(secure_a_call_that_was_encrypted_does_not_become_a_stage)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	set_e2ee(MEDIA_E2EE_REQUIRE, true);
	rig_text(PREPARE_CLEAR);
	rig_audio();
	CHECK(rig.c->stream->clear_until <= rig.now);
	rig_text(EXECUTE_CLEAR);
	rig_audio();
	CHECK(!rig.c->stream->clear);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	rig_finish();
}

/* A bot is dragged out of a stage, and out of an encrypted channel into one. The policy of the next
 * channel waits for its lease. */
TEST(secure_a_policy_counts_in_its_own_channel)
{
	struct media_call_set next = {.channel = 6, .bitrate = 64000, .e2ee = MEDIA_E2EE_ALWAYS};

	CHECK_INT(rig_start(true), 0);
	rig_join("s1", 0);
	rig_audio();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	call_set(rig.c, &next);
	rig_audio();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	rig_finish();

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	next.stage = true;
	next.e2ee = MEDIA_E2EE_REQUIRE;
	call_set(rig.c, &next);
	rig_join("s2", 0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_finish();
}

/* Commands of an older generation are late; those about playbacks are found by their ids. */
TEST(call_drops_commands_of_an_older_generation)
{
	struct media_msg set = {.type = MEDIA_CALL_SET,
				.call_set = {.channel = 5, .bitrate = 64000, .mute = true}};
	struct media_msg consent = {.type = MEDIA_CONSENT, .consent = {.user = 77, .yes = true}};
	struct media_msg open = {.type = MEDIA_SAY_OPEN,
				 .say_open = {.playback = 9, .rate = 24000}};

	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	CHECK_INT(rig.c->gen, 1);
	CHECK_INT(call_run_command(rig.c, &set), 0);
	CHECK_INT(call_run_command(rig.c, &consent), 0);
	CHECK(!rig.c->mute && !hear_find(rig.c, 77));
	set.call_set.gen = consent.consent.gen = 1;
	CHECK_INT(call_run_command(rig.c, &set), 0);
	CHECK_INT(call_run_command(rig.c, &consent), 0);
	CHECK(rig.c->mute && hear_find(rig.c, 77));
	CHECK_INT(call_run_command(rig.c, &open), 0);
	CHECK(rig.c->playbacks[0] && rig.c->playbacks[0]->id == 9);
	rig_finish();
}

/* A playback that is never ended does not keep its lane: the resampler keeps its last samples. */
TEST(call_stops_a_playback_that_starves)
{
	static const uint8_t pcm[9600];
	struct media_say_open open = {.playback = 9, .rate = 24000};
	struct media_say say = {.playback = 9, .pcm = {pcm, sizeof pcm}};
	struct ev ev = {.type = EV_LANE_PROGRESS};
	struct playback *p;

	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 0);
	call_say_open(rig.c, &open);
	call_say(rig.c, &say);
	p = rig.c->playbacks[0];
	CHECK(p && p->laned && p->laned < 9600);
	ev.lane.playback = p->lane;
	ev.lane.pulled = ev.lane.samples = p->laned;
	say_event(rig.c, &ev);
	rig_wait_ms(29000);
	say_check_starved(rig.c);
	CHECK_INT(p->why, MEDIA_REASON_NONE);
	rig_wait_ms(2000);
	say_check_starved(rig.c);
	CHECK_INT(p->why, MEDIA_REASON_STARVED);
	rig_finish();
}

/* The consent of users who were not asked is part of what a new control says. */
TEST(call_set_changes_the_default_consent)
{
	struct media_call_set m = {.channel = 5, .bitrate = 64000};

	CHECK_INT(rig_start(false), 0);
	call_set(rig.c, &m);
	CHECK(rig.c->consent); /* an older control says nothing about it */
	m.consent = MEDIA_CONSENT_NO;
	call_set(rig.c, &m);
	CHECK(!rig.c->consent && !hear_has_consent(rig.c));
	m.consent = MEDIA_CONSENT_YES;
	call_set(rig.c, &m);
	CHECK(hear_has_consent(rig.c));
	rig_finish();
}

static bool consents(uint64_t user)
{
	const struct person *p = hear_find(rig.c, user);

	return p && p->consent_known ? p->consented : rig.c->consent;
}

/* What one control knew of single users is nothing that the next one has said. */
TEST(call_consents_of_a_control_that_is_gone_are_forgotten)
{
	struct media_call_set m = {.channel = 5, .bitrate = 64000, .consent = MEDIA_CONSENT_NO};
	struct media_consent anna = {.user = ANNA, .yes = true}, ben = {.user = BEN, .yes = true};

	CHECK_INT(rig_start(false), 0);
	call_set(rig.c, &m);
	call_consent(rig.c, &anna);
	call_consent(rig.c, &ben);
	call_set(rig.c, &m);
	CHECK(consents(ANNA) && consents(BEN));
	call_greet_control(rig.c); /* which repeats one of them */
	CHECK(consents(ANNA) && consents(BEN));
	call_consent(rig.c, &ben);
	call_set(rig.c, &m);
	CHECK(!consents(ANNA) && consents(BEN));
	rig_finish();
}

TEST(call_a_refused_consent_without_memory_refuses_all)
{
	struct media_consent stranger = {.user = 4711, .yes = false};
	struct media_call_set set = {.channel = 5, .bitrate = 64000, .consent = MEDIA_CONSENT_YES};

	CHECK_INT(rig_start(false), 0);
	for (uint64_t user = 1000; hear_find(rig.c, user - 1) || user == 1000; user++) {
		struct media_consent c = {.user = user, .yes = true};

		test_no_memory(user >= 1000 + 64);
		call_consent(rig.c, &c);
	}
	call_consent(rig.c, &stranger);
	test_no_memory(false);
	CHECK(!hear_find(rig.c, 4711) && !rig.c->consent);
	/* The default does not come back before control has repeated all refusals. */
	call_set(rig.c, &set);
	CHECK(!rig.c->consent);
	hear_doubt_consents(rig.c);
	CHECK(!rig.c->consent);
	call_set(rig.c, &set);
	CHECK(rig.c->consent);
	rig_finish();
}

/* A downgrade is offered and taken back, without op 22. */
static void offer_clear(void)
{
	rig_text("{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}");
	rig_text("{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":1}}");
	rig_audio();
}

TEST(call_repeated_offers_of_a_downgrade_open_the_call_once)
{
	unsigned open = 0;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	set_e2ee(MEDIA_E2EE_PREFER, false);
	for (unsigned i = 0; i < 20; i++) {
		offer_clear();
		open += rig.c->stream->clear_until >= rig.now + 6 * NS_PER_S;
		rig_wait_ms(6000);
	}
	CHECK_INT(open, 1);
	CHECK_INT(rig.secure.version, 1);
	rig_finish();
}

TEST(call_requiring_encryption_ends_a_window_for_clear_frames)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	set_e2ee(MEDIA_E2EE_PREFER, false);
	offer_clear();
	CHECK(rig.c->stream->clear_until > rig.now);
	set_e2ee(MEDIA_E2EE_REQUIRE, false);
	rig_audio();
	CHECK(rig.c->stream->clear_until <= rig.now);
	rig_finish();
}
