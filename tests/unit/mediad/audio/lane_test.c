#include "tests/test.h"

#include "mediad/audio/lane.h"
#include "proto/base/time.h"

enum { START = LANE_START_MS * 48, PREBUFFER = LANE_PREBUFFER_MS * 48 };

static int16_t ones[LANE_CAPACITY + 1];
static float acc[LANE_FRAME];

static struct lane *lane_with(size_t samples, uint64_t now)
{
	struct lane *l = NULL;

	for (size_t i = 0; i <= LANE_CAPACITY; i++)
		ones[i] = 1000;
	if (lane_alloc(&l, 7, LANE_GAIN_UNITY) || lane_write(l, ones, samples, now))
		abort();
	return l;
}

/* Pulls a frame and says that it left. */
static size_t play(struct lane *l, uint64_t now)
{
	size_t n;

	memset(acc, 0, sizeof acc);
	n = lane_pull(l, acc, now);
	lane_confirm(l, n, true, now);
	return n;
}

TEST(lane_waits_for_its_prebuffer)
{
	struct lane *l = lane_with(START - 1, 0);

	CHECK_INT(play(l, 20 * NS_PER_MS), 0);
	CHECK(lane_has_audio(l));
	lane_write(l, ones, 1, 20 * NS_PER_MS);
	CHECK_INT(play(l, 40 * NS_PER_MS), 960);
	CHECK(acc[0] == 1000 && acc[959] == 1000);
	CHECK_INT(lane_next_event(l), LANE_STARTED);
	CHECK_INT(lane_started_at(l), 40 * NS_PER_MS);
	CHECK_INT(lane_next_event(l), LANE_NONE);
	lane_free(l);
}

TEST(lane_that_ran_empty_buffers_longer)
{
	struct lane *l = lane_with(START, 0);

	CHECK_INT(play(l, 20 * NS_PER_MS), 960);
	CHECK_INT(play(l, 40 * NS_PER_MS), 960);
	CHECK_INT(play(l, 60 * NS_PER_MS), 0);
	lane_write(l, ones, PREBUFFER - 1, 60 * NS_PER_MS);
	CHECK_INT(play(l, 80 * NS_PER_MS), 0);
	lane_write(l, ones, 1, 80 * NS_PER_MS);
	CHECK_INT(play(l, 100 * NS_PER_MS), 960);
	lane_free(l);
}

TEST(lane_short_playback_starts_at_its_end_or_stall)
{
	struct lane *l = lane_with(1500, 0);

	CHECK_INT(play(l, 119 * NS_PER_MS), 0);
	CHECK_INT(play(l, 120 * NS_PER_MS), 960); /* did not grow for 120 ms */
	CHECK_INT(play(l, 140 * NS_PER_MS), 540); /* the partial tail, zeros behind it */
	CHECK(acc[539] == 1000 && acc[540] == 0);
	CHECK_INT(lane_next_event(l), LANE_STARTED);
	CHECK_INT(lane_next_event(l), LANE_NONE); /* it did not end: it buffers again */
	lane_write(l, ones, 100, 150 * NS_PER_MS);
	CHECK_INT(play(l, 160 * NS_PER_MS), 0);
	lane_end(l);
	CHECK_INT(lane_write(l, ones, 1, 160 * NS_PER_MS), EPIPE);
	CHECK_INT(play(l, 180 * NS_PER_MS), 100);
	CHECK_INT(lane_next_event(l), LANE_DRAINED);
	CHECK_INT(lane_sent(l), 1600);
	CHECK_INT(lane_next_event(l), LANE_NONE);
	lane_free(l);
}

TEST(lane_reports_only_sent_samples)
{
	struct lane *l = lane_with(960 * 2, 0);

	lane_end(l);
	CHECK_INT(lane_pull(l, acc, 0), 960);
	CHECK_INT(lane_next_event(l), LANE_NONE);
	CHECK_INT(lane_pulled(l), 960);
	CHECK_INT(lane_sent(l), 0);
	lane_confirm(l, 960, false, 1); /* the socket refused it */
	CHECK_INT(lane_next_event(l), LANE_NONE);
	CHECK_INT(lane_pull(l, acc, 0), 960);
	CHECK_INT(lane_next_event(l), LANE_NONE); /* not drained: it is on its way */
	lane_confirm(l, 960, true, 9);
	CHECK_INT(lane_next_event(l), LANE_STARTED);
	CHECK_INT(lane_started_at(l), 9);
	CHECK_INT(lane_next_event(l), LANE_DRAINED);
	CHECK_INT(lane_sent(l), 960);
	lane_free(l);
}

