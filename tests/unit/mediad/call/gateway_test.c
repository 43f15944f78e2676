/* The voice gateway machine against scripted servers, in simulated time. */
#include "mediad/call/gateway.h"

#include <inttypes.h>

#include "proto/base/time.h"
#include "mediad/call/gateway_internal.h"
#include "tests/test.h"

static const char *const modes[] = {"aead_aes256_gcm_rtpsize", "aead_xchacha20_poly1305_rtpsize",
				    NULL};

/* What the machine did, as one line of words. */
struct bench {
	struct vgw *g;
	uint64_t now;
	uint32_t conn;
	char log[8192];
	char last[2048]; /* last text sent */
	char url[400];
	char dave[64]; /* last of end-to-end encryption that came */
	enum media_phase phase;
	enum media_reason reason;
	uint16_t code;
	bool wants;
	unsigned connects, closes, keys, drops, identifies, resumes, members, ssrcs, beats;
	uint32_t ssrc; /* the last that was named */
	uint16_t close_code;
	uint64_t rtt;
};

static void note(struct bench *b, const char *word)
{
	size_t n = strlen(b->log);

	snprintf(b->log + n, sizeof b->log - n, "%s ", word);
}

static void on_action(const struct vgw_action *a, void *arg)
{
	struct bench *b = arg;

	switch (a->kind) {
	case VGW_CONNECT:
		b->conn = a->connect.conn;
		b->connects++;
		snprintf(b->url, sizeof b->url, "%s", a->connect.url);
		note(b, "connect");
		break;
	case VGW_SEND:
		snprintf(b->last, sizeof b->last, "%.*s", (int)a->send.len, a->send.text);
		b->identifies += strstr(b->last, "{\"op\":0,") != NULL;
		b->resumes += strstr(b->last, "{\"op\":7,") != NULL;
		b->beats += strstr(b->last, "{\"op\":3,") != NULL;
		note(b, "send");
		break;
	case VGW_CLOSE:
		b->closes++;
		b->close_code = a->close_code;
		note(b, "close");
		break;
	case VGW_DISCOVER:
		note(b, "discover");
		break;
	case VGW_KEY:
		b->keys++;
		note(b, "key");
		break;
	case VGW_DROP_MEDIA:
		b->drops++;
		note(b, "drop");
		break;
	case VGW_STATE:
		b->phase = a->state.phase;
		b->reason = a->state.reason;
		b->code = a->state.code;
		b->wants = a->state.wants;
		note(b, media_phase_name(b->phase));
		break;
	case VGW_SSRC:
		b->ssrcs++;
		b->ssrc = a->ssrc.ssrc;
		break;
	case VGW_MEMBER:
		b->members++;
		break;
	case VGW_RTT:
		b->rtt = a->rtt_ns;
		break;
	case VGW_GAP:
		note(b, "gap");
		break;
	case VGW_SEND_BINARY:
		snprintf(b->last, sizeof b->last, "%u:%.*s", a->binary.p[0], (int)a->binary.n - 1,
			 (const char *)a->binary.p + 1);
		note(b, "binary");
		break;
	case VGW_DAVE_BINARY:
		snprintf(b->dave, sizeof b->dave, "%u:%.*s", a->binary.op, (int)a->binary.n,
			 (const char *)a->binary.p);
		note(b, "in");
		break;
	case VGW_DAVE_START:
		snprintf(b->dave, sizeof b->dave, "version %u", a->dave.version);
		note(b, "start");
		break;
	case VGW_DAVE_TEXT:
		snprintf(b->dave, sizeof b->dave, "%u:%u,%u,%" PRIu64, a->dave.op,
			 a->dave.transition, a->dave.version, a->dave.epoch);
		note(b, "in");
		break;
	}
}

static int bench_start(struct bench *b)
{
	struct vgw_conf conf = {
		.guild = 41, .user = 99, .modes = modes, .acth = on_action, .arg = b};

	memset(b, 0, sizeof *b);
	b->now = 1000 * NS_PER_S;
	return vgw_alloc(&b->g, &conf);
}

static void bench_end(struct bench *b)
{
	b->g = vgw_free(b->g);
}

static void text(struct bench *b, const char *json)
{
	vgw_ws_text(b->g, b->now, b->conn, json, strlen(json));
}

