/* The queue of music lanes: joints to the sample, crossfades, seeks, pauses. */
#include "mediad/audio/music_mixer.h"

#include <math.h>

#include "tests/test.h"

enum { TRACK = 5000, MAX_OUT = 400000, MAX_EVENTS = 64 };

/* A track is made of one value a channel, or of its sample numbers. */
struct track {
	struct music_lane *lane;
	uint32_t id, left; /* frames that are not written yet */
	int16_t l, r;	   /* 0: numbers */
	uint32_t at;
};

static struct rig {
	struct music_mixer *m;
	struct track tracks[64];
	unsigned n_tracks;
	float left[MAX_OUT], right[MAX_OUT];
	size_t n; /* frames heard */
	struct {
		enum lane_event what;
		uint32_t id;
		uint64_t samples;
	} ev[MAX_EVENTS];
	unsigned n_ev;
	uint64_t now;
	uint32_t numbers; /* written over all numbered tracks */
} rig;

static void setup(void)
{
	memset(&rig, 0, sizeof rig);
	if (music_mixer_alloc(&rig.m))
		abort();
}

static struct track *add(uint32_t frames, uint64_t length, struct music_joint joint)
{
	struct track *t = &rig.tracks[rig.n_tracks++];
	struct music_lane_conf conf = {
		.id = rig.n_tracks, .gain = PLAYOUT_GAIN_UNITY, .length = length};

	if (music_lane_alloc(&t->lane, &conf) || music_mixer_add(rig.m, t->lane, &joint))
		abort();
	t->id = rig.n_tracks;
	t->left = frames;
	return t;
}

/* Fills the lanes as far as they have room. */
static void feed(void)
{
	for (unsigned i = 0; i < rig.n_tracks; i++) {
		struct track *t = &rig.tracks[i];
		static int16_t pcm[2 * MUSIC_LANE_CAPACITY];
		size_t room, n;

		if (!music_mixer_lane(rig.m, t->id) ||
		    music_lane_playout(t->lane)->state == PLAYOUT_STOPPED)
			continue;
		room = playout_room(music_lane_playout(t->lane));
		n = t->left < room ? t->left : room;
		for (size_t k = 0; k < n; k++, t->at++) {
			int16_t number = (int16_t)(rig.numbers % 30000 + 1);

			pcm[2 * k] = t->l || t->r ? t->l : number;
			pcm[2 * k + 1] = t->l || t->r ? t->r : (int16_t)-number;
			rig.numbers += !t->l && !t->r;
		}
		t->left -= (uint32_t)n;
		if (n)
			CHECK_INT(music_lane_write(t->lane, pcm, n, rig.now), 0);
		if (!t->left)
			music_lane_end(t->lane);
	}
}

static void note_events(void)
{
	struct music_lane *lane;
	enum lane_event what;

	while ((what = music_mixer_next_event(rig.m, &lane)) != LANE_NONE) {
		rig.ev[rig.n_ev].what = what;
		rig.ev[rig.n_ev].id = music_lane_id(lane);
		rig.ev[rig.n_ev++].samples = music_lane_playout(lane)->sent;
		if (what == LANE_DRAINED || what == LANE_STOPPED)
			music_lane_free(lane);
	}
}

/* Pulls one frame. Returns how much of it sounds. */
static size_t pull(void)
{
	float *l = rig.left + rig.n, *r = rig.right + rig.n;

	memset(l, 0, LANE_FRAME * sizeof *l);
	memset(r, 0, LANE_FRAME * sizeof *r);
	return music_mixer_pull(rig.m, l, r, false, rig.now);
}

static size_t play(unsigned frames)
{
	size_t total = 0;

	for (unsigned i = 0; i < frames; i++) {
		size_t n;

		feed();
		n = pull();
		rig.n += n;
		total += n;
		rig.now += 20000000;
		music_mixer_confirm(rig.m, true, rig.now);
		note_events();
	}
	return total;
}

static unsigned count_events(enum lane_event what, uint32_t id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rig.n_ev; i++)
		n += rig.ev[i].what == what && rig.ev[i].id == id;
	return n;
}

static uint64_t samples_at(enum lane_event what, uint32_t id)
{
	for (unsigned i = 0; i < rig.n_ev; i++)
		if (rig.ev[i].what == what && rig.ev[i].id == id)
			return rig.ev[i].samples;
	return UINT64_MAX;
}

