/* The video of a stream as its call sees it: who sends, who is watched, what control publishes. */
#include <errno.h>

#include "ipc/tmr.h"
#include "mediad/call/gateway_internal.h"
#include "mediad/engine/loop_stream.h"
#include "tests/unit/mediad/call/secure_rig.h"

static void run(struct media_msg msg)
{
	call_run_command(rig.c, &msg);
}

static void watch(uint64_t user, uint8_t quality)
{
	run((struct media_msg){.type = MEDIA_VIDEO_WATCH,
			       .video_watch = {.user = user, .quality = quality}});
}

static void publish(enum media_video_codec codec)
{
	run((struct media_msg){.type = MEDIA_VIDEO_PUBLISH,
			       .video_publish = {.codec = (uint8_t)codec,
						 .width = 320,
						 .height = 240,
						 .fps = 30,
						 .bitrate = 1000000}});
}

/* bytes of a frame of size bytes, from offset on. */
static void put_part(uint32_t frame, uint32_t size, uint32_t offset, size_t bytes)
{
	static const uint8_t key[2 * MEDIA_VIDEO_PART] = {0x10};
	struct media_msg msg = {.type = MEDIA_VIDEO_DATA};

	msg.video_data.frame = frame;
	msg.video_data.key = true;
	msg.video_data.size = size;
	msg.video_data.offset = offset;
	msg.video_data.data = (struct slice){key, bytes};
	run(msg);
}

static void source_is(unsigned user, unsigned ssrc)
{
	char text[300];

	snprintf(text, sizeof text,
		 "{\"op\":12,\"d\":{\"user_id\":\"%u\",\"audio_ssrc\":0,\"video_ssrc\":%u,"
		 "\"streams\":[{\"ssrc\":%u,\"rtx_ssrc\":%u,\"active\":%s,\"quality\":100,"
		 "\"max_resolution\":{\"width\":640,\"height\":360}}]}}",
		 user, ssrc, ssrc ? ssrc : 1, ssrc + 1, ssrc ? "true" : "false");
	rig_text(text);
}

/* Whether packets of this SSRC are somebody's: nobody else can be watched by it then. */
static bool is_watched(uint32_t ssrc)
{
	struct video_receiver *r = loop_stream_receiver(rig.c->stream->loop);
	bool taken = video_receiver_watch(r, 4242, ssrc, 0, false) == EINVAL;

	video_receiver_unwatch(r, 4242);
	return taken;
}

static void frame_comes(uint64_t user, size_t n)
{
	static const uint8_t bytes[MEDIA_VIDEO_FRAME_MAX];
	const struct loop_stream_handlers h = call_video_handlers(rig.c->video);
	const struct received_frame f = {
		.user = user, .codec = VIDEO_H264, .bytes = {bytes, n}, .key = true};

	rig.parts = 0;
	rig.part_bytes = 0;
	h.frameh(&f, h.video_arg);
}

TEST(call_video_tells_who_sends)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_join("s1", 1);
	CHECK_INT(rig.sources, 0);
	source_is(ANNA, 70);
	CHECK_INT(rig.sources, 1);
	CHECK(rig.source.user == ANNA && rig.source.on && !rig.source.watched);
	CHECK_INT(rig.source.width, 640);
	CHECK_INT(rig.source.height, 360);
	/* Keys and consent are of a slot, which a sender without sound gets by its video. */
	CHECK(hear_find(rig.c, ANNA)->slot);
	CHECK(!is_watched(70));
	watch(ANNA, 50);
	CHECK_INT(rig.source.watched, 50);
	CHECK(is_watched(70) && is_watched(71));
	/* Another control hears of her. */
	rig.sources = 0;
	call_send_all(rig.c);
	CHECK_INT(rig.sources, 1);
	source_is(ANNA, 0);
	CHECK(!rig.source.on);
	CHECK(!is_watched(70));
	/* Who never sent does not end. */
	rig.sources = 0;
	source_is(BEN, 0);
	CHECK_INT(rig.sources, 0);
	source_is(ANNA, 72);
	CHECK(rig.source.on && rig.source.watched == 50 && is_watched(72));
	rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	CHECK(!rig.source.on);
	CHECK(!is_watched(72));
	watch(ANNA, 0);
	source_is(ANNA, 74);
	CHECK(rig.source.on && !rig.source.watched && !is_watched(74));
	rig_finish();
}

