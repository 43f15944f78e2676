#include "mediad/video/extensions.h"

#include "tests/test.h"

TEST(video_extensions_read_clients)
{
	/* send time, orientation 1, transport number, delay 0..400 ms, a screen, rid "100" */
	static const uint8_t body[] = {0x32, 1,	   2,	 3,    0x40, 1,	   0x51, 0,   9,   0x62,
				       0x00, 0x00, 0x28, 0x70, 1,    0xb2, '1',	 '0', '0', 0};
	struct video_extensions e;

	video_extensions_read(&e, RTP_EXT_ONE_BYTE, body, sizeof body);
	CHECK(e.turns == 1 && e.screen && e.has_delay);
	CHECK(e.delay_min_ms == 0 && e.delay_max_ms == 400);
	CHECK_MEM(e.rid.p, e.rid.n, "100", 3);
	video_extensions_read(&e, 0x1000, body, sizeof body);
	CHECK(!e.screen && !e.has_delay && !e.rid.n);
	/* A delay of another size is none; what is cut ends the walk. */
	video_extensions_read(&e, RTP_EXT_ONE_BYTE, (const uint8_t *)"\x61\x00\x00\x70\x01\xbf", 6);
	CHECK(!e.has_delay && e.screen && !e.rid.n);
	video_extensions_read(&e, RTP_EXT_ONE_BYTE, NULL, 0);
	CHECK(!e.turns);
}

TEST(video_extensions_come_back)
{
	struct video_extensions e = {.screen = true,
				     .has_delay = true,
				     .delay_min_ms = 20,
				     .delay_max_ms = 40950},
				got;
	uint8_t buf[VIDEO_EXT_MAX];
	size_t n;

	CHECK_INT(video_extensions_write(&e, buf, sizeof buf, &n), 0);
	CHECK_MEM(buf, n, "\x70\x01\x62\x00\x2f\xff\x00\x00", 8);
	video_extensions_read(&got, RTP_EXT_ONE_BYTE, buf, n);
	CHECK(got.screen && got.has_delay && got.delay_min_ms == 20 && got.delay_max_ms == 40950);
	CHECK_INT(video_extensions_write(&e, buf, 7, &n), EMSGSIZE);
	e.delay_max_ms = 40960;
	CHECK_INT(video_extensions_write(&e, buf, sizeof buf, &n), EINVAL);
	e = (struct video_extensions){0};
	CHECK_INT(video_extensions_write(&e, buf, 0, &n), 0);
	CHECK_INT(n, 0);
}
