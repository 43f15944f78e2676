/* Commands to a stream and to the slots of its speakers that are lost: the ring to the audio thread
 * is full, and there is no memory for a queue. */
#include "tests/unit/mediad/call/secure_rig.h"

#define BEN_LEAVES "{\"op\":13,\"d\":{\"user_id\":\"8\"}}"

static void begin_shortage(void)
{
	struct cmd cmd = {.type = CMD_LANE_CONTROL, .lane = {.what = SENDER_GAIN}};

	test_no_memory(true);
	while (!rig.c->n_owed)
		call_command(rig.c, &cmd);
	call_forget_owed(rig.c, CMD_LANE_CONTROL);
}

static void run_audio(void)
{
	for (unsigned i = 0; i < 200 && !rig.gone; i++)
		rig_audio();
}

TEST(call_tells_what_the_kernel_dropped)
{
	struct ev ev = {.type = EV_CALL_STATS};

	CHECK_INT(rig_start(false), 0);
	ev.call.kernel_dropped = 7;
	call_engine_event(&ev, rig.c);
	CHECK_INT(rig.call_stats.kernel_dropped, 7);
	rig_finish();
}

/* Stream statistics arrive at regular intervals while the audio thread runs. */
static void end_shortage(void)
{
	struct ev ev = {.type = EV_CALL_STATS, .stream = rig.c->stream};

	test_no_memory(false);
	run_audio();
	rig_retry();
	if (rig.c->stream)
		call_engine_event(&ev, rig.c);
	run_audio();
}

TEST(hear_a_lost_refusal_replaces_the_slot)
{
	struct media_consent no = {.user = ANNA, .yes = false};
	struct media_listen m = {.listen = 3, .user = ANNA, .rate = 24000, .silence_ms = 700};
	const struct person *anna;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_listen(rig.c, &m);
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->slot && anna->slot->consent);
	begin_shortage();
	call_consent(rig.c, &no);
	end_shortage();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	CHECK(anna->slot && !anna->slot->consent && !anna->stale && !anna->returning);
	CHECK(anna->slot && anna->slot->ssrc == 700);
	CHECK_INT(rig.c->n_slots, 1);
	rig_finish();
}

/* ANNA is in no newer epoch, and the stream does not learn it. */
TEST(secure_replaces_a_slot_that_keeps_the_key_of_a_group_that_was_left)
{
	const struct person *anna;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig.without_anna = true;
	begin_shortage();
	test_no_memory(false);
	rig.poor = true;
	rig_binary(29, "\0\0commit", 8);
	rig_work();
	rig.poor = false;
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->slot && anna->stale);
	end_shortage();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	CHECK(anna->slot && anna->slot->ssrc == 700 && !anna->stale && !anna->returning);
	rig_finish();
}

TEST(hear_a_lost_removal_is_repeated)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_speaks(BEN, 701);
	run_audio();
	CHECK_INT(rig.c->stream->n_slots, 2);
	begin_shortage();
	rig_text(BEN_LEAVES);
	end_shortage();
	CHECK_INT(rig.c->stream->n_slots, 1);
	CHECK_INT(rig.c->n_slots, 1);
	CHECK(!hear_find(rig.c, BEN));
	rig_finish();
}

/* One of the allocations for a slot fails: its three parts, or the queued command that lends it and
 * then frees it. */
static void lend_slot_without(int allocation)
{
	struct person *ben;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	test_no_memory(false);
	test_fail_allocation(allocation);
	hear_ssrc(rig.c, BEN, 701);
	test_fail_allocation(-1);
	ben = hear_find(rig.c, BEN);
	CHECK(ben && !ben->slot);
	CHECK_INT(rig.c->n_slots, 1);
	end_shortage();
	CHECK(hear_unmapped_ssrc(rig.c, 701));
	run_audio();
	CHECK(ben->slot && ben->slot->ssrc == 701 && ben->slot->consent && !ben->stale);
	CHECK_INT(rig.c->n_slots, 2);
	rig_finish();
}

TEST(hear_a_lost_slot_is_lent_again)
{
	for (int i = 0; i < 4; i++)
		lend_slot_without(i);
}

