/* An audio thread that has too much to do, in simulated time: the real loop with real streams,
 * encoders and sockets; only the cost of a frame and of a datagram is made up. The encoders lose a
 * step of complexity per window until the thread keeps its deadlines, and get them back when there
 * is time again. Meanwhile the thread goes on reading its commands and sockets. */
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "mediad/engine/load.h"
#include "mediad/engine/audio_thread.h"
#include "tests/test.h"
#include "tests/unit/mediad/audio/long_packet.h"
#include "proto/base/time.h"

#define FRAME (SENDER_TICK_MS * NS_PER_MS)

enum {
	CALLS = 4,
	DATAGRAM_NS = 1000000,
	LANE = 3,
	COMMAND = 1, /* the source of commands */
	MEMBERS = 4, /* a socket holds no more packets */
	HELD = 16,   /* packets of each that wait behind a gap */
	MEMBER_SSRC = 2000,
};

struct speaker {
	struct call_stream *l;
	int fd; /* the network's end */
	bool wants;
	unsigned sent, soon; /* packets; soon: less than 15 ms after the one before */
	uint64_t at, due;    /* of the newest; due: by RTP time */
	uint16_t seq;
	uint32_t ts;
	unsigned odd;	   /* RTP time that does not go with the clock, or numbers that skip */
	unsigned frames;   /* that left in this turn */
	bool working;	   /* its work was due at the last look */
	uint64_t received; /* datagrams at the last look */
};

static struct {
	struct audio_thread *t;
	struct rtpsize *wire;
	struct speaker s[CALLS + 1];
	unsigned n;
	uint64_t now;
	double slow;	   /* the machine */
	uint64_t datagram; /* the time that one takes, in ns */
	unsigned complexity, changes, wrong;
	uint64_t changed;	      /* when */
	uint64_t began;		      /* of the turn */
	uint64_t latest;	      /* by which a packet left after its deadline */
	bool stopped;		      /* a playback */
	uint64_t frame;		      /* the time that 20 ms of decoded sound take, in ns */
	size_t heard;		      /* events that waited at the last look */
	uint64_t samples, last_heard; /* of HEARD; when the last came up */
} o;

static const uint8_t key[RTPSIZE_KEY] = {7};

static unsigned complexity_of(const struct speaker *s)
{
	struct sender_stats st;

	sender_stats(s->l->sender, &st);
	return st.complexity;
}

/* What one frame costs, in ns. */
static uint64_t cost(unsigned complexity)
{
	return (uint64_t)(o.slow * (double)NS_PER_MS * (1 + 0.6 * complexity));
}

static void command(struct speaker *s, struct cmd c)
{
	c.stream = s->l;
	if (!audio_thread_push(o.t, &c))
		abort();
	env_replay_step(audio_thread_env(o.t), o.now, COMMAND, 0, NULL, 0);
}

static void come_up(void)
{
	struct ev ev;

	while (audio_thread_pop(o.t, &ev)) {
		for (unsigned i = 0; i < o.n; i++)
			if (ev.type == EV_WANT_SPEAKING && ev.stream == o.s[i].l)
				o.s[i].wants = ev.on;
		o.samples += ev.type == EV_HEARD ? ev.heard.n : 0;
		o.last_heard = ev.type == EV_HEARD ? o.now : o.last_heard;
		o.stopped = o.stopped || (ev.type == EV_LANE && ev.lane.what == SENDER_STOPPED);
		ev_dispose(&ev);
	}
	o.heard = audio_thread_waiting(o.t);
	for (unsigned i = 0; i < o.n; i++) {
		if (o.s[i].wants)
			command(&o.s[i], (struct cmd){.type = CMD_SPEAKING_SENT});
		o.s[i].wants = false;
	}
}

static void say(struct speaker *s, unsigned frames)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd c = {.type = CMD_LANE_PCM,
			.lane = {.playback = LANE, .n = ENTRY_PCM, .pcm = frame_pcm}};

	for (unsigned i = 0; i < ENTRY_PCM; i++)
		frame_pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * 1000 * i / LANE_RATE));
	while (frames--)
		command(s, c);
}

static void follow(struct speaker *s, const struct rtp_header *h)
{
	uint64_t late = (o.now - s->l->phase) % FRAME;

	o.latest = late > o.latest ? late : o.latest;
	if (s->sent) {
		uint64_t passed = (uint64_t)(h->ts - s->ts) / RTP_FRAME * FRAME;

		s->due += passed;
		s->soon += o.now - s->at < 15 * NS_PER_MS;
		s->odd += (h->ts - s->ts) % RTP_FRAME != 0 || passed == 0 ||
			  (uint16_t)(h->seq - s->seq) != 1;
	} else {
		s->due = o.now;
	}
	s->sent++;
	s->at = o.now;
	s->seq = h->seq;
	s->ts = h->ts;
}

