/* The voice gateway machine against scripted servers, in simulated time. */
#include "tests/unit/mediad/call/gateway_bench.h"

TEST(gateway_joins)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	CHECK_STR(b.url, "wss://voice.example:2087/?v=8");
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK_STR(b.last, "{\"op\":0,\"d\":{\"server_id\":\"41\",\"user_id\":\"99\",\"session_id\":"
			  "\"s1\",\"token\":\"tok\",\"max_dave_protocol_version\":1}}");
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, ready);
	CHECK_INT(b.phase, MEDIA_PHASE_DISCOVERING);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	CHECK(strstr(b.last, "\"address\":\"203.0.113.9\",\"port\":40000,\"mode\":\"aead_aes256_"
			     "gcm_rtpsize\""));
	vgw_bench_describe(&b, modes[0], 0);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_STR(b.log, "connecting connect identifying send discovering discover selecting send "
			 "key up start ");
	vgw_bench_end(&b);
}

/* People may be named before Ready, and Hello may come after it. */
TEST(gateway_joins_in_the_other_order)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(&b, "{\"op\":11,\"seq\":1,\"d\":{\"user_ids\":[\"7\",\"8\",\"99\"]}}");
	CHECK_INT(b.members, 2); /* not ourselves */
	vgw_bench_text(&b, "{\"op\":18,\"d\":{\"user_id\":\"7\",\"flags\":2}}");
	vgw_bench_text(&b, "{\"op\":20,\"d\":{\"user_id\":\"7\",\"platform\":null}}");
	vgw_bench_text(&b, ready);
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, "{\"op\":5,\"d\":{\"user_id\":\"7\",\"ssrc\":700,\"speaking\":1}}");
	vgw_bench_text(&b,
		       "{\"op\":12,\"d\":{\"user_id\":\"8\",\"audio_ssrc\":800,\"video_ssrc\":0}}");
	vgw_bench_text(&b,
		       "{\"op\":12,\"d\":{\"user_id\":\"8\",\"audio_ssrc\":0,\"video_ssrc\":5}}");
	CHECK_INT(b.ssrcs, 2);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	vgw_bench_describe(&b, modes[0], 0);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	vgw_bench_text(&b, "{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	CHECK_INT(b.members, 3);
	CHECK_INT(vgw_malformed(b.g), 0);
	vgw_bench_end(&b);
}

TEST(gateway_heartbeats_carry_seq_ack_and_measure_rtt)
{
	struct vgw_bench b;
	char before[sizeof b.last];
	uint64_t t;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	CHECK(vgw_deadline(b.g) <= b.now + 13750 * NS_PER_MS);
	vgw_ws_binary(b.g, b.now, b.conn, (const uint8_t[]){0x00, 0x03, 25, 0}, 4);
	b.now = vgw_deadline(b.g);
	vgw_timer(b.g, b.now);
	CHECK(strstr(b.last, "\"seq_ack\":3}"));
	CHECK(sscanf(b.last, "{\"op\":3,\"d\":{\"t\":%" SCNu64, &t) == 1);
	snprintf(b.last, sizeof b.last, "{\"op\":6,\"d\":{\"t\":%" PRIu64 "}}", t);
	b.now += 30 * NS_PER_MS;
	vgw_bench_text(&b, b.last);
	CHECK_INT(b.rtt, 30 * NS_PER_MS);
	/* Every nonce is another, even if the server asks twice in one instant. */
	vgw_bench_text(&b, "{\"op\":3,\"d\":null}");
	CHECK(strstr(b.last, "{\"op\":3"));
	memcpy(before, b.last, sizeof before);
	vgw_bench_text(&b, "{\"op\":3,\"d\":null}");
	CHECK(strcmp(before, b.last) != 0);
	vgw_bench_end(&b);
}

/* Discord may give the same session and token after a leave and a join: a lease is control's to
 * judge. A pair that is refused again and again ends in a failed call. */
