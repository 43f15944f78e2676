/* A music file, through all that a decoder process does with it: the format, the tags, the
 * estimate of its loudness, a seek, and its sound. The sound must follow its place, and come in
 * bounded pieces. The first byte says where the seek goes, in seconds. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mediad/decoder/decode.h"
#include "mediad/decoder/measure.h"

enum { STEPS = 400, PIECE = 4096, RATE = 48000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool placed;

static void on_placed(uint64_t start, void *arg)
{
	(void)start, (void)arg;
	placed = true;
}

static void on_sound(const int16_t *pcm, size_t frames, void *arg)
{
	static volatile int16_t last;

	(void)arg;
	if (!placed || !frames || frames > PIECE)
		abort();
	last = pcm[2 * frames - 1];
	(void)last;
}

/* Decodes some packets; a packet of a few bytes can hold many frames of silence. */
static void play(struct decode *d)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	for (int i = 0; i < STEPS && !reason; i++)
		reason = decode_step(d);
	if (reason == DECODER_REASON_END && !placed)
		abort();
}

static void run_file(int fd, unsigned seconds)
{
	const struct decode_conf conf = {
		.fd = fd, .kind = DECODER_FILE, .placedh = on_placed, .pcmh = on_sound};
	struct decoder_opened opened = {0};
	struct measure *m;
	struct decode *d;

	placed = false;
	if (decode_open(&d, &conf))
		return;
	decode_tags(d, &opened);
	play(d);
	placed = false;
	if (!decode_seek(d, (uint64_t)seconds * RATE))
		play(d);
	decode_free(d);
	m = measure_alloc(fd);
	if (m && measure_estimate(m, UINT64_MAX))
		measure_work(m);
	if (m)
		measure_levels(m, &opened.levels);
	measure_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;
	int fd;

	if (!prepared)
		decode_prepare();
	prepared = true;
	if (!size)
		return 0;
	fd = memfd_create("music", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	run_file(fd, data[0]);
	close(fd);
	return 0;
}
