#include "mediad/mls/codec.h"

#include <errno.h>
#include <stdlib.h>

#include <sodium.h>

enum { VARINT_1 = 1 << 6, VARINT_2 = 1 << 14, VARINT_4 = 1 << 30, OUT_FIRST = 256 };

/* ---- reading ---- */

uint32_t mls_rd_varint(struct rd *r)
{
	uint8_t first = (uint8_t)rd_be(r, 1);
	unsigned form = first >> 6, more = (1u << form) - 1;
	uint32_t v = first & 0x3f;

	if (form == 3)
		r->ok = false;
	else if (more)
		v = v << (8 * more) | (uint32_t)rd_be(r, more);
	if (!r->ok || mls_varint_size(v) != more + 1) {
		r->ok = false;
		return 0;
	}
	return v;
}

struct slice mls_rd_vec(struct rd *r)
{
	size_t n = mls_rd_varint(r);
	const uint8_t *p = rd_bytes(r, n);

	return p ? mls_slice(p, n) : (struct slice){0};
}

struct rd mls_rd_sub(struct rd *r)
{
	struct slice s = mls_rd_vec(r);
	struct rd sub = rd_of(s.p, s.n);

	sub.ok = r->ok;
	return sub;
}

bool mls_rd_optional(struct rd *r)
{
	uint64_t present = rd_be(r, 1);

	if (present > 1)
		r->ok = false;
	return r->ok && present == 1;
}

/* ---- writing ---- */

size_t mls_varint_size(size_t n)
{
	if (n < VARINT_1)
		return 1;
	if (n < VARINT_2)
		return 2;
	return n < VARINT_4 ? 4 : 0;
}

size_t mls_varint_put(uint8_t out[4], size_t n)
{
	size_t size = mls_varint_size(n);
	struct wr w = wr_of(out, 4);

	if (size)
		wr_be(&w,
		      (size == 4   ? UINT32_C(2) << 30
		       : size == 2 ? 1u << 14
				   : 0) |
			      n,
		      (unsigned)size);
	return size;
}

static int grow_buffer(struct mls_out *o, size_t want)
{
	size_t cap = o->cap ? o->cap : OUT_FIRST;
	uint8_t *p;

	while (cap < want)
		cap *= 2;
	p = malloc(cap);
	if (!p)
		return ENOMEM;
	if (o->p) {
		memcpy(p, o->p, o->n);
		sodium_memzero(o->p, o->cap);
		free(o->p);
	}
	o->p = p;
	o->cap = cap;
	return 0;
}

/* Returns room for n more bytes at the end, or NULL. */
static uint8_t *reserve_room(struct mls_out *o, size_t n)
{
	uint8_t *p;

	if (!o->err && n > MLS_BYTES_MAX - o->n)
		o->err = EOVERFLOW;
	if (!o->err && (!o->p || n > o->cap - o->n))
		o->err = grow_buffer(o, o->n + n);
	if (o->err)
		return NULL;
	p = o->p + o->n;
	o->n += n;
	return p;
}

void mls_out_be(struct mls_out *o, uint64_t v, unsigned bytes)
{
	uint8_t *p = reserve_room(o, bytes);
	struct wr w = wr_of(p, bytes);

	if (p)
		wr_be(&w, v, bytes);
}

void mls_out_bytes(struct mls_out *o, const void *p, size_t n)
{
	uint8_t *to = reserve_room(o, n);

	if (to && n)
		memcpy(to, p, n);
}

void mls_out_slice(struct mls_out *o, struct slice s)
{
	mls_out_bytes(o, s.p, s.n);
}

void mls_out_varint(struct mls_out *o, size_t n)
{
	uint8_t form[4];
	size_t size = mls_varint_put(form, n);

	if (size)
		mls_out_bytes(o, form, size);
	else if (!o->err)
		o->err = EOVERFLOW;
}

void mls_out_vec(struct mls_out *o, struct slice s)
{
	mls_out_varint(o, s.n);
	mls_out_slice(o, s);
}

size_t mls_out_open(struct mls_out *o)
{
	return o->n;
}

void mls_out_close(struct mls_out *o, size_t at)
{
	uint8_t form[4];
	size_t body = o->n - at, size = mls_varint_put(form, body);

	if (!reserve_room(o, size))
		return;
	memmove(o->p + at + size, o->p + at, body);
	memcpy(o->p + at, form, size);
}

struct slice mls_out_view(const struct mls_out *o)
{
	return mls_slice(o->p, o->err ? 0 : o->n);
}

void mls_out_free(struct mls_out *o)
{
	if (o->p)
		sodium_memzero(o->p, o->cap);
	free(o->p);
	*o = (struct mls_out){0};
}
