/* Whether a stream can send the video of a source as it is stored, by what its container says.
 *
 * A viewer of a stream shows each frame when it comes, so frames have to be stored in the order in
 * which they are shown; nothing is seen before a key frame; and nothing turns the picture. */
#ifndef MEDIAD_DECODER_SENDABLE_H
#define MEDIAD_DECODER_SENDABLE_H

#include <stdbool.h>
#include <stdint.h>

struct AVFormatContext;
struct AVStream;

enum {
	SENDABLE_SIDE = 4096,
	SENDABLE_PIXELS = 1920 * 1088,
	SENDABLE_FPS = 60,
	SENDABLE_BITRATE = 20000000,	   /* on the average, bit/s */
	SENDABLE_BITRATE_PEAK = 50000000,  /* in any second, as far as a table of frames tells */
	SENDABLE_FRAME = (1 << 20) - 8192, /* bytes: parameters are added to key frames */
	SENDABLE_KEY_S = 20,		   /* from one key frame to the next */
};

/* Turns clockwise, in quarters, by which the picture has to be shown. */
unsigned sendable_quarters(const struct AVStream *s);
/* True if a table of the container tells the order of all frames. */
bool sendable_order_is_told(const struct AVFormatContext *fmt, const struct AVStream *s);
/* bitrate: on the average; 0: not known. The codec is one that streams send. */
bool sendable(const struct AVFormatContext *fmt, struct AVStream *s, uint64_t bitrate);

#endif
