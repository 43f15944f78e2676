#include "mediad/decoder/measure.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "mediad/decoder/decode.h"
#include "mediad/music/loudness.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"

enum {
	RATE = TRACK_RING_RATE,
	PLACES = 8,	   /* of a file, one second each */
	WHOLE_S = 10,	   /* a shorter file is measured as a whole at once */
	LONG_S = 4 * 60,   /* a longer file is measured at places of one second… */
	LONG_PLACES = 120, /* …so many of them */
	WORK_MS = 10,	   /* of one turn */
};

/* In eighths of the track: those for which there is time are spread over it. */
static const uint8_t places[PLACES] = {4, 2, 6, 1, 5, 3, 7, 0};

struct measure {
	struct loudness *meter;
	struct decode *decode; /* NULL: of a web source, or there is nothing left */
	uint64_t wanted;       /* frames, of the present place */
	uint64_t next_report;  /* frames, of a web source */
	bool scanning;	       /* after the estimate */
	bool is_long;
	unsigned place; /* of a long file: the next one */
};

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

static void ignore_place(uint64_t start, void *arg)
{
	(void)start, (void)arg;
}

static void add_sound(const int16_t *pcm, size_t frames, void *arg)
{
	struct measure *m = arg;
	size_t n = frames < m->wanted ? frames : (size_t)m->wanted;

	loudness_add(m->meter, pcm, n);
	m->wanted -= n;
}

struct measure *measure_alloc(int fd)
{
	struct measure *m = calloc(1, sizeof *m);
	const struct decode_conf conf = {.fd = fd,
					 .kind = DECODER_FILE,
					 .rough = true,
					 .placedh = ignore_place,
					 .pcmh = add_sound,
					 .arg = m};

	if (!m)
		return NULL;
	m->next_report = RATE;
	if (loudness_alloc(&m->meter) || (fd >= 0 && decode_open(&m->decode, &conf)))
		return measure_free(m);
	return m;
}

struct measure *measure_free(struct measure *m)
{
	if (!m)
		return NULL;
	loudness_free(m->meter);
	decode_free(m->decode);
	free(m);
	malloc_trim(0);
	return NULL;
}

/* Decodes until `wanted` frames are measured or the time is up. */
static enum decoder_reason decode_until(struct measure *m, uint64_t deadline)
{
	enum decoder_reason reason = DECODER_REASON_UNKNOWN;

	while (!reason && m->wanted && read_clock() < deadline)
		reason = decode_step(m->decode);
	return reason;
}

/* Begins anew with a meter that knows nothing: with the whole file, or the places of a long one. */
static bool begin_scan(struct measure *m)
{
	struct loudness *fresh;

	if (loudness_alloc(&fresh))
		return false;
	loudness_free(m->meter);
	m->meter = fresh;
	m->scanning = true;
	m->is_long = decode_duration(m->decode) > (uint64_t)LONG_S * RATE;
	m->wanted = m->is_long ? 0 : UINT64_MAX;
	return m->is_long || decode_seek(m->decode, 0) == DECODER_REASON_UNKNOWN;
}

/* Goes to the next place of a long file. Returns false after the last one. */
static bool next_place(struct measure *m)
{
	const uint64_t duration = decode_duration(m->decode);

	if (m->place == LONG_PLACES)
		return false;
	loudness_break(m->meter);
	m->wanted = RATE;
	return decode_seek(m->decode, duration / LONG_PLACES * m->place++) ==
	       DECODER_REASON_UNKNOWN;
}

bool measure_estimate(struct measure *m, uint64_t deadline)
{
	const uint64_t duration = decode_duration(m->decode);

	if (duration < (uint64_t)WHOLE_S * RATE) {
		if (begin_scan(m) && decode_until(m, deadline))
			m->decode = decode_free(m->decode);
		return m->decode;
	}
	/* On a busy machine there is time for one place at least. */
	for (unsigned i = 0; i < PLACES && (!i || read_clock() < deadline); i++) {
		loudness_break(m->meter);
		m->wanted = RATE;
		if (decode_seek(m->decode, duration * (2 * places[i] + 1u) / (2 * PLACES)))
			break;
		decode_until(m, i ? deadline : UINT64_MAX);
	}
	return true;
}

bool measure_work(struct measure *m)
{
	const uint64_t deadline = read_clock() + WORK_MS * NS_PER_MS;

	if (!m->scanning && !begin_scan(m))
		return false;
	if (!m->is_long)
		return !decode_until(m, deadline);
	while (read_clock() < deadline) {
		if (!m->wanted && !next_place(m))
			return false;
		/* A place that cannot be decoded is left out. */
		if (decode_until(m, deadline))
			m->wanted = 0;
	}
	return true;
}

bool measure_listen(struct measure *m, const int16_t *pcm, size_t frames)
{
	loudness_add(m->meter, pcm, frames);
	if (loudness_frames(m->meter) < m->next_report)
		return false;
	m->next_report += RATE;
	return true;
}

static int16_t level_of(double db)
{
	return isfinite(db) ? (int16_t)lrint(100 * db) : DECODER_NO_LEVEL;
}

void measure_levels(const struct measure *m, struct decoder_levels *out)
{
	double lufs;

	out->loudness = loudness_integrated(m->meter, &lufs) ? level_of(lufs) : DECODER_NO_LEVEL;
	out->peak = level_of(loudness_peak(m->meter));
}
