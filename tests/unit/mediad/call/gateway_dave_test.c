/* What the voice gateway machine passes on for end-to-end encryption, and the numbering of
 * messages. */
#include "tests/unit/mediad/call/gateway_bench.h"

TEST(gateway_offers_dave_and_takes_the_version)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"max_dave_protocol_version\":1"));
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, ready);
	/* The external sender may come before op 4; nothing can be sent yet. */
	vgw_bench_binary(&b, 2, 25, "sender");
	CHECK_STR(b.dave, "25:sender");
	CHECK_INT(vgw_dave_binary(b.g, 26, (const uint8_t *)"x", 1), ENOTCONN);
	CHECK_INT(vgw_dave_text(b.g, 23, 0), ENOTCONN);
	vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
	vgw_bench_describe(&b, modes[0], 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_STR(b.dave, "version 1");
	/* Told once a session, whatever op 4 says later. */
	b.dave[0] = '\0';
	vgw_bench_describe(&b, modes[0], 0);
	CHECK_STR(b.dave, "");
	vgw_bench_end(&b);
}

/* The session ends before its key is used and before anything is sent in it. */
TEST(gateway_refuses_a_clear_session_where_encryption_is_required)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_require_encryption(b.g, true);
	vgw_speaking(b.g, b.now, true);
	vgw_bench_join(&b, "s1");
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_NOT_ENCRYPTED);
	CHECK_INT(b.keys, 0);
	CHECK_STR(b.dave, "");
	CHECK(strstr(b.last, "{\"op\":1,"));
	vgw_bench_end(&b);
}

/* What cannot be read is not "no encryption". */
TEST(gateway_dave_version_unreadable)
{
	static const char *const bad[] = {"-1", "65536", "\"1\"", "null", "1.5"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct vgw_bench b;
		char json[400];

		CHECK_INT(vgw_bench_start(&b), 0);
		vgw_bench_lease(&b, "s1");
		vgw_ws_open(b.g, b.now, b.conn);
		vgw_bench_text(&b, ready);
		vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
		snprintf(json, sizeof json,
			 "{\"op\":4,\"d\":{\"mode\":\"%s\",\"dave_protocol_version\":%s,"
			 "\"secret_key\":[9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,"
			 "9,9,9,9]}}",
			 modes[0], bad[i]);
		vgw_bench_text(&b, json);
		CHECK_INT(b.phase, MEDIA_PHASE_SELECTING);
		CHECK_INT(vgw_malformed(b.g), 1);
		vgw_bench_end(&b);
	}
}

TEST(gateway_passes_dave_messages)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	vgw_bench_text(&b, "{\"op\":21,\"d\":{\"transition_id\":7,\"protocol_version\":1}}");
	CHECK_STR(b.dave, "21:7,1,0");
	vgw_bench_text(&b, "{\"op\":22,\"d\":{\"transition_id\":0}}");
	CHECK_STR(b.dave, "22:0,0,0");
	vgw_bench_text(&b, "{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	CHECK_STR(b.dave, "24:0,1,1");
	vgw_bench_text(
		&b,
		"{\"op\":24,\"d\":{\"epoch\":\"2\",\"protocol_version\":1,\"transition_id\":9}}");
	CHECK_STR(b.dave, "24:0,1,2");
	vgw_bench_binary(&b, 3, 27, "proposals");
	CHECK_STR(b.dave, "27:proposals");
	vgw_bench_binary(&b, 4, 29, "");
	CHECK_STR(b.dave, "29:");
	vgw_bench_binary(&b, 5, 30, "welcome");
	CHECK_STR(b.dave, "30:welcome");
	/* Not a server's, or not known: only their number counts. */
	b.dave[0] = '\0';
	vgw_bench_binary(&b, 6, 26, "x");
	vgw_bench_binary(&b, 7, 28, "x");
	vgw_bench_binary(&b, 8, 99, "x");
	CHECK_STR(b.dave, "");
	CHECK_INT(vgw_malformed(b.g), 0);
	CHECK_INT(vgw_dave_text(b.g, 23, 65535), 0);
	CHECK_STR(b.last, "{\"op\":23,\"d\":{\"transition_id\":65535}}");
	CHECK_INT(vgw_dave_text(b.g, 31, 0), 0);
	CHECK_STR(b.last, "{\"op\":31,\"d\":{\"transition_id\":0}}");
	CHECK_INT(vgw_dave_binary(b.g, 28, (const uint8_t *)"commit", 6), 0);
	CHECK_STR(b.last, "28:commit");
	CHECK_INT(vgw_dave_binary(b.g, 26, NULL, 0), 0);
	CHECK_STR(b.last, "26:");
	vgw_bench_end(&b);
}

