/* Resampler and limiter. */
#include "tests/test.h"

#include <math.h>

#include "mediad/audio/limiter.h"
#include "mediad/audio/resample.h"

static void sine(int16_t *out, size_t n, double hz, double rate, double amplitude)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int16_t)lrint(amplitude * sin(2 * M_PI * hz * (double)i / rate));
}

TEST(resample_chunked_is_whole)
{
	enum { IN = 24000, OUT = 48000 };
	static int16_t in[IN], whole[OUT + 10], parts[OUT + 10];
	struct resample *a = NULL, *b = NULL;
	size_t n = 0, at = 0, fed = 0, made, chunk = 1;

	sine(in, IN, 440, 24000, 20000);
	CHECK_INT(resample_alloc(&a, 24000, 48000), 0);
	CHECK_INT(resample_alloc(&b, 24000, 48000), 0);
	CHECK_INT(resample_output_max(a, IN), OUT);
	CHECK_INT(resample_run(a, in, IN, true, whole, OUT, &n), 0);
	CHECK_INT(n, OUT);
	while (fed < IN) {
		size_t k = chunk < IN - fed ? chunk : IN - fed;

		CHECK_INT(resample_run(b, in + fed, k, fed + k == IN, parts + at, OUT + 10 - at,
				       &made),
			  0);
		fed += k;
		at += made;
		chunk = chunk * 7 % 1009 + 1;
	}
	CHECK_MEM(parts, at * 2, whole, n * 2);
	CHECK_INT(resample_run(b, in, 1, false, parts, OUT, &made), EPIPE);
	resample_free(a);
	resample_free(b);
}

TEST(resample_speech_rate_quality)
{
	enum { IN = 24000, OUT = 48000, EDGE = 2000 };
	static int16_t in[IN], out[OUT];
	static const double tones[] = {300, 1000, 3333, 8000};

	for (int t = 0; t < 4; t++) {
		struct resample *r = NULL;
		double signal = 0, noise = 0, snr;
		size_t at = 0, made;

		sine(in, IN, tones[t], 24000, 20000);
		CHECK_INT(resample_alloc(&r, 24000, 48000), 0);
		for (size_t i = 0; i < IN; i += 480) {
			CHECK_INT(resample_run(r, in + i, 480, i + 480 == IN, out + at, OUT - at,
					       &made),
				  0);
			at += made;
		}
		resample_free(r);
		CHECK_INT(at, OUT);
		for (int i = EDGE; i < OUT - EDGE; i++) {
			double want = 20000 * sin(2 * M_PI * tones[t] * i / 48000.0);

			signal += want * want;
			noise += (out[i] - want) * (out[i] - want);
		}
		snr = 10 * log10(signal / noise);
		if (snr < 75)
			test_fail(__FILE__, __LINE__, "%g Hz: %.1f dB", tones[t], snr);
	}
}

TEST(resample_counts_are_exact)
{
	static const uint32_t rates[] = {8000, 11025, 16000, 22050, 24000, 44100, 48000};
	static int16_t in[5000], out[40000];

	for (int i = 0; i < 7; i++) {
		for (size_t n = 1; n <= 4410; n += 881) {
			struct resample *r = NULL;
			size_t made = 0, got = 0;
			uint64_t last = 0;

			CHECK_INT(resample_alloc(&r, rates[i], 48000), 0);
			CHECK_INT(resample_run(r, in, n, false, out, 40000, &made), 0);
			got = made;
			CHECK_INT(resample_run(r, in, 0, true, out, 40000, &made), 0);
			got += made;
			CHECK_INT(got, (n * 48000 + rates[i] - 1) / rates[i]);
			for (size_t k = 0; k <= got; k++) {
				uint64_t s = resample_input_of(r, k);

				CHECK(s >= last && s <= n);
				last = s;
			}
			CHECK_INT(last, n);
			resample_free(r);
		}
	}
}

TEST(resample_equal_rates_pass_through)
{
	struct resample *r = NULL;
	int16_t in[100], out[100];
	size_t made;

	sine(in, 100, 5000, 48000, 32767);
	CHECK_INT(resample_alloc(&r, 48000, 48000), 0);
	CHECK_INT(resample_run(r, in, 100, false, out, 99, &made), EMSGSIZE);
	CHECK_INT(resample_run(r, in, 100, false, out, 100, &made), 0);
	CHECK_MEM(out, made * 2, in, 200);
	resample_free(r);
	CHECK_INT(resample_alloc(&r, 7999, 48000), EINVAL);
	CHECK_INT(resample_alloc(&r, 8000, 48001), EINVAL);
	CHECK_INT(resample_scale(960, 24000, 48000), 480);
	CHECK_INT(resample_scale(3, 44100, 48000), 2);
}

TEST_OOM(resample_without_memory)
{
	struct resample *r = NULL;

	CHECK_OOM(resample_alloc(&r, 24000, 48000), );
	CHECK(!resample_free(r));
}

TEST(limiter_is_transparent_below_its_ceiling)
{
	struct limiter l;
	float acc[MIX_FRAME];
	int16_t in[MIX_FRAME], out[MIX_FRAME];

	limiter_init(&l);
	sine(in, MIX_FRAME, 997, 48000, MIX_CEILING);
	for (int i = 0; i < MIX_FRAME; i++)
		acc[i] = in[i];
	limiter_run(&l, acc, out);
	CHECK_MEM(out, sizeof out, in, sizeof in);
}