TEST(lane_empty_one_drains_at_once)
{
	struct lane *l = lane_with(0, 0);

	CHECK_INT(lane_next_event(l), LANE_NONE);
	lane_end(l);
	CHECK_INT(lane_next_event(l), LANE_DRAINED);
	lane_free(l);
}

/* Every command in every state: what is told, and how many samples the next 10 frames take. */
TEST(lane_state_table)
{
	enum at { FRESH, PLAYING, PAUSED, ENDED_PLAYING };
	enum cmd { PAUSE, PAUSE_FADE, RESUME, STOP, STOP_FADE, END };
	static const struct {
		enum at at;
		enum cmd cmd;
		enum lane_event first; /* told at once */
		size_t takes;	       /* in ten frames, of 30 */
		enum lane_event last;  /* told after them */
	} rows[] = {
		{FRESH, PAUSE, LANE_PAUSED, 0, LANE_NONE},
		{FRESH, PAUSE_FADE, LANE_PAUSED, 0, LANE_NONE},
		{FRESH, RESUME, LANE_NONE, 9600, LANE_STARTED},
		{FRESH, STOP, LANE_STOPPED, 0, LANE_NONE},
		{FRESH, STOP_FADE, LANE_STOPPED, 0, LANE_NONE},
		{FRESH, END, LANE_NONE, 9600, LANE_STARTED},
		{PLAYING, PAUSE, LANE_PAUSED, 0, LANE_NONE},
		{PLAYING, PAUSE_FADE, LANE_NONE, 1439, LANE_PAUSED},
		{PLAYING, RESUME, LANE_NONE, 9600, LANE_NONE},
		{PLAYING, STOP, LANE_STOPPED, 0, LANE_NONE},
		{PLAYING, STOP_FADE, LANE_NONE, 1439, LANE_STOPPED},
		{PLAYING, END, LANE_NONE, 9600, LANE_NONE},
		{PAUSED, PAUSE, LANE_NONE, 0, LANE_NONE},
		{PAUSED, PAUSE_FADE, LANE_NONE, 0, LANE_NONE},
		{PAUSED, RESUME, LANE_NONE, 9600, LANE_NONE},
		{PAUSED, STOP, LANE_STOPPED, 0, LANE_NONE},
		{PAUSED, STOP_FADE, LANE_STOPPED, 0, LANE_NONE},
		{PAUSED, END, LANE_NONE, 0, LANE_NONE},
		{ENDED_PLAYING, PAUSE, LANE_PAUSED, 0, LANE_NONE},
		{ENDED_PLAYING, STOP, LANE_STOPPED, 0, LANE_NONE},
		{ENDED_PLAYING, RESUME, LANE_NONE, 9600, LANE_NONE},
	};

	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		struct lane *l = lane_with(30 * 960, 0);
		enum lane_event first, last;
		size_t takes = 0;

		if (rows[r].at != FRESH) {
			play(l, 0);
			lane_next_event(l);
		}
		if (rows[r].at == PAUSED) {
			lane_pause(l, 0);
			lane_next_event(l);
		}
		if (rows[r].at == ENDED_PLAYING)
			lane_end(l);
		switch (rows[r].cmd) {
		case PAUSE:
		case PAUSE_FADE:
			lane_pause(l, rows[r].cmd == PAUSE ? 0 : 30);
			break;
		case RESUME:
			lane_resume(l, 0);
			break;
		case STOP:
		case STOP_FADE:
			lane_stop(l, rows[r].cmd == STOP ? 0 : 30);
			break;
		case END:
			lane_end(l);
			break;
		}
		first = lane_next_event(l);
		for (int i = 0; i < 10; i++)
			takes += play(l, 0);
		last = lane_next_event(l);
		/* Float steps may end a fade one sample earlier or later. */
		if (first != rows[r].first || last != rows[r].last || takes > rows[r].takes + 1 ||
		    takes + 1 < rows[r].takes)
			test_fail(__FILE__, __LINE__, "row %zu: first %d, takes %zu, last %d", r,
				  first, takes, last);
		lane_free(l);
	}
}