/* SSRCs are of one session; what control wants is not. */
TEST(call_video_watches_on_in_the_next_session)
{
	CHECK_INT(rig_start_stream(), 0);
	watch(ANNA, 100);
	rig_join("s1", 1);
	source_is(ANNA, 70);
	CHECK(is_watched(70));
	rig_join("s2", 1);
	CHECK(!rig.source.on);
	CHECK(!is_watched(70));
	source_is(ANNA, 80);
	CHECK(is_watched(80) && !is_watched(70));
	rig_finish();
}

TEST(call_video_watches_a_few)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_join("s1", 1);
	watch(0, 100);
	for (unsigned i = 0; i <= VIDEO_SOURCES; i++) {
		watch(50 + i, 200);
		source_is(50 + i, 700 + 10 * i);
		CHECK_INT(rig.source.watched, i < VIDEO_SOURCES ? 100 : 0);
	}
	CHECK(!is_watched(700 + 10 * VIDEO_SOURCES));
	watch(50, 0);
	watch(50 + VIDEO_SOURCES, 1);
	CHECK(is_watched(700 + 10 * VIDEO_SOURCES));
	/* A server that names many senders costs no more than these. */
	for (unsigned i = 0; i < 100; i++)
		source_is(1000 + i, 2000 + 2 * i);
	CHECK(rig.sources < 40);
	rig_finish();
}

/* Viewers name video of theirs before the streamer does: whom control watches has a place. */
TEST(call_video_keeps_places_for_whom_it_watches)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_join("s1", 1);
	watch(ANNA, 100);
	for (unsigned i = 0; i < 20; i++)
		source_is(500 + i, 600 + 2 * i);
	source_is(ANNA, 70);
	CHECK(rig.source.user == ANNA && rig.source.on && rig.source.watched == 100);
	CHECK(is_watched(70));
	rig_finish();
}

static unsigned texts; /* that the voice server was sent */

static void count_texts(const struct vgw_action *act, void *arg)
{
	texts += act->kind == VGW_SEND;
	call_perform_action(act, arg);
}

/* The call makes five timers behind the source of the worker, and this one is the last of them. */
static void wants_timer_fires(void)
{
	env_replay_step(rig.env, rig.now, rig.probe + 6, 0, NULL, 0);
}

/* Each op 12 that we answered would be an op of ours, and the server counts those. */
TEST(call_video_tells_wants_once_a_second)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_settled();
	rig.c->gw->conf.acth = count_texts;
	texts = 0;
	watch(ANNA, 100);
	source_is(ANNA, 70);
	CHECK_INT(texts, 1);
	rig.sources = 0;
	for (unsigned i = 0; i < 100; i++)
		source_is(ANNA, 70); /* as before */
	CHECK_INT(rig.sources, 0);
	for (unsigned i = 0; i < 100; i++) {
		source_is(500, 600); /* nobody watches */
		source_is(500, 0);
		rig_wait_ms(20);
	}
	CHECK_INT(texts, 1);
	for (unsigned i = 0; i < 100; i++) {
		source_is(ANNA, 72 + 2 * i);
		rig_wait_ms(9);
	}
	CHECK_INT(texts, 2);
	rig_wait_ms(100);
	wants_timer_fires();
	CHECK_INT(texts, 3);
	wants_timer_fires();
	CHECK_INT(texts, 3);
	CHECK(is_watched(72 + 2 * 99));
	rig_finish();
}

