/* Damaged and hostile files: each ends its own track with a reason, and no other one.
 *
 * Files of every format are encoded while the test runs, and damaged by a seeded generator.
 * DECODER_FILES sets how many of each format (default 12). */
#include <stdio.h>
#include <stdlib.h>

#include "mediad/music/track_ring.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/sound.h"
#include "tests/random.h"
#include "tests/test.h"

enum { FILES = 12, SIZE_MAX_BYTES = 1 << 20, WITNESS_SLOT = 3, WITNESS_S = 60 };

static const struct {
	const char *format, *codec;
	int rate;
} kinds[] = {
	{"wav", "pcm_s16le", 44100}, {"flac", "flac", 48000},	{"mp3", "libmp3lame", 44100},
	{"ogg", "libvorbis", 44100}, {"ogg", "libopus", 48000}, {"webm", "libopus", 48000},
	{"ipod", "aac", 44100},	     {"ipod", "alac", 44100},	{"matroska", "flac", 48000},
	{"adts", "aac", 44100},	     {"mpegts", "aac", 48000},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct file {
	uint8_t bytes[SIZE_MAX_BYTES];
	size_t n;
};

static struct file good, bad;

static bool read_file(const char *path)
{
	FILE *f = fopen(path, "rb");

	good.n = f ? fread(good.bytes, 1, sizeof good.bytes, f) : 0;
	return f && fclose(f) == 0 && good.n;
}

static bool write_file(const char *path)
{
	FILE *f = fopen(path, "wb");

	return f && fwrite(bad.bytes, 1, bad.n, f) == bad.n && fclose(f) == 0;
}

/* Changes bytes, mostly near the head, where the lengths stand. */
static void change_bytes(uint64_t *r, unsigned times)
{
	while (times--) {
		size_t range = random_below(r, 2) ? bad.n
			       : bad.n < 4096	  ? bad.n
						  : 4096,
		       at = random_below(r, range);
		static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff};

		bad.bytes[at] = random_below(r, 2) ? special[random_below(r, sizeof special)]
						   : (uint8_t)random_below(r, 256);
	}
}

static void move_block(uint64_t *r)
{
	size_t n = 1 + random_below(r, (bad.n / 4)), from = random_below(r, (bad.n - n)),
	       to = random_below(r, (bad.n - n));

	memmove(bad.bytes + to, bad.bytes + from, n);
}

static void damage(uint64_t *r)
{
	bad = good;
	switch (random_below(r, 4)) {
	case 0:
		change_bytes(r, 1 + random_below(r, 8));
		break;
	case 1:
		change_bytes(r, 50 + random_below(r, 2000));
		break;
	case 2:
		move_block(r);
		change_bytes(r, random_below(r, 8));
		break;
	default:
		bad.n = 1 + random_below(r, bad.n);
		change_bytes(r, random_below(r, 4));
	}
}

/* Plays a damaged file to its end; false if that has no reason that a file may have. */
static bool play_damaged(struct deck *d, unsigned counts[])
{
	struct played p;
	bool ok;

	if (!write_file(deck_path(d, "bad")))
		return false;
	deck_play_file(d, "bad", 0, &p);
	free(p.pcm);
	ok = p.has_ended && !p.broken && p.reason != DECODER_REASON_FORBIDDEN_CALL &&
	     p.reason != DECODER_REASON_LOST && p.reason != DECODER_REASON_NO_PROCESS &&
	     p.reason != DECODER_REASON_NO_JAIL;
	counts[p.reason]++;
	return ok;
}

static bool write_kind(const struct deck *d, unsigned kind)
{
	const struct sound s = {.path = deck_path(d, "good"),
				.format = kinds[kind].format,
				.codec = kinds[kind].codec,
				.rate = kinds[kind].rate,
				.channels = 2,
				.samples = kinds[kind].rate};

	return sound_write(&s) && read_file(s.path);
}

/* A good track that plays along. */
static bool start_witness(struct deck *d)
{
	const struct sound s = {.path = deck_path(d, "witness"),
				.format = "flac",
				.codec = "flac",
				.rate = 48000,
				.channels = 2,
				.samples = WITNESS_S * 48000};
	struct played p;

	if (!sound_write(&s) || !deck_start(d, WITNESS_SLOT, "witness", 0))
		return false;
	deck_play(d, WITNESS_SLOT, &p, 48000);
	free(p.pcm);
	return p.has_opened && !p.has_ended && p.frames == 48000;
}

static bool finish_witness(struct deck *d)
{
	struct played p;

	deck_play(d, WITNESS_SLOT, &p, SIZE_MAX / 8);
	free(p.pcm);
	return p.reason == DECODER_REASON_END && p.frames == (WITNESS_S - 1) * 48000;
}

TEST(decoderd_ends_damaged_files_with_a_reason)
{
	const char *files = getenv("DECODER_FILES");
	unsigned n = files ? (unsigned)atoi(files) : FILES, counts[256] = {0};
	uint64_t r = 1;
	struct deck d;
	bool ok = deck_open(&d) && start_witness(&d);

	for (unsigned k = 0; k < KINDS && ok; k++) {
		ok = write_kind(&d, k);
		for (unsigned i = 0; i < n && ok; i++) {
			damage(&r);
			ok = play_damaged(&d, counts);
			if (!ok)
				printf("%s %s: file %u\n", kinds[k].format, kinds[k].codec, i);
		}
	}
	for (unsigned i = 0; i < 256; i++)
		if (counts[i])
			printf("%s: %u\n", decoder_reason_name((enum decoder_reason)i), counts[i]);
	ok = ok && finish_witness(&d);
	deck_close(&d);
	CHECK(ok);
}
