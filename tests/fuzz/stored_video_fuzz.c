/* Frames of stored video, and the record of H.264 before them: the first byte says of which codec,
 * the second how long the record is. Whatever the bytes are, what comes out is bounded, an H.264
 * frame is units of Annex B that RTP knows, and the same again for the same frame. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/video/stored.h"

enum { CAP = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_units(const uint8_t *p, size_t n)
{
	static const uint8_t code[] = {0, 0, 0, 1};

	if (n && (n < 5 || memcmp(p, code, sizeof code) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[CAP], again[CAP];
	static struct stored_video s;
	struct slice config, frame;
	size_t n, n_again;
	bool key, key_again;

	if (size < 2 || data[1] > size - 2)
		return 0;
	config = (struct slice){data + 2, data[1]};
	frame = (struct slice){data + 2 + data[1], size - 2 - data[1]};
	if (stored_video_set(&s, (enum video_codec)(1 + data[0] % 3), config))
		return 0;
	if (s.n_parameters > sizeof s.parameters)
		abort();
	if (stored_video_write(&s, frame, out, sizeof out, &n, &key))
		return 0;
	if (n > sizeof out ||
	    stored_video_write(&s, frame, again, sizeof again, &n_again, &key_again))
		abort();
	if (n != n_again || key != key_again || memcmp(out, again, n) != 0)
		abort();
	if (s.codec == VIDEO_H264)
		check_units(out, n);
	return 0;
}
