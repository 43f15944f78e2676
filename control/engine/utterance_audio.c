#include "control/engine/utterance_audio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 48000, FIRST = 48000 };

struct utterance_audio *utterance_audio_alloc(struct utterance_audio **list, uint32_t utterance)
{
	struct utterance_audio *x = calloc(1, sizeof *x);

	if (!x)
		return NULL;
	x->utterance = utterance;
	while (*list)
		list = &(*list)->next;
	*list = x;
	return x;
}

void utterance_audio_free(struct utterance_audio **at, size_t *total)
{
	struct utterance_audio *x = *at;

	*at = x->next;
	*total -= x->cap;
	free(x->pcm);
	free(x);
}

size_t utterance_audio_drop(struct utterance_audio *x, size_t n)
{
	n = n < x->n ? n : x->n;
	if (n)
		memmove(x->pcm, x->pcm + n, x->n - n);
	x->n -= n;
	x->sent = x->sent > n ? x->sent - n : 0;
	return n;
}

int utterance_audio_append(struct utterance_audio *x, const uint8_t *pcm, size_t n, size_t *total,
			   size_t most)
{
	size_t cap = x->cap ? x->cap : FIRST;
	uint8_t *grown;

	if (n > UTTERANCE_AUDIO_MAX) {
		pcm += n - UTTERANCE_AUDIO_MAX;
		n = UTTERANCE_AUDIO_MAX;
	}
	if (x->n + n > UTTERANCE_AUDIO_MAX)
		utterance_audio_drop(x, n > SECOND ? n : SECOND);
	while (cap < x->n + n)
		cap *= 2;
	if (cap > x->cap) {
		if (*total + cap - x->cap > most)
			return ENOBUFS;
		grown = realloc(x->pcm, cap);
		if (!grown)
			return ENOMEM;
		*total += cap - x->cap;
		x->pcm = grown;
		x->cap = cap;
	}
	if (n)
		memcpy(x->pcm + x->n, pcm, n);
	x->n += n;
	return 0;
}

void utterance_audio_rewind(struct utterance_audio *x)
{
	x->sent = 0;
	x->begun = x->committed = false;
}
