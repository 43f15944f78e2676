/* Two streams with video on the loop thread, and a network between them that can lose packets. */
#include "mediad/engine/loop_stream.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/engine/engine.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/ipc/own_memory.h"

enum {
	OWNER = 5,
	OWNER_SSRC = 100,
	VIDEO_SSRC = 101,
	RTX_SSRC = 102,
	VIEWER_SSRC = 200,
	KEY_BYTES = 40000,
	INTER_BYTES = 4000,
	BITRATE = 20000000,
	FRAMES = 32,
	DEADLINE_MS = 20000,
};

struct pair;

/* One of the two: its call stream, and the end of its socket that the network has. */
struct side {
	struct pair *p;
	struct call_stream *cs;
	int far;
	struct event *ev;
	bool gone;
	unsigned linked, keys_gone;
};

struct pair {
	struct env *env;
	struct engine *engine;
	struct tmr *deadline;
	struct side owner, viewer;
	struct slot *slot; /* of the owner, at the viewer */
	unsigned lose;	   /* every so many-th datagram of the owner's video; 0: none */
	unsigned forth, feedback;
	unsigned states, codecs, changes;
	uint8_t frame[KEY_BYTES];
	size_t got_n;
	struct received_frame got[FRAMES];
	bool whole[FRAMES];
	unsigned n, wanted;
	bool timed_out;
};

/* The number of a frame fills it behind the first byte, which tells VP8's key frames. */
static struct slice make_frame(struct pair *p, bool key, uint8_t number)
{
	size_t n = key ? KEY_BYTES : INTER_BYTES;

	memset(p->frame, number, n);
	p->frame[0] = key ? 0x10 : 0x11;
	return (struct slice){p->frame, n};
}

static void on_frame(const struct received_frame *f, void *arg)
{
	struct pair *p = arg;
	bool whole = f->bytes.n == (f->key ? KEY_BYTES : INTER_BYTES) &&
		     f->bytes.p[0] == (f->key ? 0x10 : 0x11);

	for (size_t i = 2; whole && i < f->bytes.n; i++)
		whole = f->bytes.p[i] == f->bytes.p[1];
	if (p->n == FRAMES)
		return;
	p->whole[p->n] = whole && f->user == OWNER && f->codec == VIDEO_VP8;
	p->got[p->n++] = *f;
	if (p->n == p->wanted)
		env_stop(p->env);
}

static void on_codec(uint64_t user, enum video_codec codec, void *arg)
{
	struct pair *p = arg;

	p->changes++;
	p->codecs += user == OWNER && codec == VIDEO_VP8;
}

static void on_state(void *arg)
{
	struct pair *p = arg;

	p->states++;
}

static void on_event(const struct ev *ev, void *owner)
{
	struct side *s = owner;

	s->gone = s->gone || ev->type == EV_STREAM_GONE;
	s->linked += ev->type == EV_LINK_GONE;
	s->keys_gone += ev->type == EV_KEY_GONE;
	if (s->gone)
		env_stop(s->p->env);
}

static void on_deadline(void *arg)
{
	struct pair *p = arg;

	p->timed_out = true;
	env_stop(p->env);
}

/* ---- the network ---- */

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct side *s = arg, *to = s == &s->p->owner ? &s->p->viewer : &s->p->owner;
	uint8_t buf[2048];
	ssize_t n = recv((int)fd, buf, sizeof buf, MSG_DONTWAIT);
	bool video = n > 0 && udp_classify(buf, (size_t)n) == UDP_RTP && (buf[1] & 0x7f) == 105;

	(void)what;
	if (n <= 0)
		return;
	s->p->forth += video;
	s->p->feedback += s == &s->p->viewer && udp_classify(buf, (size_t)n) == UDP_RTCP;
	if (video && s->p->lose && s->p->forth % s->p->lose == 0)
		return;
	if (send(to->far, buf, (size_t)n, MSG_DONTWAIT) != n)
		s->p->timed_out = true;
}

