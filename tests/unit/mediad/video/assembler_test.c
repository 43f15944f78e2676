#include "tests/test.h"

#include "mediad/video/assembler.h"
#include "proto/base/time.h"
#include "tests/random.h"

enum { PER_FRAME = 4, FRAMES = 60, PACKETS = PER_FRAME * FRAMES };

/* VP8: packet `at` of frame f holds the four bytes f, at, f, at behind its descriptor; in the first
 * one they begin with what tells a key frame. */
static struct video_packet packet_of(uint8_t buf[6], unsigned f, unsigned at, bool key,
				     uint16_t base)
{
	memset(buf, 0, 6);
	buf[0] = at ? 0x00 : 0x10;
	buf[1] = at ? (uint8_t)f : !key;
	buf[2] = (uint8_t)at;
	buf[3] = (uint8_t)f;
	buf[4] = (uint8_t)at;
	return (struct video_packet){.seq = (uint16_t)(base + f * PER_FRAME + at),
				     .ts = 3000 * f,
				     .marker = at == PER_FRAME - 1,
				     .payload = {buf, 5}};
}

static bool put(struct video_assembler *a, unsigned f, unsigned at, bool key, uint64_t ms)
{
	uint8_t buf[6];
	struct video_packet p = packet_of(buf, f, at, key, 65500);

	return video_assembler_put(a, &p, ms * NS_PER_MS);
}

static void put_frame(struct video_assembler *a, unsigned f, bool key, uint64_t ms)
{
	for (unsigned i = 0; i < PER_FRAME; i++)
		put(a, f, i, key, ms);
}

/* The frame that comes next, -1: none. */
static int next(struct video_assembler *a, uint64_t ms)
{
	struct video_frame f;

	if (!video_assembler_next(a, ms * NS_PER_MS, &f))
		return -1;
	return f.bytes.n == 4 * PER_FRAME ? f.bytes.p[2] : -2;
}

TEST_OOM(video_assembler_begins)
{
	struct video_assembler *a;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_NONE), EINVAL);
	CHECK_OOM(video_assembler_alloc(&a, VIDEO_VP8), );
	CHECK_INT(next(a, 0), -1);
	CHECK(!video_assembler_wants_key(a, 0));
	video_assembler_free(a);
	video_assembler_free(NULL);
}

/* Any order within a few frames gives the frames in order; each once. */
TEST(video_assembler_orders)
{
	struct video_assembler *a;
	uint64_t seed = 3;
	unsigned order[PACKETS], got = 0;
	int f;

	for (unsigned i = 0; i < PACKETS; i++)
		order[i] = i;
	for (unsigned i = 0; i < PACKETS; i++) {
		unsigned j = random_between(&seed, i, i + 12 < PACKETS ? i + 12 : PACKETS - 1), o;

		o = order[i];
		order[i] = order[j];
		order[j] = o;
	}
	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	for (unsigned i = 0; i < PACKETS; i++) {
		CHECK(put(a, order[i] / PER_FRAME, order[i] % PER_FRAME, order[i] < PER_FRAME, i));
		CHECK(!put(a, order[i] / PER_FRAME, order[i] % PER_FRAME, order[i] < PER_FRAME, i));
		while ((f = next(a, i)) != -1)
			CHECK_INT(f, got++);
	}
	CHECK_INT(got, FRAMES);
	CHECK_INT(video_assembler_stats(a)->frames, FRAMES);
	CHECK_INT(video_assembler_stats(a)->keys, 1);
	CHECK_INT(video_assembler_stats(a)->lost, 0);
	video_assembler_free(a);
}

