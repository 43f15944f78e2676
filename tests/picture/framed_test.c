/* framed itself: key frames of each codec come back as pictures, other frames and damaged ones end
 * with a reason while the next one is decoded. PICTURE_FILES as in imaged_test.c. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/picture/encode_frame.h"
#include "tests/picture/jailed.h"
#include "tests/random.h"
#include "tests/test.h"

enum { FRAMES = 12, WIDTH = 640, HEIGHT = 360, SIDE = 320, QUALITY = 60, NEAR = 12 };

static uint8_t bytes[FRAME_BYTES_MAX];
static uint8_t left, right; /* the brightness of the halves of the last picture */

static void look(struct image_result *r)
{
	const uint8_t *row;

	if (r->reason != IMAGE_OK)
		return;
	row = r->grey + (size_t)(r->grey_height / 2) * r->grey_width;
	left = row[r->grey_width / 4];
	right = row[r->grey_width / 4 * 3];
}

static struct jailed j = {.resulth = look};

static bool begin(void)
{
	return jailed_begin(&j, "build/framed");
}

static bool decode(enum frame_codec codec, size_t n)
{
	const struct image_limits limits = {.side = SIDE, .quality = QUALITY, .codec = codec};

	return jailed_decode(&j, (struct slice){bytes, n}, &limits);
}

static size_t encode(enum frame_codec codec, unsigned width, unsigned height, uint8_t brightness,
		     bool key)
{
	const struct frame_scene scene = {
		.width = width, .height = height, .brightness = brightness};

	return frame_encode(bytes, codec, &scene, key);
}

static bool is_near(unsigned a, unsigned b)
{
	return a + NEAR >= b && b + NEAR >= a;
}

TEST(key_frames_of_each_codec_become_pictures)
{
	CHECK(begin());
	for (unsigned c = FRAME_H264; c < FRAME_CODECS; c++) {
		size_t n = encode((enum frame_codec)c, WIDTH, HEIGHT, 200, true);

		CHECK(n > 0);
		CHECK(decode((enum frame_codec)c, n));
		CHECK_INT(j.last.reason, IMAGE_OK);
		CHECK_INT(j.last.picture.kind, IMAGE_KEY_FRAME);
		CHECK_INT(j.last.picture.width, WIDTH);
		CHECK_INT(j.last.picture.height, HEIGHT);
		CHECK_INT(j.last.width, SIDE);
		CHECK_INT(j.last.height, SIDE * HEIGHT / WIDTH);
		/* 200 and 50 of limited range. */
		CHECK(is_near(left, (200 - 16) * 255 / 219));
		CHECK(is_near(right, (50 - 16) * 255 / 219));
	}
	jailed_end(&j);
}

TEST(sizes_that_are_no_multiples_of_blocks_are_read_and_decoded)
{
	CHECK(begin());
	for (unsigned c = FRAME_H264; c < FRAME_CODECS; c++) {
		size_t n = encode((enum frame_codec)c, 318, 182, 120, true);

		CHECK(n > 0);
		CHECK(decode((enum frame_codec)c, n));
		CHECK_INT(j.last.reason, IMAGE_OK);
		CHECK_INT(j.last.picture.width, 318);
		CHECK_INT(j.last.picture.height, 182);
	}
	jailed_end(&j);
}

TEST(frames_that_need_others_are_refused_by_their_header)
{
	CHECK(begin());
	for (unsigned c = FRAME_H264; c < FRAME_CODECS; c++) {
		size_t n = encode((enum frame_codec)c, WIDTH, HEIGHT, 200, false);

		CHECK(n > 0);
		CHECK(decode((enum frame_codec)c, n));
		CHECK_INT(j.last.reason, IMAGE_NOT_A_PICTURE);
	}
	jailed_end(&j);
}

static void damage(uint8_t *p, size_t *n, uint64_t *r)
{
	unsigned times = 1 + random_below(r, 40);

	if (random_below(r, 4) == 0)
		*n = 1 + random_below(r, (unsigned)*n);
	while (times--)
		p[random_below(r, (unsigned)*n)] = (uint8_t)random_next(r);
}

TEST(damaged_frames_disturb_no_other_one)
{
	const char *wanted = getenv("PICTURE_FILES");
	unsigned files = wanted ? (unsigned)atoi(wanted) : FRAMES, counts[IMAGE_REASON_COUNT] = {0};
	uint64_t r = 11;
	size_t n;

	CHECK(begin());
	for (unsigned i = 0; i < files * 3; i++) {
		enum frame_codec codec = (enum frame_codec)(FRAME_H264 + i % 3);

		n = encode(codec, 96, 64, (uint8_t)(i * 7), true);
		damage(bytes, &n, &r);
		CHECK(decode(codec, n));
		CHECK(j.last.reason != IMAGE_NO_JAIL && j.last.reason != IMAGE_NO_PROCESS &&
		      j.last.reason != IMAGE_FORBIDDEN_CALL);
		counts[j.last.reason]++;
	}
	for (unsigned i = 0; i < IMAGE_REASON_COUNT; i++)
		if (counts[i])
			fprintf(stderr, "%s %u\n", image_reason_name((enum image_reason)i),
				counts[i]);
	n = encode(FRAME_VP8, WIDTH, HEIGHT, 90, true);
	CHECK(decode(FRAME_VP8, n));
	CHECK_INT(j.last.reason, IMAGE_OK);
	jailed_end(&j);
}
