#include "tests/bench/speech.h"

#include "proto/rtp.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <opus/opus.h>
#include <stdlib.h>

/* Harmonics of a pitch that wanders, weighted by two formants that move from syllable to syllable;
 * every fourth syllable hisses; a breath between words. */
void speech_make(int16_t *pcm, size_t n, uint32_t rate, unsigned voice)
{
	double phase = 0, hiss = 0;
	uint32_t noise = 1 + voice;

	for (size_t i = 0; i < n; i++) {
		double t = (double)i / rate,
		       pitch = 110 + 15 * (voice % 7) + 12 * sin(2 * M_PI * 0.7 * t);
		unsigned syllable = (unsigned)(t * 5);
		double within = t * 5 - syllable,
		       loud = syllable % 9 == 8 ? 0.02 : sin(M_PI * within);
		double f1 = 350 + 100 * (syllable * 7 % 5), f2 = 1000 + 220 * (syllable * 3 % 6),
		       x = 0;

		phase += 2 * M_PI * pitch / rate;
		for (unsigned h = 1; h <= 24; h++) {
			double f = pitch * h, a = exp(-pow((f - f1) / 160, 2)) +
						  0.6 * exp(-pow((f - f2) / 250, 2)) + 0.03;

			x += a * sin(h * phase) / 3;
		}
		noise = noise * 1664525 + 1013904223;
		hiss = 0.4 * hiss + (double)(int32_t)noise / INT32_MAX;
		if (syllable % 4 == 3)
			x = 0.3 * hiss;
		pcm[i] = (int16_t)lrint(fmax(-32000, fmin(32000, 9000 * loud * x + 20 * hiss)));
	}
}

void speech_encode(struct speech_frame *out, unsigned n, unsigned voice)
{
	int16_t *pcm = calloc((size_t)n * RTP_FRAME, sizeof *pcm);
	OpusEncoder *enc;
	int err;

	enc = opus_encoder_create(RTP_CLOCK, 1, OPUS_APPLICATION_VOIP, &err);
	if (!enc || !pcm)
		bench_die("no encoder");
	opus_encoder_ctl(enc, OPUS_SET_BITRATE(64000));
	opus_encoder_ctl(enc, OPUS_SET_INBAND_FEC(1));
	opus_encoder_ctl(enc, OPUS_SET_PACKET_LOSS_PERC(5));
	speech_make(pcm, (size_t)n * RTP_FRAME, RTP_CLOCK, voice);
	for (unsigned f = 0; f < n; f++) {
		int k = opus_encode(enc, pcm + (size_t)f * RTP_FRAME, RTP_FRAME, out[f].p,
				    sizeof out[f].p);

		if (k <= 2)
			bench_die("opus_encode: %d", k);
		out[f].n = (uint16_t)k;
	}
	opus_encoder_destroy(enc);
	free(pcm);
}