TEST(lane_fades_are_linear)
{
	struct lane *l = lane_with(20 * 960, 0);

	play(l, 0);
	lane_pause(l, 40);
	play(l, 0);
	CHECK(acc[0] > 990 && acc[480] > 745 && acc[480] < 755 && acc[959] > 495 && acc[959] < 505);
	for (int i = 1; i < 960; i++)
		CHECK(acc[i] < acc[i - 1]);
	play(l, 0);
	CHECK(acc[958] > -1 && acc[958] < 2);
	CHECK_INT(play(l, 0), 0);
	CHECK(lane_paused(l));
	lane_resume(l, 20);
	CHECK_INT(play(l, 0), 960);
	CHECK(acc[0] < 3 && acc[480] > 495 && acc[480] < 505 && acc[959] > 998);
	play(l, 0);
	CHECK(acc[0] == 1000);
	lane_free(l);
}

TEST(lane_pause_revoked_during_its_fade)
{
	struct lane *l = lane_with(20 * 960, 0);

	play(l, 0);
	lane_next_event(l);
	lane_pause(l, 40);
	play(l, 0);
	lane_resume(l, 40);
	CHECK_INT(play(l, 0), 960);
	CHECK(acc[0] > 495 && acc[959] > 995);
	CHECK_INT(lane_next_event(l), LANE_NONE);
	lane_free(l);
}

TEST(lane_stop_wins_and_a_fade_without_samples_ends)
{
	struct lane *l = lane_with(PREBUFFER, 0);

	play(l, 0);
	lane_next_event(l);
	lane_stop(l, 5000);
	lane_pause(l, 0);
	for (int i = 1; i < 10; i++)
		CHECK_INT(play(l, 0), 960);
	CHECK_INT(lane_next_event(l), LANE_NONE);
	CHECK_INT(play(l, 0), 0); /* ran dry: that is the end of the fade */
	CHECK_INT(lane_next_event(l), LANE_STOPPED);
	CHECK_INT(lane_sent(l), PREBUFFER);
	lane_free(l);
}

TEST(lane_gain_ramp)
{
	struct lane *l = lane_with(20 * 960, 0);

	lane_gain(l, 500, 20);
	play(l, 0);
	CHECK(acc[0] > 995 && acc[480] > 745 && acc[480] < 755);
	play(l, 0);
	CHECK(acc[0] > 499 && acc[0] < 501 && acc[959] > 499 && acc[959] < 501);
	lane_gain(l, 2000, 0);
	play(l, 0);
	CHECK(acc[0] == 2000);
	lane_gain(l, 65535, 0);
	play(l, 0);
	CHECK(acc[0] == 4000);
	lane_free(l);
}

TEST(lane_capacity_and_wrap)
{
	struct lane *l = lane_with(0, 0);
	int16_t ramp[1000];
	float next = 0;
	uint64_t k = 0;

	CHECK_INT(lane_write(l, ones, LANE_CAPACITY + 1, 0), ENOBUFS);
	CHECK_INT(lane_room(l), LANE_CAPACITY);
	/* Three times around in odd pieces: every sample once and in order. */
	while (lane_pulled(l) < 3 * LANE_CAPACITY) {
		while (lane_room(l) >= 1000) {
			for (int i = 0; i < 1000; i++)
				ramp[i] = (int16_t)(k++ % 30000);
			CHECK_INT(lane_write(l, ramp, 1000, 0), 0);
		}
		CHECK_INT(play(l, 0), 960);
		for (int i = 0; i < 960; i++) {
			CHECK(acc[i] == next);
			next = next >= 29999 ? 0 : next + 1;
		}
	}
	CHECK_INT(lane_written(l), k);
	lane_free(l);
}

/* A frame that begins near the end of the lane's memory goes on at its beginning. */
TEST(lane_plays_a_frame_across_its_end)
{
	struct lane *l = lane_with(0, 0);
	int16_t ramp[LANE_FRAME];
	uint64_t now = 0;

	CHECK_INT(lane_write(l, ones, 500, now), 0);
	now += LANE_STALL_MS * NS_PER_MS;
	CHECK_INT(play(l, now), 500); /* from now on frames begin 500 samples later */
	for (int i = 0; i < LANE_FRAME; i++)
		ramp[i] = (int16_t)i;
	CHECK_INT(lane_write(l, ramp, LANE_FRAME, now), 0);
	for (unsigned frame = 0; frame < LANE_CAPACITY / LANE_FRAME; frame++) {
		CHECK_INT(lane_write(l, ramp, LANE_FRAME, now), 0);
		CHECK_INT(play(l, now), LANE_FRAME);
		for (int i = 0; i < LANE_FRAME; i++)
			CHECK(acc[i] == (float)i);
	}
	lane_free(l);
}

TEST_OOM(lane_without_memory)
{
	struct lane *l = NULL;

	CHECK_OOM(lane_alloc(&l, 1, 1000), );
	CHECK_INT(lane_id(l), 1);
	lane_free(l);
}
