#include "control/vision/core/image_wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"

enum { NUMBERS_MAX = 8, HEAD_MAX = 128 };

/* Reads the next number of a line, whose fields are separated by one blank each. */
static bool read_number(const char **p, const char *end, uint32_t max, uint32_t *out)
{
	uint64_t v = 0;
	const char *begin = *p;

	while (*p < end && isdigit((unsigned char)**p) && *p - begin < 10)
		v = v * 10 + (uint64_t)(*(*p)++ - '0');
	if (*p == begin || v > max || (*p < end && (**p != ' ' || *p + 1 == end)))
		return false;
	*p += *p < end;
	*out = (uint32_t)v;
	return true;
}

size_t image_request_write(const struct image_request *r, char out[IMAGE_REQUEST_MAX])
{
	return (size_t)snprintf(out, IMAGE_REQUEST_MAX, "%u %zu %u %u %u\n", r->id, r->bytes,
				r->limits.side, r->limits.quality, (unsigned)r->limits.codec);
}

int image_request_read(struct image_request *out, const char *line)
{
	const char *p = line, *end = line + strlen(line);
	uint32_t id, bytes, side, quality, codec;

	if (!read_number(&p, end, UINT32_MAX, &id) ||
	    !read_number(&p, end, IMAGE_BYTES_MAX, &bytes) ||
	    !read_number(&p, end, IMAGE_LARGEST, &side) || !read_number(&p, end, 100, &quality) ||
	    !read_number(&p, end, FRAME_CODECS - 1, &codec) || p != end || !id || !bytes ||
	    side < IMAGE_SMALLEST || !quality)
		return EBADMSG;
	*out = (struct image_request){id, bytes, {side, quality, (enum frame_codec)codec}};
	return 0;
}

bool image_result_valid(const struct image_result *r)
{
	struct image_header jpeg;

	return r->width && r->height && r->width <= IMAGE_LARGEST && r->height <= IMAGE_LARGEST &&
	       r->grey_width && r->grey_height && r->grey_width <= IMAGE_GREY_SIDE &&
	       r->grey_height <= IMAGE_GREY_SIDE && r->n <= IMAGE_JPEG_MAX &&
	       image_header_read(&jpeg, r->jpeg, r->n) == IMAGE_OK && jpeg.kind == IMAGE_JPEG &&
	       jpeg.width == r->width && jpeg.height == r->height;
}

int image_result_write(const struct image_result *r, char **out, size_t *n)
{
	size_t grey = (size_t)r->grey_width * r->grey_height;
	size_t room = HEAD_MAX;
	char *line;

	if (r->reason == IMAGE_OK)
		room += base64_encoded(grey) + base64_encoded(r->n) + 2;
	line = malloc(room);
	if (!line)
		return ENOMEM;
	*n = (size_t)snprintf(line, HEAD_MAX, "%u %u", r->id, (unsigned)r->reason);
	if (r->reason == IMAGE_OK) {
		*n += (size_t)snprintf(line + *n, HEAD_MAX - *n, " %u %u %u %u %u %u %u %zu ",
				       (unsigned)r->picture.kind, r->picture.width,
				       r->picture.height, r->width, r->height, r->grey_width,
				       r->grey_height, r->n);
		base64_encode(r->grey, grey, line + *n);
		*n += base64_encoded(grey);
		line[(*n)++] = ' ';
		base64_encode(r->jpeg, r->n, line + *n);
		*n += base64_encoded(r->n);
	}
	line[(*n)++] = '\n';
	*out = line;
	return 0;
}

static int read_pictures(struct image_result *r, void **memory, const char *p, size_t n)
{
	size_t grey = (size_t)r->grey_width * r->grey_height, got = 0;
	size_t first = base64_encoded(grey), second = base64_encoded(r->n);
	uint8_t *bytes;

	if (n != first + 1 + second || p[first] != ' ')
		return EBADMSG;
	bytes = malloc(grey + r->n);
	if (!bytes)
		return ENOMEM;
	r->grey = bytes;
	r->jpeg = bytes + grey;
	if (base64_decode(p, first, bytes, grey, &got) || got != grey ||
	    base64_decode(p + first + 1, second, bytes + grey, r->n, &got) || got != r->n ||
	    !image_result_valid(r)) {
		free(bytes);
		return EBADMSG;
	}
	*memory = bytes;
	return 0;
}

int image_result_read(struct image_result *out, void **memory, const char *line, size_t n)
{
	static const uint32_t max[NUMBERS_MAX] = {IMAGE_KEY_FRAME, IMAGE_SIDE_MAX, IMAGE_SIDE_MAX,
						  IMAGE_LARGEST,   IMAGE_LARGEST,  IMAGE_GREY_SIDE,
						  IMAGE_GREY_SIDE, IMAGE_JPEG_MAX};
	const char *p = line, *end = line + n;
	uint32_t id, reason, v[NUMBERS_MAX];
	struct image_result r;
	int err;

	if (!read_number(&p, end, UINT32_MAX, &id) || !id ||
	    !read_number(&p, end, IMAGE_REASON_COUNT - 1, &reason))
		return EBADMSG;
	r = (struct image_result){.id = id, .reason = (enum image_reason)reason};
	*memory = NULL;
	if (reason != IMAGE_OK) {
		if (p != end)
			return EBADMSG;
		*out = r;
		return 0;
	}
	for (unsigned i = 0; i < NUMBERS_MAX; i++)
		if (!read_number(&p, end, max[i], &v[i]))
			return EBADMSG;
	r.picture = (struct image_header){(enum image_kind)v[0], v[1], v[2]};
	r.width = v[3];
	r.height = v[4];
	r.grey_width = v[5];
	r.grey_height = v[6];
	r.n = v[7];
	err = read_pictures(&r, memory, p, (size_t)(end - p));
	if (!err)
		*out = r;
	return err;
}
