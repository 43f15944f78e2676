/* Replay window, discovery and keepalive. */
#include "tests/test.h"

#include "mediad/transport/discovery.h"
#include "mediad/transport/keepalive.h"
#include "mediad/transport/replay.h"
#include "proto/base/time.h"

#define LATER (REPLAY_SILENCE_MS * NS_PER_MS)

TEST(replay_refuses_what_was_seen)
{
	struct replay w = {0};

	CHECK_INT(replay_look(&w, 65530), REPLAY_FRESH);
	for (int i = 0; i < 2000; i++) {
		uint16_t seq = (uint16_t)(65530 + i);

		CHECK_INT(replay_look(&w, seq), REPLAY_FRESH);
		CHECK_INT(replay_commit(&w, seq, 0), REPLAY_FRESH);
		CHECK_INT(replay_look(&w, seq), REPLAY_SEEN);
		CHECK_INT(replay_commit(&w, seq, 0), REPLAY_SEEN);
	}
	/* All over the window: seen; below it: old. */
	for (int i = 0; i < REPLAY_WINDOW; i++)
		CHECK_INT(replay_look(&w, (uint16_t)(w.top - (unsigned)i)), REPLAY_SEEN);
	CHECK_INT(replay_look(&w, (uint16_t)(w.top - REPLAY_WINDOW)), REPLAY_OLD);
}

TEST(replay_takes_late_ones_once)
{
	struct replay w = {0};

	replay_commit(&w, 100, 0);
	replay_commit(&w, 110, 0);
	CHECK_INT(replay_commit(&w, 105, 0), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 105, 0), REPLAY_SEEN);
	CHECK_INT(replay_commit(&w, 90, 0), REPLAY_FRESH); /* from before the first one */
	/* A forward jump clears what the window no longer covers. */
	CHECK_INT(replay_commit(&w, 110 + 3000, LATER), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 110 + 2999, LATER), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 110 + 2999, LATER), REPLAY_SEEN);
	CHECK_INT(replay_look(&w, 110), REPLAY_OLD);
}

/* However many, and in whatever order. */
TEST(replay_refuses_old_ones_for_good)
{
	struct replay w = {0};

	replay_commit(&w, 30000, 0);
	for (int i = 0; i < 2000; i++) {
		CHECK_INT(replay_look(&w, (uint16_t)(100 + i)), REPLAY_OLD);
		CHECK_INT(replay_commit(&w, (uint16_t)(100 + i), 0), REPLAY_OLD);
	}
	CHECK_INT(replay_commit(&w, 30000, 0), REPLAY_SEEN);
	CHECK_INT(replay_commit(&w, 30001, 0), REPLAY_FRESH);
}

/* In a mode that does not authenticate the number anybody can send a packet again with another one,
 * and what goes on below it would be refused for minutes. */
TEST(replay_follows_a_jump_after_a_silence)
{
	struct replay w = {0};
	uint64_t now = 0;

	for (uint16_t seq = 100; seq < 200; seq++, now += 20 * NS_PER_MS) {
		CHECK_INT(replay_commit(&w, seq, now), REPLAY_FRESH);
		CHECK_INT(replay_commit(&w, (uint16_t)(20000 + seq), now), REPLAY_AHEAD);
		CHECK_INT(replay_commit(&w, (uint16_t)(seq + REPLAY_WINDOW), now), REPLAY_AHEAD);
	}
	CHECK_INT(replay_commit(&w, 199 + REPLAY_WINDOW - 1, now), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 200, now), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 20000, now + LATER - 1), REPLAY_AHEAD);
	CHECK_INT(replay_commit(&w, 20000, now + LATER), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 20000, now + LATER), REPLAY_SEEN);
	CHECK_INT(replay_commit(&w, 20001, now + LATER), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, 201, now + LATER), REPLAY_OLD);
}

/* What whoever rewrites numbers reaches by steps that are no jumps (record 148): ten seconds of
 * silence for each but the first, until half of all numbers lie between. */
