/* A video file, through all that a decoder process does with it: the container, the choice whether
 * it is sent as it is stored, its decoding, scaling and encoding. Units must be bounded and come in
 * the order of their times. The first byte says where it begins, in seconds. */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mediad/decoder/decode.h"
#include "mediad/decoder/film.h"
#include "mediad/music/video_ring.h"

enum { STEPS = 60, RATE = 48000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static alignas(65536) uint8_t memory[VIDEO_RING_MEMORY];
static uint8_t bytes[VIDEO_RING_UNIT_MAX];
static unsigned opened;

static void on_opened(const struct decoder_opened *o, void *arg)
{
	(void)arg;
	if (opened++ || !o->video.codec || !o->video.fps || !o->video.width || !o->video.height)
		abort();
}

static void drain(struct video_ring *reader, uint64_t *at_us)
{
	struct video_unit unit;
	int err;

	while (!(err = video_ring_read(reader, &unit, bytes))) {
		if (unit.at_us < *at_us)
			abort();
		*at_us = unit.at_us;
	}
	if (video_ring_written(reader) != video_ring_taken(reader))
		abort();
}

static void run_file(int fd, unsigned seconds)
{
	struct video_ring *reader, *writer;
	struct film_conf conf = {.fd = fd,
				 .kind = DECODER_FILE,
				 .start = (uint64_t)seconds * RATE,
				 .openedh = on_opened};
	enum decoder_reason reason;
	struct film_job *f;
	uint64_t at_us = 0;

	if (video_ring_alloc(&reader, memory) || video_ring_alloc(&writer, memory))
		abort();
	video_ring_reset(reader);
	conf.ring = writer;
	opened = 0;
	reason = film_open(&f, &conf);
	for (int i = 0; i < STEPS && !reason; i++) {
		reason = film_step(f);
		drain(reader, &at_us);
	}
	if (reason == DECODER_REASON_END && !opened)
		abort();
	film_close(f);
	video_ring_free(reader);
	video_ring_free(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int prepared;
	int fd;

	if (!prepared)
		decode_prepare();
	prepared = 1;
	if (!size)
		return 0;
	fd = memfd_create("film", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	run_file(fd, data[0]);
	close(fd);
	return 0;
}
