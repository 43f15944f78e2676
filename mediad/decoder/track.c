#include "mediad/decoder/track.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mediad/decoder/analyser.h"
#include "mediad/decoder/decode.h"
#include "mediad/decoder/measure.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	REFILL_MS = 150,
	ESTIMATE_MS = 12, /* at most; on a busy machine until START_MS after the begin */
	START_MS = 30,
	TAGS_LOUD = -1600, /* LUFS/100: what is as loud is not made louder */
};

struct track {
	const struct track_conf *conf;
	struct decode *decode;
	struct measure *measure;   /* NULL: nothing is left to measure */
	struct analyser *analyser; /* NULL: the visualizer was not watched yet */
	struct decoder_opened opened;
	bool placed, told; /* opened is known; it was reported */
	/* What plays, as it was told and as it is. */
	char title[DECODER_TEXT_MAX + 1], song[DECODER_TEXT_MAX + 1];
	uint64_t begun; /* ns */
};

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

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

/* The listener waits meanwhile; what is wrong by then is corrected as the track plays. */
static uint64_t estimate_until(const struct track *t)
{
	uint64_t start = t->begun + START_MS * NS_PER_MS,
		 most = read_clock() + ESTIMATE_MS * NS_PER_MS;

	return start < most ? start : most;
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
	more = measure_estimate(t->measure, estimate_until(t));
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

/* Too long an artist leaves nothing of the title. */
static void write_title(char to[DECODER_TEXT_MAX + 1], const struct decoder_opened *tags)
{
	char both[2 * DECODER_TEXT_MAX + 4];

	snprintf(both, sizeof both, "%s%s%s", tags->artist, *tags->artist ? " - " : "",
		 tags->title);
	utf8_copy(to, DECODER_TEXT_MAX + 1, *tags->title ? both : "");
}

static void report_title(struct track *t)
{
	if (*t->song && strcmp(t->song, t->title) != 0)
		t->conf->titleh(t->song, t->conf->arg);
	memcpy(t->title, t->song, sizeof t->title);
}

/* They may be those that were told. */
static void on_tags(void *arg)
{
	struct decoder_opened tags = {0};
	struct track *t = arg;

	decode_tags(t->decode, &tags);
	write_title(t->song, &tags);
	if (t->told)
		report_title(t);
}

static void report_opened(struct track *t)
{
	if (t->told)
		return;
	t->conf->openedh(&t->opened, t->conf->arg);
	t->told = true;
	write_title(t->title, &t->opened);
	if (*t->song)
		report_title(t);
}

static void on_placed(uint64_t start, void *arg)
{
	struct track *t = arg;

	t->opened = (struct decoder_opened){.duration = decode_duration(t->decode),
					    .start = start,
					    .seekable = decode_seekable(t->decode),
					    .guessed = decode_guesses(t->decode)};
	decode_tags(t->decode, &t->opened);
	begin_measure(t, &t->opened);
	t->placed = true;
}

/* Without memory there are no pictures; it is tried again. */
static void analyse_ring(struct track *t, bool ended)
{
	if (!track_ring_watched(t->conf->ring))
		return;
	if (!t->analyser && analyser_alloc(&t->analyser, t->conf->ring))
		return;
	analyser_run(t->analyser, ended);
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
		if (track_ring_written(t->conf->ring) >= TRACK_LEAD)
			report_opened(t);
		analyse_ring(t, false);
		if (frames && !work_ahead(t))
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

enum decoder_reason track_decode(const struct track_conf *conf)
{
	struct track t = {.conf = conf, .begun = read_clock()};
	const struct decode_conf dc = {.fd = conf->fd,
				       .kind = conf->kind,
				       .placedh = on_placed,
				       .pcmh = write_ring,
				       .tagsh = on_tags,
				       .arg = &t};
	enum decoder_reason reason = decode_open(&t.decode, &dc);

	if (!reason)
		reason = decode_seek(t.decode, conf->start);
	while (!reason)
		reason = decode_step(t.decode);
	if (reason == DECODER_REASON_END && t.placed)
		report_opened(&t);
	analyse_ring(&t, true);
	analyser_free(t.analyser);
	decode_free(t.decode);
	measure_free(t.measure);
	return reason;
}
