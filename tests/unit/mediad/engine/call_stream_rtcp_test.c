/* RTCP of a call stream in simulated time: its own reports, and the effect of received ones. */
#include "mediad/engine/call_stream_internal.h"
#include "tests/unit/mediad/engine/pair.h"

#include "proto/base/time.h"
#include "tests/test.h"

static struct {
	unsigned sr, rr, blocks, compounds, bad;
	struct rtcp_sender sender;
	struct rtcp_block block;
	uint32_t ts; /* of tx' newest RTP packet */
	uint64_t ts_at, sr_at;
	uint32_t rtp, octets; /* of tx */
	unsigned lose;	      /* every so many-th packet */
} seen;

/* Each compound packet is a report and then an SDES. */
static void on_control(const struct pair_end *e, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);
	struct rtcp_packet got = {0}, sdes = {0};

	seen.compounds++;
	if (!rtcp_next(&r, &got) || !rtcp_next(&r, &sdes) || rd_left(&r) || sdes.type != RTCP_SDES)
		seen.bad++;
	/* The other one sends nothing but the silence of joining. */
	if (got.type != RTCP_SR && (e == &pair.tx || got.type != RTCP_RR))
		seen.bad++;
	seen.bad += got.ssrc != (e == &pair.rx ? PAIR_OTHER_SSRC : PAIR_SSRC);
	seen.sr += e == &pair.tx;
	seen.rr += got.type == RTCP_RR;
	seen.blocks += got.n_blocks;
	if (e == &pair.tx) {
		seen.sender = got.sender;
		seen.sr_at = pair.now;
		pair_control(&pair.rx, p, n);
	}
	if (got.n_blocks)
		seen.block = rtcp_block_of(&got, 0);
}

static bool on_rtp(uint8_t *payload, size_t *n, const struct rtp_header *h)
{
	(void)payload;
	seen.rtp++;
	seen.octets += (uint32_t)*n;
	seen.ts = h->ts;
	seen.ts_at = pair.now;
	return !seen.lose || h->seq % seen.lose != 0;
}

static int start(void)
{
	int err;

	memset(&seen, 0, sizeof seen);
	err = pair_start();
	pair.control = on_control;
	pair.relay = on_rtp;
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair_clear(&pair.rx, true, UINT64_MAX);
	return err;
}

static void say_for(unsigned ms)
{
	for (; ms; ms -= 1250) {
		pair_say(1000, true);
		pair_run(1250);
	}
}

TEST(call_stream_reports_every_five_seconds)
{
	CHECK_INT(start(), 0);
	say_for(20000);
	CHECK_INT(seen.bad, 0);
	CHECK_INT(seen.sr, 4);
	CHECK_INT(seen.rr, 3);
	CHECK_INT(seen.blocks, 4);
	/* Those of joining were sent before the test counts. */
	CHECK(seen.sender.packets > 800 && seen.sender.packets <= seen.rtp + 5);
	CHECK(seen.sender.octets <= seen.octets + 5 * OPUS_SILENCE_SIZE);
	CHECK(seen.sender.octets > seen.octets / 2);
	CHECK(seen.sender.ntp >> 32 > UINT32_C(3900000000)); /* 2023 */
	CHECK(seen.block.ssrc == PAIR_SSRC && seen.block.fraction == 0 && seen.block.lost == 0);
	/* The sender report of just before, or the one before that. */
	CHECK(seen.block.lsr && seen.block.dlsr <= 5 * 65536 + 6554);
	pair_finish();
}

/* The RTP time of a report is that of the instant, not of the newest packet. */
TEST(call_stream_report_has_the_rtp_time_of_now)
{
	uint32_t should;
	int32_t off;

	CHECK_INT(start(), 0);
	say_for(3750);
	pair_run(200);
	should = seen.ts; /* and then a pause, in which a report falls */
	pair_run(1500);
	CHECK_INT(seen.sr, 1);
	should += (uint32_t)((seen.sr_at - seen.ts_at) / NS_PER_MS) * 48;
	off = (int32_t)(seen.sender.rtp - should);
	CHECK(off >= -240 && off <= 240); /* a step of simulated time is 5 ms */
	pair_finish();
}

TEST(call_stream_silent_sends_no_reports)
{
	CHECK_INT(start(), 0);
	pair_run(6000); /* that of joining */
	seen.compounds = 0;
	pair_run(20000);
	CHECK_INT(seen.compounds, 0);
	pair_finish();
}

