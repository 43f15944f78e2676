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

/* What was reserved is the end of doubling: contents that fit there never need more. */
static size_t next_cap(const struct backlog *b, size_t need)
{
	size_t cap = b->cap ? b->cap : FIRST, most = (size_t)(b->reserved / sizeof *b->pcm);

	while (cap < need)
		cap *= 2;
	if (most && cap > most)
		cap = need < most ? most : need;
	return cap;
}

/* In the larger block the samples up to the end of the old one lie at the end again. */
static int make_room(struct backlog *b, size_t n)
{
	size_t cap = next_cap(b, b->n + n), tail = b->cap - b->start;
	int16_t *bigger;

	if (b->n + n <= b->cap)
		return 0;
	bigger = realloc(b->pcm, cap * sizeof *b->pcm);
	if (!bigger)
		return ENOMEM;
	if (b->n > tail) {
		memmove(bigger + cap - tail, bigger + b->start, tail * sizeof *bigger);
		b->start = cap - tail;
	}
	b->pcm = bigger;
	b->cap = cap;
	return 0;
}

int backlog_append(struct backlog *b, const uint8_t *pcm, size_t n)
{
	int err = n ? make_room(b, n) : 0;
	size_t end, first;

	if (err || !n)
		return err;
	end = (b->start + b->n) % b->cap;
	first = n < b->cap - end ? n : b->cap - end;
	memcpy(b->pcm + end, pcm, first * sizeof *b->pcm);
	memcpy(b->pcm, pcm + first * sizeof *b->pcm, (n - first) * sizeof *b->pcm);
	b->n += n;
	return 0;
}

size_t backlog_take(struct backlog *b, int16_t *out, size_t most)
{
	size_t n = b->n < most ? b->n : most, first;

	if (!n)
		return 0;
	first = n < b->cap - b->start ? n : b->cap - b->start;
	memcpy(out, b->pcm + b->start, first * sizeof *out);
	memcpy(out + first, b->pcm, (n - first) * sizeof *out);
	b->start = b->n > n ? (b->start + n) % b->cap : 0;
	b->n -= n;
	return n;
}

void backlog_clear(struct backlog *b)
{
	free(b->pcm);
	*b = (struct backlog){.reserved = b->reserved};
}