static void lease(struct bench *b, const char *session)
{
	struct vgw_lease l = {session, "tok", "voice.example:2087", 7};

	vgw_credentials(b->g, b->now, &l);
}

/* Runs timers until `until`, however many there are. */
static void run_until(struct bench *b, uint64_t until)
{
	for (unsigned guard = 0; vgw_deadline(b->g) <= until && guard < 10000; guard++) {
		b->now = vgw_deadline(b->g) > b->now ? vgw_deadline(b->g) : b->now;
		vgw_timer(b->g, b->now);
	}
	b->now = until;
}

static const char hello[] = "{\"op\":8,\"d\":{\"v\":8,\"heartbeat_interval\":13750}}";
static const char ready[] =
	"{\"op\":2,\"seq\":1,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":5000,\"modes\":"
	"[\"aead_xchacha20_poly1305_rtpsize\",\"aead_aes256_gcm_rtpsize\",\"xsalsa20_poly1305\"]}}";

static void describe(struct bench *b, const char *mode, unsigned dave)
{
	char json[600];
	int n = snprintf(json, sizeof json,
			 "{\"op\":4,\"seq\":2,\"d\":{\"mode\":\"%s\",\"dave_protocol_version\":%u,"
			 "\"secret_key\":[0",
			 mode, dave);

	for (int i = 1; i < 32; i++)
		n += snprintf(json + n, sizeof json - (size_t)n, ",%d", i * 8);
	snprintf(json + n, sizeof json - (size_t)n, "]}}");
	text(b, json);
}

static void join(struct bench *b, const char *session)
{
	lease(b, session);
	vgw_ws_open(b->g, b->now, b->conn);
	text(b, hello);
	text(b, ready);
	vgw_discovered(b->g, b->now, "203.0.113.9", 40000);
	describe(b, modes[0], 0);
}

TEST(gateway_joins)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	CHECK_STR(b.url, "wss://voice.example:2087/?v=8");
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK_STR(b.last, "{\"op\":0,\"d\":{\"server_id\":\"41\",\"user_id\":\"99\",\"session_id\":"
			  "\"s1\",\"token\":\"tok\",\"max_dave_protocol_version\":1}}");
	text(&b, hello);
	text(&b, ready);
	CHECK_INT(b.phase, MEDIA_PHASE_DISCOVERING);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	CHECK(strstr(b.last, "\"address\":\"203.0.113.9\",\"port\":40000,\"mode\":\"aead_aes256_"
			     "gcm_rtpsize\""));
	describe(&b, modes[0], 0);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_STR(b.log, "connecting connect identifying send discovering discover selecting send "
			 "key up start ");
	bench_end(&b);
}

/* People may be named before Ready, and Hello may come after it. */
TEST(gateway_joins_in_the_other_order)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, "{\"op\":11,\"seq\":1,\"d\":{\"user_ids\":[\"7\",\"8\",\"99\"]}}");
	CHECK_INT(b.members, 2); /* not ourselves */
	text(&b, "{\"op\":18,\"d\":{\"user_id\":\"7\",\"flags\":2}}");
	text(&b, "{\"op\":20,\"d\":{\"user_id\":\"7\",\"platform\":null}}");
	text(&b, ready);
	text(&b, hello);
	text(&b, "{\"op\":5,\"d\":{\"user_id\":\"7\",\"ssrc\":700,\"speaking\":1}}");
	text(&b, "{\"op\":12,\"d\":{\"user_id\":\"8\",\"audio_ssrc\":800,\"video_ssrc\":0}}");
	text(&b, "{\"op\":12,\"d\":{\"user_id\":\"8\",\"audio_ssrc\":0,\"video_ssrc\":5}}");
	CHECK_INT(b.ssrcs, 2);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	describe(&b, modes[0], 0);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	text(&b, "{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	CHECK_INT(b.members, 3);
	CHECK_INT(vgw_malformed(b.g), 0);
	bench_end(&b);
}