static void network(struct speaker *s)
{
	uint8_t p[UDP_MAX_PACKET];
	struct rtpsize_rtp in;
	ssize_t n;

	while ((n = recv(s->fd, p, sizeof p, MSG_DONTWAIT)) > 0) {
		if (udp_classify(p, (size_t)n) != UDP_RTP ||
		    rtpsize_open(o.wire, p, (size_t)n, NULL, 0, &in))
			continue;
		follow(s, &in.h);
		s->frames++;
	}
}

/* The thread looks at its clock between any two steps, so each look comes after at most one frame
 * that was encoded, and one datagram that was received. */
static uint64_t look_at_clock(void *arg)
{
	(void)arg;
	/* Time stands still in a turn that would never end. */
	if (o.now > o.began + NS_PER_S)
		return o.now;
	for (unsigned i = 0; i < o.n; i++)
		network(&o.s[i]);
	for (unsigned i = 0; i < o.n; i++) {
		struct speaker *s = &o.s[i];

		if (s->working && !s->l->work_due)
			o.now += cost(complexity_of(s));
		o.now += (s->l->stats.malformed - s->received) * o.datagram;
		s->working = s->l->work_due;
		s->received = s->l->stats.malformed;
	}
	if (o.frame && audio_thread_waiting(o.t) > o.heard)
		o.now += (audio_thread_waiting(o.t) - o.heard) * o.frame;
	o.heard = audio_thread_waiting(o.t);
	return o.now;
}

static void watch_complexity(void)
{
	unsigned now = complexity_of(&o.s[0]);

	for (unsigned i = 1; i < CALLS; i++)
		o.wrong += complexity_of(&o.s[i]) != now;
	if (now == o.complexity)
		return;
	o.wrong += now + 1 != o.complexity && now != o.complexity + 1;
	o.wrong += o.changes && o.now - o.changed < LOAD_WINDOW_MS * NS_PER_MS;
	o.complexity = now;
	o.changed = o.now;
	o.changes++;
}

/* One turn of the thread's loop: it wakes at the next deadline, or is late. */
static void turn(void)
{
	uint64_t next = audio_thread_next(o.t, o.now);

	if (o.now < next)
		o.now = next;
	o.began = o.now;
	audio_thread_turn(o.t);
	for (unsigned i = 0; i < o.n; i++) {
		say(&o.s[i], o.s[i].frames);
		o.s[i].frames = 0;
	}
	come_up();
	watch_complexity();
}

static void run(unsigned ms)
{
	for (uint64_t end = o.now + ms * NS_PER_MS; o.now < end;)
		turn();
}

static int add_call(void)
{
	struct speaker *s = &o.s[o.n];
	struct cmd c = {.type = CMD_STREAM_ADD};
	int fds[2], err = call_stream_alloc(&s->l, NULL, 64000);

	if (err)
		return err;
	o.n++;
	command(s, c);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		return errno;
	s->fd = fds[0];
	c = (struct cmd){.type = CMD_LINK, .link = {.fd = fds[1], .link = 1, .ssrc = 40 + o.n}};
	command(s, c);
	c = (struct cmd){.type = CMD_KEY};
	err = rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key);
	if (err)
		return err;
	command(s, c);
	command(s,
		(struct cmd){.type = CMD_DAVE_CLEAR, .dave = {.send = true, .until = UINT64_MAX}});
	c = (struct cmd){.type = CMD_LANE_ADD};
	err = lane_alloc(&c.lane.lane, LANE, LANE_GAIN_UNITY);
	if (err)
		return err;
	command(s, c);
	say(s, 10);
	come_up();
	return 0;
}

/* An empty thread. */
static int start_thread(double slow)
{
	int err;

	memset(&o, 0, sizeof o);
	o.now = 5000 * NS_PER_MS;
	o.slow = slow;
	o.datagram = DATAGRAM_NS;
	o.complexity = ENCODER_COMPLEXITY;
	err = audio_thread_alloc(&o.t, 1, false, NULL);
	if (err)
		return err;
	env_replay_clock(audio_thread_env(o.t), look_at_clock, NULL);
	return rtpsize_alloc(&o.wire, RTPSIZE_XCHACHA20_POLY1305, key);
}

