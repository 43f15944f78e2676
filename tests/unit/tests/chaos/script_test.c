#include "tests/chaos/script.h"
#include "tests/chaos/shrink.h"
#include "tests/chaos/tone.h"
#include "tests/test.h"

#include <string.h>

TEST(chaos_the_same_seed_gives_the_same_script)
{
	static char a[4096], b[4096];
	struct chaos_script s, t;

	for (uint64_t seed = 0; seed < 200; seed++) {
		chaos_generate(&s, seed);
		chaos_generate(&t, seed);
		chaos_print(&s, a, sizeof a);
		chaos_print(&t, b, sizeof b);
		CHECK_STR(a, b);
		CHECK(s.n >= 1 && s.n <= CHAOS_STEPS);
	}
	chaos_generate(&t, 200);
	chaos_print(&t, b, sizeof b);
	CHECK(strcmp(strchr(a, '\n'), strchr(b, '\n')) != 0);
}

TEST(chaos_every_fault_and_every_close_code_is_drawn)
{
	bool verb[CHAOS_VERBS_N] = {0}, code[1024] = {0}, real[2] = {0}, journal = false;
	struct chaos_script s;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		chaos_generate(&s, seed);
		real[s.real] = true;
		journal |= s.journal_kb > 0;
		for (unsigned i = 0; i < s.n; i++) {
			verb[s.step[i].verb] = true;
			if (s.step[i].verb == CHAOS_CLOSE && s.step[i].arg[0] >= 4000)
				code[s.step[i].arg[0] - 4000] = true;
		}
	}
	for (unsigned v = 0; v < CHAOS_VERBS_N; v++)
		CHECK(verb[v]);
	CHECK(real[0] && real[1] && journal && code[6] && code[9] && code[14] && code[15] &&
	      code[17] && code[21] && code[22]);
}

TEST(chaos_a_script_is_read_as_it_was_printed)
{
	static char a[4096], b[4096];
	struct chaos_script s, t;
	unsigned line;

	for (uint64_t seed = 0; seed < 200; seed++) {
		chaos_generate(&s, seed);
		chaos_print(&s, a, sizeof a);
		CHECK_INT(chaos_parse(&t, a, &line), 0);
		chaos_print(&t, b, sizeof b);
		CHECK_STR(a, b);
	}
}

TEST(chaos_a_script_that_makes_no_sense_is_refused_with_its_line)
{
	static const char *const wrong[] = {
		"control lean\n10 fly bot\n",  "seed 1\n10 drop\n",	 "seed 1\n10 drop carol\n",
		"seed 1\n10 drop bot 3\n",     "seed 1\n10 close bot\n", "20 crash\n10 crash\n",
		"seed 1\n10 close bot x\n",    "seed 1\nseed -1\n",	 "seed 1\ncontrol none\n",
		"seed 1\n99999999999 crash\n",
	};
	struct chaos_script s = {.seed = 77};
	unsigned line;

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		CHECK_INT(chaos_parse(&s, wrong[i], &line), EINVAL);
		CHECK_INT(line, 2);
		CHECK_INT(s.seed, 77);
	}
	CHECK_INT(chaos_parse(&s, "# a comment\n\n  5 drop bob # another\n", &line), 0);
	CHECK(s.n == 1 && s.step[0].at == 5 && s.step[0].verb == CHAOS_DROP &&
	      s.step[0].who == CHAOS_BOB);
}

TEST(chaos_what_a_script_explains)
{
	struct chaos_script s;
	unsigned line;

	CHECK_INT(chaos_parse(&s, "100 drop bob\n200 storm 3 50\n", &line), 0);
	CHECK_INT(chaos_length_ms(&s), 500);
	CHECK(chaos_settle_ms(&s) > 8000 && chaos_settle_ms(&s) <= 60000);
	CHECK(chaos_identifies(&s, CHAOS_BOB) >= chaos_identifies(&s, CHAOS_BOT));
}

/* Fails only with both a kill and a drop of bob. */
static bool needs_two(const struct chaos_script *s, void *arg)
{
	bool killed = false, dropped = false;

	++*(unsigned *)arg;
	for (unsigned i = 0; i < s->n; i++) {
		killed |= s->step[i].verb == CHAOS_KILL_MEDIAD;
		dropped |= s->step[i].verb == CHAOS_DROP && s->step[i].who == CHAOS_BOB;
	}
	return killed && dropped;
}

TEST(chaos_a_failing_script_is_made_as_short_as_can_be)
{
	struct chaos_script s;
	unsigned line, runs = 0;

	CHECK_INT(chaos_parse(&s,
			      "control real\njournal 9\n0 crash\n1 drop bot\n2 kill-mediad bot\n3 "
			      "calm\n4 reinit\n5 drop bob\n6 kick bob\n"
			      "7 move bot\n",
			      &line),
		  0);
	CHECK_INT(chaos_shrink(&s, 40, needs_two, &runs), runs);
	CHECK(s.n == 2 && s.step[0].at == 2 && s.step[1].at == 5 && !s.real && !s.journal_kb);
	runs = 0;
	CHECK_INT(chaos_parse(&s, "2 kill-mediad bot\n3 calm\n5 drop bob\n", &line), 0);
	CHECK(chaos_shrink(&s, 1, needs_two, &runs) <= 1);
	CHECK(needs_two(&s, &runs));
}

TEST(chaos_each_voice_is_known_by_its_tone)
{
	int16_t pcm[480];
	bool loud;

	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		tone_make(pcm, 480, 24000, (enum chaos_who)w, 1234);
		CHECK_INT(tone_whose(pcm, 480, 24000, &loud), w);
		CHECK(loud);
	}
	memset(pcm, 0, sizeof pcm);
	CHECK_INT(tone_whose(pcm, 480, 24000, &loud), CHAOS_ALL);
	CHECK(!loud);
	for (unsigned i = 0; i < 480; i++)
		pcm[i] = (int16_t)((i * 7919u * 104729u >> 7) % 12000) - 6000;
	CHECK_INT(tone_whose(pcm, 480, 24000, &loud), CHAOS_ALL);
	CHECK(loud);
}