TEST(gateway_heartbeats_carry_seq_ack_and_measure_rtt)
{
	struct bench b;
	char before[sizeof b.last];
	uint64_t t;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	CHECK(vgw_deadline(b.g) <= b.now + 13750 * NS_PER_MS);
	vgw_ws_binary(b.g, b.now, b.conn, (const uint8_t[]){0x00, 0x03, 25, 0}, 4);
	b.now = vgw_deadline(b.g);
	vgw_timer(b.g, b.now);
	CHECK(strstr(b.last, "\"seq_ack\":3}"));
	CHECK(sscanf(b.last, "{\"op\":3,\"d\":{\"t\":%" SCNu64, &t) == 1);
	snprintf(b.last, sizeof b.last, "{\"op\":6,\"d\":{\"t\":%" PRIu64 "}}", t);
	b.now += 30 * NS_PER_MS;
	text(&b, b.last);
	CHECK_INT(b.rtt, 30 * NS_PER_MS);
	/* Every nonce is another, even if the server asks twice in one instant. */
	text(&b, "{\"op\":3,\"d\":null}");
	CHECK(strstr(b.last, "{\"op\":3"));
	memcpy(before, b.last, sizeof before);
	text(&b, "{\"op\":3,\"d\":null}");
	CHECK(strcmp(before, b.last) != 0);
	bench_end(&b);
}

TEST(gateway_resumes_without_heartbeat_acks)
{
	struct bench b;
	uint64_t beat;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	beat = vgw_deadline(b.g);
	run_until(&b, beat + 18 * NS_PER_S);
	CHECK_INT(b.closes, 0);
	run_until(&b, beat + 18750 * NS_PER_MS);
	CHECK_INT(b.closes, 1);
	CHECK(b.close_code != 1000 && b.close_code != 1001);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	CHECK_INT(b.drops, 0);
	bench_end(&b);
}

TEST(gateway_resumes_and_keeps_its_media)
{
	struct bench b;
	uint32_t old;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_speaking(b.g, b.now, true);
	CHECK(strstr(b.last, "{\"op\":5,\"d\":{\"speaking\":1,\"delay\":0,\"ssrc\":12}}"));
	text(&b, "{\"op\":11,\"seq\":3,\"d\":{\"user_ids\":[]}}");
	text(&b, "{\"op\":11,\"seq\":9,\"d\":{\"user_ids\":[]}}"); /* 4 to 8 were lost */
	old = b.conn;
	vgw_ws_closed(b.g, b.now, b.conn, 4015, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	CHECK_INT(b.reason, MEDIA_REASON_SERVER_CRASHED);
	run_until(&b, b.now + NS_PER_S);
	CHECK_INT(b.connects, 2);
	vgw_ws_open(b.g, b.now, old); /* late: of the first connection */
	CHECK_INT(b.resumes, 0);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK_STR(b.last, "{\"op\":7,\"d\":{\"server_id\":\"41\",\"session_id\":\"s1\",\"token\":"
			  "\"tok\",\"seq_ack\":3}}");
	text(&b, hello);
	text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_INT(b.reason, MEDIA_REASON_RESUMED);
	/* The server may have forgotten that we speak. */
	CHECK(strstr(b.last, "{\"op\":5,\"d\":{\"speaking\":1"));
	CHECK_INT(b.drops, 0);
	CHECK_INT(b.keys, 1);
	CHECK_INT(b.identifies, 1);
	bench_end(&b);
}

TEST(gateway_gives_up_resuming_after_five_tries)
{
	static const unsigned waits[] = {1, 2, 4, 8, 10};
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	for (unsigned i = 0; i < 5; i++) {
		CHECK_INT(b.connects, 1 + i);
		run_until(&b, b.now + waits[i] * NS_PER_S - 1);
		CHECK_INT(b.connects, 1 + i);
		run_until(&b, b.now + 1);
		CHECK_INT(b.connects, 2 + i);
		vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	}
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	CHECK_INT(b.drops, 1);
	bench_end(&b);
}

TEST(gateway_resume_refused_asks_for_credentials)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 1001, MEDIA_REASON_NONE);
	run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(b.reason, MEDIA_REASON_SESSION_INVALID);
	CHECK(b.wants);
	CHECK_INT(b.drops, 1);
	bench_end(&b);
}