TEST(gateway_same_pair_again_is_a_new_lease)
{
	struct vgw_bench b;
	unsigned leases = 1;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	while (b.phase != MEDIA_PHASE_FAILED && leases < 100) {
		vgw_bench_run_until(&b, b.now + 60 * NS_PER_S);
		CHECK(b.wants);
		vgw_bench_lease(&b, "s1");
		vgw_ws_open(b.g, b.now, b.conn);
		CHECK_INT(b.identifies, ++leases);
		vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	vgw_bench_end(&b);
}

struct deadline {
	unsigned steps; /* how far the server goes before it falls silent */
	enum media_reason reason;
};

TEST(gateway_every_step_has_a_deadline)
{
	static const struct deadline cases[] = {
		{0, MEDIA_REASON_UNREACHABLE},
		{1, MEDIA_REASON_NO_READY},
		{2, MEDIA_REASON_UDP_BLOCKED},
		{3, MEDIA_REASON_NO_DESCRIPTION},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct vgw_bench b;

		CHECK_INT(vgw_bench_start(&b), 0);
		vgw_bench_lease(&b, "s1");
		if (cases[i].steps > 0)
			vgw_ws_open(b.g, b.now, b.conn);
		if (cases[i].steps > 1)
			vgw_bench_text(&b, ready);
		if (cases[i].steps > 2)
			vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
		vgw_bench_run_until(&b, b.now + 5 * NS_PER_S - 1);
		CHECK_INT(b.closes, 0);
		vgw_bench_run_until(&b, b.now + 1);
		CHECK_INT(b.closes, 1);
		CHECK_INT(b.reason, cases[i].reason);
		CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
		CHECK_INT(b.drops, cases[i].steps > 1 ? 1 : 0);
		vgw_bench_end(&b);
	}
}

/* Each step just in time, all of them together too late. */
TEST(gateway_joining_has_a_deadline)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	for (unsigned i = 0; i < 2; i++) {
		vgw_bench_run_until(&b, b.now + 4900 * NS_PER_MS);
		vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
		vgw_bench_run_until(&b, b.now + NS_PER_S);
	}
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_run_until(&b, b.now + 4 * NS_PER_S);
	vgw_bench_text(&b, ready);
	CHECK_INT(b.phase, MEDIA_PHASE_DISCOVERING);
	vgw_bench_run_until(&b, b.now + 4300 * NS_PER_MS);
	CHECK_INT(b.reason, MEDIA_REASON_DEADLINE);
	CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
	vgw_bench_end(&b);
}

TEST(gateway_encryption_required)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_ws_closed(b.g, b.now, b.conn, 4017, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_ENCRYPTION_REQUIRED);
	CHECK(!b.wants);
	vgw_bench_end(&b);
	/* A server that goes on with a version we did not offer. */
	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(&b, ready);
	vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
	vgw_bench_describe(&b, modes[0], 2);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_ENCRYPTION_REQUIRED);
	CHECK_INT(b.keys, 0);
	vgw_bench_end(&b);
}

TEST(gateway_no_common_mode)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(
		&b, "{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"66.22.196.1\",\"port\":5000,\"modes\":["
		    "\"xsalsa20\"]"
		    "}}");
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_NO_COMMON_MODE);
	CHECK_INT(b.closes, 1);
	vgw_bench_end(&b);
}

/* Nothing of a lease is left when its session has ended. */
TEST(gateway_wipes_its_lease)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	CHECK(b.g->session[0] && b.g->token[0] && b.g->endpoint[0]);
	vgw_leave(b.g, b.now);
	for (size_t i = 0; i < sizeof b.g->token; i++)
		CHECK(!b.g->token[i]);
	CHECK(!b.g->session[0] && !b.g->endpoint[0]);
	vgw_bench_end(&b);
}

TEST(gateway_bad_endpoint_is_not_dialled)
{
	static const char *const bad[] = {"evil.example/x", "a b", "user@host", "h?x", "h\r\nX: y"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct vgw_lease l = {"s", "t", bad[i], 0};
		struct vgw_bench b;

		CHECK_INT(vgw_bench_start(&b), 0);
		vgw_credentials(b.g, b.now, &l);
		CHECK_INT(b.connects, 0);
		CHECK_INT(b.reason, MEDIA_REASON_BAD_REQUEST);
		vgw_bench_end(&b);
	}
}

static void ready_at(struct vgw_bench *b, const char *endpoint, const char *ip, unsigned port)
{
	struct vgw_lease l = {"s", "t", endpoint, 0};
	char json[200];

	snprintf(json, sizeof json,
		 "{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"%s\",\"port\":%u,\"modes\":[\"%s\"]}}", ip,
		 port, modes[0]);
	vgw_credentials(b->g, b->now, &l);
	vgw_ws_open(b->g, b->now, b->conn);
	vgw_bench_text(b, hello);
	vgw_bench_text(b, json);
}

/* A voice server cannot have us send into our own network: the session ends, others are asked for,
 * and after three such servers in a row the call has failed. */
TEST(gateway_sends_no_datagram_to_a_private_address)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_INT(b.phase, i ? MEDIA_PHASE_WAITING : 0);
		ready_at(&b, "voice.example:2087", i % 2 ? "127.0.0.1" : "10.0.0.5", 5000);
		CHECK(!strstr(b.log, "discover"));
		CHECK_INT(b.reason, MEDIA_REASON_ADDRESS_REFUSED);
		if (b.phase == MEDIA_PHASE_FAILED)
			break;
		CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
		vgw_bench_run_until(&b, b.now + 10 * NS_PER_S);
		CHECK(b.wants);
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	vgw_bench_end(&b);
	CHECK_INT(vgw_bench_start(&b), 0);
	ready_at(&b, "voice.example:2087", "66.22.196.1", 0);
	CHECK_INT(b.reason, MEDIA_REASON_ADDRESS_REFUSED);
	vgw_bench_end(&b);
	CHECK_INT(vgw_bench_start(&b), 0);
	ready_at(&b, "localhost:2087", "127.0.0.1", 5000);
	CHECK_INT(b.phase, MEDIA_PHASE_DISCOVERING);
	vgw_bench_end(&b);
}

