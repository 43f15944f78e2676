/* Retransmission of video packets (RFC 4588): on a stream of its own (SSRC, payload type, sequence
 * numbers), a packet again behind its original sequence number.
 *
 * The history of the sender holds the newest payloads as they were sent, so that packets that a
 * receiver asks for (NACK) can be sent again. Allocates nothing after _alloc. */
#ifndef MEDIAD_VIDEO_RTX_H
#define MEDIAD_VIDEO_RTX_H

#include "proto/base/cursor.h"

enum {
	RTX_HEADER = 2,		/* the original sequence number */
	RTX_HISTORY = 1024,	/* packets that can be sent again. A power of two */
	RTX_PAYLOAD_MAX = 1300, /* bytes of one */
	RTX_AGAIN_MS = 20,	/* one that was sent again is not repeated sooner */
};

/* Reads the payload of a retransmission. Returns EBADMSG when it holds no packet; one of nothing
 * but padding is none (ENODATA). */
int rtx_read(const uint8_t *p, size_t n, uint16_t *seq, struct slice *payload);

struct rtx_packet {
	uint16_t seq;
	uint32_t ts;
	bool marker;
	struct slice payload;
};

struct rtx_history;
/* Returns ENOMEM. The caller owns *out. */
int rtx_history_alloc(struct rtx_history **out);
struct rtx_history *rtx_history_free(struct rtx_history *h);
/* Keeps a packet that was sent; its payload is copied. A payload above RTX_PAYLOAD_MAX is not kept.
 */
void rtx_history_put(struct rtx_history *h, const struct rtx_packet *p);
/* Bytes of the payload of a retransmission of packet seq; 0 when it is gone, was never sent, or was
 * sent again a moment ago. now: ns. */
size_t rtx_history_size(const struct rtx_history *h, uint16_t seq, uint64_t now);
/* Builds the payload of a retransmission of packet seq. Returns ENOENT when it is gone or was sent
 * again a moment ago, EMSGSIZE. out->payload is *len bytes of buf. now: ns. */
int rtx_history_again(struct rtx_history *h, uint16_t seq, uint64_t now, uint8_t *buf, size_t cap,
		      struct rtx_packet *out);

#endif
