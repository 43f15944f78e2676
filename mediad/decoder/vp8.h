/* An encoder of VP8 for streams: libav's libvpx, in real time and on this thread. No frame waits
 * for later ones: what is given comes out at once. */
#ifndef MEDIAD_DECODER_VP8_H
#define MEDIAD_DECODER_VP8_H

#include <stdbool.h>

struct AVCodecContext;

enum { VP8_CLOCK = 1000000 }; /* Hz, of timestamps */

struct vp8_conf {
	int width, height;
	unsigned fps, bitrate; /* frames and bits per second */
	unsigned gop;	       /* frames from one key frame to the next, at most */
	bool even;	       /* the bitrate holds for each second, not on the average */
};

/* Frames are YUV 4:2:0 of 8 bits. Returns ENOTSUP where libav lacks the encoder, ENOMEM. Caller
 * owns *out: avcodec_free_context. */
int vp8_open(struct AVCodecContext **out, const struct vp8_conf *conf);

#endif
