/* The Opus encoder of one call: 20 ms of mono at 48 kHz become one packet.
 *
 * What it expects to be lost follows what receivers report: a report that tells of more counts at
 * once, half, one that tells of less an eighth. In-band FEC costs bits, so it is off while next to
 * nothing is lost. Without a report it expects ENCODER_LOSS.
 *
 * Only SILK has in-band FEC, and it costs three times what CELT does. So packets are hybrid while
 * redundancy is wanted or the rate is low, and CELT alone else. What is plain does without
 * redundancy: the last thing that a busy thread gives up.
 *
 * DTX is for pauses alone. Opus takes whatever is steady for noise after a second, a loud tone too,
 * so it may only look for pauses in frames below ENCODER_QUIET.
 *
 * Made and freed by the loop thread, used by an audio thread; only encoder_alloc allocates. */
#ifndef MEDIAD_AUDIO_ENCODER_H
#define MEDIAD_AUDIO_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ENCODER_FRAME = 960,
	ENCODER_OPUS_MAX = 1275,
	ENCODER_DTX_MAX =
		2, /* packets so short say "nothing new" (RFC 6716 2.1.9) and need not be sent */
	ENCODER_QUIET = 104, /* -50 dBFS: what stays below may be found to be nothing new */
	ENCODER_BITRATE_MIN = 8000,
	ENCODER_BITRATE_MAX = 384000,
	ENCODER_CELT_RATE = 48000, /* from here on CELT alone is as good for a voice */
	ENCODER_COMPLEXITY = 5,
	ENCODER_COMPLEXITY_MAX = 10,
	ENCODER_LOSS = 5, /* percent */
	ENCODER_LOSS_MAX = 30,
	ENCODER_FEC_ON = 2,  /* percent and more */
	ENCODER_FEC_OFF = 1, /* less than this */
};

struct encoder;

/* bitrate in bit/s, cut to the limits above. ENOMEM. Caller owns *out. */
int encoder_alloc(struct encoder **out, uint32_t bitrate);
struct encoder *encoder_free(struct encoder *e);

void encoder_set_bitrate(struct encoder *e, uint32_t bitrate);
/* 0..ENCODER_COMPLEXITY_MAX, cut. */
void encoder_set_complexity(struct encoder *e, unsigned complexity);
/* No redundancy, whatever is lost. */
void encoder_set_plain(struct encoder *e, bool plain);
/* A receiver reports that so many 256ths were lost. */
void encoder_lost(struct encoder *e, uint8_t fraction);
/* Those who reported are gone. */
void encoder_forget_loss(struct encoder *e);
unsigned encoder_complexity(const struct encoder *e);
/* Percent, as told to Opus, and whether it adds redundancy. */
unsigned encoder_loss(const struct encoder *e);
bool encoder_fec(const struct encoder *e);

/* The next frame is a first one. */
void encoder_reset(struct encoder *e);
/* Samples the encoder holds back. */
size_t encoder_lookahead(const struct encoder *e);
/* How many bytes the packet has; 0 when the codec fails. */
size_t encoder_run(struct encoder *e, const int16_t pcm[ENCODER_FRAME],
		   uint8_t out[ENCODER_OPUS_MAX]);

#endif