static int start(double slow)
{
	int err = start_thread(slow);

	for (unsigned i = 0; !err && i < CALLS; i++)
		err = add_call();
	return err;
}

static void finish(void)
{
	for (unsigned i = 0; i < o.n; i++)
		close(o.s[i].fd);
	audio_thread_free(o.t);
	rtpsize_free(o.wire);
}

static unsigned permille(unsigned complexity)
{
	return (unsigned)(CALLS * cost(complexity) * 1000 / FRAME);
}

/* Forgets what was, and runs: whether each call's packets left at their deadlines. */
static bool on_schedule(unsigned ms)
{
	uint64_t late = 0;

	for (unsigned i = 0; i < CALLS; i++) {
		o.s[i].due = o.s[i].at;
		o.s[i].sent = o.s[i].sent > 0;
		o.s[i].soon = 0;
	}
	run(ms);
	for (unsigned i = 0; i < CALLS; i++) {
		const struct speaker *s = &o.s[i];

		late += s->at > s->due + 5 * NS_PER_MS || s->due > s->at + 5 * NS_PER_MS;
		if (s->odd || s->soon || s->sent < ms / SENDER_TICK_MS - 2 || late)
			return false;
	}
	return true;
}

/* It has more to do than there is time. It is late at first, and never sends in a burst; then it is
 * degraded, and in time. */
TEST(overload_eases_a_step_a_window_and_recovers)
{
	unsigned degraded, least = ENCODER_COMPLEXITY;

	CHECK_INT(start(1.4), 0);
	CHECK(permille(ENCODER_COMPLEXITY) > 1100);
	while (least && permille(least) > LOAD_HIGH)
		least--;
	run((ENCODER_COMPLEXITY + 2) * LOAD_WINDOW_MS);
	CHECK_INT(o.complexity, least);
	CHECK_INT(o.changes, ENCODER_COMPLEXITY - least);
	for (unsigned i = 0; i < CALLS; i++)
		CHECK_INT(o.s[i].odd, 0);
	/* It stays there: busy, and on schedule. */
	CHECK(on_schedule(3000));
	CHECK_INT(o.complexity, least);
	/* A new stream is degraded from the first frame, and so is any playback requested
	 * meanwhile. */
	degraded = ENCODER_COMPLEXITY - least;
	o.slow /= 1.25;
	CHECK_INT(add_call(), 0);
	CHECK_INT(complexity_of(&o.s[CALLS]), least);
	command(&o.s[CALLS],
		(struct cmd){.type = CMD_SET, .set = {.bitrate = 64000, .complexity = 9}});
	CHECK_INT(complexity_of(&o.s[CALLS]), 9 - degraded);
	/* There is time again: a step back after two seconds each. */
	o.slow = 0.1;
	o.changes = 0;
	CHECK(permille(ENCODER_COMPLEXITY) * (CALLS + 1) / CALLS < LOAD_LOW);
	CHECK(on_schedule((degraded + 1) * (LOAD_CALM + 1) * LOAD_WINDOW_MS));
	CHECK_INT(o.complexity, ENCODER_COMPLEXITY);
	CHECK_INT(o.changes, degraded);
	CHECK_INT(complexity_of(&o.s[CALLS]), 9);
	CHECK_INT(o.wrong, 0);
	finish();
}

/* However easy they take it, it is too much: deadlines are passed over, nothing comes in a burst,
 * RTP time goes on. */
TEST(overload_without_end_never_bursts)
{
	CHECK_INT(start(9), 0);
	CHECK(permille(0) > 1500);
	run(4000);
	CHECK_INT(o.complexity, 0);
	for (unsigned i = 0; i < CALLS; i++) {
		const struct speaker *s = &o.s[i];

		CHECK_INT(s->odd, 0);
		CHECK(s->sent > 30 && s->sent < 180);
		CHECK(s->at < s->due + (SENDER_REBASE_MS + SENDER_TICK_MS) * NS_PER_MS);
		CHECK(s->soon <= s->sent / 4);
	}
	/* The machine is itself again. */
	o.slow = 0.05;
	run(200);
	CHECK(on_schedule(2000));
	finish();
}

/* One round of encoding takes longer than 20 ms at every complexity. A playback that is stopped
 * meanwhile, by a barge-in for example, stops after a few frames of the others. */
