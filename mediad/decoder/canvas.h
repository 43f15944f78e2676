/* Brings decoded frames of any size and layout of planes to one that is encoded: YUV 4:2:0 of 8
 * bits in limited range, upright, with square pixels, of one size throughout. */
#ifndef MEDIAD_DECODER_CANVAS_H
#define MEDIAD_DECODER_CANVAS_H

#include <libavutil/rational.h>

struct AVFrame;
struct canvas;

struct canvas_conf {
	int max_long, max_short; /* sides of the canvas, at most */
	AVRational aspect;	 /* of a pixel; 0/1: square */
	unsigned quarters;	 /* turns clockwise */
};

/* The first frame decides the size. ENOTSUP: its layout is none that is drawn; ENOMEM. Caller owns
 * *out. */
int canvas_alloc(struct canvas **out, const struct canvas_conf *conf, const struct AVFrame *first);
struct canvas *canvas_free(struct canvas *c);
int canvas_width(const struct canvas *c);
int canvas_height(const struct canvas *c);
/* *out: the frame to be encoded: the canvas's own, until the next call, or `in` itself where
 * nothing has to change. ENOTSUP, ENOMEM. */
int canvas_draw(struct canvas *c, struct AVFrame *in, struct AVFrame **out);

#endif
