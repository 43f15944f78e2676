#include "tests/talk/squelch.h"

#include <errno.h>
#include <string.h>

enum { BEGIN = 2, END = 20 }; /* frames */

/* Powers of samples: the least that can be speech (some 150 rms), and how far above the background.
 */
#define LEAST	    22500.0
#define OVER	    8.0
#define FLOOR_FIRST 400.0
#define FLOOR_UP    0.02
/* So slow that half a minute of speech does not become background. */
#define FLOOR_UP_SPEECH 0.0004

int squelch_init(struct squelch *g, uint32_t rate)
{
	if (rate < SQUELCH_RATE_MIN || rate > SQUELCH_RATE_MAX)
		return EINVAL;
	memset(g, 0, sizeof *g);
	g->frame = rate / SQUELCH_FRAMES_PER_S;
	g->floor = FLOOR_FIRST;
	return 0;
}

void squelch_shut(struct squelch *g)
{
	g->open = false;
	g->loud = g->quiet = g->n_kept = 0;
}

static double power(const int16_t *pcm, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)pcm[i] * pcm[i];
	return sum / (double)n;
}

static void keep(struct squelch *g, const int16_t *pcm)
{
	memcpy(g->kept[g->next], pcm, g->frame * sizeof *pcm);
	g->next = (g->next + 1) % SQUELCH_KEPT;
	if (g->n_kept < SQUELCH_KEPT)
		g->n_kept++;
}

enum squelch_says squelch_frame(struct squelch *g, const int16_t *pcm)
{
	double p = power(pcm, g->frame);
	bool sound = p > LEAST && p > g->floor * OVER;

	/* Decreases at once, increases slowly. */
	if (p < g->floor)
		g->floor = p > 1 ? p : 1;
	else
		g->floor += (p - g->floor) * (sound ? FLOOR_UP_SPEECH : FLOOR_UP);
	g->loud = sound ? g->loud + 1 : 0;
	g->quiet = sound ? 0 : g->quiet + 1;
	if (g->open) {
		if (g->quiet < END)
			return SQUELCH_OPEN;
		squelch_shut(g);
		return SQUELCH_CLOSES;
	}
	keep(g, pcm);
	if (g->loud < BEGIN)
		return SQUELCH_SHUT;
	g->open = true;
	return SQUELCH_OPENS;
}

const int16_t *squelch_kept(const struct squelch *g, unsigned i)
{
	if (i >= g->n_kept)
		return NULL;
	return g->kept[(g->next + SQUELCH_KEPT - g->n_kept + i) % SQUELCH_KEPT];
}
