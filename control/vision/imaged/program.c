#include "control/vision/imaged/program.h"

#include "control/vision/imaged/decode.h"

static void decode_picture(struct slice in, const struct image_header *h,
			   const struct image_limits *limits, struct pixels *out)
{
	if (h->kind == IMAGE_JPEG)
		decode_jpeg(in, h, limits->side, out);
	else if (h->kind == IMAGE_PNG)
		decode_png(in, h, out);
	else if (h->kind == IMAGE_WEBP)
		decode_webp(in, h, out);
	else
		decode_fail(IMAGE_UNSUPPORTED);
}

const struct image_program image_program = {
	.name = "imaged", .what = "JPEG, PNG and WebP pictures", .decode = decode_picture};
