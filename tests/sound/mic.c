#include "tests/sound/mic.h"

#include "control/media/media.h"
#include "ipc/env.h"
#include "proto/base/time.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FRAME = MIC_RATE * MIC_FRAME_MS / 1000,
	LEAD = 6 * FRAME, /* written before it is due */
	RING = 4 * MIC_RATE,
	UP = MIC_RATE / MIC_LOW,
};

struct mic {
	struct env *env;
	struct media_call *call;
	struct mic_conf conf;
	struct media_playback *say; /* of an open microphone: all the time */
	uint64_t started;	    /* ns; 0: no sample of it has left */
	const int16_t *pcm;	    /* what the mouth says; NULL: nothing */
	size_t n, at;
	uint64_t at_pos, end_pos; /* of the open microphone's samples: the mouth's */
	bool speaks, recorded;
	uint64_t pos; /* samples written, or left out */
	unsigned late;
	int16_t echo[RING];
};

static bool is_open(const struct mic *m)
{
	return m->conf.background || m->conf.echo > 0;
}

/* Writes what the mouth says to the recording; its first sample left at this time. */
static void record(struct mic *m, uint64_t at)
{
	size_t n = m->n / UP;
	int16_t *low = malloc((n + 1) * sizeof *low);
	off_t where;

	if (!low || at < m->conf.t0) {
		free(low);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int sum = 0;

		for (size_t k = 0; k < UP; k++)
			sum += m->pcm[i * UP + k];
		low[i] = (int16_t)(sum / UP);
	}
	where = (off_t)((at - m->conf.t0) * MIC_LOW / NS_PER_S) * 2;
	if (pwrite(m->conf.record, low, n * 2, where) < 0)
		perror("sound: recording");
	free(low);
	m->recorded = true;
}

static void say_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		      unsigned reason, uint64_t at_ns, void *arg)
{
	struct mic *m = arg;

	(void)pb, (void)samples, (void)reason;
	if (ev == MEDIA_PB_STARTED) {
		m->started = at_ns;
		if (!is_open(m))
			record(m, at_ns);
	} else if (ev == MEDIA_PB_DRAINED || ev == MEDIA_PB_STOPPED) {
		m->speaks = false;
	}
}

int mic_alloc(struct mic **out, struct env *env, struct media_call *call,
	      const struct mic_conf *conf)
{
	struct mic *m = calloc(1, sizeof *m);

	if (!m)
		return ENOMEM;
	m->env = env;
	m->call = call;
	m->conf = *conf;
	*out = m;
	return 0;
}

struct mic *mic_free(struct mic *m)
{
	if (m)
		media_playback_free(m->say);
	free(m);
	return NULL;
}

int mic_start(struct mic *m)
{
	if (!is_open(m))
		return 0;
	return media_playback_open(&m->say, m->call, MIC_RATE, say_event, m);
}

static int16_t clip(double x)
{
	return (int16_t)fmax(-32768, fmin(32767, x));
}

static void frame_write(struct mic *m)
{
	int16_t out[FRAME];

	for (size_t i = 0; i < FRAME; i++) {
		size_t e = (m->pos + i) % RING;
		double x = m->echo[e];

		m->echo[e] = 0;
		if (m->conf.background)
			x += m->conf.background[(m->pos + i) % m->conf.background_n];
		if (m->pcm && m->at < m->n)
			x += m->conf.gain * m->pcm[m->at++];
		out[i] = clip(x);
	}
	media_playback_write(m->say, out, FRAME);
	m->pos += FRAME;
}

void mic_tick(struct mic *m)
{
	uint64_t now = env_now(m->env), due = LEAD;

	if (!m->say || !is_open(m))
		return;
	if (m->started)
		due += (now - m->started) * MIC_RATE / NS_PER_S;
	/* What was due while nobody wrote it would only come later. */
	if (due > m->pos + LEAD + FRAME && !m->speaks) {
		m->late++;
		m->pos += (due - m->pos - LEAD) / FRAME * FRAME;
	}
	while (m->pos < due)
		frame_write(m);
	if (m->speaks && m->started && !m->recorded)
		record(m, m->started + m->at_pos * NS_PER_S / MIC_RATE);
	if (m->speaks && m->started && now >= m->started + m->end_pos * NS_PER_S / MIC_RATE) {
		m->speaks = false;
		m->pcm = NULL;
	}
}

int mic_say(struct mic *m, const int16_t *pcm, size_t n)
{
	int err;

	m->speaks = true;
	m->recorded = false;
	m->pcm = pcm;
	m->n = n;
	m->at = 0;
	if (is_open(m)) {
		m->at_pos = m->pos;
		m->end_pos = m->pos + n;
		return 0;
	}
	m->say = media_playback_free(m->say);
	err = media_playback_open(&m->say, m->call, MIC_RATE, say_event, m);
	if (!err)
		err = media_playback_write(m->say, pcm, n);
	if (!err)
		media_playback_end(m->say);
	return err;
}

bool mic_speaks(const struct mic *m)
{
	return m->speaks;
}

void mic_hears(struct mic *m, uint64_t at, const int16_t *pcm, size_t n)
{
	uint64_t pos;

	at += MIC_ECHO_MS * NS_PER_MS;
	if (m->conf.echo <= 0 || !m->started || at < m->started)
		return;
	pos = (at - m->started) * MIC_RATE / NS_PER_S;
	if (pos < m->pos || pos + n * UP > m->pos + RING)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < UP; k++) {
			double a = pcm[i], b = i + 1 < n ? pcm[i + 1] : a;
			int16_t *e = &m->echo[(pos + i * UP + k) % RING];

			*e = clip(*e + m->conf.echo * (a + (b - a) * (double)k / UP));
		}
}

unsigned mic_late(const struct mic *m)
{
	return m->late;
}