static int open_side(struct pair *p, struct side *s, uint32_t ssrc)
{
	const struct loop_stream_handlers h = {
		.frameh = on_frame, .codech = on_codec, .stateh = on_state, .video_arg = p};
	struct cmd link = {.type = CMD_LINK};
	int fds[2], err;

	s->p = p;
	s->far = -1;
	err = call_stream_alloc(&s->cs, s, 64000);
	if (err)
		return err;
	err = engine_add_loop_stream(p->engine, s->cs, &h);
	if (err) {
		s->cs = call_stream_free(s->cs);
		return err;
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		return errno;
	link.link.fd = fds[0];
	s->far = fds[1];
	link.link.link = 1;
	link.link.ssrc = ssrc;
	engine_send(p->engine, s->cs, &link);
	s->ev = event_new(env_base(p->env), s->far, EV_READ | EV_PERSIST, on_readable, s);
	return s->ev && !event_add(s->ev, NULL) ? 0 : ENOMEM;
}

static int lend_key(struct pair *p, struct side *s, uint8_t first)
{
	const uint8_t key[RTPSIZE_KEY] = {first};
	struct cmd c = {.type = CMD_KEY};
	int err = rtpsize_alloc(&c.key, RTPSIZE_AES256_GCM, key);

	return err ? err : engine_send(p->engine, s->cs, &c);
}

/* The viewer has the owner's key in a slot, as the DAVE session lends it. */
static int lend_dave(struct pair *p, struct side *s, struct slot *slot)
{
	static const uint8_t base[DAVE_SECRET] = {7};
	struct cmd c = {.type = slot ? CMD_DAVE_OPEN : CMD_DAVE_SEND};
	int err = dave_key_alloc(&c.dave.key, base, 1, 0);

	c.dave.slot = slot;
	return err ? err : engine_send(p->engine, s->cs, &c);
}

static int add_slot(struct pair *p, bool consent)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	int err = slot_alloc(&p->slot, p->viewer.cs, OWNER, consent, 1);

	c.slot.slot = p->slot;
	return err ? err : engine_send(p->engine, p->viewer.cs, &c);
}

/* The viewer has no key of the owner's yet. */
static int pair_start_early(struct pair *p, bool consent)
{
	struct env_conf ec = {.loop = true};
	struct engine_conf gc = {.threads = 1, .evh = on_event};
	int err;

	memset(p, 0, sizeof *p);
	p->owner.far = p->viewer.far = -1;
	err = env_alloc(&p->env, &ec);
	gc.env = p->env;
	if (!err)
		err = engine_alloc(&p->engine, &gc);
	if (!err)
		err = tmr_alloc(&p->deadline, p->env, on_deadline, p);
	if (!err)
		err = open_side(p, &p->owner, OWNER_SSRC);
	if (!err)
		err = open_side(p, &p->viewer, VIEWER_SSRC);
	if (!err)
		err = lend_key(p, &p->owner, 1);
	if (!err)
		err = lend_key(p, &p->viewer, 1);
	if (!err)
		err = add_slot(p, consent);
	return err ? err : lend_dave(p, &p->owner, NULL);
}

static int pair_start(struct pair *p, bool consent)
{
	int err = pair_start_early(p, consent);

	return err ? err : lend_dave(p, &p->viewer, p->slot);
}

static void pair_end(struct pair *p)
{
	struct side *both[] = {&p->owner, &p->viewer};

	for (unsigned i = 0; i < 2; i++) {
		if (both[i]->ev)
			event_free(both[i]->ev);
		if (both[i]->far >= 0)
			close(both[i]->far);
	}
	engine_free(p->engine);
	tmr_free(p->deadline);
	env_free(p->env);
}

static struct video_sender *sender_of(struct pair *p)
{
	return loop_stream_sender(p->owner.cs->loop);
}

static struct video_receiver *receiver_of(struct pair *p)
{
	return loop_stream_receiver(p->viewer.cs->loop);
}

static int begin(struct pair *p, bool every)
{
	int err;

	video_sender_set_bitrate(sender_of(p), BITRATE);
	err = video_sender_start(sender_of(p), VIDEO_VP8, VIDEO_SSRC, RTX_SSRC);
	if (!err)
		err = video_receiver_watch(receiver_of(p), OWNER, VIDEO_SSRC, RTX_SSRC, every);
	loop_stream_wake(p->owner.cs->loop);
	loop_stream_wake(p->viewer.cs->loop);
	return err;
}

