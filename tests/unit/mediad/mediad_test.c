/* mediad as its control sees it: over the socket, without a voice server. */
#include "tests/unit/mediad/mediad_scene.h"

#include <unistd.h>

#include "ipc/tmr.h"

static void open_playback(struct control *c, uint32_t playback, uint32_t rate)
{
	struct media_msg msg = {.type = MEDIA_SAY_OPEN};

	msg.say_open.call = 1;
	msg.say_open.playback = playback;
	msg.say_open.rate = rate;
	msg.say_open.gain = 1000;
	mediad_scene_say(c, &msg);
}

static void send_pcm(struct control *c, uint32_t playback, size_t bytes)
{
	static const uint8_t zeros[MEDIA_PCM_MAX];
	struct media_msg msg = {.type = MEDIA_SAY};

	msg.say.call = 1;
	msg.say.playback = playback;
	msg.say.pcm = (struct slice){zeros, bytes};
	mediad_scene_say(c, &msg);
}

TEST(mediad_greets)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_start(&s), 0);
	CHECK_INT(mediad_scene_hello(&s.a, MEDIA_MAJOR, 99, 1, 7), 0);
	m = mediad_scene_await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 0);
	CHECK_INT(s.a.seen[0].type, MEDIA_HELLO);
	CHECK_INT(s.a.seen[0].hello.major, MEDIA_MAJOR);
	mediad_scene_end(&s);
}

TEST(mediad_refuses_another_major)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_start(&s), 0);
	CHECK_INT(mediad_scene_hello(&s.a, MEDIA_MAJOR + 1, 99, 1, 7), 0);
	m = mediad_scene_await(&s.a, MEDIA_FAULT);
	CHECK(m && m->fault.code == MEDIA_FAULT_VERSION);
	mediad_scene_await(&s.a, 0);
	CHECK(s.a.lost);
	mediad_scene_end(&s);
}

/* A CALL_OPEN that arrives behind newer credentials changes nothing: the next lease, which names no
 * channel, joins that of the first. The channel that control wants after that is not that of the
 * session. */
TEST(mediad_drops_an_open_of_an_older_generation)
{
	struct media_msg lease = {.type = MEDIA_CALL_CREDENTIALS,
				  .call_credentials = {.call = 1,
						       .gen = 3,
						       .channel = 6,
						       .session = slice_str("s"),
						       .token = slice_str("t"),
						       .endpoint = slice_str("127.0.0.1:9")}};
	struct media_msg next = {.type = MEDIA_CALL_SET,
				 .call_set = {.call = 1, .gen = 4, .channel = 7}};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	mediad_scene_say(&s.a, &lease);
	mediad_scene_open_call(&s.a, 1, 41);
	lease.call_credentials.gen = 4;
	lease.call_credentials.channel = 0;
	mediad_scene_say(&s.a, &lease);
	mediad_scene_say(&s.a, &next);
	mediad_scene_open_call(&s.a, 2, 43); /* its state tells that the other messages were read */
	do
		m = mediad_scene_await(&s.a, MEDIA_CALL_STATE);
	while (m && m->call_state.call != 2);
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	for (unsigned i = 0; i < s.b.n; i++)
		if (s.b.seen[i].type == MEDIA_CALL_STATE && s.b.seen[i].call_state.call == 1)
			CHECK(s.b.seen[i].call_state.channel == 6 &&
			      s.b.seen[i].call_state.gen == 4);
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_CALL_STATE), 2);
	mediad_scene_end(&s);
}

struct second {
	uint64_t user, epoch, instance;
	bool takes_over;
};

TEST(mediad_has_one_control)
{
	static const struct second cases[] = {
		{99, 2, 8, true},  /* a newer one of the same bot */
		{99, 1, 7, true},  /* the same, whose old connection is not yet known to be dead */
		{99, 1, 8, false}, /* another of the same age */
		{99, 0, 8, false}, /* an older one */
		{98, 9, 8, false}, /* another bot */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct second *k = &cases[i];
		struct scene s;
		const struct media_msg *m;

		CHECK_INT(mediad_scene_with_call(&s), 0);
		CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, k->user, k->epoch, k->instance), 0);
		m = mediad_scene_await(&s.b, k->takes_over ? MEDIA_SYNCED : MEDIA_FAULT);
		CHECK(m);
		if (k->takes_over) {
			CHECK_INT(m->synced.calls, 1);
			CHECK_INT(mediad_scene_count(&s.b, MEDIA_CALL_STATE), 1);
			if (!s.a.lost)
				mediad_scene_await(&s.a, 0);
			CHECK(s.a.lost);
			CHECK_INT(s.a.seen[s.a.n - 1].type, MEDIA_FAULT);
			CHECK_INT(s.a.seen[s.a.n - 1].fault.code, MEDIA_FAULT_TAKEN_OVER);
		} else {
			CHECK_INT(m->fault.code, MEDIA_FAULT_BUSY);
			CHECK(!s.a.lost);
		}
		mediad_scene_end(&s);
	}
}

