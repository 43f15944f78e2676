/* Videos as mediad/decoder/film.c reads them out of what libav's muxers wrote. */
#include "mediad/decoder/film.h"

#include <fcntl.h>
#include <unistd.h>

#include "mediad/music/video_ring.h"
#include "mediad/video/codec.h"
#include "tests/decoder/film_scene.h"
#include "tests/film_file/film_file.h"
#include "tests/film_file/film_made.h"
#include "tests/test.h"

static uint8_t unit[VIDEO_RING_UNIT_MAX];

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

/* ---- what is decoded and encoded again ---- */

static unsigned sound_ms; /* of the newest one */

static void check_made(const struct film_made *m, unsigned width, unsigned height)
{
	struct viewing v;
	struct seen seen;

	CHECK(make_viewing(&v, m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	CHECK(v.is_open);
	CHECK_INT(v.opened.video.codec, VIDEO_VP8);
	CHECK_INT(v.opened.video.width, width);
	CHECK_INT(v.opened.video.height, height);
	look(&v, m->fps, &seen);
	CHECK_INT(seen.first, 0);
	CHECK(seen.in_order);
	CHECK(seen.in_time);
	CHECK_INT(seen.width, width);
	CHECK_INT(seen.height, height);
	CHECK(seen.last + 3 >= (int)m->frames);
	CHECK_INT(seen.frames, m->fps > 30 ? m->frames * 30 / m->fps : m->frames);
	sound_ms = v.opened.video.sound_ms;
	close_viewing(&v);
}

TEST(film_with_b_frames_is_shown_in_order)
{
	check_made(&b_frames, 320, 180);
}

TEST(film_with_b_frames_is_shown_in_order_without_a_table)
{
	struct film_made m = b_frames;

	m.container = "matroska";
	check_made(&m, 320, 180);
	m.container = "mp4";
	m.pieces = true;
	check_made(&m, 320, 180);
}

/* It would be announced, and then show nothing from there on. */
TEST(film_whose_b_frames_come_late_is_shown_in_order)
{
	struct film_made m = b_frames;

	m.b_from = 40;
	check_made(&m, 320, 180);
	m.container = "matroska";
	check_made(&m, 320, 180);
	m.container = "mp4";
	m.pieces = true;
	check_made(&m, 320, 180);
}

/* Where the table of the whole would be there is that of the first piece. */
TEST(film_whose_b_frames_come_in_a_later_piece_is_shown_in_order)
{
	struct film_made m = b_frames;

	m.b_from = 60;
	m.first_piece = true;
	check_made(&m, 320, 180);
}

TEST(film_of_a_codec_that_streams_do_not_send_is_shown)
{
	static const char *const encoders[][3] = {
		{"mp4", "libx265", "preset=ultrafast:x265-params=log-level=none:g=60"},
		{"matroska", "libvpx-vp9", "deadline=realtime:cpu-used=8:g=60"},
		{"mp4", "mpeg4", "bf=2:g=30"}};

	for (size_t i = 0; i < sizeof encoders / sizeof encoders[0]; i++) {
		struct film_made m = b_frames;

		m.container = encoders[i][0];
		m.encoder = encoders[i][1];
		m.options = encoders[i][2];
		m.frames = 40;
		check_made(&m, 320, 180);
	}
}

TEST(film_of_ten_bits_is_shown)
{
	struct film_made m = b_frames;

	m.format = "yuv420p10le";
	m.frames = 20;
	check_made(&m, 320, 180);
	m.format = "yuv444p";
	check_made(&m, 320, 180);
}

TEST(film_that_is_too_large_or_too_fast_is_made_smaller)
{
	struct film_made m = b_frames;

	m.width = 2560;
	m.height = 1440;
	m.frames = 4;
	m.options = "preset=ultrafast:bf=0";
	check_made(&m, 1280, 720);
	m = b_frames;
	m.fps = 60;
	check_made(&m, 320, 180);
}

/* The encoder would spend the bits of a whole gap on one, and the pacer had to send them at once.
 */
TEST(film_of_slides_sends_no_bursts)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct video_unit u;
	size_t most = 0;

	m.width = 1280;
	m.height = 720;
	m.fps = 1;
	m.frames = 5;
	m.noise = true;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	for (unsigned i = 0; i < m.frames; i++) {
		CHECK_INT(video_ring_read(v.reader, &u, unit), 0);
		CHECK_INT(u.at_us, i * 1000000);
		most = u.n > most ? u.n : most;
	}
	CHECK(most < 350000);
	close_viewing(&v);
}

TEST(film_that_is_far_too_large_says_so)
{
	struct film_made m = b_frames;
	struct viewing v;

	m.options = "preset=ultrafast:bf=0";
	m.frames = 2;
	m.width = 4096;
	m.height = 2304;
	check_made(&m, 1280, 720);
	m.width = 4112;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_VIDEO_SIZE);
	CHECK(!v.is_open);
	close_viewing(&v);
}

/* Positions of the sound begin with its first sample, so those of the picture have to. */
TEST(film_keeps_its_distance_from_its_sound)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct video_unit u;

	m.container = "mov";
	m.tone = 60;
	m.no_edits = true;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	CHECK_INT(video_ring_read(v.reader, &u, unit), 0);
	CHECK(u.at_us > 60000 && u.at_us < 70000);
	close_viewing(&v);
}

/* The picture was in vain until its sound began, or lay behind it, and at 60 frames a second the
 * film ended as damaged. */
