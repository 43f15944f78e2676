/* Videos as mediad/decoder/film.c reads them out of what libav's muxers wrote. */
#include "mediad/decoder/film.h"

#include <fcntl.h>
#include <stdalign.h>
#include <unistd.h>

#include "mediad/music/video_ring.h"
#include "mediad/video/codec.h"
#include "tests/film_file/film_file.h"
#include "tests/test.h"

static alignas(65536) uint8_t memory[VIDEO_RING_MEMORY];
static uint8_t unit[VIDEO_RING_UNIT_MAX];

struct viewing {
	struct video_ring *reader, *writer;
	struct film film;
	struct decoder_opened opened;
	bool is_open;
	char path[64];
	int fd;
};

static void on_opened(const struct decoder_opened *opened, void *arg)
{
	struct viewing *v = arg;

	v->opened = *opened;
	v->is_open = true;
}

static bool open_viewing(struct viewing *v, enum media_video_codec codec, const char *film,
			 enum film_file_kind kind)
{
	char name[64];
	const char *path;

	*v = (struct viewing){.fd = -1};
	snprintf(name, sizeof name, "data/golive/%s", film);
	path = test_data(name);
	snprintf(v->path, sizeof v->path, "/tmp/parley-film-%d", (int)getpid());
	if (!path || film_read(&v->film, codec, path) ||
	    film_file_write(v->path, codec, &v->film, 1, kind))
		return false;
	v->fd = open(v->path, O_RDONLY | O_CLOEXEC);
	unlink(v->path);
	return v->fd >= 0;
}

static int make_rings(struct viewing *v)
{
	int err = video_ring_alloc(&v->reader, memory);

	if (!err)
		err = video_ring_alloc(&v->writer, memory);
	if (!err)
		video_ring_reset(v->reader);
	return err;
}

static void close_viewing(struct viewing *v)
{
	video_ring_free(v->reader);
	video_ring_free(v->writer);
	film_free(&v->film);
	if (v->fd >= 0)
		close(v->fd);
}

static enum decoder_reason view(struct viewing *v, uint64_t start)
{
	const struct film_conf conf = {.fd = v->fd,
				       .kind = DECODER_FILE,
				       .start = start,
				       .ring = v->writer,
				       .openedh = on_opened,
				       .arg = v};

	return film_run(&conf);
}

/* The frames from this one on, whose time they tell. */
static void check_frames(struct viewing *v, size_t from)
{
	struct video_unit u;

	for (size_t i = from; i < v->film.n; i++) {
		const struct film_frame *want = &v->film.frames[i];
		uint64_t at = i * UINT64_C(1000000) / 30;

		CHECK_INT(video_ring_read(v->reader, &u, unit), 0);
		CHECK_MEM(unit, u.n, want->bytes, want->n);
		CHECK_INT(u.key, want->key);
		CHECK(u.at_us + 1000 > at && u.at_us < at + 1000);
	}
	CHECK_INT(video_ring_read(v->reader, &u, unit), EAGAIN);
}

static void check_film(enum media_video_codec codec, const char *film)
{
	struct viewing v;

	CHECK(open_viewing(&v, codec, film, FILM_FILE_PLAIN));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	CHECK(v.is_open);
	CHECK_INT(v.opened.video.codec, codec);
	CHECK_INT(v.opened.video.width, 320);
	CHECK_INT(v.opened.video.height, 240);
	CHECK_INT(v.opened.video.fps, 30);
	CHECK(v.opened.video.bitrate >= 1000000);
	CHECK(v.opened.duration / 1600 + 1 >= v.film.n && v.opened.duration / 1600 <= v.film.n + 1);
	check_frames(&v, 0);
	close_viewing(&v);
}

TEST(film_of_h264_is_the_one_before_it_was_stored)
{
	check_film(MEDIA_VIDEO_H264, "film.h264");
}

TEST(film_of_vp8_is_the_one_before_it_was_stored)
{
	check_film(MEDIA_VIDEO_VP8, "film.vp8.ivf");
}

TEST(film_of_av1_is_the_one_before_it_was_stored)
{
	check_film(MEDIA_VIDEO_AV1, "film.av1.ivf");
}

TEST(film_begins_with_the_key_frame_before_its_start)
{
	struct viewing v;
	size_t key = 0;

	CHECK(open_viewing(&v, MEDIA_VIDEO_H264, "film.h264", FILM_FILE_PLAIN));
	CHECK_INT(make_rings(&v), 0);
	for (size_t i = 0; i < v.film.n; i++)
		key = v.film.frames[i].key ? i : key;
	CHECK(key > 0 && key + 1 < v.film.n);
	CHECK_INT(view(&v, (key + 1) * 1600), DECODER_REASON_END);
	check_frames(&v, key);
	close_viewing(&v);
}

TEST(film_that_is_stored_in_another_order_is_refused)
{
	struct viewing v;

	CHECK(open_viewing(&v, MEDIA_VIDEO_H264, "film.h264", FILM_FILE_REORDERED));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_VIDEO_ORDER);
	CHECK(!v.is_open);
	close_viewing(&v);
	/* Its beginning would be shown, and then nothing. */
	CHECK(open_viewing(&v, MEDIA_VIDEO_H264, "film.h264", FILM_FILE_REORDERED_LATE));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_VIDEO_ORDER);
	CHECK(!v.is_open);
	close_viewing(&v);
}

TEST(film_of_no_container_is_refused)
{
	struct viewing v;

	CHECK(open_viewing(&v, MEDIA_VIDEO_VP8, "film.vp8.ivf", FILM_FILE_PLAIN));
	close(v.fd);
	v.fd = open(test_data("data/golive/film.vp8.ivf"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_UNKNOWN_FORMAT);
	close_viewing(&v);
}

TEST(film_without_memory_is_refused)
{
	struct viewing v;
	enum decoder_reason reason = DECODER_REASON_LIMIT;

	CHECK(open_viewing(&v, MEDIA_VIDEO_VP8, "film.vp8.ivf", FILM_FILE_PLAIN));
	CHECK_INT(make_rings(&v), 0);
	for (int n = 0; n < 8 && reason != DECODER_REASON_END; n++) {
		test_fail_allocation(n);
		reason = view(&v, 0);
		test_fail_allocation(-1);
		CHECK_INT(reason, n < 2 ? DECODER_REASON_LIMIT : DECODER_REASON_END);
	}
	CHECK_INT(reason, DECODER_REASON_END);
	close_viewing(&v);
}
