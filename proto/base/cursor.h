/* Byte cursors with a sticky error: read or write a whole header, then check `ok` once.
 *
 * A reader never passes its end and a writer never passes its capacity. After the first step that
 * would, `ok` is false, reads return zero and writes do nothing. Both borrow their buffer. */
#ifndef PROTO_BASE_CURSOR_H
#define PROTO_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes. */
struct slice {
	const uint8_t *p;
	size_t n;
};

struct rd {
	const uint8_t *p;
	size_t n;
	size_t pos;
	bool ok;
};

struct wr {
	uint8_t *p;
	size_t cap;
	size_t pos;
	bool ok;
};

static inline struct rd rd_of(const void *p, size_t n)
{
	return (struct rd){.p = p, .n = n, .pos = 0, .ok = true};
}

static inline size_t rd_left(const struct rd *r)
{
	return r->ok ? r->n - r->pos : 0;
}

/* Reads n bytes; returns NULL (and clears ok) when there are fewer. */
static inline const uint8_t *rd_bytes(struct rd *r, size_t n)
{
	const uint8_t *p;

	if (!r->ok || n > r->n - r->pos) {
		r->ok = false;
		return NULL;
	}
	p = r->p + r->pos;
	r->pos += n;
	return p;
}

/* Big-endian unsigned integer of `n` bytes, 1..8. */
static inline uint64_t rd_be(struct rd *r, unsigned n)
{
	const uint8_t *p = rd_bytes(r, n);
	uint64_t v = 0;

	if (!p)
		return 0;
	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline struct wr wr_of(void *p, size_t cap)
{
	return (struct wr){.p = p, .cap = cap, .pos = 0, .ok = true};
}

/* Returns room for n bytes, or NULL (and clears ok). */
static inline uint8_t *wr_room(struct wr *w, size_t n)
{
	uint8_t *p;

	if (!w->ok || n > w->cap - w->pos) {
		w->ok = false;
		return NULL;
	}
	p = w->p + w->pos;
	w->pos += n;
	return p;
}

static inline void wr_bytes(struct wr *w, const void *src, size_t n)
{
	uint8_t *p = wr_room(w, n);

	if (p && n)
		memcpy(p, src, n);
}

/* Big-endian unsigned integer of `n` bytes, 1..8. */
static inline void wr_be(struct wr *w, uint64_t v, unsigned n)
{
	uint8_t *p = wr_room(w, n);

	for (unsigned i = 0; p && i < n; i++)
		p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

#endif
