#include "control/vision/core/image_header.h"

#include "tests/test.h"

static enum image_reason read(struct image_header *h, const void *p, size_t n)
{
	*h = (struct image_header){0};
	return image_header_read(h, p, n);
}

static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4,	'J',  'F',  0xff, 0xff,
			       0xc0, 0,	   17,	 8,    1, 0x68, 2,    0x80, 3,	  1,
			       0x22, 0,	   2,	 0x11, 1, 3,	0x11, 1};
static const uint8_t png[] = {0x89, 'P', 'N', 'G', 13,	 10, 26, 10, 0,	   0, 0, 13, 'I', 'H', 'D',
			      'R',  0,	 0,   2,   0x80, 0,  0,	 1,  0x68, 8, 6, 0,  0,	  0};
static const uint8_t lossy[] = {'R',  'I', 'F', 'F',  0,    0,	  0,	0,    'W',  'E',
				'B',  'P', 'V', 'P',  '8',  ' ',  0,	0,    0,    0,
				0x10, 0,   0,	0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x01};
static const uint8_t lossless[] = {'R', 'I', 'F', 'F', 0, 0, 0, 0,    'W',  'E',  'B',	'P', 'V',
				   'P', '8', 'L', 0,   0, 0, 0, 0x2f, 0x7f, 0xc2, 0x59, 0x00};
static const uint8_t extended[] = {'R',	 'I', 'F', 'F', 0,    0,   0,  0,    'W', 'E',
				   'B',	 'P', 'V', 'P', '8',  'X', 10, 0,    0,	  0,
				   0x10, 0,   0,   0,	0x7f, 2,   0,  0x67, 1,	  0};

TEST(headers_tell_kind_and_size)
{
	struct image_header h;

	CHECK_INT(read(&h, jpeg, sizeof jpeg), IMAGE_OK);
	CHECK(h.kind == IMAGE_JPEG && h.width == 640 && h.height == 360);
	CHECK_INT(read(&h, png, sizeof png), IMAGE_OK);
	CHECK(h.kind == IMAGE_PNG && h.width == 640 && h.height == 360);
	CHECK_INT(read(&h, lossy, sizeof lossy), IMAGE_OK);
	CHECK(h.kind == IMAGE_WEBP && h.width == 640 && h.height == 360);
	CHECK_INT(read(&h, lossless, sizeof lossless), IMAGE_OK);
	CHECK(h.kind == IMAGE_WEBP && h.width == 640 && h.height == 360);
	CHECK_INT(read(&h, extended, sizeof extended), IMAGE_OK);
	CHECK(h.kind == IMAGE_WEBP && h.width == 640 && h.height == 360);
}

/* Each byte less is no picture, or a damaged one. */
static bool needs_each_byte(const uint8_t *p, size_t n)
{
	struct image_header h;

	for (size_t i = 0; i < n; i++) {
		enum image_reason r = image_header_read(&h, p, i);

		if (r != IMAGE_NOT_A_PICTURE && r != IMAGE_DAMAGED)
			return false;
	}
	return true;
}

TEST(headers_that_end_early_are_damaged)
{
	CHECK(needs_each_byte(jpeg, 19));
	CHECK(needs_each_byte(png, sizeof png));
	CHECK(needs_each_byte(lossy, sizeof lossy));
	CHECK(needs_each_byte(lossless, sizeof lossless));
	CHECK(needs_each_byte(extended, sizeof extended));
}

TEST(headers_of_too_many_pixels_are_refused)
{
	uint8_t copy[64];
	struct image_header h;

	memcpy(copy, png, sizeof png);
	copy[17] = 1; /* 65536 and more columns */
	CHECK_INT(read(&h, copy, sizeof png), IMAGE_TOO_LARGE);
	memcpy(copy, png, sizeof png);
	copy[18] = copy[22] = 0x20; /* 8192 × 8192 and more */
	CHECK_INT(read(&h, copy, sizeof png), IMAGE_TOO_LARGE);
	memcpy(copy, jpeg, sizeof jpeg);
	copy[14] = copy[15] = 0; /* no rows */
	CHECK_INT(read(&h, copy, sizeof jpeg), IMAGE_DAMAGED);
	CHECK_INT(image_header_read(&h, jpeg, IMAGE_BYTES_MAX + 1), IMAGE_TOO_LARGE);
}