/* Of halves, as the gain of a lane makes them, to the even neighbour. */
TEST(limiter_rounds_to_the_nearest_sample)
{
	struct limiter l;
	float acc[MIX_FRAME];
	int16_t out[MIX_FRAME];

	limiter_init(&l);
	for (int i = 0; i < MIX_FRAME; i++)
		acc[i] = (float)(i - MIX_FRAME / 2) * 60.75f;
	for (int i = 0; i < 40; i++)
		acc[i] = (float)(i - 20) / 2;
	limiter_run(&l, acc, out);
	for (int i = 0; i < MIX_FRAME; i++)
		CHECK_INT(out[i], lrintf(acc[i]));
	acc[3] = 2 * MIX_CEILING;
	limiter_run(&l, acc, out);
	CHECK(out[3] <= MIX_CEILING && out[3] >= MIX_CEILING - 1);
}

TEST(limiter_never_clips)
{
	struct limiter l;
	uint32_t seed = 1;
	float acc[MIX_FRAME];
	int16_t out[MIX_FRAME];

	limiter_init(&l);
	for (int f = 0; f < 300; f++) {
		for (int i = 0; i < MIX_FRAME; i++) {
			seed = seed * 1664525 + 1013904223;
			acc[i] = (float)(int32_t)seed / 65536.0f * (float)(f % 9);
		}
		limiter_run(&l, acc, out);
		for (int i = 0; i < MIX_FRAME; i++)
			CHECK(abs(out[i]) <= MIX_CEILING && (acc[i] * (float)out[i] >= 0));
	}
}

TEST(limiter_lowers_gain_instead_of_clipping)
{
	struct limiter l;
	float acc[MIX_FRAME];
	int16_t out[MIX_FRAME];
	int flat = 0, k;

	/* Twice full scale, long enough for the gain to settle: the shape must stay a sine. */
	limiter_init(&l);
	for (int f = 0; f < 20; f++) {
		for (int i = 0; i < MIX_FRAME; i++)
			acc[i] = 65534.0f *
				 sinf(2 * (float)M_PI * 400 * (float)(f * MIX_FRAME + i) / 48000);
		limiter_run(&l, acc, out);
	}
	for (int i = 1; i < MIX_FRAME; i++)
		flat += out[i] == out[i - 1] && abs(out[i]) >= MIX_CEILING - 1;
	CHECK(flat <
	      60); /* a clipped sine of this height stands still for two thirds of the time */
	/* And afterwards it comes back to 1, within its release time. */
	for (int i = 0; i < MIX_FRAME; i++)
		acc[i] = 10000;
	for (k = 0; k < 20 && l.gain < 1; k++)
		limiter_run(&l, acc, out);
	CHECK(k <= MIX_RELEASE_MS / 20 + 1);
	CHECK_INT(out[MIX_FRAME - 1], 10000);
}

/* Two tones that are too loud together, and a quiet channel that shows the gain: it does not rise
 * from peak to peak, to drop at the first peak of the next frame. */
TEST(limiter_has_no_steps_between_frames)
{
	static const double pairs[][2] = {{440, 444.3}, {97, 131}, {1000, 1010}, {61, 2000}};
	enum { QUIET = 3000 };
	float left[MIX_FRAME], right[MIX_FRAME];
	int16_t out[2 * MIX_FRAME];
	struct limiter l;

	for (int k = 0; k < 4; k++) {
		double worst = 0, last = 1;

		limiter_init(&l);
		for (int f = 0; f < 300; f++) {
			for (int i = 0; i < MIX_FRAME; i++) {
				double t = (double)(f * MIX_FRAME + i) / 48000;

				left[i] = (float)(0.65 * 32768 *
						  (sin(2 * M_PI * pairs[k][0] * t) +
						   sin(2 * M_PI * pairs[k][1] * t)));
				right[i] = QUIET;
			}
			limiter_run_stereo(&l, left, right, out);
			if (f > 1)
				worst = fmax(worst, fabs(20 * log10(out[1] / last)));
			last = out[2 * MIX_FRAME - 1];
		}
		if (worst > 0.15)
			test_fail(__FILE__, __LINE__, "%g and %g Hz: a step of %.2f dB",
				  pairs[k][0], pairs[k][1], worst);
	}
}

/* One gain for both channels: the louder one decides, and the image stays in its place. */
TEST(limiter_links_its_channels)
{
	struct limiter one, both;
	float left[MIX_FRAME], right[MIX_FRAME];
	int16_t mono[MIX_FRAME], out[2 * MIX_FRAME];

	limiter_init(&one);
	limiter_init(&both);
	for (int f = 0; f < 20; f++) {
		float height = f < 10 ? 60000.0f : 9000.0f;

		for (int i = 0; i < MIX_FRAME; i++) {
			left[i] = height * sinf(0.05f * (float)(f * MIX_FRAME + i));
			right[i] = left[i] / 4;
		}
		limiter_run(&one, left, mono);
		limiter_run_stereo(&both, left, right, out);
		for (int i = 0; i < MIX_FRAME; i++) {
			CHECK_INT(out[2 * i], mono[i]);
			CHECK(abs(out[2 * i + 1] - out[2 * i] / 4) <= 1);
		}
	}
	/* The right channel alone is limited too. */
	limiter_init(&both);
	for (int i = 0; i < MIX_FRAME; i++)
		left[i] = 0, right[i] = 40000;
	limiter_run_stereo(&both, left, right, out);
	CHECK(out[0] == 0 && out[1] <= MIX_CEILING && out[1] > MIX_CEILING - 10);
}