/* Fails unless the numbers go on without a gap or a repetition. */
static void check_numbers(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		float want = (float)(i % 30000 + 1);

		if (rig.left[i] == want && rig.right[i] == -want)
			continue;
		test_fail(__FILE__, __LINE__, "frame %zu: %g, not %g", i, (double)rig.left[i],
			  (double)want);
		return;
	}
}

TEST(music_plays_one_track_to_its_end)
{
	setup();
	add(TRACK, 0, (struct music_joint){0});
	CHECK_INT(play(10), TRACK);
	check_numbers(0, TRACK);
	CHECK_INT(count_events(LANE_STARTED, 1), 1);
	CHECK_INT(samples_at(LANE_DRAINED, 1), TRACK);
	CHECK(!music_mixer_at(rig.m, 0) && !music_mixer_is_active(rig.m));
	music_mixer_free(rig.m);
}

/* The first sample of a track follows the last one of the track before, in the same frame: a
 * thousand joints. */
TEST(music_joints_lose_no_sample)
{
	uint32_t seed = 7;

	for (int k = 0; k < 500; k++) {
		uint32_t total = 0;

		/* The tracks fit into their lanes, so they are written in the order of play. */
		setup();
		for (int i = 0; i < 3; i++) {
			uint32_t length = (i == 1 ? 1 : 1000) + (seed >> 16) % 3000;

			seed = seed * 1664525 + 1013904223;
			add(length, 0, (struct music_joint){0});
			total += length;
		}
		CHECK_INT(play(20), total);
		check_numbers(0, total);
		for (uint32_t id = 1; id <= 3; id++)
			CHECK_INT(samples_at(LANE_DRAINED, id), rig.tracks[id - 1].at);
		music_mixer_free(rig.m);
	}
}

/* A frame with a joint in it may be taken back: nothing is lost or played twice. */
TEST(music_joint_that_is_taken_back)
{
	setup();
	add(1500, 0, (struct music_joint){0});
	add(1500, 0, (struct music_joint){0});
	play(1);
	feed();
	CHECK_INT(pull(), 960);
	music_mixer_unpull(rig.m);
	note_events();
	CHECK_INT(rig.n_ev, 1); /* started */
	CHECK_INT(play(5), 2040);
	check_numbers(0, 3000);
	CHECK_INT(samples_at(LANE_DRAINED, 1), 1500);
	CHECK_INT(samples_at(LANE_DRAINED, 2), 1500);
	music_mixer_free(rig.m);
}

/* A decoder died when it had written all but the end, and the next one has nothing to add. */
TEST(music_without_a_sample_ends_in_its_turn)
{
	setup();
	add(3000, 0, (struct music_joint){0});
	add(0, 0, (struct music_joint){.after = 1});
	add(1000, 0, (struct music_joint){0});
	play(2);
	CHECK_INT(count_events(LANE_DRAINED, 2), 0);
	CHECK_INT(play(5), 4000 - 2 * LANE_FRAME);
	check_numbers(0, 4000);
	CHECK_INT(rig.n_ev, 5);
	CHECK(rig.ev[1].what == LANE_DRAINED && rig.ev[1].id == 1);
	CHECK(rig.ev[2].what == LANE_DRAINED && rig.ev[2].id == 2);
	CHECK_INT(samples_at(LANE_DRAINED, 2), 0);
	music_mixer_free(rig.m);
}

TEST(music_next_track_that_is_late_starts_when_it_is_there)
{
	setup();
	add(1000, 0, (struct music_joint){0});
	CHECK_INT(play(5), 1000);
	add(1000, 0, (struct music_joint){0});
	CHECK(music_mixer_is_active(rig.m) && !music_mixer_has_audio(rig.m));
	CHECK_INT(play(5), 1000);
	check_numbers(0, 2000);
	music_mixer_free(rig.m);
}

/* Over a crossfade the power stays what it was, and both tracks keep their sample counts. */
TEST(music_crossfade_has_equal_power)
{
	enum { LENGTH = 48000, CROSS = 24000 };

	setup();
	*add(LENGTH, LENGTH, (struct music_joint){0}) =
		(struct track){.lane = rig.tracks[0].lane, .id = 1, .left = LENGTH, .l = 10000};
	add(LENGTH, LENGTH, (struct music_joint){.crossfade = CROSS});
	rig.tracks[1].r = 10000;
	play(100);
	for (size_t i = 0; i < LENGTH; i++) {
		double power = hypot((double)rig.left[i], (double)rig.right[i]);

		if (power < 9990 || power > 10010)
			test_fail(__FILE__, __LINE__, "frame %zu: %g", i, power);
	}
	CHECK(rig.right[LENGTH - CROSS - LANE_FRAME] == 0 && rig.left[LENGTH - CROSS / 2] > 5000);
	CHECK_INT(count_events(LANE_STOPPED, 1), 1); /* it fell away */
	CHECK_INT(samples_at(LANE_DRAINED, 2), LENGTH);
	CHECK(rig.n >= 2 * LENGTH - CROSS - LANE_FRAME && rig.n <= 2 * LENGTH - CROSS);
	music_mixer_free(rig.m);
}

