#include "mediad/video/stored.h"

#include "tests/test.h"

#define BYTES(...)                                                                                 \
	(struct slice)                                                                             \
	{                                                                                          \
		(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})             \
	}

/* Profile 66, lengths of four bytes, an SPS of three bytes and a PPS of two. */
#define CONFIG	   1, 66, 0, 30, 0xff, 0xe1, 0, 3, 0x67, 66, 9, 1, 0, 2, 0x68, 5
#define PARAMETERS 0, 0, 0, 1, 0x67, 66, 9, 0, 0, 0, 1, 0x68, 5

struct written {
	uint8_t bytes[256];
	size_t n;
	bool key;
	int err;
};

static struct written write_frame(const struct stored_video *s, struct slice frame)
{
	struct written w = {0};

	w.err = stored_video_write(s, frame, w.bytes, sizeof w.bytes, &w.n, &w.key);
	return w;
}

TEST(stored_h264_gets_start_codes_and_its_parameters_before_key_frames)
{
	static const uint8_t key[] = {0, 0, 0, 1, 9, 16, PARAMETERS, 0, 0, 0, 1, 0x65, 1, 2},
			     delta[] = {0, 0, 0, 1, 0x41, 7};
	struct stored_video s;
	struct written w;

	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(CONFIG)), 0);
	/* The delimiter stays first; a filler is left out. */
	w = write_frame(&s, BYTES(0, 0, 0, 2, 9, 16, 0, 0, 0, 3, 0x65, 1, 2, 0, 0, 0, 1, 12));
	CHECK_INT(w.err, 0);
	CHECK(w.key);
	CHECK_MEM(w.bytes, w.n, key, sizeof key);
	w = write_frame(&s, BYTES(0, 0, 0, 0, 0, 0, 0, 2, 0x41, 7));
	CHECK(!w.err && !w.key);
	CHECK_MEM(w.bytes, w.n, delta, sizeof delta);
}

TEST(stored_h264_keeps_parameters_that_are_in_its_frames)
{
	static const uint8_t key[] = {0, 0, 0, 1, 0x67, 66, 1, 0, 0, 0, 1, 0x65, 1};
	struct stored_video s;
	struct written w;

	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(CONFIG)), 0);
	w = write_frame(&s, BYTES(0, 0, 0, 3, 0x67, 66, 1, 0, 0, 0, 2, 0x65, 1));
	CHECK(!w.err && w.key);
	CHECK_MEM(w.bytes, w.n, key, sizeof key);
	/* Without any it could not be decoded. */
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 66, 0, 30, 0xff, 0xe0, 0)), 0);
	CHECK_INT(write_frame(&s, BYTES(0, 0, 0, 2, 0x65, 1)).err, EBADMSG);
}

TEST(stored_h264_reads_lengths_of_one_and_two_bytes)
{
	static const uint8_t delta[] = {0, 0, 0, 1, 0x41, 7};
	struct stored_video s;
	struct written w;

	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 100, 0, 30, 0xfd, 0xe0, 0)), 0);
	w = write_frame(&s, BYTES(0, 2, 0x41, 7));
	CHECK_MEM(w.bytes, w.n, delta, sizeof delta);
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 77, 0, 30, 0xfc, 0xe0, 0)), 0);
	w = write_frame(&s, BYTES(2, 0x41, 7));
	CHECK_MEM(w.bytes, w.n, delta, sizeof delta);
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 77, 0, 30, 0xfe, 0xe0, 0)), EBADMSG);
}

TEST(stored_video_refuses_what_viewers_do_not_decode)
{
	struct stored_video s;

	/* High 10, High 4:4:4. */
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 110, 0, 30, 0xff, 0xe0, 0)), ENOTSUP);
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 244, 0, 30, 0xff, 0xe0, 0)), ENOTSUP);
	CHECK_INT(stored_video_set(&s, VIDEO_NONE, BYTES(0)), ENOTSUP);
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(0)), EBADMSG);
	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(1, 66, 0, 30, 0xff, 0xe1, 0, 9, 0x67)),
		  EBADMSG);
}

TEST(stored_frames_that_are_malformed_are_refused)
{
	struct stored_video s;
	struct written w = {0};

	CHECK_INT(stored_video_set(&s, VIDEO_H264, BYTES(CONFIG)), 0);
	CHECK_INT(write_frame(&s, BYTES(0, 0, 0, 3, 0x65, 1)).err, EBADMSG);
	CHECK_INT(write_frame(&s, BYTES(0xff, 0xff, 0xff, 0xff, 0x65, 1)).err, EBADMSG);
	CHECK_INT(write_frame(&s, BYTES(0, 0)).err, EBADMSG);
	CHECK_INT(stored_video_write(&s, BYTES(0, 0, 0, 2, 0x65, 1), w.bytes, 8, &w.n, &w.key),
		  EMSGSIZE);
	CHECK_INT(stored_video_set(&s, VIDEO_VP8, BYTES(0)), 0);
	CHECK_INT(write_frame(&s, BYTES(0x10, 2, 0, 1, 2, 3, 4, 5, 6, 7)).err, EBADMSG);
	CHECK_INT(write_frame(&s, BYTES(0x11, 2)).err, EBADMSG);
	CHECK_INT(stored_video_set(&s, VIDEO_AV1, BYTES(0)), 0);
	CHECK_INT(write_frame(&s, BYTES(0x0a, 9, 1)).err, EBADMSG);
	CHECK_INT(write_frame(&s, BYTES(0x0a, 0x80, 0x80, 0x80)).err, EBADMSG);
}

TEST(stored_vp8_stays_as_it_is)
{
	static const uint8_t key[] = {0x10, 2, 0, 0x9d, 1, 0x2a, 64, 1, 240, 0, 9};
	struct stored_video s;
	struct written w;

	CHECK_INT(stored_video_set(&s, VIDEO_VP8, BYTES(0)), 0);
	w = write_frame(&s, (struct slice){key, sizeof key});
	CHECK(!w.err && w.key);
	CHECK_MEM(w.bytes, w.n, key, sizeof key);
	w = write_frame(&s, BYTES(0x11, 2, 0, 7));
	CHECK(!w.err && !w.key && w.n == 4);
}

TEST(stored_av1_loses_its_delimiter)
{
	static const uint8_t key[] = {0x0a, 2, 1, 2, 0x32, 3, 1, 2, 3};
	struct stored_video s;
	struct written w;

	CHECK_INT(stored_video_set(&s, VIDEO_AV1, BYTES(0)), 0);
	w = write_frame(&s, BYTES(0x12, 0, 0x0a, 2, 1, 2, 0x32, 3, 1, 2, 3));
	CHECK(!w.err && w.key);
	CHECK_MEM(w.bytes, w.n, key, sizeof key);
	/* The last unit needs no size. */
	w = write_frame(&s, BYTES(0x12, 0, 0x30, 1, 2));
	CHECK(!w.err && !w.key && w.n == 3);
}
