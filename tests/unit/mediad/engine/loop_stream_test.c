/* Video of one stream as another gets it. */
#include "tests/unit/mediad/engine/loop_pair.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/own_memory.h"

/* Runs until so many frames have come, or the time is over. Returns false then. */
static bool await(struct loop_pair *p, unsigned frames, unsigned ms)
{
	p->wanted = frames;
	p->timed_out = false;
	tmr_start(p->deadline, ms * NS_PER_MS);
	if (p->n < frames || !frames)
		env_run(p->env);
	tmr_stop(p->deadline);
	return !p->timed_out;
}

static bool all_whole(const struct loop_pair *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!p->whole[i])
			return false;
	return true;
}

/* ---- tests ---- */

TEST(loop_stream_a_viewer_gets_every_frame)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(video_sender_state(loop_pair_sender(&p)).sending);
	for (uint8_t i = 0; i < 8; i++)
		CHECK(loop_pair_put(&p, i % 4 == 0, i));
	CHECK(await(&p, 8, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && !p.got[1].key && p.got[4].key);
	/* RTP time has an offset of its own. */
	CHECK_INT(p.got[7].ts - p.got[0].ts, 7 * 3000);
	CHECK_INT(p.codecs, 1);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).frames, 8);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).queued, 0);
	CHECK_INT(p.slot->undecryptable + p.slot->not_sealed, 0);
	loop_pair_end(&p);
}

TEST(loop_stream_a_viewer_gets_key_frames_alone)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, false), 0);
	for (uint8_t i = 0; i < 9; i++)
		CHECK(loop_pair_put(&p, i % 4 == 0, i));
	/* The receiver sees by this frame that packets of the last key frame were lost. */
	CHECK(loop_pair_put(&p, false, 9));
	CHECK(await(&p, 3, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && p.got[1].key && p.got[2].key);
	loop_pair_end(&p);
}

/* Every packet that is lost is asked for, and sent again on the stream of retransmissions. */
TEST(loop_stream_sends_lost_packets_again)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start(&p, true), 0);
	p.lose = 9;
	CHECK_INT(loop_pair_begin(&p, true), 0);
	for (uint8_t i = 0; i < 6; i++)
		CHECK(loop_pair_put(&p, i % 4 == 0, i));
	CHECK(loop_pair_put(&p, false, 6)); /* a packet behind the last one that is looked at */
	CHECK(await(&p, 6, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.feedback > 0);
	CHECK(video_sender_state(loop_pair_sender(&p)).again > 0);
	loop_pair_end(&p);
}

/* Whose picture may not be looked at is not joined, not decrypted, and asked for nothing. */
TEST(loop_stream_without_consent_sees_nothing)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start(&p, false), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	/* Not even for the moment until a tick wipes it. */
	for (unsigned i = 0; i < 200; i++) {
		CHECK(!await(&p, 1, 3));
		CHECK(!video_receiver_stats(loop_pair_receiver(&p), OWNER));
	}
	CHECK_INT(p.n, 0);
	CHECK(p.forth > 0);
	CHECK_INT(p.feedback, 0);
	loop_pair_end(&p);
}

TEST(loop_stream_withdrawn_consent_ends_what_had_come)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	CHECK(video_receiver_stats(loop_pair_receiver(&p), OWNER));
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot}});
	CHECK(!await(&p, 2, 500));
	CHECK(!video_receiver_stats(loop_pair_receiver(&p), OWNER));
	/* And it goes on once it may. */
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot, .yes = true}});
	CHECK(loop_pair_put(&p, true, 1));
	CHECK(await(&p, 2, DEADLINE_MS));
	loop_pair_end(&p);
}

