/* A call stream receives the traffic of real voice servers: jumps, other SSRCs, padding, CSRCs. In
 * the clear, in simulated time. */
#include <math.h>

#include "mediad/audio/encoder.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/pair.h"

static uint8_t frame[ENCODER_OPUS_MAX];
static size_t frame_n;

/* The first datagrams, for tests that send them again. */
enum { KEPT = 100 };
static struct {
	uint8_t p[UDP_MAX_PACKET];
	size_t n;
} kept[KEPT];
static unsigned n_kept;

static int start(void)
{
	struct encoder *e = NULL;
	int16_t pcm[ENCODER_FRAME];
	int err = encoder_alloc(&e, 64000);

	n_kept = 0;
	if (err)
		return err;
	for (unsigned i = 0; i < ENCODER_FRAME; i++)
		pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * 300 * i / 48000));
	frame_n = encoder_run(e, pcm, frame);
	encoder_free(e);
	err = pair_start();
	pair_clear(&pair.rx, true, UINT64_MAX);
	return err;
}

/* A datagram of rx' server with this clear part (header without the payload's length) and this in
 * it. */
static void raw(uint8_t first, uint32_t ssrc, uint16_t seq, uint32_t ts, const uint8_t *extra,
		size_t n_extra, const uint8_t *body, size_t n)
{
	uint8_t head[RTP_CLEAR_MAX], out[UDP_MAX_PACKET], sealed[UDP_MAX_PACKET];
	struct wr w = wr_of(head, sizeof head), o = wr_of(out, sizeof out);

	wr_be(&w, first, 1);
	wr_be(&w, RTP_PT_OPUS, 1);
	wr_be(&w, seq, 2);
	wr_be(&w, ts, 4);
	wr_be(&w, ssrc, 4);
	wr_bytes(&w, extra, n_extra);
	wr_bytes(&o, head, w.pos);
	if (pair_seal(head, w.pos, body, n, sealed))
		abort();
	wr_bytes(&o, sealed, n + RTPSIZE_OVERHEAD);
	if (n_kept < KEPT) {
		memcpy(kept[n_kept].p, out, o.pos);
		kept[n_kept++].n = o.pos;
	}
	pair_datagram(&pair.rx, out, o.pos);
}

static void speak(uint32_t ssrc, uint16_t seq, uint32_t ts)
{
	raw(0x80, ssrc, seq, ts, NULL, 0, frame, frame_n);
	pair_run(20);
}

/* Songbird's case (its #266) and others: wherever the numbers go, sound comes again within 250 ms.
 */
TEST(call_stream_hears_again_after_jumps)
{
	static const struct {
		int seq, ms;
	} jumps[] = {{5000, 10000},   {1001, 20020},  {1001, 0},   {30000, 0},
		     {-1001, -20020}, {-5000, 10000}, {-30000, 0}, {0, 10000},
		     {0, -10000},     {0, 5000},      {0, -5000},  {999, 19980},
		     {600, 0},	      {-513, -10260}, {5000, -7},  {0, 3600000}};
	uint16_t seq = 300;
	uint32_t ts = 7;

	CHECK_INT(start(), 0);
	for (size_t j = 0; j < sizeof jumps / sizeof jumps[0]; j++) {
		/* What is far ahead of the last number is a new start at once. */
		bool far = jumps[j].seq > 1000;
		unsigned before, waited = 0, most = far ? 100 : 250;

		for (unsigned k = 0; k < 60; k++, seq++, ts += RTP_FRAME)
			speak(PAIR_SSRC, seq, ts);
		before = pair.rx.loud > 0 ? pair.rx.heard : 0;
		CHECK(before > 0);
		seq = (uint16_t)(seq + jumps[j].seq);
		ts += (uint32_t)(jumps[j].ms * 48);
		pair.rx.samples = pair.rx.loud = 0;
		/* Loud enough to be that frame, not what was made up. */
		for (; waited < 1000 && pair.rx.loud < 480 * 2000;
		     waited += 20, seq++, ts += RTP_FRAME)
			speak(PAIR_SSRC, seq, ts);
		if (waited > most)
			printf("jump of %d and %d ms: %u ms\n", jumps[j].seq, jumps[j].ms, waited);
		CHECK(waited <= most);
	}
	pair_finish();
}