static bool put(struct pair *p, bool key, uint8_t number)
{
	bool took = video_sender_put(sender_of(p), make_frame(p, key, number), number * 3000u, key);

	loop_stream_wake(p->owner.cs->loop);
	return took;
}

/* Runs until so many frames have come, or the time is over. Returns false then. */
static bool await(struct pair *p, unsigned frames, unsigned ms)
{
	p->wanted = frames;
	p->timed_out = false;
	tmr_start(p->deadline, ms * NS_PER_MS);
	if (p->n < frames || !frames)
		env_run(p->env);
	tmr_stop(p->deadline);
	return !p->timed_out;
}

static bool all_whole(const struct pair *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!p->whole[i])
			return false;
	return true;
}

/* ---- tests ---- */

TEST(loop_stream_a_viewer_gets_every_frame)
{
	static struct pair p;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(video_sender_state(sender_of(&p)).sending);
	for (uint8_t i = 0; i < 8; i++)
		CHECK(put(&p, i % 4 == 0, i));
	CHECK(await(&p, 8, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && !p.got[1].key && p.got[4].key);
	/* RTP time has an offset of its own. */
	CHECK_INT(p.got[7].ts - p.got[0].ts, 7 * 3000);
	CHECK_INT(p.codecs, 1);
	CHECK_INT(video_sender_state(sender_of(&p)).frames, 8);
	CHECK_INT(video_sender_state(sender_of(&p)).queued, 0);
	CHECK_INT(p.slot->undecryptable + p.slot->not_sealed, 0);
	pair_end(&p);
}

TEST(loop_stream_a_viewer_gets_key_frames_alone)
{
	static struct pair p;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, false), 0);
	for (uint8_t i = 0; i < 9; i++)
		CHECK(put(&p, i % 4 == 0, i));
	CHECK(await(&p, 3, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && p.got[1].key && p.got[2].key);
	pair_end(&p);
}

/* Every packet that is lost is asked for, and sent again on the stream of retransmissions. */
TEST(loop_stream_sends_lost_packets_again)
{
	static struct pair p;

	CHECK_INT(pair_start(&p, true), 0);
	p.lose = 9;
	CHECK_INT(begin(&p, true), 0);
	for (uint8_t i = 0; i < 6; i++)
		CHECK(put(&p, i % 4 == 0, i));
	CHECK(put(&p, false, 6)); /* a packet behind the last one that is looked at */
	CHECK(await(&p, 6, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.feedback > 0);
	CHECK(video_sender_state(sender_of(&p)).again > 0);
	pair_end(&p);
}

/* Whose picture may not be looked at is not joined, not decrypted, and asked for nothing. */
TEST(loop_stream_without_consent_sees_nothing)
{
	static struct pair p;

	CHECK_INT(pair_start(&p, false), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	CHECK(!await(&p, 1, 600));
	CHECK_INT(p.n, 0);
	CHECK(p.forth > 0);
	CHECK_INT(p.feedback, 0);
	CHECK(!video_receiver_stats(receiver_of(&p), OWNER));
	pair_end(&p);
}

TEST(loop_stream_withdrawn_consent_ends_what_had_come)
{
	static struct pair p;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	CHECK(video_receiver_stats(receiver_of(&p), OWNER));
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot}});
	CHECK(!await(&p, 2, 500));
	CHECK(!video_receiver_stats(receiver_of(&p), OWNER));
	/* And it goes on once it may. */
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot, .yes = true}});
	CHECK(put(&p, true, 1));
	CHECK(await(&p, 2, DEADLINE_MS));
	pair_end(&p);
}

