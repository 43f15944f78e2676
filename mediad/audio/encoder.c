#include "mediad/audio/encoder.h"

#include <errno.h>
#include <stdlib.h>

#include <opus/opus.h>

enum { RATE = 48000 };

struct encoder {
	OpusEncoder *enc;
	double loss; /* percent */
	uint32_t bitrate;
	unsigned set_loss_percent, complexity;
	bool lossy, fec_forbidden; /* lossy: loss calls for FEC */
	bool fec, voice, dtx;	   /* as set in Opus */
};

/* ---- mode ---- */

/* Chooses hybrid mode when FEC is used, or at low bitrates, where SILK sounds better; CELT
 * otherwise. */
static void select_mode(struct encoder *e, bool lossy)
{
	bool fec = lossy && !e->fec_forbidden, voice = fec || e->bitrate < ENCODER_CELT_RATE;

	if (fec != e->fec)
		opus_encoder_ctl(e->enc, OPUS_SET_INBAND_FEC(fec));
	if (voice != e->voice)
		opus_encoder_ctl(e->enc,
				 OPUS_SET_SIGNAL(voice ? OPUS_SIGNAL_VOICE : OPUS_SIGNAL_MUSIC));
	e->lossy = lossy;
	e->fec = fec;
	e->voice = voice;
}

/* ---- expected loss ---- */

static void set_loss(struct encoder *e, double loss)
{
	unsigned percent = (unsigned)((loss > ENCODER_LOSS_MAX ? ENCODER_LOSS_MAX : loss) + 0.5);

	e->loss = loss;
	select_mode(e, loss >= ENCODER_FEC_ON || (e->lossy && loss >= ENCODER_FEC_OFF));
	if (percent != e->set_loss_percent)
		opus_encoder_ctl(e->enc, OPUS_SET_PACKET_LOSS_PERC((opus_int32)percent));
	e->set_loss_percent = percent;
}

void encoder_report_loss(struct encoder *e, uint8_t fraction)
{
	double d = fraction * 100.0 / 256 - e->loss;

	set_loss(e, e->loss + d / (d > 0 ? 2 : 8));
}

void encoder_forget_loss(struct encoder *e)
{
	set_loss(e, ENCODER_LOSS);
}

unsigned encoder_loss(const struct encoder *e)
{
	return e->set_loss_percent;
}

bool encoder_fec(const struct encoder *e)
{
	return e->fec;
}

/* ---- settings ---- */

void encoder_set_bitrate(struct encoder *e, uint32_t bitrate)
{
	if (bitrate < ENCODER_BITRATE_MIN)
		bitrate = ENCODER_BITRATE_MIN;
	if (bitrate > ENCODER_BITRATE_MAX)
		bitrate = ENCODER_BITRATE_MAX;
	opus_encoder_ctl(e->enc, OPUS_SET_BITRATE((opus_int32)bitrate));
	e->bitrate = bitrate;
	select_mode(e, e->lossy);
}

void encoder_forbid_fec(struct encoder *e, bool fec_forbidden)
{
	e->fec_forbidden = fec_forbidden;
	select_mode(e, e->lossy);
}

void encoder_set_complexity(struct encoder *e, unsigned complexity)
{
	if (complexity > ENCODER_COMPLEXITY_MAX)
		complexity = ENCODER_COMPLEXITY_MAX;
	if (complexity != e->complexity)
		opus_encoder_ctl(e->enc, OPUS_SET_COMPLEXITY((opus_int32)complexity));
	e->complexity = complexity;
}

unsigned encoder_complexity(const struct encoder *e)
{
	return e->complexity;
}

int encoder_alloc(struct encoder **out, uint32_t bitrate)
{
	struct encoder *e = calloc(1, sizeof *e);
	int err = 0;

	if (!e)
		return ENOMEM;
	e->enc = opus_encoder_create(RATE, 1, OPUS_APPLICATION_AUDIO, &err);
	if (!e->enc) {
		encoder_free(e);
		return ENOMEM;
	}
	/* Measured on synthetic speech at 64 kbit/s: AUDIO keeps the waveform (correlation
	 * 0.98-0.99), VOIP's filters do not (0.88-0.93). */
	e->complexity = ENCODER_COMPLEXITY_MAX +
			1; /* unlike any valid value, so that the first one is set */
	encoder_set_complexity(e, ENCODER_COMPLEXITY);
	encoder_forget_loss(e);
	encoder_set_bitrate(e, bitrate);
	*out = e;
	return 0;
}

struct encoder *encoder_free(struct encoder *e)
{
	if (!e)
		return NULL;
	if (e->enc)
		opus_encoder_destroy(e->enc);
	free(e);
	return NULL;
}

/* ---- encoding ---- */

void encoder_reset(struct encoder *e)
{
	opus_encoder_ctl(e->enc, OPUS_RESET_STATE);
}

size_t encoder_lookahead(const struct encoder *e)
{
	opus_int32 n = 0;

	opus_encoder_ctl(e->enc, OPUS_GET_LOOKAHEAD(&n));
	return (size_t)n;
}

static bool is_quiet_frame(const int16_t pcm[ENCODER_FRAME])
{
	int peak = 0;

	for (unsigned i = 0; i < ENCODER_FRAME; i++) {
		int x = pcm[i] < 0 ? -pcm[i] : pcm[i];

		peak = x > peak ? x : peak;
	}
	return peak < ENCODER_DTX_LEVEL;
}

static void set_dtx(struct encoder *e, bool dtx)
{
	if (dtx != e->dtx)
		opus_encoder_ctl(e->enc, OPUS_SET_DTX(dtx));
	e->dtx = dtx;
}

size_t encoder_run(struct encoder *e, const int16_t pcm[ENCODER_FRAME],
		   uint8_t out[ENCODER_OPUS_MAX])
{
	opus_int32 n;

	set_dtx(e, is_quiet_frame(pcm));
	n = opus_encode(e->enc, pcm, ENCODER_FRAME, out, ENCODER_OPUS_MAX);

	return n > 0 ? (size_t)n : 0;
}
