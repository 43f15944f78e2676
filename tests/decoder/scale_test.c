/* Planes of pictures in other sizes (mediad/decoder/scale.c). */
#include "mediad/decoder/scale.h"

#include <errno.h>
#include <string.h>

#include "tests/test.h"

enum { SIDE = 64 };

static uint8_t in[2 * SIDE * SIDE], out[SIDE * SIDE];

static void scale(unsigned width, unsigned height, unsigned out_width, unsigned out_height,
		  unsigned depth, enum scale_range range)
{
	const struct scale_conf conf = {width, height, out_width, out_height, depth, range};
	struct scale *s;

	CHECK_INT(scale_alloc(&s, &conf), 0);
	memset(out, 1, sizeof out);
	scale_run(s, in, (ptrdiff_t)(depth > 8 ? 2 * width : width), out, out_width);
	scale_free(s);
}

TEST(scale_keeps_a_plane_of_that_size)
{
	for (unsigned i = 0; i < 30 * 20; i++)
		in[i] = (uint8_t)(i * 7);
	scale(30, 20, 30, 20, 8, SCALE_AS_IT_IS);
	CHECK_MEM(out, 30 * 20, in, 30 * 20);
}

TEST(scale_takes_the_average_of_an_area)
{
	static const uint8_t want[] = {2, 8};

	memcpy(in, (uint8_t[]){0, 4, 8, 8, 0, 4, 8, 8}, 8);
	scale(4, 2, 2, 1, 8, SCALE_AS_IT_IS);
	CHECK_MEM(out, 2, want, 2);
	/* Two of three samples each, the middle one in halves. */
	memcpy(in, (uint8_t[]){30, 60, 90}, 3);
	scale(3, 1, 2, 1, 8, SCALE_AS_IT_IS);
	CHECK_INT(out[0], 40);
	CHECK_INT(out[1], 80);
}

TEST(scale_of_one_brightness_is_that_brightness)
{
	unsigned a, b, c, d;

	for (unsigned i = 0; i < 300; i++) {
		a = 1 + i % 61;
		b = 1 + i * 7 % 53;
		c = 1 + i * 11 % 47;
		d = 1 + i * 13 % 59;
		memset(in, i % 256, sizeof in);
		scale(a, b, c, d, 8, SCALE_AS_IT_IS);
		for (unsigned k = 0; k < c * d; k++)
			CHECK_INT(out[k], i % 256);
		CHECK(c * d == sizeof out || out[c * d] == 1);
	}
}

TEST(scale_of_more_bits)
{
	const uint16_t samples[] = {1023, 512, 0, 65535};

	memcpy(in, samples, sizeof samples);
	scale(4, 1, 4, 1, 10, SCALE_AS_IT_IS);
	CHECK_INT(out[0], 255);
	CHECK_INT(out[1], 128);
	CHECK_INT(out[2], 0);
	CHECK_INT(out[3], 255); /* of no decoder */
}

TEST(scale_brings_full_range_to_that_of_streams)
{
	memcpy(in, (uint8_t[]){0, 128, 255}, 3);
	scale(3, 1, 3, 1, 8, SCALE_LUMA);
	CHECK_INT(out[0], 16);
	CHECK_INT(out[2], 235);
	scale(3, 1, 3, 1, 8, SCALE_CHROMA);
	CHECK_INT(out[0], 16);
	CHECK_INT(out[1], 128);
	CHECK_INT(out[2], 240);
}

TEST(scale_refuses_what_it_cannot_hold)
{
	const struct scale_conf bad[] = {
		{0, 1, 1, 1, 8, SCALE_AS_IT_IS},  {1, SCALE_SIDE_MAX + 1, 1, 1, 8, SCALE_AS_IT_IS},
		{1, 1, 0, 1, 8, SCALE_AS_IT_IS},  {1, 1, 1, 1, 7, SCALE_AS_IT_IS},
		{1, 1, 1, 1, 17, SCALE_AS_IT_IS},
	};
	struct scale *s;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(scale_alloc(&s, &bad[i]), EINVAL);
}

TEST(scale_turns_planes)
{
	static const uint8_t plane[] = {1, 2, 3, 4, 5, 6};
	static const uint8_t want[4][6] = {
		{1, 2, 3, 4, 5, 6}, {4, 1, 5, 2, 6, 3}, {6, 5, 4, 3, 2, 1}, {3, 6, 2, 5, 1, 4}};

	for (unsigned q = 0; q < 4; q++) {
		scale_turn(plane, 3, 3, 2, q, out, q % 2 ? 2 : 3);
		CHECK_MEM(out, 6, want[q], 6);
	}
}
