#include "tests/guildd/rtp.h"

#include <errno.h>

enum {
	EXT_ONE_BYTE = 0xbede,
	EXT_LEVEL = 1,
	EXT_FLAGS = 9,
	RTCP_CLEAR = 8,
	RTCP_SR = 200,
	RTCP_RR = 201,
	RTCP_SDES = 202,
	RTCP_RTPFB = 205,
	RTCP_PSFB = 206,
	SDES_MAX = 64, /* words */
};

static const uint8_t silence[3] = {0xf8, 0xff, 0xfe};

const char *gd_verdict_name(enum gd_verdict v)
{
	static const char *const names[] = {
#define X(NAME, name, text) #name,
		GD_VERDICTS(X)
#undef X
	};

	return v < GD_RX_COUNT ? names[v] : "?";
}

bool gd_nonce_rises(struct gd_nonce *n, const uint8_t nonce[GD_NONCE])
{
	uint32_t be = (uint32_t)nonce[0] << 24 | (uint32_t)nonce[1] << 16 |
		      (uint32_t)nonce[2] << 8 | nonce[3];
	uint32_t le = (uint32_t)nonce[3] << 24 | (uint32_t)nonce[2] << 16 |
		      (uint32_t)nonce[1] << 8 | nonce[0];
	bool ok_be, ok_le;

	if (!n->any) {
		*n = (struct gd_nonce){
			.any = true, .be = true, .le = true, .last_be = be, .last_le = le};
		return true;
	}
	ok_be = n->be && be > n->last_be;
	ok_le = n->le && le > n->last_le;
	if (!ok_be && !ok_le)
		return false;
	n->be = ok_be;
	n->le = ok_le;
	n->last_be = be;
	n->last_le = le;
	return true;
}

enum gd_verdict gd_rtp_peek(const uint8_t *pkt, size_t len, bool *rtcp, uint32_t *ssrc)
{
	struct rd r = rd_of(pkt, len);
	bool control;
	uint32_t id;

	if (len < 2 || len > GD_PACKET_MAX)
		return GD_RX_BAD_SIZE;
	if (pkt[0] >> 6 != 2)
		return GD_RX_BAD_VERSION;
	control = pkt[1] >= 200 && pkt[1] <= 207;
	if (!control && (pkt[1] & 0x7f) != GD_RTP_PT)
		return GD_RX_BAD_TYPE;
	rd_bytes(&r, control ? 4 : 8);
	id = (uint32_t)rd_be(&r, 4);
	if (!r.ok || len < (control ? RTCP_CLEAR : GD_RTP_FIXED) + (size_t)GD_AEAD_EXTRA + 1)
		return GD_RX_BAD_SIZE;
	*rtcp = control;
	*ssrc = id;
	return GD_RX_OK;
}

/* The sealed part: extension body, payload, padding, in this order. */
static enum gd_verdict split(const uint8_t *plain, size_t n, size_t ext_len, bool padded,
			     struct gd_rtp *out)
{
	if (ext_len > n)
		return GD_RX_BAD_EXT;
	out->ext = (struct slice){plain, ext_len};
	plain += ext_len;
	n -= ext_len;
	if (padded) {
		if (!n || !plain[n - 1] || plain[n - 1] > n)
			return GD_RX_BAD_PADDING;
		n -= plain[n - 1];
		if (!n)
			return GD_RX_PADDING_ONLY;
	}
	if (!n)
		return GD_RX_EMPTY;
	out->payload = (struct slice){plain, n};
	return n == sizeof(silence) && memcmp(plain, silence, n) == 0 ? GD_RX_SILENCE : GD_RX_OK;
}

