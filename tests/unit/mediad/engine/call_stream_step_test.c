/* What one step of a call stream may cost: frames of other calls leave between two of them. In
 * simulated time. */
#include "mediad/audio/encoder.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/mediad/audio/long_packet.h"
#include "tests/unit/mediad/engine/pair.h"

enum {
	MEMBERS = 16,
	PACKETS = 16, /* that wait behind a gap */
	LISTEN = 5,   /* of the first member; 4 is the fixture's */
	PER_MS = PAIR_RATE / 1000,
	/* A step may exceed its limit by a packet, and by what is made up for the one before. */
	STEP_MAX_MS = CALL_STREAM_STEP_MS + 2 * LONG_PACKET_MS,
};

static uint8_t frame[ENCODER_OPUS_MAX], packet[AUDIO_OPUS_MAX];
static size_t frame_n, packet_n;
static struct slot *members[MEMBERS];

static void add_member(unsigned i)
{
	struct cmd c = {.type = CMD_SLOT_ADD};

	if (slot_alloc(&members[i], pair.rx.l, 500 + i, true, 1))
		abort();
	c.slot.slot = members[i];
	pair_cmd(&pair.rx, &c);
	c = (struct cmd){.type = CMD_LISTEN,
			 .slot = {.slot = members[i],
				  .listen = LISTEN + i,
				  .rate = PAIR_RATE,
				  .silence_ms = 500}};
	if (audio_decoder_alloc(&c.slot.decoder, PAIR_RATE))
		abort();
	pair_cmd(&pair.rx, &c);
	c = (struct cmd){.type = CMD_SLOT_MAP, .slot = {.slot = members[i], .ssrc = 2000 + i}};
	pair_cmd(&pair.rx, &c);
}

static int start(void)
{
	int err = pair_start();

	packet_n = long_packet_make(frame, &frame_n, packet, sizeof packet);
	pair_clear(&pair.rx, true, UINT64_MAX);
	for (unsigned i = 0; i < MEMBERS; i++)
		add_member(i);
	return err;
}

static void send_long(uint32_t ssrc, uint16_t seq)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS,
			       .seq = seq,
			       .ts = seq * LONG_PACKET_FRAMES * RTP_FRAME,
			       .ssrc = ssrc};
	uint8_t out[UDP_MAX_PACKET];
	size_t n;

	if (rtpsize_seal(pair.wire, &h, packet, packet_n, out, sizeof out, &n))
		abort();
	pair_datagram(&pair.rx, out, n);
}

/* Number 1, then all from number 3 on. */
static void send_behind_gap(uint32_t ssrc)
{
	send_long(ssrc, 1);
	for (uint16_t i = 0; i < PACKETS; i++)
		send_long(ssrc, (uint16_t)(3 + i));
}

static uint64_t excess(const struct slot *s)
{
	struct audio_stats st;

	audio_speaker_stats(s->speaker, &st);
	return st.excess;
}

/* Sixteen members send two seconds each in the same moment, behind a packet that never comes. When
 * it is given up all of it is due at once: 33 s of sound. */
