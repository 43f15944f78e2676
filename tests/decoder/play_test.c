/* decoderd plays what libav has encoded: every format, sample-exact length and place, tags, seeks,
 * and the reasons for which it does not play. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/test.h"

static void check_format(struct deck *d, const struct format *f)
{
	const long want = format_frames(f);
	struct played p;
	double snr;

	deck_play_file(d, f->name, 0, &p);
	snr = format_snr(&p, 0);
	printf("%s: %zu frames, %ld expected, duration %llu, SNR %.1f dB\n", f->name, p.frames,
	       want, (unsigned long long)p.opened.duration, snr);
	free(p.pcm);
	CHECK(p.has_opened && p.has_ended && !p.broken);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(labs((long)p.frames - want) <= f->length_error);
	CHECK(labs((long)p.opened.duration - want) <= 4800);
	CHECK(snr >= f->snr);
	CHECK(p.opened.seekable && !p.opened.guessed);
	CHECK_INT(p.opened.start, 0);
}

TEST(decoderd_plays_each_format_to_its_last_frame)
{
	struct deck d;
	bool ok = deck_open(&d);

	for (size_t i = 0; i < FORMATS && ok; i++) {
		ok = format_write(&d, &formats[i], 2);
		if (ok)
			check_format(&d, &formats[i]);
	}
	deck_close(&d);
	CHECK(ok);
}

/* Waits for OPENED; returns the frames that can be played then, or -1. */
static long sound_when_opened(struct deck *d, const char *name)
{
	struct decoder_msg msg;

	if (!deck_start(d, 0, name, 0))
		return -1;
	while (deck_receive(d, &msg, 10000) && msg.type != DECODER_ENDED)
		if (msg.type == DECODER_OPENED)
			return (long)track_ring_ready(d->ring[0]);
	return -1;
}

static void close_track(struct deck *d)
{
	const struct decoder_msg close = {.type = DECODER_CLOSE, .slot = 0, .track = d->track[0]};
	struct decoder_msg msg;

	deck_send(d, &close);
	while (deck_receive(d, &msg, 10000) && msg.type != DECODER_ENDED)
		;
}

/* Whoever is told plays at once: sound that is a moment late would be late by a whole packet. */
TEST(decoderd_tells_that_a_track_is_open_when_it_can_be_played)
{
	struct deck d;
	bool ok = deck_open(&d);

	for (size_t i = 0; i < FORMATS && ok; i++) {
		ok = format_write(&d, &formats[i], 2);
		for (unsigned k = 0; k < 3 && ok; k++) {
			ok = sound_when_opened(&d, formats[i].name) >= RATE / 50;
			if (!ok)
				printf("%s is not ready\n", formats[i].name);
			close_track(&d);
		}
	}
	deck_close(&d);
	CHECK(ok);
}

TEST(decoderd_plays_a_track_shorter_than_a_packet)
{
	struct deck d;
	struct played p = {0};
	struct sound s = {
		.format = "wav", .codec = "pcm_s16le", .rate = RATE, .channels = 2, .samples = 100};
	bool ok = deck_open(&d);

	s.path = deck_path(&d, "click.wav");
	if (ok && sound_write(&s))
		deck_play_file(&d, "click.wav", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(p.has_opened);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK_INT(p.frames, 100);
}

TEST(decoderd_starts_at_the_frame_that_is_asked_for)
{
	static const uint64_t starts[] = {100, 14400, 48001, 150000};
	struct deck d;
	bool ok = deck_open(&d);

	for (size_t i = 0; i < FORMATS && ok; i++) {
		const struct format *f = &formats[i];

		ok = format_write(&d, f, 2);
		for (size_t k = 0; k < sizeof starts / sizeof starts[0] && ok; k++) {
			struct played p;

			deck_play_file(&d, f->name, starts[k], &p);
			ok = p.reason == DECODER_REASON_END && p.opened.start == starts[k] &&
			     format_snr(&p, starts[k]) >= f->snr - 6;
			if (!ok)
				printf("%s from %llu: %s, start %llu, %.1f dB\n", f->name,
				       (unsigned long long)starts[k], decoder_reason_name(p.reason),
				       (unsigned long long)p.opened.start,
				       format_snr(&p, starts[k]));
			free(p.pcm);
		}
	}
	deck_close(&d);
	CHECK(ok);
}

TEST(decoderd_reads_tags_and_levels)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[2], 2);

	if (ok)
		deck_play_file(&d, formats[2].name, 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(p.opened.title, "Tïtle");
	CHECK_STR(p.opened.artist, "An artist");
	CHECK_STR(p.opened.album, "");
	CHECK_INT(p.opened.levels.loudness, -1450);
	CHECK_INT(p.opened.levels.peak, DECODER_NO_LEVEL);
}

