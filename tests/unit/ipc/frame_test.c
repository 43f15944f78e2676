#include "ipc/frame.h"
#include "tests/test.h"

enum { MAX = 100 };

TEST(a_frame_is_cut_only_when_whole)
{
	static const uint8_t buf[] = {0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 1, 'z'};
	const uint8_t *body = NULL;
	size_t len = 0;

	for (size_t n = 0; n < 7; n++)
		CHECK_INT(frame_cut(buf, n, MAX, &body, &len), 0);
	CHECK(!body && !len);
	for (size_t n = 7; n <= sizeof buf; n++) {
		CHECK_INT(frame_cut(buf, n, MAX, &body, &len), 7);
		CHECK_MEM(body, len, "abc", 3);
	}
	CHECK_INT(frame_cut(buf + 7, 5, MAX, &body, &len), 5);
	CHECK_MEM(body, len, "z", 1);
}

TEST(a_length_of_zero_or_above_the_cap_is_an_error)
{
	uint8_t buf[FRAME_HEAD + MAX + 1] = {0};
	const uint8_t *body;
	size_t len;

	CHECK_INT(frame_cut(buf, FRAME_HEAD, MAX, &body, &len), -1);
	frame_head(buf, MAX);
	CHECK_INT(frame_cut(buf, FRAME_HEAD, MAX, &body, &len), 0);
	CHECK_INT(frame_cut(buf, FRAME_HEAD + MAX, MAX, &body, &len), FRAME_HEAD + MAX);
	CHECK_INT(len, MAX);
	/* Told from the head alone: nobody waits for such a body. */
	frame_head(buf, MAX + 1);
	CHECK_INT(frame_cut(buf, FRAME_HEAD, MAX, &body, &len), -1);
	memset(buf, 0xff, FRAME_HEAD);
	CHECK_INT(frame_cut(buf, FRAME_HEAD, MAX, &body, &len), -1);
}

TEST(the_head_is_big_endian)
{
	uint8_t head[FRAME_HEAD];

	frame_head(head, 0x010203);
	CHECK_MEM(head, sizeof head, "\0\1\2\3", 4);
}