/* Its numbers may lie a little before those of the old one by chance. */
TEST(call_stream_hears_a_new_ssrc_at_once)
{
	uint32_t ts = 7;

	CHECK_INT(start(), 0);
	for (uint16_t seq = 300; seq < 320; seq++, ts += RTP_FRAME)
		speak(PAIR_SSRC, seq, ts);
	pair_map(PAIR_SSRC + 1);
	pair.rx.samples = pair.rx.loud = 0;
	for (uint16_t seq = 220; seq < 224; seq++, ts += RTP_FRAME)
		speak(PAIR_SSRC + 1, seq, ts);
	CHECK(pair.rx.loud > 480 * 2000);
	pair_finish();
}

static void replay_kept(void)
{
	for (unsigned i = 0; i < n_kept; i++) {
		unsigned k = i * 37 % n_kept;
		uint8_t p[UDP_MAX_PACKET];

		memcpy(p, kept[k].p, kept[k].n);
		pair_datagram(&pair.rx, p, kept[k].n);
	}
}

/* Recorded packets are sent again in another order: soon, when the 16-bit numbers have gone so far
 * that they look new, and after the SSRC was mapped anew. None is heard, and no later packet is
 * lost. */
TEST(call_stream_refuses_recorded_packets_for_ever)
{
	uint64_t heard;

	CHECK_INT(start(), 0);
	for (unsigned i = 0; i < KEPT; i++)
		speak(PAIR_SSRC, (uint16_t)(300 + i), 7 + i * RTP_FRAME);
	CHECK_INT(n_kept, KEPT);
	heard = pair.rx.heard;
	replay_kept();
	pair_run(200);
	CHECK_INT(pair.rx.l->stats.replayed, KEPT);
	for (unsigned i = 0; i < 50; i++)
		speak(PAIR_SSRC, (uint16_t)(40300 + i), 7 + (40000 + i) * RTP_FRAME);
	replay_kept();
	CHECK_INT(pair.rx.l->stats.replayed, 2 * KEPT);
	CHECK(pair.rx.heard > heard);
	pair_map(0);
	pair_map(PAIR_SSRC);
	heard = pair.rx.heard;
	replay_kept();
	pair_run(200);
	CHECK_INT(pair.rx.l->stats.replayed, 3 * KEPT);
	for (unsigned i = 0; i < 50; i++)
		speak(PAIR_SSRC, (uint16_t)(40350 + i), 7 + (40050 + i) * RTP_FRAME);
	CHECK(pair.rx.heard >= heard + 45);
	CHECK_INT(pair.rx.l->stats.replayed, 3 * KEPT);
	pair_finish();
}

/* A mapped and an unmapped SSRC. */
static void speak_in_turn(uint16_t seq, unsigned n)
{
	for (; n; n--, seq++) {
		pair_packet_of(&pair.rx, PAIR_SSRC, seq, frame, frame_n);
		pair_packet_of(&pair.rx, 77, seq, frame, frame_n);
		pair_run(20);
	}
}

/* Sends another transport key; everybody counts from 0 under it. */
static int change_key(uint8_t first)
{
	const uint8_t key[RTPSIZE_KEY] = {first};
	struct cmd c = {.type = CMD_KEY};
	int err = rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key);

	if (err)
		return err;
	pair_cmd(&pair.rx, &c);
	rtpsize_free(pair.wire);
	return rtpsize_alloc(&pair.wire, RTPSIZE_XCHACHA20_POLY1305, key);
}

/* Nothing under a new key has been seen before, of a mapped SSRC as of an unmapped one. */
TEST(call_stream_hears_counters_from_0_under_a_new_key)
{
	unsigned heard;

	CHECK_INT(start(), 0);
	CHECK_INT(change_key(76), 0);
	speak_in_turn(300, 50);
	CHECK_INT(change_key(77), 0);
	heard = pair.rx.heard;
	speak_in_turn(350, 20);
	CHECK_INT(pair.rx.l->stats.replayed, 0);
	CHECK(pair.rx.heard >= heard + 15);
	pair_finish();
}

/* A hundred members speak one after the other and leave: their recordings are refused, and a new
 * SSRC is heard. */
