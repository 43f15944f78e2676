/* Resumes, close codes, and calls that cannot go on: the voice gateway machine against scripted
 * servers, in simulated time. */
#include "tests/unit/mediad/call/gateway_bench.h"

/* Brings a session up, closes its socket with this code, and opens the one that is to resume it. */
static void resume_after(struct vgw_bench *b, uint16_t code)
{
	CHECK_INT(vgw_bench_start(b), 0);
	vgw_bench_join(b, "s1");
	vgw_ws_closed(b->g, b->now, b->conn, code, MEDIA_REASON_NONE);
	vgw_bench_run_until(b, b->now + NS_PER_S);
	vgw_ws_open(b->g, b->now, b->conn);
}

TEST(gateway_resumes_without_heartbeat_acks)
{
	struct vgw_bench b;
	uint64_t beat;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	beat = vgw_deadline(b.g);
	vgw_bench_run_until(&b, beat + 18 * NS_PER_S);
	CHECK_INT(b.closes, 0);
	vgw_bench_run_until(&b, beat + 18750 * NS_PER_MS);
	CHECK_INT(b.closes, 1);
	CHECK(b.close_code != 1000 && b.close_code != 1001);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	CHECK_INT(b.drops, 0);
	vgw_bench_end(&b);
}

/* 1000 and 1001 end a session at the server. */
TEST(gateway_fails_with_the_code_that_its_next_step_needs)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	CHECK_INT(vgw_code_of_failure(b.g, 1006), 1000); /* nothing to resume yet */
	vgw_bench_join(&b, "s1");
	CHECK_INT(vgw_code_of_failure(b.g, 1006), 4200);
	CHECK_INT(vgw_code_of_failure(b.g, 4006), 1000);
	vgw_bench_end(&b);
}

TEST(gateway_resumes_and_keeps_its_media)
{
	struct vgw_bench b;
	uint32_t old;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_speaking(b.g, b.now, true);
	CHECK(strstr(b.last, "{\"op\":5,\"d\":{\"speaking\":1,\"delay\":0,\"ssrc\":12}}"));
	vgw_bench_text(&b, "{\"op\":11,\"seq\":3,\"d\":{\"user_ids\":[]}}");
	vgw_bench_text(&b, "{\"op\":11,\"seq\":9,\"d\":{\"user_ids\":[]}}"); /* 4 to 8 were lost */
	old = b.conn;
	vgw_ws_closed(b.g, b.now, b.conn, 4015, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	CHECK_INT(b.reason, MEDIA_REASON_SERVER_CRASHED);
	vgw_bench_run_until(&b, b.now + NS_PER_S);
	CHECK_INT(b.connects, 2);
	vgw_ws_open(b.g, b.now, old); /* late: of the first connection */
	CHECK_INT(b.resumes, 0);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK_STR(b.last, "{\"op\":7,\"d\":{\"server_id\":\"41\",\"session_id\":\"s1\",\"token\":"
			  "\"tok\",\"seq_ack\":3}}");
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_INT(b.reason, MEDIA_REASON_RESUMED);
	/* The server may have forgotten that we speak. */
	CHECK(strstr(b.last, "{\"op\":5,\"d\":{\"speaking\":1"));
	CHECK_INT(b.drops, 0);
	CHECK_INT(b.keys, 1);
	CHECK_INT(b.identifies, 1);
	vgw_bench_end(&b);
}

/* The server may remember that we spoke. */
TEST(gateway_tells_of_speech_that_ended_while_it_resumed)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_speaking(b.g, b.now, true);
	vgw_ws_closed(b.g, b.now, b.conn, 4015, MEDIA_REASON_NONE);
	vgw_speaking(b.g, b.now, false);
	vgw_bench_run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK(strstr(b.last, "{\"op\":5,\"d\":{\"speaking\":0"));
	vgw_bench_end(&b);
}

/* Op 4 with another key comes before op 9: without it nothing would be heard from then on. */
TEST(gateway_takes_another_key_while_it_resumes)
{
	struct vgw_bench b;

	resume_after(&b, 4015);
	vgw_bench_text(&b, hello);
	vgw_bench_change_key(&b);
	CHECK_INT(b.keys, 2);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_INT(b.identifies, 1);
	vgw_bench_end(&b);
}

TEST(gateway_gives_up_resuming_after_five_tries)
{
	static const unsigned waits[] = {1, 2, 4, 8, 10};
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	for (unsigned i = 0; i < 5; i++) {
		CHECK_INT(b.connects, 1 + i);
		vgw_bench_run_until(&b, b.now + waits[i] * NS_PER_S - 1);
		CHECK_INT(b.connects, 1 + i);
		vgw_bench_run_until(&b, b.now + 1);
		CHECK_INT(b.connects, 2 + i);
		vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	}
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	CHECK_INT(b.drops, 1);
	vgw_bench_end(&b);
}

