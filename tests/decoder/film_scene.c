#include "tests/decoder/film_scene.h"

#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/test.h"

static alignas(65536) uint8_t memory[VIDEO_RING_MEMORY];

void on_opened(const struct decoder_opened *opened, void *arg)
{
	struct viewing *v = arg;

	v->opened = *opened;
	v->is_open = true;
}

bool make_viewing(struct viewing *v, const struct film_made *m)
{
	*v = (struct viewing){.fd = -1};
	snprintf(v->path, sizeof v->path, "/tmp/parley-film-%d", (int)getpid());
	if (film_make(v->path, m))
		return false;
	v->fd = open(v->path, O_RDONLY | O_CLOEXEC);
	unlink(v->path);
	return v->fd >= 0;
}

int make_rings(struct viewing *v)
{
	int err = video_ring_alloc(&v->reader, memory);

	if (!err)
		err = video_ring_alloc(&v->writer, memory);
	if (!err)
		video_ring_reset(v->reader);
	return err;
}

void close_viewing(struct viewing *v)
{
	video_ring_free(v->reader);
	video_ring_free(v->writer);
	film_free(&v->film);
	if (v->fd >= 0)
		close(v->fd);
}

enum decoder_reason view(struct viewing *v, uint64_t start)
{
	const struct film_conf conf = {.fd = v->fd,
				       .kind = DECODER_FILE,
				       .start = start,
				       .ring = v->writer,
				       .openedh = on_opened,
				       .arg = v};

	return film_run(&conf);
}

void look(struct viewing *v, unsigned fps, struct seen *s)
{
	static uint8_t unit[VIDEO_RING_UNIT_MAX];
	struct film_look *viewer;
	struct video_unit u;

	*s = (struct seen){.first = -1, .last = -1, .in_order = true, .in_time = true};
	CHECK_INT(film_look_alloc(&viewer), 0);
	while (!video_ring_read(v->reader, &u, unit)) {
		int number = film_look_put(viewer, unit, u.n, &s->width, &s->height);
		int64_t at = (int64_t)number * 1000000 / (int)fps, apart = (int64_t)u.at_us - at;

		s->first = s->frames ? s->first : number;
		s->in_order = s->in_order && number > s->last;
		s->in_time = s->in_time && apart < 2000 && apart > -2000;
		s->last = number;
		s->frames++;
		s->keys += u.key;
	}
	film_look_free(viewer);
}

const struct film_made b_frames = {.container = "mp4",
				   .encoder = "libx264",
				   .options = "preset=ultrafast:bf=3:b_adapt=0:g=60",
				   .width = 320,
				   .height = 180,
				   .fps = 30,
				   .frames = 90};