TEST(mediad_closes_on_a_violation)
{
	struct media_msg wrong_side = {.type = MEDIA_SYNCED}, early = {.type = MEDIA_CALL_CLOSE};
	const uint8_t garbage[] = {0xc1, 0xff, 0x00};
	struct peer_conf conf = {.msgh = mediad_scene_on_frame, .losth = mediad_scene_on_lost};
	struct scene s;
	const struct media_msg *m;

	for (unsigned i = 0; i < 4; i++) {
		CHECK_INT(mediad_scene_with_call(&s), 0);
		switch (i) {
		case 0:
			mediad_scene_say(&s.a, &wrong_side);
			break;
		case 1:
			peer_send(s.a.peer, PEER_COMMAND, garbage, sizeof garbage);
			break;
		case 2: /* one number, another guild */
			mediad_scene_open_call(&s.a, 1, 42);
			break;
		default: /* before HELLO */
			conf.arg = &s.a;
			peer_free(s.a.peer);
			CHECK_INT(peer_connect(&s.a.peer, s.env, s.path, &conf), 0);
			mediad_scene_say(&s.a, &early);
			break;
		}
		m = mediad_scene_await(&s.a, MEDIA_FAULT);
		CHECK(m && m->fault.code == MEDIA_FAULT_VIOLATION);
		/* The call is still there for whoever starts over. */
		CHECK_INT(mediad_scene_hello(&s.a, MEDIA_MAJOR, 99, 1, 7), 0);
		m = mediad_scene_await(&s.a, MEDIA_SYNCED);
		CHECK(m && m->synced.calls == 1);
		mediad_scene_end(&s);
	}
}

/* Peers that connect and say nothing do not keep a control out. */
TEST(mediad_greets_behind_silent_peers)
{
	struct peer_conf conf = {.msgh = mediad_scene_on_frame, .losth = mediad_scene_on_lost};
	struct peer *silent[12] = {NULL};
	struct control silent_peer = {0};
	struct scene s;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	silent_peer.s = &s;
	conf.arg = &silent_peer;
	for (unsigned i = 0; i < 12; i++)
		CHECK_INT(peer_connect(&silent[i], s.env, s.path, &conf), 0);
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	for (unsigned i = 0; i < 12; i++)
		peer_free(silent[i]);
	mediad_scene_end(&s);
}

/* Unknown types below 32768 are of a newer minor version. */
TEST(mediad_skips_what_is_newer)
{
	const uint8_t newer[] = {0x92, 0xcd, 0x7f, 0xff, 0x01};
	struct media_msg ping = {.type = MEDIA_PING};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	peer_send(s.a.peer, PEER_COMMAND, newer, sizeof newer);
	ping.ping.id = 77;
	mediad_scene_say(&s.a, &ping);
	m = mediad_scene_await(&s.a, MEDIA_PONG);
	CHECK(m && m->pong.id == 77);
	mediad_scene_end(&s);
}

/* A health check does not say HELLO, and the control that is there stays. */
TEST(mediad_answers_a_ping_of_anybody)
{
	struct peer_conf conf = {.msgh = mediad_scene_on_frame, .losth = mediad_scene_on_lost};
	struct media_msg ping = {.type = MEDIA_PING};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	s.b.s = &s;
	conf.arg = &s.b;
	CHECK_INT(peer_connect(&s.b.peer, s.env, s.path, &conf), 0);
	ping.ping.id = 5;
	mediad_scene_say(&s.b, &ping);
	m = mediad_scene_await(&s.b, MEDIA_PONG);
	CHECK(m && m->pong.id == 5);
	mediad_scene_say(&s.a, &ping);
	CHECK(mediad_scene_await(&s.a, MEDIA_PONG) && !s.a.lost);
	mediad_scene_end(&s);
}