enum gd_verdict gd_rtp_open(struct gd_aead *a, struct gd_nonce *n, const uint8_t *pkt, size_t len,
			    uint8_t *plain, struct gd_rtp *out)
{
	struct gd_nonce after = *n;
	struct rd r = rd_of(pkt, len);
	struct gd_rtp p = {0};
	size_t ext_len = 0, plain_len;
	uint8_t b0, b1;
	enum gd_verdict v;

	b0 = (uint8_t)rd_be(&r, 1);
	b1 = (uint8_t)rd_be(&r, 1);
	p.seq = (uint16_t)rd_be(&r, 2);
	p.ts = (uint32_t)rd_be(&r, 4);
	p.ssrc = (uint32_t)rd_be(&r, 4);
	p.csrc = b0 & 15;
	p.marker = b1 & 0x80;
	p.padded = b0 & 0x20;
	rd_bytes(&r, 4 * (size_t)p.csrc);
	if (b0 & 0x10) {
		p.ext_profile = (uint16_t)rd_be(&r, 2);
		ext_len = 4 * (size_t)rd_be(&r, 2);
	}
	if (!r.ok || rd_left(&r) < GD_AEAD_EXTRA)
		return GD_RX_BAD_SIZE;
	if (!gd_nonce_rises(&after, pkt + len - GD_NONCE))
		return GD_RX_BAD_NONCE;
	if (gd_aead_open(a, pkt, len, r.pos, plain, &plain_len))
		return GD_RX_BAD_AUTH;
	*n = after; /* only a packet that opens moves the counter */
	v = split(plain, plain_len, ext_len, p.padded, &p);
	if (v == GD_RX_OK || v == GD_RX_SILENCE)
		*out = p;
	return v;
}

/* Feedback packets alone, each of the same sender and about a source. */
static bool read_feedback(struct rd *r, uint32_t ssrc, struct gd_told *out)
{
	const uint8_t *p = r->p + r->pos;
	size_t n = rd_left(r);

	if (n > sizeof(out->feedback))
		return false;
	while (rd_left(r)) {
		unsigned first = (unsigned)rd_be(r, 1), type = (unsigned)rd_be(r, 1);
		size_t words = (size_t)rd_be(r, 2);

		if (first >> 5 != 4 || (type != RTCP_RTPFB && type != RTCP_PSFB) || words < 2 ||
		    rd_be(r, 4) != ssrc || !rd_bytes(r, 4 * (words - 1)))
			return false;
	}
	memcpy(out->feedback, p, n);
	out->n_feedback = n;
	return r->ok;
}

/* One report and one SDES. */
static bool told(const uint8_t *p, size_t n, struct gd_told *out)
{
	struct rd r = rd_of(p, n);
	unsigned count = (unsigned)rd_be(&r, 1) & 0xff, type = (unsigned)rd_be(&r, 1);
	size_t words = (size_t)rd_be(&r, 2);
	uint32_t ssrc = (uint32_t)rd_be(&r, 4);
	struct gd_told got = {.sender = type == RTCP_SR, .blocks = count & 31};

	if (count >> 5 != 4 || (type != RTCP_SR && type != RTCP_RR) ||
	    words != 1 + (got.sender ? 5u : 0) + 6 * (size_t)got.blocks)
		return false;
	if (got.sender) {
		rd_bytes(&r, 2);
		got.middle = (uint32_t)rd_be(&r, 4);
		rd_bytes(&r, 2);
		got.rtp = (uint32_t)rd_be(&r, 4);
		got.packets = (uint32_t)rd_be(&r, 4);
		got.octets = (uint32_t)rd_be(&r, 4);
	}
	rd_bytes(&r, 24 * (size_t)got.blocks);
	if (rd_be(&r, 2) != (0x8100 | RTCP_SDES))
		return false;
	words = (size_t)rd_be(&r, 2);
	if (words < 2 || words > SDES_MAX || rd_be(&r, 4) != ssrc || rd_be(&r, 1) != 1)
		return false;
	rd_bytes(&r, 4 * words - 5);
	if (!r.ok || !read_feedback(&r, ssrc, &got))
		return false;
	*out = got;
	return true;
}

enum gd_verdict gd_rtcp_open(struct gd_aead *a, struct gd_nonce *n, const uint8_t *pkt, size_t len,
			     struct gd_told *out)
{
	struct gd_nonce after = *n;
	uint8_t plain[GD_PACKET_BUF];
	size_t plain_len;

	if (len < RTCP_CLEAR + GD_AEAD_EXTRA || len > GD_PACKET_MAX)
		return GD_RX_BAD_SIZE;
	if (!gd_nonce_rises(&after, pkt + len - GD_NONCE))
		return GD_RX_BAD_NONCE;
	if (gd_aead_open(a, pkt, len, RTCP_CLEAR, plain + RTCP_CLEAR, &plain_len))
		return GD_RX_BAD_AUTH;
	*n = after;
	memcpy(plain, pkt, RTCP_CLEAR);
	return told(plain, RTCP_CLEAR + plain_len, out) ? GD_RX_RTCP : GD_RX_BAD_RTCP;
}