TEST(loop_stream_asks_for_key_frames)
{
	static struct loop_pair p;
	unsigned asked;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	/* Before the first packet, at most once a second. */
	CHECK(!await(&p, 0, 600));
	CHECK_INT(p.feedback, 1);
	CHECK(loop_pair_put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	CHECK(!video_sender_state(loop_pair_sender(&p)).wants_key);
	asked = p.feedback;
	CHECK(!await(&p, 0, 600));
	CHECK_INT(p.feedback, asked);
	/* When control wants one. Frames go on meanwhile. */
	CHECK(!await(&p, 0, 500));
	video_receiver_request_key(loop_pair_receiver(&p), OWNER);
	p.states = 0;
	CHECK(!await(&p, 0, 900));
	CHECK_INT(p.feedback, asked + 1);
	CHECK_INT(p.states, 1);
	CHECK(video_sender_state(loop_pair_sender(&p)).wants_key);
	CHECK(loop_pair_put(&p, false, 1));
	CHECK(loop_pair_put(&p, true, 2));
	CHECK(!video_sender_state(loop_pair_sender(&p)).wants_key);
	CHECK(await(&p, 3, DEADLINE_MS));
	CHECK(all_whole(&p));
	loop_pair_end(&p);
}

/* However often viewers ask, key frames keep a distance. */
TEST(loop_stream_a_flood_of_requests_is_one)
{
	static struct loop_pair p;
	uint8_t bytes[64];
	struct rtcp_packet pli;
	struct wr w = wr_of(bytes, sizeof bytes);
	struct rd r;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	rtcp_write_pli(&w, VIEWER_SSRC, VIDEO_SSRC);
	r = rd_of(bytes, w.pos);
	CHECK(rtcp_next(&r, &pli));
	CHECK(loop_pair_put(&p, true, 0));
	p.states = 0;
	for (unsigned i = 0; i < 1000; i++)
		video_sender_feedback(loop_pair_sender(&p), &pli);
	CHECK_INT(p.states, 0);
	CHECK(!await(&p, 0, VIDEO_KEY_SPACING_MS + 50));
	for (unsigned i = 0; i < 1000; i++)
		video_sender_feedback(loop_pair_sender(&p), &pli);
	CHECK_INT(p.states, 1);
	CHECK(video_sender_state(loop_pair_sender(&p)).wants_key);
	loop_pair_end(&p);
}

/* ---- what a sender says of its packets ---- */

static void packet_of_type(struct loop_pair *p, unsigned pt, uint16_t seq)
{
	static const uint8_t payload[100] = {0x10};
	const struct rtp_header h = {.pt = (uint8_t)pt, .seq = seq, .ssrc = VIDEO_SSRC};
	uint8_t out[UDP_MAX_PACKET];
	size_t len = 0;

	CHECK_INT(
		rtpsize_seal(p->owner.cs->key, &h, payload, sizeof payload, out, sizeof out, &len),
		0);
	CHECK(video_receiver_input(loop_pair_receiver(p), out, len));
}

/* Another codec costs a table, a line and a message: it does not come with each packet. */
TEST(loop_stream_a_user_has_one_codec_at_a_time)
{
	static struct loop_pair p;
	uint16_t seq = 1;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	for (; seq <= 1000; seq++)
		packet_of_type(&p, seq % 2 ? 105 : 103, seq);
	CHECK(p.changes >= 1 && p.changes <= 2);
	p.changes = 0;
	CHECK(!await(&p, 0, VIDEO_CODEC_MS + 50));
	packet_of_type(&p, 105, seq++);
	packet_of_type(&p, 103, seq++);
	packet_of_type(&p, 103, seq++);
	packet_of_type(&p, 105, seq++);
	CHECK_INT(p.changes, 1);
	CHECK_INT(video_receiver_stats(loop_pair_receiver(&p), OWNER)->packets, 2);
	loop_pair_end(&p);
}

/* ---- what stays in memory ---- */

/* The sanitizers lay out memory of their own, most of which is passed over. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void put_marked(struct loop_pair *p, struct own_memory *m, bool key)
{
	static uint8_t frame[INTER_BYTES];

	memcpy(frame, own_memory_message(m, sizeof frame), sizeof frame);
	frame[0] = key ? 0x10 : 0x11;
	CHECK(video_sender_put(loop_pair_sender(p), (struct slice){frame, sizeof frame}, 0, key));
	explicit_bzero(frame, sizeof frame);
}

/* Of a picture that was sent, or dropped before it was, nothing stays. */
TEST(loop_stream_frames_that_were_queued_are_wiped)
{
	static struct loop_pair p;
	struct own_memory *m = NULL;
	struct sent s = {0};

	CHECK(own_memory_begin(&m));
	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	put_marked(&p, m, true);
	CHECK(own_memory_count(m) > 0);
	loop_pair_pass_ms(&p, env_now(p.env), 20, &s);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).frames, 1);
	CHECK_INT(own_memory_count(m), 0);
	put_marked(&p, m, false);
	put_marked(&p, m, false);
	video_sender_stop(loop_pair_sender(&p));
	CHECK_INT(own_memory_count(m), 0);
	loop_pair_end(&p);
	own_memory_end(m);
}
#endif

/* A frame that could not be decrypted is missing to those behind it. */
TEST(loop_stream_begins_with_a_frame_that_it_can_read)
{
	static struct loop_pair p;

	CHECK_INT(loop_pair_start_early(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	CHECK(!await(&p, 1, 200));
	CHECK_INT(loop_pair_lend_dave(&p, &p.viewer, p.slot), 0);
	CHECK(loop_pair_put(&p, false, 1));
	CHECK(!await(&p, 1, 200));
	CHECK(loop_pair_put(&p, true, 2));
	CHECK(loop_pair_put(&p, false, 3));
	CHECK(await(&p, 2, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && !p.got[1].key);
	/* Nobody may look at it any more. */
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot}});
	CHECK(loop_pair_put(&p, true, 4));
	CHECK(!await(&p, 3, 200));
	CHECK_INT(p.n, 2);
	loop_pair_end(&p);
}

