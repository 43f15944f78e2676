/* imaged itself: pictures of each format come back smaller, and damaged ones end with a reason
 * while the next one is decoded. PICTURE_FILES sets how many damaged ones of each format (default
 * 12). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "control/vision/image_jail.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/picture/encode.h"
#include "tests/random.h"
#include "tests/test.h"

enum { FILES = 12, WIDTH = 640, HEIGHT = 360, SIDE = 320, QUALITY = 60, LIMIT_S = 20 };

static struct env *env;
static struct image_jail *jail;
static struct tmr *limit;
static uint8_t bytes[PICTURE_BYTES_MAX];
static struct image_result last;
static unsigned results;

static void give_up(void *arg)
{
	(void)arg;
	env_stop(env);
}

static void take_result(const struct image_result *r, void *arg)
{
	struct image_header h;

	(void)arg;
	last = *r;
	if (r->reason == IMAGE_OK && image_header_read(&h, r->jpeg, r->n) != IMAGE_OK)
		last.reason = IMAGE_DAMAGED;
	last.jpeg = last.grey = NULL;
	results++;
	env_stop(env);
}

static bool begin(void)
{
	return env_alloc(&env, &(struct env_conf){.loop = true}) == 0 &&
	       image_jail_alloc(&jail, env, "build/imaged") == 0 &&
	       tmr_alloc(&limit, env, give_up, NULL) == 0;
}

static void end(void)
{
	tmr_free(limit);
	limit = NULL;
	jail = image_jail_free(jail);
	env = env_free(env);
}

/* False: no result came. */
static bool decode(const uint8_t *p, size_t n)
{
	const struct image_limits limits = {.side = SIDE, .quality = QUALITY};
	unsigned before = results;
	enum image_reason why = IMAGE_OK;
	int err = image_jail_decode(jail, p, n, &limits, take_result, NULL, &why);

	for (unsigned i = 0; err == ENOTCONN && i < 100; i++) {
		/* It is being started. */
		tmr_start(limit, 20 * NS_PER_MS);
		env_run(env);
		err = image_jail_decode(jail, p, n, &limits, take_result, NULL, &why);
	}
	if (err == EBADMSG) {
		last = (struct image_result){.reason = why};
		return true;
	}
	if (err)
		return false;
	tmr_start(limit, LIMIT_S * NS_PER_S);
	env_run(env);
	return results == before + 1;
}

TEST(pictures_of_each_format_come_back_smaller)
{
	CHECK(begin());
	for (unsigned f = 0; f < PICTURE_FORMATS; f++) {
		size_t n = picture_encode(bytes, (enum picture_format)f, WIDTH, HEIGHT, f);

		CHECK(n > 0);
		CHECK(decode(bytes, n));
		CHECK_INT(last.reason, IMAGE_OK);
		CHECK_INT(last.picture.width, WIDTH);
		CHECK_INT(last.picture.height, HEIGHT);
		CHECK_INT(last.width, SIDE);
		CHECK_INT(last.height, SIDE * HEIGHT / WIDTH);
		CHECK_INT(last.grey_width, IMAGE_GREY_SIDE);
		CHECK_INT(last.grey_height, IMAGE_GREY_SIDE * HEIGHT / WIDTH);
	}
	end();
}

TEST(a_picture_that_is_small_stays_as_it_is)
{
	size_t n = picture_encode(bytes, PICTURE_PNG, 90, 41, 3);

	CHECK(begin());
	CHECK(decode(bytes, n));
	CHECK_INT(last.reason, IMAGE_OK);
	CHECK_INT(last.width, 90);
	CHECK_INT(last.height, 41);
	end();
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
		CHECK(last.reason != IMAGE_NO_JAIL && last.reason != IMAGE_NO_PROCESS);
		counts[last.reason]++;
	}
	for (unsigned i = 0; i < IMAGE_REASON_COUNT; i++)
		if (counts[i])
			fprintf(stderr, "%s %u\n", image_reason_name((enum image_reason)i),
				counts[i]);
	n = picture_encode(bytes, PICTURE_JPEG, WIDTH, HEIGHT, 1);
	CHECK(decode(bytes, n));
	CHECK_INT(last.reason, IMAGE_OK);
	CHECK(counts[IMAGE_OK] < files * PICTURE_FORMATS);
	end();
}

/* 40 million pixels of nothing compress to little, and need no more memory than the jail has. */
TEST(a_large_picture_is_decoded_within_the_limits)
{
	size_t n = picture_encode(bytes, PICTURE_JPEG_PROGRESSIVE, 6000, 4000, 2);

	CHECK(n > 0);
	CHECK(begin());
	CHECK(decode(bytes, n));
	CHECK(last.reason == IMAGE_OK || last.reason == IMAGE_LIMIT);
	end();
}