TEST(video_assembler_asks_and_gives_up)
{
	struct video_assembler *a;
	uint16_t seqs[VIDEO_NACK_MAX];
	unsigned asked = 0;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	put_frame(a, 0, true, 0);
	CHECK_INT(next(a, 0), 0);
	put(a, 1, 0, false, 10);
	put(a, 1, 3, false, 10);
	put_frame(a, 2, false, 20);
	CHECK_INT(next(a, 20), -1);
	CHECK_INT(video_assembler_missing(a, (10 + VIDEO_REORDER_MS) * NS_PER_MS - 1, seqs), 0);
	CHECK_INT(video_assembler_missing(a, (10 + VIDEO_REORDER_MS) * NS_PER_MS, seqs), 2);
	CHECK_INT(seqs[0], (uint16_t)(65500 + PER_FRAME + 1));
	CHECK_INT(seqs[1], (uint16_t)(65500 + PER_FRAME + 2));
	CHECK_INT(video_assembler_missing(a, 69 * NS_PER_MS, seqs), 0);
	for (uint64_t ms = 70; ms < 400; ms++)
		asked += video_assembler_missing(a, ms * NS_PER_MS, seqs);
	CHECK_INT(asked, 2 * (VIDEO_NACKS - 1));
	/* What comes in time is taken. */
	put(a, 1, 1, false, 405);
	put(a, 1, 2, false, 409);
	CHECK_INT(next(a, 409), 1);
	CHECK_INT(next(a, 409), 2);
	CHECK(!video_assembler_wants_key(a, 409));

	/* What does not come makes later frames useless until a key frame. */
	put(a, 3, 0, false, 500);
	put(a, 3, 3, false, 500);
	put_frame(a, 4, false, 510);
	CHECK_INT(next(a, 500 + VIDEO_WAIT_MS - 1), -1);
	CHECK(!video_assembler_wants_key(a, 899 * NS_PER_MS));
	CHECK_INT(next(a, 500 + VIDEO_WAIT_MS), -1);
	CHECK_INT(video_assembler_stats(a)->lost, 2);
	CHECK_INT(video_assembler_stats(a)->incomplete, 1);
	CHECK_INT(video_assembler_stats(a)->undecodable, 1);
	CHECK(video_assembler_wants_key(a, 900 * NS_PER_MS));
	CHECK(!video_assembler_wants_key(a, 901 * NS_PER_MS));
	CHECK(video_assembler_wants_key(a, (900 + VIDEO_KEY_REQUEST_MS) * NS_PER_MS));
	CHECK(!put(a, 3, 1, false, 902));
	put_frame(a, 5, false, 910);
	CHECK_INT(next(a, 910), -1);
	put_frame(a, 6, true, 920);
	put_frame(a, 7, false, 930);
	CHECK_INT(next(a, 930), 6);
	CHECK_INT(next(a, 930), 7);
	CHECK(!video_assembler_wants_key(a, 9000 * NS_PER_MS));
	/* A frame that cannot be decrypted has the same effect. */
	video_assembler_refuse(a);
	put_frame(a, 8, false, 940);
	CHECK_INT(next(a, 940), -1);
	CHECK(video_assembler_wants_key(a, 9000 * NS_PER_MS));
	video_assembler_free(a);
}

/* The very first packets may be overtaken too; what comes before them by far is late. */
TEST(video_assembler_begins_with_overtaken_packets)
{
	struct video_assembler *a;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	CHECK(put(a, 30, 2, true, 0));
	CHECK(put(a, 30, 0, true, 1));
	CHECK_INT(next(a, 1), -1);
	CHECK(put(a, 30, 3, true, 2));
	CHECK(!put(a, 30 - VIDEO_BACK / PER_FRAME - 1, 0, true, 2));
	CHECK(put(a, 30, 1, true, 3));
	CHECK_INT(next(a, 3), 30);
	/* Once a frame was taken the beginning stays. */
	CHECK(!put(a, 29, 3, true, 4));
	CHECK_INT(video_assembler_stats(a)->late, 2);
	CHECK_INT(video_assembler_stats(a)->lost, 0);
	video_assembler_free(a);
}

/* A frame of which the beginning was never seen is none. */
TEST(video_assembler_begins_in_the_middle)
{
	struct video_assembler *a;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	put(a, 0, 2, false, 0);
	put(a, 0, 3, false, 0);
	put_frame(a, 1, false, 0);
	put_frame(a, 2, true, 0);
	CHECK_INT(next(a, VIDEO_REORDER_MS - 1), -1);
	CHECK_INT(next(a, VIDEO_REORDER_MS), 2);
	CHECK_INT(video_assembler_stats(a)->incomplete, 1);
	CHECK_INT(video_assembler_stats(a)->undecodable, 1);
	video_assembler_free(a);
}

/* Padding between frames is none of them; without a marker a frame ends before the next time. */
TEST(video_assembler_takes_padding)
{
	struct video_packet p = {.seq = 10, .ts = 7, .payload = {(const uint8_t *)"\x10\x00k", 3}};
	struct video_assembler *a;
	struct video_frame f;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	CHECK(video_assembler_put(a, &p, 0));
	p = (struct video_packet){.seq = 11, .ts = 7};
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(!video_assembler_next(a, 0, &f));
	p = (struct video_packet){.seq = 12, .ts = 8};
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(video_assembler_next(a, 0, &f));
	CHECK_MEM(f.bytes.p, f.bytes.n, "\x00k", 2);
	CHECK(f.key && f.ts == 7);
	p = (struct video_packet){
		.seq = 13, .ts = 8, .marker = true, .payload = {(const uint8_t *)"\x10\x01x", 3}};
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(video_assembler_next(a, 0, &f));
	CHECK_MEM(f.bytes.p, f.bytes.n, "\x01x", 2);
	p.payload.n = VIDEO_PACKET_MAX + 1;
	p.seq++;
	CHECK(!video_assembler_put(a, &p, 0));
	video_assembler_free(a);
}