TEST(call_stream_serves_many_speakers_in_several_steps)
{
	uint64_t before, longest = 0;
	unsigned steps = 0;
	bool more = true;

	CHECK_INT(start(), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		send_behind_gap(2000 + i);
	CHECK_INT(pair.rx.samples, MEMBERS * LONG_PACKET_MS * PER_MS);
	pair.now += 200 * NS_PER_MS;
	for (; more && steps < 1000; steps++) {
		before = pair.rx.samples;
		more = pair_work(&pair.rx);
		longest = pair.rx.samples - before > longest ? pair.rx.samples - before : longest;
	}
	CHECK(longest <= STEP_MAX_MS * PER_MS);
	CHECK(steps <= MEMBERS * (PACKETS + 2) * LONG_PACKET_MS / CALL_STREAM_STEP_MS + 1);
	/* Nothing is lost, the packet that is missing is made up for, and order is kept. */
	CHECK_INT(pair.rx.samples, MEMBERS * (PACKETS + 2) * LONG_PACKET_MS * PER_MS);
	CHECK_INT(pair.rx.disorder, 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		CHECK_INT(excess(members[i]), 0);
	pair_finish();
}

/* The loop thread reads no events meanwhile: the rest waits for room, and comes then. */
TEST(call_stream_goes_on_with_the_speakers_when_there_is_room)
{
	CHECK_INT(start(), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		send_behind_gap(2000 + i);
	pair.now += 200 * NS_PER_MS;
	CHECK(pair_work(&pair.rx));
	pair.rx.stuck = true;
	CHECK(!pair_work(&pair.rx));
	pair.rx.stuck = false;
	/* Without being called again at once: at each tick. */
	pair_run(20 * (MEMBERS * (PACKETS + 2) * LONG_PACKET_MS / CALL_STREAM_STEP_MS + 2));
	CHECK_INT(pair.rx.samples, MEMBERS * (PACKETS + 2) * LONG_PACKET_MS * PER_MS);
	pair_finish();
}

/* The session ends in the middle; nothing of it is left in the next. */
TEST(call_stream_forgets_the_speakers_of_a_session_that_ended)
{
	uint64_t before;

	CHECK_INT(start(), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		send_behind_gap(2000 + i);
	pair.now += 200 * NS_PER_MS;
	CHECK(pair_work(&pair.rx));
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	before = pair.rx.samples;
	CHECK(!pair_work(&pair.rx));
	pair_link(&pair.rx);
	pair_run(200);
	CHECK(pair.rx.samples == before && !pair.rx.l->has_more_to_decode);
	pair_finish();
}

/* The missing packet comes late: all that waited for it is due with this one datagram. */
TEST(call_stream_decodes_after_a_datagram_no_more_than_in_a_step)
{
	uint64_t before;

	CHECK_INT(start(), 0);
	send_behind_gap(2000);
	before = pair.rx.samples;
	send_long(2000, 2);
	CHECK(pair.rx.samples > before);
	CHECK(pair.rx.samples - before <= STEP_MAX_MS * PER_MS);
	pair_run(200);
	CHECK_INT(pair.rx.samples, (PACKETS + 2) * LONG_PACKET_MS * PER_MS);
	CHECK_INT(pair.rx.disorder, 0);
	pair_finish();
}

/* A jump of the numbers ends the wait too, and what the step cannot decode is counted. */
TEST(call_stream_decodes_at_a_restart_no_more_than_in_a_step)
{
	uint64_t before;

	CHECK_INT(start(), 0);
	send_behind_gap(2000);
	before = pair.rx.samples;
	send_long(2000, 5000);
	CHECK(pair.rx.samples > before);
	CHECK(pair.rx.samples - before <= STEP_MAX_MS * PER_MS);
	CHECK_INT(excess(members[0]), PACKETS - CALL_STREAM_STEP_MS / LONG_PACKET_MS + 1);
	pair_run(200);
	CHECK(pair.rx.samples - before >= (CALL_STREAM_STEP_MS + LONG_PACKET_MS) * PER_MS);
	pair_finish();
}

static unsigned count_tried(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pair.rx.l->pending.n; i++)
		n += pending_queue_at(&pair.rx.l->pending, i)->tried;
	return n;
}

/* Frames that no key opens fill the queue. A key that arrives is tried with a few of them at a
 * time, with each once, and the frame behind them that it opens is heard. */
TEST(call_stream_tries_a_key_with_few_packets_in_a_step)
{
	/* One byte of sound, tag, nonce, length, marker. */
	static const uint8_t hopeless[] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 5, 12, 0xfa, 0xfa};

	CHECK_INT(pair_start(), 0);
	for (uint16_t seq = 1; seq <= 400; seq++)
		pair_packet(&pair.rx, seq, hopeless, sizeof hopeless);
	pair_send_key(1);
	pair_say(20, true);
	pair_run(60);
	CHECK(pair.slot->n_pending > 400);
	CHECK_INT(count_tried(), 0);
	pair_open_key(1);
	CHECK(count_tried() > 0 && count_tried() <= CALL_STREAM_RETRIES);
	CHECK_INT(pair.rx.heard, 0);
	pair_run(200);
	CHECK(count_tried() >= 400);
	CHECK(pair.rx.heard > 0);
	CHECK(!pair.slot->draining);
	pair_finish();
}