TEST(gateway_resume_refused_asks_for_credentials)
{
	struct vgw_bench b;

	resume_after(&b, 1001);
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(b.reason, MEDIA_REASON_SESSION_INVALID);
	CHECK(b.wants);
	CHECK_INT(b.drops, 1);
	vgw_bench_end(&b);
}

/* A server that accepts the socket and then says nothing to op 7. */
TEST(gateway_resume_has_a_deadline)
{
	struct vgw_bench b;

	resume_after(&b, 1006);
	vgw_bench_run_until(&b, b.now + 5 * NS_PER_S);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	vgw_bench_run_until(&b, b.now + 2 * NS_PER_S);
	CHECK_INT(b.connects, 3);
	vgw_bench_end(&b);
}

/* Every row of the table does what it says, once up. */
TEST(gateway_close_codes)
{
	static const struct voice_close rows[] = {
#define CLOSE(code, name, action, reason, cool, tries, text)                                       \
	{code, #name, VOICE_CLOSE_##action, MEDIA_REASON_##reason, cool, tries, text},
		VOICE_CLOSES(CLOSE)
#undef CLOSE
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct voice_close *r = &rows[i];
		bool resumes = r->action == VOICE_CLOSE_RESUME || r->action == VOICE_CLOSE_ONCE;
		struct vgw_bench b;

		CHECK_INT(vgw_bench_start(&b), 0);
		vgw_bench_join(&b, "s1");
		vgw_ws_closed(b.g, b.now, b.conn, r->code, MEDIA_REASON_NONE);
		CHECK_INT(b.reason, r->reason);
		CHECK_INT(b.code, r->code);
		CHECK_INT(b.drops, resumes ? 0 : 1);
		if (resumes)
			CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
		if (r->action == VOICE_CLOSE_FATAL)
			CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
		if (r->action == VOICE_CLOSE_WAIT)
			CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
		if (r->action == VOICE_CLOSE_FATAL || r->action == VOICE_CLOSE_WAIT) {
			vgw_bench_run_until(&b, b.now + 3600 * NS_PER_S);
			CHECK(!b.wants);
		}
		if (r->action == VOICE_CLOSE_FRESH) {
			CHECK(b.wants == (r->cool_ms == 0));
			if (r->cool_ms) {
				vgw_bench_run_until(&b, b.now + r->cool_ms * NS_PER_MS - 1);
				CHECK(!b.wants);
			}
			vgw_bench_run_until(&b, b.now + 1);
			CHECK(b.wants);
			CHECK_INT(b.reason, r->reason);
		}
		CHECK_INT(b.identifies, 1);
		vgw_bench_end(&b);
	}
	CHECK_INT(voice_close_of(999)->code, 1006);
	CHECK_INT(voice_close_of(4999)->code, 4009);
}

TEST(gateway_unknown_opcode_resumes_once)
{
	struct vgw_bench b;

	resume_after(&b, 4001);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	vgw_ws_closed(b.g, b.now, b.conn, 4001, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(b.drops, 1);
	vgw_bench_end(&b);
}

/* Before the session was up there is nothing to resume. */
TEST(gateway_lost_while_joining_asks_anew)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	CHECK_INT(b.resumes, 0);
	vgw_bench_end(&b);
}

/* Each lease gets three connection attempts, and the gateway requests at most three new leases
 * before the call fails. */
TEST(gateway_unreachable_is_bounded)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	for (unsigned round = 0; round < 4; round++) {
		vgw_bench_lease(&b, vgw_bench_session(round));
		for (unsigned i = 0; i < 3; i++) {
			vgw_ws_closed(b.g, b.now, b.conn, 1006,
				      round ? MEDIA_REASON_NONE : MEDIA_REASON_TLS_FAILED);
			CHECK_INT(b.reason,
				  round ? MEDIA_REASON_UNREACHABLE : MEDIA_REASON_TLS_FAILED);
			vgw_bench_run_until(&b, b.now + NS_PER_S);
		}
		vgw_bench_run_until(&b, b.now + 10 * NS_PER_S);
		CHECK_INT(b.connects, 3 * (round + 1));
		CHECK(b.wants == (round < 3));
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.identifies, 0);
	vgw_bench_end(&b);
}

TEST(gateway_udp_blocked_fails_in_the_end)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	for (unsigned i = 0; i < 4; i++) {
		vgw_bench_lease(&b, vgw_bench_session(i));
		vgw_ws_open(b.g, b.now, b.conn);
		vgw_bench_text(&b, ready);
		vgw_udp_failed(b.g, b.now);
		CHECK_INT(b.reason, MEDIA_REASON_UDP_BLOCKED);
		vgw_bench_run_until(&b, b.now + 10 * NS_PER_S);
		CHECK(b.wants == (i < 3));
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	vgw_bench_end(&b);
}

