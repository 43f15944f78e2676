#include "mediad/audio/encoder.h"

#include <errno.h>
#include <stdlib.h>

#include <opus/opus.h>

#include "proto/base/not_cleared.h"

enum { RATE = 48000 };

struct encoder {
	OpusEncoder *enc;
	unsigned channels;
	double loss; /* percent */
	uint32_t bitrate, music_bitrate;
	bool music;
	bool independent; /* the next packet is */
	unsigned set_loss_percent, complexity;
	bool lossy, fec_forbidden; /* lossy: loss calls for FEC */
	bool fec, voice, dtx;	   /* as set in Opus */
};

/* ---- mode ---- */

/* Chooses hybrid mode when FEC is used, or at low bitrates, where SILK sounds better; CELT
 * otherwise, and for music. */
static void select_mode(struct encoder *e, bool lossy)
{
	bool fec = lossy && !e->fec_forbidden && !e->music;
	bool voice = fec || (!e->music && e->bitrate < ENCODER_CELT_RATE);

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

static uint32_t clamp_bitrate(uint32_t bitrate)
{
	if (bitrate < ENCODER_BITRATE_MIN)
		return ENCODER_BITRATE_MIN;
	return bitrate > ENCODER_BITRATE_MAX ? ENCODER_BITRATE_MAX : bitrate;
}

static void apply_bitrate(struct encoder *e)
{
	uint32_t bitrate = e->music ? e->music_bitrate : e->bitrate;

	opus_encoder_ctl(e->enc, OPUS_SET_BITRATE((opus_int32)bitrate));
	select_mode(e, e->lossy);
}

void encoder_set_bitrate(struct encoder *e, uint32_t bitrate)
{
	e->bitrate = clamp_bitrate(bitrate);
	apply_bitrate(e);
}

void encoder_set_music_bitrate(struct encoder *e, uint32_t bitrate)
{
	e->music_bitrate = clamp_bitrate(bitrate);
	apply_bitrate(e);
}

void encoder_set_music(struct encoder *e, bool music)
{
	if (music == e->music)
		return;
	e->music = music;
	opus_encoder_ctl(e->enc, OPUS_SET_FORCE_CHANNELS(music ? 2 : 1));
	apply_bitrate(e);
}

void encoder_copy_settings(struct encoder *e, const struct encoder *from)
{
	encoder_set_bitrate(e, from->bitrate);
	encoder_set_complexity(e, from->complexity);
	e->lossy = from->lossy;
	set_loss(e, from->loss);
	encoder_forbid_fec(e, from->fec_forbidden);
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

static int alloc_with_channels(struct encoder **out, unsigned channels, uint32_t bitrate)
{
	struct encoder *e = calloc(1, sizeof *e);
	int err = 0;

	if (!e)
		return ENOMEM;
	e->channels = channels;
	e->enc = opus_encoder_create(RATE, (int)channels, OPUS_APPLICATION_AUDIO, &err);
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

int encoder_alloc(struct encoder **out, uint32_t bitrate)
{
	return alloc_with_channels(out, 1, bitrate);
}

int encoder_alloc_stereo(struct encoder **out, uint32_t music_bitrate)
{
	struct encoder *e = NULL;
	int err = alloc_with_channels(&e, 2, ENCODER_MUSIC_BITRATE);

	if (err)
		return err;
	opus_encoder_ctl(e->enc, OPUS_SET_FORCE_CHANNELS(1));
	encoder_set_music_bitrate(e, music_bitrate);
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

static bool is_quiet_frame(const struct encoder *e, const int16_t *pcm)
{
	int peak = 0;

	for (unsigned i = 0; i < e->channels * ENCODER_FRAME; i++) {
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

static void set_independent(struct encoder *e, bool independent)
{
	if (independent != e->independent)
		opus_encoder_ctl(e->enc, OPUS_SET_PREDICTION_DISABLED(independent));
	e->independent = independent;
}

static size_t encode(struct encoder *e, const int16_t *pcm, uint8_t out[ENCODER_OPUS_MAX])
{
	opus_int32 n = opus_encode(e->enc, pcm, ENCODER_FRAME, out, ENCODER_OPUS_MAX);

	return n > 0 ? (size_t)n : 0;
}

void encoder_take_over(struct encoder *e, const int16_t *before)
{
	uint8_t dropped[ENCODER_OPUS_MAX] NOT_CLEARED;

	encoder_reset(e);
	set_dtx(e, false);
	set_independent(e, true);
	encode(e, before, dropped);
}

size_t encoder_run(struct encoder *e, const int16_t *pcm, uint8_t out[ENCODER_OPUS_MAX])
{
	size_t n;

	set_dtx(e, !e->music && is_quiet_frame(e, pcm));
	n = encode(e, pcm, out);
	set_independent(e, false);
	return n;
}
