/* How a call heals its end-to-end encryption: recovery, rejoins and resumes, in simulated time. */
#include "tests/unit/mediad/call/secure_rig.h"

TEST(secure_outage_heals_by_recover_then_rejoin)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_wait_ms(3000);
	ev.stream = rig.c->stream;
	ev.dave.user = ANNA;
	ev.dave.undecryptable = true;
	ev.dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.secure.undecryptable, 1);
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_RECOVER);
	CHECK_INT(rig.secure.recovers, 1);
	CHECK(hear_find(rig.c, ANNA)->outage_since == ev.dave.at);
	rig_work();
	CHECK_INT(rig.job, DAVE_JOB_REKEY);
	for (unsigned i = 0; i < 15; i++) {
		rig_wait_ms(720);
		call_engine_event(&ev, rig.c);
	}
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_REJOIN);
	CHECK_INT(rig.secure.rejoins, 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK(rig.state.wants_credentials);
	CHECK(!rig.secure.known && !rig.c->secure.session);
	CHECK(hear_find(rig.c, ANNA)->outage_since == 0);
	rig_audio();
	CHECK(!rig.c->stream->dave_known);
	/* The recovery steps continue where they were. */
	rig_join("s2", 1);
	CHECK_INT(rig.secure.rejoins, 1);
	rig_work();
	rig_audio();
	CHECK(rig.c->stream->dave_known);
	rig_finish();
}

/* A fault before op 4 must not leave the session up without end-to-end encryption for ever. */
TEST(secure_rejoins_before_it_is_up)
{
	CHECK_INT(rig_start(false), 0);
	rig_greeted("s1");
	rig_binary(25, "no sender", 9);
	rig_work();
	CHECK_INT(rig.job, DAVE_JOB_EXTERNAL_SENDER);
	dave_session_timer(rig.c->secure.session, rig.now);
	call_finish_step(rig.c);
	CHECK_INT(rig.secure.rejoins, 1);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	rig_wait_ms(1000);
	vgw_timer(rig.c->gw, rig.now);
	call_finish_step(rig.c);
	CHECK(rig.state.wants_credentials && !rig.c->secure.session);
	rig_join("s2", 1);
	rig_work();
	CHECK(rig.secure.known && rig.state.phase == MEDIA_PHASE_UP);
	rig_finish();
}

/* A call in which Anna cannot be decrypted. */
static void start_outage(struct ev *ev)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_wait_ms(3000);
	*ev = (struct ev){.type = EV_DAVE_OUTAGE};
	ev->dave.user = ANNA;
	ev->dave.undecryptable = true;
	ev->dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(ev, rig.c);
}

TEST(secure_outage_ends)
{
	struct ev ev;

	start_outage(&ev);
	rig_work();
	rig_binary(30, "\0\0welcome", 9); /* with the old key alone it would not be over */
	rig_work();
	ev.dave.undecryptable = false;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.secure.undecryptable, 0);
	CHECK_INT(rig.secure.heal, MEDIA_HEAL_NONE);
	CHECK_INT(rig.secure.recovers, 1);
	CHECK(hear_find(rig.c, ANNA)->outage_since == 0);
	rig_finish();
}

/* The SSRC of a speaker in an outage is taken away, which is no proof of our keys. */
TEST(secure_an_outage_that_ends_unknown_is_no_evidence)
{
	struct ev ev;

	start_outage(&ev);
	CHECK_INT(rig.secure.undecryptable, 1);
	ev.dave.undecryptable = false;
	ev.dave.unknown = true;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.secure.undecryptable, 0);
	CHECK(hear_find(rig.c, ANNA)->outage_since == 0);
	for (unsigned i = 0; i < DAVE_HEAL_SPEAKERS; i++)
		CHECK_INT(rig.c->secure.heal.speakers[i].heard_at, 0);
	rig_finish();
}

/* A slot that is replaced takes its outage along: nothing would report its end. */
TEST(secure_an_outage_ends_with_its_slot)
{
	struct person *anna;
	struct ev ev;

	start_outage(&ev);
	CHECK_INT(rig.secure.undecryptable, 1);
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->slot);
	anna->stale = true; /* it missed a command */
	hear_replace_slots(rig.c);
	for (unsigned i = 0; i < 200; i++)
		rig_audio();
	CHECK(anna->slot && !anna->returning && !anna->stale);
	CHECK(anna->outage_since == 0);
	CHECK_INT(rig.secure.undecryptable, 0);
	rig_finish();
}