TEST(loop_stream_asks_for_key_frames)
{
	static struct pair p;
	unsigned asked;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	/* Before the first packet, at most once a second. */
	CHECK(!await(&p, 0, 600));
	CHECK_INT(p.feedback, 1);
	CHECK(put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	CHECK(!video_sender_state(sender_of(&p)).wants_key);
	asked = p.feedback;
	CHECK(!await(&p, 0, 600));
	CHECK_INT(p.feedback, asked);
	/* When control wants one. Frames go on meanwhile. */
	CHECK(!await(&p, 0, 500));
	video_receiver_request_key(receiver_of(&p), OWNER);
	p.states = 0;
	CHECK(!await(&p, 0, 900));
	CHECK_INT(p.feedback, asked + 1);
	CHECK_INT(p.states, 1);
	CHECK(video_sender_state(sender_of(&p)).wants_key);
	CHECK(put(&p, false, 1));
	CHECK(put(&p, true, 2));
	CHECK(!video_sender_state(sender_of(&p)).wants_key);
	CHECK(await(&p, 3, DEADLINE_MS));
	CHECK(all_whole(&p));
	pair_end(&p);
}

/* However often viewers ask, key frames keep a distance. */
TEST(loop_stream_a_flood_of_requests_is_one)
{
	static struct pair p;
	uint8_t bytes[64];
	struct rtcp_packet pli;
	struct wr w = wr_of(bytes, sizeof bytes);
	struct rd r;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	rtcp_write_pli(&w, VIEWER_SSRC, VIDEO_SSRC);
	r = rd_of(bytes, w.pos);
	CHECK(rtcp_next(&r, &pli));
	CHECK(put(&p, true, 0));
	p.states = 0;
	for (unsigned i = 0; i < 1000; i++)
		video_sender_feedback(sender_of(&p), &pli);
	CHECK_INT(p.states, 0);
	CHECK(!await(&p, 0, VIDEO_KEY_SPACING_MS + 50));
	for (unsigned i = 0; i < 1000; i++)
		video_sender_feedback(sender_of(&p), &pli);
	CHECK_INT(p.states, 1);
	CHECK(video_sender_state(sender_of(&p)).wants_key);
	pair_end(&p);
}

/* ---- viewers who ask for packets without end; time is made up here ---- */

enum { SLOW_BITRATE = 2500000, SLOW_FRAME = 10417, SLOW_FRAMES = 60, SLOW_FRAME_MS = 33 };

/* What the owner has sent meanwhile. */
struct sent {
	unsigned packets, again;
	uint16_t newest; /* number of the newest packet */
};

static void look_at_sent(struct pair *p, struct sent *s)
{
	uint8_t buf[2048];

	while (recv(p->owner.far, buf, sizeof buf, MSG_DONTWAIT) > 4) {
		bool media = (buf[1] & 0x7f) == 105;

		s->packets += media;
		s->again += (buf[1] & 0x7f) == 106;
		if (media)
			s->newest = (uint16_t)(buf[2] << 8 | buf[3]);
	}
}

static void miss(struct pair *p, uint32_t viewer, uint16_t first, unsigned n)
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
	video_sender_feedback(sender_of(p), &nack);
}

static uint64_t pass_ms(struct pair *p, uint64_t now, unsigned ms, struct sent *s)
{
	for (unsigned i = 0; i < 4 * ms; i++) {
		now += NS_PER_MS / 4;
		video_sender_tick(sender_of(p), now);
		look_at_sent(p, s);
	}
	return now;
}

/* Two seconds of a stream, in which a viewer misses 64 packets 50 times a second. never: such as
 * were not sent yet. */
static void stream_to_a_greedy_viewer(struct pair *p, bool never, struct sent *s)
{
	static uint8_t frame[SLOW_FRAME];
	uint64_t now = env_now(p->env);

	*s = (struct sent){0};
	for (unsigned i = 0; i < SLOW_FRAMES; i++) {
		frame[0] = i ? 0x11 : 0x10;
		video_sender_put(sender_of(p), (struct slice){frame, sizeof frame}, i * 3000, !i);
		now = pass_ms(p, now, SLOW_FRAME_MS / 2, s);
		miss(p, VIEWER_SSRC, (uint16_t)(s->newest + (never ? 5000 : -70 - 64 * (i % 2))),
		     64);
		now = pass_ms(p, now, SLOW_FRAME_MS - SLOW_FRAME_MS / 2, s);
		miss(p, VIEWER_SSRC, (uint16_t)(s->newest + (never ? 6000 : -200)), 64);
	}
}

