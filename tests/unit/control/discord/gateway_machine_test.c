#include "control/discord/gateway_machine.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "tests/test.h"

/* A gateway on paper: what the machine did last, and how often. */
struct paper {
	struct gateway_machine *m;
	uint64_t now;
	unsigned connects, sends, closes, sessions, fatals, dispatches, finds;
	char told_of[64]; /* the last event before SESSION */
	char url[320], sent[4200], event[64];
	unsigned close_code, fatal_code;
};

static void on_act(const struct gateway_act *act, void *arg)
{
	struct paper *p = arg;

	switch (act->type) {
	case GATEWAY_ACT_CONNECT:
		p->connects++;
		snprintf(p->url, sizeof p->url, "%s", act->text);
		break;
	case GATEWAY_ACT_SEND:
		p->sends++;
		snprintf(p->sent, sizeof p->sent, "%.*s", (int)act->len, act->text);
		break;
	case GATEWAY_ACT_CLOSE:
		p->closes++;
		p->close_code = act->code;
		break;
	case GATEWAY_ACT_SESSION:
		p->sessions++;
		snprintf(p->told_of, sizeof p->told_of, "%s", p->event);
		break;
	case GATEWAY_ACT_FATAL:
		p->fatals++;
		p->fatal_code = act->code;
		break;
	case GATEWAY_ACT_DISPATCH:
		p->dispatches++;
		snprintf(p->event, sizeof p->event, "%s", act->text);
		break;
	case GATEWAY_ACT_FIND:
		p->finds++;
		break;
	case GATEWAY_ACT_STATE:
		break;
	}
}

static void feed(struct paper *p, enum gateway_in_type type, const char *text, unsigned code,
		 uint32_t rnd)
{
	struct gateway_in in = {.type = type,
				.text = text,
				.len = text ? strlen(text) : 0,
				.code = code,
				.rnd = rnd};

	gateway_machine_step(p->m, &in, p->now);
}

static void text(struct paper *p, const char *json)
{
	feed(p, GATEWAY_IN_TEXT, json, 0, 500);
}

/* Goes to the machine's deadline and ticks. */
static void wait_one(struct paper *p)
{
	uint64_t at = gateway_machine_deadline(p->m);

	if (at != UINT64_MAX && at > p->now)
		p->now = at;
	feed(p, GATEWAY_IN_TICK, NULL, 0, 500);
}

static int paper_alloc(struct paper *p)
{
	memset(p, 0, sizeof *p);
	p->now = 1000 * NS_PER_S;
	return gateway_machine_alloc(&p->m, "secret-token", 129, on_act, p);
}

static const char hello[] =
	"{\"op\":10,\"d\":{\"heartbeat_interval\":40000},\"s\":null,\"t\":null}";
static const char ready[] = "{\"op\":0,\"s\":1,\"t\":\"READY\",\"d\":{\"v\":10,\"user\":{\"id\":"
			    "\"900\"},\"session_id\":\"sess\","
			    "\"resume_gateway_url\":\"ws://"
			    "resume.example\",\"application\":{\"id\":\"900\"},\"guilds\":[]}}";

static void bring_up(struct paper *p)
{
	feed(p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	feed(p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(p, hello);
	text(p, ready);
}

TEST_OOM(gateway_machine_allocates)
{
	struct gateway_machine *m = NULL;
	int err = gateway_machine_alloc(&m, "t", 1, on_act, NULL);

	CHECK_OOM(err, (void)0);
	gateway_machine_free(m);
}

TEST(gateway_identifies_and_comes_up)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	CHECK_STR(p.url, "ws://gateway.example/?v=10&encoding=json");
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	CHECK_INT(p.sends, 0);
	text(&p, hello);
	CHECK(strstr(p.sent, "\"op\":2") && strstr(p.sent, "\"intents\":129"));
	CHECK(strstr(p.sent, "\"token\":\"secret-token\""));
	text(&p, ready);
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_UP);
	CHECK_STR(gateway_machine_session(p.m)->id, "sess");
	CHECK_STR(gateway_machine_session(p.m)->url, "ws://resume.example");
	CHECK_INT(gateway_machine_session(p.m)->seq, 1);
	CHECK_INT(p.sessions, 1);
	/* Whether it may be resumed is known once READY was handled. */
	CHECK_STR(p.told_of, "READY");
	CHECK_STR(p.event, "READY");
	gateway_machine_free(p.m);
}