/* What cannot be sent is dropped, and then all that depends on it. */
TEST(loop_stream_drops_up_to_the_next_key_frame)
{
	static uint8_t big[VIDEO_FRAME_MAX - 4096]; /* encrypted, it fits as well */
	static struct loop_pair p;
	struct cmd clear = {.type = CMD_DAVE_SEND};

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK(!loop_pair_put(&p, true, 0)); /* not started */
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(!loop_pair_put(&p, false, 1)); /* nothing before it was sent */
	CHECK(loop_pair_put(&p, true, 2));
	/* The queue is full. */
	big[0] = 0x11;
	CHECK(video_sender_put(loop_pair_sender(&p), (struct slice){big, sizeof big}, 0, false));
	CHECK(!video_sender_put(loop_pair_sender(&p), (struct slice){big, sizeof big}, 0, false));
	CHECK(!loop_pair_put(&p, false, 3));
	CHECK(video_sender_state(loop_pair_sender(&p)).wants_key);
	CHECK_INT(video_sender_state(loop_pair_sender(&p)).dropped, 4);
	CHECK(loop_pair_put(&p, true, 4));
	CHECK(loop_pair_put(&p, false, 5));
	CHECK(await(&p, 4, DEADLINE_MS));
	CHECK(p.whole[0] && p.whole[2] && p.whole[3]);
	CHECK(!loop_pair_put(&p, false, 6) || video_sender_state(loop_pair_sender(&p)).queued > 0);
	/* Without a key nothing is sent, and a key frame comes first afterwards. */
	engine_send(p.engine, p.owner.cs, &clear);
	CHECK(!loop_pair_put(&p, true, 7));
	CHECK(!video_sender_state(loop_pair_sender(&p)).sending);
	CHECK_INT(loop_pair_lend_dave(&p, &p.owner, NULL), 0);
	CHECK(!loop_pair_put(&p, false, 8));
	CHECK(loop_pair_put(&p, true, 9));
	loop_pair_end(&p);
}

TEST(loop_stream_a_session_ends)
{
	static struct loop_pair p;
	struct cmd unlink = {.type = CMD_UNLINK};

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	/* Another key of transport: counters of others begin anew. */
	CHECK_INT(loop_pair_lend_key(&p, &p.owner, 2), 0);
	rtpsize_set_counter(p.owner.cs->key, 0);
	CHECK_INT(loop_pair_lend_key(&p, &p.viewer, 2), 0);
	CHECK(loop_pair_put(&p, false, 1));
	CHECK(await(&p, 2, DEADLINE_MS));
	CHECK(all_whole(&p));
	engine_send(p.engine, p.owner.cs, &unlink);
	engine_send(p.engine, p.viewer.cs, &unlink);
	CHECK(!video_sender_state(loop_pair_sender(&p)).sending);
	CHECK(!video_receiver_stats(loop_pair_receiver(&p), OWNER));
	CHECK_INT(video_receiver_next(loop_pair_receiver(&p)), UINT64_MAX);
	CHECK(!loop_pair_put(&p, true, 2));
	/* Streams that leave give back all that they were lent. */
	engine_remove_stream(p.engine, p.owner.cs);
	while (!p.owner.gone && await(&p, FRAMES + 1, DEADLINE_MS))
		;
	CHECK(p.owner.gone);
	CHECK_INT(p.owner.linked, 1);
	CHECK_INT(p.owner.keys_gone, 2);
	loop_pair_end(&p);
}

static unsigned seal_sound(struct rtpsize *key, struct loop_pair *p, uint16_t seq)
{
	uint8_t out[UDP_MAX_PACKET], sound[60];
	const struct rtp_header h = {
		.pt = RTP_PT_OPUS, .seq = seq, .ts = seq * RTP_FRAME, .ssrc = OWNER_SSRC};
	size_t n;

	/* The form of an encrypted frame, under no key of ours. */
	memset(sound, 7, sizeof sound);
	sound[57] = 12;
	sound[58] = sound[59] = 0xfa;
	rtpsize_set_counter(key, 1000000u + seq);
	if (rtpsize_seal(key, &h, sound, sizeof sound, out, sizeof out, &n))
		return 0;
	return send(p->viewer.far, out, n, MSG_DONTWAIT) == (ssize_t)n;
}

