/* Video of streams: what is watched and shown, now and again after each resync (law 4). */
#include <errno.h>
#include <string.h>

#include "control/media/call.h"

static void send_watch(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_WATCH,
				.video_watch = {.user = call->watched, .quality = call->quality}};

	media_call_send(call, &msg);
}

static void send_publish(struct media_call *call)
{
	const struct media_video *v = &call->video;
	struct media_msg msg = {.type = MEDIA_VIDEO_PUBLISH,
				.video_publish = {.codec = v->codec,
						  .width = v->width,
						  .height = v->height,
						  .fps = v->fps,
						  .bitrate = v->bitrate}};

	media_call_send(call, &msg);
}

void media_call_send_video(struct media_call *call)
{
	if (call->watched)
		send_watch(call);
	if (call->video.codec)
		send_publish(call);
}

void media_call_watch(struct media_call *call, uint64_t user, uint8_t quality)
{
	call->watched = user;
	call->quality = quality;
	if (call->open)
		send_watch(call);
	if (!quality)
		call->watched = 0;
}

int media_call_ask_key(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_KEY, .video_key = {.user = call->watched}};

	return call->open && call->watched ? media_call_send(call, &msg) : ENOTCONN;
}

void media_call_publish(struct media_call *call, const struct media_video *video)
{
	struct media_msg stop = {.type = MEDIA_VIDEO_STOP};

	call->video = video ? *video : (struct media_video){0};
	if (!call->open)
		return;
	if (video)
		send_publish(call);
	else
		media_call_send(call, &stop);
}

int media_call_show(struct media_call *call, uint32_t rtp, bool key, const uint8_t *frame, size_t n)
{
	int err = 0;

	if (!call->open || !call->video.codec)
		return ENOTCONN;
	if (!n || n > MEDIA_VIDEO_FRAME_MAX)
		return EMSGSIZE;
	for (size_t at = 0; at < n && !err;) {
		size_t k = n - at < MEDIA_VIDEO_PART ? n - at : MEDIA_VIDEO_PART;
		struct media_msg msg = {.type = MEDIA_VIDEO_DATA,
					.video_data = {.frame = call->frames,
						       .rtp = rtp,
						       .key = key,
						       .size = (uint32_t)n,
						       .offset = (uint32_t)at,
						       .data = {frame + at, k}}};

		err = media_call_send(call, &msg);
		at += k;
	}
	call->frames++;
	return err;
}