TEST(overload_keeps_reading_commands)
{
	struct cmd c = {.type = CMD_LANE_CONTROL, .lane = {.playback = LANE, .what = SENDER_STOP}};
	uint64_t asked;

	CHECK_INT(start(9), 0);
	run(500);
	c.stream = o.s[1].l;
	asked = o.now;
	CHECK(audio_thread_push(o.t, &c));
	audio_thread_wake(o.t);
	while (!o.stopped && o.now < asked + 2000 * NS_PER_MS)
		turn();
	CHECK(o.now - asked < 2 * (cost(ENCODER_COMPLEXITY) + 5 * NS_PER_MS));
	finish();
}

/* Streams that neither speak nor hear, so that those after them have other phases. */
static int add_idle(unsigned n)
{
	struct cmd c = {.type = CMD_STREAM_ADD};
	int err = 0;

	for (; n && !err; n--) {
		err = call_stream_alloc(&c.stream, NULL, 64000);
		if (!err && !audio_thread_push(o.t, &c))
			abort();
		if (!err)
			env_replay_step(audio_thread_env(o.t), o.now, COMMAND, 0, NULL, 0);
	}
	return err;
}

/* Three streams share a phase. The thread encodes for them while the frame of a fourth one becomes
 * due, and sends that one in between. */
TEST(overload_sends_between_encodings)
{
	static const unsigned idle[] = {3, 3, 7, 0};

	CHECK_INT(start_thread(0.4), 0);
	for (unsigned i = 0; i < CALLS; i++) {
		CHECK_INT(add_call(), 0);
		CHECK_INT(add_idle(idle[i]), 0);
	}
	run(500);
	o.latest = 0;
	CHECK(on_schedule(500));
	CHECK(o.latest < cost(ENCODER_COMPLEXITY));
	finish();
}

/* Fifteen datagrams that take a millisecond each: frames leave in between. */
TEST(overload_sends_between_datagrams)
{
	static const uint8_t malformed[] = {1, 2, 3};

	CHECK_INT(start(0.1), 0);
	run(500);
	o.latest = 0;
	for (unsigned i = 0; i < 15; i++)
		CHECK_INT(send(o.s[0].fd, malformed, sizeof malformed, 0), sizeof malformed);
	CHECK(on_schedule(200));
	CHECK_INT(o.s[0].received, 15);
	CHECK(o.latest <= DATAGRAM_NS + cost(ENCODER_COMPLEXITY));
	finish();
}

/* A call that only listens, and a datagram from the network. */
static int add_listener(void)
{
	struct speaker *s = &o.s[o.n];
	struct cmd key_cmd = {.type = CMD_KEY};
	int fds[2];

	if (call_stream_alloc(&s->l, NULL, 64000) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) ||
	    rtpsize_alloc(&key_cmd.key, RTPSIZE_XCHACHA20_POLY1305, key))
		return 1;
	o.n++;
	s->fd = fds[0];
	command(s, (struct cmd){.type = CMD_STREAM_ADD});
	command(s, (struct cmd){.type = CMD_LINK, .link = {.fd = fds[1], .link = 1, .ssrc = 40}});
	command(s, key_cmd);
	come_up();
	return 0;
}

static bool sends_malformed(const struct speaker *s)
{
	static const uint8_t malformed[] = {1, 2, 3};

	return send(s->fd, malformed, sizeof malformed, 0) == sizeof malformed;
}

/* A thread that stood still rests first, and reads its sockets in the same turn. */
TEST(overload_a_stalled_thread_reads_its_sockets_at_once)
{
	CHECK_INT(start_thread(0.1), 0);
	CHECK_INT(add_listener(), 0);
	for (uint64_t end = o.now + 5000 * NS_PER_MS; o.now < end;) {
		o.now = o.began = audio_thread_next(o.t, o.now);
		audio_thread_turn(o.t);
	}
	o.now = o.began = o.now + 60 * NS_PER_MS;
	CHECK(sends_malformed(&o.s[0]));
	audio_thread_turn(o.t);
	CHECK_INT(o.s[0].l->stats.malformed, 1);
	finish();
}

/* The loop thread wakes the audio thread in each turn, as it does while it passes on speech. */
TEST(overload_a_thread_that_is_woken_reads_its_sockets)
{
	CHECK_INT(start_thread(0.1), 0);
	CHECK_INT(add_listener(), 0);
	for (unsigned ms = 0; ms < 500; ms++) {
		o.now = o.began = o.now + NS_PER_MS;
		audio_thread_wake(o.t);
		if (ms % 20 == 0)
			CHECK(sends_malformed(&o.s[0]));
		audio_thread_turn(o.t);
	}
	CHECK_INT(o.s[0].l->stats.malformed, 25);
	finish();
}

