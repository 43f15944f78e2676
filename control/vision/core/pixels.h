/* Raw pixels, made smaller by averages over the area of each new pixel. Pure. */
#ifndef CONTROL_VISION_CORE_PIXELS_H
#define CONTROL_VISION_CORE_PIXELS_H

#include <stddef.h>
#include <stdint.h>

struct pixels {
	uint32_t width, height;
	unsigned channels; /* 1: brightness; 3: red, green, blue; 4: with opacity */
	uint8_t *p;	   /* rows without padding */
};

/* The size at which the longer side is at most `side`; never larger than it was. */
void pixels_fit(uint32_t width, uint32_t height, unsigned side, uint32_t *out_width,
		uint32_t *out_height);
/* Averages into to->p, which has room for to->width × to->height pixels of red, green and blue;
 * what is not opaque lies on white. from has 3 or 4 channels, and is not smaller. */
void pixels_shrink(const struct pixels *from, struct pixels *to);
/* The same to one channel of brightness (ITU-R BT.601), from 3 channels. */
void pixels_shrink_to_grey(const struct pixels *from, struct pixels *to);

#endif
