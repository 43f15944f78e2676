/* Loudness of music in a call. */
#include "tests/unit/mediad/call/music_rig.h"

#include <math.h>

/* Tags bring the loudness to its target, but the peak stays below -1 dBFS. */
TEST(call_music_loudness)
{
	struct media_music_play m = {
		.kind = MEDIA_MUSIC_FILE, .path = slice_str("a"), .gain = 1000, .duck = 150};
	static const struct {
		uint16_t target;
		double gain;
	} rows[] = {{0, 1}, {1600, 0.501}, {900, 1.122}, {500, 1.259}};

	for (unsigned i = 0; i < 4; i++) {
		const struct playout *p;

		music_rig_setup();
		m.music = i + 1;
		m.loudness = rows[i].target;
		call_music_play(&music_rig.c, &m);
		music_rig_opened(i + 1, 0, DURATION);
		music_rig_run_ms(40);
		p = music_lane_playout(music_mixer_at(sender_music(music_rig.c.stream->sender), 0));
		CHECK((double)p->gain > rows[i].gain - 0.01 &&
		      (double)p->gain < rows[i].gain + 0.01);
		call_music_gain(
			&music_rig.c,
			&(struct media_music_gain){.music = i + 1, .target = 500, .fade_ms = 20});
		music_rig_run_ms(100);
		CHECK((double)p->gain < rows[i].gain / 2 + 0.01);
		music_rig_finish();
	}
}

/* Volumes are steps of half a decibel: in whole thousandths 2 % to 10 % of a loud track were one
 * gain. */
TEST(call_music_is_as_loud_as_its_volume_says)
{
	struct music_track t = {.target = 1600, .opened.levels.peak = DECODER_NO_LEVEL};

	for (unsigned percent = 2; percent <= 100; percent++)
		for (int lufs = -25; lufs <= -6; lufs++) {
			const double volume = percent / 2.0 - 50,
				     want = volume + fmin(-16 - lufs, 9);

			t.gain = music_gain_of(0, (uint32_t)lrint(1e6 * pow(10, volume / 20)));
			t.opened.levels.loudness = (int16_t)(100 * lufs);
			CHECK(fabs(20 * log10(music_track_gain(&t) / 1e6) - want) < 0.02);
		}
	/* An older control tells thousandths alone. */
	CHECK_INT(music_gain_of(56, 0), 56000);
}

static bool is_ducked_as(const struct duck_conf *conf)
{
	const struct duck *d = music_mixer_duck(sender_music(music_rig.c.stream->sender));
	struct duck told;

	duck_init(&told);
	duck_set(&told, conf);
	return d->hold == told.hold && fabsf(d->depth - told.depth) +
						       fabsf(d->attack - told.attack) +
						       fabsf(d->release - told.release) <=
					       0;
}

/* A list of tracks that follow each other may play for hours. */
TEST(call_music_is_ducked_as_it_is_told_meanwhile)
{
	const struct duck_conf before = {150, 80, 600, 600}, after = {400, 120, 900, 1500};
	struct media_music_gain m = {.music = 1, .target = 1000, .duck = UINT16_MAX};

	music_rig_setup();
	call_music_duck(&music_rig.c, &m); /* there is none */
	call_music_play(&music_rig.c, &(struct media_music_play){.music = 1,
								 .kind = MEDIA_MUSIC_FILE,
								 .path = slice_str("a"),
								 .gain = 1000,
								 .duck = before.depth,
								 .duck_attack_ms = 80,
								 .duck_hold_ms = 600,
								 .duck_release_ms = 600});
	music_rig_opened(1, 0, DURATION);
	music_rig_run_ms(40);
	call_music_duck(&music_rig.c, &m);
	music_rig_run_ms(40);
	CHECK(is_ducked_as(&before));
	m.duck = 400;
	m.duck_attack_ms = 120;
	m.duck_hold_ms = 900;
	m.duck_release_ms = 1500;
	call_music_duck(&music_rig.c, &m);
	music_rig_run_ms(40);
	CHECK(is_ducked_as(&after));
	music_rig_finish();
}