TEST(call_stream_reports_loss)
{
	CHECK_INT(start(), 0);
	seen.lose = 4;
	say_for(10000);
	CHECK_INT(seen.bad, 0);
	CHECK(seen.block.fraction >= 62 && seen.block.fraction <= 66);
	CHECK(seen.block.lost > 80 && seen.block.lost < 125);
	pair_finish();
}

static void tell(struct pair_end *e, const struct rtcp_block *b)
{
	uint8_t p[RTCP_REPORT_MAX];
	size_t n;

	if (rtcp_build(77, NULL, b, 1, p, sizeof p, &n))
		abort();
	pair_control(e, p, n);
}

/* What others lose raises what our encoder expects; a block about somebody else does not. */
TEST(call_stream_expected_loss_follows_reports)
{
	struct rtcp_block b = {.ssrc = PAIR_SSRC + 1, .fraction = 51, .lost = 9, .lsr = 0};
	struct sender_stats st;

	CHECK_INT(start(), 0);
	tell(&pair.tx, &b);
	sender_stats(pair.tx.l->sender, &st);
	CHECK(st.loss == ENCODER_LOSS && st.fec);
	b.ssrc = PAIR_SSRC;
	say_for(6250);
	CHECK_INT(seen.sr, 1);
	b.lsr = rtcp_middle(seen.sender.ntp);
	b.dlsr = (uint32_t)((pair.now - seen.sr_at) / NS_PER_MS) * 65536 / 1000;
	pair.now += 80 * NS_PER_MS;
	for (int i = 0; i < 8; i++)
		tell(&pair.tx, &b);
	sender_stats(pair.tx.l->sender, &st);
	CHECK_INT(st.loss, 20);
	pair.tx.l->stats_at = 0;
	pair_run(25);
	CHECK_INT(pair.tx.call.seen.reports, 8);
	CHECK(pair.tx.call.seen.fraction == 51 && pair.tx.call.seen.lost == 9);
	CHECK(pair.tx.call.seen.rtt_us > 79000 && pair.tx.call.seen.rtt_us < 81000);
	CHECK_INT(pair.tx.call.malformed, 0);
	/* Another session: nobody has reported. */
	pair_link(&pair.tx);
	sender_stats(pair.tx.l->sender, &st);
	CHECK(st.loss == ENCODER_LOSS);
	CHECK_INT(pair.tx.l->report.reports, 0);
	pair_finish();
}

static uint32_t stream_ssrc = PAIR_SSRC; /* of the stream that reports are about */

/* A block about our own stream, sealed; the same datagram may come again. */
static size_t sealed_block(uint8_t *out, uint32_t from, uint8_t fraction)
{
	struct rtcp_block b = {.ssrc = stream_ssrc, .fraction = fraction};
	uint8_t p[RTCP_REPORT_MAX];
	size_t n, len;

	if (rtcp_build(from, NULL, &b, 1, p, sizeof p, &n) ||
	    rtpsize_seal_rtcp(pair.wire, p, n, out, UDP_MAX_PACKET, &len))
		abort();
	return len;
}

/* Whoever recorded them could else steer what our encoder expects. */
TEST(call_stream_takes_a_report_once)
{
	static const uint8_t other[RTPSIZE_KEY] = {9};
	uint8_t old[UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	size_t n_old, n;
	struct cmd c = {.type = CMD_KEY};
	struct sender_stats st;

	CHECK_INT(start(), 0);
	n_old = sealed_block(old, 77, 77);
	pair_datagram(&pair.tx, old, n_old);
	CHECK_INT(pair.tx.l->report.reports, 1);
	CHECK(pair.tx.l->path.reported);
	for (int i = 0; i < 30; i++) {
		n = sealed_block(out, 77, 0);
		pair_datagram(&pair.tx, out, n);
		pair_datagram(&pair.tx, out, n);
		pair_datagram(&pair.tx, old, n_old);
	}
	CHECK_INT(pair.tx.l->report.reports, 31);
	CHECK_INT(pair.tx.l->stats.replayed, 60);
	CHECK_INT(pair.tx.l->stats.malformed, 0);
	CHECK_INT(pair.tx.l->report.fraction, 0);
	sender_stats(pair.tx.l->sender, &st);
	CHECK(!st.fec);
	/* Each sender counts for itself. */
	for (uint32_t from = 100; from < 107; from++) {
		n = sealed_block(out, from, 1);
		pair_datagram(&pair.tx, out, n);
		pair_datagram(&pair.tx, out, n);
		pair.now += NS_PER_MS;
	}
	pair_datagram(&pair.tx, old, n_old);
	CHECK_INT(pair.tx.l->report.reports, 38);
	CHECK_INT(pair.tx.l->stats.replayed, 68);
	/* Under another key counters begin anew. */
	CHECK_INT(rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, other), 0);
	pair_cmd(&pair.tx, &c);
	rtpsize_free(pair.wire);
	pair.wire = NULL;
	CHECK_INT(rtpsize_alloc(&pair.wire, RTPSIZE_XCHACHA20_POLY1305, other), 0);
	n = sealed_block(out, 77, 1);
	pair_datagram(&pair.tx, out, n);
	CHECK_INT(pair.tx.l->report.reports, 39);
	pair_finish();
}

