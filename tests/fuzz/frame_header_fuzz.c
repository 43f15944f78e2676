/* Headers of key frames, the first byte says of which codec: whatever the bytes are, a size that is
 * told is within the limits. */
#include <stdint.h>
#include <stdlib.h>

#include "control/vision/core/frame_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_header h = {0};

	if (!size || frame_header_read(&h, (enum frame_codec)(1 + data[0] % 3), data + 1,
				       size - 1) != IMAGE_OK)
		return 0;
	if (h.kind != IMAGE_KEY_FRAME || !h.width || !h.height || h.width > IMAGE_SIDE_MAX ||
	    h.height > IMAGE_SIDE_MAX || (uint64_t)h.width * h.height > FRAME_PIXELS_MAX)
		abort();
	return 0;
}