/* Otherwise the stream would go on to send and to hear in a session that is over. */
TEST(call_repeats_the_lost_end_of_a_session)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	rig.c->secure.leave = true;
	call_finish_step(rig.c);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	end_shortage();
	CHECK(!rig.c->stream->linked);
	rig_finish();
}

/* A stream that was never linked makes no event with which to send the command again. */
TEST(call_that_never_joined_ends_without_memory)
{
	CHECK_INT(rig_start(false), 0);
	begin_shortage();
	call_leave(rig.c);
	test_no_memory(false);
	run_audio();
	rig_retry();
	run_audio();
	CHECK(rig.gone);
	rig_finish();
}

TEST(call_ends_although_the_command_was_lost)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	call_leave(rig.c);
	end_shortage();
	CHECK(rig.gone);
	rig_finish();
}

TEST(call_applies_a_lost_set)
{
	struct media_call_set m = {.channel = 5,
				   .bitrate = 64000,
				   .e2ee = MEDIA_E2EE_REQUIRE,
				   .mute = true,
				   .deaf = true};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	run_audio();
	begin_shortage();
	call_set(rig.c, &m);
	end_shortage();
	CHECK(rig.c->stream->deaf);
	rig_finish();
}

static void begin_answer(void)
{
	struct media_say_open open = {.playback = 4, .rate = 24000, .gain = 65535};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_say_open(rig.c, &open);
}

/* The audio thread ends a lane within its next frames. */
static void end_answer(void)
{
	end_shortage();
	for (unsigned i = 0; i < 20; i++) {
		rig_wait_ms(20);
		run_audio();
	}
	CHECK(!rig.c->playbacks[0]);
	rig_finish();
}

TEST(say_a_lost_stop_is_repeated)
{
	static int16_t pcm[2400];
	struct media_say say = {.playback = 4, .pcm = {(const uint8_t *)pcm, sizeof pcm}};

	begin_answer();
	call_say(rig.c, &say);
	run_audio();
	CHECK(rig.c->playbacks[0]);
	begin_shortage();
	call_say_control(rig.c, 4, SENDER_STOP, 0, 0);
	end_answer();
}

TEST(say_a_lost_end_is_repeated)
{
	struct media_say_end end = {.playback = 4};

	begin_answer();
	run_audio();
	begin_shortage();
	call_say_end(rig.c, &end);
	end_answer();
}

/* The audio thread has faded the answer out when it gets the command to go on. */
TEST(say_a_pause_that_crosses_a_resume_is_over)
{
	struct ev ev = {.type = EV_LANE, .lane = {.what = SENDER_PAUSED}};
	const struct playback *p;

	begin_answer();
	p = rig.c->playbacks[0];
	CHECK(p);
	ev.stream = rig.c->stream;
	ev.lane.playback = p->lane;
	call_say_control(rig.c, 4, SENDER_PAUSE, 0, 60);
	call_say_control(rig.c, 4, SENDER_RESUME, 0, 60);
	call_engine_event(&ev, rig.c);
	CHECK(!p->paused);
	call_say_control(rig.c, 4, SENDER_PAUSE, 0, 60);
	call_engine_event(&ev, rig.c);
	CHECK(p->paused);
	rig_finish();
}

TEST(say_refuses_a_playback_whose_lane_is_lost)
{
	struct media_say_open open = {.playback = 4, .rate = 24000, .gain = 65535};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	call_say_open(rig.c, &open);
	CHECK(!rig.c->playbacks[0]);
	end_shortage();
	rig_finish();
}

/* It would go on with a hole, and after a second of lost audio it would wait for ever. */
TEST(say_stops_when_audio_is_lost)
{
	static int16_t pcm[12000];
	struct media_say say = {.playback = 4, .pcm = {(const uint8_t *)pcm, sizeof pcm}};

	begin_answer();
	call_say(rig.c, &say); /* the backlog has memory from here on */
	run_audio();
	begin_shortage();
	call_say(rig.c, &say);
	CHECK_INT(rig.c->playbacks[0]->why, MEDIA_REASON_OVERFLOW);
	end_answer();
}

/* Op 5 finds no memory: others would not know our SSRC. */
TEST(call_resumes_when_a_text_finds_no_memory)
{
	const struct vgw_action none = {.kind = VGW_SEND, .send = {"", 0}};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_perform_action(&none, rig.c);
	call_finish_step(rig.c);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_RESUMING);
	rig_finish();
}
