#include "mediad/video/rtx.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(video_rtx_reads)
{
	struct slice payload;
	uint16_t seq;

	CHECK_INT(rtx_read((const uint8_t *)"\x12\x34xyz", 5, &seq, &payload), 0);
	CHECK_INT(seq, 0x1234);
	CHECK_MEM(payload.p, payload.n, "xyz", 3);
	CHECK_INT(rtx_read((const uint8_t *)"\x12\x34", 2, &seq, &payload), ENODATA);
	CHECK_INT(rtx_read((const uint8_t *)"\x12", 1, &seq, &payload), EBADMSG);
	CHECK_INT(rtx_read(NULL, 0, &seq, &payload), EBADMSG);
}

TEST_OOM(video_rtx_sends_again)
{
	static const uint8_t bytes[RTX_PAYLOAD_MAX + 1] = "bytes";
	uint8_t buf[RTX_HEADER + RTX_PAYLOAD_MAX];
	struct rtx_history *h;
	struct rtx_packet p;

	CHECK_OOM(rtx_history_alloc(&h), );
	CHECK_INT(rtx_history_again(h, 0, 0, buf, sizeof buf, &p), ENOENT);
	for (unsigned i = 0; i < RTX_HISTORY + 10; i++)
		rtx_history_put(h, &(struct rtx_packet){.seq = (uint16_t)(65000 + i),
							.ts = i,
							.marker = i % 2,
							.payload = {bytes, 5 + i % 7}});
	/* The oldest ones are gone. */
	CHECK_INT(rtx_history_again(h, (uint16_t)(65000 + 9), 0, buf, sizeof buf, &p), ENOENT);
	CHECK_INT(rtx_history_again(h, (uint16_t)(65000 + 10), 0, buf, 5, &p), EMSGSIZE);
	CHECK_INT(rtx_history_again(h, (uint16_t)(65000 + 999), 0, buf, sizeof buf, &p), 0);
	CHECK(p.ts == 999 && p.marker && p.payload.n == RTX_HEADER + 5 + 999 % 7);
	CHECK_MEM(p.payload.p, 7,
		  "\x01\xcf"
		  "bytes",
		  7);
	/* The same one is not sent twice at a time. */
	CHECK_INT(rtx_history_again(h, (uint16_t)(65000 + 999), 1, buf, sizeof buf, &p), ENOENT);
	CHECK_INT(rtx_history_again(h, (uint16_t)(65000 + 999), RTX_AGAIN_MS * NS_PER_MS, buf,
				    sizeof buf, &p),
		  0);
	rtx_history_put(h, &(struct rtx_packet){.seq = 1, .payload = {bytes, sizeof bytes}});
	CHECK_INT(rtx_history_again(h, 1, 0, buf, sizeof buf, &p), ENOENT);
	rtx_history_free(h);
	rtx_history_free(NULL);
}
