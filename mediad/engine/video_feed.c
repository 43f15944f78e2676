#include "mediad/engine/video_feed.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "proto/base/cursor.h"

/* Kinds of input: a unit, with its time before it, or the end. */
enum { IN_UNIT = 1, IN_KEY = 2, IN_END = 3, IN_BROKEN = 4 };
enum { TIME = 8, LOOK_MS = 10 };

struct video_feed {
	struct env *env;
	struct video_ring *ring;
	video_feed_h *h;
	void *arg;
	uint32_t source;
	struct event *look; /* NULL on replay */
	uint8_t buf[TIME + VIDEO_RING_UNIT_MAX];
};

static void on_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	const struct video_feed *f = arg;
	struct rd r = rd_of(data, len);
	struct video_unit unit = {.key = kind == IN_KEY};

	if (kind == IN_END || kind == IN_BROKEN) {
		f->h(NULL, NULL, kind == IN_BROKEN, f->arg);
		return;
	}
	unit.at_us = rd_be(&r, TIME);
	unit.n = rd_left(&r);
	if (unit.n)
		f->h(&unit, data + TIME, false, f->arg);
}

static size_t describe_input(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	(void)data;
	return (size_t)snprintf(text, size, "video kind=%u bytes=%zu", kind, len);
}

static void start_timer(struct video_feed *f, unsigned ms)
{
	const struct timeval tv = {.tv_usec = (suseconds_t)ms * 1000};

	if (f->look)
		event_add(f->look, &tv);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct video_feed *f = arg;
	struct video_unit unit;
	struct wr w = wr_of(f->buf, TIME);
	/* The end is set after the last unit. */
	bool ended = video_ring_ended(f->ring);
	int err = video_ring_read(f->ring, &unit, f->buf + TIME);

	(void)fd, (void)what;
	if (err == EAGAIN && !ended) {
		start_timer(f, LOOK_MS);
	} else if (err) {
		env_deliver(f->env, f->source, err == EAGAIN ? IN_END : IN_BROKEN, NULL, 0);
	} else {
		wr_be(&w, unit.at_us, TIME);
		env_deliver(f->env, f->source, unit.key ? IN_KEY : IN_UNIT, f->buf, TIME + unit.n);
	}
}

int video_feed_alloc(struct video_feed **out, struct env *env, struct video_ring *ring,
		     video_feed_h *h, void *arg)
{
	struct video_feed *f = calloc(1, sizeof *f);
	int err;

	if (!f)
		return ENOMEM;
	f->env = env;
	f->ring = ring;
	f->h = h;
	f->arg = arg;
	err = env_source_add(env, &f->source, on_input, f);
	if (!err && !env_replaying(env)) {
		f->look = event_new(env_base(env), -1, 0, on_look, f);
		err = f->look ? 0 : ENOMEM;
	}
	if (err) {
		video_feed_free(f);
		return err;
	}
	env_source_shape(env, f->source, describe_input);
	*out = f;
	return 0;
}

struct video_feed *video_feed_free(struct video_feed *f)
{
	if (!f)
		return NULL;
	env_source_del(f->env, f->source);
	if (f->look)
		event_free(f->look);
	explicit_bzero(f->buf, sizeof f->buf);
	free(f);
	return NULL;
}

void video_feed_ask(struct video_feed *f)
{
	start_timer(f, 0);
}