TEST(call_video_frames_go_to_control_whole)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_join("s1", 1);
	source_is(ANNA, 70);
	frame_comes(ANNA, 100);
	CHECK_INT(rig.parts, 0); /* nobody watches */
	watch(ANNA, 100);
	frame_comes(ANNA, 3 * MEDIA_VIDEO_PART);
	CHECK_INT(rig.parts, 3);
	CHECK_INT(rig.part_bytes, 3 * MEDIA_VIDEO_PART);
	CHECK_INT(rig.frame.offset, 2 * MEDIA_VIDEO_PART);
	CHECK_INT(rig.frame.size, 3 * MEDIA_VIDEO_PART);
	CHECK(rig.frame.codec == MEDIA_VIDEO_H264 && rig.frame.key && !rig.frame.gap);
	frame_comes(ANNA, 1);
	CHECK_INT(rig.parts, 1);
	CHECK_INT(rig.part_bytes, 1);
	/* The longest fits an empty queue; then frames are dropped, and counted. */
	frame_comes(ANNA, MEDIA_VIDEO_FRAME_MAX);
	CHECK_INT(rig.part_bytes, MEDIA_VIDEO_FRAME_MAX);
	rig.queued = MEDIA_VIDEO_QUEUED - 1000;
	frame_comes(ANNA, 1000);
	frame_comes(ANNA, 1000);
	CHECK_INT(rig.parts, 0);
	frame_comes(ANNA, 900);
	CHECK_INT(rig.parts, 1);
	CHECK_INT(rig.frame.gap, 2);
	CHECK_INT(rig.frame.frame, 6);
	frame_comes(ANNA, 900);
	CHECK_INT(rig.frame.gap, 0);
	rig_finish();
}

TEST(call_video_publishes_parts_of_frames)
{
	struct video_sender *v;

	CHECK_INT(rig_start_stream(), 0);
	put_part(1, 10, 0, 10); /* before: of nothing */
	CHECK_INT(rig.states, 0);
	publish(MEDIA_VIDEO_NONE);
	publish(9);
	CHECK_INT(rig.states, 0);
	publish(MEDIA_VIDEO_VP8);
	CHECK_INT(rig.video.codec, MEDIA_VIDEO_VP8);
	CHECK(!rig.video.sending);
	rig_settled();
	rig_wait_ms(20);
	v = loop_stream_sender(rig.c->stream->loop);
	put_part(1, 100, 0, 100);
	CHECK(rig.video.sending && rig.video.wants_key);
	CHECK_INT(video_sender_state(v).queued, 100);
	CHECK(!video_sender_state(v).wants_key);
	/* In two parts; then parts that do not fit together. */
	put_part(2, MEDIA_VIDEO_PART + 5, 0, MEDIA_VIDEO_PART);
	CHECK_INT(video_sender_state(v).queued, 100);
	put_part(2, MEDIA_VIDEO_PART + 5, MEDIA_VIDEO_PART, 5);
	CHECK_INT(video_sender_state(v).queued, 100 + MEDIA_VIDEO_PART + 5);
	put_part(3, 100, 0, 50);
	put_part(4, 100, 50, 50);
	put_part(5, 100, 50, 50);
	put_part(6, 100, 0, 101);
	put_part(7, 0, 0, 0);
	put_part(8, MEDIA_VIDEO_FRAME_MAX + 1, 0, 10);
	put_part(9, 100, 0, 50);
	put_part(9, 100, 50, 0);
	CHECK_INT(video_sender_state(v).queued, 100 + MEDIA_VIDEO_PART + 5);
	call_send_all(rig.c);
	CHECK_INT(rig.video.dropped, 6);
	/* What viewers want comes with op 15. */
	rig_text("{\"op\":15,\"d\":{\"any\":0,\"13\":80}}");
	CHECK_INT(rig.video.wanted, 80);
	run((struct media_msg){.type = MEDIA_VIDEO_STOP});
	CHECK(!rig.video.sending);
	CHECK_INT(video_sender_state(v).queued, 0);
	rig.states = 0;
	put_part(10, 100, 0, 100);
	run((struct media_msg){.type = MEDIA_VIDEO_STOP});
	CHECK_INT(rig.states, 0);
	rig_finish();
}

static struct {
	struct tmr *tmr;
	unsigned frames, states;
} frames;

