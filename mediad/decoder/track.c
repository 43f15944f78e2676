#include "mediad/decoder/track.h"

#include <time.h>

#include "mediad/decoder/decode.h"
#include "mediad/decoder/measure.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"

enum {
	REFILL_MS = 150,
	TAGS_LOUD = -1600, /* LUFS/100: what is as loud is not made louder */
};

struct track {
	const struct track_conf *conf;
	struct decode *decode;
	struct measure *measure; /* NULL: nothing is left to measure */
};

/* ---- levels ---- */

static void report_levels(const struct track *t)
{
	struct decoder_levels levels;

	measure_levels(t->measure, &levels);
	t->conf->levelsh(&levels, t->conf->arg);
}

/* Tags come from strangers, and may be missing: they may say that a track is loud, so that it is
 * played at a lower gain, but not that it is quiet. */
static bool may_believe(const struct decoder_levels *tags)
{
	return tags->loudness >= TAGS_LOUD;
}

/* Begins to measure, if the tags do not give the levels. */
static void begin_measure(struct track *t, struct decoder_opened *o)
{
	bool file = t->conf->kind == DECODER_FILE, more;

	if (!t->conf->measure || may_believe(&o->levels))
		return;
	o->levels.loudness = o->levels.peak = DECODER_NO_LEVEL;
	t->measure = measure_alloc(file ? t->conf->fd : -1);
	if (!t->measure || !file)
		return;
	more = measure_estimate(t->measure);
	measure_levels(t->measure, &o->levels);
	if (!more)
		t->measure = measure_free(t->measure);
}

/* Goes on measuring a file. Returns false when there is nothing to do. */
static bool work_ahead(struct track *t)
{
	if (!t->measure || t->conf->kind != DECODER_FILE)
		return false;
	if (!measure_work(t->measure)) {
		report_levels(t);
		t->measure = measure_free(t->measure);
	}
	return true;
}

/* ---- sound ---- */

static void on_placed(uint64_t start, void *arg)
{
	struct track *t = arg;
	struct decoder_opened o = {.duration = decode_duration(t->decode),
				   .start = start,
				   .seekable = decode_seekable(t->decode),
				   .guessed = decode_guesses(t->decode)};

	decode_tags(t->decode, &o);
	begin_measure(t, &o);
	t->conf->openedh(&o, t->conf->arg);
}

static void write_ring(const int16_t *pcm, size_t frames, void *arg)
{
	const struct timespec pause = {0, REFILL_MS * (long)NS_PER_MS};
	struct track *t = arg;

	if (t->measure && t->conf->kind != DECODER_FILE && measure_listen(t->measure, pcm, frames))
		report_levels(t);
	while (frames) {
		size_t n = track_ring_write(t->conf->ring, pcm, frames);

		pcm += n * TRACK_RING_CHANNELS;
		frames -= n;
		if (frames && !work_ahead(t))
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

enum decoder_reason track_decode(const struct track_conf *conf)
{
	struct track t = {.conf = conf};
	const struct decode_conf dc = {.fd = conf->fd,
				       .kind = conf->kind,
				       .placedh = on_placed,
				       .pcmh = write_ring,
				       .arg = &t};
	enum decoder_reason reason = decode_open(&t.decode, &dc);

	if (!reason)
		reason = decode_seek(t.decode, conf->start);
	while (!reason)
		reason = decode_step(t.decode);
	decode_free(t.decode);
	measure_free(t.measure);
	return reason;
}
