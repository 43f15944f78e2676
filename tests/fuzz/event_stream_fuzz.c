/* The ring of an event stream and its resumption: a script of events and readers against what must
 * hold. An id that is accepted is one that the ring gave; a reader gets every event once, in order,
 * or is told that it missed some; no data breaks out of its event. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/http/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EPOCH = 0xfade, COMMANDS = 40, FILLS = 20, FILL_SIZE = 60000 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Lines are id, event, data…, and one empty line at the end. */
static void check_event(const char *text, size_t n, uint64_t number)
{
	char id[64];
	int len = snprintf(id, sizeof id, "id: %08x-%" PRIu64 "\nevent: ", EPOCH, number);
	size_t at;

	require(n > (size_t)len && memcmp(text, id, (size_t)len) == 0 &&
		memcmp(text + n - 2, "\n\n", 2) == 0);
	require(!memchr(text, '\r', n));
	at = (size_t)((const char *)memchr(text + len, '\n', n - (size_t)len) - text) + 1;
	while (at < n - 1) {
		require(n - at > 6 && memcmp(text + at, "data: ", 6) == 0);
		at = (size_t)((const char *)memchr(text + at, '\n', n - at) - text) + 1;
	}
	require(at == n - 1);
}

static void add(struct sse_ring *r, const uint8_t *p, size_t n, bool fill)
{
	static const char big[FILL_SIZE];
	const char *text;
	size_t k;
	const struct sse_topic topic = {.type = n % 64, .key = n % 3};
	uint64_t next = sse_ring_next(r);

	if (sse_ring_add(r, &topic, "turn", (const char *)p, n, &text, &k) == 0)
		check_event(text, k, next);
	/* A name from outside. */
	if (n && n < 64) {
		char name[64];

		memcpy(name, p, n);
		name[n] = '\0';
		next = sse_ring_next(r);
		if (sse_ring_add(r, NULL, name, "x", 1, &text, &k) == 0)
			check_event(text, k, next);
	}
	/* As much as drops all that came before. */
	for (unsigned i = 0; fill && i < FILLS; i++)
		sse_ring_add(r, NULL, "fill", big, FILL_SIZE, &text, &k);
}

/* A filter skips only what it does not let through, and the cursor never goes back. */
static void seek(const struct sse_ring *r, uint64_t cursor, size_t n)
{
	const struct sse_filter filter = {.types = UINT64_C(1) << n % 64, .key = n % 3};
	const struct sse_filter all = {.types = UINT64_MAX};
	uint64_t at = sse_ring_seek(r, cursor, &filter);

	require(at >= cursor && at <= sse_ring_next(r));
	require(sse_ring_seek(r, at, &filter) == at);
	require(sse_ring_seek(r, cursor, &all) == cursor);
}

static void resume(const struct sse_ring *r, const char *id, size_t n)
{
	uint64_t cursor = 0;
	const char *text;
	char again[64];
	size_t k;

	if (!sse_ring_resume(r, id, n, &cursor))
		return;
	snprintf(again, sizeof again, "%08x-%" PRIu64, EPOCH, cursor - 1);
	require(strlen(again) == n && memcmp(again, id, n) == 0);
	require(cursor <= sse_ring_next(r) && !sse_ring_missed(r, cursor));
	seek(r, cursor, n);
	while (sse_ring_get(r, cursor, &text, &k))
		check_event(text, k, cursor++);
	require(cursor == sse_ring_next(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sse_ring *r;
	size_t at = 0;
	bool filled = false; /* once is slow enough */

	if (sse_ring_alloc(&r, EPOCH))
		return 0;
	/* A command, its number, that many bytes. */
	for (unsigned i = 0; i < COMMANDS && size - at >= 2; i++) {
		uint8_t what = data[at], n = data[at + 1];
		size_t left = size - at - 2, take = n < left ? n : left;
		char id[64];

		switch (what % 3) {
		case 0:
			add(r, data + at + 2, take, what == 0xff && !filled);
			filled |= what == 0xff;
			break;
		case 1:
			resume(r, (const char *)data + at + 2, take);
			break;
		default:
			snprintf(id, sizeof id, "%08x-%" PRIu64, EPOCH, sse_ring_next(r) - n % 64);
			resume(r, id, strlen(id));
		}
		at += 2 + take;
	}
	sse_ring_free(r);
	return 0;
}
