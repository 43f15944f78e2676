#include "mediad/audio/decode.h"

#include <errno.h>
#include <stdlib.h>

#include <opus/opus.h>

#include "proto/base/not_cleared.h"
#include "proto/rtp.h"
#include "proto/base/touch.h"

enum {
	PACKET_MAX = 5760, /* RTP time of 120 ms, the longest packet (RFC 6716 3.2.5) */
	PLC_STEP = 120,	   /* 2.5 ms: Opus conceals in multiples of it */
	PLC_MAX = AUDIO_PLC_MS * RTP_CLOCK / 1000,
	ZERO_FILL_MAX = AUDIO_ZERO_FILL_MS * RTP_CLOCK / 1000,
};

struct audio_decoder {
	OpusDecoder *dec;
	uint32_t rate;
	bool primed;
	uint32_t end;  /* RTP time after the last sample delivered */
	uint32_t last; /* duration of the last packet */
};

bool audio_rate_valid(uint32_t rate)
{
	return rate == 8000 || rate == 12000 || rate == 16000 || rate == 24000 || rate == 48000;
}

int audio_decoder_alloc(struct audio_decoder **out, uint32_t rate)
{
	struct audio_decoder *d;
	int err;

	if (!audio_rate_valid(rate))
		return EINVAL;
	d = calloc(1, sizeof *d);
	if (!d)
		return ENOMEM;
	touch_pages(d, sizeof *d);
	d->rate = rate;
	d->dec = opus_decoder_create((opus_int32)rate, 1, &err);
	if (!d->dec) {
		audio_decoder_free(d);
		return ENOMEM;
	}
	*out = d;
	return 0;
}

struct audio_decoder *audio_decoder_free(struct audio_decoder *d)
{
	if (!d)
		return NULL;
	if (d->dec)
		opus_decoder_destroy(d->dec);
	free(d);
	return NULL;
}

uint32_t audio_decoder_rate(const struct audio_decoder *d)
{
	return d->rate;
}

void audio_decoder_reset(struct audio_decoder *d)
{
	opus_decoder_ctl(d->dec, OPUS_RESET_STATE);
	d->primed = false;
}

static int samples_in(const struct audio_decoder *d, uint32_t rtp_time)
{
	return (int)(rtp_time / (RTP_CLOCK / d->rate));
}

/* Delivers n samples that begin at d->end, and advances d->end. */
static void deliver_frames(struct audio_decoder *d, const int16_t *pcm, int n, bool concealed,
			   decode_frame_h *h, void *arg)
{
	int frame = samples_in(d, RTP_FRAME);

	for (int at = 0; at < n; at += frame) {
		int k = n - at < frame ? n - at : frame;

		h(pcm + at, (size_t)k, d->end, concealed, arg);
		d->end += (uint32_t)k * (RTP_CLOCK / d->rate);
	}
}

/* Conceals `time` (at most PACKET_MAX, a multiple of PLC_STEP) by the FEC in p, or by PLC when n is
 * 0. */
static void conceal_time(struct audio_decoder *d, uint32_t time, const uint8_t *p, size_t n,
			 decode_frame_h *h, void *arg)
{
	int want = samples_in(d, time), got;
	int16_t pcm[PACKET_MAX] NOT_CLEARED;

	if (!time)
		return;
	got = opus_decode(d->dec, n ? p : NULL, (opus_int32)n, pcm, want, n ? 1 : 0);
	if (got < 0)
		got = opus_decode(d->dec, NULL, 0, pcm, want, 0);
	if (got != want) {
		memset(pcm, 0, (size_t)want * sizeof pcm[0]);
		got = want;
	}
	deliver_frames(d, pcm, got, true, h, arg);
}

static void fill_zeros(struct audio_decoder *d, uint32_t time, decode_frame_h *h, void *arg)
{
	static const int16_t zeros[PACKET_MAX];

	while (time) {
		uint32_t t = time < PACKET_MAX ? time : PACKET_MAX;

		deliver_frames(d, zeros, samples_in(d, t), true, h, arg);
		time -= t;
	}
}

/* Returns the RTP time missing between the last packet and one at ts, with `missing` numbers
 * between them. The RTP clock decides where it is plausible; where it stands still or jumps,
 * packets are counted. */
static uint32_t measure_gap(const struct audio_decoder *d, unsigned missing, uint32_t ts)
{
	uint32_t by_clock = ts - d->end;

	if (by_clock > 0 && by_clock <= (uint64_t)missing * PACKET_MAX)
		return by_clock - by_clock % PLC_STEP;
	return missing * d->last;
}

uint32_t audio_decoder_conceal(struct audio_decoder *d, unsigned missing, uint32_t ts,
			       const uint8_t *p, size_t n, decode_frame_h *h, void *arg)
{
	uint32_t time, from, redundant, zeros;

	if (!d->primed || !missing)
		return 0;
	time = measure_gap(d, missing, ts);
	if (time <= PLC_MAX) {
		conceal_time(d, time, p, n, h, arg);
		return time;
	}
	/* A long gap is filled by PLC, then zeros, then the FEC that the next packet carries about
	 * its predecessor. */
	from = d->end;
	redundant = n ? (uint32_t)opus_packet_get_samples_per_frame(p, RTP_CLOCK) : 0;
	zeros = time - PLC_MAX;
	if (zeros > ZERO_FILL_MAX - PLC_MAX)
		zeros = ZERO_FILL_MAX - PLC_MAX;
	conceal_time(d, PLC_MAX - redundant, NULL, 0, h, arg);
	fill_zeros(d, zeros, h, arg);
	d->end = from + time - redundant;
	conceal_time(d, redundant, p, n, h, arg);
	return PLC_MAX + zeros;
}

int audio_decoder_packet(struct audio_decoder *d, uint32_t ts, const uint8_t *p, size_t n,
			 decode_frame_h *h, void *arg)
{
	int16_t pcm[PACKET_MAX] NOT_CLEARED;
	int got = 0;

	d->end = ts;
	if (n)
		got = opus_decode(d->dec, p, (opus_int32)n, pcm, samples_in(d, PACKET_MAX), 0);
	if (got <= 0) {
		if (d->primed)
			conceal_time(d, d->last, NULL, 0, h, arg);
		return EBADMSG;
	}
	d->primed = true;
	d->last = (uint32_t)got * (RTP_CLOCK / d->rate);
	deliver_frames(d, pcm, got, false, h, arg);
	return 0;
}