/* A scene of 11 Mbit/s in a film of 2: no frame is dropped, and none is long behind its sound. */
TEST(loop_stream_keeps_up_with_a_lively_scene)
{
	enum { AVERAGE = 2000000, BUSY = 55000, SCENE = 75, PERIOD_MS = 40 };
	static uint8_t frame[BUSY];
	static struct pair p;
	struct sent s = {0};
	unsigned late = 0;
	uint64_t now;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	video_sender_set_bitrate(sender_of(&p), AVERAGE);
	now = env_now(p.env);
	for (unsigned i = 0; i < SCENE; i++) {
		unsigned behind;

		frame[0] = i ? 0x11 : 0x10;
		CHECK(video_sender_put(sender_of(&p), (struct slice){frame, BUSY}, i * 3600, !i));
		now = pass_ms(&p, now, PERIOD_MS, &s);
		behind = i + 1 - video_sender_state(sender_of(&p)).frames;
		late = behind > late ? behind : late;
	}
	CHECK(late <= VIDEO_QUEUE_MS / PERIOD_MS);
	pass_ms(&p, now, VIDEO_QUEUE_MS, &s);
	CHECK_INT(video_sender_state(sender_of(&p)).frames, SCENE);
	CHECK_INT(video_sender_state(sender_of(&p)).dropped, 0);
	pair_end(&p);
}

TEST(loop_stream_numbers_never_sent_cost_nothing)
{
	static struct pair p;
	struct sent s;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	video_sender_set_bitrate(sender_of(&p), SLOW_BITRATE);
	stream_to_a_greedy_viewer(&p, true, &s);
	CHECK(video_sender_state(sender_of(&p)).frames >= SLOW_FRAMES * 9 / 10);
	CHECK_INT(s.again, 0);
	/* They keep no place from what was sent. */
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest + 100), 64);
	miss(&p, VIEWER_SSRC, s.newest, 1);
	pass_ms(&p, env_now(p.env) + 60 * NS_PER_S, 20, &s);
	CHECK_INT(s.again, 1);
	pair_end(&p);
}

TEST(loop_stream_repeats_leave_room_for_what_is_new)
{
	static struct pair p;
	struct sent s;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	video_sender_set_bitrate(sender_of(&p), SLOW_BITRATE);
	stream_to_a_greedy_viewer(&p, false, &s);
	CHECK(video_sender_state(sender_of(&p)).frames >= SLOW_FRAMES * 9 / 10);
	CHECK(s.again > 100);
	pair_end(&p);
}

TEST(loop_stream_one_viewer_leaves_repeats_to_others)
{
	static struct pair p;
	struct sent s = {0};
	uint64_t now;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	CHECK(put(&p, true, 1));
	now = pass_ms(&p, env_now(p.env), 100, &s);
	CHECK(s.packets > 65);
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest - 63), 64);
	miss(&p, VIEWER_SSRC, (uint16_t)(s.newest - 63), 64); /* they wait already */
	miss(&p, VIEWER_SSRC + 1, (uint16_t)(s.newest - 64), 1);
	pass_ms(&p, now, 200, &s);
	CHECK_INT(s.again, 32 + 1);
	pair_end(&p);
}

/* ---- what a sender says of its packets ---- */

static void packet_of_type(struct pair *p, unsigned pt, uint16_t seq)
{
	static const uint8_t payload[100] = {0x10};
	const struct rtp_header h = {.pt = (uint8_t)pt, .seq = seq, .ssrc = VIDEO_SSRC};
	uint8_t out[UDP_MAX_PACKET];
	size_t len = 0;

	CHECK_INT(
		rtpsize_seal(p->owner.cs->key, &h, payload, sizeof payload, out, sizeof out, &len),
		0);
	CHECK(video_receiver_input(receiver_of(p), out, len));
}

/* Another codec costs a table, a line and a message: it does not come with each packet. */
TEST(loop_stream_a_user_has_one_codec_at_a_time)
{
	static struct pair p;
	uint16_t seq = 1;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
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
	CHECK_INT(video_receiver_stats(receiver_of(&p), OWNER)->packets, 2);
	pair_end(&p);
}

/* ---- what stays in memory ---- */

