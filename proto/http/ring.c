#include "proto/http/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sse_ring {
	uint32_t epoch;	      /* 0: no ids */
	uint64_t first, next; /* numbers of the oldest event held and of the next to come */
	size_t tail;	      /* where the next event goes in bytes */
	struct {
		uint32_t at, n;
		struct sse_topic topic;
	} events[SSE_RING_EVENTS]; /* by number modulo their count */
	char bytes[SSE_RING_BYTES];
	char scratch[SSE_EVENT_MAX];
};

int sse_ring_alloc(struct sse_ring **out, uint32_t epoch)
{
	struct sse_ring *r = malloc(sizeof *r);

	if (!r)
		return ENOMEM;
	r->epoch = epoch;
	r->first = r->next = 1;
	r->tail = 0;
	*out = r;
	return 0;
}

struct sse_ring *sse_ring_free(struct sse_ring *r)
{
	free(r);
	return NULL;
}

uint64_t sse_ring_next(const struct sse_ring *r)
{
	return r->next;
}

/* ---- text ---- */

static bool put(char *buf, size_t size, size_t *at, const char *p, size_t n)
{
	if (n > size - *at)
		return false;
	memcpy(buf + *at, p, n);
	*at += n;
	return true;
}

/* Data goes out a line at a time; a CR would end a line as well. */
static bool put_data(char *buf, size_t size, size_t *at, const char *data, size_t len)
{
	size_t from = 0;

	for (;;) {
		size_t to = from;

		while (to < len && data[to] != '\n' && data[to] != '\r')
			to++;
		if (!put(buf, size, at, "data: ", 6) ||
		    !put(buf, size, at, data + from, to - from) || !put(buf, size, at, "\n", 1))
			return false;
		if (to == len)
			return true;
		from = to + (data[to] == '\r' && to + 1 < len && data[to + 1] == '\n' ? 2 : 1);
	}
}

static size_t format(const struct sse_ring *r, uint64_t number, char *buf, size_t size,
		     const char *name, const char *data, size_t len)
{
	char id[SSE_ID_SIZE + 8];
	size_t at = 0;
	int n = r->epoch ? snprintf(id, sizeof id, "id: %08" PRIx32 "-%" PRIu64 "\n", r->epoch,
				    number)
			 : 0;

	if (!name[0] || name[strcspn(name, "\r\n")])
		return 0;
	if (!put(buf, size, &at, id, (size_t)n) || !put(buf, size, &at, "event: ", 7) ||
	    !put(buf, size, &at, name, strlen(name)) || !put(buf, size, &at, "\n", 1) ||
	    !put_data(buf, size, &at, data, len) || !put(buf, size, &at, "\n", 1))
		return 0;
	return at;
}

size_t sse_ring_format(const struct sse_ring *r, char *buf, size_t size, const char *name,
		       const char *data, size_t len)
{
	return format(r, r->next - 1, buf, size, name, data, len);
}

/* ---- adding ---- */

/* Drops the oldest while they lie in [from, to) of the bytes. */
static void clear_bytes(struct sse_ring *r, size_t from, size_t to)
{
	while (r->first < r->next) {
		size_t at = r->events[r->first % SSE_RING_EVENTS].at;
		size_t end = at + r->events[r->first % SSE_RING_EVENTS].n;

		if (end <= from || at >= to)
			return;
		r->first++;
	}
}

int sse_ring_add(struct sse_ring *r, const struct sse_topic *topic, const char *name,
		 const char *data, size_t len, const char **text, size_t *n)
{
	size_t k;

	if ((topic && topic->type >= 64) || !name[0] || name[strcspn(name, "\r\n")])
		return EINVAL;
	k = format(r, r->next, r->scratch, sizeof r->scratch, name, data, len);
	if (!k)
		return EMSGSIZE;
	if (k > SSE_RING_BYTES - r->tail) {
		clear_bytes(r, r->tail, SSE_RING_BYTES);
		r->tail = 0;
	}
	clear_bytes(r, r->tail, r->tail + k);
	if (r->next - r->first == SSE_RING_EVENTS)
		r->first++;
	memcpy(r->bytes + r->tail, r->scratch, k);
	r->events[r->next % SSE_RING_EVENTS].at = (uint32_t)r->tail;
	r->events[r->next % SSE_RING_EVENTS].n = (uint32_t)k;
	r->events[r->next % SSE_RING_EVENTS].topic = topic ? *topic : (struct sse_topic){0};
	r->next++;
	*text = r->bytes + r->tail;
	*n = k;
	r->tail += k;
	return 0;
}

/* ---- reading ---- */

bool sse_ring_get(const struct sse_ring *r, uint64_t cursor, const char **text, size_t *n)
{
	if (cursor < r->first || cursor >= r->next)
		return false;
	*text = r->bytes + r->events[cursor % SSE_RING_EVENTS].at;
	*n = r->events[cursor % SSE_RING_EVENTS].n;
	return true;
}

static bool matches(const struct sse_filter *filter, const struct sse_topic *topic)
{
	return filter->types >> topic->type & 1 && (!filter->key || filter->key == topic->key) &&
	       !(filter->open && topic->hidden);
}

uint64_t sse_ring_seek(const struct sse_ring *r, uint64_t cursor, const struct sse_filter *filter)
{
	if (cursor < r->first)
		return cursor;
	while (cursor < r->next && !matches(filter, &r->events[cursor % SSE_RING_EVENTS].topic))
		cursor++;
	return cursor;
}

bool sse_ring_missed(const struct sse_ring *r, uint64_t cursor)
{
	return cursor < r->first;
}

bool sse_ring_resume(const struct sse_ring *r, const char *id, size_t n, uint64_t *cursor)
{
	char text[SSE_ID_SIZE], again[SSE_ID_SIZE];
	uint32_t epoch;
	uint64_t number;

	if (!r->epoch || n >= sizeof text || memchr(id, '\0', n))
		return false;
	memcpy(text, id, n);
	text[n] = '\0';
	/* Only what we would have written ourselves. */
	if (sscanf(text, "%8" SCNx32 "-%19" SCNu64, &epoch, &number) != 2)
		return false;
	snprintf(again, sizeof again, "%08" PRIx32 "-%" PRIu64, epoch, number);
	if (strcmp(text, again) != 0 || epoch != r->epoch || number >= r->next ||
	    number + 1 < r->first)
		return false;
	*cursor = number + 1;
	return true;
}
