#include "mediad/video/extensions.h"

#include <errno.h>

enum { DELAY_MAX = 0xfff, DELAY_SIZE = 3, TURNS = 3, SCREEN = 1 };

static void read_delay(struct video_extensions *e, struct slice data)
{
	struct rd r = rd_of(data.p, data.n);
	uint32_t both = (uint32_t)rd_be(&r, DELAY_SIZE);

	if (data.n != DELAY_SIZE)
		return;
	e->has_delay = true;
	e->delay_min_ms = (both >> 12) * VIDEO_DELAY_STEP_MS;
	e->delay_max_ms = (both & DELAY_MAX) * VIDEO_DELAY_STEP_MS;
}

void video_extensions_read(struct video_extensions *out, uint16_t profile, const uint8_t *body,
			   size_t n)
{
	struct rd r = rd_of(body, n);
	struct slice data;
	uint8_t id;

	*out = (struct video_extensions){0};
	while (profile == RTP_EXT_ONE_BYTE && rtp_ext_next(&r, &id, &data)) {
		switch (id) {
		case VIDEO_EXT_ORIENTATION:
			out->turns = data.p[0] & TURNS;
			break;
		case VIDEO_EXT_PLAYOUT_DELAY:
			read_delay(out, data);
			break;
		case VIDEO_EXT_CONTENT_TYPE:
			out->screen = data.p[0] & SCREEN;
			break;
		case VIDEO_EXT_RID:
		case VIDEO_EXT_REPAIRED_RID:
			out->rid = data;
			break;
		default:
			break;
		}
	}
}

static void write_head(struct wr *w, unsigned id, unsigned n)
{
	wr_be(w, id << 4 | (n - 1), 1);
}

int video_extensions_write(const struct video_extensions *e, uint8_t *buf, size_t cap, size_t *len)
{
	struct wr w = wr_of(buf, cap);
	unsigned least = e->delay_min_ms / VIDEO_DELAY_STEP_MS,
		 most = e->delay_max_ms / VIDEO_DELAY_STEP_MS;

	if (least > DELAY_MAX || most > DELAY_MAX)
		return EINVAL;
	if (e->screen) {
		write_head(&w, VIDEO_EXT_CONTENT_TYPE, 1);
		wr_be(&w, SCREEN, 1);
	}
	if (e->has_delay) {
		write_head(&w, VIDEO_EXT_PLAYOUT_DELAY, DELAY_SIZE);
		wr_be(&w, least << 12 | most, DELAY_SIZE);
	}
	while (w.ok && w.pos % 4)
		wr_be(&w, 0, 1);
	if (!w.ok)
		return EMSGSIZE;
	*len = w.pos;
	return 0;
}