/* A member whose video opens, and whose sound does not: it may be somebody else's. */
TEST(loop_stream_video_does_not_hide_sound_that_nothing_opens)
{
	const uint8_t first[RTPSIZE_KEY] = {1};
	static struct loop_pair p;
	struct rtpsize *key;
	unsigned sent = 0;

	CHECK_INT(loop_pair_start(&p, true), 0);
	CHECK_INT(rtpsize_alloc(&key, RTPSIZE_AES256_GCM, first), 0);
	engine_send(
		p.engine, p.viewer.cs,
		&(struct cmd){.type = CMD_SLOT_MAP, .slot = {.slot = p.slot, .ssrc = OWNER_SSRC}});
	CHECK_INT(loop_pair_begin(&p, true), 0);
	for (uint8_t i = 0; i < 10; i++) {
		for (unsigned k = 0; k < 5; k++)
			sent += seal_sound(key, &p, (uint16_t)(5u * i + k));
		CHECK(loop_pair_put(&p, true, i));
		CHECK(await(&p, i + 1u, DEADLINE_MS));
	}
	CHECK(all_whole(&p));
	CHECK_INT(sent, 50);
	CHECK_INT(p.slot->outage.count, 1);
	CHECK(p.slot->outage.active);
	CHECK(!p.slot->proved && p.slot->proved_video);
	rtpsize_free(key);
	loop_pair_end(&p);
}

/* Nobody speaks in it: without a packet of a viewer its address may be another one by now. */
TEST(loop_stream_that_only_shows_asks_for_its_address)
{
	static struct loop_pair p;
	struct path *path;

	CHECK_INT(loop_pair_start(&p, true), 0);
	path = &p.owner.cs->path;
	p.owner.cs->discovery.state = DISCOVERY_DONE;
	path->quiet_since = env_now(p.env) - PATH_DOUBT_MS * NS_PER_MS;
	p.owner.cs->speaker_tick_at = 0;
	call_stream_work(p.owner.cs);
	CHECK(!path->doubting); /* nobody is there */
	CHECK_INT(loop_pair_begin(&p, true), 0);
	CHECK(loop_pair_put(&p, true, 0));
	path->quiet_since = env_now(p.env) - PATH_DOUBT_MS * NS_PER_MS;
	p.owner.cs->speaker_tick_at = 0;
	call_stream_work(p.owner.cs);
	CHECK(path->doubting);
	loop_pair_end(&p);
}

TEST(loop_stream_watches_by_user)
{
	static struct loop_pair p;
	struct video_receiver *r;

	CHECK_INT(loop_pair_start(&p, true), 0);
	r = loop_pair_receiver(&p);
	CHECK_INT(video_receiver_watch(r, 0, 1, 0, false), EINVAL);
	CHECK_INT(video_receiver_watch(r, 1, 0, 0, false), EINVAL);
	CHECK_INT(video_receiver_watch(r, 1, 10, 10, false), EINVAL);
	CHECK_INT(video_receiver_watch(r, 1, 10, 11, false), 0);
	CHECK_INT(video_receiver_watch(r, 1, 10, 11, true), 0);
	CHECK_INT(video_receiver_watch(r, 2, 11, 0, false), EINVAL);
	CHECK_INT(video_receiver_watch(r, 2, 12, 10, false), EINVAL);
	for (uint32_t user = 2; user <= VIDEO_SOURCES; user++)
		CHECK_INT(video_receiver_watch(r, user, user * 100, 0, false), 0);
	CHECK_INT(video_receiver_watch(r, 9, 900, 0, false), ENOSPC);
	video_receiver_unwatch(r, 1);
	video_receiver_unwatch(r, 77);
	CHECK_INT(video_receiver_watch(r, 9, 900, 0, false), 0);
	video_receiver_request_key(r, 77);
	loop_pair_end(&p);
}

TEST_OOM(loop_stream_without_memory)
{
	struct env_conf ec = {.loop = true};
	struct env *env = NULL;
	struct call_stream *cs = NULL;
	struct loop_stream *l = NULL;
	struct loop_stream_handlers h = {.frameh = loop_pair_on_frame,
					 .codech = loop_pair_on_codec,
					 .stateh = loop_pair_on_state};
	static struct loop_pair p;
	int err = env_alloc(&env, &ec);

	h.video_arg = &p;
	if (!err)
		err = call_stream_alloc(&cs, NULL, 64000);
	if (!err)
		err = loop_stream_alloc(&l, env, cs, &h);
	if (err) {
		CHECK(test_oom_hit());
		call_stream_free(cs);
		env_free(env);
		return;
	}
	err = video_sender_start(loop_stream_sender(l), VIDEO_H264, 1, 2);
	CHECK(!err || test_oom_hit());
	CHECK_INT(video_receiver_watch(loop_stream_receiver(l), 1, 3, 4, false), 0);
	loop_stream_free(l);
	env_free(env);
}