TEST(replay_small_steps_of_a_forger_silence_for_their_length)
{
	enum { STEP = REPLAY_WINDOW - 1, FIRST = 100 };
	struct replay w = {0};
	unsigned steps = 0;
	uint16_t seq = FIRST;

	CHECK_INT(replay_commit(&w, seq, 0), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, seq + STEP, 0), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, ++seq, 0), REPLAY_FRESH);
	CHECK_INT(replay_commit(&w, FIRST + 2 * STEP, 0), REPLAY_FRESH);
	for (seq++; replay_commit(&w, seq, seq * NS_PER_MS) == REPLAY_OLD; seq++)
		;
	CHECK_INT(seq, FIRST + STEP); /* a number of the forger */
	CHECK_INT(replay_commit(&w, seq, LATER), REPLAY_SEEN);
	CHECK_INT(replay_commit(&w, seq + 1, LATER), REPLAY_FRESH);
	memset(&w, 0, sizeof w);
	CHECK_INT(replay_commit(&w, FIRST, 0), REPLAY_FRESH);
	while (replay_look(&w, FIRST + 1) != REPLAY_FRESH || steps < 2)
		CHECK_INT(replay_commit(&w, (uint16_t)(FIRST + ++steps * STEP), 0), REPLAY_FRESH);
	CHECK(steps == 65 && steps * STEP / 50 / 60 == 11); /* minutes */
	CHECK_INT(replay_commit(&w, FIRST + 1, LATER - 1), REPLAY_AHEAD);
	CHECK_INT(replay_commit(&w, FIRST + 1, LATER), REPLAY_FRESH);
}

TEST(discovery_asks_on_time_and_gives_up)
{
	static const unsigned want[] = {0, 250, 500, 1000, 2000, 3000, 4000};
	struct discovery d = {0};
	uint8_t buf[DISCOVERY_SIZE];
	uint64_t t0 = 77 * NS_PER_MS;
	unsigned asked = 0;

	CHECK(discovery_next(&d) == UINT64_MAX);
	discovery_start(&d, 5, t0);
	for (unsigned ms = 0; ms < 5000; ms++) {
		bool due = discovery_next(&d) <= t0 + ms * NS_PER_MS;
		bool sent = discovery_tick(&d, t0 + ms * NS_PER_MS, buf);

		CHECK(sent == due);
		if (sent) {
			CHECK(asked < 7 && want[asked] == ms);
			asked++;
		}
		CHECK_INT(d.state, DISCOVERY_ASKING);
	}
	CHECK_INT(asked, 7);
	CHECK(discovery_next(&d) == t0 + 5000 * NS_PER_MS);
	CHECK(!discovery_tick(&d, t0 + 5000 * NS_PER_MS, buf));
	CHECK_INT(d.state, DISCOVERY_FAILED);
	CHECK(discovery_next(&d) == UINT64_MAX);
}

TEST(discovery_late_tick_asks_once)
{
	struct discovery d;
	uint8_t buf[DISCOVERY_SIZE];

	discovery_start(&d, 5, 0);
	CHECK(discovery_tick(&d, 1700 * NS_PER_MS, buf));
	CHECK(!discovery_tick(&d, 1701 * NS_PER_MS, buf));
	CHECK(discovery_next(&d) == 2000 * NS_PER_MS);
}

TEST(discovery_takes_only_its_answer)
{
	struct discovery d;
	uint8_t p[DISCOVERY_SIZE];

	discovery_start(&d, 5, 0);
	discovery_tick(&d, 0, p);
	CHECK(!discovery_input(&d, p, sizeof p, 0)); /* an echo of the request */
	p[1] = 2;
	memcpy(p + 8, "192.0.2.1", 10);
	p[73] = 80;
	p[7] = 6;
	CHECK(!discovery_input(&d, p, sizeof p, 0)); /* another ssrc */
	p[7] = 5;
	CHECK(!discovery_input(&d, p, 70, 0)); /* the form of old */
	CHECK(!discovery_input(&d, (const uint8_t *)"\x13\x37\xca\xfe\0\0\0\1", 8, 0));
	CHECK_INT(d.state, DISCOVERY_ASKING);
	CHECK(discovery_input(&d, p, sizeof p, 0));
	CHECK_INT(d.state, DISCOVERY_DONE);
	CHECK_STR(d.ip, "192.0.2.1");
	CHECK_INT(d.port, 80);
	CHECK(discovery_next(&d) == UINT64_MAX);
	CHECK(!discovery_input(&d, p, sizeof p, 0)); /* once */
}

static struct discovery known; /* asks for 10.0.0.1:0x1234 once more */
static unsigned requests;

static void ask_again(void)
{
	known = (struct discovery){.ssrc = 5, .ip = "10.0.0.1", .port = 0x1234};
	discovery_repeat(&known, 0);
	requests = 0;
}