/* A progressive JPEG of so many scans; returns its bytes. */
static size_t put_scans(uint8_t *out, unsigned width, unsigned height, unsigned scans)
{
	static const uint8_t scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0x10, 0xff, 0, 0xff, 0xd0};
	size_t n = sizeof jpeg;

	memcpy(out, jpeg, n);
	out[10] = 0xc2;
	out[14] = (uint8_t)(height >> 8);
	out[15] = (uint8_t)height;
	out[16] = (uint8_t)(width >> 8);
	out[17] = (uint8_t)width;
	for (; scans; scans--, n += sizeof scan)
		memcpy(out + n, scan, sizeof scan);
	return n;
}

/* 6320 x 6320 with 300 scans are a few kilobytes, and were seconds of processor time. */
TEST(jpegs_of_many_scans_are_refused)
{
	/* One in a comment is none, and what stands behind the end is not read. */
	static const uint8_t comment[] = {0xff, 0xfe, 0, 6, 0xff, 0xda, 0, 8, 0xff, 0xff, 0xd9};
	static uint8_t copy[4096];
	struct image_header h;
	size_t n;

	CHECK_INT(read(&h, copy, put_scans(copy, 6320, 6320, 12)), IMAGE_OK);
	CHECK_INT(read(&h, copy, put_scans(copy, 6320, 6320, 13)), IMAGE_TOO_LARGE);
	CHECK(!h.width);
	CHECK_INT(read(&h, copy, put_scans(copy, 6320, 6320, 200)), IMAGE_TOO_LARGE);
	CHECK_INT(read(&h, copy, put_scans(copy, 8, 8, 101)), IMAGE_TOO_LARGE);
	n = put_scans(copy, 8, 8, 100);
	CHECK_INT(read(&h, copy, n), IMAGE_OK);
	memcpy(copy + n, comment, sizeof comment);
	memcpy(copy + n + sizeof comment, comment + 4, 4);
	CHECK_INT(read(&h, copy, n + sizeof comment + 4), IMAGE_OK);
	memcpy(copy + n, comment + 4, 4);
	CHECK_INT(read(&h, copy, n + 4), IMAGE_TOO_LARGE);
}

TEST(headers_of_what_is_not_decoded_say_so)
{
	uint8_t copy[64];
	struct image_header h;

	memcpy(copy, extended, sizeof extended);
	copy[20] |= 0x02; /* it moves */
	CHECK_INT(read(&h, copy, sizeof extended), IMAGE_UNSUPPORTED);
	memcpy(copy, jpeg, sizeof jpeg);
	copy[18] = 4; /* CMYK */
	CHECK_INT(read(&h, copy, sizeof jpeg), IMAGE_UNSUPPORTED);
	memcpy(copy, jpeg, sizeof jpeg);
	copy[10] = 0xc9; /* arithmetic coding */
	CHECK_INT(read(&h, copy, sizeof jpeg), IMAGE_UNSUPPORTED);
	memcpy(copy, jpeg, sizeof jpeg);
	copy[10] = 0xda; /* a scan before the frame */
	CHECK_INT(read(&h, copy, sizeof jpeg), IMAGE_DAMAGED);
	memcpy(copy, png, sizeof png);
	copy[24] = 3; /* of 3 bits */
	CHECK_INT(read(&h, copy, sizeof png), IMAGE_DAMAGED);
	CHECK_INT(read(&h, "<svg xmlns=\"\"></svg>", 20), IMAGE_NOT_A_PICTURE);
	CHECK_INT(read(&h, "GIF89a", 6), IMAGE_NOT_A_PICTURE);
	CHECK_INT(read(&h, "", 0), IMAGE_NOT_A_PICTURE);
}

TEST(media_types_name_kinds)
{
	enum image_kind kind = IMAGE_KINDS;

	for (unsigned i = 0; i < IMAGE_KINDS; i++) {
		const char *type = image_media_type((enum image_kind)i);

		CHECK(image_kind_of(type, strlen(type), &kind) && kind == i);
	}
	CHECK(image_kind_of("Image/JPEG; q=1", 15, &kind) && kind == IMAGE_JPEG);
	CHECK(!image_kind_of("image/jpeg2", 11, &kind));
	CHECK(!image_kind_of("image/svg+xml", 13, &kind));
	CHECK(!image_kind_of("", 0, &kind));
	CHECK_STR(image_reason_name(IMAGE_TOO_LARGE), "too_large");
	CHECK(strlen(image_reason_text(IMAGE_CRASHED)) > 10);
}
