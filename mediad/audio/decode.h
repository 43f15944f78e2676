/* Decodes one speaker's Opus stream at one rate: packets and losses in sequence order become PCM
 * frames of at most 20 ms, with packet loss concealment (PLC) and in-band FEC.
 *
 * The owner of the decoder is described in receive.h. Only audio_decoder_alloc allocates. RTP time
 * counts at 48 kHz. */
#ifndef MEDIAD_AUDIO_DECODE_H
#define MEDIAD_AUDIO_DECODE_H

#include "mediad/audio/receive.h"

/* Receives n samples (at most 20 ms at the decoder's rate) that begin at RTP time `rtp`. pcm is
 * borrowed until return. */
typedef void(decode_frame_h)(const int16_t *pcm, size_t n, uint32_t rtp, bool concealed, void *arg);

uint32_t audio_decoder_rate(const struct audio_decoder *d);
/* Forgets the stream; the next packet counts as the first one. */
void audio_decoder_reset(struct audio_decoder *d);

/* Conceals the loss of `missing` packets before the packet p (RTP time ts, n bytes; n 0 when it is
 * malformed too), for exactly the duration that is missing, as receive.h says. Returns the RTP time
 * concealed. */
uint32_t audio_decoder_conceal(struct audio_decoder *d, unsigned missing, uint32_t ts,
			       const uint8_t *p, size_t n, decode_frame_h *h, void *arg);
/* Decodes the next packet. If n is 0, or Opus refuses the packet, its time is concealed for the
 * duration of the packet before, and EBADMSG is returned. */
int audio_decoder_packet(struct audio_decoder *d, uint32_t ts, const uint8_t *p, size_t n,
			 decode_frame_h *h, void *arg);

#endif