/* Others are heard, so no more keys are requested for one broken member; control learns of it with
 * that member's statistics. */
TEST(secure_tells_control_of_a_member_given_up)
{
	struct ev ev = {.type = EV_USER_STATS, .user = {.user = ANNA}};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_engine_event(&ev, rig.c);
	CHECK(rig.user_stats.user == ANNA && !rig.user_stats.given_up);
	rig.c->secure.heal.speakers[0] =
		(struct dave_heal_speaker){.user = ANNA, .at = rig.now, .given_up = true};
	call_engine_event(&ev, rig.c);
	CHECK(rig.user_stats.given_up);
	ev.user.user = BEN;
	call_engine_event(&ev, rig.c);
	CHECK(rig.user_stats.user == BEN && !rig.user_stats.given_up);
	rig_finish();
}

TEST(secure_resumes_when_something_was_missed)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_text("{\"op\":77,\"seq\":10,\"d\":{}}");
	rig_text("{\"op\":77,\"seq\":13,\"d\":{}}"); /* after 0, of the welcome, both are gaps */
	rig_wait_ms(3000);
	ev.dave.user = ANNA;
	ev.dave.undecryptable = true;
	ev.dave.at = rig.now - 700 * NS_PER_MS;
	call_engine_event(&ev, rig.c);
	rig_work();
	for (unsigned i = 0; i < 15; i++) {
		rig_wait_ms(720);
		call_engine_event(&ev, rig.c);
	}
	CHECK_INT(rig.secure.resumes, 1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_RESUMING);
	/* What is said meanwhile waits for op 9 and is no error. */
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	vgw_ws_binary(rig.c->gw, rig.now, rig.c->conn, (const uint8_t *)"\0\x0b\x1d\0\6commit",
		      11); /* 11, missed before */
	call_finish_step(rig.c);
	rig_work();
	CHECK(rig.secure.pending);
	rig_text("{\"op\":9,\"d\":null}");
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	CHECK(rig.c->secure.session && !rig.c->secure.rejoin);
	CHECK(rig.secure.pending);
	rig_finish();
}

static void unmapped(uint32_t ssrc, bool persistent)
{
	struct ev ev = {.type = EV_UNMAPPED_SSRC, .stream = rig.c->stream};

	ev.unmapped.ssrc = ssrc;
	ev.unmapped.persistent = persistent;
	call_engine_event(&ev, rig.c);
}

/* The message that maps an SSRC was lost: an unmapped SSRC triggers one resume at once, and not
 * again and again. */
TEST(call_resumes_for_an_unmapped_ssrc)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	unmapped(900, true); /* the session has only just come up: names may be on their way */
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_wait_ms(UNMAPPED_SETTLE_MS);
	unmapped(900, false); /* a straggler */
	unmapped(700, true);  /* ANNA's, on its way to her slot */
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(900, true);
	CHECK(rig.state.phase == MEDIA_PHASE_RESUMING &&
	      rig.state.reason == MEDIA_REASON_CONNECTION_LOST);
	unmapped(901, true);
	CHECK_INT(rig.c->unmapped.asks, 1);
	vgw_ws_open(rig.c->gw, rig.now, rig.c->conn);
	rig_text("{\"op\":8,\"d\":{\"heartbeat_interval\":60000}}");
	rig_text("{\"op\":9,\"d\":null}");
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(900, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_speaks(BEN, 900);
	CHECK_INT(rig.c->unmapped.asks, 0);
	rig_wait_ms(UNMAPPED_WAIT_MS);
	unmapped(900, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	unmapped(901, true);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_RESUMING);
	rig_finish();
}

/* A job of an ended session has no owner. */
TEST(secure_late_jobs_are_not_adopted)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	vgw_ws_closed(rig.c->gw, rig.now, rig.c->conn, 4006, MEDIA_REASON_NONE);
	call_finish_step(rig.c);
	CHECK(!rig.c->secure.session);
	rig_work();
	CHECK_INT(rig.late, 1);
	rig_join("s2", 1);
	rig_join("s3", 1);
	rig_work();
	CHECK_INT(rig.late, 2);
	rig_work();
	CHECK_INT(rig.late, 2);
	CHECK_INT(rig.job, DAVE_JOB_RESET);
	rig_finish();
}

