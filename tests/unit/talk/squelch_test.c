#include "tests/talk/squelch.h"

#include "tests/test.h"

enum { RATE = 48000 };

static struct squelch g;

/* A frame of a square wave of this amplitude. */
static enum squelch_says frame(int16_t loud)
{
	int16_t pcm[SQUELCH_FRAME_MAX];

	for (size_t i = 0; i < g.frame; i++)
		pcm[i] = i / 40 % 2 ? loud : (int16_t)-loud;
	return squelch_frame(&g, pcm);
}

static enum squelch_says frames(int16_t loud, unsigned n)
{
	enum squelch_says says = SQUELCH_SHUT;

	while (n--)
		says = frame(loud);
	return says;
}

TEST(squelch_takes_the_rates_that_microphones_have)
{
	CHECK_INT(squelch_init(&g, 7999), EINVAL);
	CHECK_INT(squelch_init(&g, 48001), EINVAL);
	CHECK_INT(squelch_init(&g, 44100), 0);
	CHECK_INT(g.frame, 882);
}

TEST(squelch_opens_for_speech_with_what_came_before_it)
{
	const int16_t *kept;
	unsigned n = 0;

	CHECK_INT(squelch_init(&g, RATE), 0);
	CHECK_INT(frames(5, 100), SQUELCH_SHUT);
	CHECK_INT(frame(3000), SQUELCH_SHUT);
	CHECK_INT(frame(3000), SQUELCH_OPENS);
	while ((kept = squelch_kept(&g, n)))
		CHECK_INT(kept[0], n++ < SQUELCH_KEPT - 2 ? -5 : -3000);
	CHECK_INT(n, SQUELCH_KEPT);
	CHECK_INT(frame(3000), SQUELCH_OPEN);
}

TEST(squelch_stays_open_in_short_pauses_and_closes_after_400_ms)
{
	CHECK_INT(squelch_init(&g, RATE), 0);
	CHECK_INT(frames(3000, 10), SQUELCH_OPEN);
	CHECK_INT(frames(5, 19), SQUELCH_OPEN);
	CHECK_INT(frame(3000), SQUELCH_OPEN);
	CHECK_INT(frames(5, 19), SQUELCH_OPEN);
	CHECK_INT(frame(5), SQUELCH_CLOSES);
	CHECK_INT(frame(5), SQUELCH_SHUT);
	CHECK(squelch_kept(&g, 0) && !squelch_kept(&g, 1));
}

TEST(squelch_does_not_take_a_click_or_the_background_for_speech)
{
	CHECK_INT(squelch_init(&g, RATE), 0);
	CHECK_INT(frames(140, 200), SQUELCH_SHUT);
	CHECK_INT(frame(20000), SQUELCH_SHUT);
	CHECK_INT(frames(140, 50), SQUELCH_SHUT);
	/* A fan of 140 is background now, and so is one that is a little louder; a voice is not. */
	CHECK_INT(frames(300, 50), SQUELCH_SHUT);
	CHECK_INT(frame(2000), SQUELCH_SHUT);
	CHECK_INT(frame(2000), SQUELCH_OPENS);
}

TEST(squelch_that_was_shut_begins_anew)
{
	CHECK_INT(squelch_init(&g, RATE), 0);
	CHECK_INT(frames(3000, 10), SQUELCH_OPEN);
	squelch_shut(&g);
	CHECK(!squelch_kept(&g, 0));
	CHECK_INT(frame(3000), SQUELCH_SHUT);
	CHECK_INT(frame(3000), SQUELCH_OPENS);
	CHECK(squelch_kept(&g, 1) && !squelch_kept(&g, 2));
}
