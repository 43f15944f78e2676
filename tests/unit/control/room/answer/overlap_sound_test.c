/* What the sound of an overlap counts for, without words. */
#include "tests/test.h"

#include "control/room/answer/overlap_sound.h"
#include "control/settings/settings.h"
#include "tests/unit/control/room/world.h"

TEST(levels_are_in_tenths_of_a_decibel)
{
	CHECK_INT(room_overlap_level(1000, 1000), 0);
	CHECK_INT(room_overlap_level(1995, 1000), 59); /* 5.998 dB */
	CHECK_INT(room_overlap_level(2000, 1000), 60);
	CHECK_INT(room_overlap_level(1000, 2000), -60);
	CHECK_INT(room_overlap_level(3163, 1000), 100);
	CHECK_INT(room_overlap_level(1, 0), 0);
	CHECK_INT(room_overlap_level(0, 1), 0);
	CHECK_INT(room_overlap_level(32767, 1), 200);
	CHECK_INT(room_overlap_level(1, UINT32_MAX), -200);
}

TEST(each_row_of_the_credit)
{
	static const struct {
		struct room_overlap_sound in;
		int credit;
	} rows[] = {
		{{.rms = 1000, .own = 1000}, 62},
		{{.rms = 640, .own = 1000}, 62},	/* 3.9 dB softer */
		{{.rms = 500, .own = 1000}, 62 - 500},	/* 6 dB softer */
		{{.rms = 100, .own = 1000}, 62 - 1000}, /* 20 */
		{{.rms = 1413, .own = 1000}, 62 + 150}, /* 3 dB louder */
		{{.rms = 2000, .own = 1000}, 62 + 250}, /* 6 dB louder */
		{{.rms = 1000}, 0},			/* no known level */
		{{.rms = 1000, .again = true}, 125},
		{{.rms = 1000, .own = 1000, .exchange = true}, 62 - 500},
	};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(room_overlap_credit(s, &rows[i].in), rows[i].credit);
	CHECK_INT(settings_set(s, "barge_in_credit_ms", "0"), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(room_overlap_credit(s, &rows[i].in), 0);
	settings_free(s);
}

/* The voice of somebody who asked at 6000, at other levels: how long it takes to interrupt. */
static unsigned time_to_cut(int amp)
{
	struct world w;
	unsigned ms = 0;

	world_begin(&w, "", 2);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	for (; ms < 4000 && !w.did[ROOM_DO_SAY_STOP]; ms += 20)
		world_sound(&w, 1, 20, amp);
	world_end(&w);
	return ms;
}

TEST(rule_072_a_raised_voice_interrupts_sooner_and_a_soft_one_later)
{
	unsigned own = time_to_cut(6000);

	CHECK(own <= 1100);
	CHECK(time_to_cut(11000) < own);
	CHECK(time_to_cut(2500) > own);
}

/* Somebody else spoke just before: the two talk to each other. */
TEST(rule_072_an_exchange_among_people_interrupts_later)
{
	struct world w;

	world_begin(&w, "", 2);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 2, 600, 6000);
	world_sound(&w, 1, 1200, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 400, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

/* Syllables with gaps: the gaps within words count as voice. */
TEST(rule_072_gaps_within_words_are_voice)
{
	struct world w;
	unsigned ms = 0;

	world_begin(&w, "barge_in_credit_ms=0", 1);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	for (; ms < 4000 && !w.did[ROOM_DO_SAY_STOP]; ms += 200) {
		world_sound(&w, 1, 120, 6000);
		world_sound(&w, 1, 80, 300);
	}
	CHECK(ms <= 1400);
	world_end(&w);
}
