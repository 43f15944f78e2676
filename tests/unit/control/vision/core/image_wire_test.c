#include "control/vision/core/image_wire.h"

#include "control/vision/core/pixels.h"
#include "tests/test.h"

static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xc0, 0, 17,	8, 0, 2,    0, 3,
			       3,    1,	   0x22, 0,    2, 0x11, 1, 3, 0x11, 1};
static const uint8_t grey[6] = {0, 50, 100, 150, 200, 255};

static const struct image_result good = {.id = 7,
					 .picture = {IMAGE_PNG, 30, 20},
					 .width = 3,
					 .height = 2,
					 .jpeg = jpeg,
					 .n = sizeof jpeg,
					 .grey_width = 3,
					 .grey_height = 2,
					 .grey = grey};

TEST_OOM(image_results_survive_the_wire)
{
	struct image_result r = {0};
	void *memory = NULL;
	char *line = NULL;
	size_t n;
	int err = image_result_write(&good, &line, &n);

	CHECK_OOM(err, (void)0);
	CHECK_INT(line[n - 1], '\n');
	err = image_result_read(&r, &memory, line, n - 1);
	free(line);
	CHECK_OOM(err, (void)0);
	CHECK(r.id == 7 && r.reason == IMAGE_OK && r.picture.kind == IMAGE_PNG &&
	      r.picture.width == 30 && r.picture.height == 20 && r.width == 3 && r.height == 2);
	CHECK_MEM(r.jpeg, r.n, jpeg, sizeof jpeg);
	CHECK_MEM(r.grey, 6, grey, sizeof grey);
	free(memory);
}

TEST(image_results_without_a_picture_have_a_reason)
{
	const struct image_result failed = {.id = 8, .reason = IMAGE_DAMAGED};
	struct image_result r;
	void *memory;
	char *line;
	size_t n;

	CHECK_INT(image_result_write(&failed, &line, &n), 0);
	CHECK_INT(image_result_read(&r, &memory, line, n - 1), 0);
	CHECK(r.id == 8 && r.reason == IMAGE_DAMAGED && !memory);
	free(line);
}

TEST(image_results_that_contradict_themselves_are_malformed)
{
	static const char *const lines[] = {"",
					    "x",
					    "0 0",
					    "7",
					    "7 99",
					    "7 1 ",
					    "7 1 2",
					    "7 0",
					    "7 0 1 30 20 3 2 3 2 5 AAAA AAAA",
					    "7 0 1 30 20 3 2 3 2 99999999 AAAA AAAA",
					    "4294967296 1"};
	struct image_result r;
	void *memory;
	char *line;
	size_t n;

	for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
		CHECK_INT(image_result_read(&r, &memory, lines[i], strlen(lines[i])), EBADMSG);
	/* The JPEG is not of the size that is told. */
	r = good;
	r.width = 2;
	CHECK(!image_result_valid(&r));
	CHECK_INT(image_result_write(&r, &line, &n), 0);
	CHECK_INT(image_result_read(&r, &memory, line, n - 1), EBADMSG);
	free(line);
}

TEST(image_requests_survive_the_wire)
{
	static const char *const bad[] = {"",
					  "1 2 320",
					  "1 5 320 60",
					  "0 5 320 60 0",
					  "1 0 320 60 0",
					  "1 5 20 60 0",
					  "1 5 4000 60 0",
					  "1 5 320 0 0",
					  "1 5 320 101 0",
					  "1 5 320 60 0 ",
					  "1 9000000 320 60 0",
					  "-1 5 320 60 0",
					  "1 5 320 60 0x",
					  "1 5 320 60 4"};
	const struct image_request q = {4000000000, IMAGE_BYTES_MAX, {2048, 100, FRAME_AV1}};
	struct image_request got;
	char line[IMAGE_REQUEST_MAX];
	size_t n = image_request_write(&q, line);

	CHECK_INT(line[n - 1], '\n');
	line[n - 1] = '\0';
	CHECK_INT(image_request_read(&got, line), 0);
	CHECK(got.id == q.id && got.bytes == q.bytes && got.limits.side == 2048 &&
	      got.limits.quality == 100 && got.limits.codec == FRAME_AV1);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(image_request_read(&got, bad[i]), EBADMSG);
}

TEST(pixels_fit_keeps_the_shape_and_never_grows)
{
	uint32_t w, h;

	pixels_fit(1920, 1080, 960, &w, &h);
	CHECK(w == 960 && h == 540);
	pixels_fit(1080, 1920, 960, &w, &h);
	CHECK(w == 540 && h == 960);
	pixels_fit(100, 50, 960, &w, &h);
	CHECK(w == 100 && h == 50);
	pixels_fit(16384, 1, 64, &w, &h);
	CHECK(w == 64 && h == 1);
}

TEST(pixels_shrink_averages_areas_on_white)
{
	uint8_t rgba[] = {10, 20, 30, 255, 30, 40, 50, 255, 200, 0, 0, 0, 200, 0, 0, 0};
	uint8_t rgb[6], brightness[1];
	struct pixels from = {4, 1, 4, rgba}, to = {2, 1, 3, rgb}, one = {1, 1, 1, brightness};

	pixels_shrink(&from, &to);
	CHECK(rgb[0] == 20 && rgb[1] == 30 && rgb[2] == 40);
	CHECK(rgb[3] == 255 && rgb[4] == 255 && rgb[5] == 255);
	pixels_shrink_to_grey(&to, &one);
	CHECK_INT(brightness[0], (299 * (20 + 255) + 587 * (30 + 255) + 114 * (40 + 255)) / 2000);
}