TEST(mediad_call_opens_and_closes)
{
	struct media_msg close = {.type = MEDIA_CALL_CLOSE};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	m = &s.a.seen[s.a.n - 1];
	CHECK_INT(m->call_state.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(m->call_state.reason, MEDIA_REASON_NEW_CALL);
	CHECK(m->call_state.wants_credentials);
	close.call_close.call = 1;
	mediad_scene_say(&s.a, &close);
	m = mediad_scene_await(&s.a, MEDIA_CALL_STATE);
	CHECK(m && m->call_state.phase == MEDIA_PHASE_CLOSED);
	/* Again: there is none, and that is told. */
	mediad_scene_say(&s.a, &close);
	m = mediad_scene_await(&s.a, MEDIA_CALL_STATE);
	CHECK(m && m->call_state.phase == MEDIA_PHASE_CLOSED);
	mediad_scene_end(&s);
}

TEST(mediad_refuses_senseless_listens)
{
	static const struct media_listen bad[] = {
		{1, 0, 1, 7, 44100, 700}, {1, 0, 0, 7, 24000, 700},  {1, 0, 1, 0, 24000, 700},
		{1, 0, 1, 7, 24000, 50},  {1, 0, 1, 7, 24000, 6000},
	};
	struct media_msg msg = {.type = MEDIA_LISTEN};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		msg.listen = bad[i];
		mediad_scene_say(&s.a, &msg);
		m = mediad_scene_await(&s.a, MEDIA_HEARD_END);
		CHECK(m && m->heard_end.reason == MEDIA_REASON_BAD_REQUEST);
	}
	/* A good one is remembered, also for a user who is not there yet. */
	msg.listen = (struct media_listen){1, 0, 4, 7, 16000, 700};
	mediad_scene_say(&s.a, &msg);
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_LISTENING), 1);
	for (m = s.b.seen; m->type != MEDIA_LISTENING; m++)
		;
	CHECK(m->listening.listen == 4 && m->listening.user == 7);
	CHECK(m->listening.rate == 16000 && m->listening.silence_ms == 700);
	mediad_scene_end(&s);
}

TEST(mediad_credit_is_a_bound)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	open_playback(&s.a, 3, 8000);
	m = mediad_scene_await(&s.a, MEDIA_SAY_CREDIT);
	CHECK(m && m->say_credit.playback == 3 && m->say_credit.samples == 60 * 8000);
	for (unsigned i = 0; i < 120; i++)
		send_pcm(&s.a, 3, 8000);
	send_pcm(&s.a, 3, 2);
	m = mediad_scene_await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.reason == MEDIA_REASON_OVERFLOW);
	CHECK_INT(m->say_stopped.samples, 0);
	/* Half a sample. */
	open_playback(&s.a, 4, 8000);
	CHECK(mediad_scene_await(&s.a, MEDIA_SAY_CREDIT));
	send_pcm(&s.a, 4, 3);
	m = mediad_scene_await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 4 &&
	      m->say_stopped.reason == MEDIA_REASON_BAD_REQUEST);
	open_playback(&s.a, 5, 7999);
	m = mediad_scene_await(&s.a, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 5);
	mediad_scene_end(&s);
}

TEST(mediad_stops_what_nobody_claims)
{
	struct media_msg claim = {.type = MEDIA_SAY_CLAIM};
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	open_playback(&s.a, 3, 24000);
	CHECK(mediad_scene_await(&s.a, MEDIA_SAY_CREDIT));
	open_playback(&s.a, 4, 24000);
	CHECK(mediad_scene_await(&s.a, MEDIA_SAY_CREDIT));
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_SAY_STATE), 2);
	claim.say_claim.call = 1;
	claim.say_claim.playback = 4;
	mediad_scene_say(&s.b, &claim);
	m = mediad_scene_await(&s.b, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 3 && m->say_stopped.reason == MEDIA_REASON_ORPHANED);
	/* One of the same number belongs to the new control from now on. */
	open_playback(&s.b, 3, 24000);
	m = mediad_scene_await(&s.b, MEDIA_SAY_CREDIT);
	CHECK(m && m->say_credit.playback == 3);
	mediad_scene_end(&s);
}

