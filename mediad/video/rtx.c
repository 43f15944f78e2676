#include "mediad/video/rtx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

struct sent_packet {
	bool used, again;
	bool marker;
	uint16_t seq, n;
	uint32_t ts;
	uint64_t again_at;
};

struct rtx_history {
	struct sent_packet packets[RTX_HISTORY];
	uint8_t payloads[RTX_HISTORY][RTX_PAYLOAD_MAX];
};

int rtx_read(const uint8_t *p, size_t n, uint16_t *seq, struct slice *payload)
{
	struct rd r = rd_of(p, n);
	uint16_t got = (uint16_t)rd_be(&r, 2);

	if (!r.ok)
		return EBADMSG;
	if (!rd_left(&r))
		return ENODATA;
	*seq = got;
	*payload = (struct slice){.p = p + r.pos, .n = rd_left(&r)};
	return 0;
}

int rtx_history_alloc(struct rtx_history **out)
{
	struct rtx_history *h = calloc(1, sizeof *h);

	if (!h)
		return ENOMEM;
	*out = h;
	return 0;
}

struct rtx_history *rtx_history_free(struct rtx_history *h)
{
	if (h)
		explicit_bzero(h, sizeof *h);
	free(h);
	return NULL;
}

void rtx_history_put(struct rtx_history *h, const struct rtx_packet *p)
{
	size_t at = p->seq % RTX_HISTORY;

	h->packets[at] = (struct sent_packet){.used = p->payload.n <= RTX_PAYLOAD_MAX,
					      .marker = p->marker,
					      .seq = p->seq,
					      .n = (uint16_t)p->payload.n,
					      .ts = p->ts};
	if (h->packets[at].used && p->payload.n)
		memcpy(h->payloads[at], p->payload.p, p->payload.n);
}

size_t rtx_history_size(const struct rtx_history *h, uint16_t seq, uint64_t now)
{
	const struct sent_packet *s = &h->packets[seq % RTX_HISTORY];

	if (!s->used || s->seq != seq || (s->again && now - s->again_at < RTX_AGAIN_MS * NS_PER_MS))
		return 0;
	return RTX_HEADER + (size_t)s->n;
}

int rtx_history_again(struct rtx_history *h, uint16_t seq, uint64_t now, uint8_t *buf, size_t cap,
		      struct rtx_packet *out)
{
	struct sent_packet *s = &h->packets[seq % RTX_HISTORY];
	struct wr w = wr_of(buf, cap);

	if (!rtx_history_size(h, seq, now))
		return ENOENT;
	wr_be(&w, seq, 2);
	wr_bytes(&w, h->payloads[seq % RTX_HISTORY], s->n);
	if (!w.ok)
		return EMSGSIZE;
	s->again = true;
	s->again_at = now;
	*out = (struct rtx_packet){
		.seq = seq, .ts = s->ts, .marker = s->marker, .payload = {buf, w.pos}};
	return 0;
}