TEST(gateway_beats_with_jitter_then_every_interval)
{
	struct paper p;
	uint64_t start;

	CHECK_INT(paper_alloc(&p), 0);
	start = p.now;
	bring_up(&p); /* rnd 500 of 1000: half an interval */
	CHECK_INT(gateway_machine_deadline(p.m), start + 20 * NS_PER_S);
	wait_one(&p);
	CHECK_STR(p.sent, "{\"op\":1,\"d\":1}");
	text(&p, "{\"op\":11}");
	text(&p, "{\"op\":0,\"s\":7,\"t\":\"X\",\"d\":{}}");
	CHECK_INT(gateway_machine_deadline(p.m), start + 60 * NS_PER_S);
	wait_one(&p);
	CHECK_STR(p.sent, "{\"op\":1,\"d\":7}");
	gateway_machine_free(p.m);
}

TEST(gateway_answers_a_heartbeat_request_at_once)
{
	struct paper p;
	unsigned before;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	before = p.sends;
	text(&p, "{\"op\":1,\"d\":null}");
	CHECK_INT(p.sends, before + 1);
	CHECK_STR(p.sent, "{\"op\":1,\"d\":1}");
	gateway_machine_free(p.m);
}

TEST(gateway_zombie_is_closed_and_resumed_elsewhere)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	wait_one(&p); /* beat */
	wait_one(&p); /* no answer */
	CHECK_INT(p.closes, 1);
	CHECK_INT(p.close_code, 4200);
	wait_one(&p);
	CHECK_STR(p.url, "ws://resume.example/?v=10&encoding=json");
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	CHECK(strstr(p.sent, "\"op\":6") && strstr(p.sent, "\"session_id\":\"sess\"") &&
	      strstr(p.sent, "\"seq\":1"));
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_RESUMING);
	text(&p, "{\"op\":0,\"s\":2,\"t\":\"GUILD_CREATE\",\"d\":{\"id\":\"1\"}}");
	CHECK_STR(p.event, "GUILD_CREATE"); /* what was missed comes before RESUMED */
	text(&p, "{\"op\":0,\"s\":3,\"t\":\"RESUMED\",\"d\":{}}");
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_UP);
	CHECK_INT(gateway_machine_session(p.m)->seq, 3);
	gateway_machine_free(p.m);
}

TEST(gateway_reconnect_resumes)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	text(&p, "{\"op\":7,\"d\":null}");
	CHECK_INT(p.close_code, 4200);
	wait_one(&p);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_RESUMING);
	gateway_machine_free(p.m);
}

TEST(gateway_invalid_session_true_resumes_false_identifies_after_a_wait)
{
	struct paper p;
	uint64_t refused_at;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	feed(&p, GATEWAY_IN_CLOSED, NULL, 1006, 0);
	wait_one(&p);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	text(&p, "{\"op\":9,\"d\":true}");
	CHECK_STR(gateway_machine_session(p.m)->id, "sess");
	wait_one(&p);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_RESUMING);
	refused_at = p.now;
	text(&p, "{\"op\":9,\"d\":false}");
	CHECK_STR(gateway_machine_session(p.m)->id, "");
	CHECK(gateway_machine_deadline(p.m) >= refused_at + NS_PER_S);
	CHECK(gateway_machine_deadline(p.m) <= refused_at + 5 * NS_PER_S);
	wait_one(&p);
	CHECK_STR(p.url, "ws://gateway.example/?v=10&encoding=json");
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	wait_one(&p);
	CHECK(strstr(p.sent, "\"op\":2"));
	gateway_machine_free(p.m);
}

TEST(gateway_fatal_codes_never_connect_again)
{
	static const unsigned codes[] = {4004, 4010, 4011, 4012, 4013, 4014};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
		struct paper p;

		CHECK_INT(paper_alloc(&p), 0);
		bring_up(&p);
		feed(&p, GATEWAY_IN_CLOSED, NULL, codes[i], 0);
		CHECK_INT(p.fatals, 1);
		CHECK_INT(p.fatal_code, codes[i]);
		CHECK(gateway_machine_deadline(p.m) == UINT64_MAX);
		p.now += 86400 * NS_PER_S;
		feed(&p, GATEWAY_IN_TICK, NULL, 0, 0);
		CHECK_INT(p.connects, 1);
		gateway_machine_free(p.m);
	}
}

