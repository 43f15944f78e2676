#include "control/agent/utterance_sound.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	uint32_t utterance; /* 0: free */
	uint64_t order;
	uint8_t *pcm;
	size_t n, cap;
};

struct utterance_sound {
	struct kept v[UTTERANCE_SOUNDS];
	size_t bytes; /* allocated */
	uint64_t orders;
};

int utterance_sound_alloc(struct utterance_sound **out)
{
	struct utterance_sound *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	*out = s;
	return 0;
}

static void clear_kept(struct utterance_sound *s, struct kept *k)
{
	s->bytes -= k->cap;
	free(k->pcm);
	*k = (struct kept){0};
}

struct utterance_sound *utterance_sound_free(struct utterance_sound *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < UTTERANCE_SOUNDS; i++)
		clear_kept(s, &s->v[i]);
	free(s);
	return NULL;
}

static struct kept *find_kept(const struct utterance_sound *s, uint32_t utterance)
{
	for (unsigned i = 0; i < UTTERANCE_SOUNDS; i++)
		if (s->v[i].utterance == utterance)
			return (struct kept *)&s->v[i];
	return NULL;
}

/* Drops the oldest one. False: there is none but this. */
static bool drop_oldest(struct utterance_sound *s, const struct kept *but)
{
	struct kept *oldest = NULL;

	for (unsigned i = 0; i < UTTERANCE_SOUNDS; i++) {
		struct kept *k = &s->v[i];

		if (k->utterance && k != but && (!oldest || k->order < oldest->order))
			oldest = k;
	}
	if (oldest)
		clear_kept(s, oldest);
	return oldest != NULL;
}

static struct kept *begin_kept(struct utterance_sound *s, uint32_t utterance)
{
	struct kept *k = find_kept(s, 0);

	if (!k && drop_oldest(s, NULL))
		k = find_kept(s, 0);
	if (k)
		*k = (struct kept){.utterance = utterance, .order = ++s->orders};
	return k;
}

/* Doubles the room of an utterance, at the cost of older ones. */
static bool make_room(struct utterance_sound *s, struct kept *k, size_t need)
{
	size_t cap = k->cap ? k->cap : 65536;
	uint8_t *grown;

	while (cap < need)
		cap *= 2;
	if (cap == k->cap)
		return true;
	while (s->bytes - k->cap + cap > UTTERANCE_SOUND_BYTES)
		if (!drop_oldest(s, k))
			return false;
	grown = realloc(k->pcm, cap);
	if (!grown)
		return false;
	s->bytes += cap - k->cap;
	k->pcm = grown;
	k->cap = cap;
	return true;
}

void utterance_sound_add(struct utterance_sound *s, uint32_t utterance, struct slice pcm)
{
	struct kept *k = find_kept(s, utterance);

	if (!k)
		k = begin_kept(s, utterance);
	if (!k || !pcm.n || !make_room(s, k, k->n + pcm.n))
		return;
	memcpy(k->pcm + k->n, pcm.p, pcm.n);
	k->n += pcm.n;
}

struct slice utterance_sound_get(const struct utterance_sound *s, uint32_t utterance)
{
	const struct kept *k = utterance ? find_kept(s, utterance) : NULL;

	return k ? (struct slice){k->pcm, k->n} : (struct slice){0};
}

void utterance_sound_drop(struct utterance_sound *s, uint32_t utterance)
{
	struct kept *k = utterance ? find_kept(s, utterance) : NULL;

	if (k)
		clear_kept(s, k);
}
