/* The music of a call for the visualizer, as the event `analysis` of GET
 * /api/rooms/:guild/visualizer. Only the newest one is of use: a slow reader misses the others, and
 * nobody keeps them. While nobody reads, nobody makes any. */
#ifndef CONTROL_WEB_MUSIC_STREAM_H
#define CONTROL_WEB_MUSIC_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/http_server.h"

struct env;
struct music_stream;
struct web_music;

enum {
	MUSIC_STREAM_SERVERS = 8, /* whose music is looked at */
	MUSIC_STREAM_MS = 1000,	  /* until it is seen that nobody looks any more */
};

/* watchh: as watch_musich of struct web_conf. env is borrowed. ENOMEM. Caller owns *out and frees
 * it before the HTTP server. */
int music_stream_alloc(struct music_stream **out, struct env *env,
		       bool (*watchh)(uint64_t guild, bool on, void *arg), void *arg);
struct music_stream *music_stream_free(struct music_stream *s);
/* Ends the streams of those readers of whom h says so. NULL accepted. */
void music_stream_end(struct music_stream *s, http_reader_h *h, void *arg);
/* Makes the exchange a reader. ENOENT: the bot is in no channel there; ENOSPC: the music of
 * MUSIC_STREAM_SERVERS others is looked at; ENOMEM; then nothing was answered. */
int music_stream_join(struct music_stream *s, struct http_exchange *x, const struct http_head *head,
		      uint64_t guild);
/* Sends it to those who read that server's. */
void music_stream_show(struct music_stream *s, uint64_t guild, const struct web_music *m);

#endif