/* The sanitizers lay out memory of their own, most of which is passed over. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void put_marked(struct pair *p, struct own_memory *m, bool key)
{
	static uint8_t frame[INTER_BYTES];

	memcpy(frame, own_memory_message(m, sizeof frame), sizeof frame);
	frame[0] = key ? 0x10 : 0x11;
	CHECK(video_sender_put(sender_of(p), (struct slice){frame, sizeof frame}, 0, key));
	explicit_bzero(frame, sizeof frame);
}

/* Of a picture that was sent, or dropped before it was, nothing stays. */
TEST(loop_stream_frames_that_were_queued_are_wiped)
{
	static struct pair p;
	struct own_memory *m = NULL;
	struct sent s = {0};

	CHECK(own_memory_begin(&m));
	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	put_marked(&p, m, true);
	CHECK(own_memory_count(m) > 0);
	pass_ms(&p, env_now(p.env), 20, &s);
	CHECK_INT(video_sender_state(sender_of(&p)).frames, 1);
	CHECK_INT(own_memory_count(m), 0);
	put_marked(&p, m, false);
	put_marked(&p, m, false);
	video_sender_stop(sender_of(&p));
	CHECK_INT(own_memory_count(m), 0);
	pair_end(&p);
	own_memory_end(m);
}
#endif

