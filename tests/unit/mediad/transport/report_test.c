/* What reports say of a stream, ours and others'. */
#include "mediad/transport/report.h"

#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/test.h"

#define START (1000000 * NS_PER_MS)

static struct report_source src;

/* Packet k of a sender that counts from first, on time. */
static void hear(uint16_t first, unsigned k)
{
	report_packet(&src, (uint16_t)(first + k), k * RTP_FRAME, START + k * 20 * NS_PER_MS);
}

TEST(report_without_loss)
{
	struct rtcp_block b;

	src = (struct report_source){0};
	CHECK(!report_take(&src, 7, START, &b)); /* nothing was heard */
	for (unsigned k = 0; k < 250; k++)
		hear(65500, k);
	CHECK(report_take(&src, 7, START + 5000 * NS_PER_MS, &b));
	CHECK(b.ssrc == 7 && b.fraction == 0 && b.lost == 0 && b.jitter == 0);
	CHECK_INT(b.highest, 65500 + 249); /* over 65535 */
	CHECK(b.lsr == 0 && b.dlsr == 0);
	CHECK(!report_take(&src, 7, START + 10000 * NS_PER_MS, &b)); /* nothing new */
}

/* The fraction is of the time since the report before, the count of all time. */
TEST(report_of_loss)
{
	struct rtcp_block b;

	src = (struct report_source){0};
	for (unsigned k = 0; k < 101; k++)
		if (k % 4 != 1)
			hear(10, k);
	CHECK(report_take(&src, 7, START, &b));
	CHECK_INT(b.lost, 25);
	CHECK_INT(b.fraction, 25 * 256 / 101);
	for (unsigned k = 101; k < 201; k++)
		hear(10, k);
	CHECK(report_take(&src, 7, START, &b));
	CHECK_INT(b.lost, 25);
	CHECK_INT(b.fraction, 0);
	/* What comes late was not lost; what comes twice counts against it (A.3). */
	for (unsigned k = 1; k < 101; k += 4)
		hear(10, k);
	hear(10, 200);
	CHECK(report_take(&src, 7, START, &b));
	CHECK_INT(b.lost, -1);
	CHECK_INT(b.fraction, 0);
	CHECK_INT(b.highest, 210);
}

/* A sender that starts anew has lost nothing. */
TEST(report_of_a_new_start)
{
	struct rtcp_block b;

	src = (struct report_source){0};
	for (unsigned k = 0; k < 50; k++)
		hear(100, k);
	for (unsigned k = 0; k < 50; k++)
		hear(20000, k);
	CHECK(report_take(&src, 7, START, &b));
	CHECK(b.lost == 0 && b.fraction == 0);
	CHECK_INT(b.highest, 20049);
	/* The largest loss that is one. */
	hear(20049, REPORT_JUMP);
	CHECK(report_take(&src, 7, START, &b));
	CHECK_INT(b.lost, REPORT_JUMP - 1);
	CHECK_INT(b.fraction, (REPORT_JUMP - 1) * 256 / REPORT_JUMP);
}

/* Every second packet 8 ms late: the differences are 8 ms all. */
TEST(report_of_jitter)
{
	struct rtcp_block b;

	src = (struct report_source){0};
	for (unsigned k = 0; k < 400; k++)
		report_packet(&src, (uint16_t)k, k * RTP_FRAME,
			      START + k * 20 * NS_PER_MS + (k % 2) * 8 * NS_PER_MS);
	CHECK(report_take(&src, 7, START, &b));
	CHECK(b.jitter >= 383 && b.jitter <= 384);
	/* A pause of ten seconds that its clock slept through is none. */
	report_packet(&src, 400, 400 * RTP_FRAME, START + 18000 * NS_PER_MS);
	CHECK(src.jitter < 385);
}

TEST(report_names_the_sender_report_it_has)
{
	struct rtcp_block b;

	src = (struct report_source){.lsr = 0xa59b6937, .lsr_at = START};
	hear(10, 0);
	CHECK(report_take(&src, 7, START + 1500 * NS_PER_MS, &b));
	CHECK(b.lsr == 0xa59b6937);
	CHECK_INT(b.dlsr, 65536 * 3 / 2);
}

TEST(report_of_our_own_stream)
{
	struct rtcp_sender s;
	struct report r;

	report_start(&r, START);
	CHECK(r.next == START + 5000 * NS_PER_MS);
	CHECK(!report_sender(&r, 0, 0, START, &s)); /* nothing was sent */
	for (unsigned i = 0; i < 10; i++)
		report_sent(&r, 100 + i);
	CHECK(report_sender(&r, 1705846555411, 4711, START, &s));
	CHECK(s.packets == 10 && s.octets == 1045 && s.rtp == 4711 && s.ntp >> 32 == 0xe957a59b);
	CHECK(!report_sender(&r, 1705846560411, 0, START, &s)); /* nothing since */
}

/* Round trips are measured by our own clock, for any of the newest reports; what fits none of them
 * tells nothing. */
TEST(report_round_trip)
{
	struct rtcp_block b = {.fraction = 12, .lost = 3, .jitter = 96};
	struct rtcp_sender s[REPORT_SENT + 1];
	struct report r;

	report_start(&r, START);
	for (unsigned i = 0; i <= REPORT_SENT; i++) {
		report_sent(&r, 1);
		CHECK(report_sender(&r, 1705846555411 + i, 0, START + i * 5000 * NS_PER_MS, &s[i]));
	}
	report_heard(&r, &b, START + 5040 * NS_PER_MS); /* it has none of ours */
	CHECK(r.reports == 1 && r.fraction == 12 && r.lost == 3 && r.jitter == 96 && r.rtt_us == 0);
	b.lsr = rtcp_middle(s[0].ntp); /* forgotten */
	report_heard(&r, &b, START + 5040 * NS_PER_MS);
	CHECK_INT(r.rtt_us, 0);
	b.lsr = rtcp_middle(s[1].ntp);
	b.dlsr = 65536 / 100; /* 10 ms, less a 36th of a 65536th */
	report_heard(&r, &b, START + 5040 * NS_PER_MS);
	CHECK(r.rtt_us >= 30000 && r.rtt_us < 30020);
	b.dlsr = 65536; /* longer than all of it took */
	report_heard(&r, &b, START + 5040 * NS_PER_MS);
	CHECK(r.rtt_us >= 30000 && r.rtt_us < 30020);
}
