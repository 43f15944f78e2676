/* Compound RTCP packets as they come out of the transport encryption. */
#include <stdlib.h>

#include "proto/rtcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written, and read the same. */
static void again(const struct rtcp_packet *p)
{
	struct rtcp_block blocks[RTCP_BLOCKS];
	uint8_t buf[RTCP_REPORT_MAX];
	struct rtcp_packet q;
	struct rd r;
	size_t n;

	for (unsigned i = 0; i < p->n_blocks; i++)
		blocks[i] = rtcp_block_of(p, i);
	if (rtcp_build(p->ssrc, p->type == RTCP_SR ? &p->sender : NULL, blocks, p->n_blocks, buf,
		       sizeof buf, &n))
		abort();
	r = rd_of(buf, n);
	if (!rtcp_next(&r, &q) || q.type != p->type || q.ssrc != p->ssrc ||
	    q.n_blocks != p->n_blocks)
		abort();
	if (q.sender.ntp != p->sender.ntp || q.sender.rtp != p->sender.rtp ||
	    q.sender.packets != p->sender.packets || q.sender.octets != p->sender.octets)
		abort();
	if (p->n_blocks && memcmp(q.blocks, p->blocks, 24 * p->n_blocks) != 0)
		abort();
	if (!rtcp_next(&r, &q) || q.type != RTCP_SDES || rtcp_next(&r, &q) || !r.ok)
		abort();
}

/* The numbers of a NACK are written, and read the same, when they ascend. */
static void nack_again(const struct rtcp_packet *p)
{
	enum { MAX = 64 };
	uint16_t seqs[MAX], got[MAX];
	uint8_t buf[12 + 4 * MAX];
	struct wr w = wr_of(buf, sizeof buf);
	unsigned n = rtcp_read_nack(p, p->media, seqs, MAX);
	struct rtcp_packet q;
	struct rd r;

	(void)rtcp_wants_key(p, p->media);
	if (!n)
		return;
	for (unsigned i = 1; i < n; i++)
		if ((int16_t)(seqs[i] - seqs[i - 1]) <= 0)
			return;
	rtcp_write_nack(&w, p->ssrc, p->media, seqs, n);
	r = rd_of(buf, w.pos);
	if (!w.ok || !rtcp_next(&r, &q) || rtcp_read_nack(&q, p->media, got, MAX) != n)
		abort();
	if (memcmp(seqs, got, n * sizeof seqs[0]) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r = rd_of(data, size);
	struct rtcp_packet p;

	while (rtcp_next(&r, &p)) {
		if (p.n_blocks > RTCP_BLOCKS || r.pos > size)
			abort();
		if (p.n_blocks && (p.blocks < data || p.blocks + 24 * p.n_blocks > data + r.pos))
			abort();
		if (p.type == RTCP_SR || p.type == RTCP_RR)
			again(&p);
		else if (p.type == RTCP_RTPFB || p.type == RTCP_PSFB)
			nack_again(&p);
	}
	return 0;
}