/* A frame longer than the table is lost; the next one is not. */
TEST(video_assembler_is_bounded)
{
	struct video_assembler *a;
	uint8_t byte[2] = {0x10, 0};
	struct video_packet p = {.ts = 1, .payload = {byte, 2}};
	struct video_frame f;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	for (unsigned i = 0; i < 3 * VIDEO_PACKETS; i++) {
		CHECK(video_assembler_put(a, &p, 0));
		CHECK(!video_assembler_next(a, 0, &f));
		p.seq++;
		byte[0] = 0;
	}
	p.marker = true;
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(!video_assembler_next(a, 0, &f));
	p.seq++;
	p.ts++;
	byte[0] = 0x10;
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(video_assembler_next(a, 0, &f));
	CHECK_INT(f.bytes.n, 1);
	/* A jump over more than the table is one loss. */
	p.seq += 2 * VIDEO_PACKETS;
	p.ts++;
	CHECK(video_assembler_put(a, &p, 0));
	CHECK(!video_assembler_next(a, 0, &f));
	CHECK(video_assembler_next(a, VIDEO_WAIT_MS * NS_PER_MS, &f));
	CHECK_INT(f.ts, 3);
	video_assembler_free(a);
}

/* A sender that starts again elsewhere is followed. */
TEST(video_assembler_follows_restarts)
{
	struct video_assembler *a;
	uint8_t buf[6];
	struct video_packet p;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	put_frame(a, 0, true, 0);
	CHECK_INT(next(a, 0), 0);
	for (unsigned i = 0; i < PER_FRAME; i++) {
		p = packet_of(buf, 1, i, true, 20000);
		CHECK(video_assembler_put(a, &p, 0));
	}
	CHECK_INT(next(a, 0), 1);
	/* Behind: only a run of such packets is a restart. */
	for (unsigned i = 0; i < VIDEO_LATE_RUN - 1; i++) {
		p = packet_of(buf, i / PER_FRAME, i % PER_FRAME, false, 19000);
		CHECK(!video_assembler_put(a, &p, 0));
	}
	for (unsigned i = VIDEO_LATE_RUN - 1; i < VIDEO_LATE_RUN + PER_FRAME; i++) {
		p = packet_of(buf, i / PER_FRAME, i % PER_FRAME, true, 19000);
		CHECK(video_assembler_put(a, &p, 0));
	}
	CHECK_INT(next(a, VIDEO_REORDER_MS), VIDEO_LATE_RUN / PER_FRAME);
	CHECK_INT(video_assembler_stats(a)->restarts, 2);
	video_assembler_free(a);
}

/* With loss, and the lost packets sent again when they are asked for, every frame comes. */
TEST(video_assembler_recovers_by_requests)
{
	struct video_assembler *a;
	uint16_t seqs[VIDEO_NACK_MAX];
	uint64_t seed = 5;
	unsigned got = 0, again = 0;
	int f;

	CHECK_INT(video_assembler_alloc(&a, VIDEO_VP8), 0);
	for (unsigned i = 0; i < PACKETS + 40; i++) {
		unsigned n = video_assembler_missing(a, i * 8 * NS_PER_MS, seqs);

		for (unsigned k = 0; k < n; k++) {
			unsigned at = (uint16_t)(seqs[k] - 65500);

			again++;
			if (!random_happens(&seed, 0.1))
				put(a, at / PER_FRAME, at % PER_FRAME, false, i * 8);
		}
		if (i < PACKETS &&
		    (i < PER_FRAME || i >= PACKETS - 2 || !random_happens(&seed, 0.1)))
			put(a, i / PER_FRAME, i % PER_FRAME, i < PER_FRAME, i * 8);
		while ((f = next(a, i * 8)) != -1)
			CHECK_INT(f, got++);
	}
	CHECK_INT(got, FRAMES);
	CHECK(again > 10);
	CHECK_INT(video_assembler_stats(a)->lost, 0);
	video_assembler_free(a);
}
