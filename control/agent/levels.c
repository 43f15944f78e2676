#include "control/agent/levels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/time.h"

enum { ABSENT = 127, FULL_SCALE = 32768 };

static struct level *find_level(struct levels *l, uint64_t user)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].user == user)
			return &l->v[i];
	return NULL;
}

/* A place for the person; that of somebody who is silent, if there is no other. */
static struct level *make_level(struct levels *l, uint64_t user)
{
	struct level *v = find_level(l, user);

	if (!v && l->n < ROOM_SPEAKERS)
		v = &l->v[l->n++];
	for (unsigned i = 0; i < l->n && !v; i++)
		if (!l->v[i].speaks)
			v = &l->v[i];
	if (v && v->user != user)
		*v = (struct level){.user = user};
	return v;
}

void levels_speaking(struct levels *l, uint64_t user, bool on)
{
	struct level *v = on ? make_level(l, user) : find_level(l, user);

	if (v)
		v->speaks = on;
}

/* Of the samples: 10 log10 of their mean square. */
static int db_of(struct slice pcm)
{
	size_t n = pcm.n / 2;
	double sum = 0;
	int db;

	for (size_t i = 0; i < n; i++) {
		int16_t sample;

		memcpy(&sample, pcm.p + 2 * i, sizeof sample);
		sum += (double)sample * sample;
	}
	if (sum <= 0)
		return -ABSENT;
	db = (int)lround(10 * log10(sum / (double)n / ((double)FULL_SCALE * FULL_SCALE)));
	return db < -ABSENT ? -ABSENT : db > 0 ? 0 : db;
}

void levels_heard(struct levels *l, uint64_t user, uint8_t level, struct slice pcm, uint64_t now)
{
	struct level *v = find_level(l, user);

	if (!v)
		return;
	v->db = level < ABSENT ? -(int)level : db_of(pcm);
	v->at = now;
}

const struct level *levels_next(const struct levels *l, unsigned *place)
{
	while (*place < l->n) {
		const struct level *v = &l->v[(*place)++];

		if (v->speaks)
			return v;
	}
	return NULL;
}

int levels_db(const struct level *v, uint64_t now)
{
	return v->at && now - v->at <= LEVEL_FRESH_MS * NS_PER_MS ? v->db : LEVEL_UNKNOWN;
}