/* A server that accepts the socket and then says nothing to op 7. */
TEST(gateway_resume_has_a_deadline)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	run_until(&b, b.now + 5 * NS_PER_S);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	run_until(&b, b.now + 2 * NS_PER_S);
	CHECK_INT(b.connects, 3);
	bench_end(&b);
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
		struct bench b;

		CHECK_INT(bench_start(&b), 0);
		join(&b, "s1");
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
			run_until(&b, b.now + 3600 * NS_PER_S);
			CHECK(!b.wants);
		}
		if (r->action == VOICE_CLOSE_FRESH) {
			CHECK(b.wants == (r->cool_ms == 0));
			if (r->cool_ms) {
				run_until(&b, b.now + r->cool_ms * NS_PER_MS - 1);
				CHECK(!b.wants);
			}
			run_until(&b, b.now + 1);
			CHECK(b.wants);
			CHECK_INT(b.reason, r->reason);
		}
		CHECK_INT(b.identifies, 1);
		bench_end(&b);
	}
	CHECK_INT(voice_close_of(999)->code, 1006);
	CHECK_INT(voice_close_of(4999)->code, 4009);
}

TEST(gateway_unknown_opcode_resumes_once)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4001, MEDIA_REASON_NONE);
	run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, "{\"op\":9,\"d\":null}");
	vgw_ws_closed(b.g, b.now, b.conn, 4001, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(b.drops, 1);
	bench_end(&b);
}

/* Before the session was up there is nothing to resume. */
TEST(gateway_lost_while_joining_asks_anew)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	CHECK_INT(b.resumes, 0);
	bench_end(&b);
}

/* Discord may give the same session and token after a leave and a join: a lease is control's to
 * judge. A pair that is refused again and again ends in a failed call. */
TEST(gateway_same_pair_again_is_a_new_lease)
{
	struct bench b;
	unsigned leases = 1;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	while (b.phase != MEDIA_PHASE_FAILED && leases < 100) {
		run_until(&b, b.now + 60 * NS_PER_S);
		CHECK(b.wants);
		lease(&b, "s1");
		vgw_ws_open(b.g, b.now, b.conn);
		CHECK_INT(b.identifies, ++leases);
		vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	bench_end(&b);
}

/* A lease that was not used yet may knock again; then another is asked for, and then it has failed.
 */
TEST(gateway_unreachable_is_bounded)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	for (unsigned round = 0; round < 4; round++) {
		char session[8];

		snprintf(session, sizeof session, "u%u", round);
		lease(&b, session);
		for (unsigned i = 0; i < 3; i++) {
			vgw_ws_closed(b.g, b.now, b.conn, 1006,
				      round ? MEDIA_REASON_NONE : MEDIA_REASON_TLS_FAILED);
			CHECK_INT(b.reason,
				  round ? MEDIA_REASON_UNREACHABLE : MEDIA_REASON_TLS_FAILED);
			run_until(&b, b.now + NS_PER_S);
		}
		run_until(&b, b.now + 10 * NS_PER_S);
		CHECK_INT(b.connects, 3 * (round + 1));
		CHECK(b.wants == (round < 3));
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.identifies, 0);
	bench_end(&b);
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
		struct bench b;

		CHECK_INT(bench_start(&b), 0);
		lease(&b, "s1");
		if (cases[i].steps > 0)
			vgw_ws_open(b.g, b.now, b.conn);
		if (cases[i].steps > 1)
			text(&b, ready);
		if (cases[i].steps > 2)
			vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
		run_until(&b, b.now + 5 * NS_PER_S - 1);
		CHECK_INT(b.closes, 0);
		run_until(&b, b.now + 1);
		CHECK_INT(b.closes, 1);
		CHECK_INT(b.reason, cases[i].reason);
		CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
		CHECK_INT(b.drops, cases[i].steps > 1 ? 1 : 0);
		bench_end(&b);
	}
}

/* Each step just in time, all of them together too late. */
TEST(gateway_joining_has_a_deadline)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	for (unsigned i = 0; i < 2; i++) {
		run_until(&b, b.now + 4900 * NS_PER_MS);
		vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
		run_until(&b, b.now + NS_PER_S);
	}
	vgw_ws_open(b.g, b.now, b.conn);
	run_until(&b, b.now + 4 * NS_PER_S);
	text(&b, ready);
	CHECK_INT(b.phase, MEDIA_PHASE_DISCOVERING);
	run_until(&b, b.now + 4300 * NS_PER_MS);
	CHECK_INT(b.reason, MEDIA_REASON_DEADLINE);
	CHECK_INT(b.phase, MEDIA_PHASE_COOLING);
	bench_end(&b);
}