/* Our own report, sent back to us, is nobody's. */
TEST(call_stream_ignores_its_own_reports)
{
	uint8_t out[UDP_MAX_PACKET];
	size_t n;

	CHECK_INT(start(), 0);
	n = sealed_block(out, PAIR_SSRC, 200);
	pair_datagram(&pair.tx, out, n);
	CHECK_INT(pair.tx.l->report.reports, 0);
	CHECK_INT(pair.tx.l->stats.replayed, 1);
	pair_finish();
}

/* A speaker's counters are kept with the speaker, also those from before the name was known. */
TEST(call_stream_takes_a_speakers_report_once)
{
	uint8_t old[UDP_MAX_PACKET], more[UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	size_t n_old, n_more;
	uint64_t before;

	CHECK_INT(start(), 0);
	stream_ssrc = PAIR_OTHER_SSRC;
	before = pair.rx.l->stats.replayed; /* both ends begin with silence */
	n_old = sealed_block(old, 555, 1);
	pair_datagram(&pair.rx, old, n_old);
	pair_map(555);
	pair_datagram(&pair.rx, old, n_old);
	n_more = sealed_block(more, 555, 1);
	pair_datagram(&pair.rx, more, n_more);
	for (uint32_t from = 100; from < 120; from++)
		pair_datagram(&pair.rx, out, sealed_block(out, from, 1));
	pair_datagram(&pair.rx, more, n_more);
	pair_datagram(&pair.rx, old, n_old);
	CHECK_INT(pair.rx.l->stats.replayed - before, 3);
	CHECK_INT(pair.rx.l->report.reports, 22);
	stream_ssrc = PAIR_SSRC;
	pair_finish();
}

/* A recording of a speaker's reports is sent once the speaker has left and many others have
 * reported. */
TEST(call_stream_takes_no_report_of_a_speaker_who_left_again)
{
	struct cmd c = {.type = CMD_SLOT_REMOVE};
	uint8_t old[3][UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	size_t n[3];
	unsigned reports;

	CHECK_INT(start(), 0);
	stream_ssrc = PAIR_OTHER_SSRC;
	for (unsigned i = 0; i < 3; i++) {
		n[i] = sealed_block(old[i], PAIR_SSRC, 200);
		pair_datagram(&pair.rx, old[i], n[i]);
	}
	CHECK_INT(pair.rx.l->report.reports, 3);
	c.slot.slot = pair.slot;
	c.slot.reason = MEDIA_REASON_LEFT;
	pair_cmd(&pair.rx, &c);
	for (unsigned i = 0; i < 3; i++)
		pair_datagram(&pair.rx, old[i], n[i]);
	CHECK_INT(pair.rx.l->report.reports, 3);
	for (uint32_t from = 100; from < 200; from++)
		pair_datagram(&pair.rx, out, sealed_block(out, from, 1));
	reports = pair.rx.l->report.reports;
	CHECK_INT(reports, 103);
	for (unsigned i = 0; i < 3; i++)
		pair_datagram(&pair.rx, old[i], n[i]);
	CHECK_INT(pair.rx.l->report.reports, reports);
	stream_ssrc = PAIR_SSRC;
	pair_finish();
}

/* Reports of speakers who left are recorded and sent again: no present sender loses its entry. */
TEST(call_stream_refused_reports_take_no_entry)
{
	uint8_t old[10][UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	size_t n[10];

	CHECK_INT(start(), 0);
	for (uint32_t i = 0; i < 10; i++) {
		pair.now += NS_PER_MS;
		n[i] = sealed_block(old[i], 300 + i, 1);
		pair_datagram(&pair.rx, old[i], n[i]);
	}
	for (uint32_t from = 100; from < 108; from++) {
		pair.now += NS_PER_MS;
		pair_datagram(&pair.rx, out, sealed_block(out, from, 1));
	}
	for (unsigned i = 0; i < 10; i++)
		pair_datagram(&pair.rx, old[i], n[i]);
	for (unsigned i = 0; i < sizeof pair.rx.l->reporters / sizeof pair.rx.l->reporters[0]; i++)
		CHECK(pair.rx.l->reporters[i].ssrc < 108);
	pair_finish();
}

/* Packets and reports have floors of their own. */
TEST(call_stream_reports_open_no_floor_of_packets)
{
	uint8_t out[UDP_MAX_PACKET];
	const uint8_t one[COUNTERS_BYTES] = {0, 0, 0, 1};
	struct arrivals used, again;

	CHECK_INT(start(), 0);
	memset(&used, 0, sizeof used);
	CHECK(call_stream_accept_packet(&used, one, 7, 0));
	call_stream_leave_source(pair.rx.l, 300, &used, NULL);
	for (uint32_t from = 300; from < 310; from++)
		pair_datagram(&pair.rx, out, sealed_block(out, from, 1));
	call_stream_begin_source(pair.rx.l, 300, &again, NULL);
	CHECK(!call_stream_may_be_new(&again, one, 7));
	pair_finish();
}

/* Retired modes whose nonces are no counters: every report is taken, but none proves that the path
 * works, since it may be a recording. */
TEST(call_stream_reports_without_counters)
{
	static const uint8_t key[RTPSIZE_KEY] = {1, 2, 3};
	struct cmd c = {.type = CMD_KEY};
	uint8_t out[UDP_MAX_PACKET];
	size_t n;

	CHECK_INT(start(), 0);
	CHECK_INT(rtpsize_alloc(&c.key, RTPSIZE_XSALSA20_SUFFIX, key), 0);
	pair_cmd(&pair.tx, &c);
	rtpsize_free(pair.wire);
	pair.wire = NULL;
	CHECK_INT(rtpsize_alloc(&pair.wire, RTPSIZE_XSALSA20_SUFFIX, key), 0);
	n = sealed_block(out, 77, 1);
	pair_datagram(&pair.tx, out, n);
	pair_datagram(&pair.tx, out, n);
	CHECK_INT(pair.tx.l->report.reports, 2);
	CHECK_INT(pair.tx.l->stats.replayed, 0);
	CHECK(!pair.tx.l->path.reported);
	pair_finish();
}

TEST(call_stream_counts_malformed_reports)
{
	static const uint8_t bad[] = {0x85, 0xc9, 0, 1, 0, 0, 0, 5},
			     bye[] = {0x81, 0xcb, 0, 1, 0, 0, 0, 5};

	CHECK_INT(start(), 0);
	pair_control(&pair.tx, bad, sizeof bad);
	pair_control(&pair.tx, bye, sizeof bye);
	CHECK_INT(pair.tx.l->stats.malformed, 1);
	pair_finish();
}

/* Sources that do not fit into one report follow with the next ticks, each once. */
TEST(call_stream_reports_many_sources)
{
	enum { MORE = 70 };
	uint8_t out[UDP_MAX_PACKET];

	CHECK_INT(start(), 0);
	pair_run(5200);
	seen.rr = seen.blocks = 0;
	for (uint32_t i = 0; i < MORE; i++) {
		struct cmd c = {.type = CMD_SLOT_ADD};

		CHECK_INT(slot_alloc(&c.slot.slot, pair.rx.l, 100 + i, true, 1), 0);
		pair_cmd(&pair.rx, &c);
		c.type = CMD_SLOT_MAP;
		c.slot.ssrc = 5000 + i;
		pair_cmd(&pair.rx, &c);
	}
	for (uint32_t i = 0; i < MORE; i++)
		pair_packet_of(&pair.rx, 5000 + i, 9, out, 40);
	pair_run(5200);
	CHECK_INT(seen.bad, 0);
	CHECK_INT(seen.blocks, MORE);
	CHECK_INT(seen.rr, 3);
	pair_finish();
}

/* In the oldest mode a nonce would repeat, so no report is sent; audio goes on. */
TEST(call_stream_does_not_report_where_it_cannot_be_sealed)
{
	static const uint8_t key[RTPSIZE_KEY] = {1, 2, 3};
	struct cmd c = {.type = CMD_KEY};

	CHECK_INT(start(), 0);
	CHECK_INT(rtpsize_alloc(&c.key, RTPSIZE_XSALSA20, key), 0);
	pair_cmd(&pair.tx, &c);
	rtpsize_free(pair.wire);
	pair.wire = NULL;
	CHECK_INT(rtpsize_alloc(&pair.wire, RTPSIZE_XSALSA20, key), 0);
	say_for(12500);
	CHECK_INT(seen.sr, 0);
	CHECK(pair.tx.l->report.off);
	CHECK(seen.rtp > 500);
	pair_finish();
}