static void run_to(uint64_t ms)
{
	uint8_t buf[DISCOVERY_SIZE];

	while (discovery_next(&known) <= ms * NS_PER_MS)
		requests += discovery_tick(&known, discovery_next(&known), buf);
}

static bool answer(char last, uint64_t ms)
{
	uint8_t p[DISCOVERY_SIZE] = {0, 2, 0, 70, 0, 0, 0, 5, [72] = 0x12, [73] = 0x34};

	run_to(ms);
	memcpy(p + 8, "10.0.0.", 7);
	p[15] = (uint8_t)last;
	return discovery_input(&known, p, sizeof p, ms * NS_PER_MS);
}

/* A router gave us another address: the server names it as often as it is asked. */
TEST(discovery_finds_that_we_moved)
{
	ask_again();
	CHECK(!answer('2', 30));
	CHECK(!answer('2', 60));
	run_to(DISCOVERY_JUDGE_MS + 29);
	CHECK_INT(known.state, DISCOVERY_ASKING);
	CHECK_INT(requests, 5); /* at 0, and at 30, 280, 530 and 1030 ms */
	run_to(DISCOVERY_JUDGE_MS + 30);
	CHECK_INT(known.state, DISCOVERY_MOVED);
	CHECK(discovery_next(&known) == UINT64_MAX);
	ask_again();
	CHECK(answer('1', 30));
	CHECK_INT(known.state, DISCOVERY_DONE);
}

TEST(discovery_believes_no_single_answer)
{
	ask_again();
	CHECK(!answer('2', 30));
	run_to(6000);
	CHECK_INT(known.state, DISCOVERY_FAILED);
	ask_again();
	for (unsigned i = 0; i < 20; i++) {
		CHECK(!answer('2', 30 + 20 * i));
		CHECK(!answer('3', 40 + 20 * i));
	}
	run_to(6000);
	CHECK_INT(known.state, DISCOVERY_FAILED);
}

TEST(discovery_hears_the_server_after_a_forger)
{
	ask_again();
	for (unsigned i = 0; i < 100; i++)
		CHECK(!answer('2', 1));
	CHECK(answer('1', 40));
	CHECK_INT(known.state, DISCOVERY_DONE);
	CHECK(strcmp(known.ip, "10.0.0.1") == 0);
	/* and it asks as before the next time */
	discovery_repeat(&known, 0);
	CHECK(!answer('2', 10));
	CHECK(answer('1', 1900));
}

TEST(keepalive_every_five_seconds)
{
	struct keepalive k = {0};
	uint8_t p[KEEPALIVE_SIZE];

	CHECK(keepalive_next(&k) == UINT64_MAX);
	CHECK(!keepalive_tick(&k, 1, p));
	keepalive_start(&k, 0x010203ff, 10);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t at = 10 + i * KEEPALIVE_EVERY_NS;

		CHECK(keepalive_next(&k) == at);
		CHECK(!keepalive_tick(&k, at - 1, p));
		CHECK(keepalive_tick(&k, at, p));
		CHECK(p[4] == 1 && p[5] == 2 && p[6] == 4 && p[7] == i);
	}
	CHECK_INT(k.rtt_us, 0); /* nobody answered, and nothing happened for it */
}

TEST(keepalive_measures_by_answers)
{
	struct keepalive k;
	uint8_t p[KEEPALIVE_SIZE], old[KEEPALIVE_SIZE];

	keepalive_start(&k, UINT32_MAX - 1, 0);
	CHECK(!keepalive_input(&k, (const uint8_t *)"\x13\x37\xca\xfe\xff\xff\xff\xfe", 8, 5));
	keepalive_tick(&k, 0, old);
	keepalive_tick(&k, KEEPALIVE_EVERY_NS, p);
	CHECK(!keepalive_input(&k, old, sizeof old, KEEPALIVE_EVERY_NS + 1));
	CHECK(keepalive_input(&k, p, sizeof p, KEEPALIVE_EVERY_NS + 31 * NS_PER_MS));
	CHECK_INT(k.rtt_us, 31000);
	CHECK(!keepalive_input(&k, p, sizeof p,
			       KEEPALIVE_EVERY_NS + 99 * NS_PER_MS)); /* a second copy */
	CHECK_INT(k.rtt_us, 31000);
}