/* Two answers end while no control is there, and one of them is claimed by a control that heard of
 * it before: the control learns how each ended. */
TEST(mediad_tells_a_new_control_how_each_speech_ended)
{
	struct media_msg stop = {.type = MEDIA_SAY_STOP}, claim = {.type = MEDIA_SAY_CLAIM};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	stop.say_stop.call = claim.say_claim.call = 1;
	for (uint32_t id = 3; id < 6; id++) {
		open_playback(&s.a, id, 24000);
		CHECK(mediad_scene_await(&s.a, MEDIA_SAY_CREDIT));
		stop.say_stop.playback = id;
		mediad_scene_say(&s.a, &stop);
		CHECK(mediad_scene_await(&s.a, MEDIA_SAY_STOPPED));
	}
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_SAY_STOPPED), 3);
	for (unsigned i = 0, id = 3; i < s.b.n; i++) {
		m = &s.b.seen[i];
		if (m->type == MEDIA_SAY_STOPPED)
			CHECK_INT(m->say_stopped.playback, id++);
	}
	claim.say_claim.playback = 4;
	mediad_scene_say(&s.b, &claim);
	m = mediad_scene_await(&s.b, MEDIA_SAY_STOPPED);
	CHECK(m && m->say_stopped.playback == 4 && m->say_stopped.reason == MEDIA_REASON_STOPPED);
	mediad_scene_end(&s);
}

/* A new control learns which speech of the previous one goes on, and how the last one ended. */
TEST(mediad_tells_a_new_control_how_speech_goes_on)
{
	struct media_msg end = {.type = MEDIA_SAY_END}, stop = {.type = MEDIA_SAY_STOP};
	const struct media_msg *m;
	struct scene s;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	for (uint32_t id = 3; id < 6; id++) {
		open_playback(&s.a, id, 24000);
		CHECK(mediad_scene_await(&s.a, MEDIA_SAY_CREDIT));
		send_pcm(&s.a, id, 2400);
	}
	end.say_end.call = stop.say_stop.call = 1;
	end.say_end.playback = 4;
	mediad_scene_say(&s.a, &end);
	stop.say_stop.playback = 5;
	mediad_scene_say(&s.a, &stop);
	CHECK(mediad_scene_await(&s.a, MEDIA_SAY_STOPPED));
	mediad_scene_say(&s.a, &(struct media_msg){.type = MEDIA_PING});
	CHECK(mediad_scene_await(&s.a, MEDIA_PONG));
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_SAY_STATE), 2);
	for (unsigned i = 0; i < s.b.n; i++) {
		m = &s.b.seen[i];
		if (m->type == MEDIA_SAY_STATE) {
			CHECK_INT(m->say_state.ended, m->say_state.playback == 4);
			CHECK_INT(m->say_state.written, 1200);
		}
		if (m->type == MEDIA_SAY_STOPPED)
			CHECK_INT(m->say_stopped.playback, 5);
	}
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_SAY_STOPPED), 1);
	mediad_scene_end(&s);
}

/* Calls outlive their control, but not for ever (here: 1 s). */
TEST(mediad_leaves_when_no_control_comes)
{
	struct scene s;
	const struct media_msg *m;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	CHECK_INT(mediad_scene_hello(&s.a, MEDIA_MAJOR, 99, 2, 7), 0);
	m = mediad_scene_await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 1);
	s.a.peer = peer_free(s.a.peer);
	s.waits = NULL;
	tmr_start(s.deadline, 1500 * NS_PER_MS);
	env_run(s.env);
	CHECK_INT(mediad_scene_hello(&s.a, MEDIA_MAJOR, 99, 2, 7), 0);
	m = mediad_scene_await(&s.a, MEDIA_SYNCED);
	CHECK(m && m->synced.calls == 0);
	mediad_scene_end(&s);
}

TEST(mediad_stops_in_order)
{
	struct scene s;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	s.waits = NULL;
	tmr_start(s.deadline, DEADLINE_MS * NS_PER_MS);
	mediad_stop(s.m);
	env_run(s.env);
	CHECK(s.stopped && !s.timed_out);
	CHECK(access(s.path, F_OK) != 0);
	mediad_scene_end(&s);
}

TEST_OOM(mediad_alloc_oom)
{
	struct scene s;

	CHECK_OOM(mediad_scene_start(&s), mediad_scene_end(&s));
	mediad_scene_end(&s);
}
