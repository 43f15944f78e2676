#include "tests/test.h"

#include "proto/rtp.h"

TEST(rtp_build_and_parse)
{
	struct rtp_header in = {
		.marker = true, .pt = RTP_PT_OPUS, .seq = 0xfffe, .ts = 0x80000001, .ssrc = 7};
	struct rtp_header out;
	uint8_t buf[32];
	size_t len;

	CHECK_INT(rtp_build(&in, buf, sizeof buf, &len), 0);
	CHECK_MEM(buf, len, "\x80\xf8\xff\xfe\x80\0\0\x01\0\0\0\x07", 12);
	CHECK_INT(rtp_parse(&out, buf, len), 0);
	CHECK(out.marker && !out.padding && !out.extension);
	CHECK_INT(out.seq, 0xfffe);
	CHECK_INT(out.ts, 0x80000001);
	CHECK_INT(out.ssrc, 7);
	CHECK_INT(out.size, 12);
	CHECK_INT(rtp_build(&in, buf, 11, &len), EMSGSIZE);
	in.cc = 1;
	CHECK_INT(rtp_build(&in, buf, sizeof buf, &len), EINVAL);
	in.cc = 0;
	in.extension = true;
	in.ext_profile = RTP_EXT_ONE_BYTE;
	in.ext_words = 2;
	CHECK_INT(rtp_build(&in, buf, sizeof buf, &len), 0);
	CHECK_INT(len, 16);
	CHECK_INT(rtp_parse(&out, buf, len), 0);
	CHECK_INT(out.ext_words, 2);
	CHECK_INT(out.size, 16);
}

TEST(rtp_parse_needs_the_whole_clear_part)
{
	uint8_t p[RTP_CLEAR_MAX] = {0xbf, 0x78}; /* V=2 P X CC=15 */
	struct rtp_header h;

	for (size_t n = 0; n < sizeof p; n++)
		CHECK_INT(rtp_parse(&h, p, n), EBADMSG);
	CHECK_INT(rtp_parse(&h, p, sizeof p), 0);
	CHECK(h.padding && h.extension && h.cc == 15 && h.size == sizeof p);
	p[0] = 0x7f;
	CHECK_INT(rtp_parse(&h, p, sizeof p), EBADMSG);
}

TEST(udp_kinds)
{
	uint8_t p[1500] = {0x80, 0x78};

	CHECK_INT(udp_classify(p, 12), UDP_RTP);
	CHECK_INT(udp_classify(p, 74), UDP_RTP);
	CHECK_INT(udp_classify(p, 11), UDP_OTHER);
	CHECK_INT(udp_classify(p, 8), UDP_KEEPALIVE);
	CHECK_INT(udp_classify(p, 0), UDP_OTHER);
	CHECK_INT(udp_classify(p, UDP_MAX_PACKET + 1), UDP_OTHER);
	for (int b = 0; b < 256; b++) {
		p[1] = (uint8_t)b;
		CHECK_INT(udp_classify(p, 40), b >= 200 && b <= 207 ? UDP_RTCP : UDP_RTP);
	}
	memcpy(p, "\0\x02\0\x46", 4);
	CHECK_INT(udp_classify(p, 74), UDP_DISCOVERY);
	CHECK_INT(udp_classify(p, 70), UDP_OTHER);
	p[1] = 3;
	CHECK_INT(udp_classify(p, 74), UDP_OTHER);
}

TEST(rtp_extension_elements)
{
	/* What clients send with silence: level 127 with the voice bit, speaking flags 0. */
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, (const uint8_t *)"\x10\xff\x90\x00", 4), 127);
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, (const uint8_t *)"\x32\1\2\3\0\0\x10\x8a", 8),
		  10);
	CHECK_INT(rtp_audio_level(0x1000, (const uint8_t *)"\x10\x0a\0\0", 4), 127);
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, (const uint8_t *)"\xf0\x01\x10\x0a", 4), 127);
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, (const uint8_t *)"\x10", 1), 127);
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, (const uint8_t *)"\x01\xff\x10\x0a", 4), 127);
	CHECK_INT(rtp_audio_level(RTP_EXT_ONE_BYTE, NULL, 0), 127);
}

TEST(discovery_request_and_answer)
{
	uint8_t p[DISCOVERY_SIZE], want[DISCOVERY_SIZE] = {0, 1, 0, 70, 0x11, 0x22, 0x33, 0x44};
	char ip[64] = "untouched";
	uint16_t port = 9;

	memset(p, 0xaa, sizeof p);
	discovery_build(p, 0x11223344);
	CHECK_MEM(p, sizeof p, want, sizeof want);
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port),
		  EBADMSG); /* our own request */
	p[1] = 2;
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), EBADMSG); /* no address */
	memcpy(p + 8, "203.0.113.9", 12);
	p[72] = 0xc0;
	p[73] = 0x01;
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223345, ip, &port), EBADMSG);
	CHECK_INT(discovery_parse(p, sizeof p - 1, 0x11223344, ip, &port), EBADMSG);
	CHECK_STR(ip, "untouched");
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), 0);
	CHECK_STR(ip, "203.0.113.9");
	CHECK_INT(port, 0xc001);
	p[9] = '\n';
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), EBADMSG);
	memset(p + 8, '1', 64); /* no end */
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), EBADMSG);
	memcpy(p + 8, "2001:db8::1", 12);
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), 0);
	p[72] = p[73] = 0;
	CHECK_INT(discovery_parse(p, sizeof p, 0x11223344, ip, &port), EBADMSG);
}

TEST(keepalive_bytes)
{
	uint8_t p[KEEPALIVE_SIZE];
	uint32_t n = 0;

	keepalive_build(p, 0x01020304);
	CHECK_MEM(p, sizeof p, "\x13\x37\xca\xfe\1\2\3\4", 8);
	CHECK_INT(keepalive_parse(p, 8, &n), 0);
	CHECK_INT(n, 0x01020304);
	CHECK_INT(keepalive_parse((const uint8_t *)"\x13\x37\xf0\x0d\0\0\0\x09", 8, &n), 0);
	CHECK_INT(n, 9);
	CHECK_INT(keepalive_parse((const uint8_t *)"\1\0\0\0\0\0\0\0", 8, &n), EBADMSG);
	CHECK_INT(keepalive_parse(p, 7, &n), EBADMSG);
	CHECK(opus_is_silence(OPUS_SILENCE, 3));
	CHECK(!opus_is_silence((const uint8_t *)"\xf8\xff\xfe\0", 4));
}
