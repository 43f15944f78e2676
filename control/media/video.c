/* Video of streams: what is watched and shown, now and again after each resync (law 4). */
#include <errno.h>
#include <stdlib.h>
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

/* Each opening in a mediad has an id of its own. */
static void send_play(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_PLAY};

	if (!++call->media->next_film)
		call->media->next_film = 1;
	call->film.id = msg.video_play.film = call->media->next_film;
	msg.video_play.kind = call->film.kind;
	msg.video_play.root = call->film.root;
	msg.video_play.path = slice_str(call->film.path);
	msg.video_play.headers = slice_str("");
	msg.video_play.start_ms = call->film.at_ms;
	msg.video_play.paused = call->film.paused;
	msg.video_play.sound = call->film.sound;
	msg.video_play.visualizer = call->film.visualizer;
	msg.video_play.music = call->film.music;
	media_call_send(call, &msg);
}

void media_call_send_video(struct media_call *call)
{
	if (call->watched)
		send_watch(call);
	if (call->video.codec)
		send_publish(call);
	if (call->film.path)
		send_play(call);
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

/* ---- films ---- */

void media_call_forget_film(struct media_call *call)
{
	free(call->film.path);
	memset(&call->film, 0, sizeof call->film);
}

int media_call_play(struct media_call *call, const struct media_film *film)
{
	struct media_msg stop = {.type = MEDIA_VIDEO_STOP};
	char *path = film ? strdup(film->path) : NULL;

	if (film && !path)
		return ENOMEM;
	media_call_forget_film(call);
	if (!film) {
		if (call->open)
			media_call_send(call, &stop);
		media_watch_calls(call->media);
		return 0;
	}
	call->film.path = path;
	call->film.kind = film->kind;
	call->film.root = film->root;
	call->film.sound = film->sound;
	call->film.at_ms = film->start_ms;
	call->film.visualizer = film->visualizer;
	call->film.music = film->music;
	if (call->open)
		send_play(call);
	media_watch_calls(call->media);
	return 0;
}

static bool has_folder(const struct media_music_means *d, unsigned from, unsigned folders)
{
	for (unsigned i = from; i < folders && i < d->n; i++)
		if (d->folder[i].number)
			return true;
	return false;
}

enum media_music_lack media_film_find_lack(const struct media_call *call,
					   const struct media_film *film, unsigned folders)
{
	const struct media_music_means *d = media_call_music_means(call);

	if (!d)
		return MEDIA_MUSIC_LACKS_NOTHING;
	if (!d->running)
		return MEDIA_MUSIC_LACKS_DECODERS;
	if (film->kind == MEDIA_MUSIC_HTTP && !media_music_reads(d, film->path))
		return MEDIA_MUSIC_LACKS_ADDRESS;
	return film->kind == MEDIA_MUSIC_FILE && !has_folder(d, film->root, folders)
		       ? MEDIA_MUSIC_LACKS_FOLDER
		       : MEDIA_MUSIC_LACKS_NOTHING;
}

void media_call_pause_film(struct media_call *call, bool paused)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_PAUSE,
				.video_pause = {.film = call->film.id, .paused = paused}};

	call->film.paused = paused;
	if (call->open && call->film.path)
		media_call_send(call, &msg);
}

bool media_call_take_film(struct media_call *call, const struct media_video_film *m)
{
	if (!call->film.path || m->film != call->film.id)
		return false;
	if (m->position_ms)
		call->film.at_ms = m->position_ms;
	return true;
}

void media_call_set_server(struct media_call *call, uint64_t guild, uint64_t channel)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_SERVER, .video_server = {.guild = guild}};

	call->want.guild = guild;
	call->want.channel = channel;
	if (call->open)
		media_call_send(call, &msg);
}