/* Once with what Discord does not refuse; that may be refused in turn. */
TEST(gateway_connects_again_when_what_was_refused_has_changed)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	feed(&p, GATEWAY_IN_AGAIN, NULL, 0, 500);
	CHECK_INT(p.connects, 1);
	feed(&p, GATEWAY_IN_CLOSED, NULL, 4014, 0);
	gateway_machine_set_intents(p.m, 1);
	feed(&p, GATEWAY_IN_AGAIN, NULL, 0, 500);
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_BACKOFF);
	wait_one(&p);
	CHECK_INT(p.connects, 2);
	CHECK_STR(p.url, "ws://gateway.example/?v=10&encoding=json");
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	wait_one(&p);
	CHECK(strstr(p.sent, "\"op\":2"));
	CHECK(strstr(p.sent, "\"intents\":1"));
	CHECK(!strstr(p.sent, "\"intents\":129"));
	feed(&p, GATEWAY_IN_CLOSED, NULL, 4014, 0);
	CHECK_INT(p.fatals, 2);
	CHECK(gateway_machine_deadline(p.m) == UINT64_MAX);
	gateway_machine_free(p.m);
}

TEST(gateway_identify_codes_drop_the_session)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	feed(&p, GATEWAY_IN_CLOSED, NULL, 4007, 0);
	CHECK_STR(gateway_machine_session(p.m)->id, "");
	CHECK_INT(p.sessions, 2);
	gateway_machine_free(p.m);
}

/* A server that takes every Identify and then says that the session is invalid must not be asked
 * thousands of times. */
TEST(gateway_identifies_are_rationed)
{
	struct paper p;
	unsigned identifies = 0;
	uint64_t start, last = 0;

	CHECK_INT(paper_alloc(&p), 0);
	start = p.now;
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	for (unsigned i = 0; i < 100000 && p.now < start + 86400 * NS_PER_S; i++) {
		switch (gateway_machine_state(p.m)) {
		case GATEWAY_CONNECTING:
			feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
			text(&p, "{\"op\":10,\"d\":{\"heartbeat_interval\":600000}}");
			break;
		case GATEWAY_IDENTIFYING:
			CHECK(!last || p.now >= last + 5 * NS_PER_S);
			last = p.now;
			identifies++;
			text(&p, "{\"op\":9,\"d\":false}");
			break;
		default:
			if (gateway_machine_state(p.m) == GATEWAY_THROTTLED)
				text(&p, "{\"op\":11}");
			wait_one(&p);
			break;
		}
	}
	CHECK(identifies > 10);
	CHECK(identifies <= GATEWAY_IDENTIFIES_PER_DAY);
	gateway_machine_free(p.m);
}

TEST(gateway_connection_failures_back_off)
{
	struct paper p;
	uint64_t start, gap = 0;

	CHECK_INT(paper_alloc(&p), 0);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	for (int i = 0; i < 12; i++) {
		start = p.now;
		feed(&p, GATEWAY_IN_CLOSED, NULL, 1006, 999);
		gap = gateway_machine_deadline(p.m) - start;
		CHECK(gap <= 61 * NS_PER_S);
		wait_one(&p);
	}
	CHECK(gap >= 60 * NS_PER_S);
	gateway_machine_free(p.m);
}

TEST(gateway_send_budget_leaves_room_for_heartbeats)
{
	struct paper p;
	json_t *d = json_pack("{s:s}", "guild_id", "1");
	unsigned before;
	uint64_t start;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	start = p.now;
	before = p.sends; /* the Identify */
	for (int i = 0; i < 200; i++)
		CHECK_INT(gateway_machine_send(p.m, 4, d, p.now), 0);
	CHECK_INT(p.sends - before, GATEWAY_SENDS_PER_MINUTE - GATEWAY_HEARTBEAT_RESERVE - before);
	text(&p, "{\"op\":1}"); /* a heartbeat still goes */
	CHECK_STR(p.sent, "{\"op\":1,\"d\":1}");
	/* Never more than 120 in any minute, and all of them in the end. */
	for (int i = 0; i < 400 && p.now < start + 200 * NS_PER_S; i++) {
		unsigned sent = p.sends;
		uint64_t at = p.now;

		text(&p, "{\"op\":11}");
		wait_one(&p);
		CHECK(p.now > at || p.sends > sent || i < 400);
	}
	CHECK(p.sends >= before + 200);
	json_decref(d);
	gateway_machine_free(p.m);
}

