#include "proto/codec.h"

#include <errno.h>
#include <msgpack.h>

/* ---- packing ---- */

static int write_bounded(void *data, const char *buf, size_t len)
{
	struct wr *w = data;

	wr_bytes(w, buf, len);
	return w->ok ? 0 : -1;
}

uint64_t codec_number(const struct codec_field *f, const void *from)
{
	const uint8_t *p = (const uint8_t *)from + f->offset;

	switch (f->kind) {
	case CODEC_U8:
		return *p;
	case CODEC_U16:
		return *(const uint16_t *)(const void *)p;
	case CODEC_U32:
		return *(const uint32_t *)(const void *)p;
	case CODEC_U64:
		return *(const uint64_t *)(const void *)p;
	case CODEC_BOOL:
		return *(const bool *)(const void *)p;
	case CODEC_STR:
	case CODEC_BIN:
		break;
	}
	return 0;
}

const struct slice *codec_slice(const struct codec_field *f, const void *from)
{
	return (const void *)((const uint8_t *)from + f->offset);
}

static int pack_field(msgpack_packer *pk, const struct codec_field *f, const void *from)
{
	const struct slice *s;

	switch (f->kind) {
	case CODEC_BOOL:
		return codec_number(f, from) ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
	case CODEC_STR:
		s = codec_slice(f, from);
		if (s->n > f->cap || msgpack_pack_str(pk, s->n))
			return -1;
		return s->n ? msgpack_pack_str_body(pk, s->p, s->n) : 0;
	case CODEC_BIN:
		s = codec_slice(f, from);
		if (s->n > f->cap || msgpack_pack_bin(pk, s->n))
			return -1;
		return s->n ? msgpack_pack_bin_body(pk, s->p, s->n) : 0;
	case CODEC_U8:
	case CODEC_U16:
	case CODEC_U32:
	case CODEC_U64:
		break;
	}
	return msgpack_pack_uint64(pk, codec_number(f, from));
}

int codec_pack(const struct codec_message *m, const void *from, unsigned minor, uint8_t *buf,
	       size_t cap, size_t *len)
{
	struct wr w = wr_of(buf, cap < m->cap ? cap : m->cap);
	msgpack_packer pk;
	size_t n = 0;

	if (m->since > minor)
		return EINVAL;
	/* Fields are only ever appended, so those of newer versions are at the end. */
	while (n < m->n_fields && m->fields[n].since <= minor)
		n++;
	msgpack_packer_init(&pk, &w, write_bounded);
	if (msgpack_pack_array(&pk, n + 1) || msgpack_pack_uint32(&pk, m->number))
		return EMSGSIZE;
	for (size_t i = 0; i < n; i++)
		if (pack_field(&pk, &m->fields[i], from))
			return EMSGSIZE;
	*len = w.pos;
	return 0;
}

/* ---- unpacking ---- */

/* One msgpack token: `v` holds numbers, booleans and lengths; negative numbers are marked. */
enum token {
	T_END,
	T_NIL,
	T_BOOL,
	T_UINT,
	T_NEGATIVE,
	T_FLOAT,
	T_STR,
	T_BIN,
	T_ARRAY,
	T_MAP,
	T_EXT
};

static enum token take_signed(struct rd *r, unsigned n, uint64_t *v)
{
	uint64_t raw = rd_be(r, n);

	*v = raw;
	return raw >> (8 * n - 1) ? T_NEGATIVE : T_UINT;
}

static enum token take_tagged(struct rd *r, uint8_t tag, uint64_t *v)
{
	switch (tag) {
	case 0xc0:
		return T_NIL;
	case 0xc2:
	case 0xc3:
		*v = tag & 1;
		return T_BOOL;
	case 0xc4:
	case 0xc5:
	case 0xc6:
		*v = rd_be(r, 1u << (tag - 0xc4));
		return T_BIN;
	case 0xc7:
	case 0xc8:
	case 0xc9:
		*v = rd_be(r, 1u << (tag - 0xc7)) + 1; /* with its type byte */
		return T_EXT;
	case 0xca:
	case 0xcb:
		*v = tag == 0xca ? 4 : 8;
		return T_FLOAT;
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		*v = rd_be(r, 1u << (tag - 0xcc));
		return T_UINT;
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return take_signed(r, 1u << (tag - 0xd0), v);
	case 0xd4:
	case 0xd5:
	case 0xd6:
	case 0xd7:
	case 0xd8:
		*v = (1u << (tag - 0xd4)) + 1;
		return T_EXT;
	case 0xd9:
	case 0xda:
	case 0xdb:
		*v = rd_be(r, 1u << (tag - 0xd9));
		return T_STR;
	case 0xdc:
	case 0xdd:
		*v = rd_be(r, 2u << (tag - 0xdc));
		return T_ARRAY;
	case 0xde:
	case 0xdf:
		*v = rd_be(r, 2u << (tag - 0xde));
		return T_MAP;
	default: /* 0xc1 is never used */
		return T_END;
	}
}