/* The datagrams that one system call reads last longer than a frame, as when each conceals a long
 * gap, while four calls speak: their frames are encoded and leave in between. */
TEST(overload_encodes_between_datagrams)
{
	CHECK_INT(start(0.01), 0);
	o.datagram = 2 * DATAGRAM_NS;
	run(500);
	o.latest = 0;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < 64; i++)
			CHECK(sends_malformed(&o.s[k]));
	CHECK(on_schedule(500));
	CHECK_INT(o.s[0].received + o.s[1].received, 128);
	CHECK(o.latest <= 2 * o.datagram);
	finish();
}

/* Each socket has a backlog, as after a stall of the host; a barge-in is obeyed between the turns.
 */
TEST(overload_reads_a_backlog_in_several_turns)
{
	struct cmd c = {.type = CMD_LANE_CONTROL, .lane = {.playback = LANE, .what = SENDER_STOP}};
	uint64_t asked, longest = 0;

	CHECK_INT(start(0.01), 0);
	run(500);
	for (unsigned k = 0; k < CALLS; k++)
		for (unsigned i = 0; i < 64; i++)
			CHECK(sends_malformed(&o.s[k]));
	c.stream = o.s[1].l;
	asked = o.now;
	CHECK(audio_thread_push(o.t, &c));
	audio_thread_wake(o.t);
	while (!o.stopped && o.now < asked + 4000 * NS_PER_MS) {
		turn();
		longest = o.now - o.began > longest ? o.now - o.began : longest;
	}
	CHECK(longest <= 60 * NS_PER_MS);
	CHECK(o.now - asked <= 60 * NS_PER_MS);
	finish();
}

static struct slot *add_member(struct speaker *s, unsigned i)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	struct slot *slot = NULL;

	if (slot_alloc(&slot, s->l, 500 + i, true, 1))
		abort();
	c.slot.slot = slot;
	command(s, c);
	c.type = CMD_LISTEN;
	c.slot.listen = 1 + i;
	c.slot.rate = 24000;
	c.slot.silence_ms = 500;
	if (audio_decoder_alloc(&c.slot.decoder, 24000))
		abort();
	command(s, c);
	c.type = CMD_SLOT_MAP;
	c.slot.ssrc = MEMBER_SSRC + i;
	command(s, c);
	come_up();
	return slot;
}

/* Number 1, then all from number 3 on. */
static void send_behind_gap(const struct speaker *s, uint32_t ssrc)
{
	static uint8_t frame[ENCODER_OPUS_MAX], packet[AUDIO_OPUS_MAX];
	size_t frame_n, n = long_packet_make(frame, &frame_n, packet, sizeof packet);

	for (uint16_t i = 0; i <= HELD; i++) {
		uint16_t seq = (uint16_t)(i ? 2 + i : 1);
		struct rtp_header h = {.pt = RTP_PT_OPUS,
				       .seq = seq,
				       .ts = seq * LONG_PACKET_FRAMES * RTP_FRAME,
				       .ssrc = ssrc};
		uint8_t out[UDP_MAX_PACKET];
		size_t len;

		if (rtpsize_seal(o.wire, &h, packet, n, out, sizeof out, &len) ||
		    send(s->fd, out, len, 0) != (ssize_t)len)
			abort();
	}
}

/* Four members of one call send two seconds each in a moment, behind a packet that never comes.
 * Decoding them takes 86 ms; the frames of all four calls leave in between, and all
 * of it is heard as soon as it is decoded. */
TEST(overload_sends_between_speakers)
{
	const uint64_t all = (uint64_t)MEMBERS * (HELD + 2) * LONG_PACKET_FRAMES;
	uint64_t step = CALL_STREAM_STEP_MS / 20 + 2 * LONG_PACKET_FRAMES, sent;

	CHECK_INT(start(0.01), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		add_member(&o.s[0], i);
	run(500);
	o.latest = 0;
	sent = o.now;
	for (unsigned i = 0; i < MEMBERS; i++)
		send_behind_gap(&o.s[0], MEMBER_SSRC + i);
	o.frame = NS_PER_MS / 5;
	CHECK(on_schedule(1000));
	CHECK_INT(o.samples, all * 480);
	CHECK(o.latest <= step * o.frame + 2 * cost(ENCODER_COMPLEXITY));
	CHECK(o.last_heard - sent <= all * o.frame + (AUDIO_REORDER_MAX_MS + 40) * NS_PER_MS);
	finish();
}