TEST(call_stream_refuses_packets_of_speakers_long_gone)
{
	unsigned heard;

	CHECK_INT(start(), 0);
	for (uint32_t i = 0; i < KEPT; i++) {
		pair_map(5000 + i);
		speak(5000 + i, 300, 7);
	}
	CHECK_INT(n_kept, KEPT);
	CHECK_INT(pair.rx.l->stats.replayed, 0);
	pair_map(4999);
	replay_kept();
	CHECK_INT(pair.rx.l->stats.replayed, KEPT);
	/* Replayed packets are no news of an unmapped SSRC either. */
	for (unsigned i = 0; i < sizeof pair.rx.l->unmapped / sizeof pair.rx.l->unmapped[0]; i++)
		CHECK_INT(pair.rx.l->unmapped[i].ssrc, 0);
	heard = pair.rx.heard;
	for (uint16_t k = 0; k < 10; k++)
		speak(4999, (uint16_t)(400 + k), k * RTP_FRAME);
	CHECK_INT(pair.rx.heard, heard + 10);
	pair_finish();
}

static void leave_packets(uint32_t ssrc, uint16_t seq)
{
	pair_map(ssrc);
	pair_packet_of(&pair.rx, ssrc, seq, frame, frame_n);
}

static void check_newcomer(void)
{
	uint64_t before = pair.rx.l->stats.replayed;
	unsigned heard = pair.rx.heard;

	pair_map(4999);
	for (uint16_t k = 0; k < 50; k++) {
		pair_packet_of(&pair.rx, 4999, (uint16_t)(400 + k), frame, frame_n);
		pair_run(20);
	}
	CHECK_INT(pair.rx.l->stats.replayed, before);
	CHECK(pair.rx.heard >= heard + 40);
}

/* Those who left sent in both byte orders, so their counters are high in both. */
TEST(call_stream_hears_a_newcomer_after_senders_of_both_byte_orders)
{
	CHECK_INT(start(), 0);
	for (uint32_t i = 0; i < KEPT; i++) {
		pair_map(5000 + i);
		if (i % 2)
			speak(5000 + i, 300, 7); /* little-endian */
		else
			leave_packets(5000 + i, 300);
	}
	check_newcomer();
	pair_finish();
}

/* Those who left had counted far; a newcomer with a sequence of its own begins at 1. */
TEST(call_stream_hears_a_newcomer_with_counters_of_its_own)
{
	CHECK_INT(start(), 0);
	rtpsize_set_counter(pair.wire, 100000);
	for (uint32_t i = 0; i < KEPT; i++)
		leave_packets(5000 + i, 300);
	rtpsize_set_counter(pair.wire, 1);
	check_newcomer();
	pair_finish();
}

/* More SSRCs leave than can be kept: newcomers are heard, and recordings of the first are refused.
 */
TEST(call_stream_hears_a_newcomer_after_thousands_who_left)
{
	CHECK_INT(start(), 0);
	for (uint32_t i = 0; i < KEPT; i++) {
		pair_map(5000 + i);
		speak(5000 + i, 300, 7);
	}
	for (uint32_t i = 0; i < CALL_STREAM_LEFT_MAX; i++)
		leave_packets(10000 + i, 300);
	pair_map(0);
	CHECK_INT(pair.rx.l->n_left, CALL_STREAM_LEFT_MAX);
	replay_kept();
	CHECK_INT(pair.rx.l->stats.replayed, KEPT);
	check_newcomer();
	pair_finish();
}

static void hold_unknown(void)
{
	struct cmd c = {.type = CMD_SET, .set = {.bitrate = 64000, .keep_unmapped = true}};

	pair_cmd(&pair.rx, &c);
}

/* Whoever floods what waits for a key loses packets of its own, not those of others. */
TEST(call_stream_a_flood_pushes_out_nobody_else)
{
	static const uint8_t large[1200] = {1}, small[80] = {1};
	unsigned waiting;

	CHECK_INT(pair_start(), 0);
	hold_unknown();
	for (uint16_t seq = 1; seq <= 10; seq++)
		pair_packet(&pair.rx, seq, small, sizeof small);
	waiting = pair.slot->n_pending;
	CHECK(waiting >= 10);
	for (uint16_t seq = 1; seq <= 200; seq++)
		pair_packet_of(&pair.rx, PAIR_SSRC + 77, seq, large, sizeof large);
	CHECK_INT(pair.slot->n_pending, waiting);
	CHECK(pair.rx.l->pending.n > 40);
	pair_run(CALL_STREAM_PENDING_MS + 100);
	CHECK_INT(pair.slot->n_pending, 0);
	pair_finish();
}

