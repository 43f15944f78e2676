/* Headers of pictures: whatever the bytes are, a size that is told is within the limits. */
#include <stdint.h>
#include <stdlib.h>

#include "control/vision/core/image_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_header h = {0};

	if (image_header_read(&h, data, size) != IMAGE_OK)
		return 0;
	if (h.kind >= IMAGE_KINDS || !h.width || !h.height || h.width > IMAGE_SIDE_MAX ||
	    h.height > IMAGE_SIDE_MAX || (uint64_t)h.width * h.height > IMAGE_PIXELS_MAX)
		abort();
	return 0;
}
