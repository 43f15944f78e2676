/* 24 kHz to 16 kHz. */
#include <math.h>

#include "control/engine/core/downsampler.h"
#include "tests/test.h"

enum { SAMPLES = 2400 };

/* The level of a tone behind the downsampler, in dB of its level before. */
static double level(double hz)
{
	uint8_t in[2 * SAMPLES], out[2 * SAMPLES];
	struct downsampler d = {.at = 0};
	double sum = 0;
	size_t n;

	for (unsigned i = 0; i < SAMPLES; i++) {
		int v = (int)lround(10000 * sin(2 * M_PI * hz * i / 24000));

		in[2 * i] = (uint8_t)v;
		in[2 * i + 1] = (uint8_t)(v >> 8);
	}
	n = downsampler_run(&d, in, sizeof in, out) / 2;
	for (size_t i = n / 4; i < n; i++) {
		double v = (int16_t)(out[2 * i] | out[2 * i + 1] << 8);

		sum += v * v;
	}
	return 10 * log10(sum / (double)(n - n / 4) / (10000.0 * 10000 / 2) + 1e-12);
}

TEST(the_downsampler_passes_speech_and_stops_what_would_fold)
{
	CHECK(fabs(level(300)) < 0.1);
	CHECK(fabs(level(3000)) < 0.1);
	CHECK(fabs(level(6000)) < 0.5);
	CHECK(level(9000) < -50);
	CHECK(level(11000) < -60);
}

TEST(the_downsampler_does_not_care_how_its_input_is_cut)
{
	uint8_t in[600], whole[600], parts[600];
	struct downsampler a = {.at = 0}, b = {.at = 0};
	size_t n, w = 0;

	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)(i * 37 ^ i >> 2);
	n = downsampler_run(&a, in, sizeof in, whole);
	CHECK_INT(n, 400);
	CHECK(n <= downsampler_bytes(sizeof in));
	for (size_t at = 0, step = 2; at < sizeof in; at += step, step = step % 14 + 2) {
		size_t left = sizeof in - at < step ? sizeof in - at : step;
		size_t got = downsampler_run(&b, in + at, left, parts + w);

		CHECK(got <= downsampler_bytes(left));
		w += got;
	}
	CHECK_MEM(parts, w, whole, n);
}