/* A speaker returns under another SSRC with other sequence numbers: packets that arrive before it
 * is mapped are not lost, and the old SSRC becomes unmapped. */
TEST(call_stream_follows_another_ssrc)
{
	unsigned before;

	CHECK_INT(start(), 0);
	hold_unknown();
	for (uint16_t k = 0; k < 20; k++)
		speak(PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	before = pair.rx.heard;
	CHECK_INT(before, 20);
	for (uint16_t k = 0; k < 20; k++)
		speak(77, (uint16_t)(40000 + k), 999 + k * RTP_FRAME);
	CHECK_INT(pair.rx.heard, before);
	/* Told at once, and that it goes on: not at each. */
	CHECK(pair.rx.unmapped == 2 && pair.rx.persistent == 1);
	pair_map(77);
	pair_run(100);
	CHECK_INT(pair.rx.heard, before + 20);
	for (uint16_t k = 20; k < 40; k++)
		speak(PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	CHECK_INT(pair.rx.heard, before + 20);
	CHECK(pair.rx.l->pending.n >= 20);
	pair_run(2000);
	CHECK_INT(pair.rx.l->pending.n, 0); /* and forgotten */
	pair_finish();
}

/* An SSRC sends before it is mapped, and maybe others push its entry out. Recordings are refused
 * before and after the mapping, and each packet is heard once. */
static void map_late(uint32_t ssrc, uint16_t seq, bool evicted)
{
	unsigned heard = pair.rx.heard;
	uint64_t replayed = pair.rx.l->stats.replayed;

	n_kept = 0;
	for (uint16_t k = 0; k < 20; k++)
		speak(ssrc, (uint16_t)(seq + k), seq + k * RTP_FRAME);
	for (uint32_t other = 500; evicted && other < 510; other++)
		pair_packet_of(&pair.rx, other, 1, frame, frame_n);
	replay_kept();
	CHECK_INT(pair.rx.l->stats.replayed, replayed + 20);
	pair_map(ssrc);
	pair_run(100);
	CHECK_INT(pair.rx.heard, heard + 20);
	replay_kept();
	pair_run(100);
	CHECK_INT(pair.rx.l->stats.replayed, replayed + 40);
	CHECK_INT(pair.rx.heard, heard + 20);
}

TEST(call_stream_refuses_recordings_from_before_a_mapping)
{
	CHECK_INT(start(), 0);
	hold_unknown();
	map_late(77, 300, true);
	map_late(79, 40000, false);
	pair_finish();
}

/* Bursts of fifty packets of nothing but padding, as come where somebody pauses: no sound, no loss,
 * nothing made up. */
TEST(call_stream_takes_bursts_of_padding)
{
	uint8_t padding[200] = {0};
	struct audio_stats st;
	uint16_t seq = 105; /* behind the silence of joining */
	uint32_t ts = 0;

	CHECK_INT(start(), 0);
	padding[sizeof padding - 1] = sizeof padding;
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned k = 0; k < 10; k++, seq++, ts += RTP_FRAME)
			speak(PAIR_SSRC, seq, ts);
		for (unsigned k = 0; k < 50; k++, seq++)
			raw(0xa0, PAIR_SSRC, seq, ts, NULL, 0, padding, sizeof padding);
		pair_run(400);
		ts += 20 * RTP_FRAME;
	}
	CHECK_INT(pair.rx.heard, 40);
	CHECK(!(pair.rx.flags & MEDIA_HEARD_CONCEALED));
	audio_speaker_stats(pair.slot->speaker, &st);
	CHECK(st.lost == 0 && st.undecodable == 0 && st.concealed_ms == 0);
	CHECK_INT(pair.rx.l->stats.malformed, 0);
	pair_finish();
}

