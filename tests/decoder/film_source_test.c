/* Films whose sources are slow, begin late, or have times that are wrong (mediad/decoder/film.c).
 */
#include "mediad/decoder/film.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mediad/music/video_ring.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/film_scene.h"
#include "tests/film_file/film_made.h"
#include "tests/test.h"

static uint8_t unit[VIDEO_RING_UNIT_MAX];

/* Every place is counted from the same beginning, wherever it is begun. */
TEST(film_counts_from_its_beginning_in_its_middle)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct seen seen;

	m.container = "matroska";
	m.tone = 60;
	m.late_ms = 3000;
	m.begin_s = 60;
	m.frames = 120;
	for (unsigned place = 0; place < 120; place += 75) {
		CHECK(make_viewing(&v, &m));
		CHECK_INT(make_rings(&v), 0);
		CHECK_INT(view(&v, UINT64_C(1600) * place), DECODER_REASON_END);
		CHECK(v.opened.video.sound_ms > 2990 && v.opened.video.sound_ms < 3010);
		look(&v, m.fps, &seen);
		CHECK_INT(seen.first, place);
		CHECK_INT(seen.last, 119);
		CHECK(seen.in_order);
		CHECK(seen.in_time);
		close_viewing(&v);
	}
}

/* Of a clock that is looked at twice for each packet. */
static unsigned looks;

static uint64_t count_looks(void)
{
	looks++;
	return 0;
}

/* It was read on for a sound at the place as well, although none could be found there any more. */
TEST(film_is_read_for_its_beginning_once)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct film_conf conf = {.kind = DECODER_FILE,
				 .start = UINT64_C(1600) * 30,
				 .openedh = on_opened,
				 .arg = &v,
				 .clockh = count_looks};
	struct film_job *f;

	m.container = "matroska";
	m.width = m.height = 64;
	m.tone = 60;
	m.late_ms = 12000;
	m.frames = 400;
	looks = 0;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	CHECK_INT(film_open(&f, &conf), DECODER_REASON_UNKNOWN);
	/* 10 s for the beginning, and what the order of frames is judged by. */
	CHECK(looks > 600 && looks < 700);
	film_close(f);
	close_viewing(&v);
}

/* Matroska has times of decoding alone for such a codec: it was read to its end for a time at which
 * the picture begins. */
TEST(film_of_a_codec_from_avi_is_read_for_its_beginning_no_further)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct film_conf conf = {
		.kind = DECODER_FILE, .openedh = on_opened, .arg = &v, .clockh = count_looks};
	struct film_job *f;

	m.container = "matroska";
	m.encoder = "wmv2";
	m.options = "g=30";
	m.tone = 60;
	m.frames = 200;
	looks = 0;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	CHECK_INT(film_open(&f, &conf), DECODER_REASON_VIDEO_CODEC);
	CHECK(looks < 200);
	film_close(f);
	close_viewing(&v);
}

/* Of several it was the first one, which may not be the one that is played. */
TEST(film_tells_where_the_sound_begins_that_is_played)
{
	static const char *const containers[] = {"matroska", "mov"};
	struct film_made m = b_frames;
	struct viewing v;

	m.tone = 60;
	m.second_ms = 3000;
	m.second_is_default = true;
	for (size_t i = 0; i < 2; i++) {
		m.container = containers[i];
		CHECK(make_viewing(&v, &m));
		CHECK_INT(make_rings(&v), 0);
		CHECK_INT(view(&v, 0), DECODER_REASON_END);
		CHECK(v.opened.video.sound_ms > 2990 && v.opened.video.sound_ms < 3010);
		close_viewing(&v);
	}
}

/* Takes the samples of a track, the first of which is 0, out of the table of a MOV file. */
static void empty_track(int fd, unsigned number)
{
	static const uint8_t none[4];
	static uint8_t bytes[1 << 20];
	char path[32];
	size_t n = (size_t)pread(fd, bytes, sizeof bytes, 0), at = 0;
	int writer;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	for (; at + 12 < n; at++)
		if (memcmp(bytes + at, "stco", 4) == 0 && !number--)
			break;
	CHECK_INT(pwrite(writer, none, sizeof none, (off_t)at + 8), sizeof none);
	close(writer);
}