TEST(gateway_udp_blocked_fails_in_the_end)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	for (unsigned i = 0; i < 4; i++) {
		char session[8];

		snprintf(session, sizeof session, "s%u", i);
		lease(&b, session);
		vgw_ws_open(b.g, b.now, b.conn);
		text(&b, ready);
		vgw_udp_failed(b.g, b.now);
		CHECK_INT(b.reason, MEDIA_REASON_UDP_BLOCKED);
		run_until(&b, b.now + 10 * NS_PER_S);
		CHECK(b.wants == (i < 3));
	}
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	bench_end(&b);
}

TEST(gateway_encryption_required)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	vgw_ws_closed(b.g, b.now, b.conn, 4017, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_ENCRYPTION_REQUIRED);
	CHECK(!b.wants);
	bench_end(&b);
	/* A server that goes on with a version we did not offer. */
	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, ready);
	vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
	describe(&b, modes[0], 2);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_ENCRYPTION_REQUIRED);
	CHECK_INT(b.keys, 0);
	bench_end(&b);
}

TEST(gateway_no_common_mode)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, "{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":5000,\"modes\":["
		 "\"xsalsa20\"]"
		 "}}");
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_NO_COMMON_MODE);
	CHECK_INT(b.closes, 1);
	bench_end(&b);
}

TEST(gateway_moved_takes_the_new_server)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	lease(&b, "s2");
	CHECK_INT(b.closes, 1);
	CHECK_INT(b.drops, 1);
	CHECK_INT(b.connects, 2);
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	/* What the old socket still says is of the past. */
	vgw_ws_closed(b.g, b.now, b.conn - 1, 4014, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_CONNECTING);
	bench_end(&b);
}

TEST(gateway_server_gone_parks)
{
	struct bench b;
	struct vgw_lease gone = {"s2", "tok", "", 0};

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_credentials(b.g, b.now, &gone);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK_INT(b.reason, MEDIA_REASON_SERVER_GONE);
	CHECK(!b.wants);
	CHECK_INT(b.drops, 1);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	bench_end(&b);
}

TEST(gateway_cooling_holds_for_unasked_credentials)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4011, MEDIA_REASON_NONE);
	lease(&b, "s2");
	CHECK_INT(b.connects, 1);
	run_until(&b, b.now + 2 * NS_PER_S);
	CHECK_INT(b.connects, 2);
	bench_end(&b);
}

/* Nothing of a lease is left when its session has ended. */
TEST(gateway_wipes_its_lease)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	CHECK(b.g->session[0] && b.g->token[0] && b.g->endpoint[0]);
	vgw_leave(b.g, b.now);
	for (size_t i = 0; i < sizeof b.g->token; i++)
		CHECK(!b.g->token[i]);
	CHECK(!b.g->session[0] && !b.g->endpoint[0]);
	bench_end(&b);
}

/* UDP stopped working while the session was up. */
TEST(gateway_udp_lost_while_up)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_udp_failed(b.g, b.now);
	CHECK_INT(b.reason, MEDIA_REASON_UDP_BLOCKED);
	CHECK(b.wants || b.phase == MEDIA_PHASE_COOLING);
	CHECK_INT(b.drops, 1);
	bench_end(&b);
}

/* Discord asked to slow down: no session is tried before a person asks for one. */
TEST(gateway_a_rate_limit_ends_the_call)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_ws_closed(b.g, b.now, b.conn, 4021, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(b.reason, MEDIA_REASON_RATE_LIMITED);
	CHECK(!b.wants);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	bench_end(&b);
}