/* CSRCs, an extension, padding, and all of it: the sound is the same. */
TEST(call_stream_hears_through_csrcs)
{
	static const uint8_t csrcs[8] = {0, 0, 0, 1, 0, 0, 0, 2};
	static const uint8_t both[12] = {0, 0, 0, 1, 0, 0, 0, 2, 0xbe, 0xde, 0, 1};
	uint8_t body[4 + ENCODER_OPUS_MAX + 7] = {0x10, 0x9e, 0x90, 0};
	uint64_t loud = 0;

	CHECK_INT(start(), 0);
	memcpy(body + 4, frame, frame_n);
	body[4 + frame_n + 6] = 7;
	for (uint16_t k = 0; k < 40; k++) {
		uint64_t was = pair.rx.loud;

		if (k % 2)
			raw(0x82, PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME, csrcs,
			    sizeof csrcs, frame, frame_n);
		else
			raw(0xb2, PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME, both, sizeof both,
			    body, 4 + frame_n + 7);
		pair_run(20);
		CHECK_INT(pair.rx.heard, k + 1);
		if (k > 4)
			loud += pair.rx.loud - was;
	}
	CHECK(loud / 35 > 480 * 2000);
	CHECK_INT(pair.rx.l->stats.malformed, 0);
	pair_finish();
}

