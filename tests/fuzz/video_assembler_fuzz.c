/* Packets of a video source in any order, with losses, restarts and padding.
 *
 * Input: a byte with the codec, then packets: flags (1: marker, 2: the next RTP time, 4: nothing
 * but padding, 8: 100 ms pass, 16: the frame before was useless), the change of the sequence number
 * in two bytes, the size in one, the payload. */
#include <stdlib.h>

#include "mediad/video/assembler.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MARKER = 1, NEXT_TIME = 2, PADDING = 4, PASSES = 8, USELESS = 16 };

/* Takes what is ready. */
static void take_frames(struct video_assembler *a, uint64_t now, bool *useless)
{
	uint16_t seqs[VIDEO_NACK_MAX];
	struct video_frame f;

	while (video_assembler_next(a, now, &f)) {
		if (!f.bytes.n || f.bytes.n > VIDEO_FRAME_MAX || (*useless && !f.key))
			abort();
		*useless = false;
	}
	if (video_assembler_missing(a, now, seqs) > VIDEO_NACK_MAX)
		abort();
	(void)video_assembler_wants_key(a, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r = rd_of(data, size);
	unsigned codec = (unsigned)rd_be(&r, 1) & 3;
	const struct video_assembler_stats *s;
	struct video_packet p = {0};
	struct video_assembler *a;
	bool useless = true;
	uint64_t now = NS_PER_S;

	if (!codec || video_assembler_alloc(&a, (enum video_codec)codec))
		return 0;
	s = video_assembler_stats(a);
	while (rd_left(&r) >= 4) {
		unsigned flags = (unsigned)rd_be(&r, 1);
		size_t n;

		p.seq = (uint16_t)(p.seq + rd_be(&r, 2));
		n = (size_t)rd_be(&r, 1);
		if (n > rd_left(&r))
			n = rd_left(&r);
		p.payload = (struct slice){.p = rd_bytes(&r, n), .n = flags & PADDING ? 0 : n};
		p.marker = flags & MARKER;
		p.ts += flags & NEXT_TIME ? 3000 : 0;
		now += flags & PASSES ? 100 * NS_PER_MS : NS_PER_MS;
		if (flags & USELESS) {
			video_assembler_refuse(a);
			useless = true;
		}
		(void)video_assembler_put(a, &p, now);
		take_frames(a, now, &useless);
	}
	if (s->frames > s->packets || s->keys > s->frames || s->duplicate + s->late > s->packets)
		abort();
	video_assembler_free(a);
	return 0;
}