/* A member who makes an outage and ends it over and over again gets few lines in the log. */
TEST(secure_outages_do_not_flood_the_log)
{
	struct ev ev = {.type = EV_DAVE_OUTAGE};
	unsigned lines = 0;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	ev.stream = rig.c->stream;
	ev.dave.user = ANNA;
	for (unsigned i = 0; i < 600; i++) {
		rig_wait_ms(50);
		ev.dave.undecryptable = i % 2 == 0;
		ev.dave.at = rig.now;
		call_engine_event(&ev, rig.c);
		CHECK(!hear_find(rig.c, ANNA)->outage_since == !ev.dave.undecryptable);
		lines += hear_find(rig.c, ANNA)->outage_in_log;
	}
	CHECK(lines >= 1 && lines <= 4);
	rig_finish();
}

/* A hostile voice server gets a bounded number of lines out of each call. */
TEST(call_a_server_does_not_flood_the_log)
{
	char json[80];

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(json, sizeof json, "{\"op\":18,\"seq\":%u,\"d\":null}", 10 + 2 * i);
		rig_text(json);
	}
	CHECK(rig.c->lines.refused >= 1800);
	rig_wait_ms(1000);
	CHECK(call_may_log(rig.c) && !call_may_log(rig.c));
	CHECK_INT(rig.c->lines.refused, 1);
	rig_finish();
}

static void dave_event(enum ev_type type, uint64_t user)
{
	struct ev ev = {.type = type, .stream = rig.c->stream};

	ev.dave.user = user;
	ev.dave.at = rig.now;
	ev.dave.undecryptable = true;
	ev.dave.epoch = rig.c->secure.number << 32 | rig.serial;
	call_engine_event(&ev, rig.c);
}

/* BEN's op 5 names the SSRC of ANNA, whose key decrypts its packets. What she says stays hers; when
 * her key fails, it may be BEN's after all. */
TEST(secure_a_member_cannot_take_the_ssrc_of_another)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	dave_event(EV_DAVE_PROOF, ANNA);
	rig_speaks(BEN, 700);
	CHECK_INT(hear_find(rig.c, ANNA)->ssrc, 700);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 0);
	dave_event(EV_DAVE_OUTAGE, ANNA);
	CHECK_INT(hear_find(rig.c, ANNA)->ssrc, 0);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 700);
	rig_finish();
}

/* While a transition waits, ANNA may use a key that we lack: that gives BEN no right to her SSRC.
 */
TEST(secure_a_transition_hands_no_ssrc_over)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	dave_event(EV_DAVE_PROOF, ANNA);
	rig_speaks(BEN, 700);
	rig_binary(29, "\0\1commit", 8);
	rig_work();
	CHECK(rig.secure.pending);
	dave_event(EV_DAVE_OUTAGE, ANNA);
	CHECK_INT(hear_find(rig.c, ANNA)->ssrc, 700);
	rig_text("{\"op\":22,\"d\":{\"transition_id\":1}}");
	CHECK(!rig.secure.pending);
	dave_event(EV_DAVE_OUTAGE, ANNA);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 700);
	rig_finish();
}

/* ANNA's SSRC was given to BEN by mistake. It returns to her when his key fails. */
static void return_ssrc_to_anna(void)
{
	dave_event(EV_DAVE_OUTAGE, BEN);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 0);
	CHECK_INT(hear_find(rig.c, ANNA)->ssrc, 700);
	rig_finish();
}

static void start_mistaken(void)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_speaks(BEN, 700);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 700);
}

/* A downgrade that is never executed explains no outage of a speaker. */
TEST(secure_a_downgrade_without_op_22_keeps_no_wrong_ssrc)
{
	start_mistaken();
	rig_text("{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}");
	CHECK(rig.secure.pending);
	return_ssrc_to_anna();
}

TEST(secure_a_transition_keeps_a_wrong_ssrc_for_seconds)
{
	start_mistaken();
	rig_binary(29, "\0\1commit", 8);
	rig_work();
	dave_event(EV_DAVE_OUTAGE, BEN);
	CHECK_INT(hear_find(rig.c, BEN)->ssrc, 700);
	rig_wait_ms(DAVE_PENDING_MS);
	CHECK(rig.secure.pending);
	return_ssrc_to_anna();
}