TEST(film_is_shown_from_its_beginning_before_its_sound)
{
	struct film_made m = b_frames;

	m.fps = 60;
	m.frames = 480;
	m.tone = 60;
	m.late_ms = 6000;
	m.container = "mov";
	check_made(&m, 320, 180);
	CHECK(sound_ms > 5990 && sound_ms < 6010);
	m.container = "matroska";
	check_made(&m, 320, 180);
	CHECK(sound_ms > 5990 && sound_ms < 6010);
	m.frames = 60;
	m.late_ms = 0;
	check_made(&m, 320, 180);
	CHECK_INT(sound_ms, 0);
}

/* What a viewer gets who takes each frame at once, which leaves no time to encode. */
struct hurry {
	unsigned frames, keys;
	uint64_t last, gap; /* us; the longest between two frames */
};

static void view_in_a_hurry(const struct film_made *m, struct hurry *h)
{
	struct viewing v;
	struct video_unit u;
	struct film_conf conf = {.kind = DECODER_FILE, .openedh = on_opened, .arg = &v};
	struct film_job *f;
	enum decoder_reason reason;

	*h = (struct hurry){0};
	CHECK(make_viewing(&v, m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	reason = film_open(&f, &conf);
	while (!reason) {
		reason = film_step(f);
		for (; !video_ring_read(v.reader, &u, unit); h->last = u.at_us, h->frames++) {
			h->gap = u.at_us - h->last > h->gap ? u.at_us - h->last : h->gap;
			h->keys += u.key;
		}
	}
	film_close(f);
	CHECK_INT(reason, DECODER_REASON_END);
	close_viewing(&v);
}

TEST(film_leaves_frames_out_before_it_falls_behind)
{
	struct film_made m = b_frames;
	struct hurry h;

	m.frames = 600;
	m.width = m.height = 64;
	view_in_a_hurry(&m, &h);
	CHECK(h.frames >= 10 && h.frames < 60);
	CHECK(h.keys >= 9);
	CHECK(h.last > 17000000);
	CHECK(h.gap < 2100000);
}

/* Key frames alone would show nothing up to the end. */
TEST(film_of_one_key_frame_is_shown_to_its_end)
{
	struct film_made m = b_frames;
	struct hurry h;

	m.options = "preset=ultrafast:bf=3:b_adapt=0:g=10000:sc_threshold=0";
	m.frames = 600;
	m.width = m.height = 64;
	view_in_a_hurry(&m, &h);
	CHECK(h.last > 19000000);
	CHECK(h.gap < 200000);
	/* The first two promise more. */
	m.key_frame = 60;
	view_in_a_hurry(&m, &h);
	CHECK(h.last > 19000000);
	CHECK(h.gap > 9000000 && h.gap < 11000000);
}

/* A number along the upper edge is one along the right edge after a turn clockwise. */
TEST(film_of_a_turned_camera_is_shown_upright)
{
	struct film_made m = b_frames;
	struct film_look *viewer;
	struct viewing v;
	struct video_unit u;
	unsigned width, height;

	m.options = "preset=ultrafast:bf=0";
	m.frames = 3;
	for (m.quarters = 1; m.quarters < 4; m.quarters++) {
		CHECK(make_viewing(&v, &m));
		CHECK_INT(make_rings(&v), 0);
		CHECK_INT(view(&v, 0), DECODER_REASON_END);
		CHECK_INT(film_look_alloc(&viewer), 0);
		film_look_turn(viewer, m.quarters);
		for (int i = 0; i < 3; i++) {
			CHECK_INT(video_ring_read(v.reader, &u, unit), 0);
			CHECK_INT(film_look_put(viewer, unit, u.n, &width, &height), i);
		}
		CHECK_INT(width, m.quarters == 2 ? 320 : 180);
		CHECK_INT(height, m.quarters == 2 ? 180 : 320);
		film_look_free(viewer);
		close_viewing(&v);
	}
}

/* One direction loses pixels. */
TEST(film_of_pixels_that_are_not_square_is_shown_as_it_is_meant)
{
	struct film_made m = b_frames;

	m.options = "preset=ultrafast:bf=0";
	m.frames = 3;
	m.aspect[0] = 4;
	m.aspect[1] = 3;
	check_made(&m, 320, 136);
	m.aspect[0] = 1;
	m.aspect[1] = 2;
	check_made(&m, 160, 180);
	m.container = "matroska";
	check_made(&m, 160, 180);
}

TEST(film_whose_key_frames_are_far_apart_gets_others)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct seen seen;

	m.options = "preset=ultrafast:bf=0:g=10000:sc_threshold=0";
	m.fps = 10;
	m.width = 64;
	m.height = 64;
	m.frames = 205;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	look(&v, m.fps, &seen);
	CHECK_INT(seen.frames, 205);
	CHECK_INT(seen.keys, 11);
	close_viewing(&v);
	m.frames = 195;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	CHECK_INT(v.opened.video.codec, VIDEO_H264);
	close_viewing(&v);
}

TEST(film_that_is_converted_begins_at_its_start)
{
	struct viewing v;
	struct seen seen;

	CHECK(make_viewing(&v, &b_frames));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, UINT64_C(70) * 1600), DECODER_REASON_END);
	look(&v, b_frames.fps, &seen);
	CHECK_INT(seen.first, 70);
	CHECK_INT(seen.last, 89);
	CHECK(seen.in_order);
	CHECK(seen.in_time);
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