/* Without a known length the track plays to its end, and the next one follows it. */
TEST(music_crossfade_needs_a_length)
{
	setup();
	add(4 * TRACK, 0, (struct music_joint){0});
	rig.tracks[0].l = 100;
	add(TRACK, 0, (struct music_joint){.crossfade = 40 * TRACK});
	rig.tracks[1].l = 200;
	play(40);
	CHECK_INT(rig.n, 5 * TRACK);
	CHECK(rig.left[4 * TRACK - 1] == 100 && rig.left[4 * TRACK] == 200);
	CHECK_INT(samples_at(LANE_DRAINED, 2), TRACK);
	music_mixer_free(rig.m);
}

/* The next track was prepared late, as behind a seek to the end: it crosses over what is left. */
TEST(music_crossfade_is_as_long_as_what_is_left)
{
	enum { LENGTH = 48000, LEFT = 9600, CROSS = 40000 };

	setup();
	add(LENGTH, LENGTH, (struct music_joint){0});
	rig.tracks[0].l = 10000;
	play((LENGTH - LEFT) / LANE_FRAME);
	add(LENGTH, LENGTH, (struct music_joint){.crossfade = CROSS});
	rig.tracks[1].r = 10000;
	play(60);
	for (size_t i = 0; i < 2 * LENGTH - LEFT - LANE_FRAME; i++) {
		double power = hypot((double)rig.left[i], (double)rig.right[i]);

		if (power < 9990 || power > 10010)
			test_fail(__FILE__, __LINE__, "frame %zu: %g", i, power);
	}
	CHECK_INT(samples_at(LANE_DRAINED, 2), LENGTH);
	music_mixer_free(rig.m);
}

/* A track that is shorter than the crossfade: it is not silent, and the two fades of it do not
 * overlap. */
TEST(music_crossfade_is_at_most_half_of_the_shorter_track)
{
	enum { LONG = 96000, SHORT = 24000, CROSS = 57600 };
	const uint32_t lengths[] = {LONG, SHORT, LONG};

	setup();
	for (unsigned i = 0; i < 3; i++)
		add(lengths[i], lengths[i], (struct music_joint){.crossfade = CROSS});
	rig.tracks[0].l = rig.tracks[2].l = 10000;
	rig.tracks[1].r = 10000;
	play(220);
	for (size_t i = 0; i < (size_t)2 * LONG - 2 * LANE_FRAME; i++) {
		double power = hypot((double)rig.left[i], (double)rig.right[i]);

		if (power < 9990 || power > 10010) {
			test_fail(__FILE__, __LINE__, "frame %zu: %g", i, power);
			break;
		}
	}
	CHECK(rig.n >= (size_t)2 * LONG - 2 * LANE_FRAME);
	CHECK_INT(samples_at(LANE_DRAINED, 3), LONG);
	music_mixer_free(rig.m);
}

/* Music that begins in its middle has no step, also when it begins in a pause. */
TEST(music_that_begins_in_its_middle_fades_in)
{
	for (int paused = 0; paused < 2; paused++) {
		struct music_lane_conf conf = {.id = 1, .gain = PLAYOUT_GAIN_UNITY, .fade_in = 480};
		struct track *t = &rig.tracks[0];

		setup();
		rig.n_tracks = 1;
		*t = (struct track){.id = 1, .left = TRACK, .l = 20000};
		if (music_lane_alloc(&t->lane, &conf) ||
		    music_mixer_add(rig.m, t->lane, &(struct music_joint){0}))
			abort();
		if (paused)
			music_mixer_pause(rig.m, 1, 0);
		play(2);
		music_mixer_resume(rig.m, 1, 40);
		play(10);
		CHECK(rig.left[0] < 100 && rig.left[240] > 9000 && rig.left[481] == 20000);
		for (size_t i = 1; i < TRACK; i++)
			CHECK(fabsf(rig.left[i] - rig.left[i - 1]) < 50);
		CHECK_INT(samples_at(LANE_DRAINED, 1), TRACK);
		music_mixer_free(rig.m);
	}
}

