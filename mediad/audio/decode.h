/* One speaker's Opus stream at one rate: packets and losses in order become PCM in frames of 20 ms
 * or less.
 *
 * Owned by whoever holds the decoder (see receive.h). Only audio_decoder_alloc allocates. */
#ifndef MEDIAD_AUDIO_DECODE_H
#define MEDIAD_AUDIO_DECODE_H

#include "mediad/audio/receive.h"

/* n samples (at most 20 ms at the decoder's rate) from RTP time `rtp` on; borrowed until return. */
typedef void(decode_frame_h)(const int16_t *pcm, size_t n, uint32_t rtp, bool concealed, void *arg);

uint32_t audio_decoder_rate(const struct audio_decoder *d);
/* Forgets the stream: the next packet is a first one. */
void audio_decoder_reset(struct audio_decoder *d);

/* `missing` packets were lost before this one (RTP time ts, n bytes; n 0 when it is malformed too):
 * makes up for exactly the time between, as receive.h says. Returns the RTP time made up for. */
uint32_t audio_decoder_conceal(struct audio_decoder *d, unsigned missing, uint32_t ts,
			       const uint8_t *p, size_t n, decode_frame_h *h, void *arg);
/* The next packet. n 0, or what Opus refuses, is concealed for the duration of the one before
 * (EBADMSG). */
int audio_decoder_packet(struct audio_decoder *d, uint32_t ts, const uint8_t *p, size_t n,
			 decode_frame_h *h, void *arg);

#endif
