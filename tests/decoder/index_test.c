/* Files whose index is larger than any sound needs: the memory of a decoder process is bounded, and
 * such a file ends its own track, soon and with a plain reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/time.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/sound.h"
#include "tests/test.h"

enum {
	RATE = 44100,
	ENTRY = 24,					/* bytes of libav's index for a packet */
	HOSTILE = (260 << 20) / ENTRY,			/* packets */
	HONEST = 12 * 3600 * (RATE / 100) / 1024 * 100, /* those of a book of twelve hours */
	SOON_MS = 5000,
	PEAK_MAX_KB = 160 << 10,
	WITNESS_SLOT = 3,
	WITNESS_S = 20,
};

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* The body of a box after its version and flags. */
static uint8_t *find_box(uint8_t *bytes, size_t n, const char *name)
{
	uint8_t *p = memmem(bytes, n, name, 4);

	return p ? p + 8 : NULL;
}

/* Makes a short file say that it has so many packets of one size, all in its first chunk. */
static bool write_index(const char *path, uint32_t packets)
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(path, "r+b");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
	uint8_t *sizes = find_box(bytes, n, "stsz"), *chunks = find_box(bytes, n, "stsc"),
		*times = find_box(bytes, n, "stts");
	bool ok = sizes && chunks && times;

	if (ok) {
		put32(sizes, 8);
		put32(sizes + 4, packets);
		put32(chunks + 8, packets);
		put32(times + 4, packets);
		rewind(f);
		ok = fwrite(bytes, 1, n, f) == n;
	}
	return f && fclose(f) == 0 && ok;
}

static bool write_book(const struct deck *d, const char *name, uint32_t packets)
{
	const struct sound s = {.path = deck_path(d, name),
				.format = "ipod",
				.codec = "aac",
				.rate = RATE,
				.channels = 2,
				.samples = RATE};

	return sound_write(&s) && write_index(s.path, packets);
}

/* The memory of its own that a decoder process has, in KB: the largest of all that are forked. */
static long read_private_kb(pid_t decoderd)
{
	char line[256], command[160];
	long kb = 0, most = 0;
	FILE *f;

	snprintf(command, sizeof command,
		 "z=$(cat /proc/%d/task/*/children); for c in $(cat /proc/${z%% "
		 "}/task/*/children); do "
		 "cat /proc/$c/status; done 2>/dev/null",
		 (int)decoderd);
	f = popen(command, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1 && kb > most)
			most = kb;
	if (f)
		pclose(f);
	return most;
}

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

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
	return p.frames == 48000;
}

static bool finish_witness(struct deck *d)
{
	struct played p;

	deck_play(d, WITNESS_SLOT, &p, SIZE_MAX / 8);
	free(p.pcm);
	return p.reason == DECODER_REASON_END && p.frames == (WITNESS_S - 1) * 48000;
}

/* Opens a file with such an index. Returns the most memory that its process had, in KB; -1: the
 * track has not ended soon, or for no reason that a file may have. */
static long play_book(struct deck *d, uint32_t packets)
{
	struct decoder_msg msg = {0};
	uint64_t begin = read_clock();
	bool ok = write_book(d, "book.m4b", packets) && deck_start(d, 0, "book.m4b", 0);
	long kb, most = 0;

	while (ok && msg.type != DECODER_ENDED && read_clock() - begin < SOON_MS * NS_PER_MS) {
		deck_receive(d, &msg, 1);
		kb = read_private_kb(d->pid);
		most = kb > most ? kb : most;
	}
	if (msg.type != DECODER_ENDED ||
	    (msg.reason != DECODER_REASON_DAMAGED && msg.reason != DECODER_REASON_LIMIT))
		most = -1;
	return most;
}

TEST(decoderd_bounds_the_index_of_a_file)
{
	struct deck d;
	long kb = -1;
	bool ok = deck_open(&d) && start_witness(&d);

	d.measure = true;
	if (ok)
		kb = play_book(&d, HOSTILE);
	ok = ok && finish_witness(&d);
	deck_close(&d);
	CHECK(ok);
	CHECK(kb >= 0);
	CHECK(kb < PEAK_MAX_KB);
}

/* The packets are not there; their index is what counts. */
TEST(decoderd_has_room_for_the_index_of_a_long_file)
{
	struct deck d;
	const long want = (long)HONEST * ENTRY / 1024;
	bool ok = deck_open(&d);
	long kb = -1;

	/* It is looked at now and then, and may end between. */
	for (unsigned i = 0; i < 5 && ok && kb <= want; i++)
		kb = play_book(&d, HONEST);
	deck_close(&d);
	CHECK(kb > want);
}
