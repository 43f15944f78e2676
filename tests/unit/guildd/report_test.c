/* Reports as mediad makes them at guildd, and the other way round. */
#include "mediad/transport/rtpsize.h"
#include "proto/rtcp.h"
#include "tests/guildd/rtp.h"
#include "tests/test.h"

static const uint8_t key[RTPSIZE_KEY] = {3, 1, 4};
static struct rtpsize *ours;
static struct gd_aead *theirs;

static int start(void)
{
	int err = rtpsize_alloc(&ours, RTPSIZE_AES256_GCM, key);

	return err ? err : gd_aead_alloc(&theirs, GD_MODE_AES, key);
}

static void finish(void)
{
	rtpsize_free(ours);
	gd_aead_free(theirs);
}

TEST(guildd_takes_reports)
{
	struct rtcp_sender sender = {rtcp_ntp(1705846555411), 4711, 50, 5000};
	struct rtcp_block blocks[2] = {{.ssrc = 8}, {.ssrc = 9, .lost = -1}};
	uint8_t plain[RTCP_REPORT_MAX], p[GD_PACKET_BUF];
	struct gd_nonce nonce = {0};
	struct gd_told told = {0};
	uint32_t ssrc = 0;
	bool rtcp = false;
	size_t n;

	CHECK_INT(start(), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(rtcp_build(7, i & 1 ? &sender : NULL, blocks, i < 2 ? 2 : 0, plain,
				     sizeof plain, &n),
			  0);
		CHECK_INT(rtpsize_seal_rtcp(ours, plain, n, p, sizeof p, &n), 0);
		CHECK_INT(gd_rtp_peek(p, n, &rtcp, &ssrc), GD_RX_OK);
		CHECK(rtcp && ssrc == 7);
		CHECK_INT(gd_rtcp_open(theirs, &nonce, p, n, &told), GD_RX_RTCP);
		CHECK(told.sender == (i & 1) && told.blocks == (i < 2 ? 2u : 0));
	}
	CHECK(told.middle == rtcp_middle(sender.ntp) && told.rtp == 4711 && told.packets == 50 &&
	      told.octets == 5000);
	finish();
}

/* Without an SDES, with another's, cut, with more behind, or of another kind. */
TEST(guildd_refuses_other_control_packets)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
		{"\x80\xc9\0\1\0\0\0\7", 8},
		{"\x80\xc9\0\1\0\0\0\7\x81\xca\0\2\0\0\0\6\1\0\0\0", 20},
		{"\x80\xc9\0\1\0\0\0\7\x81\xca\0\2\0\0\0\7\1\0\0", 19},
		{"\x80\xc9\0\1\0\0\0\7\x81\xca\0\2\0\0\0\7\2\0\0\0", 20},
		{"\x80\xc9\0\1\0\0\0\7\x81\xca\0\2\0\0\0\7\1\0\0\0\0\0\0\0", 24},
		{"\x81\xc9\0\1\0\0\0\7\x81\xca\0\2\0\0\0\7\1\0\0\0", 20},
		{"\x80\xcb\0\1\0\0\0\7\x81\xca\0\2\0\0\0\7\1\0\0\0", 20},
	};
	struct gd_nonce nonce = {0};
	struct gd_told told;
	uint8_t p[GD_PACKET_BUF];
	size_t n;

	CHECK_INT(start(), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		CHECK_INT(rtpsize_seal_rtcp(ours, (const uint8_t *)bad[i].bytes, bad[i].n, p,
					    sizeof p, &n),
			  0);
		CHECK_INT(gd_rtcp_open(theirs, &nonce, p, n, &told), GD_RX_BAD_RTCP);
	}
	finish();
}

/* Feedback about video behind the report, of the same sender. */
TEST(guildd_takes_feedback)
{
	static const uint16_t seqs[] = {1, 2, 40};
	uint8_t plain[RTCP_REPORT_MAX], p[GD_PACKET_BUF];
	struct gd_nonce nonce = {0};
	struct gd_told told = {0};
	struct rtcp_packet got;
	struct wr w;
	struct rd r;
	size_t n;

	CHECK_INT(start(), 0);
	for (uint32_t sender = 7; sender < 9; sender++) {
		w = wr_of(plain, sizeof plain);
		CHECK_INT(rtcp_build(7, NULL, NULL, 0, plain, sizeof plain, &w.pos), 0);
		rtcp_write_nack(&w, sender, 9, seqs, 3);
		rtcp_write_pli(&w, sender, 9);
		CHECK_INT(rtpsize_seal_rtcp(ours, plain, w.pos, p, sizeof p, &n), 0);
		CHECK_INT(gd_rtcp_open(theirs, &nonce, p, n, &told),
			  sender == 7 ? GD_RX_RTCP : GD_RX_BAD_RTCP);
	}
	r = rd_of(told.feedback, told.n_feedback);
	CHECK(rtcp_next(&r, &got) && got.type == RTCP_RTPFB && got.media == 9);
	CHECK(rtcp_next(&r, &got) && rtcp_wants_key(&got, 9));
	CHECK(!rtcp_next(&r, &got) && r.ok);
	/* What the server passes on opens for the other side. */
	CHECK_INT(gd_rtcp_feedback(theirs, 5, 1, (struct slice){told.feedback, told.n_feedback}, p,
				   sizeof p, &n),
		  0);
	CHECK_INT(rtpsize_open_rtcp(ours, p, n, plain, sizeof plain, &n), 0);
	r = rd_of(plain, n);
	CHECK(rtcp_next(&r, &got) && got.type == RTCP_RR && got.ssrc == 1 && !got.n_blocks);
	CHECK(rtcp_next(&r, &got) && rtcp_read_nack(&got, 9, (uint16_t[3]){0}, 3) == 3);
	finish();
}

TEST(guildd_tells_reports)
{
	struct gd_report r = {.ssrc = 9,
			      .fraction_lost = 51,
			      .lost = 3,
			      .ext_seq = 70000,
			      .jitter = 5,
			      .lsr = 77,
			      .dlsr = 88};
	uint8_t p[GD_PACKET_BUF], plain[GD_PACKET_BUF];
	struct rtcp_packet got;
	struct rtcp_block b;
	struct rd rd;
	size_t n;

	CHECK_INT(start(), 0);
	CHECK_INT(gd_rtcp_report(theirs, 5, &r, p, sizeof p, &n), 0);
	CHECK_INT(rtpsize_open_rtcp(ours, p, n, plain, sizeof plain, &n), 0);
	rd = rd_of(plain, n);
	CHECK(rtcp_next(&rd, &got) && got.type == RTCP_RR && got.n_blocks == 1);
	b = rtcp_block_of(&got, 0);
	CHECK(b.ssrc == 9 && b.fraction == 51 && b.lost == 3 && b.highest == 70000 &&
	      b.jitter == 5);
	CHECK(b.lsr == 77 && b.dlsr == 88);
	finish();
}
