/* An Opus encoder of one call: 20 ms at 48 kHz become one packet.
 *
 * That of speech is mono. That of music takes stereo; while no music sounds it is forced to one
 * channel and works as the mono one does, a little slower. Music is CELT alone, without FEC and
 * DTX, at a bitrate of its own.
 *
 * The expected packet loss follows receiver reports: a higher value moves it half the way at once,
 * a lower one an eighth. Without a report it is ENCODER_LOSS. In-band FEC costs bits, so it is off
 * while loss is close to none.
 *
 * Only SILK has in-band FEC, and SILK costs three times the CPU of CELT. Packets are therefore
 * hybrid while FEC is on or the bitrate is low, and CELT alone otherwise. Forbidding FEC is the
 * last saving of an overloaded thread.
 *
 * DTX is used in pauses only. Opus takes any steady sound for noise after a second, even a loud
 * tone, so DTX is enabled only for frames below ENCODER_DTX_LEVEL.
 *
 * Made and freed by the loop thread, used by an audio thread. Only encoder_alloc allocates. */
#ifndef MEDIAD_AUDIO_ENCODER_H
#define MEDIAD_AUDIO_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ENCODER_FRAME = 960,
	ENCODER_OPUS_MAX = 1275,
	/* A packet of at most this size is a DTX packet (RFC 6716 2.1.9) and need not be sent. */
	ENCODER_DTX_MAX = 2,
	ENCODER_DTX_LEVEL = 104, /* peak of a frame in which DTX may be used: -50 dBFS */
	ENCODER_BITRATE_MIN = 8000,
	ENCODER_BITRATE_MAX = 384000,
	ENCODER_MUSIC_BITRATE = 128000,
	ENCODER_CELT_RATE = 48000, /* from this bitrate on CELT alone is as good for a voice */
	ENCODER_COMPLEXITY = 5,
	ENCODER_COMPLEXITY_MAX = 10,
	ENCODER_LOSS = 5, /* percent */
	ENCODER_LOSS_MAX = 30,
	ENCODER_FEC_ON = 2,  /* percent: FEC is switched on at this loss */
	ENCODER_FEC_OFF = 1, /* and off below this one */
};

struct encoder;

/* bitrate in bit/s, clamped to the limits above. Returns ENOMEM. The caller owns *out. */
int encoder_alloc(struct encoder **out, uint32_t bitrate);
/* The same with stereo input and a bitrate for music. */
int encoder_alloc_stereo(struct encoder **out, uint32_t music_bitrate);
struct encoder *encoder_free(struct encoder *e);
/* Gives e the settings of another one: bitrate of speech, complexity, loss, FEC forbidden. */
void encoder_copy_settings(struct encoder *e, const struct encoder *from);

void encoder_set_bitrate(struct encoder *e, uint32_t bitrate);
/* Of a stereo encoder: music sounds, or does not any more. Opus makes the change without a click.
 */
void encoder_set_music(struct encoder *e, bool music);
void encoder_set_music_bitrate(struct encoder *e, uint32_t bitrate);
/* 0..ENCODER_COMPLEXITY_MAX, clamped. */
void encoder_set_complexity(struct encoder *e, unsigned complexity);
/* Keeps FEC off whatever loss is reported. */
void encoder_forbid_fec(struct encoder *e, bool forbidden);
/* A receiver reports the loss of so many 256ths. */
void encoder_report_loss(struct encoder *e, uint8_t fraction);
/* The receivers that reported are gone. */
void encoder_forget_loss(struct encoder *e);
unsigned encoder_complexity(const struct encoder *e);
/* The expected loss in percent, as set in Opus. */
unsigned encoder_loss(const struct encoder *e);
/* True if FEC is on. */
bool encoder_fec(const struct encoder *e);

/* Forgets the stream; the next frame counts as the first one. */
void encoder_reset(struct encoder *e);
/* Samples of delay inside the encoder. */
size_t encoder_lookahead(const struct encoder *e);
/* Continues the stream of another encoder: `before` is the frame that that one encoded last. The
 * next packet depends on no packet before it. */
void encoder_take_over(struct encoder *e, const int16_t *before);
/* Encodes one frame of ENCODER_FRAME samples of each channel, interleaved. Returns the size of the
 * packet, or 0 when Opus fails. */
size_t encoder_run(struct encoder *e, const int16_t *pcm, uint8_t out[ENCODER_OPUS_MAX]);

#endif