/* It goes on although its length has told its end, and crosses over when its source ends. */
TEST(music_longer_than_its_length_is_not_cut)
{
	setup();
	add(6 * TRACK, TRACK, (struct music_joint){0});
	rig.tracks[0].l = 100;
	play(10);
	add(TRACK, TRACK, (struct music_joint){.crossfade = TRACK});
	rig.tracks[1].l = 200;
	play(40);
	CHECK(samples_at(LANE_STOPPED, 1) >= 6 * TRACK - 1);
	CHECK_INT(samples_at(LANE_DRAINED, 2), TRACK);
	music_mixer_free(rig.m);
}

/* A seek: the new lane takes over as soon as it is ready, before the one that was prepared. */
TEST(music_seek_crosses_over_at_once)
{
	setup();
	add(48000, 48000, (struct music_joint){0});
	add(TRACK, 0, (struct music_joint){0});
	rig.tracks[0].l = 1000;
	rig.tracks[1].l = 3000;
	play(5);
	add(TRACK, 0, (struct music_joint){.crossfade = 480, .at_once = true, .after = 1});
	rig.tracks[2].l = 2000;
	CHECK(music_lane_id(music_mixer_at(rig.m, 1)) == 3);
	play(20);
	CHECK_INT(samples_at(LANE_STOPPED, 1), 5 * 960 + 480);
	CHECK(rig.left[5 * 960 + 481] == 2000);
	CHECK_INT(samples_at(LANE_DRAINED, 3), TRACK);
	CHECK_INT(samples_at(LANE_DRAINED, 2), TRACK);
	CHECK(rig.left[5 * 960 + TRACK - 1] == 2000 && rig.left[5 * 960 + TRACK] == 3000);
	music_mixer_free(rig.m);
}

/* The crossfade gives way to it: the place is told at once, and must be heard at once. */
TEST(music_seek_in_a_crossfade_is_heard_at_once)
{
	size_t from;

	setup();
	add(48000, 48000, (struct music_joint){0});
	add(96000, 96000, (struct music_joint){.crossfade = 24000});
	rig.tracks[0].l = 1000;
	rig.tracks[1].l = 3000;
	play(30);
	add(TRACK, 0, (struct music_joint){.crossfade = 480, .at_once = true, .after = 2});
	rig.tracks[2].r = 2000;
	from = rig.n;
	play(4);
	CHECK_INT(count_events(LANE_STOPPED, 1), 1);
	CHECK_INT(count_events(LANE_STOPPED, 2), 1);
	CHECK(rig.right[from + 2 * 960] > 0 && rig.right[from + 3 * 960] == 2000);
	CHECK(rig.left[from + 3 * 960] == 0);
	for (size_t i = from; i < rig.n; i++)
		CHECK(fabsf(rig.left[i] - rig.left[i - 1]) < 20);
	music_mixer_free(rig.m);
}

/* Nothing is lost over a pause, and the fades have no step. */
TEST(music_pause_and_resume)
{
	size_t before;

	setup();
	add(48000, 0, (struct music_joint){0});
	rig.tracks[0].l = rig.tracks[0].r = 10000;
	play(5);
	CHECK(music_mixer_pause(rig.m, 1, 30));
	play(5);
	before = rig.n;
	CHECK_INT(samples_at(LANE_PAUSED, 1), before);
	CHECK(before >= 5 * 960 + 1438 && before <= 5 * 960 + 1440);
	CHECK(!music_mixer_is_active(rig.m));
	CHECK(music_mixer_resume(rig.m, 1, 30));
	CHECK(music_mixer_is_active(rig.m));
	play(60);
	CHECK_INT(samples_at(LANE_DRAINED, 1), 48000);
	CHECK_INT(rig.n, 48000);
	for (size_t i = 1; i < rig.n; i++)
		CHECK(fabsf(rig.left[i] - rig.left[i - 1]) <= 8);
	CHECK(!music_mixer_pause(rig.m, 9, 0) && !music_mixer_resume(rig.m, 9, 0));
	music_mixer_free(rig.m);
}

