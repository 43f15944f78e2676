#include <stddef.h>

#include <webp/decode.h>

#include "control/vision/imaged/decode.h"

void decode_webp(struct slice in, const struct image_header *h, struct pixels *out)
{
	size_t n = (size_t)h->width * h->height * 4;
	WebPBitstreamFeatures features;

	if (WebPGetFeatures(in.p, in.n, &features) != VP8_STATUS_OK ||
	    features.width != (int)h->width || features.height != (int)h->height)
		decode_fail(IMAGE_DAMAGED);
	if (features.has_animation)
		decode_fail(IMAGE_UNSUPPORTED);
	*out = (struct pixels){h->width, h->height, 4, decode_alloc(n)};
	if (!WebPDecodeRGBAInto(in.p, in.n, out->p, n, (int)h->width * 4))
		decode_fail(IMAGE_DAMAGED);
}
