#include "mediad/call/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 24000 };

/* Of the whole process: what bounds its memory cannot belong to a call. */
static uint64_t all_reserved;

bool backlog_reserve(struct backlog *b, uint64_t bytes)
{
	if (b->reserved || bytes > BACKLOG_ALL_MAX - all_reserved)
		return false;
	all_reserved += bytes;
	b->reserved = bytes;
	return true;
}

void backlog_release(struct backlog *b)
{
	all_reserved -= b->reserved;
	b->reserved = 0;
}

static int make_room(struct backlog *b, size_t n)
{
	size_t cap = b->cap ? b->cap : FIRST;
	int16_t *bigger;

	if (b->start + b->n + n <= b->cap)
		return 0;
	/* Moving is cheap only when little is left or much is gained. */
	if (b->start >= b->cap / 2 && b->n + n <= b->cap) {
		memmove(b->pcm, b->pcm + b->start, b->n * sizeof *b->pcm);
		b->start = 0;
		return 0;
	}
	while (cap < b->start + b->n + n)
		cap *= 2;
	bigger = realloc(b->pcm, cap * sizeof *b->pcm);
	if (!bigger)
		return ENOMEM;
	b->pcm = bigger;
	b->cap = cap;
	return 0;
}

int backlog_append(struct backlog *b, const uint8_t *pcm, size_t n)
{
	int err = n ? make_room(b, n) : 0;

	if (err || !n)
		return err;
	memcpy(b->pcm + b->start + b->n, pcm, n * sizeof *b->pcm);
	b->n += n;
	return 0;
}

size_t backlog_take(struct backlog *b, int16_t *out, size_t most)
{
	size_t n = b->n < most ? b->n : most;

	if (!n)
		return 0;
	memcpy(out, b->pcm + b->start, n * sizeof *out);
	b->start += n;
	b->n -= n;
	if (!b->n)
		b->start = 0;
	return n;
}

void backlog_clear(struct backlog *b)
{
	free(b->pcm);
	*b = (struct backlog){.reserved = b->reserved};
}