TEST(gateway_refuses_what_cannot_be_sent)
{
	struct paper p;
	char big[5000];
	json_t *d;

	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	d = json_pack("{s:s}", "x", big);
	CHECK_INT(paper_alloc(&p), 0);
	CHECK_INT(gateway_machine_send(p.m, 4, d, p.now), ENOTCONN);
	bring_up(&p);
	CHECK_INT(gateway_machine_send(p.m, 4, d, p.now), EMSGSIZE);
	json_decref(d);
	gateway_machine_free(p.m);
}

TEST(gateway_starts_with_resume_of_an_earlier_process)
{
	struct gateway_session s = {.id = "old", .url = "ws://resume.example/", .seq = 42};
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	gateway_machine_restore(p.m, &s);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	CHECK_STR(p.url, "ws://resume.example/?v=10&encoding=json");
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	CHECK(strstr(p.sent, "\"op\":6") && strstr(p.sent, "\"seq\":42"));
	gateway_machine_free(p.m);
}

TEST(gateway_survives_malformed_messages)
{
	static const char *const bad[] = {"",
					  "x",
					  "[]",
					  "{}",
					  "{\"op\":\"0\"}",
					  "{\"op\":0}",
					  "{\"op\":0,\"s\":-1,\"t\":\"X\"}",
					  "{\"op\":10,\"d\":{\"heartbeat_interval\":-5}}",
					  "{\"op\":10,\"d\":7}",
					  "{\"op\":0,\"s\":5,\"t\":\"READY\",\"d\":{}}"};
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		text(&p, bad[i]);
	CHECK_INT(gateway_machine_malformed(p.m), sizeof bad / sizeof bad[0]);
	text(&p, ready);
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_UP);
	gateway_machine_free(p.m);
}

TEST(gateway_every_wait_has_a_deadline)
{
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	CHECK(gateway_machine_deadline(p.m) != UINT64_MAX); /* connecting */
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	CHECK(gateway_machine_deadline(p.m) != UINT64_MAX); /* hello */
	wait_one(&p);
	CHECK_INT(p.closes, 1);
	wait_one(&p);
	CHECK_INT(p.connects, 2);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, "{\"op\":10,\"d\":{\"heartbeat_interval\":600000}}");
	CHECK_INT(gateway_machine_state(p.m), GATEWAY_IDENTIFYING);
	wait_one(&p); /* no READY */
	CHECK_INT(p.closes, 2);
	gateway_machine_free(p.m);
}

TEST(gateway_never_resumes_in_the_clear_what_began_encrypted)
{
	struct gateway_session kept = {.id = "sess", .url = "ws://resume.example", .seq = 1};
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	gateway_machine_restore(p.m, &kept);
	feed(&p, GATEWAY_IN_START, "wss://gateway.example", 0, 0);
	CHECK_STR(p.url, "wss://gateway.example/?v=10&encoding=json");
	gateway_machine_free(p.m);
	CHECK_INT(paper_alloc(&p), 0);
	gateway_machine_restore(p.m, &kept);
	feed(&p, GATEWAY_IN_START, "ws://gateway.example", 0, 0);
	CHECK_STR(p.url, "ws://resume.example/?v=10&encoding=json");
	gateway_machine_free(p.m);
}

/* Neither the session's address nor the general one answers: the general one is fetched again,
 * and the session is resumed at the new one. */
TEST(gateway_asks_for_its_address_again)
{
	uint64_t lost;
	struct paper p;

	CHECK_INT(paper_alloc(&p), 0);
	bring_up(&p);
	lost = p.now;
	for (unsigned i = 0; i < 2; i++) {
		feed(&p, GATEWAY_IN_CLOSED, NULL, 1006, 500);
		wait_one(&p);
		CHECK_STR(p.url, "ws://resume.example/?v=10&encoding=json");
	}
	CHECK_INT(p.finds, 1);
	feed(&p, GATEWAY_IN_START, "ws://moved.example", 0, 0);
	CHECK_INT(p.connects, 3); /* it changes the next try, not this one */
	feed(&p, GATEWAY_IN_CLOSED, NULL, 1006, 500);
	wait_one(&p);
	CHECK_STR(p.url, "ws://moved.example/?v=10&encoding=json");
	CHECK(p.now - lost < 30 * NS_PER_S);
	feed(&p, GATEWAY_IN_OPEN, NULL, 0, 0);
	text(&p, hello);
	CHECK(strstr(p.sent, "\"op\":6") && strstr(p.sent, "\"session_id\":\"sess\""));
	gateway_machine_free(p.m);
}
