#include "proto/rtcp.h"

#include <errno.h>

enum { HEAD = 4, SENDER = 20, BLOCK = 24, SDES_CNAME = 1, NACK_PAIR = 4, FIR_ENTRY = 8 };
#define NTP_UNIX UINT64_C(2208988800) /* seconds from 1900 to 1970 */

static bool read_report(struct rd *r, struct rtcp_packet *p, unsigned count)
{
	p->ssrc = (uint32_t)rd_be(r, 4);
	if (p->type == RTCP_SR) {
		p->sender.ntp = rd_be(r, 8);
		p->sender.rtp = (uint32_t)rd_be(r, 4);
		p->sender.packets = (uint32_t)rd_be(r, 4);
		p->sender.octets = (uint32_t)rd_be(r, 4);
	}
	p->blocks = rd_bytes(r, BLOCK * (size_t)count);
	p->n_blocks = count;
	return r->ok;
}

static bool read_feedback(struct rd *r, struct rtcp_packet *p, unsigned format)
{
	p->format = (uint8_t)format;
	p->ssrc = (uint32_t)rd_be(r, 4);
	p->media = (uint32_t)rd_be(r, 4);
	p->what.n = rd_left(r);
	p->what.p = rd_bytes(r, p->what.n);
	return r->ok;
}

bool rtcp_next(struct rd *r, struct rtcp_packet *out)
{
	struct rtcp_packet p = {0};
	const uint8_t *body;
	unsigned first;
	struct rd in;
	size_t n;

	if (!rd_left(r))
		return false;
	first = (unsigned)rd_be(r, 1);
	p.type = (uint8_t)rd_be(r, 1);
	n = 4 * (size_t)rd_be(r, 2);
	body = rd_bytes(r, n);
	if (!r->ok || first >> 6 != 2 || p.type < 192 || p.type > 223) {
		r->ok = false;
		return false;
	}
	/* Bytes after the blocks are a profile's extension or padding. */
	in = rd_of(body, n);
	if ((p.type == RTCP_SR || p.type == RTCP_RR) && !read_report(&in, &p, first & 31)) {
		r->ok = false;
		return false;
	}
	if ((p.type == RTCP_RTPFB || p.type == RTCP_PSFB) && !read_feedback(&in, &p, first & 31)) {
		r->ok = false;
		return false;
	}
	*out = p;
	return true;
}

struct rtcp_block rtcp_block_of(const struct rtcp_packet *p, unsigned i)
{
	struct rd r = rd_of(p->blocks + BLOCK * (size_t)i, BLOCK);
	struct rtcp_block b = {0};
	uint32_t lost;

	b.ssrc = (uint32_t)rd_be(&r, 4);
	b.fraction = (uint8_t)rd_be(&r, 1);
	lost = (uint32_t)rd_be(&r, 3);
	b.lost = lost > RTCP_LOST_MAX ? (int32_t)lost - 0x1000000 : (int32_t)lost;
	b.highest = (uint32_t)rd_be(&r, 4);
	b.jitter = (uint32_t)rd_be(&r, 4);
	b.lsr = (uint32_t)rd_be(&r, 4);
	b.dlsr = (uint32_t)rd_be(&r, 4);
	return b;
}

static void write_head(struct wr *w, unsigned count, unsigned type, size_t bytes)
{
	wr_be(w, 0x80u | count, 1);
	wr_be(w, type, 1);
	wr_be(w, bytes / 4 - 1, 2);
}