TEST(gateway_bad_endpoint_is_not_dialled)
{
	static const char *const bad[] = {"evil.example/x", "a b", "user@host", "h?x", "h\r\nX: y"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct vgw_lease l = {"s", "t", bad[i], 0};
		struct bench b;

		CHECK_INT(bench_start(&b), 0);
		vgw_credentials(b.g, b.now, &l);
		CHECK_INT(b.connects, 0);
		CHECK_INT(b.reason, MEDIA_REASON_BAD_REQUEST);
		bench_end(&b);
	}
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
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		text(&b, bad[i]);
		CHECK_INT(vgw_malformed(b.g), i + 1);
	}
	vgw_ws_binary(b.g, b.now, b.conn, (const uint8_t *)"\0", 1);
	CHECK_INT(vgw_malformed(b.g), sizeof bad / sizeof bad[0] + 1);
	/* Unknown opcodes are not malformed. */
	text(&b, "{\"op\":77,\"d\":{\"x\":1}}");
	CHECK_INT(vgw_malformed(b.g), sizeof bad / sizeof bad[0] + 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	bench_end(&b);
	/* A Ready that cannot be read leaves the deadline running. */
	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, "{\"op\":2,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":0,\"modes\":[]}}");
	CHECK_INT(b.phase, MEDIA_PHASE_IDENTIFYING);
	run_until(&b, b.now + 5 * NS_PER_S);
	CHECK_INT(b.reason, MEDIA_REASON_NO_READY);
	bench_end(&b);
}

TEST(gateway_is_stable_after_a_while)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	/* Far more sessions than may fail in a row, but each held. */
	for (unsigned i = 0; i < 20; i++) {
		char session[8];

		snprintf(session, sizeof session, "s%u", i);
		join(&b, session);
		CHECK_INT(b.phase, MEDIA_PHASE_UP);
		/* Beats are answered by nobody here: look before the watchdog bites. */
		for (uint64_t end = b.now + 31 * NS_PER_S; b.now < end;) {
			uint64_t t;

			run_until(&b, vgw_deadline(b.g) < end ? vgw_deadline(b.g) : end);
			if (sscanf(b.last, "{\"op\":3,\"d\":{\"t\":%" SCNu64, &t) == 1) {
				snprintf(b.last, sizeof b.last,
					 "{\"op\":6,\"d\":{\"t\":%" PRIu64 "}}", t);
				text(&b, b.last);
			}
		}
		vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
		CHECK(b.wants);
	}
	bench_end(&b);
}

TEST(gateway_leaves_for_good)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	vgw_leave(b.g, b.now);
	CHECK_INT(b.phase, MEDIA_PHASE_CLOSED);
	CHECK_INT(b.close_code, 1000);
	CHECK_INT(b.drops, 1);
	lease(&b, "s2");
	CHECK_INT(b.connects, 1);
	CHECK(vgw_deadline(b.g) == UINT64_MAX);
	bench_end(&b);
}

TEST_OOM(gateway_alloc_oom)
{
	struct bench b;

	CHECK_OOM(bench_start(&b), (void)0);
	bench_end(&b);
}

/* The same key twice: a context made anew would seal with nonces that were used. */
TEST(gateway_takes_a_key_once)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	CHECK_INT(b.keys, 1);
	describe(&b, modes[0], 0);
	CHECK_INT(b.keys, 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	/* Another one is another matter. */
	text(&b, "{\"op\":4,\"d\":{\"mode\":\"aead_aes256_gcm_rtpsize\",\"secret_key\":[9,9,9,9,9,"
		 "9,9,9,"
		 "9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9]}}");
	CHECK_INT(b.keys, 2);
	/* A new session with the old key begins with it. */
	lease(&b, "s2");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, ready);
	vgw_discovered(b.g, b.now, "203.0.113.9", 40000);
	describe(&b, modes[0], 0);
	CHECK_INT(b.keys, 3);
	bench_end(&b);
}

/* ---- end-to-end encryption ---- */

static void binary(struct bench *b, uint16_t seq, uint8_t op, const char *payload)
{
	uint8_t msg[64] = {(uint8_t)(seq >> 8), (uint8_t)seq, op};
	size_t n = strlen(payload);

	memcpy(msg + 3, payload, n);
	vgw_ws_binary(b->g, b->now, b->conn, msg, n + 3);
}

TEST(gateway_offers_dave_and_takes_the_version)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	lease(&b, "s1");
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"max_dave_protocol_version\":1"));
	text(&b, hello);
	text(&b, ready);
	/* The external sender may come before op 4; nothing can be sent yet. */
	binary(&b, 2, 25, "sender");
	CHECK_STR(b.dave, "25:sender");
	CHECK_INT(vgw_dave_binary(b.g, 26, (const uint8_t *)"x", 1), ENOTCONN);
	CHECK_INT(vgw_dave_text(b.g, 23, 0), ENOTCONN);
	vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
	describe(&b, modes[0], 1);
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	CHECK_STR(b.dave, "version 1");
	/* Told once a session, whatever op 4 says later. */
	b.dave[0] = '\0';
	describe(&b, modes[0], 0);
	CHECK_STR(b.dave, "");
	bench_end(&b);
}