/* A frame that could not be decrypted is missing to those behind it. */
TEST(loop_stream_begins_with_a_frame_that_it_can_read)
{
	static struct pair p;

	CHECK_INT(pair_start_early(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	CHECK(!await(&p, 1, 200));
	CHECK_INT(lend_dave(&p, &p.viewer, p.slot), 0);
	CHECK(put(&p, false, 1));
	CHECK(!await(&p, 1, 200));
	CHECK(put(&p, true, 2));
	CHECK(put(&p, false, 3));
	CHECK(await(&p, 2, DEADLINE_MS));
	CHECK(all_whole(&p));
	CHECK(p.got[0].key && !p.got[1].key);
	/* Nobody may look at it any more. */
	engine_send(p.engine, p.viewer.cs,
		    &(struct cmd){.type = CMD_CONSENT, .slot = {.slot = p.slot}});
	CHECK(put(&p, true, 4));
	CHECK(!await(&p, 3, 200));
	CHECK_INT(p.n, 2);
	pair_end(&p);
}

/* What cannot be sent is dropped, and then all that depends on it. */
TEST(loop_stream_drops_up_to_the_next_key_frame)
{
	static uint8_t big[VIDEO_FRAME_MAX - 4096]; /* encrypted, it fits as well */
	static struct pair p;
	struct cmd clear = {.type = CMD_DAVE_SEND};

	CHECK_INT(pair_start(&p, true), 0);
	CHECK(!put(&p, true, 0)); /* not started */
	CHECK_INT(begin(&p, true), 0);
	CHECK(!put(&p, false, 1)); /* nothing before it was sent */
	CHECK(put(&p, true, 2));
	/* The queue is full. */
	big[0] = 0x11;
	CHECK(video_sender_put(sender_of(&p), (struct slice){big, sizeof big}, 0, false));
	CHECK(!video_sender_put(sender_of(&p), (struct slice){big, sizeof big}, 0, false));
	CHECK(!put(&p, false, 3));
	CHECK(video_sender_state(sender_of(&p)).wants_key);
	CHECK_INT(video_sender_state(sender_of(&p)).dropped, 4);
	CHECK(put(&p, true, 4));
	CHECK(put(&p, false, 5));
	CHECK(await(&p, 4, DEADLINE_MS));
	CHECK(p.whole[0] && p.whole[2] && p.whole[3]);
	CHECK(!put(&p, false, 6) || video_sender_state(sender_of(&p)).queued > 0);
	/* Without a key nothing is sent, and a key frame comes first afterwards. */
	engine_send(p.engine, p.owner.cs, &clear);
	CHECK(!put(&p, true, 7));
	CHECK(!video_sender_state(sender_of(&p)).sending);
	CHECK_INT(lend_dave(&p, &p.owner, NULL), 0);
	CHECK(!put(&p, false, 8));
	CHECK(put(&p, true, 9));
	pair_end(&p);
}

TEST(loop_stream_a_session_ends)
{
	static struct pair p;
	struct cmd unlink = {.type = CMD_UNLINK};

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	CHECK(await(&p, 1, DEADLINE_MS));
	/* Another key of transport: counters of others begin anew. */
	CHECK_INT(lend_key(&p, &p.owner, 2), 0);
	rtpsize_set_counter(p.owner.cs->key, 0);
	CHECK_INT(lend_key(&p, &p.viewer, 2), 0);
	CHECK(put(&p, false, 1));
	CHECK(await(&p, 2, DEADLINE_MS));
	CHECK(all_whole(&p));
	engine_send(p.engine, p.owner.cs, &unlink);
	engine_send(p.engine, p.viewer.cs, &unlink);
	CHECK(!video_sender_state(sender_of(&p)).sending);
	CHECK(!video_receiver_stats(receiver_of(&p), OWNER));
	CHECK_INT(video_receiver_next(receiver_of(&p)), UINT64_MAX);
	CHECK(!put(&p, true, 2));
	/* Streams that leave give back all that they were lent. */
	engine_remove_stream(p.engine, p.owner.cs);
	while (!p.owner.gone && await(&p, FRAMES + 1, DEADLINE_MS))
		;
	CHECK(p.owner.gone);
	CHECK_INT(p.owner.linked, 1);
	CHECK_INT(p.owner.keys_gone, 2);
	pair_end(&p);
}

static unsigned seal_sound(struct rtpsize *key, struct pair *p, uint16_t seq)
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
	static struct pair p;
	struct rtpsize *key;
	unsigned sent = 0;

	CHECK_INT(pair_start(&p, true), 0);
	CHECK_INT(rtpsize_alloc(&key, RTPSIZE_AES256_GCM, first), 0);
	engine_send(
		p.engine, p.viewer.cs,
		&(struct cmd){.type = CMD_SLOT_MAP, .slot = {.slot = p.slot, .ssrc = OWNER_SSRC}});
	CHECK_INT(begin(&p, true), 0);
	for (uint8_t i = 0; i < 10; i++) {
		for (unsigned k = 0; k < 5; k++)
			sent += seal_sound(key, &p, (uint16_t)(5u * i + k));
		CHECK(put(&p, true, i));
		CHECK(await(&p, i + 1u, DEADLINE_MS));
	}
	CHECK(all_whole(&p));
	CHECK_INT(sent, 50);
	CHECK_INT(p.slot->outage.count, 1);
	CHECK(p.slot->outage.active);
	CHECK(!p.slot->proved && p.slot->proved_video);
	rtpsize_free(key);
	pair_end(&p);
}

/* Nobody speaks in it: without a packet of a viewer its address may be another one by now. */
TEST(loop_stream_that_only_shows_asks_for_its_address)
{
	static struct pair p;
	struct path *path;

	CHECK_INT(pair_start(&p, true), 0);
	path = &p.owner.cs->path;
	p.owner.cs->discovery.state = DISCOVERY_DONE;
	path->quiet_since = env_now(p.env) - PATH_DOUBT_MS * NS_PER_MS;
	p.owner.cs->speaker_tick_at = 0;
	call_stream_work(p.owner.cs);
	CHECK(!path->doubting); /* nobody is there */
	CHECK_INT(begin(&p, true), 0);
	CHECK(put(&p, true, 0));
	path->quiet_since = env_now(p.env) - PATH_DOUBT_MS * NS_PER_MS;
	p.owner.cs->speaker_tick_at = 0;
	call_stream_work(p.owner.cs);
	CHECK(path->doubting);
	pair_end(&p);
}

TEST(loop_stream_watches_by_user)
{
	static struct pair p;
	struct video_receiver *r;

	CHECK_INT(pair_start(&p, true), 0);
	r = receiver_of(&p);
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
	pair_end(&p);
}

TEST_OOM(loop_stream_without_memory)
{
	struct env_conf ec = {.loop = true};
	struct env *env = NULL;
	struct call_stream *cs = NULL;
	struct loop_stream *l = NULL;
	struct loop_stream_handlers h = {
		.frameh = on_frame, .codech = on_codec, .stateh = on_state};
	static struct pair p;
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
