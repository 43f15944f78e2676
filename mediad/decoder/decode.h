/* Decodes a source with libav, a packet at a time.
 *
 * libav finds the format among an allow-list of demuxers and decoders and opens nothing by itself.
 * The sound becomes stereo int16 at 48 kHz, without the encoder delay and padding that the file
 * declares. Several may read the same file; each has a place of its own in it. */
#ifndef MEDIAD_DECODER_DECODE_H
#define MEDIAD_DECODER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct decode;

struct decode_conf {
	int fd; /* a file, or a fetcher's socket; borrowed */
	enum decoder_source_kind kind;
	bool rough; /* a seek may end beside its place, and is fast */
	/* Called with the frame of the track at which the sound begins, before the first sound and
	 * before the first one after each seek. */
	void (*placedh)(uint64_t start, void *arg);
	/* Gets decoded frames, borrowed until return. */
	void (*pcmh)(const int16_t *pcm, size_t frames, void *arg);
	/* The source tells other tags in its middle, as a station in Ogg does with each song: what
	 * decode_tags gives has changed, and is forgotten on return, as after placedh. NULL: nobody
	 * wants to know. */
	void (*tagsh)(void *arg);
	void *arg;
};

/* Once per process, before the jail and the forks: loads what libav would load from files later,
 * and computes the tables of the decoders, which children share. */
void decode_prepare(void);
/* Opens the source at its beginning. Returns DECODER_REASON_UNKNOWN on success, otherwise the
 * reason of the failure. Caller owns *out. */
enum decoder_reason decode_open(struct decode **out, const struct decode_conf *conf);
struct decode *decode_free(struct decode *d);

/* Goes on at this frame; far into an MP3 file of the web that has several rates, some seconds
 * beside it. DECODER_REASON_UNKNOWN, or NOT_SEEKABLE. */
enum decoder_reason decode_seek(struct decode *d, uint64_t frame);
/* Decodes one packet. DECODER_REASON_UNKNOWN: more may follow; END after the last one; otherwise
 * the reason of a failure. */
enum decoder_reason decode_step(struct decode *d);

/* Frames of the whole track; 0: unknown. */
uint64_t decode_duration(const struct decode *d);
/* True if the duration is a guess: the source does not tell it. */
bool decode_guesses(const struct decode *d);
bool decode_seekable(const struct decode *d);
/* Fills the texts and levels of *out. */
void decode_tags(const struct decode *d, struct decoder_opened *out);

#endif