TEST(decoderd_plays_mono_on_both_sides_at_full_level)
{
	struct deck d;
	struct played p = {0};
	double sum = 0, power = 0;
	bool ok = deck_open(&d) && format_write(&d, &formats[2], 1), same = true;

	if (ok)
		deck_play_file(&d, formats[2].name, 0, &p);
	for (size_t i = 0; i < p.frames; i++) {
		double want = sound_signal((double)i / RATE, 0);

		same = same && p.pcm[2 * i] == p.pcm[2 * i + 1];
		sum += want * p.pcm[2 * i] / 32768;
		power += want * want;
	}
	free(p.pcm);
	deck_close(&d);
	CHECK(ok && same && p.frames);
	CHECK(fabs(sum / power - 1) < 0.01);
}

static enum decoder_reason reason_for(struct deck *d, const char *name)
{
	struct played p;

	deck_play_file(d, name, 0, &p);
	free(p.pcm);
	return p.has_ended && !p.frames ? p.reason : DECODER_REASON_UNKNOWN;
}

static bool write_text(const struct deck *d, const char *name, const char *text)
{
	FILE *f = fopen(deck_path(d, name), "w");

	return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

/* A track without sound, or of a codec that is not played, was preferred because it is the first.
 */
TEST(decoderd_plays_the_sound_that_it_can)
{
	static const struct sound made[] = {
		{.path = "a.m4a", .format = "ipod", .codec = "aac", .empty_first = true},
		{.path = "a.mka", .format = "matroska", .codec = "flac", .empty_first = true},
		{.path = "b.mka",
		 .format = "matroska",
		 .codec = "flac",
		 .empty_first = true,
		 .options = "live=1"},
		{.path = "c.mka", .format = "matroska", .codec = "flac", .foreign_first = true},
	};
	struct deck d;
	struct played p;
	bool opened = deck_open(&d);

	for (size_t i = 0; opened && i < sizeof made / sizeof *made; i++) {
		struct sound s = made[i];

		s.path = deck_path(&d, s.path);
		s.rate = 48000;
		s.channels = 2;
		s.samples = 48000;
		CHECK(sound_write(&s));
		deck_play_file(&d, made[i].path, 0, &p);
		CHECK_INT(p.reason, DECODER_REASON_END);
		CHECK(p.frames >= 48000);
		free(p.pcm);
	}
	deck_close(&d);
	CHECK(opened);
}

TEST(decoderd_names_the_reason_of_a_refusal)
{
	struct deck d;
	bool ok = deck_open(&d) && write_text(&d, "page.html", "<html>no music</html>") &&
		  write_text(&d, "list.m3u8", "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n") &&
		  write_text(&d, "empty", "") && mkdir(deck_path(&d, "folder"), 0700) == 0 &&
		  mkfifo(deck_path(&d, "pipe"), 0600) == 0 &&
		  symlink("/etc/passwd", deck_path(&d, "link")) == 0;

	CHECK(ok);
	CHECK_STR(decoder_reason_name(reason_for(&d, "missing")), "not_found");
	CHECK_STR(decoder_reason_name(reason_for(&d, "page.html")), "unknown_format");
	CHECK_STR(decoder_reason_name(reason_for(&d, "list.m3u8")), "unknown_format");
	CHECK_STR(decoder_reason_name(reason_for(&d, "empty")), "unknown_format");
	CHECK_STR(decoder_reason_name(reason_for(&d, "folder")), "not_readable");
	CHECK_STR(decoder_reason_name(reason_for(&d, "pipe")), "not_readable");
	CHECK_STR(decoder_reason_name(reason_for(&d, "link")), "not_readable");
	CHECK_STR(decoder_reason_name(reason_for(&d, "./../etc/passwd")), "not_readable");
	CHECK_STR(decoder_reason_name(reason_for(&d, "../../etc/passwd")), "not_readable");
	deck_close(&d);
}

TEST(decoderd_closes_a_track_and_uses_its_slot_again)
{
	struct deck d;
	struct played p;
	struct decoder_msg msg = {.type = DECODER_CLOSE};
	bool ok = deck_open(&d) && format_write(&d, &formats[0], 2);

	CHECK(ok);
	for (int i = 0; i < 5; i++) {
		CHECK(deck_start(&d, 1, formats[0].name, 0));
		deck_play(&d, 1, &p, 1000);
		free(p.pcm);
		CHECK(p.has_opened && !p.has_ended);
		msg.slot = 1;
		msg.track = d.track[1];
		CHECK(deck_send(&d, &msg));
		CHECK(deck_receive(&d, &msg, 10000));
		CHECK_INT(msg.type, DECODER_ENDED);
		CHECK_INT(msg.reason, DECODER_REASON_CLOSED);
		msg.type = DECODER_CLOSE;
	}
	deck_play_file(&d, formats[0].name, 0, &p);
	free(p.pcm);
	CHECK_INT(p.reason, DECODER_REASON_END);
	deck_close(&d);
}

static double noise_then_hum(double t, int channel)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return t < 8 ? 0.9 * ((double)(seed >> 8) / (1 << 23) - 1) : 0.01 * sin(300 * t + channel);
}

