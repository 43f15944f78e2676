#include "control/vision/imaged/decode.h"

#include "control/vision/imaged/program.h"

#include <stdlib.h>
#include <unistd.h>

void decode_fail(enum image_reason reason)
{
	_exit((int)reason);
}

void *decode_alloc(size_t n)
{
	void *p = malloc(n);

	if (!p)
		decode_fail(IMAGE_NO_MEMORY);
	return p;
}

static void write_all(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done <= 0)
			decode_fail(IMAGE_CRASHED);
		p += done;
		n -= (size_t)done;
	}
}

static void make_grey(const struct pixels *from, struct pixels *to)
{
	to->channels = 1;
	pixels_fit(from->width, from->height, IMAGE_GREY_SIDE, &to->width, &to->height);
	to->p = decode_alloc((size_t)to->width * to->height);
	pixels_shrink_to_grey(from, to);
}

void decode_and_exit(struct slice in, const struct image_limits *limits, int fd)
{
	struct pixels whole, scaled = {.channels = 3}, grey;
	struct image_header h;
	struct decoded_head head;
	struct slice jpeg;
	enum image_reason reason = frame_header_read(&h, limits->codec, in.p, in.n);

	if (reason != IMAGE_OK)
		decode_fail(reason);
	image_program.decode(in, &h, limits, &whole);
	pixels_fit(whole.width, whole.height, limits->side, &scaled.width, &scaled.height);
	scaled.p = decode_alloc((size_t)scaled.width * scaled.height * 3);
	pixels_shrink(&whole, &scaled);
	make_grey(&scaled, &grey);
	encode_jpeg(&scaled, limits->quality, &jpeg);
	head = (struct decoded_head){scaled.width, scaled.height, grey.width, grey.height,
				     (uint32_t)jpeg.n};
	write_all(fd, &head, sizeof head);
	write_all(fd, grey.p, (size_t)grey.width * grey.height);
	write_all(fd, jpeg.p, jpeg.n);
	decode_fail(IMAGE_OK);
}