static enum token read_token(struct rd *r, uint64_t *v)
{
	uint8_t tag = (uint8_t)rd_be(r, 1);
	enum token t;

	*v = 0;
	if (!r->ok)
		return T_END;
	if (tag < 0x80) {
		*v = tag;
		return T_UINT;
	}
	if (tag >= 0xe0)
		return T_NEGATIVE;
	if (tag < 0x90) {
		*v = tag & 0x0f;
		return T_MAP;
	}
	if (tag < 0xa0) {
		*v = tag & 0x0f;
		return T_ARRAY;
	}
	if (tag < 0xc0) {
		*v = tag & 0x1f;
		return T_STR;
	}
	t = take_tagged(r, tag, v);
	return r->ok ? t : T_END;
}

/* Skips one whole value. The stack is explicit, so that hostile nesting costs nothing. */
static bool skip_value(struct rd *r)
{
	uint64_t left[CODEC_DEPTH + 1] = {1};
	int depth = 0;

	while (depth >= 0) {
		uint64_t v;

		if (left[depth] == 0) {
			depth--;
			continue;
		}
		left[depth]--;
		switch (read_token(r, &v)) {
		case T_END:
			return false;
		case T_STR:
		case T_BIN:
		case T_EXT:
		case T_FLOAT:
			if (v > rd_left(r))
				return false;
			rd_bytes(r, v);
			break;
		case T_MAP:
			v *= 2;
			/* fall through */
		case T_ARRAY:
			if (v > rd_left(r) || depth == CODEC_DEPTH)
				return false;
			left[++depth] = v;
			break;
		case T_NIL:
		case T_BOOL:
		case T_UINT:
		case T_NEGATIVE:
			break;
		}
	}
	return true;
}

static void set_number(const struct codec_field *f, void *to, uint64_t v)
{
	uint8_t *p = (uint8_t *)to + f->offset;

	switch (f->kind) {
	case CODEC_U8:
		*p = (uint8_t)v;
		break;
	case CODEC_U16:
		*(uint16_t *)(void *)p = (uint16_t)v;
		break;
	case CODEC_U32:
		*(uint32_t *)(void *)p = (uint32_t)v;
		break;
	case CODEC_U64:
		*(uint64_t *)(void *)p = v;
		break;
	case CODEC_BOOL:
		*(bool *)(void *)p = v != 0;
		break;
	case CODEC_STR:
	case CODEC_BIN:
		break;
	}
}

static void set_slice(const struct codec_field *f, void *to, const uint8_t *p, size_t n)
{
	*(struct slice *)(void *)((uint8_t *)to + f->offset) = (struct slice){.p = p, .n = n};
}

static void set_default(const struct codec_field *f, void *to)
{
	if (f->kind == CODEC_STR)
		set_slice(f, to, (const uint8_t *)f->text, f->text ? strlen(f->text) : 0);
	else if (f->kind == CODEC_BIN)
		set_slice(f, to, NULL, 0);
	else
		set_number(f, to, f->number);
}

static bool read_field(const struct codec_field *f, struct rd *r, void *to)
{
	static const uint64_t most[] = {[CODEC_U8] = UINT8_MAX,
					[CODEC_U16] = UINT16_MAX,
					[CODEC_U32] = UINT32_MAX,
					[CODEC_U64] = UINT64_MAX};
	uint64_t v;
	enum token t = read_token(r, &v);

	switch (f->kind) {
	case CODEC_BOOL:
		if (t != T_BOOL)
			return false;
		break;
	case CODEC_STR:
	case CODEC_BIN:
		if (t != (f->kind == CODEC_STR ? T_STR : T_BIN) || v > f->cap || v > rd_left(r))
			return false;
		set_slice(f, to, rd_bytes(r, v), v);
		return true;
	case CODEC_U8:
	case CODEC_U16:
	case CODEC_U32:
	case CODEC_U64:
		if (t != T_UINT || v > most[f->kind])
			return false;
		break;
	}
	set_number(f, to, v);
	return true;
}

int codec_head(struct rd *r, uint64_t *number, uint32_t *left)
{
	uint64_t n, v;

	if (read_token(r, &n) != T_ARRAY || n == 0 || n > rd_left(r))
		return EBADMSG;
	if (read_token(r, &v) != T_UINT)
		return EBADMSG;
	*number = v;
	*left = (uint32_t)(n - 1);
	return 0;
}

int codec_fields(const struct codec_message *m, struct rd *r, uint32_t left, void *to)
{
	if (r->n > m->cap)
		return EBADMSG;
	for (size_t i = 0; i < m->n_fields; i++) {
		const struct codec_field *f = &m->fields[i];

		if (left) {
			left--;
			if (!read_field(f, r, to))
				return EBADMSG;
		} else if (f->since > m->since) {
			set_default(f, to);
		} else {
			return EBADMSG; /* present since the first version of the message */
		}
	}
	for (; left; left--)
		if (!skip_value(r))
			return EBADMSG;
	return rd_left(r) ? EBADMSG : 0;
}