/* A crossfade begins so much before the end, and the length says where that is: a guess from the
 * rate of the first seconds would cut the track. */
TEST(decoderd_declares_no_length_that_it_only_guesses)
{
	struct deck d;
	struct played p = {0};
	struct sound s = {.format = "adts",
			  .codec = "aac",
			  .rate = RATE,
			  .channels = 2,
			  .samples = 40 * RATE,
			  .signal = noise_then_hum};
	bool ok = deck_open(&d);

	s.path = deck_path(&d, "hum.aac");
	ok = ok && sound_write(&s);
	if (ok)
		deck_play_file(&d, "hum.aac", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK(p.opened.guessed || p.opened.duration + 9600 > p.frames);
}

static bool append(const struct deck *d, const char *name, const char *to)
{
	char chunk[4096];
	size_t n;
	FILE *from = fopen(deck_path(d, name), "rb"), *f = fopen(deck_path(d, to), "ab");
	bool ok = from && f;

	while (ok && (n = fread(chunk, 1, sizeof chunk, from)) > 0)
		ok = fwrite(chunk, 1, n, f) == n;
	if (from)
		fclose(from);
	return (!f || fclose(f) == 0) && ok;
}

static bool write_song(const struct deck *d, const char *name, const char *artist,
		       const char *title)
{
	const struct sound s = {.path = deck_path(d, name),
				.format = "ogg",
				.codec = "libopus",
				.rate = RATE,
				.channels = 2,
				.samples = 2 * RATE,
				.artist = artist,
				.title = title};

	return sound_write(&s);
}

/* A station in Ogg sends a new head with each song, and tells no titles beside. */
TEST(decoderd_tells_the_titles_of_chained_songs)
{
	struct played p = {0};
	struct deck d;
	bool ok = deck_open(&d) && write_song(&d, "1.opus", "Ann", "First") &&
		  write_song(&d, "2.opus", "Bob", "Second") &&
		  write_song(&d, "3.opus", NULL, "Third") && append(&d, "1.opus", "all.opus") &&
		  append(&d, "2.opus", "all.opus") && append(&d, "2.opus", "all.opus") &&
		  append(&d, "3.opus", "all.opus");

	if (ok)
		deck_play_file(&d, "all.opus", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK_STR(p.opened.title, "First");
	CHECK_STR(p.titles, "Bob - Second|Third|");
}