uint8_t gd_rtp_level(const struct gd_rtp *in)
{
	struct rd r = rd_of(in->ext.p, in->ext.n);

	if (in->ext_profile != EXT_ONE_BYTE)
		return 127;
	while (rd_left(&r)) {
		uint8_t b = (uint8_t)rd_be(&r, 1);
		const uint8_t *p;

		if (!b)
			continue;
		if (b >> 4 == 15)
			break;
		p = rd_bytes(&r, (size_t)(b & 15) + 1);
		if (p && b >> 4 == EXT_LEVEL)
			return *p & 0x7f;
	}
	return 127;
}

int gd_rtp_forward(struct gd_aead *a, uint32_t counter, const struct gd_rtp *in,
		   const struct gd_tx *tx, uint8_t *out, size_t cap, size_t *out_len)
{
	uint8_t head[GD_RTP_FIXED + 4], body[GD_PACKET_BUF];
	struct wr h = wr_of(head, sizeof(head)), b = wr_of(body, sizeof(body));
	unsigned pad = tx->pad_only && !tx->pad ? 1 : tx->pad;
	bool quiet = in->payload.n == sizeof(silence) &&
		     memcmp(in->payload.p, silence, sizeof(silence)) == 0;
	uint8_t level = quiet ? 0x7f : gd_rtp_level(in);

	if (pad > 255)
		return EINVAL;
	if (!quiet && level == 127)
		level = 30; /* the sender does not say; a plain speaking voice */
	wr_be(&h, 0x80u | (pad ? 0x20u : 0) | (tx->ext ? 0x10u : 0), 1);
	wr_be(&h, (in->marker ? 0x80u : 0) | (tx->pt ? tx->pt : GD_RTP_PT), 1);
	wr_be(&h, in->seq, 2);
	wr_be(&h, in->ts, 4);
	wr_be(&h, in->ssrc, 4);
	if (tx->ext) {
		wr_be(&h, EXT_ONE_BYTE, 2);
		wr_be(&h, 1, 2);
		/* id 1, one byte: voice bit and level; id 9, one byte: bit 1 = voice */
		wr_be(&b, EXT_LEVEL << 4, 1);
		wr_be(&b, 0x80u | level, 1);
		wr_be(&b, EXT_FLAGS << 4, 1);
		wr_be(&b, quiet ? 0 : 2, 1);
	}
	if (!tx->pad_only)
		wr_bytes(&b, in->payload.p, in->payload.n);
	for (unsigned i = 1; i < pad; i++)
		wr_be(&b, 0, 1);
	if (pad)
		wr_be(&b, pad, 1);
	if (!b.ok || !h.ok)
		return ENOBUFS;
	return gd_aead_seal(a, counter, head, h.pos, body, b.pos, out, cap, out_len);
}

int gd_rtcp_report(struct gd_aead *a, uint32_t counter, const struct gd_report *r, uint8_t *out,
		   size_t cap, size_t *out_len)
{
	uint8_t head[RTCP_CLEAR], body[24];
	struct wr h = wr_of(head, sizeof(head)), b = wr_of(body, sizeof(body));

	wr_be(&h, 0x81, 1);
	wr_be(&h, RTCP_RR, 1);
	wr_be(&h, 7, 2);
	wr_be(&h, 1, 4);
	wr_be(&b, r->ssrc, 4);
	wr_be(&b, r->fraction_lost, 1);
	wr_be(&b, r->lost & 0xffffff, 3);
	wr_be(&b, r->ext_seq, 4);
	wr_be(&b, r->jitter, 4);
	wr_be(&b, r->lsr, 4);
	wr_be(&b, r->dlsr, 4);
	return gd_aead_seal(a, counter, head, h.pos, body, b.pos, out, cap, out_len);
}

int gd_rtcp_feedback(struct gd_aead *a, uint32_t counter, uint32_t ssrc, struct slice feedback,
		     uint8_t *out, size_t cap, size_t *out_len)
{
	uint8_t head[RTCP_CLEAR];
	struct wr h = wr_of(head, sizeof(head));

	wr_be(&h, 0x80, 1);
	wr_be(&h, RTCP_RR, 1);
	wr_be(&h, 1, 2);
	wr_be(&h, ssrc, 4);
	return gd_aead_seal(a, counter, head, h.pos, feedback.p, feedback.n, out, cap, out_len);
}