/* Text and binary share one numbering; 0 is a number, and it wraps. */
TEST(gateway_gaps_in_the_numbering)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1"); /* 1 and 2 */
	b.log[0] = '\0';
	vgw_bench_binary(&b, 3, 27, "");
	vgw_bench_text(&b, "{\"op\":22,\"seq\":4,\"d\":{\"transition_id\":1}}");
	vgw_bench_text(&b, hello); /* has no number */
	CHECK_STR(b.log, "in in ");
	b.log[0] = '\0';
	vgw_bench_binary(&b, 6, 27, "");
	CHECK_STR(b.log, "gap in ");
	b.log[0] = '\0';
	CHECK(vgw_has_missed(b.g));
	vgw_resume_now(b.g, b.now, MEDIA_REASON_CONNECTION_LOST);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":4"));
	CHECK(!vgw_has_missed(b.g));
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	b.log[0] = '\0';
	/* Told again after a resume, in order: what was missed counts, what was had does not. */
	vgw_bench_binary(&b, 5, 27, "");
	vgw_bench_binary(&b, 6, 27, "");
	vgw_bench_text(&b, "{\"op\":22,\"seq\":4,\"d\":{\"transition_id\":1}}");
	CHECK_STR(b.log, "in ");
	b.log[0] = '\0';
	for (uint32_t seq = 7; seq <= 65536 + 1; seq++)
		vgw_bench_text(&b, "{\"op\":77,\"d\":{}}"),
			vgw_bench_binary(&b, (uint16_t)seq, 99, "");
	CHECK_STR(b.log, "");
	vgw_bench_text(&b, "{\"op\":22,\"seq\":3,\"d\":{\"transition_id\":1}}");
	CHECK_STR(b.log, "gap in ");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	vgw_bench_run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":1")); /* 2 was lost */
	/* A new session begins a new numbering. */
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	b.log[0] = '\0';
	vgw_bench_lease(&b, "s2");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_bench_text(&b, "{\"op\":11,\"seq\":900,\"d\":{\"user_ids\":[]}}");
	CHECK(!strstr(b.log, "gap"));
	vgw_bench_end(&b);
}

/* An op 5 that was missed is told again after the user came back with another SSRC: the newer one
 * has the last word. */
TEST(gateway_repeated_old_messages_do_not_win)
{
	static const char *const news[] = {
		"{\"op\":5,\"seq\":3,\"d\":{\"user_id\":\"7\",\"ssrc\":700,\"speaking\":1}}",
		"{\"op\":13,\"seq\":4,\"d\":{\"user_id\":\"7\"}}",
		"{\"op\":11,\"seq\":5,\"d\":{\"user_ids\":[\"7\"]}}",
		"{\"op\":5,\"seq\":6,\"d\":{\"user_id\":\"7\",\"ssrc\":701,\"speaking\":1}}",
	};
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1"); /* 1 and 2 */
	for (unsigned i = 1; i < 4; i++)
		vgw_bench_text(&b, news[i]);
	CHECK_INT(b.ssrc, 701);
	vgw_resume_now(b.g, b.now, MEDIA_REASON_CONNECTION_LOST);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":2"));
	vgw_bench_text(&b, hello);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	for (unsigned i = 0; i < 4; i++)
		vgw_bench_text(&b, news[i]);
	CHECK_INT(b.ssrc, 701);
	vgw_bench_end(&b);
}

TEST(gateway_resumes_at_once_on_request)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_resume_now(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_STR(b.log, "");
	vgw_bench_join(&b, "s1");
	b.log[0] = '\0';
	vgw_resume_now(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_STR(b.log, "close resuming connect ");
	CHECK_INT(b.close_code, 4200);
	CHECK_INT(b.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_INT(vgw_dave_text(b.g, 23, 1), ENOTCONN);
	vgw_resume_now(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED); /* already */
	CHECK_INT(b.connects, 2);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK_INT(b.resumes, 1);
	/* What was missed may come before op 9 or after it. */
	vgw_bench_binary(&b, 3, 30, "a");
	CHECK_STR(b.dave, "30:a");
	CHECK_INT(vgw_dave_text(b.g, 23, 1), ENOTCONN);
	vgw_bench_text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	vgw_bench_binary(&b, 4, 29, "b");
	CHECK_STR(b.dave, "29:b");
	CHECK_INT(vgw_dave_text(b.g, 23, 1), 0);
	CHECK_INT(b.drops, 0);
	vgw_bench_end(&b);
}

TEST(gateway_rejoins_when_asked)
{
	struct vgw_bench b;

	CHECK_INT(vgw_bench_start(&b), 0);
	vgw_bench_join(&b, "s1");
	b.log[0] = '\0';
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_STR(b.log, "close drop waiting ");
	CHECK_INT(b.close_code, 1000);
	CHECK_INT(b.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK(b.wants);
	/* Also in the middle of a resume. */
	vgw_bench_join(&b, "s2");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	vgw_bench_run_until(&b, b.now + NS_PER_S);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	vgw_bench_end(&b);
}

TEST_OOM(gateway_dave_oom)
{
	struct vgw_bench b;
	int err;

	CHECK_OOM(vgw_bench_start(&b), (void)0);
	vgw_bench_join(&b, "s1");
	err = vgw_dave_binary(b.g, 28, (const uint8_t *)"commit", 6);
	vgw_bench_end(&b);
	CHECK_OOM(err, (void)0);
}
