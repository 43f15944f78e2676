#include "mediad/decoder/progress.h"

#include "proto/base/time.h"
#include "tests/test.h"

static uint64_t at(unsigned s)
{
	return 1000 + s * NS_PER_S;
}

TEST(a_track_that_is_not_opened_in_time_stalls)
{
	struct progress p;

	progress_start(&p, at(0));
	CHECK(!progress_stalls(&p, 0, false, at(20)));
	CHECK(progress_stalls(&p, 0, false, at(21)));
}

/* Of a slow server. */
TEST(a_track_that_opens_late_has_time_for_its_first_sound)
{
	struct progress p;

	progress_start(&p, at(0));
	CHECK(!progress_stalls(&p, 0, false, at(18)));
	progress_open(&p, at(19));
	CHECK(!progress_stalls(&p, 0, false, at(19)));
	CHECK(!progress_stalls(&p, 0, false, at(34)));
	CHECK(progress_stalls(&p, 0, false, at(35)));
}

TEST(a_track_with_a_full_ring_rests)
{
	struct progress p;

	progress_start(&p, at(0));
	progress_open(&p, at(1));
	CHECK(!progress_stalls(&p, 96000, true, at(2)));
	CHECK(!progress_stalls(&p, 96000, true, at(3600)));
	CHECK(!progress_stalls(&p, 96001, false, at(3610)));
	CHECK(!progress_stalls(&p, 96001, false, at(3625)));
	CHECK(progress_stalls(&p, 96001, false, at(3626)));
}

/* A ring that a hostile process has set before it told its format. */
TEST(a_track_that_is_not_open_does_not_rest)
{
	struct progress p;

	progress_start(&p, at(0));
	CHECK(progress_stalls(&p, 0, true, at(21)));
}

/* Of a station that has broken and is tried again. One that has not played has no such time. */
TEST(a_track_whose_source_is_tried_again_waits)
{
	struct progress p;

	progress_start(&p, at(0));
	progress_wait(&p, at(10));
	CHECK(progress_stalls(&p, 0, false, at(21)));
	progress_start(&p, at(0));
	progress_open(&p, at(1));
	for (unsigned s = 2; s < 300; s++) {
		progress_wait(&p, at(s));
		CHECK(!progress_stalls(&p, 5, false, at(s)));
	}
	CHECK(progress_stalls(&p, 5, false, at(315)));
}