/* Picture and sound mean the same one, of those that can be played. */
TEST(film_tells_of_a_sound_that_can_be_played)
{
	struct film_made m = b_frames;
	struct viewing v;

	m.tone = 60;
	for (unsigned i = 0; i < 3; i++) {
		m.container = i == 2 ? "mov" : "matroska";
		m.empty_first = i == 0;
		m.foreign_first = i == 1;
		m.late_ms = i == 2 ? 0 : 3000;
		m.second_ms = i == 2 ? 3000 : 0;
		CHECK(make_viewing(&v, &m));
		if (i == 2)
			empty_track(v.fd, 1);
		CHECK_INT(make_rings(&v), 0);
		CHECK_INT(view(&v, 0), DECODER_REASON_END);
		CHECK(v.opened.video.sound_ms > 2990 && v.opened.video.sound_ms < 3010);
		close_viewing(&v);
	}
}

/* Where no head prefers one, libav prefers that of which it has read more by then. */
TEST(decoderd_plays_the_sound_of_which_a_film_tells)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct deck d;
	struct played p;
	bool made = deck_open(&d), loud = false;

	m.container = "matroska";
	m.tone = 60;
	m.late_ms = 3000;
	m.second_ms = -3000;
	made = made && !film_make(deck_path(&d, "film.mkv"), &m);
	if (made) {
		deck_play_file(&d, "film.mkv", 0, &p);
		for (size_t i = 0; i < p.frames; i++)
			loud = loud || p.pcm[2 * i] > 4000;
		free(p.pcm);
	}
	deck_close(&d);
	CHECK(made);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK(loud);
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	CHECK(v.opened.video.sound_ms > 2990 && v.opened.video.sound_ms < 3010);
	close_viewing(&v);
}

/* A clock of which `ns` pass at once, once it was looked at `from` times. */
static struct {
	uint64_t ns;
	unsigned asked, from;
} slow;

static uint64_t read_slow(void)
{
	return slow.asked++ < slow.from ? 0 : slow.ns;
}

/* Reads a film whose source takes `ns` for the packet of one step, or, before step 0, for the head.
 * Sets after how many steps it was open. */
static void view_slowly(unsigned slow_step, uint64_t ns, unsigned *opened_at)
{
	struct viewing v;
	struct video_unit u;
	struct film_conf conf = {
		.kind = DECODER_FILE, .openedh = on_opened, .arg = &v, .clockh = read_slow};
	struct film_made m = b_frames;
	struct film_job *f;
	enum decoder_reason reason;
	unsigned frames = 0, steps = 0;

	m.width = m.height = 64;
	m.frames = 300;
	*opened_at = 0;
	slow.ns = ns;
	slow.asked = 0;
	slow.from = slow_step ? UINT_MAX : 2;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	for (reason = film_open(&f, &conf); !reason; steps++) {
		if (slow_step && steps == slow_step)
			slow.from = slow.asked + 1; /* before the packet is read */
		reason = film_step(f);
		if (v.is_open && !*opened_at) {
			*opened_at = steps + 1;
			CHECK_INT(video_ring_read(v.reader, &u, unit), 0);
		}
	}
	film_close(f);
	CHECK_INT(reason, DECODER_REASON_END);
	while (!video_ring_read(v.reader, &u, unit))
		frames++;
	CHECK_INT(frames, 299);
	close_viewing(&v);
}

/* Nobody has seen anything yet, although the first frame was taken. */
TEST(film_of_a_slow_source_begins_with_all_its_frames)
{
	unsigned opened_at;

	view_slowly(0, UINT64_C(7000000000), &opened_at);
	CHECK(opened_at >= 90);
	view_slowly(20, UINT64_C(7000000000), &opened_at);
	CHECK(opened_at >= 90);
}

TEST(film_of_a_source_that_is_far_too_slow_begins_with_what_is_there)
{
	unsigned opened_at;

	view_slowly(0, UINT64_C(14000000000), &opened_at);
	CHECK(opened_at >= 90);
	view_slowly(0, UINT64_C(16000000000), &opened_at);
	CHECK(opened_at > 0 && opened_at < 20);
}

/* One wrong time ended it as damaged, and so did joined recordings. */
TEST(film_with_a_wrong_time_is_shown)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct seen seen;

	m.container = "matroska";
	m.width = m.height = 64;
	m.frames = 500;
	m.far_frame = 100;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	look(&v, m.fps, &seen);
	CHECK_INT(seen.frames, 499);
	CHECK_INT(seen.last, 499);
	CHECK(seen.in_order);
	CHECK(seen.in_time);
	close_viewing(&v);
}

/* A film that begins 80 frames behind its key frame, and of which `ns` pass after 40, while the
 * source is read or not. */
