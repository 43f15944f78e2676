#include "ipc/frame.h"

#include "proto/base/cursor.h"

long frame_cut(const uint8_t *buf, size_t n, size_t max, const uint8_t **body, size_t *len)
{
	struct rd r = rd_of(buf, n);
	size_t want = rd_be(&r, FRAME_HEAD);

	if (!r.ok)
		return 0;
	if (!want || want > max)
		return -1;
	if (rd_left(&r) < want)
		return 0;
	*body = rd_bytes(&r, want);
	*len = want;
	return (long)(FRAME_HEAD + want);
}

void frame_head(uint8_t out[FRAME_HEAD], size_t len)
{
	struct wr w = wr_of(out, FRAME_HEAD);

	wr_be(&w, len, FRAME_HEAD);
}
