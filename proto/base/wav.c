#include "proto/base/wav.h"

#include "proto/base/cursor.h"

#include <errno.h>

static void write_le(struct wr *w, uint32_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		wr_be(w, v >> (8 * i) & 0xff, 1);
}

static uint32_t get_le(struct rd *r, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)rd_be(r, 1) << (8 * i);
	return v;
}

void wav_header(uint8_t out[WAV_HEADER], uint32_t rate, uint16_t channels, size_t frames)
{
	struct wr w = wr_of(out, WAV_HEADER);
	uint32_t bytes = (uint32_t)(frames * channels * 2);

	wr_bytes(&w, "RIFF", 4);
	write_le(&w, bytes + WAV_HEADER - 8, 4);
	wr_bytes(&w, "WAVEfmt ", 8);
	write_le(&w, 16, 4);
	write_le(&w, 1, 2);
	write_le(&w, channels, 2);
	write_le(&w, rate, 4);
	write_le(&w, rate * channels * 2, 4);
	write_le(&w, channels * 2u, 2);
	write_le(&w, 16, 2);
	wr_bytes(&w, "data", 4);
	write_le(&w, bytes, 4);
}

/* Reads the fmt chunk's body: 1 = PCM, 0xfffe = extensible, whose sub-format begins with the real
 * one. */
static int parse_fmt(struct wav *v, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	uint32_t format = get_le(&r, 2), bits;

	v->channels = (uint16_t)get_le(&r, 2);
	v->rate = get_le(&r, 4);
	rd_bytes(&r, 6);
	bits = get_le(&r, 2);
	if (!r.ok)
		return EBADMSG;
	if (format == 0xfffe) {
		rd_bytes(&r, 8);
		format = get_le(&r, 2);
	}
	if (!r.ok || format != 1 || bits != 16 || v->channels < 1 || v->channels > 8 ||
	    v->rate < 8000 || v->rate > 192000)
		return ENOTSUP;
	return 0;
}

int wav_parse(struct wav *out, const uint8_t *file, size_t len)
{
	struct rd r = rd_of(file, len);
	struct wav v = {0};
	const uint8_t *id = rd_bytes(&r, 4);
	int err;

	if (!id || memcmp(id, "RIFF", 4) != 0)
		return EBADMSG;
	get_le(&r, 4);
	id = rd_bytes(&r, 4);
	if (!id || memcmp(id, "WAVE", 4) != 0)
		return EBADMSG;
	while ((id = rd_bytes(&r, 4))) {
		size_t n = get_le(&r, 4);
		const uint8_t *body;

		if (n > rd_left(&r) && memcmp(id, "data", 4) == 0)
			n = rd_left(&r);
		body = rd_bytes(&r, n);
		if (!body)
			return EBADMSG;
		if (memcmp(id, "fmt ", 4) == 0) {
			err = parse_fmt(&v, body, n);
			if (err)
				return err;
		} else if (memcmp(id, "data", 4) == 0) {
			if (!v.rate)
				return EBADMSG;
			v.data = body;
			v.frames = n / 2 / v.channels;
			*out = v;
			return 0;
		}
		if (n & 1 && rd_left(&r))
			rd_bytes(&r, 1);
	}
	return EBADMSG;
}
