/* What the encoder expects to be lost, what it leaves out, how hard it tries. */
#include "mediad/audio/encoder.h"

#include <math.h>

#include "tests/test.h"

static struct encoder *enc;
static uint8_t packet[ENCODER_OPUS_MAX];
static unsigned at; /* frames */

static void setup(void)
{
	at = 0;
	enc = NULL;
	if (encoder_alloc(&enc, 64000))
		abort();
}

/* A second of frames of one tone; how many of them say nothing new. */
static unsigned second_of(double amplitude, double hz)
{
	unsigned nothing = 0;

	for (unsigned k = 0; k < 50; k++, at++) {
		int16_t pcm[ENCODER_FRAME];
		size_t n;

		for (unsigned i = 0; i < ENCODER_FRAME; i++)
			pcm[i] = (int16_t)lrint(amplitude *
						sin(2 * M_PI * hz * (at * 960 + i) / 48000.0));
		n = encoder_run(enc, pcm, packet);
		if (!n)
			abort();
		nothing += n <= ENCODER_DTX_MAX;
	}
	return nothing;
}

TEST(encoder_dtx_in_pauses)
{
	setup();
	CHECK_INT(second_of(8000, 300), 0);
	CHECK(second_of(0, 0) >= 30);
	CHECK_INT(second_of(8000, 300), 0);
	encoder_free(enc);
}

/* Steady sound is sound, however long it lasts. */
TEST(encoder_no_dtx_in_a_steady_tone)
{
	setup();
	for (int i = 0; i < 5; i++)
		CHECK_INT(second_of(8000, 440), 0);
	for (int i = 0; i < 5; i++)
		CHECK_INT(second_of(ENCODER_DTX_LEVEL + 1, 440), 0);
	encoder_free(enc);
}

/* Until somebody reports it expects a little; then what is reported, up to a bound: more at once,
 * less slowly. */
TEST(encoder_expected_loss_follows_reports)
{
	unsigned reports = 0;

	setup();
	CHECK_INT(encoder_loss(enc), ENCODER_LOSS);
	CHECK(encoder_fec(enc));
	encoder_report_loss(enc, 51); /* a fifth */
	CHECK(encoder_loss(enc) >= 12 && encoder_loss(enc) <= 13);
	for (int i = 0; i < 10; i++)
		encoder_report_loss(enc, 51);
	CHECK_INT(encoder_loss(enc), 20);
	for (int i = 0; i < 20; i++)
		encoder_report_loss(enc, 255);
	CHECK_INT(encoder_loss(enc), ENCODER_LOSS_MAX);
	for (; encoder_fec(enc) && reports < 100; reports++)
		encoder_report_loss(enc, 0);
	CHECK(reports >= 20 && reports <= 40);
	CHECK_INT(encoder_loss(enc), 1);
	encoder_report_loss(enc, 5); /* two percent, once: not yet */
	CHECK(!encoder_fec(enc));
	encoder_report_loss(enc, 10);
	CHECK(encoder_fec(enc));
	encoder_forget_loss(enc);
	CHECK(encoder_loss(enc) == ENCODER_LOSS && encoder_fec(enc));
	encoder_free(enc);
}

/* The packets themselves: with redundancy, or without. */
static unsigned redundant(void)
{
	unsigned n = 0;

	for (unsigned k = 0; k < 50; k++, at++) {
		int16_t pcm[ENCODER_FRAME];

		for (unsigned i = 0; i < ENCODER_FRAME; i++) {
			double t = (at * 960 + i) / 48000.0;

			pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * 200 * t) *
						(0.6 + 0.4 * sin(2 * M_PI * 5 * t)));
		}
		/* The first bits of a frame that SILK has part in: voice, redundancy (RFC
		 * 6716 4.2.3). */
		n += encoder_run(enc, pcm, packet) > 1 && packet[0] >> 3 < 16 && (packet[1] & 0x40);
	}
	return n;
}

TEST(encoder_fec_follows_loss)
{
	setup();
	encoder_set_bitrate(enc, 32000);
	for (int i = 0; i < 5; i++)
		encoder_report_loss(enc, 51);
	redundant();
	CHECK(redundant() >= 20); /* of those that are voice */
	for (int i = 0; i < 60; i++)
		encoder_report_loss(enc, 0);
	redundant();
	CHECK_INT(redundant(), 0);
	encoder_free(enc);
}

/* SILK has part in a packet for its redundancy or because the rate is low; CELT is alone else (RFC
 * 6716 3.1). */
static bool celt_alone(void)
{
	redundant();
	return packet[0] >> 3 >= 16;
}

TEST(encoder_is_hybrid_with_fec)
{
	setup();
	encoder_set_bitrate(enc, 64000);
	CHECK(!celt_alone());
	encoder_forbid_fec(enc, true);
	CHECK(!encoder_fec(enc) && celt_alone());
	encoder_report_loss(enc, 51);
	CHECK(!encoder_fec(enc) && celt_alone());
	encoder_forbid_fec(enc, false);
	CHECK(encoder_fec(enc) && !celt_alone());
	for (int i = 0; i < 60; i++)
		encoder_report_loss(enc, 0);
	CHECK(!encoder_fec(enc) && celt_alone());
	encoder_set_bitrate(enc, 24000);
	CHECK(!celt_alone());
	encoder_free(enc);
}

TEST(encoder_complexity_is_bounded)
{
	setup();
	CHECK_INT(encoder_complexity(enc), ENCODER_COMPLEXITY);
	encoder_set_complexity(enc, 0);
	CHECK_INT(second_of(8000, 300), 0);
	encoder_set_complexity(enc, 99);
	CHECK_INT(encoder_complexity(enc), ENCODER_COMPLEXITY_MAX);
	encoder_free(enc);
}

TEST(encoder_bitrate_is_bounded)
{
	setup();
	encoder_set_bitrate(enc, 1);
	CHECK_INT(second_of(8000, 300), 0);
	encoder_set_bitrate(enc, UINT32_MAX);
	CHECK_INT(second_of(8000, 300), 0);
	encoder_free(enc);
}

TEST_OOM(encoder_without_memory)
{
	enc = NULL;
	CHECK_OOM(encoder_alloc(&enc, 64000), (void)0);
	encoder_free(enc);
}