static void begin_far(uint64_t ns, bool of_source, struct seen *seen)
{
	struct viewing v;
	struct film_conf conf = {.kind = DECODER_FILE,
				 .start = UINT64_C(80) * 1600,
				 .openedh = on_opened,
				 .arg = &v,
				 .clockh = read_slow};
	struct film_made m = b_frames;
	struct film_job *f;
	enum decoder_reason reason;

	m.options = "preset=ultrafast:bf=3:b_adapt=0:g=10000:sc_threshold=0";
	slow.ns = ns;
	slow.asked = 0;
	slow.from = UINT_MAX;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	reason = film_open(&f, &conf);
	for (unsigned i = 0; !reason; i++) {
		if (i == 40)
			slow.from = slow.asked + of_source;
		reason = film_step(f);
	}
	film_close(f);
	CHECK_INT(reason, DECODER_REASON_END);
	look(&v, m.fps, seen);
	CHECK_INT(seen->last, 89);
	close_viewing(&v);
}

/* All frames from the key frame on have to be decoded, and that takes longer than anybody waits. */
TEST(film_begins_before_its_start_where_that_is_far)
{
	struct seen seen;

	begin_far(UINT64_C(7000000000), false, &seen);
	CHECK(seen.first > 30 && seen.first < 50);
	begin_far(UINT64_C(14000000000), true, &seen);
	CHECK_INT(seen.first, 80);
	begin_far(UINT64_C(16000000000), true, &seen);
	CHECK(seen.first > 30 && seen.first < 50);
}

/* CPU time that was used, each look at which takes 5 s. */
static uint64_t used_ns, passed_ns;

static uint64_t read_used(void)
{
	passed_ns += used_ns ? UINT64_C(5000000000) : 0;
	return used_ns;
}

static uint64_t read_passed(void)
{
	return passed_ns;
}

/* The jail ended it where no saving helps. */
TEST(film_that_is_too_much_for_the_core_rests)
{
	struct film_made m = b_frames;
	struct viewing v;
	struct film_conf conf = {.kind = DECODER_FILE,
				 .openedh = on_opened,
				 .arg = &v,
				 .clockh = read_passed,
				 .cpuh = read_used};
	struct film_job *f;
	enum decoder_reason reason;

	m.options = "preset=ultrafast:bf=3:b_adapt=0:g=10000:sc_threshold=0";
	used_ns = passed_ns = 0;
	CHECK(make_viewing(&v, &m));
	CHECK_INT(make_rings(&v), 0);
	conf.fd = v.fd;
	conf.ring = v.writer;
	reason = film_open(&f, &conf);
	for (unsigned i = 0; !reason; i++) {
		if (i == 20)
			used_ns = UINT64_C(88000000000);
		reason = film_step(f);
		if (i == 20)
			CHECK(passed_ns >= UINT64_C(40000000000) &&
			      passed_ns <= UINT64_C(50000000000));
	}
	film_close(f);
	CHECK_INT(reason, DECODER_REASON_END);
	close_viewing(&v);
}

/* A film of `first` frames that begins its times anew, as that of `second` frames. Counts the
 * frames that are shown, none of which is far from the one before, and sets the time of the last
 * one. */
static void view_joined(unsigned fps, unsigned first, unsigned second, unsigned *frames,
			uint64_t *last)
{
	static uint8_t bytes[1 << 20];
	struct film_made part = b_frames;
	struct viewing v;
	struct video_unit u;
	size_t n;
	int fd;

	part.container = "matroska";
	part.width = part.height = 64;
	part.fps = fps;
	part.frames = first;
	CHECK(make_viewing(&v, &part));
	n = (size_t)pread(v.fd, bytes, sizeof bytes / 2, 0);
	close(v.fd);
	part.frames = second;
	CHECK(make_viewing(&v, &part));
	n += (size_t)pread(v.fd, bytes + n, sizeof bytes / 2, 0);
	close(v.fd);
	fd = open(v.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unlink(v.path);
	v.fd = fd;
	CHECK_INT(write(fd, bytes, n), n);
	CHECK_INT(make_rings(&v), 0);
	CHECK_INT(view(&v, 0), DECODER_REASON_END);
	for (*frames = 0; !video_ring_read(v.reader, &u, unit); (*frames)++) {
		CHECK(!*frames || (u.at_us > *last && u.at_us - *last < 200000));
		*last = u.at_us;
	}
	close_viewing(&v);
}

TEST(film_of_joined_recordings_goes_on)
{
	unsigned frames;
	uint64_t last;

	view_joined(30, 400, 400, &frames, &last);
	CHECK(last > 26000000);
	CHECK(frames > 790);
}

/* Of a part of less than 10 s nothing tells that it is one, so the next one is shown from its time
 * on. */
TEST(film_of_joined_recordings_that_are_short_is_shown_to_its_end)
{
	uint64_t last;
	unsigned frames;

	view_joined(60, 420, 600, &frames, &last);
	CHECK(last > 9900000 && last < 10000000);
	CHECK(frames > 290 && frames <= 300);
}
