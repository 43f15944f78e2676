/* imaged itself: pictures of each format come back smaller, and damaged ones end with a reason
 * while the next one is decoded. PICTURE_FILES sets how many damaged ones of each format (default
 * 12). */
#include <stdio.h>
#include <stdlib.h>

#include "control/vision/core/image_header.h"
#include "tests/picture/encode.h"
#include "tests/picture/jailed.h"
#include "tests/random.h"
#include "tests/test.h"

enum { FILES = 12, WIDTH = 640, HEIGHT = 360, SIDE = 320, QUALITY = 60 };

static uint8_t bytes[PICTURE_BYTES_MAX];

static void check_jpeg(struct image_result *r)
{
	struct image_header h;

	if (r->reason == IMAGE_OK && image_header_read(&h, r->jpeg, r->n) != IMAGE_OK)
		r->reason = IMAGE_DAMAGED;
}

static struct jailed j = {.resulth = check_jpeg};

static bool begin(void)
{
	return jailed_begin(&j, "build/imaged");
}

static bool decode(const uint8_t *p, size_t n)
{
	return jailed_decode(&j, (struct slice){p, n},
			     &(struct image_limits){.side = SIDE, .quality = QUALITY});
}

TEST(pictures_of_each_format_come_back_smaller)
{
	CHECK(begin());
	for (unsigned f = 0; f < PICTURE_FORMATS; f++) {
		size_t n = picture_encode(bytes, (enum picture_format)f, WIDTH, HEIGHT, f);

		CHECK(n > 0);
		CHECK(decode(bytes, n));
		CHECK_INT(j.last.reason, IMAGE_OK);
		CHECK_INT(j.last.picture.width, WIDTH);
		CHECK_INT(j.last.picture.height, HEIGHT);
		CHECK_INT(j.last.width, SIDE);
		CHECK_INT(j.last.height, SIDE * HEIGHT / WIDTH);
		CHECK_INT(j.last.grey_width, IMAGE_GREY_SIDE);
		CHECK_INT(j.last.grey_height, IMAGE_GREY_SIDE * HEIGHT / WIDTH);
	}
	jailed_end(&j);
}

TEST(a_picture_that_is_small_stays_as_it_is)
{
	size_t n = picture_encode(bytes, PICTURE_PNG, 90, 41, 3);

	CHECK(begin());
	CHECK(decode(bytes, n));
	CHECK_INT(j.last.reason, IMAGE_OK);
	CHECK_INT(j.last.width, 90);
	CHECK_INT(j.last.height, 41);
	jailed_end(&j);
}

static void damage(uint8_t *p, size_t *n, uint64_t *r)
{
	unsigned times = 1 + random_below(r, 60);

	if (random_below(r, 4) == 0)
		*n = 1 + random_below(r, (unsigned)*n);
	while (times--) {
		unsigned range = random_below(r, 2) || *n < 512 ? (unsigned)*n : 512;

		p[random_below(r, range)] = (uint8_t)random_next(r);
	}
}

TEST(damaged_pictures_disturb_no_other_one)
{
	const char *wanted = getenv("PICTURE_FILES");
	unsigned files = wanted ? (unsigned)atoi(wanted) : FILES, counts[IMAGE_REASON_COUNT] = {0};
	uint64_t r = 7;
	size_t n;

	CHECK(begin());
	for (unsigned i = 0; i < files * PICTURE_FORMATS; i++) {
		n = picture_encode(bytes, (enum picture_format)(i % PICTURE_FORMATS), 96, 64, i);
		damage(bytes, &n, &r);
		CHECK(decode(bytes, n));
		CHECK(j.last.reason != IMAGE_NO_JAIL && j.last.reason != IMAGE_NO_PROCESS);
		counts[j.last.reason]++;
	}
	for (unsigned i = 0; i < IMAGE_REASON_COUNT; i++)
		if (counts[i])
			fprintf(stderr, "%s %u\n", image_reason_name((enum image_reason)i),
				counts[i]);
	n = picture_encode(bytes, PICTURE_JPEG, WIDTH, HEIGHT, 1);
	CHECK(decode(bytes, n));
	CHECK_INT(j.last.reason, IMAGE_OK);
	CHECK(counts[IMAGE_OK] < files * PICTURE_FORMATS);
	jailed_end(&j);
}

/* 40 million pixels of nothing compress to little, and need no more memory than the jail has. */
TEST(a_large_picture_is_decoded_within_the_limits)
{
	size_t n = picture_encode(bytes, PICTURE_JPEG_PROGRESSIVE, 6000, 4000, 2);

	CHECK(n > 0);
	CHECK(begin());
	CHECK(decode(bytes, n));
	CHECK(j.last.reason == IMAGE_OK || j.last.reason == IMAGE_LIMIT);
	jailed_end(&j);
}