TEST(gateway_drops_unreadable_messages)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"op\":\"2\"}",
		"{\"op\":-1}",
		"{\"d\":{}}",
		"{\"op\":8,\"d\":{}}",
		"{\"op\":8,\"d\":{\"heartbeat_interval\":-5}}",
		"{\"op\":8,\"d\":null}",
		"{\"op\":11,\"d\":{\"user_ids\":[\"x\"]}}",
		"{\"op\":11,\"d\":{\"user_ids\":7}}",
		"{\"op\":13,\"d\":{}}",
		"{\"op\":5,\"d\":{\"user_id\":\"18446744073709551616\",\"ssrc\":1}}",
		"{\"op\":5,\"d\":{\"user_id\":\"5\",\"ssrc\":4294967296}}",
		"{\"op\":6,\"d\":7}",
		"{\"op\":21,\"d\":{\"protocol_version\":1}}",
		"{\"op\":21,\"d\":{\"transition_id\":65536,\"protocol_version\":1}}",
		"{\"op\":21,\"d\":{\"transition_id\":1}}",
		"{\"op\":22,\"d\":{\"transition_id\":-1}}",
		"{\"op\":22,\"d\":null}",
		"{\"op\":24,\"d\":{\"epoch\":1}}",
		"{\"op\":24,\"d\":{\"protocol_version\":1}}",
		"{\"op\":24,\"d\":{\"protocol_version\":1,\"epoch\":\"\"}}",
		"{\"op\":24,\"d\":{\"protocol_version\":1,\"epoch\":\"1x\"}}",
		"{\"op\":24,\"d\":{\"protocol_version\":1,\"epoch\":\"1234567890123456789\"}}",
		"{\"op\":24,\"d\":{\"protocol_version\":1,\"epoch\":-1}}",
	};
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		vgw_bench_text(&b, bad[i]);
		CHECK_INT(vgw_malformed(b.g), i + 1);
	}
	vgw_ws_binary(b.g, b.now, b.conn, (const uint8_t *)"\0", 1);
	CHECK_INT(vgw_malformed(b.g), sizeof bad / sizeof bad[0] + 1);
	/* Unknown opcodes are not malformed. */
	vgw_bench_text(&b, "{\"op\":77,\"d\":{\"x\":1}}");
	CHECK_INT(vgw_malformed(b.g), sizeof bad / sizeof bad[0] + 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	vgw_bench_end(&b);
	/* A Ready that cannot be read leaves the deadline running. */
	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(
		&b,
		"{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"66.22.196.1\",\"port\":-1,\"modes\":[]}}");
	CHECK_INT(b.phase, MEDIA_PHASE_IDENTIFYING);
	vgw_bench_run_until(&b, b.now + 5 * NS_PER_S);
	CHECK_INT(b.reason, MEDIA_REASON_NO_READY);
	vgw_bench_end(&b);
}

TEST(gateway_is_stable_after_a_while)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	/* Far more sessions than may fail in a row, but each held. */
	for (unsigned i = 0; i < 20; i++) {
		vgw_bench_join(&b, vgw_bench_session(i));
		CHECK_INT(b.phase, MEDIA_PHASE_UP);
		/* Beats are answered by nobody here: look before the watchdog bites. */
		for (uint64_t end = b.now + 31 * NS_PER_S; b.now < end;) {
			uint64_t t;

			vgw_bench_run_until(&b, vgw_deadline(b.g) < end ? vgw_deadline(b.g) : end);
			if (sscanf(b.last, "{\"op\":3,\"d\":{\"t\":%" SCNu64, &t) == 1) {
				snprintf(b.last, sizeof b.last,
					 "{\"op\":6,\"d\":{\"t\":%" PRIu64 "}}", t);
				vgw_bench_text(&b, b.last);
			}
		}
		vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
		CHECK(b.wants);
	}
	vgw_bench_end(&b);
}

TEST(gateway_leaves_for_good)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_leave(b.g, b.now);
	CHECK_INT(b.phase, MEDIA_PHASE_CLOSED);
	CHECK_INT(b.close_code, 1000);
	CHECK_INT(b.drops, 1);
	vgw_bench_lease(&b, "s2");
	CHECK_INT(b.connects, 1);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	vgw_bench_end(&b);
}

TEST_OOM(gateway_alloc_oom)
{
	struct vgw_bench b;

	CHECK_OOM(vgw_bench_start(&b), (void)0);
	vgw_bench_end(&b);
}

/* The same key twice: a context made anew would seal with nonces that were used. */
TEST(gateway_takes_a_key_once)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	CHECK_INT(b.keys, 1);
	vgw_bench_describe(&b, modes[0], 0);
	CHECK_INT(b.keys, 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	/* Another one is another matter. */
	vgw_bench_change_key(&b);
	CHECK_INT(b.keys, 2);
	/* A new session with the old key begins with it. */
	vgw_bench_lease(&b, "s2");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(&b, ready);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	vgw_bench_describe(&b, modes[0], 0);
	CHECK_INT(b.keys, 3);
	vgw_bench_end(&b);
}
