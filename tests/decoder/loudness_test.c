/* decoderd measures the loudness of tracks whose tags do not give it. */
#include <math.h>

#include "mediad/music/loudness.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/test.h"

enum { SECONDS = 24, QUIET_S = 8, SHORT_S = 6, LONG_S = 300, PATIENCE_MS = 20000 };

static bool write_sound(const struct deck *d, const struct format *f, int seconds)
{
	const struct sound s = {.path = deck_path(d, f->name),
				.format = f->format,
				.codec = f->codec,
				.rate = f->rate,
				.channels = 2,
				.samples = (int64_t)seconds * f->rate,
				.quiet = (int64_t)QUIET_S * f->rate};

	return sound_write(&s);
}

/* Returns the loudness in 1/100 LUFS of the signal itself; the meter has tests of its own. */
static int expected(int seconds)
{
	static int16_t pcm[2 * RATE];
	struct loudness *l = NULL;
	double lufs = 0;

	if (loudness_alloc(&l))
		return 0;
	for (int s = 0; s < seconds; s++) {
		for (int i = 0; i < 2 * RATE; i++)
			pcm[i] = (int16_t)lrint((s < QUIET_S ? 3276.7 : 32767) *
						sound_signal(s + (double)(i / 2) / RATE, i % 2));
		loudness_add(l, pcm, RATE);
	}
	loudness_integrated(l, &lufs);
	loudness_free(l);
	return (int)lrint(100 * lufs);
}

/* Waits for LEVELS of a file in slot 0 whose ring is full. */
static bool wait_levels(struct deck *d, struct decoder_levels *out)
{
	struct decoder_msg msg;

	while (deck_receive(d, &msg, PATIENCE_MS))
		if (msg.type == DECODER_LEVELS && msg.track == d->track[0]) {
			*out = msg.levels;
			return true;
		}
	return false;
}

/* The estimate is made at places all over the file: its quiet beginning misleads nobody. */
TEST(decoderd_measures_files_of_each_format)
{
	const int want = expected(SECONDS);
	struct deck d;
	bool ok = deck_open(&d);

	d.measure = true;
	for (size_t i = 0; i < FORMATS && ok; i++) {
		struct decoder_levels whole = {0};
		struct played p = {0};

		ok = write_sound(&d, &formats[i], SECONDS) && deck_start(&d, 0, formats[i].name, 0);
		if (ok)
			deck_play(&d, 0, &p, 1000);
		free(p.pcm);
		ok = ok && p.has_opened && wait_levels(&d, &whole);
		printf("%s: expected %d, estimate %d, whole %d peak %d\n", formats[i].name, want,
		       p.opened.levels.loudness, whole.loudness, whole.peak);
		ok = ok && abs(p.opened.levels.loudness - want) <= 150 &&
		     abs(whole.loudness - want) <= 50 && abs(whole.peak + 440) <= 150;
		ok = ok && deck_send(&d, &(struct decoder_msg){.type = DECODER_CLOSE,
							       .track = d.track[0]});
	}
	deck_close(&d);
	CHECK(ok);
}

/* A short file is known as a whole before it starts; on a busy machine an estimate comes first. */
TEST(decoderd_measures_a_short_file_at_once)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && write_sound(&d, &formats[0], SHORT_S);

	d.measure = true;
	if (ok)
		deck_play_file(&d, formats[0].name, 0, &p);
	free(p.pcm);
	if (!p.n_levels)
		p.levels = p.opened.levels;
	if (!p.n_levels && abs(p.levels.loudness - expected(SHORT_S)) > 10)
		ok = ok && wait_levels(&d, &p.levels);
	deck_close(&d);
	CHECK(ok);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(p.n_levels <= 1);
	CHECK(abs(p.levels.loudness - expected(SHORT_S)) <= 10);
}

/* Half of it is silent but for a murmur, which the gate leaves out. */
static double half_a_tone(double t, int channel)
{
	(void)channel;
	return (t < LONG_S / 2.0 ? 0.01 : 0.25) * sin(2 * M_PI * 1000 * t);
}

TEST(decoderd_measures_a_long_file_at_many_places)
{
	struct deck d;
	struct played p = {0};
	struct decoder_levels levels = {0};
	struct sound s = {.format = "wav",
			  .codec = "pcm_s16le",
			  .rate = 8000,
			  .channels = 2,
			  .samples = (int64_t)LONG_S * 8000,
			  .signal = half_a_tone};
	bool ok = deck_open(&d);

	d.measure = true;
	s.path = deck_path(&d, "long.wav");
	ok = ok && sound_write(&s) && deck_start(&d, 0, "long.wav", 0);
	if (ok)
		deck_play(&d, 0, &p, 1000);
	ok = ok && wait_levels(&d, &levels);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK(abs(levels.loudness + 1204) <= 20);
	CHECK(abs(levels.peak + 1204) <= 20);
}

/* It may become loud when it has played for long. */
TEST(decoderd_measures_a_web_source_to_its_end)
{
	enum { WEB_S = 45 };
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && write_sound(&d, &formats[3], WEB_S);

	d.measure = true;
	if (ok)
		deck_play_file(&d, "/ranges/d.mp3", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(p.n_levels >= WEB_S - 1 && p.n_levels <= WEB_S);
}

/* A web source is measured as it plays, after each second. */
TEST(decoderd_measures_a_web_source_as_it_plays)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && write_sound(&d, &formats[3], SECONDS);

	d.measure = true;
	if (ok)
		deck_play_file(&d, "/ranges/d.mp3", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK_INT(p.opened.levels.loudness, DECODER_NO_LEVEL);
	CHECK(p.n_levels >= SECONDS - 1 && p.n_levels <= SECONDS);
	CHECK(abs(p.levels.loudness - expected((int)p.n_levels)) <= 50);
}

TEST(decoderd_does_not_measure_what_tags_say)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[2], 2);

	d.measure = true;
	if (ok)
		deck_play_file(&d, formats[2].name, 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_INT(p.opened.levels.loudness, -1450);
	CHECK_INT(p.opened.levels.peak, DECODER_NO_LEVEL);
	CHECK_INT(p.n_levels, 0);
}

/* Whoever made the file may say what it likes: full scale that calls itself quiet is measured. */
TEST(decoderd_does_not_believe_that_a_track_is_quiet)
{
	struct deck d;
	struct played p = {0};
	struct sound s = {.format = "flac",
			  .codec = "flac",
			  .rate = RATE,
			  .channels = 2,
			  .samples = 2 * RATE,
			  .gain = "+9.00 dB"};
	bool ok = deck_open(&d);

	s.path = deck_path(&d, "tagged.flac");
	d.measure = true;
	ok = ok && sound_write(&s);
	/* The estimate has 12 ms, in which a busy machine may give it no processor at all. */
	for (unsigned i = 0; i < 50 && ok; i++) {
		p = (struct played){0};
		deck_play_file(&d, "tagged.flac", 0, &p);
		free(p.pcm);
		ok = p.reason == DECODER_REASON_END && p.opened.levels.loudness == DECODER_NO_LEVEL;
	}
	deck_close(&d);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(p.opened.levels.loudness > -2000 && p.opened.levels.peak > -1000);
}