TEST(call_music_is_ducked_as_it_is_told)
{
	const struct media_music_play m = {.music = 1,
					   .kind = MEDIA_MUSIC_FILE,
					   .path = slice_str("a"),
					   .gain = 1000,
					   .duck = 250,
					   .duck_attack_ms = 120,
					   .duck_hold_ms = 900,
					   .duck_release_ms = 1500};
	struct duck told;
	const struct duck *d;

	music_rig_setup();
	call_music_play(&music_rig.c, &m);
	music_rig_opened(1, 0, DURATION);
	music_rig_run_ms(40);
	duck_init(&told);
	duck_set(&told,
		 &(struct duck_conf){
			 .depth = 250, .attack_ms = 120, .hold_ms = 900, .release_ms = 1500});
	d = music_mixer_duck(sender_music(music_rig.c.stream->sender));
	CHECK_INT(d->hold, 45);
	CHECK(fabsf(d->depth - told.depth) + fabsf(d->attack - told.attack) +
		      fabsf(d->release - told.release) <=
	      0);
	music_rig_finish();
}

static double gain_of(unsigned lane)
{
	return (double)music_lane_playout(
		       music_mixer_at(sender_music(music_rig.c.stream->sender), lane))
		->gain;
}

static void deliver_levels(uint32_t music, int16_t loudness)
{
	music_rig_deliver(&(struct decoder_msg){.type = DECODER_LEVELS,
						.track = music_rig_track_of(music)->decoded,
						.levels = {loudness, DECODER_NO_LEVEL}});
}

static void play_at_16_lufs(uint32_t music)
{
	struct media_music_play m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("a"),
				     .gain = 1000,
				     .duck = 150,
				     .loudness = 1600};

	call_music_play(&music_rig.c, &m);
}

/* Levels that are measured while music plays change its gain by a decibel a second. */
TEST(call_music_glides_to_levels_that_are_measured)
{
	music_rig_setup();
	play_at_16_lufs(7);
	music_rig_opened(7, 0, 30 * DURATION);
	music_rig_run_ms(500);
	CHECK(fabs(gain_of(0) - 0.501) < 0.01);
	deliver_levels(7, -1300);
	music_rig_run_ms(1500);
	CHECK(gain_of(0) > 0.55 && gain_of(0) < 0.62);
	music_rig_run_ms(2000);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	music_rig_finish();
}

static void prepare_at_16_lufs(uint32_t music)
{
	struct media_music_next m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("b"),
				     .gain = 1000,
				     .loudness = 1600};

	call_music_next(&music_rig.c, &m);
}

/* Opens a track that is as loud as that. */
static void open_as_loud(uint32_t music, int16_t loudness)
{
	music_rig_opened(music, 0, DURATION);
	deliver_levels(music, loudness);
}

static double gain_after(const char *album, int16_t loudness)
{
	double gain;

	music_rig_setup();
	music_rig.album = "One";
	play_at_16_lufs(7);
	open_as_loud(7, -1000);
	music_rig.album = album;
	prepare_at_16_lufs(8);
	open_as_loud(8, loudness);
	music_rig_run_ms(1400);
	gain = 20 * log10(gain_of(0));
	music_rig.album = NULL;
	music_rig_finish();
	return gain;
}

/* Within an album a track is beside the one before it as it was made, but not far from the target.
 */
TEST(call_music_of_one_album_keeps_its_gain)
{
	music_rig.artist = NULL;
	CHECK(fabs(gain_after("Two", -1200) + 4) < 0.1);
	CHECK(fabs(gain_after("One", -1200) + 6) < 0.1);
	CHECK(fabs(gain_after("One", -800) + 6) < 0.1);
	CHECK(fabs(gain_after("One", -400) + 9) < 0.1);
	CHECK(fabs(gain_after("One", -2000) + 2) < 0.1);
}

/* An album of greatest hits follows that of another artist. */
TEST(call_music_of_an_album_of_that_name_has_its_own_gain)
{
	const char *const paths[][2] = {
		{"a", "b"}, {"x/a", "y/b"}, {"x/a", "xy/b"}, {"x/a", "x/b"}};
	const double gains[] = {-4, -4, -4, -6};

	for (unsigned i = 0; i < 4; i++) {
		struct media_music_play play = {.music = 7,
						.kind = MEDIA_MUSIC_FILE,
						.path = slice_str(paths[i][0]),
						.gain = 1000,
						.loudness = 1600,
						.duck = 150};
		struct media_music_next next = {.music = 8,
						.kind = MEDIA_MUSIC_FILE,
						.path = slice_str(paths[i][1]),
						.gain = 1000,
						.loudness = 1600};

		music_rig_setup();
		music_rig.album = "Greatest Hits";
		music_rig.artist = "Ann";
		call_music_play(&music_rig.c, &play);
		open_as_loud(7, -1000);
		music_rig.artist = "Bob";
		call_music_next(&music_rig.c, &next);
		open_as_loud(8, -1200);
		music_rig_run_ms(1400);
		CHECK(fabs(20 * log10(gain_of(0)) - gains[i]) < 0.1);
		music_rig_finish();
	}
	music_rig.album = music_rig.artist = NULL;
}