/* A HEARD that finds no room is reported with the next frame of its own listen. */
TEST(call_stream_gaps_name_their_listen)
{
	struct cmd c = {.type = CMD_LISTEN};

	CHECK_INT(start(), 0);
	c.slot.slot = pair.slot;
	c.slot.listen = 5;
	c.slot.rate = 16000;
	c.slot.silence_ms = 500;
	CHECK_INT(audio_decoder_alloc(&c.slot.decoder, 16000), 0);
	pair_cmd(&pair.rx, &c);
	for (uint16_t k = 0; k < 5; k++)
		speak(PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	pair.rx.full_for = 5;
	for (uint16_t k = 5; k < 8; k++)
		speak(PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	CHECK(pair.rx.dropped[4] == 0 && pair.rx.dropped[5] == 0);
	pair.rx.full_for = 0;
	speak(PAIR_SSRC, 308, 8 * RTP_FRAME);
	CHECK(pair.rx.dropped[4] == 0 && pair.rx.dropped[5] == 3);
	speak(PAIR_SSRC, 309, 9 * RTP_FRAME);
	CHECK(pair.rx.dropped[4] == 0 && pair.rx.dropped[5] == 3);
	pair_finish();
}

/* A pause of two seconds in what is said: no packets for most of it, their numbers do not skip,
 * time goes on; the far side hears the whole and makes nothing up. */
static struct {
	unsigned n, pauses;
	uint16_t seq;
	uint32_t ts;
	bool skips;
} sent;

static bool on_rtp(uint8_t *payload, size_t *n, const struct rtp_header *h)
{
	(void)payload, (void)n;
	if (sent.n++) {
		sent.skips = sent.skips || h->seq != (uint16_t)(sent.seq + 1) ||
			     (h->ts - sent.ts) % RTP_FRAME != 0;
		sent.pauses += h->ts - sent.ts > RTP_FRAME;
	}
	sent.seq = h->seq;
	sent.ts = h->ts;
	return true;
}

static void say_more(unsigned ms, double amplitude)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd c = {.type = CMD_LANE_PCM};

	c.lane.playback = PAIR_LANE;
	c.lane.n = ENTRY_PCM;
	c.lane.pcm = frame_pcm;
	for (unsigned at = 0; at < ms / 20; at++) {
		for (unsigned i = 0; i < ENTRY_PCM; i++)
			frame_pcm[i] = (int16_t)lrint(amplitude * sin(2 * M_PI * 300 * i / 48000));
		pair_cmd(&pair.tx, &c);
		pair_run(20);
	}
}

TEST(call_stream_dtx_in_pauses)
{
	struct sender_stats st;

	CHECK_INT(start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	memset(&sent, 0, sizeof sent);
	pair.relay = on_rtp;
	pair_say(500, false);
	say_more(2000, 0);
	say_more(500, 8000);
	pair_end_lane();
	pair_run(2000);
	sender_stats(pair.tx.l->sender, &st);
	CHECK(st.dtx >= 60);
	CHECK_INT(sent.n + st.dtx, 150 + 1 + 5);
	CHECK(!sent.skips && sent.pauses >= 1);
	CHECK_INT(pair.tx.drained, 1);
	CHECK_INT(pair.tx.lane_samples, 3 * LANE_RATE); /* all of it was said */
	CHECK(!(pair.rx.flags & MEDIA_HEARD_CONCEALED));
	pair_finish();
}

/* Somebody on the path reflects our own packets. They are authentic, because both directions share
 * one key, but mediad asks for no owner of their SSRC, and they take no place of other speakers'
 * packets. */
TEST(call_stream_ignores_its_own_packets)
{
	CHECK_INT(start(), 0);
	hold_unknown();
	for (uint16_t k = 0; k < 200; k++)
		speak(PAIR_OTHER_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	CHECK(pair.rx.unmapped == 0 && pair.rx.persistent == 0);
	pair_finish();
}

/* A persistent unmapped SSRC is reported once a second; a straggler is not. */
TEST(call_stream_reports_an_unmapped_ssrc)
{
	CHECK_INT(start(), 0);
	hold_unknown();
	for (uint16_t k = 0; k < 4; k++)
		speak(77, (uint16_t)(300 + k), k * RTP_FRAME);
	CHECK(pair.rx.unmapped == 1 && pair.rx.persistent == 0);
	pair_run(CALL_STREAM_UNMAPPED_MS);
	speak(77, 304, 4 * RTP_FRAME);
	pair_run(CALL_STREAM_UNMAPPED_MS);
	speak(77, 305, 5 * RTP_FRAME);
	CHECK(pair.rx.unmapped == 3 && pair.rx.persistent == 0);
	for (uint16_t k = 6; k < 6 + 2 * CALL_STREAM_UNMAPPED_REPEAT_MS / 20; k++)
		speak(77, (uint16_t)(300 + k), k * RTP_FRAME);
	CHECK(pair.rx.unmapped == 5 && pair.rx.persistent == 2);
	pair_finish();
}

/* A question whose speaker is named two seconds later is heard from its first word. */
TEST(call_stream_keeps_unmapped_packets_for_two_seconds)
{
	CHECK_INT(start(), 0);
	hold_unknown();
	for (uint16_t k = 0; k < CALL_STREAM_PENDING_MS / 20; k++)
		speak(77, (uint16_t)(300 + k), k * RTP_FRAME);
	pair_map(77);
	pair_run(400);
	CHECK(pair.rx.heard >= CALL_STREAM_PENDING_MS / 20 - 1);
	pair_finish();
}

/* Pending packets are delivered in batches, with the times of their arrival. Their age is no
 * silence of a speaker who goes on. */
TEST(call_stream_pending_packets_end_no_utterance)
{
	for (unsigned late = 400; late <= 1900; late += 300) {
		uint16_t k = 0;

		CHECK_INT(start(), 0);
		hold_unknown();
		for (; k < late / 20; k++)
			speak(77, (uint16_t)(300 + k), k * RTP_FRAME);
		pair_map(77);
		for (; k < late / 20 + 50; k++)
			speak(77, (uint16_t)(300 + k), k * RTP_FRAME);
		CHECK_INT(pair.rx.ends, 0);
		CHECK_INT(pair.rx.speaking_off, 0);
		CHECK_INT(pair.rx.speaking_on, 1);
		pair_run(2000);
		CHECK_INT(pair.rx.ends, 1);
		CHECK_INT(pair.rx.speaking_off, 1);
		pair_finish();
	}
}

/* Control is asked about every unmapped SSRC, however many there are. */
TEST(call_stream_asks_for_a_crowd_of_unmapped_ssrcs)
{
	enum { CROWD = 40 };

	CHECK_INT(start(), 0);
	hold_unknown();
	for (uint16_t k = 0; k < 150; k++) {
		for (uint32_t i = 0; i < CROWD; i++)
			raw(0x80, 700 + i, (uint16_t)(300 + k), k * RTP_FRAME, NULL, 0, frame,
			    frame_n);
		pair_run(20);
	}
	CHECK(pair.rx.persistent >= CROWD);
	CHECK(pair.rx.unmapped <= CROWD * 5);
	pair_finish();
}

/* The voice server may have held a packet: a single one is no restart of the sender, however old.
 */
TEST(call_stream_a_packet_held_for_seconds_is_late)
{
	uint16_t k = 0;

	CHECK_INT(start(), 0);
	for (; k < 550; k++)
		if (k != 60)
			speak(PAIR_SSRC, (uint16_t)(300 + k), k * RTP_FRAME);
	pair_run(200);
	pair.rx.heard = 0;
	speak(PAIR_SSRC, 360, 60 * RTP_FRAME);
	CHECK_INT(pair.rx.heard, 0);
	pair_ask_stats();
	CHECK_INT(pair.rx.stats.audio.late, 1);
	CHECK_INT(pair.rx.stats.audio.resyncs, 0);
	pair_finish();
}