/* What cannot be read is not "no encryption". */
TEST(gateway_dave_version_unreadable)
{
	static const char *const bad[] = {"-1", "65536", "\"1\"", "null", "1.5"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct bench b;
		char json[400];

		CHECK_INT(bench_start(&b), 0);
		lease(&b, "s1");
		vgw_ws_open(b.g, b.now, b.conn);
		text(&b, ready);
		vgw_discovered(b.g, b.now, "203.0.113.9", 4000);
		snprintf(json, sizeof json,
			 "{\"op\":4,\"d\":{\"mode\":\"%s\",\"dave_protocol_version\":%s,"
			 "\"secret_key\":[9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,"
			 "9,9,9,9]}}",
			 modes[0], bad[i]);
		text(&b, json);
		CHECK_INT(b.phase, MEDIA_PHASE_SELECTING);
		CHECK_INT(vgw_malformed(b.g), 1);
		bench_end(&b);
	}
}

TEST(gateway_passes_dave_messages)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	text(&b, "{\"op\":21,\"d\":{\"transition_id\":7,\"protocol_version\":1}}");
	CHECK_STR(b.dave, "21:7,1,0");
	text(&b, "{\"op\":22,\"d\":{\"transition_id\":0}}");
	CHECK_STR(b.dave, "22:0,0,0");
	text(&b, "{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}");
	CHECK_STR(b.dave, "24:0,1,1");
	text(&b, "{\"op\":24,\"d\":{\"epoch\":\"2\",\"protocol_version\":1,\"transition_id\":9}}");
	CHECK_STR(b.dave, "24:0,1,2");
	binary(&b, 3, 27, "proposals");
	CHECK_STR(b.dave, "27:proposals");
	binary(&b, 4, 29, "");
	CHECK_STR(b.dave, "29:");
	binary(&b, 5, 30, "welcome");
	CHECK_STR(b.dave, "30:welcome");
	/* Not a server's, or not known: only their number counts. */
	b.dave[0] = '\0';
	binary(&b, 6, 26, "x");
	binary(&b, 7, 28, "x");
	binary(&b, 8, 99, "x");
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
	bench_end(&b);
}

/* Text and binary share one numbering; 0 is a number, and it wraps. */
TEST(gateway_gaps_in_the_numbering)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1"); /* 1 and 2 */
	b.log[0] = '\0';
	binary(&b, 3, 27, "");
	text(&b, "{\"op\":22,\"seq\":4,\"d\":{\"transition_id\":1}}");
	text(&b, hello); /* has no number */
	CHECK_STR(b.log, "in in ");
	b.log[0] = '\0';
	binary(&b, 6, 27, "");
	CHECK_STR(b.log, "gap in ");
	b.log[0] = '\0';
	CHECK(vgw_has_missed(b.g));
	vgw_resume_now(b.g, b.now, MEDIA_REASON_CONNECTION_LOST);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":4"));
	CHECK(!vgw_has_missed(b.g));
	text(&b, hello);
	text(&b, "{\"op\":9,\"d\":null}");
	b.log[0] = '\0';
	/* Told again after a resume, in order: what was missed counts, what was had does not. */
	binary(&b, 5, 27, "");
	binary(&b, 6, 27, "");
	text(&b, "{\"op\":22,\"seq\":4,\"d\":{\"transition_id\":1}}");
	CHECK_STR(b.log, "in ");
	b.log[0] = '\0';
	for (uint32_t seq = 7; seq <= 65536 + 1; seq++)
		text(&b, "{\"op\":77,\"d\":{}}"), binary(&b, (uint16_t)seq, 99, "");
	CHECK_STR(b.log, "");
	text(&b, "{\"op\":22,\"seq\":3,\"d\":{\"transition_id\":1}}");
	CHECK_STR(b.log, "gap in ");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	run_until(&b, b.now + NS_PER_S);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":1")); /* 2 was lost */
	/* A new session begins a new numbering. */
	vgw_ws_closed(b.g, b.now, b.conn, 4006, MEDIA_REASON_NONE);
	b.log[0] = '\0';
	lease(&b, "s2");
	vgw_ws_open(b.g, b.now, b.conn);
	text(&b, "{\"op\":11,\"seq\":900,\"d\":{\"user_ids\":[]}}");
	CHECK(!strstr(b.log, "gap"));
	bench_end(&b);
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
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1"); /* 1 and 2 */
	for (unsigned i = 1; i < 4; i++)
		text(&b, news[i]);
	CHECK_INT(b.ssrc, 701);
	vgw_resume_now(b.g, b.now, MEDIA_REASON_CONNECTION_LOST);
	vgw_ws_open(b.g, b.now, b.conn);
	CHECK(strstr(b.last, "\"seq_ack\":2"));
	text(&b, hello);
	text(&b, "{\"op\":9,\"d\":null}");
	for (unsigned i = 0; i < 4; i++)
		text(&b, news[i]);
	CHECK_INT(b.ssrc, 701);
	bench_end(&b);
}