/* What is learnt about the first track counts for the one that is prepared. */
TEST(call_music_of_one_album_follows_the_levels_of_its_first_track)
{
	music_rig_setup();
	music_rig.album = "One";
	play_at_16_lufs(7);
	open_as_loud(7, -1000);
	prepare_at_16_lufs(8);
	open_as_loud(8, -1200);
	music_rig_run_ms(200);
	deliver_levels(7, -1100);
	music_rig_run_ms(1200);
	CHECK(fabs(20 * log10(gain_of(0)) + 5) < 0.1);
	music_rig.album = NULL;
	music_rig_finish();
}

/* Before the first sound nobody hears a change. */
TEST(call_music_takes_levels_before_its_start_at_once)
{
	music_rig_setup();
	play_at_16_lufs(7);
	music_rig_opened(7, 0, 30 * DURATION);
	deliver_levels(7, -1300);
	music_rig_run_ms(40);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	music_rig_finish();
}

/* The decoder of a seek knows less than the one before it did by then. */
TEST(call_music_seek_keeps_measured_levels)
{
	music_rig_setup();
	play_at_16_lufs(7);
	music_rig_opened(7, 0, 30 * DURATION);
	deliver_levels(7, -1300);
	music_rig_run_ms(500);
	call_music_seek(&music_rig.c, &(struct media_music_seek){.music = 7, .position = 48000});
	music_rig_opened(7, 48000, 30 * DURATION);
	music_rig_run_ms(500);
	CHECK(fabs(gain_of(0) - 0.708) < 0.01);
	music_rig_finish();
}

/* A web source that begins quietly is made no louder until much of it is known; one that is too
 * loud is made quieter at once. */
TEST(call_music_of_the_web_is_not_boosted_by_its_beginning)
{
	struct media_music_play m = {.music = 7,
				     .kind = MEDIA_MUSIC_HTTP,
				     .path = slice_str("http://example.com/a"),
				     .gain = 1000,
				     .duck = 150,
				     .loudness = 1600};

	music_rig_setup();
	call_music_play(&music_rig.c, &m);
	music_rig_opened(7, 0, 100 * DURATION);
	music_rig_run_ms(500);
	CHECK(fabs(gain_of(0) - 0.501) < 0.01);
	deliver_levels(7, -2500);
	music_rig_run_ms(3000);
	CHECK(fabs(gain_of(0) - 0.501) < 0.01);
	deliver_levels(7, -400);
	music_rig_run_ms(1100);
	CHECK(fabs(gain_of(0) - 0.251) < 0.01);
	for (int i = 0; i < 27; i++)
		deliver_levels(7, -2200);
	music_rig_run_ms(1000);
	CHECK(fabs(gain_of(0) - 0.251) < 0.01);
	deliver_levels(7, -2200);
	music_rig_run_ms(1000);
	CHECK(gain_of(0) > 0.3 && gain_of(0) < 0.4);
	/* The source is measured each second, and each time a little else is found. */
	deliver_levels(7, -2199);
	music_rig_run_ms(40);
	CHECK(gain_of(0) > 0.3 && gain_of(0) < 0.4);
	music_rig_run_ms(960);
	deliver_levels(7, -2200);
	music_rig_run_ms(40);
	CHECK(gain_of(0) < 0.5);
	for (int i = 0; i < 20; i++) {
		deliver_levels(7, -2200 + i % 2);
		music_rig_run_ms(1000);
	}
	CHECK(fabs(gain_of(0) - 1.995) < 0.01);
	music_rig_finish();
}

/* Who turns music down waits no longer because its source is measured meanwhile. */
TEST(call_music_levels_leave_the_pace_of_a_fade)
{
	music_rig_setup();
	play_at_16_lufs(7);
	music_rig_opened(7, 0, 30 * DURATION);
	deliver_levels(7, -1600);
	music_rig_run_ms(500);
	call_music_gain(&music_rig.c,
			&(struct media_music_gain){.music = 7, .target = 100, .fade_ms = 400});
	music_rig_run_ms(200);
	deliver_levels(7, -1700);
	music_rig_run_ms(400);
	CHECK(fabs(gain_of(0) - 0.112) < 0.001);
	music_rig_finish();
}
