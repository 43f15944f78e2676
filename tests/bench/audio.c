/* The quality of speech resampling, and whether concealment makes up for packet loss to the
 * millisecond: resample_snr_db, loss_gap_ms. Figures of quality: no clock is read. */
#include "mediad/audio/decode.h"
#include "mediad/audio/receive.h"
#include "mediad/audio/resample.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

#include <math.h>
#include <opus/opus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO = 48000, AMPLITUDE = 20000, TONE_S = 2, LONG_S = 600 };

/* ---- resampling ---- */

static double tone_at(uint64_t i, double hz, uint32_t rate)
{
	return AMPLITUDE * sin(2 * M_PI * hz * (double)i / rate);
}

/* Signal over everything else, in dB: what a sine of this frequency (any phase, any gain) does not
 * explain is noise. */
static double snr(const int16_t *x, size_t n, double hz)
{
	double ss = 0, cc = 0, sc = 0, xs = 0, xc = 0, a, b, signal = 0, noise = 0, det;

	for (size_t i = 0; i < n; i++) {
		double s = sin(2 * M_PI * hz * (double)i / TO),
		       c = cos(2 * M_PI * hz * (double)i / TO);

		ss += s * s;
		cc += c * c;
		sc += s * c;
		xs += x[i] * s;
		xc += x[i] * c;
	}
	det = ss * cc - sc * sc;
	a = (xs * cc - xc * sc) / det;
	b = (xc * ss - xs * sc) / det;
	for (size_t i = 0; i < n; i++) {
		double v = a * sin(2 * M_PI * hz * (double)i / TO) +
			   b * cos(2 * M_PI * hz * (double)i / TO);

		signal += v * v;
		noise += (x[i] - v) * (x[i] - v);
	}
	return 10 * log10(signal / noise);
}

/* Resamples seconds of a tone in chunks; returns how many samples came. out may be NULL: counted
 * only. */
static uint64_t convert(uint32_t from, double hz, size_t chunk, unsigned seconds, int16_t *out,
			size_t cap)
{
	uint64_t n = (uint64_t)from * seconds, made = 0;
	struct resample *r;
	size_t most, got;
	int16_t *in, *buf;

	BENCH_OK(resample_alloc(&r, from, TO));
	most = resample_output_max(r, chunk) +
	       TO / 10; /* the delayed samples follow with a later call */
	in = calloc(chunk, sizeof *in);
	buf = calloc(most, sizeof *buf);
	if (!in || !buf)
		bench_die("out of memory");
	for (uint64_t at = 0; at < n; at += chunk) {
		size_t take = n - at < chunk ? (size_t)(n - at) : chunk;

		for (size_t i = 0; i < take; i++)
			in[i] = (int16_t)lrint(tone_at(at + i, hz, from));
		BENCH_OK(resample_run(r, in, take, at + take == n, buf, most, &got));
		if (out && made + got <= cap)
			memcpy(out + made, buf, got * sizeof *buf);
		made += got;
	}
	resample_free(r);
	free(in);
	free(buf);
	return made;
}

static void resample_row(void)
{
	static const uint32_t rates[] = {8000, 16000, 22050, 24000, 44100};
	static const double tones[] = {1000, 10000.0 / 3};
	static int16_t out[TO * TONE_S + TO];
	double worst = 1e9, samples[64];
	unsigned n = 0;
	int64_t drift = 0;

	for (unsigned r = 0; r < 5; r++) {
		const size_t chunks[] = {rates[r] / 1000, rates[r] * 7 / 1000, rates[r] / 50,
					 rates[r] * 24 / 100, 1001};

		for (unsigned t = 0; t < 2; t++) {
			for (unsigned c = 0; c < 5; c++) {
				uint64_t made = convert(rates[r], tones[t], chunks[c], TONE_S, out,
							sizeof out / sizeof *out);
				double db = snr(out + TO / 10, made - TO / 5, tones[t]);

				samples[n++] = db;
				if (db < worst)
					worst = db;
			}
		}
		drift += llabs((int64_t)convert(rates[r], tones[0], 1001, LONG_S, NULL, 0) -
			       (int64_t)TO * LONG_S);
	}
	bench_raw("resample_snr_db", samples, n);
	bench_row_more("resample_snr_db", worst, "dB",
		       "\"samples_lost_or_gained_in_10_min\": %lld, \"cases\": %u",
		       (long long)drift, n);
}