/* Over a crossfade a pause keeps the track that comes, and the one that goes is over. */
TEST(music_pause_in_a_crossfade)
{
	setup();
	add(9600, 9600, (struct music_joint){0});
	add(9600, 9600, (struct music_joint){.crossfade = 4800});
	rig.tracks[0].l = rig.tracks[1].r = 1000;
	play(7);
	music_mixer_pause(rig.m, 2, 0);
	play(3);
	CHECK_INT(count_events(LANE_STOPPED, 1), 1);
	CHECK_INT(count_events(LANE_PAUSED, 2), 1);
	music_mixer_resume(rig.m, 2, 0);
	play(20);
	CHECK_INT(samples_at(LANE_DRAINED, 2), 9600);
	music_mixer_free(rig.m);
}

/* Gain moves with each sample. */
TEST(music_gain_has_no_zipper_noise)
{
	setup();
	add(48000, 0, (struct music_joint){0});
	rig.tracks[0].l = rig.tracks[0].r = 20000;
	play(2);
	playout_gain(music_lane_playout(rig.tracks[0].lane), PLAYOUT_GAIN_UNITY / 2, 4800);
	play(20);
	for (size_t i = 1; i < rig.n; i++)
		CHECK(fabsf(rig.left[i] - rig.left[i - 1]) < 2.2f);
	CHECK(rig.left[2 * 960 + 4801] == 10000 && rig.left[2 * 960] > 19900);
	music_mixer_free(rig.m);
}

TEST(music_stop_gives_way_to_the_next)
{
	setup();
	add(48000, 0, (struct music_joint){0});
	add(TRACK, 0, (struct music_joint){0});
	rig.tracks[0].l = 1000;
	rig.tracks[1].l = 2000;
	play(3);
	playout_stop(music_lane_playout(rig.tracks[0].lane), 0);
	play(10);
	CHECK_INT(samples_at(LANE_STOPPED, 1), 3 * 960);
	CHECK(rig.left[3 * 960] == 2000);
	CHECK_INT(samples_at(LANE_DRAINED, 2), TRACK);
	music_mixer_free(rig.m);
}

/* A source that falls silent is waited for; what it brings then plays from the next sample on. */
TEST(music_starves_and_goes_on)
{
	setup();
	add(0, 0, (struct music_joint){0});
	for (int i = 0; i < 2; i++) {
		static int16_t pcm[2 * 2880];
		struct track *t = &rig.tracks[0];

		for (int k = 0; k < 2880; k++) {
			pcm[2 * k] = (int16_t)(i * 2880 + k + 1);
			pcm[2 * k + 1] = (int16_t)-pcm[2 * k];
		}
		CHECK_INT(music_lane_write(t->lane, pcm, 2880, rig.now), 0);
		for (int k = 0; k < 5; k++) {
			rig.n += pull();
			music_mixer_confirm(rig.m, true, rig.now += 20000000);
			CHECK(music_mixer_is_active(rig.m));
		}
	}
	CHECK_INT(rig.n, 2 * 2880);
	check_numbers(0, rig.n);
	music_mixer_free(rig.m);
}

TEST(music_mixer_bounds_its_lanes)
{
	struct music_lane *l = NULL;
	struct music_lane_conf conf = {.id = 1, .gain = PLAYOUT_GAIN_UNITY};

	setup();
	for (int i = 0; i < MUSIC_MIXER_LANES; i++)
		add(1, 0, (struct music_joint){0});
	CHECK_INT(music_lane_alloc(&l, &conf), 0);
	CHECK_INT(music_mixer_add(rig.m, l, &(struct music_joint){0}), EEXIST);
	music_lane_free(l);
	conf.id = MUSIC_MIXER_LANES + 1;
	CHECK_INT(music_lane_alloc(&l, &conf), 0);
	CHECK_INT(music_mixer_add(rig.m, l, &(struct music_joint){0}), ENOSPC);
	music_lane_free(l);
	CHECK_INT(music_lane_id(music_mixer_take(rig.m)), MUSIC_MIXER_LANES);
	music_lane_free(rig.tracks[MUSIC_MIXER_LANES - 1].lane);
	music_mixer_free(rig.m);
}

TEST_OOM(music_without_memory)
{
	struct music_mixer *m = NULL;
	struct music_lane *l = NULL;
	struct music_lane_conf conf = {.id = 1, .gain = PLAYOUT_GAIN_UNITY};

	CHECK_OOM(music_mixer_alloc(&m), (void)0);
	music_mixer_free(m);
	CHECK_OOM(music_lane_alloc(&l, &conf), (void)0);
	music_lane_free(l);
}
