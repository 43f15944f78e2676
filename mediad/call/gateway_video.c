/* The messages of the voice gateway about the video of streams (Go Live): what users send (op 12),
 * what viewers want of it (op 15). In calls nothing of them is read, as before. */
#include "mediad/call/gateway_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "mediad/call/gateway_wire.h"

enum { QUALITY_MAX = 100 };

/* Returns 0 where the field is absent, or no number up to max. */
static uint32_t number_of(const json_t *o, const char *field, uint32_t max)
{
	uint64_t n = 0;

	return vgw_get_uint(json_object_get(o, field), max, &n) ? (uint32_t)n : 0;
}

void vgw_on_our_video(struct vgw *g, const json_t *ready)
{
	const json_t *first = json_array_get(json_object_get(ready, "streams"), 0);
	struct vgw_video v = {.user = g->conf.user,
			      .ssrc = number_of(first, "ssrc", UINT32_MAX),
			      .rtx_ssrc = number_of(first, "rtx_ssrc", UINT32_MAX)};

	g->video_ssrc = g->conf.stream ? v.ssrc : 0;
	if (g->video_ssrc)
		vgw_emit(g, &(struct vgw_action){.kind = VGW_VIDEO_OURS, .video = v});
}

/* Some frame rates are written with a fraction. */
static uint8_t rate_of(const json_t *stream)
{
	double n = json_number_value(json_object_get(stream, "max_framerate"));

	return n >= 1 && n <= UINT8_MAX ? (uint8_t)n : 0;
}

/* Of several layers of one picture the best that is sent; NULL: none is. */
static const json_t *best_stream(const json_t *streams)
{
	const json_t *best = NULL, *s;
	size_t i;

	json_array_foreach(streams, i, s)
	{
		if (!json_is_true(json_object_get(s, "active")) ||
		    !number_of(s, "ssrc", UINT32_MAX))
			continue;
		if (!best ||
		    number_of(s, "quality", QUALITY_MAX) > number_of(best, "quality", QUALITY_MAX))
			best = s;
	}
	return best;
}

bool vgw_on_video(struct vgw *g, const json_t *d)
{
	const json_t *streams = json_object_get(d, "streams"), *best = best_stream(streams), *size;
	struct vgw_video v = {0};

	if (!g->conf.stream)
		return true;
	if (!vgw_get_id(json_object_get(d, "user_id"), &v.user))
		return false;
	if (v.user == g->conf.user)
		return true;
	size = json_object_get(best, "max_resolution");
	if (best) {
		v.ssrc = number_of(best, "ssrc", UINT32_MAX);
		v.rtx_ssrc = number_of(best, "rtx_ssrc", UINT32_MAX);
		v.width = (uint16_t)number_of(size, "width", UINT16_MAX);
		v.height = (uint16_t)number_of(size, "height", UINT16_MAX);
		v.fps = rate_of(best);
	} else if (!json_array_size(streams)) { /* older clients have no list */
		v.ssrc = number_of(d, "video_ssrc", UINT32_MAX);
		v.rtx_ssrc = number_of(d, "rtx_ssrc", UINT32_MAX);
	}
	if (v.rtx_ssrc == v.ssrc)
		v.rtx_ssrc = 0;
	vgw_emit(g, &(struct vgw_action){.kind = VGW_VIDEO_SOURCE, .video = v});
	return true;
}

/* {"<ssrc>": quality, …, "any": quality}, or the SSRCs in an object "streams". */
bool vgw_on_wanted(struct vgw *g, const json_t *d)
{
	const json_t *one;
	uint64_t quality;
	char key[12];

	if (!g->video_ssrc)
		return true;
	snprintf(key, sizeof key, "%" PRIu32, g->video_ssrc);
	one = json_object_get(d, key);
	if (!one)
		one = json_object_get(json_object_get(d, "streams"), key);
	if (!one)
		one = json_object_get(d, "any");
	if (!vgw_get_uint(one, QUALITY_MAX, &quality))
		return false;
	vgw_emit(g, &(struct vgw_action){.kind = VGW_VIDEO_WANTED, .quality = (unsigned)quality});
	return true;
}

void vgw_video_codec(struct vgw *g, const char *codec)
{
	g->video_codec = codec;
}

static int send_made(struct vgw *g, const char *text, size_t len)
{
	if (!len)
		return ENOMEM;
	vgw_send_text(g, text, len);
	return 0;
}

int vgw_video_tell(struct vgw *g, const struct vgw_video *v)
{
	char text[VGW_TEXT_MAX];

	if (g->phase != MEDIA_PHASE_UP || !g->open)
		return ENOTCONN;
	return send_made(g, text, vgw_put_video(text, sizeof text, g->ssrc, v));
}

int vgw_video_want(struct vgw *g, const uint32_t *ssrcs, const uint8_t *qualities, unsigned n)
{
	char text[VGW_TEXT_MAX];

	if (g->phase != MEDIA_PHASE_UP || !g->open)
		return ENOTCONN;
	return send_made(g, text, vgw_put_wants(text, sizeof text, ssrcs, qualities, n));
}