static void on_next_frame(void *arg)
{
	(void)arg;
	put_part(frames.frames, 100, 0, 100);
	if (++frames.frames == 5)
		frames.states = rig.states;
	if (frames.frames == 40)
		env_stop(rig.env);
	else
		tmr_start(frames.tmr, 33 * NS_PER_MS);
}

/* While frames come, and not a second after the last one. */
TEST(call_video_tells_its_state_while_frames_come)
{
	frames.frames = 0;
	CHECK_INT(rig_start_live_stream(), 0);
	CHECK_INT(tmr_alloc(&frames.tmr, rig.env, on_next_frame, NULL), 0);
	publish(MEDIA_VIDEO_VP8);
	tmr_start(frames.tmr, 0);
	env_run(rig.env);
	CHECK(rig.states > frames.states);
	CHECK(rig.video.dropped > 20);
	tmr_free(frames.tmr);
	rig_finish();
}

/* What another control does not repeat ends, as its playbacks do. */
TEST(call_video_is_claimed_by_the_next_control)
{
	CHECK_INT(rig_start_stream(), 0);
	rig_join("s1", 1);
	source_is(ANNA, 70);
	source_is(BEN, 80);
	watch(ANNA, 100);
	watch(BEN, 100);
	publish(MEDIA_VIDEO_VP8);
	call_stop_unclaimed(rig.c);
	CHECK(is_watched(70) && is_watched(80));
	put_part(1, 100, 0, 50); /* the rest of it never comes */
	call_greet_control(rig.c);
	watch(BEN, 100);
	call_stop_unclaimed(rig.c);
	CHECK(!is_watched(70) && is_watched(80));
	rig.states = 0;
	publish(MEDIA_VIDEO_VP8);
	CHECK_INT(rig.states, 1);
	call_greet_control(rig.c);
	publish(MEDIA_VIDEO_VP8);
	put_part(1, 100, 50, 50);
	call_stop_unclaimed(rig.c);
	CHECK(!is_watched(80));
	rig.states = 0;
	call_send_all(rig.c);
	CHECK_INT(rig.states, 1);
	CHECK_INT(rig.video.dropped, 1);
	rig_finish();
}

/* A call has no video, and a stream plays no music. */
TEST(call_video_is_of_streams_alone)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	watch(ANNA, 100);
	publish(MEDIA_VIDEO_VP8);
	put_part(1, 10, 0, 10);
	run((struct media_msg){.type = MEDIA_VIDEO_KEY});
	run((struct media_msg){.type = MEDIA_VIDEO_STOP});
	source_is(ANNA, 70);
	rig_text("{\"op\":15,\"d\":{\"any\":100}}");
	rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	call_send_all(rig.c);
	CHECK_INT(rig.sources + rig.states + rig.parts, 0);
	CHECK(!rig.c->video && !rig.c->stream->loop && !rig.c->stream->video);
	rig_finish();
}

TEST(call_video_streams_are_few)
{
	static struct call_stream *cs[ENGINE_LOOP_STREAMS + 1];
	const struct loop_stream_handlers h = {0};

	CHECK_INT(rig_start(false), 0);
	for (unsigned i = 0; i <= ENGINE_LOOP_STREAMS; i++) {
		CHECK_INT(call_stream_alloc(&cs[i], NULL, 64000), 0);
		CHECK_INT(engine_add_loop_stream(rig.engine, cs[i], &h),
			  i < ENGINE_LOOP_STREAMS ? 0 : ENOSPC);
	}
	call_stream_free(cs[ENGINE_LOOP_STREAMS]);
	rig_finish();
}

TEST_OOM(call_video_without_memory)
{
	static struct call c;
	struct env_conf ec = {.loop = true, .replaying = true};
	struct call_video *v = NULL;
	int err = env_alloc(&c.conf.env, &ec);

	if (!err)
		err = call_video_alloc(&v, &c);
	CHECK(!err || test_oom_hit());
	call_video_free(v);
	env_free(c.conf.env);
	c.conf.env = NULL;
}
