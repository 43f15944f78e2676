/* What is sent again to viewers who ask without end, and what is new meanwhile. Time is made up. */
#include "tests/unit/mediad/engine/loop_pair.h"

#include <string.h>

#include "ipc/tmr.h"
#include "proto/base/time.h"

/* ---- viewers who ask for packets without end; time is made up here ---- */

enum { SLOW_BITRATE = 2500000, SLOW_FRAME = 10417, SLOW_FRAMES = 60, SLOW_FRAME_MS = 33 };

static void miss(struct loop_pair *p, uint32_t viewer, uint16_t first, unsigned n)
{
	uint8_t bytes[512];
	uint16_t seqs[64];
	struct rtcp_packet nack;
	struct wr w = wr_of(bytes, sizeof bytes);
	struct rd r;

	for (unsigned i = 0; i < n; i++)
		seqs[i] = (uint16_t)(first + i);
	rtcp_write_nack(&w, viewer, VIDEO_SSRC, seqs, n);
	r = rd_of(bytes, w.pos);
	CHECK(rtcp_next(&r, &nack));
	video_sender_feedback(loop_pair_sender(p), &nack);
}

/* Two seconds of a stream, in which a viewer misses 64 packets 50 times a second. never: such as
 * were not sent yet. */
static void stream_to_a_greedy_viewer(struct loop_pair *p, bool never, struct sent *s)
{
	static uint8_t frame[SLOW_FRAME];
	uint64_t now = env_now(p->env);

	*s = (struct sent){0};
	for (unsigned i = 0; i < SLOW_FRAMES; i++) {
		frame[0] = i ? 0x11 : 0x10;
		video_sender_put(loop_pair_sender(p), (struct slice){frame, sizeof frame}, i * 3000,
				 !i);
		now = loop_pair_pass_ms(p, now, SLOW_FRAME_MS / 2, s);
		miss(p, VIEWER_SSRC, (uint16_t)(s->newest + (never ? 5000 : -70 - 64 * (i % 2))),
		     64);
		now = loop_pair_pass_ms(p, now, SLOW_FRAME_MS - SLOW_FRAME_MS / 2, s);
		miss(p, VIEWER_SSRC, (uint16_t)(s->newest + (never ? 6000 : -200)), 64);
	}
}

/* A scene of 11 Mbit/s in a film of 2: no frame is dropped, and none is long behind its sound. */
TEST(loop_stream_keeps_up_with_a_lively_scene)
{
	enum { AVERAGE = 2000000, BUSY = 55000, SCENE = 75, PERIOD_MS = 40 };
	static uint8_t frame[BUSY];
	static struct loop_pair p;
	struct sent s = {0};
	unsigned late = 0;
	uint64_t now;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	video_sender_set_bitrate(loop_pair_sender(&p), AVERAGE);
	now = env_now(p.env);
	for (unsigned i = 0; i < SCENE; i++) {
		unsigned behind;

		frame[0] = i ? 0x11 : 0x10;
		CHECK(video_sender_put(loop_pair_sender(&p), (struct slice){frame, BUSY}, i * 3600,
				       !i));
		now = loop_pair_pass_ms(&p, now, PERIOD_MS, &s);
		behind = i + 1 - video_sender_state(loop_pair_sender(&p)).frames;
		late = behind > late ? behind : late;
	}
	CHECK(late <= VIDEO_QUEUE_MS / PERIOD_MS);
	loop_pair_pass_ms(&p, now, VIDEO_QUEUE_MS, &s);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).frames, SCENE);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).dropped, 0);
	loop_pair_end(&p);
}

TEST(loop_stream_numbers_never_sent_cost_nothing)
{
	static struct loop_pair p;
	struct sent s;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	video_sender_set_bitrate(loop_pair_sender(&p), SLOW_BITRATE);
	stream_to_a_greedy_viewer(&p, true, &s);
	CHECK(video_sender_state(loop_pair_sender(&p)).frames >= SLOW_FRAMES * 9 / 10);
	CHECK_INT(s.again, 0);
	/* They keep no place from what was sent. */
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest + 100), 64);
	miss(&p, VIEWER_SSRC, s.newest, 1);
	loop_pair_pass_ms(&p, env_now(p.env) + 60 * NS_PER_S, 20, &s);
	CHECK_INT(s.again, 1);
	loop_pair_end(&p);
}

TEST(loop_stream_repeats_leave_room_for_what_is_new)
{
	static struct loop_pair p;
	struct sent s;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	video_sender_set_bitrate(loop_pair_sender(&p), SLOW_BITRATE);
	stream_to_a_greedy_viewer(&p, false, &s);
	CHECK(video_sender_state(loop_pair_sender(&p)).frames >= SLOW_FRAMES * 9 / 10);
	CHECK(s.again > 100);
	loop_pair_end(&p);
}

TEST(loop_stream_one_viewer_leaves_repeats_to_others)
{
	static struct loop_pair p;
	struct sent s = {0};
	uint64_t now;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	CHECK(loop_pair_put(&p, true, 1));
	now = loop_pair_pass_ms(&p, env_now(p.env), 100, &s);
	CHECK(s.packets > 65);
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest - 63), 64);
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest - 63), 64); /* they wait already */
	miss(&p, VIEWER_SSRC + 1, (uint16_t)(s.newest - 64), 1);
	loop_pair_pass_ms(&p, now, 200, &s);
	CHECK_INT(s.again, 32 + 1);
	loop_pair_end(&p);
}
