#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "mediad/audio/upsampler.h"

enum { SECOND = 24000, OUT = 48000 };

static int16_t in[SECOND], out[2 * SECOND + 2 * UPSAMPLER_HALF_TAPS],
	other[2 * SECOND + 2 * UPSAMPLER_HALF_TAPS];

static void tone(double hz, double amplitude)
{
	for (int i = 0; i < SECOND; i++)
		in[i] = (int16_t)lrint(amplitude * sin(2 * M_PI * hz * i / SECOND));
}

/* All of `in` in chunks of n, and its end. */
static size_t convert(int16_t *to, size_t n)
{
	struct upsampler t;
	size_t made = 0;

	upsampler_init(&t);
	for (size_t at = 0; at < SECOND; at += n)
		made += upsampler_run(&t, in + at, at + n < SECOND ? n : SECOND - at, to + made);
	return made + upsampler_flush(&t, UPSAMPLER_HALF_TAPS, to + made);
}

/* What a sine of this frequency does not explain, in dB below it. */
static double noise(double hz)
{
	double s2 = 0, c2 = 0, xs = 0, xc = 0, signal = 0, rest = 0;

	/* A whole number of its periods, so that sine and cosine are apart. */
	for (int i = 4800; i < 4800 + 38400; i++) {
		double s = sin(2 * M_PI * hz * i / OUT), c = cos(2 * M_PI * hz * i / OUT);

		s2 += s * s;
		c2 += c * c;
		xs += out[i] * s;
		xc += out[i] * c;
	}
	for (int i = 4800; i < 4800 + 38400; i++) {
		double v = xs / s2 * sin(2 * M_PI * hz * i / OUT) +
			   xc / c2 * cos(2 * M_PI * hz * i / OUT);

		signal += v * v;
		rest += (out[i] - v) * (out[i] - v);
	}
	return 10 * log10(signal / rest);
}

TEST(upsampler_passband_is_clean)
{
	static const double hz[] = {50, 1000, 3300, 8000, 10500};

	for (int i = 0; i < 5; i++) {
		tone(hz[i], 20000);
		CHECK_INT(convert(out, UPSAMPLER_INPUT_MAX), 2 * SECOND);
		CHECK(noise(hz[i]) > 90);
	}
}

TEST(upsampler_output_is_independent_of_chunking)
{
	static const size_t chunks[] = {1, 7, 40, 41, 333};

	srand(5);
	for (int i = 0; i < SECOND; i++)
		in[i] = (int16_t)(rand() % 65536 - 32768); /* as loud as can be: nothing wraps */
	convert(out, UPSAMPLER_INPUT_MAX);
	for (int i = 0; i < 5; i++) {
		CHECK_INT(convert(other, chunks[i]), 2 * SECOND);
		CHECK_MEM(other, sizeof in * 2, out, sizeof in * 2);
	}
}

/* Every sample is where it was, untouched; what stands still stays so. */
TEST(upsampler_keeps_input_samples)
{
	tone(700, 12345);
	convert(out, UPSAMPLER_INPUT_MAX);
	for (int i = 0; i < SECOND; i++)
		CHECK(out[2 * i] == in[i]);
	for (int i = 0; i < SECOND; i++)
		in[i] = 5000;
	convert(out, UPSAMPLER_INPUT_MAX);
	for (int i = 2 * UPSAMPLER_HALF_TAPS; i < 2 * (SECOND - UPSAMPLER_HALF_TAPS); i++)
		CHECK(out[i] == 5000);
}

TEST(upsampler_withholds_half_its_taps)
{
	struct upsampler t;

	upsampler_init(&t);
	tone(700, 12345);
	CHECK_INT(upsampler_run(&t, in, UPSAMPLER_HALF_TAPS, out), 0);
	CHECK_INT(upsampler_run(&t, in + UPSAMPLER_HALF_TAPS, 1, out), 2);
	CHECK_INT(upsampler_run(&t, in + UPSAMPLER_HALF_TAPS + 1, 0, out), 0);
	CHECK_INT(upsampler_flush(&t, UPSAMPLER_HALF_TAPS, out), 2 * UPSAMPLER_HALF_TAPS);
}
