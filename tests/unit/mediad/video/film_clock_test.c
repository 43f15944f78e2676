/* The clock of a film: pauses, frames that are late or go back, and its sound. */
#include "mediad/video/film_clock.h"
#include "proto/base/time.h"
#include "tests/test.h"

#define MS	NS_PER_MS
#define BEGIN	(1000 * MS)
#define S_US(s) ((uint64_t)(s)*1000000)
#define STEP	(FILM_STEP_US * NS_PER_US)

TEST(film_clock_goes_on_where_it_stood)
{
	struct film_clock c = {0};

	film_clock_start(&c, S_US(5), BEGIN);
	CHECK_INT(film_clock_at(&c, BEGIN + 500 * MS), S_US(5) + 500000);
	CHECK_INT(film_clock_due(&c, S_US(6)), BEGIN + 1000 * MS);
	CHECK_INT(film_clock_due(&c, S_US(4)), BEGIN);
	film_clock_stop(&c, true, BEGIN + 500 * MS);
	CHECK(!c.running && c.keeps);
	film_clock_start(&c, S_US(6), BEGIN + 9000 * MS);
	CHECK_INT(film_clock_due(&c, S_US(6)), BEGIN + 9500 * MS);
	/* Of a live picture the next frame is due now. */
	film_clock_stop(&c, false, BEGIN + 9500 * MS);
	film_clock_start(&c, S_US(9), BEGIN + 9600 * MS);
	CHECK_INT(film_clock_due(&c, S_US(9)), BEGIN + 9600 * MS);
}

TEST(film_clock_begins_before_its_first_frame)
{
	struct film_clock c = {0};

	film_clock_begin_at(&c, 0);
	film_clock_start(&c, S_US(3), BEGIN);
	CHECK_INT(film_clock_due(&c, S_US(3)), BEGIN + 3000 * MS);
}

TEST(film_clock_keeps_frames_apart)
{
	struct film_clock c = {0};

	film_clock_start(&c, 0, BEGIN);
	CHECK_INT(film_clock_send_at(&c, 0), BEGIN);
	CHECK_INT(film_clock_sent(&c, 0, BEGIN), 0);
	CHECK_INT(film_clock_send_at(&c, 0), BEGIN + STEP);
	CHECK_INT(film_clock_sent(&c, 0, BEGIN + STEP), FILM_STEP_US);
	CHECK_INT(film_clock_send_at(&c, S_US(1)), BEGIN + 1000 * MS);
}

/* A film without sound that is opened again begins with the key frame before its place: viewers see
 * no time twice, and the pace of the film. */
TEST(film_clock_stamps_a_film_that_goes_back_at_its_pace)
{
	struct film_clock c = {0};
	uint64_t stamp, last;

	film_clock_start(&c, S_US(20), BEGIN);
	last = film_clock_sent(&c, S_US(20), BEGIN);
	CHECK_INT(last, S_US(20));
	film_clock_start(&c, S_US(12), BEGIN + 40 * MS);
	for (unsigned i = 0; i < 100; i++) {
		stamp = film_clock_sent(&c, S_US(12) + i * 40000, BEGIN + (i + 1) * 40 * MS);
		CHECK_INT(stamp - last, i ? 40000 : FILM_STEP_US);
		last = stamp;
	}
}

/* With sound the clock goes on, and these frames leave at once: once they are with the sound again
 * their stamps are its time. */
TEST(film_clock_stamps_late_frames_close_together)
{
	struct film_clock c = {0};
	uint64_t now = BEGIN, stamp = 0;

	film_clock_start(&c, S_US(20), BEGIN);
	film_clock_sent(&c, S_US(20), BEGIN);
	for (unsigned i = 0; i < 100; i++) {
		now = film_clock_send_at(&c, S_US(19) + i * 40000);
		stamp = film_clock_sent(&c, S_US(19) + i * 40000, now);
		CHECK_INT(now, i < 28 ? BEGIN + (i + 1) * STEP
				      : film_clock_due(&c, S_US(19) + i * 40000));
	}
	CHECK_INT(stamp, S_US(19) + 99 * 40000);
}

TEST(film_clock_follows_its_sound)
{
	struct film_clock c = {0};

	CHECK(!film_clock_follow(&c, S_US(1), BEGIN)); /* it stands */
	film_clock_start(&c, 0, BEGIN);
	CHECK(!film_clock_follow(&c, 0, BEGIN - 1)); /* of before */
	CHECK(!film_clock_follow(&c, 460000, BEGIN + 500 * MS));
	CHECK(!film_clock_follow(&c, 540000, BEGIN + 500 * MS));
	CHECK_INT(film_clock_due(&c, S_US(1)), BEGIN + 1000 * MS);
	CHECK(film_clock_follow(&c, 200000, BEGIN + 500 * MS));
	CHECK_INT(film_clock_due(&c, S_US(1)), BEGIN + 1300 * MS);
	CHECK(film_clock_follow(&c, 900000, BEGIN + 600 * MS));
	CHECK_INT(film_clock_due(&c, S_US(1)), BEGIN + 700 * MS);
	/* What is told late counts as of its time. */
	CHECK(!film_clock_follow(&c, 900000, BEGIN + 600 * MS));
}
