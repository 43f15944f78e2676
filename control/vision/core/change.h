/* What has changed on a screen since its last keyframe: the share of the picture's blocks that
 * differ, and the distance of the histograms. Pure.
 *
 * A block differs if its pixels differ by BLOCK_DIFFERENCE on average, so noise of the encoder does
 * not count. Changes at no more than three places of 2 × 2 blocks are a pointer that moved and a
 * cursor that blinks, and no change, unless what differs has the shape of letters: a word of
 * three letters and more, a number of as many digits. */
#ifndef CONTROL_VISION_CORE_CHANGE_H
#define CONTROL_VISION_CORE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/image_wire.h"

enum { CHANGE_BLOCK = 8, CHANGE_BINS = 32, CHANGE_BLOCK_DIFFERENCE = 4, CHANGE_WHOLE = 1000 };

/* Shares of the picture in thousandths, times in ns. */
struct change_rules {
	unsigned threshold; /* a change of this is a keyframe, at once */
	unsigned floor;	    /* one of this is a keyframe after slow */
	uint64_t least;	    /* between two keyframes */
	uint64_t slow;
};

enum change_kind {
	CHANGE_NONE,  /* not enough for a keyframe */
	CHANGE_SMALL, /* a keyframe, after a while */
	CHANGE_LARGE, /* a keyframe */
	CHANGE_FIRST, /* a keyframe, because there was none of this size */
};

struct change {
	uint8_t *key; /* the keyframe's brightness; NULL: there is none */
	uint32_t width, height;
	uint64_t at; /* of the keyframe */
};

/* A picture of at most IMAGE_GREY_SIDE a side. */
struct change_picture {
	const uint8_t *grey;
	uint32_t width, height;
	uint64_t at; /* ns */
};

struct change_found {
	enum change_kind kind;
	unsigned share; /* how much of the picture differs, in thousandths */
};

/* Compares a picture, and keeps it if it is a keyframe. ENOMEM: nothing has changed. */
int change_feed(struct change *c, const struct change_rules *rules, const struct change_picture *p,
		struct change_found *found);
/* Wipes the keyframe. */
void change_clear(struct change *c);

#endif