/* ---- loss ---- */

enum { PACKETS = 30000, LOSS_PERMILLE = 200, JITTER_MS = 100 };

struct arrival {
	uint64_t at;
	unsigned k;
};

static struct {
	uint64_t samples, concealed;
	uint32_t first, last;
	bool any;
} heard;

static void on_audio(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (ev->type != AUDIO_HEARD)
		return;
	if (!heard.any)
		heard.first = ev->rtp;
	heard.any = true;
	heard.last = ev->rtp + (uint32_t)ev->samples;
	heard.samples += ev->samples;
	if (ev->flags & MEDIA_HEARD_CONCEALED)
		heard.concealed += ev->samples;
}

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static unsigned bad_network(struct arrival *list)
{
	uint64_t seed = 20;
	unsigned n = 0;

	for (unsigned k = 0; k < PACKETS; k++) {
		bool lost = random_next(&seed) % 1000 < LOSS_PERMILLE;
		uint64_t delay = random_next(&seed) % (JITTER_MS * NS_PER_MS);

		/* The first and the last come, so that the time between is known. */
		if (!lost || k == 0 || k == PACKETS - 1)
			list[n++] = (struct arrival){.at = k * 20 * NS_PER_MS + delay, .k = k};
	}
	qsort(list, n, sizeof *list, by_time);
	return n;
}

static void loss_row(void)
{
	static struct arrival list[PACKETS];
	static uint8_t opus[50][400];
	int len[50], err;
	struct audio_decoder *dec;
	struct audio_speaker *spk;
	struct audio_stats st;
	OpusEncoder *enc = opus_encoder_create(TO, 1, OPUS_APPLICATION_VOIP, &err);
	unsigned n = bad_network(list);
	uint64_t tick = 0;
	double decoded, gone, made_up;

	if (!enc)
		bench_die("opus: %d", err);
	for (unsigned f = 0; f < 50; f++) {
		int16_t pcm[RTP_FRAME];

		for (unsigned i = 0; i < RTP_FRAME; i++)
			pcm[i] = (int16_t)tone_at(f * RTP_FRAME + i, 400, TO);
		len[f] = opus_encode(enc, pcm, RTP_FRAME, opus[f], sizeof opus[f]);
	}
	opus_encoder_destroy(enc);
	BENCH_OK(audio_speaker_alloc(&spk, 1, on_audio, NULL));
	BENCH_OK(audio_decoder_alloc(&dec, TO));
	BENCH_OK(audio_speaker_listen(spk, 1, TO, 5000, &dec, 0));
	for (unsigned i = 0; i < n; i++) {
		unsigned k = list[i].k;
		struct audio_packet pkt = {.seq = (uint16_t)k,
					   .ts = k * RTP_FRAME,
					   .level = 20,
					   .p = opus[k % 50],
					   .n = (size_t)len[k % 50]};

		for (; tick <= list[i].at; tick += 20 * NS_PER_MS)
			audio_speaker_tick(spk, tick);
		audio_speaker_put(spk, &pkt, list[i].at);
	}
	for (unsigned i = 0; i < 50; i++, tick += 20 * NS_PER_MS)
		audio_speaker_tick(spk, tick);
	audio_speaker_stats(spk, &st);
	audio_speaker_free(spk);
	decoded = (double)(heard.samples - heard.concealed) * 1000 / TO;
	made_up = (double)heard.concealed * 1000 / TO;
	gone = (double)(heard.last - heard.first) * 1000 / TO - decoded;
	bench_row_more("loss_gap_ms", fabs(made_up - gone), "ms",
		       "\"concealed_ms\": %.0f, \"not_there_ms\": %.0f, \"span_ms\": %.0f, "
		       "\"lost\": %llu, \"late\": %llu",
		       made_up, gone, (double)(heard.last - heard.first) * 1000 / TO,
		       (unsigned long long)st.lost, (unsigned long long)st.late);
}

int main(void)
{
	resample_row();
	loss_row();
	return 0;
}
