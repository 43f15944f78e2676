#include "control/vision/core/frame_header.h"

#include <string.h>

#include "tests/test.h"

/* 318 × 182 each, as encoders write them; of the coded part only the first bytes. */
static const uint8_t h264[] = {0,    0,	   0,	 1,    0x67, 0x42, 0xc0, 0x0b, 0xda, 0x05, 0x06,
			       0x7a, 0x9b, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00,
			       0x03, 0x00, 0x20, 0xf1, 0x42, 0xaa, 0,	 0,    0,    1,	   0x68,
			       0xce, 0x0f, 0xc8, 0,    0,    1,	   0x65, 0x88, 0x84};
static const uint8_t h264_444[] = {0,	 0,    0,    1,	   0x67, 0xf4, 0x00, 0x0b, 0x91,
				   0x96, 0x81, 0x41, 0x9e, 0xe2, 0xf0, 0x11, 0x00, 0x00,
				   0x03, 0x00, 0x01, 0x00, 0x00, 0x03, 0x00, 0x02, 0x0f,
				   0x14, 0x2a, 0xa0, 0,	   0,	 1,    0x65, 0x88};
static const uint8_t vp8[] = {0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x3e, 0x01, 0xb6, 0x00};
static const uint8_t av1[] = {0x12, 0x00, 0x0a, 0x0b, 0x00, 0x00, 0x00, 0x04, 0x3c, 0xf6,
			      0xd4, 0xda, 0xf9, 0x00, 0x40, 0x32, 0x03, 0x10, 0x00, 0x90};
/* The last unit without its size, as DAVE leaves it. */
static const uint8_t av1_bare[] = {0x0a, 0x0b, 0x00, 0x00, 0x00, 0x04, 0x3c, 0xf6, 0xd4,
				   0xda, 0xf9, 0x00, 0x40, 0x30, 0x10, 0x00, 0x90};

static enum image_reason read(struct image_header *h, enum frame_codec codec, const void *p,
			      size_t n)
{
	*h = (struct image_header){0};
	return frame_header_read(h, codec, p, n);
}

static void check_size(enum frame_codec codec, const void *p, size_t n)
{
	struct image_header h;

	CHECK_INT(read(&h, codec, p, n), IMAGE_OK);
	CHECK(h.kind == IMAGE_KEY_FRAME && h.width == 318 && h.height == 182);
}

TEST(headers_of_key_frames_tell_their_size)
{
	check_size(FRAME_H264, h264, sizeof h264);
	check_size(FRAME_VP8, vp8, sizeof vp8);
	check_size(FRAME_AV1, av1, sizeof av1);
	check_size(FRAME_AV1, av1_bare, sizeof av1_bare);
}

TEST(frames_that_need_others_are_no_key_frames)
{
	struct image_header h;
	uint8_t b[sizeof h264 + sizeof av1];

	/* A slice without its parameter set, and one that refers to another frame. */
	CHECK_INT(read(&h, FRAME_H264, h264 + 36, sizeof h264 - 36), IMAGE_NOT_A_PICTURE);
	memcpy(b, h264, sizeof h264);
	b[39] = 0x41;
	CHECK_INT(read(&h, FRAME_H264, b, sizeof h264), IMAGE_NOT_A_PICTURE);
	memcpy(b, vp8, sizeof vp8);
	b[0] |= 1;
	CHECK_INT(read(&h, FRAME_VP8, b, sizeof vp8), IMAGE_NOT_A_PICTURE);
	memcpy(b, av1, sizeof av1);
	b[17] = 0x30; /* an inter frame */
	CHECK_INT(read(&h, FRAME_AV1, b, sizeof av1), IMAGE_NOT_A_PICTURE);
	b[17] = 0x80; /* one that was sent before is shown */
	CHECK_INT(read(&h, FRAME_AV1, b, sizeof av1), IMAGE_NOT_A_PICTURE);
	CHECK_INT(read(&h, FRAME_AV1, av1 + 15, sizeof av1 - 15), IMAGE_NOT_A_PICTURE);
}

TEST(key_frames_that_are_cut_have_no_header)
{
	struct image_header h;

	for (size_t i = 0; i < 38; i++)
		CHECK(read(&h, FRAME_H264, h264, i) != IMAGE_OK);
	for (size_t i = 0; i < sizeof vp8; i++)
		CHECK(read(&h, FRAME_VP8, vp8, i) != IMAGE_OK);
	for (size_t i = 0; i < sizeof av1; i++)
		CHECK(read(&h, FRAME_AV1, av1, i) != IMAGE_OK);
}

TEST(samples_that_are_not_of_8_bits_in_420_are_unsupported)
{
	struct image_header h;

	CHECK_INT(read(&h, FRAME_H264, h264_444, sizeof h264_444), IMAGE_UNSUPPORTED);
}

TEST(key_frames_that_are_too_large_are_refused_by_their_header)
{
	uint8_t b[sizeof vp8];
	struct image_header h;

	memcpy(b, vp8, sizeof vp8);
	b[7] = b[9] = 0x3f;
	CHECK_INT(read(&h, FRAME_VP8, b, sizeof vp8), IMAGE_TOO_LARGE);
	CHECK_INT(read(&h, FRAME_VP8, vp8, FRAME_BYTES_MAX + 1), IMAGE_TOO_LARGE);
	b[6] = b[7] = 0;
	CHECK_INT(read(&h, FRAME_VP8, b, sizeof vp8), IMAGE_DAMAGED);
}

TEST(pictures_keep_their_own_headers)
{
	struct image_header h;

	CHECK_INT(read(&h, FRAME_NONE, vp8, sizeof vp8), IMAGE_NOT_A_PICTURE);
}
