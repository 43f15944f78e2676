#include "control/engine/core/rate_change.h"

#include <errno.h>
#include <math.h>

#include "tests/test.h"

/* The share of a tone's amplitude that is left, or comes from elsewhere. */
static double gain_at(unsigned from, unsigned to, double hz)
{
	struct rate_change *r = NULL;
	size_t n = from / 5, len = 0;
	uint8_t *in = malloc(2 * n), *out;
	double sum = 0;

	if (rate_change_alloc(&r, from, to) || !in)
		return -1;
	out = malloc(rate_change_most(r, 2 * n));
	for (size_t i = 0; i < n; i++) {
		int16_t v = (int16_t)lrint(10000 * sin(2 * M_PI * hz * (double)i / from));

		in[2 * i] = (uint8_t)v;
		in[2 * i + 1] = (uint8_t)(v >> 8);
	}
	/* In uneven parts, as it comes from a socket. */
	for (size_t i = 0, part = 2; out && i < 2 * n; i += part) {
		part = 2 * n - i < 514 ? 2 * n - i : 514;
		len += rate_change_run(r, in + i, part, out + len);
	}
	for (size_t i = 400; i + 1 < len; i += 2) {
		int16_t v = (int16_t)(out[i] | out[i + 1] << 8);

		sum += (double)v * v;
	}
	sum = sqrt(sum * 2 / ((double)len / 2 - 200)) / 10000;
	free(in);
	free(out);
	rate_change_free(r);
	return sum;
}

TEST(tones_of_speech_pass_and_those_beyond_the_lower_rate_do_not)
{
	static const unsigned rates[][2] = {
		{24000, 16000}, {24000, 48000}, {16000, 24000}, {22050, 24000}, {24000, 24000}};

	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		CHECK(fabs(gain_at(rates[i][0], rates[i][1], 300) - 1) < 0.02);
		CHECK(fabs(gain_at(rates[i][0], rates[i][1], 3000) - 1) < 0.03);
	}
	CHECK(gain_at(24000, 16000, 10000) < 0.02);
	CHECK(gain_at(24000, 8000, 6000) < 0.02);
}

TEST(the_length_changes_by_the_ratio)
{
	static const uint8_t silence[4800];
	uint8_t out[9700];
	struct rate_change *r;

	CHECK_INT(rate_change_alloc(&r, 24000, 16000), 0);
	CHECK_INT(rate_change_run(r, silence, 4800, out), 3200);
	CHECK_INT(rate_change_run(r, silence, 2, out) + rate_change_run(r, silence, 4, out), 4);
	rate_change_free(r);
	CHECK_INT(rate_change_alloc(&r, 24000, 48000), 0);
	CHECK(rate_change_most(r, 4800) <= sizeof out);
	CHECK_INT(rate_change_run(r, silence, 4800, out), 9600);
	rate_change_free(r);
}

TEST(a_loud_step_is_limited)
{
	uint8_t in[400], out[800];
	struct rate_change *r;
	size_t n;

	for (size_t i = 0; i < sizeof in; i += 2) {
		int v = i < 200 ? -32768 : 32767;

		in[i] = (uint8_t)v;
		in[i + 1] = (uint8_t)(v >> 8);
	}
	CHECK_INT(rate_change_alloc(&r, 24000, 48000), 0);
	n = rate_change_run(r, in, sizeof in, out);
	/* No sample has wrapped around: low first, then high. */
	for (size_t i = 80; i < n; i += 2) {
		int16_t v = (int16_t)(out[i] | out[i + 1] << 8);

		if (i < 380)
			CHECK(v < -20000);
		else if (i > 560)
			CHECK(v > 20000);
	}
	rate_change_free(r);
}

TEST(rates_have_bounds)
{
	struct rate_change *r;

	CHECK_INT(rate_change_alloc(&r, 0, 24000), EINVAL);
	CHECK_INT(rate_change_alloc(&r, 24000, 96000), EINVAL);
	CHECK_INT(rate_change_alloc(&r, 24001, 24000), EINVAL);
}

TEST_OOM(a_resampler_without_memory)
{
	struct rate_change *r;

	CHECK_OOM(rate_change_alloc(&r, 24000, 16000), (void)0);
	rate_change_free(r);
}