TEST(gateway_moved_takes_the_new_server)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_bench_lease(&b, "s2");
	CHECK_INT(b.closes, 1);
	CHECK_INT(b.drops, 1);
	CHECK_INT(b.connects, 2);
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	/* What the old socket still says is of the past. */
	vgw_ws_closed(b.g, b.now, b.conn - 1, 4014, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	vgw_bench_end(&b);
}

TEST(gateway_server_gone_parks)
{
	struct vgw_bench b;
	struct vgw_lease gone = {"s2", "tok", "", 0};

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_credentials(b.g, b.now, &gone);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(b.reason, MEDIA_REASON_SERVER_GONE);
	CHECK(!b.wants);
	CHECK_INT(b.drops, 1);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	vgw_bench_end(&b);
}

TEST(gateway_cooling_holds_for_unasked_credentials)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4011, MEDIA_REASON_NONE);
	vgw_bench_lease(&b, "s2");
	CHECK_INT(b.connects, 1);
	vgw_bench_run_until(&b, b.now + 2 * NS_PER_S);
	CHECK_INT(b.connects, 2);
	vgw_bench_end(&b);
}

/* UDP stopped working while the session was up. */
TEST(gateway_udp_lost_while_up)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_udp_failed(b.g, b.now);
	CHECK_INT(b.reason, MEDIA_REASON_UDP_BLOCKED);
	CHECK(b.wants || b.phase == MEDIA_PHASE_COOLING);
	CHECK_INT(b.drops, 1);
	vgw_bench_end(&b);
}

/* After a rate limit the gateway tries no session before a person requests one. */
TEST(gateway_a_rate_limit_ends_the_call)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4021, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_RATE_LIMITED);
	CHECK(!b.wants);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	vgw_bench_end(&b);
}

/* A server that ends every session with this code as soon as it is up, or as soon as it is told who
 * comes, while fresh credentials are there at once: for a minute. */
static void closes_for_a_minute(struct vgw_bench *b, uint16_t code, bool let_in)
{
	uint64_t end = b->now + 60 * NS_PER_S;
	char session[24];
	unsigned n = 0;

	for (unsigned guard = 0; b->now < end && guard < 10000; guard++) {
		unsigned dials = b->connects;

		if (b->phase == MEDIA_PHASE_RESUMING) {
			vgw_ws_open(b->g, b->now, b->conn);
			vgw_bench_text(b, "{\"op\":9,\"d\":null}");
			vgw_ws_closed(b->g, b->now, b->conn, code, MEDIA_REASON_NONE);
		} else if (b->wants || n == 0) {
			snprintf(session, sizeof session, "s%u", n++);
			if (let_in) {
				vgw_bench_join(b, session);
			} else {
				vgw_bench_lease(b, session);
				vgw_ws_open(b->g, b->now, b->conn);
			}
			vgw_ws_closed(b->g, b->now, b->conn, code, MEDIA_REASON_NONE);
		}
		/* On to what it does next: a dial, or a wish. */
		while (b->now < end && b->connects == dials && !b->wants) {
			uint64_t at = vgw_deadline(b->g);

			b->now = at > end ? end : at > b->now ? at : b->now;
			if (at <= end)
				vgw_timer(b->g, b->now);
		}
	}
	b->now = end;
}

TEST(gateway_no_close_code_makes_a_loop)
{
	static const struct voice_close rows[] = {
#define CLOSE(code, name, action, reason, cool, tries, text)                                       \
	{code, #name, VOICE_CLOSE_##action, MEDIA_REASON_##reason, cool, tries, text},
		VOICE_CLOSES(CLOSE)
#undef CLOSE
	};

	for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
		const struct voice_close *r = &rows[i / 2];
		struct vgw_bench b;

		CHECK_INT(vgw_bench_start(&b), 0);
		closes_for_a_minute(&b, r->code, i % 2);
		/* Eight sessions may fail in a row, and each may be resumed five times. */
		CHECK(b.identifies <= 9);
		CHECK(b.identifies + b.resumes <= 20);
		CHECK(b.connects == b.identifies + b.resumes);
		if (r->action == VOICE_CLOSE_FATAL || r->action == VOICE_CLOSE_WAIT) {
			CHECK_INT(b.connects, 1);
			CHECK(!b.wants);
		}
		if (r->action == VOICE_CLOSE_FRESH)
			CHECK(b.identifies <= r->tries + 1 && b.resumes == 0);
		vgw_bench_end(&b);
	}
}
