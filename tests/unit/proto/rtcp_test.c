#include "proto/rtcp.h"

#include "tests/test.h"

/* What a desktop client of Discord's sent in January 2024, opened. */
static const uint8_t client[] = {0x80, 0xc8, 0x00, 0x06, 0x00, 0x05, 0xec, 0x18, 0xe9, 0x57,
				 0xa5, 0x9b, 0x69, 0x37, 0x4b, 0xc6, 0x0a, 0x5b, 0x61, 0xd0,
				 0x00, 0x00, 0x5b, 0x8e, 0x00, 0x1e, 0x66, 0x1b, 0x81, 0xca,
				 0x00, 0x02, 0x00, 0x05, 0xec, 0x18, 0x01, 0x00, 0x00, 0x00};

TEST(rtcp_reads_a_client_of_discords)
{
	struct rd r = rd_of(client, sizeof client);
	struct rtcp_packet p;

	CHECK(rtcp_next(&r, &p));
	CHECK(p.type == RTCP_SR && p.ssrc == 0x5ec18 && p.n_blocks == 0);
	CHECK(p.sender.ntp == 0xe957a59b69374bc6 && p.sender.rtp == 0x0a5b61d0);
	CHECK(p.sender.packets == 0x5b8e && p.sender.octets == 0x1e661b);
	CHECK(rtcp_middle(p.sender.ntp) == 0xa59b6937);
	CHECK(rtcp_next(&r, &p));
	CHECK_INT(p.type, RTCP_SDES);
	CHECK(!rtcp_next(&r, &p) && r.ok);
}

TEST(rtcp_writes_as_that_client_does)
{
	struct rtcp_sender s = {0xe957a59b69374bc6, 0x0a5b61d0, 0x5b8e, 0x1e661b};
	uint8_t buf[RTCP_REPORT_MAX];
	size_t n;

	CHECK_INT(rtcp_build(0x5ec18, &s, NULL, 0, buf, sizeof buf, &n), 0);
	CHECK_MEM(buf, n, client, sizeof client);
	CHECK_INT(rtcp_build(0x5ec18, &s, NULL, 0, buf, n - 1, &n), EMSGSIZE);
}

/* The signs and the limits of each field come back; a whole report fits a datagram. */
TEST(rtcp_blocks_come_back)
{
	struct rtcp_block in[RTCP_BLOCKS + 1] = {
		{1, 255, RTCP_LOST_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
		{2, 0, -1, 0, 0, 0, 0},
		{3, 64, -RTCP_LOST_MAX - 1, 0x10005, 77, 1, 2},
	};
	uint8_t buf[RTCP_REPORT_MAX];
	struct rtcp_packet p;
	struct rd r;
	size_t n;

	CHECK_INT(rtcp_build(9, NULL, in, RTCP_BLOCKS, buf, sizeof buf, &n), 0);
	CHECK_INT(n, 8 + 24 * RTCP_BLOCKS + 12);
	r = rd_of(buf, n);
	CHECK(rtcp_next(&r, &p));
	CHECK(p.type == RTCP_RR && p.ssrc == 9 && p.n_blocks == RTCP_BLOCKS);
	for (unsigned i = 0; i < RTCP_BLOCKS; i++) {
		struct rtcp_block b = rtcp_block_of(&p, i);

		CHECK(b.ssrc == in[i].ssrc && b.fraction == in[i].fraction && b.lost == in[i].lost);
		CHECK(b.highest == in[i].highest && b.jitter == in[i].jitter);
		CHECK(b.lsr == in[i].lsr && b.dlsr == in[i].dlsr);
	}
	CHECK_INT(rtcp_build(9, NULL, in, RTCP_BLOCKS + 1, buf, sizeof buf, &n), EINVAL);
}

/* Anything may stand in a compound packet; what is cut, or too short for its blocks, is refused
 * there. */
TEST(rtcp_passes_over_what_it_does_not_know)
{
	static const uint8_t mixed[] = {0x81, 0xcb, 0, 1, 0, 0, 0, 7,		   /* BYE */
					0x8f, 0xcd, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8,  /* feedback */
					0xa0, 0xc9, 0, 2, 0, 0, 0, 5, 0, 0, 0, 4}; /* RR, padded */
	struct rd r = rd_of(mixed, sizeof mixed);
	struct rtcp_packet p;

	CHECK(rtcp_next(&r, &p) && p.type == RTCP_BYE);
	CHECK(rtcp_next(&r, &p) && p.type == 205);
	CHECK(rtcp_next(&r, &p) && p.type == RTCP_RR && p.ssrc == 5 && !p.n_blocks);
	CHECK(!rtcp_next(&r, &p) && r.ok);
	for (size_t n = 1; n < sizeof client; n++) {
		r = rd_of(client, n);
		while (rtcp_next(&r, &p))
			;
		CHECK(n == 28 ? r.ok : !r.ok);
	}
}

TEST(rtcp_refuses_what_is_malformed)
{
	static const uint8_t bad[][12] = {
		{0x40, 0xc9, 0, 1, 0, 0, 0, 5}, /* version 1 */
		{0x80, 0xbf, 0, 1, 0, 0, 0, 5}, /* 191 is none of RTCP's */
		{0x80, 0xe0, 0, 1, 0, 0, 0, 5}, /* nor is 224 */
		{0x81, 0xc9, 0, 1, 0, 0, 0, 5}, /* a block that is not there */
		{0x80, 0xc8, 0, 1, 0, 0, 0, 5}, /* nor is the sender's part */
		{0x80, 0xc9, 0, 0, 0, 0, 0, 5}, /* no SSRC */
		{0x80, 0xc9, 0xff, 0xff, 0, 0, 0, 5},
	};
	struct rtcp_packet p;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct rd r = rd_of(bad[i], 8);

		CHECK(!rtcp_next(&r, &p) && !r.ok);
	}
}

