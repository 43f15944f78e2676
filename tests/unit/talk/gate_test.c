#include "tests/talk/gate.h"

#include "tests/test.h"

enum { RATE = 48000 };

static struct gate g;

/* A frame of a square wave of this amplitude. */
static enum gate_says frame(int16_t loud)
{
	int16_t pcm[GATE_FRAME_MAX];

	for (size_t i = 0; i < g.frame; i++)
		pcm[i] = i / 40 % 2 ? loud : (int16_t)-loud;
	return gate_frame(&g, pcm);
}

static enum gate_says frames(int16_t loud, unsigned n)
{
	enum gate_says says = GATE_SHUT;

	while (n--)
		says = frame(loud);
	return says;
}

TEST(gate_takes_the_rates_that_microphones_have)
{
	CHECK_INT(gate_init(&g, 7999), EINVAL);
	CHECK_INT(gate_init(&g, 48001), EINVAL);
	CHECK_INT(gate_init(&g, 44100), 0);
	CHECK_INT(g.frame, 882);
}

TEST(gate_opens_for_speech_with_what_came_before_it)
{
	const int16_t *kept;
	unsigned n = 0;

	CHECK_INT(gate_init(&g, RATE), 0);
	CHECK_INT(frames(5, 100), GATE_SHUT);
	CHECK_INT(frame(3000), GATE_SHUT);
	CHECK_INT(frame(3000), GATE_OPENS);
	while ((kept = gate_kept(&g, n)))
		CHECK_INT(kept[0], n++ < GATE_KEPT - 2 ? -5 : -3000);
	CHECK_INT(n, GATE_KEPT);
	CHECK_INT(frame(3000), GATE_OPEN);
}

TEST(gate_stays_open_in_short_pauses_and_closes_after_400_ms)
{
	CHECK_INT(gate_init(&g, RATE), 0);
	CHECK_INT(frames(3000, 10), GATE_OPEN);
	CHECK_INT(frames(5, 19), GATE_OPEN);
	CHECK_INT(frame(3000), GATE_OPEN);
	CHECK_INT(frames(5, 19), GATE_OPEN);
	CHECK_INT(frame(5), GATE_CLOSES);
	CHECK_INT(frame(5), GATE_SHUT);
	CHECK(gate_kept(&g, 0) && !gate_kept(&g, 1));
}

TEST(gate_does_not_take_a_click_or_the_background_for_speech)
{
	CHECK_INT(gate_init(&g, RATE), 0);
	CHECK_INT(frames(140, 200), GATE_SHUT);
	CHECK_INT(frame(20000), GATE_SHUT);
	CHECK_INT(frames(140, 50), GATE_SHUT);
	/* A fan of 140 is background now, and so is one that is a little louder; a voice is not. */
	CHECK_INT(frames(300, 50), GATE_SHUT);
	CHECK_INT(frame(2000), GATE_SHUT);
	CHECK_INT(frame(2000), GATE_OPENS);
}

TEST(gate_that_was_shut_begins_anew)
{
	CHECK_INT(gate_init(&g, RATE), 0);
	CHECK_INT(frames(3000, 10), GATE_OPEN);
	gate_shut(&g);
	CHECK(!gate_kept(&g, 0));
	CHECK_INT(frame(3000), GATE_SHUT);
	CHECK_INT(frame(3000), GATE_OPENS);
	CHECK(gate_kept(&g, 1) && !gate_kept(&g, 2));
}