TEST(gateway_resumes_at_once_on_request)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	vgw_resume_now(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_STR(b.log, "");
	join(&b, "s1");
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
	binary(&b, 3, 30, "a");
	CHECK_STR(b.dave, "30:a");
	CHECK_INT(vgw_dave_text(b.g, 23, 1), ENOTCONN);
	text(&b, "{\"op\":9,\"d\":null}");
	CHECK_INT(b.phase, MEDIA_PHASE_UP);
	binary(&b, 4, 29, "b");
	CHECK_STR(b.dave, "29:b");
	CHECK_INT(vgw_dave_text(b.g, 23, 1), 0);
	CHECK_INT(b.drops, 0);
	bench_end(&b);
}

TEST(gateway_rejoins_when_asked)
{
	struct bench b;

	CHECK_INT(bench_start(&b), 0);
	join(&b, "s1");
	b.log[0] = '\0';
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	CHECK_STR(b.log, "close drop waiting ");
	CHECK_INT(b.close_code, 1000);
	CHECK_INT(b.reason, MEDIA_REASON_NOT_DECRYPTED);
	CHECK(b.wants);
	/* Also in the middle of a resume. */
	join(&b, "s2");
	vgw_ws_closed(b.g, b.now, b.conn, 1006, MEDIA_REASON_NONE);
	CHECK_INT(b.phase, MEDIA_PHASE_RESUMING);
	vgw_rejoin(b.g, b.now, MEDIA_REASON_NOT_DECRYPTED);
	run_until(&b, b.now + NS_PER_S);
	CHECK_INT(b.phase, MEDIA_PHASE_WAITING);
	CHECK(b.wants);
	bench_end(&b);
}

TEST_OOM(gateway_dave_oom)
{
	struct bench b;
	int err;

	CHECK_OOM(bench_start(&b), (void)0);
	join(&b, "s1");
	err = vgw_dave_binary(b.g, 28, (const uint8_t *)"commit", 6);
	bench_end(&b);
	CHECK_OOM(err, (void)0);
}

/* A server that ends every session with this code as soon as it is up, or as soon as it is told who
 * comes, while fresh credentials are there at once: for a minute. */
static void closes_for_a_minute(struct bench *b, uint16_t code, bool let_in)
{
	uint64_t end = b->now + 60 * NS_PER_S;
	char session[24];
	unsigned n = 0;

	for (unsigned guard = 0; b->now < end && guard < 10000; guard++) {
		unsigned dials = b->connects;

		if (b->phase == MEDIA_PHASE_RESUMING) {
			vgw_ws_open(b->g, b->now, b->conn);
			text(b, "{\"op\":9,\"d\":null}");
			vgw_ws_closed(b->g, b->now, b->conn, code, MEDIA_REASON_NONE);
		} else if (b->wants || n == 0) {
			snprintf(session, sizeof session, "s%u", n++);
			if (let_in) {
				join(b, session);
			} else {
				lease(b, session);
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
		struct bench b;

		CHECK_INT(bench_start(&b), 0);
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
		bench_end(&b);
	}
}