TEST(rtcp_ntp_time)
{
	CHECK(rtcp_ntp(0) == UINT64_C(2208988800) << 32);
	CHECK(rtcp_ntp(1500) == (UINT64_C(2208988801) << 32 | 0x80000000));
	CHECK(rtcp_ntp(1705846555411) >> 32 == 0xe957a59b);
}

/* Missing packets are told in pairs of a number and a mask of the 16 behind it (RFC 4585 6.2.1). */
TEST(rtcp_nack_comes_back)
{
	static const uint16_t seqs[] = {65530, 65531, 65535, 0, 10, 11, 500};
	static const uint8_t want[] = {0x81, 205,  0,	 5,    0, 0,  0, 1, 0,	  0,	0, 2,
				       0xff, 0xfa, 0x80, 0x31, 0, 11, 0, 0, 0x01, 0xf4, 0, 0};
	uint16_t got[16];
	uint8_t buf[64];
	struct wr w = wr_of(buf, sizeof buf);
	struct rtcp_packet p;
	struct rd r;

	rtcp_write_nack(&w, 1, 2, seqs, 7);
	CHECK(w.ok);
	CHECK_MEM(buf, w.pos, want, sizeof want);
	r = rd_of(buf, w.pos);
	CHECK(rtcp_next(&r, &p) && p.type == RTCP_RTPFB && p.ssrc == 1 && p.media == 2);
	CHECK_INT(rtcp_read_nack(&p, 2, got, 16), 7);
	CHECK_MEM(got, sizeof seqs, seqs, sizeof seqs);
	CHECK_INT(rtcp_read_nack(&p, 2, got, 3), 3);
	CHECK_INT(rtcp_read_nack(&p, 3, got, 16), 0);
	CHECK(!rtcp_wants_key(&p, 2));
	w = wr_of(buf, 15);
	rtcp_write_nack(&w, 1, 2, seqs, 7);
	CHECK(!w.ok);
}

TEST(rtcp_key_requests_come_back)
{
	static const uint8_t pli[] = {0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2},
			     fir[] = {0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0,
				      0,    0,	 0, 0, 0, 2, 7, 0, 0, 0};
	uint8_t buf[RTCP_REPORT_MAX];
	struct wr w = wr_of(buf, sizeof buf);
	uint16_t seqs[4];
	struct rtcp_packet p;
	struct rd r;

	/* Behind a report, as a compound packet must be. */
	CHECK_INT(rtcp_build(1, NULL, NULL, 0, buf, sizeof buf, &w.pos), 0);
	rtcp_write_pli(&w, 1, 2);
	CHECK_MEM(buf + w.pos - sizeof pli, sizeof pli, pli, sizeof pli);
	rtcp_write_fir(&w, 1, 2, 7);
	CHECK_MEM(buf + w.pos - sizeof fir, sizeof fir, fir, sizeof fir);
	r = rd_of(buf, w.pos);
	CHECK(rtcp_next(&r, &p) && p.type == RTCP_RR && !rtcp_wants_key(&p, 2));
	CHECK(rtcp_next(&r, &p) && p.type == RTCP_SDES);
	CHECK(rtcp_next(&r, &p) && rtcp_wants_key(&p, 2) && !rtcp_wants_key(&p, 1));
	CHECK_INT(rtcp_read_nack(&p, 2, seqs, 4), 0);
	CHECK(rtcp_next(&r, &p) && rtcp_wants_key(&p, 2) && !rtcp_wants_key(&p, 1));
	CHECK(!rtcp_next(&r, &p) && r.ok);
	/* Feedback without its two sources is malformed. */
	r = rd_of("\x81\xce\x00\x01\x00\x00\x00\x01", 8);
	CHECK(!rtcp_next(&r, &p) && !r.ok);
}
