/* A film of encoded frames, read from a file: H.264 in Annex B (.h264), or VP8 and AV1 in IVF. */
#ifndef TESTS_GOLIVE_FILM_H
#define TESTS_GOLIVE_FILM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/media.h"

struct film_frame {
	uint8_t *bytes;
	size_t n;
	bool key;
};

struct film {
	struct film_frame *frames;
	size_t n;
};

/* Start codes of H.264 get four bytes, and AV1 loses its temporal delimiters and the size
 * of its last unit, as on the wire.
 * Returns ENOENT, EBADMSG, ENOMEM. */
int film_read(struct film *out, enum media_video_codec codec, const char *path);
void film_free(struct film *f);

#endif
