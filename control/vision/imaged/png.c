#include <stddef.h>

#include <png.h>

#include "control/vision/imaged/decode.h"

/* The simplified interface of libpng reads interlaced pictures, palettes and 16 bits by itself; its
 * limits on chunks hold. */
void decode_png(struct slice in, const struct image_header *h, struct pixels *out)
{
	png_image image = {.version = PNG_IMAGE_VERSION};

	if (!png_image_begin_read_from_memory(&image, in.p, in.n))
		decode_fail(IMAGE_DAMAGED);
	if (image.width != h->width || image.height != h->height)
		decode_fail(IMAGE_DAMAGED);
	image.format = PNG_FORMAT_RGBA;
	*out = (struct pixels){image.width, image.height, 4, decode_alloc(PNG_IMAGE_SIZE(image))};
	if (!png_image_finish_read(&image, NULL, out->p, 0, NULL))
		decode_fail(IMAGE_DAMAGED);
}