int rtcp_build(uint32_t ssrc, const struct rtcp_sender *sender, const struct rtcp_block *blocks,
	       unsigned n, uint8_t *buf, size_t cap, size_t *len)
{
	struct wr w = wr_of(buf, cap);

	if (n > RTCP_BLOCKS)
		return EINVAL;
	write_head(&w, n, sender ? RTCP_SR : RTCP_RR,
		   HEAD + 4 + (sender ? SENDER : 0) + BLOCK * (size_t)n);
	wr_be(&w, ssrc, 4);
	if (sender) {
		wr_be(&w, sender->ntp, 8);
		wr_be(&w, sender->rtp, 4);
		wr_be(&w, sender->packets, 4);
		wr_be(&w, sender->octets, 4);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct rtcp_block *b = &blocks[i];

		wr_be(&w, b->ssrc, 4);
		wr_be(&w, b->fraction, 1);
		wr_be(&w, (uint32_t)b->lost & 0xffffff, 3);
		wr_be(&w, b->highest, 4);
		wr_be(&w, b->jitter, 4);
		wr_be(&w, b->lsr, 4);
		wr_be(&w, b->dlsr, 4);
	}
	write_head(&w, 1, RTCP_SDES, HEAD + 8);
	wr_be(&w, ssrc, 4);
	wr_be(&w, SDES_CNAME, 1);
	wr_be(&w, 0, 3); /* no text; the end of the items, and of the chunk */
	if (!w.ok)
		return EMSGSIZE;
	*len = w.pos;
	return 0;
}

/* ---- feedback about video ---- */

unsigned rtcp_read_nack(const struct rtcp_packet *p, uint32_t media, uint16_t *seqs, unsigned max)
{
	struct rd r = rd_of(p->what.p, p->what.n);
	unsigned n = 0;

	if (p->type != RTCP_RTPFB || p->format != RTCP_NACK || p->media != media)
		return 0;
	while (rd_left(&r) >= NACK_PAIR) {
		uint16_t seq = (uint16_t)rd_be(&r, 2), mask = (uint16_t)rd_be(&r, 2);

		if (n < max)
			seqs[n++] = seq;
		for (unsigned i = 0; i < 16; i++)
			if (mask >> i & 1 && n < max)
				seqs[n++] = (uint16_t)(seq + i + 1);
	}
	return n;
}

bool rtcp_wants_key(const struct rtcp_packet *p, uint32_t media)
{
	struct rd r = rd_of(p->what.p, p->what.n);

	if (p->type != RTCP_PSFB)
		return false;
	if (p->format == RTCP_PLI)
		return p->media == media;
	while (p->format == RTCP_FIR && rd_left(&r) >= FIR_ENTRY) {
		if (rd_be(&r, 4) == media)
			return true;
		rd_bytes(&r, FIR_ENTRY - 4);
	}
	return false;
}

static void write_feedback(struct wr *w, unsigned type, unsigned format, uint32_t ssrc,
			   uint32_t media, size_t what)
{
	write_head(w, format, type, HEAD + 8 + what);
	wr_be(w, ssrc, 4);
	wr_be(w, media, 4);
}

void rtcp_write_nack(struct wr *w, uint32_t ssrc, uint32_t media, const uint16_t *seqs, unsigned n)
{
	size_t at = w->pos;
	unsigned pairs = 0;

	write_feedback(w, RTCP_RTPFB, RTCP_NACK, ssrc, media, 0);
	for (unsigned i = 0; i < n; pairs++) {
		uint16_t first = seqs[i++], mask = 0;

		for (; i < n && (uint16_t)(seqs[i] - first - 1) < 16; i++)
			mask |= (uint16_t)(1u << (uint16_t)(seqs[i] - first - 1));
		wr_be(w, first, 2);
		wr_be(w, mask, 2);
	}
	if (w->ok) {
		struct wr head = wr_of(w->p + at, HEAD);

		write_head(&head, RTCP_NACK, RTCP_RTPFB, HEAD + 8 + NACK_PAIR * (size_t)pairs);
	}
}

void rtcp_write_pli(struct wr *w, uint32_t ssrc, uint32_t media)
{
	write_feedback(w, RTCP_PSFB, RTCP_PLI, ssrc, media, 0);
}

void rtcp_write_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t seq)
{
	write_feedback(w, RTCP_PSFB, RTCP_FIR, ssrc, 0, FIR_ENTRY);
	wr_be(w, media, 4);
	wr_be(w, seq, 1);
	wr_be(w, 0, 3);
}

uint64_t rtcp_ntp(uint64_t unix_ms)
{
	uint64_t fraction = ((unix_ms % 1000) << 32) / 1000;

	return (unix_ms / 1000 + NTP_UNIX) << 32 | fraction;
}
