/* Payloads of video as they come out of the transport encryption, and frames as an encoder or DAVE
 * gives them.
 *
 * Input: a byte of choices, a byte for the size of payloads, then the rest. Lowest 2 bits: the
 * codec. 4: the rest is a frame; otherwise payloads, each behind two bytes with its size. */
#include <stdlib.h>

#include "mediad/video/extensions.h"
#include "mediad/video/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME = 4, MAX = 1 << 15, ROOM = 5 * MAX };

static uint8_t first[ROOM], second[ROOM];

/* Adds a payload from a block of exactly its size. */
static int add_exact(struct video_depacketizer *d, const uint8_t *p, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);
	int err;

	if (!exact)
		abort();
	if (n)
		memcpy(exact, p, n);
	err = video_depacketizer_add(d, exact, n);
	(void)video_payload_begins_frame(d->codec, exact, n);
	free(exact);
	if (d->n > d->cap)
		abort();
	return err;
}

/* Cuts a frame and joins it in out. Returns false when it is not of the codec; a payload of ours
 * that does not join is a fault. */
static bool cut_and_join(enum video_codec codec, const uint8_t *frame, size_t n, size_t cap,
			 struct video_depacketizer *d, uint8_t *out)
{
	struct video_packetizer p = {0};
	uint8_t *payload = malloc(cap);
	bool last = false;
	size_t len;

	video_depacketizer_start(d, codec, out, ROOM);
	if (!payload)
		abort();
	if (video_packetizer_start(&p, codec, frame, n, cap)) {
		free(payload);
		return false;
	}
	while (video_packetizer_next(&p, payload, &len, &last))
		if (!len || len > cap || add_exact(d, payload, len))
			abort();
	free(payload);
	return last && !video_depacketizer_end(d);
}

/* What was joined once is cut and joined without a change. */
static void settle(enum video_codec codec, const uint8_t *frame, size_t n, size_t cap)
{
	struct video_depacketizer a, b;

	if (!cut_and_join(codec, frame, n, cap, &a, first))
		return;
	if (!cut_and_join(codec, a.out, a.n, cap, &b, second) || a.n != b.n || a.key != b.key ||
	    memcmp(a.out, b.out, a.n) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t joined[MAX * 3];
	struct video_depacketizer d;
	struct video_extensions e;
	enum video_codec codec;
	struct rd r = rd_of(data, size);
	uint8_t how = (uint8_t)rd_be(&r, 1);
	size_t cap = VIDEO_PAYLOAD_MIN + (size_t)rd_be(&r, 1);

	if (!r.ok || size > MAX || !(how & 3))
		return 0;
	codec = (enum video_codec)(how & 3);
	video_extensions_read(&e, RTP_EXT_ONE_BYTE, data + r.pos, size - r.pos);
	if (e.turns > 3 || (e.rid.n && (e.rid.p < data || e.rid.p + e.rid.n > data + size)))
		abort();
	if (how & FRAME) {
		settle(codec, data + r.pos, size - r.pos, cap);
		return 0;
	}
	video_depacketizer_start(&d, codec, joined, sizeof joined);
	while (rd_left(&r) >= 2) {
		size_t n = (size_t)rd_be(&r, 2);

		if (n > rd_left(&r))
			n = rd_left(&r);
		if (add_exact(&d, rd_bytes(&r, n), n))
			return 0;
	}
	if (!video_depacketizer_end(&d) && d.n <= MAX)
		settle(codec, d.out, d.n, cap);
	return 0;
}
