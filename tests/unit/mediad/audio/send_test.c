#include "tests/test.h"

#include <math.h>
#include <opus/opus.h>

#include "mediad/audio/send.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

#define TICK (20 * NS_PER_MS)
enum { MAX_OUT = 2000, MAX_EVENTS = 100, SECOND = 48000 };

/* The owner of a sender: runs its ticks, plays gateway and socket. */
static struct rig {
	struct sender *s;
	uint64_t now;
	bool slow_gateway, dead_socket;
	struct out {
		uint64_t at;
		uint16_t seq;
		uint32_t ts;
		bool silence;
		size_t len;
		uint8_t opus[SENDER_OPUS_MAX];
	} out[MAX_OUT];
	int n_out;
	struct sender_event ev[MAX_EVENTS];
	int n_ev, n_ops, told_out[MAX_EVENTS]; /* told_out: packets sent when it was told */
} rig;
static int16_t tone[2 * SECOND];

static void event_h(const struct sender_event *ev, void *arg)
{
	struct rig *r = arg;

	r->told_out[r->n_ev] = r->n_out;
	r->ev[r->n_ev++] = *ev;
	if (ev->lane)
		lane_id(ev->lane);
	if ((ev->type == SENDER_DRAINED || ev->type == SENDER_STOPPED) && ev->lane)
		lane_free(ev->lane);
	r->n_ops += ev->type == SENDER_SPEAKING;
}

static void tick_at(uint64_t now)
{
	struct sender_packet p;

	rig.now = now;
	if (!rig.slow_gateway)
		sender_speaking_sent(rig.s);
	if (now < sender_next(rig.s))
		return;
	if (sender_due(rig.s, now, &p)) {
		if (!rig.dead_socket && rig.n_out < MAX_OUT) {
			struct out *o = &rig.out[rig.n_out++];

			*o = (struct out){.at = now,
					  .seq = p.seq,
					  .ts = p.ts,
					  .silence = p.silence,
					  .len = p.len};
			memcpy(o->opus, p.opus, p.len);
		}
		sender_done(rig.s, !rig.dead_socket, now);
	}
	sender_prepare(rig.s, now);
}

static void run_ms(unsigned ms)
{
	for (uint64_t end = rig.now + ms * NS_PER_MS; rig.now + TICK <= end;)
		tick_at(rig.now + TICK);
}

static void setup(bool joined)
{
	memset(&rig, 0, sizeof rig);
	for (int i = 0; i < 2 * SECOND; i++)
		tone[i] = (int16_t)lrint(9000 * sin(2 * M_PI * 300 * i / 48000.0));
	if (sender_alloc(&rig.s, 64000, event_h, &rig))
		abort();
	sender_set_gate(rig.s, true);
	sender_start(rig.s, 0, 65533, 0xffffff00);
	tick_at(0);
	if (joined) { /* past the silence of joining */
		run_ms(200 + SENDER_SPEAKING_HOLD_MS);
		rig.n_out = rig.n_ev = rig.n_ops = 0;
	}
}

static struct lane *say(uint32_t id, size_t n, bool end)
{
	struct lane *l = NULL;

	if (lane_alloc(&l, id, 1000) || lane_write(l, tone, n, rig.now) || sender_add(rig.s, l))
		abort();
	if (end)
		lane_end(l);
	return l;
}

static const struct sender_event *find_event(enum sender_event_type type)
{
	for (int i = 0; i < rig.n_ev; i++)
		if (rig.ev[i].type == type)
			return &rig.ev[i];
	return NULL;
}

TEST(send_joins_with_five_silence_frames)
{
	setup(false);
	run_ms(400 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(rig.n_out, 5);
	for (int i = 0; i < 5; i++) {
		CHECK(rig.out[i].silence);
		CHECK_MEM(rig.out[i].opus, rig.out[i].len, OPUS_SILENCE, 3);
		CHECK_INT(rig.out[i].seq, (uint16_t)(65533 + i));
	}
	CHECK_INT(rig.n_ops, 2); /* on, off */
	CHECK(rig.ev[0].on && !rig.ev[1].on);
	sender_free(rig.s);
}

TEST(send_an_utterance)
{
	const struct sender_event *ev;

	setup(true);
	say(3, SECOND + 100, true);
	run_ms(2000);
	CHECK_INT(rig.n_ops, 1);
	run_ms(400);
	/* 50 frames, one with the last 100 samples, five of silence. */
	CHECK_INT(rig.n_out, 56);
	for (int i = 0; i < 56; i++) {
		CHECK(rig.out[i].silence == (i >= 51));
		if (i)
			CHECK(rig.out[i].at - rig.out[i - 1].at == TICK);
	}
	CHECK_INT(rig.n_ops, 2);
	CHECK(rig.ev[0].type == SENDER_SPEAKING && rig.ev[0].on && rig.told_out[0] == 0);
	CHECK(rig.ev[1].type == SENDER_STARTED && rig.ev[1].at == rig.out[0].at);
	CHECK_INT(rig.told_out[1], 1);
	CHECK(rig.ev[2].type == SENDER_DRAINED);
	CHECK_INT(rig.told_out[2], 51); /* when its last sample left, before the silence */
	CHECK(rig.ev[3].type == SENDER_SPEAKING && !rig.ev[3].on && rig.told_out[3] == 56);
	ev = find_event(SENDER_DRAINED);
	CHECK_INT(ev->samples, SECOND + 100);
	CHECK_INT(ev->playback, 3);
	CHECK(!sender_lane(rig.s, 3));
	sender_free(rig.s);
}

/* Speech that halts again and again is one utterance for the gateway, and even the worst rhythm
 * stays below its limit of 20 in ten seconds. */
TEST(send_halting_speech_needs_few_op_5)
{
	setup(true);
	for (uint32_t i = 1; i <= 100; i++) {
		say(i, 60 * 48, true);
		run_ms(900);
		rig.n_ev = rig.n_out = 0;
	}
	CHECK_INT(rig.n_ops, 1);
	sender_free(rig.s);
	setup(true);
	for (uint32_t i = 1; i <= 80; i++) {
		int before = rig.n_ops;

		say(i, 48, true);
		run_ms(1240);
		CHECK(rig.n_ops <= before + 2);
		rig.n_ev = rig.n_out = 0;
	}
	CHECK(rig.n_ops >= 80 && rig.n_ops <= 80 * 2);
	sender_free(rig.s);
}

/* When the last frame is full, what the encoder still holds goes out in one more. */
TEST(send_flushes_the_lookahead)
{
	setup(true);
	say(3, SECOND, true);
	run_ms(2000);
	CHECK_INT(rig.n_out, 50 + 1 + 5);
	sender_free(rig.s);
}

TEST(send_rtp_time_goes_on_through_silence)
{
	struct out first;

	setup(true);
	say(1, 9600, true);
	run_ms(1000);
	first = rig.out[0];
	rig.n_out = 0;
	run_ms(3000);
	CHECK_INT(rig.n_out, 0);
	say(2, 9600, true);
	run_ms(1000);
	CHECK(rig.n_out > 0);
	CHECK_INT((uint32_t)(rig.out[0].ts - first.ts), (rig.out[0].at - first.at) / TICK * 960);
	CHECK_INT(rig.out[0].seq, (uint16_t)(first.seq + 10 + 1 + 5)); /* numbers do not */
	sender_free(rig.s);
}

TEST(send_never_bursts_after_a_stall)
{
	uint64_t t;
	struct sender_stats st;

	setup(true);
	say(1, 2 * SECOND, true);
	run_ms(300);
	CHECK(rig.n_out > 5);
	rig.n_out = 0;
	/* The owner comes 1010 ms late, then every 5 ms. */
	t = rig.now + 1010 * NS_PER_MS;
	for (int i = 0; i <= 80; i++)
		tick_at(t + (uint64_t)i * 5 * NS_PER_MS);
	CHECK(rig.n_out >= 20 && rig.n_out <= 22);
	for (int i = 1; i < rig.n_out; i++) {
		CHECK(rig.out[i].at - rig.out[i - 1].at >= 10 * NS_PER_MS);
		CHECK_INT(rig.out[i].seq, (uint16_t)(rig.out[0].seq + i)); /* no sound was lost */
		CHECK_INT((uint32_t)(rig.out[i].ts - rig.out[i - 1].ts), 960);
	}
	sender_stats(rig.s, &st);
	CHECK(st.skipped >= 49 && st.skipped <= 50);
	CHECK(st.late >= 1);
	sender_free(rig.s);
}

TEST(send_small_lateness_is_caught_up)
{
	uint64_t t;

	setup(true);
	say(1, 2 * SECOND, true);
	run_ms(300);
	rig.n_out = 0;
	t = rig.now;
	for (unsigned i = 1; i <= 50; i++)
		tick_at(t + i * TICK + (i * 7 % 19) * NS_PER_MS); /* up to 18 ms late each */
	CHECK_INT(rig.n_out, 50);
	CHECK_INT((uint32_t)(rig.out[49].ts - rig.out[0].ts), 49 * 960);
	sender_free(rig.s);
}

TEST(send_waits_for_op_5)
{
	setup(true);
	rig.slow_gateway = true;
	say(1, SECOND, true);
	run_ms(480);
	CHECK_INT(rig.n_out, 0);
	CHECK_INT(rig.n_ops, 1); /* once */
	run_ms(100);
	CHECK(rig.n_out > 0); /* the server has had one in this session */
	CHECK_INT(rig.n_ops, 1);
	sender_free(rig.s);

	setup(false); /* a new session: never without */
	sender_halt(rig.s, rig.now);
	rig.slow_gateway = true;
	sender_start(rig.s, rig.now, 1, 1);
	rig.n_ops = rig.n_out = 0;
	say(1, SECOND, true);
	run_ms(3000);
	CHECK_INT(rig.n_out, 0);
	CHECK(rig.n_ops >= 4);
	rig.slow_gateway = false;
	run_ms(2000);
	CHECK(find_event(SENDER_DRAINED)->samples == SECOND);
	sender_free(rig.s);
}

/* With the extra calls of prepare the first frame leaves with the next deadline. */
TEST(send_starts_at_the_next_deadline)
{
	setup(true);
	say(1, 4800, true);
	sender_prepare(rig.s, rig.now + NS_PER_MS);
	CHECK_INT(rig.n_ops, 1);
	sender_speaking_sent(rig.s);
	sender_prepare(rig.s, rig.now + 2 * NS_PER_MS);
	sender_prepare(rig.s, rig.now + 3 * NS_PER_MS);
	run_ms(20);
	CHECK_INT(rig.n_out, 1);
	run_ms(300);
	CHECK_INT(rig.n_out, 5 + 1 + 5);
	sender_free(rig.s);
}

TEST(send_counts_only_sent_samples)
{
	setup(true);
	say(1, 4800, true);
	run_ms(80);
	CHECK_INT(rig.n_out, 2);
	rig.dead_socket = true;
	run_ms(20);
	rig.dead_socket = false;
	run_ms(500);
	CHECK_INT(find_event(SENDER_DRAINED)->samples, 4 * 960);
	sender_free(rig.s);

	setup(true);
	rig.dead_socket = true;
	say(1, 4800, true);
	run_ms(500);
	CHECK(!find_event(SENDER_STARTED));
	CHECK_INT(find_event(SENDER_DRAINED)->samples, 0);
	sender_free(rig.s);
}

TEST(send_pause_resume_stop)
{
	const struct sender_event *ev;
	int n;

	setup(true);
	say(1, 2 * SECOND, false);
	run_ms(500);
	n = rig.n_out;
	CHECK(sender_command(rig.s, 1, SENDER_PAUSE, 0, 0, rig.now));
	CHECK(!find_event(SENDER_PAUSED)); /* one frame is prepared */
	run_ms(400);
	ev = find_event(SENDER_PAUSED);
	CHECK(ev && ev->samples == (uint64_t)(n + 1) * 960);
	CHECK_INT(rig.n_out, n + 1 + 1 + 5);
	CHECK(sender_command(rig.s, 1, SENDER_RESUME, 0, 20, rig.now));
	run_ms(200);
	CHECK(sender_command(rig.s, 1, SENDER_STOP, 0, 100, rig.now));
	run_ms(200);
	ev = find_event(SENDER_STOPPED);
	CHECK(ev && ev->samples > (uint64_t)(n + 8) * 960 &&
	      ev->samples < (uint64_t)(n + 17) * 960);
	CHECK(!sender_command(rig.s, 1, SENDER_STOP, 0, 0, rig.now));
	sender_free(rig.s);
}

/* Not even the frame that was made already goes out; what the server hears next is silence. */
TEST(send_stop_without_fade_is_silent_at_once)
{
	const struct sender_event *ev;
	int n;

	setup(true);
	say(1, SECOND, false);
	run_ms(300);
	n = rig.n_out;
	CHECK(n > 5 && !rig.out[n - 1].silence);
	CHECK(sender_command(rig.s, 1, SENDER_STOP, 0, 0, rig.now));
	ev = find_event(SENDER_STOPPED);
	CHECK(ev && ev->samples == (uint64_t)n * 960);
	run_ms(400);
	CHECK_INT(rig.n_out, n + 5);
	for (int i = n; i < rig.n_out; i++)
		CHECK(rig.out[i].silence);
	sender_free(rig.s);
}

/* What others say in that frame is not taken back. */
TEST(send_stop_leaves_the_other_lane_alone)
{
	const struct sender_event *ev;
	int n;

	setup(true);
	say(1, SECOND, false);
	say(2, SECOND, false);
	run_ms(300);
	n = rig.n_out;
	CHECK(sender_command(rig.s, 1, SENDER_STOP, 0, 0, rig.now));
	CHECK(!find_event(SENDER_STOPPED));
	run_ms(200);
	ev = find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 1 && ev->samples == (uint64_t)(n + 1) * 960);
	CHECK_INT(rig.n_out, n + 10);
	for (int i = n; i < rig.n_out; i++)
		CHECK(!rig.out[i].silence);
	sender_free(rig.s);
}

TEST(send_halt_keeps_lanes)
{
	const struct sender_event *ev;

	setup(true);
	say(1, SECOND, true);
	say(2, SECOND, true);
	run_ms(300);
	sender_command(rig.s, 2, SENDER_STOP, 0, 1000, rig.now);
	sender_halt(rig.s, rig.now);
	CHECK(sender_next(rig.s) == UINT64_MAX);
	ev = find_event(SENDER_STOPPED); /* its fade would never end */
	CHECK(ev && ev->playback == 2);
	rig.n_out = 0;
	sender_start(rig.s, rig.now + 500 * NS_PER_MS, 100, 5000);
	run_ms(2000);
	CHECK(rig.out[0].seq == 100 && rig.out[0].silence && rig.out[0].ts > 5000);
	ev = find_event(SENDER_DRAINED);
	CHECK(ev && ev->playback == 1 &&
	      ev->samples == SECOND - 960); /* the prepared frame was lost */
	sender_free(rig.s);
}

TEST(send_lanes_are_limited)
{
	struct lane *l;

	setup(true);
	for (uint32_t i = 0; i < SENDER_LANES; i++)
		say(i, 100, false);
	CHECK_INT(lane_alloc(&l, 3, 1000), 0);
	CHECK_INT(sender_add(rig.s, l), EEXIST);
	lane_free(l);
	CHECK_INT(lane_alloc(&l, 99, 1000), 0);
	CHECK_INT(sender_add(rig.s, l), ENOSPC);
	lane_free(l);
	run_ms(200); /* one of them may be in the prepared frame */
	for (int i = 0; i < SENDER_LANES; i++) {
		l = sender_take(rig.s);
		CHECK(l != NULL);
		lane_free(l);
	}
	CHECK(!sender_take(rig.s));
	run_ms(100);
	sender_free(rig.s);
}

/* Normalised correlation of b (shifted by the codec's delay) with a. */
static double likeness(const int16_t *a, const int16_t *b, int n, int shift)
{
	double ab = 0, aa = 1e-9, bb = 1e-9;

	for (int i = 0; i < n - shift; i++) {
		ab += (double)a[i] * b[i + shift];
		aa += (double)a[i] * a[i];
		bb += (double)b[i + shift] * b[i + shift];
	}
	return ab / sqrt(aa * bb);
}

/* A buzz with moving formants, near enough to a voice that the codec treats it as one. */
static void voice(int16_t *out, int n)
{
	double y1 = 0, y2 = 0, phase = 0;

	for (int i = 0; i < n; i++) {
		double t = i / 48000.0, f = 500 + 300 * sin(2 * M_PI * 3 * t), r = 0.995;

		phase += (110 + 10 * sin(2 * M_PI * 2 * t)) / 48000;
		double pulse = phase >= 1 ? 900 : 0;

		phase -= phase >= 1;
		double y = pulse + 2 * r * cos(2 * M_PI * f / 48000) * y1 - r * r * y2;

		y2 = y1;
		y1 = y;
		out[i] = (int16_t)lrint(fmax(-20000, fmin(20000, y * 4)));
	}
}

/* What arrives is what was said, also right after a pause. */
TEST(send_output_matches_input)
{
	static int16_t speech[2 * SECOND], heard[2 * SECOND];

	voice(speech, 2 * SECOND);

	for (int round = 0; round < 2; round++) {
		int err, n = 0, skip = 0;
		OpusDecoder *d = opus_decoder_create(48000, 1, &err);
		struct lane *l = NULL;
		const int16_t *said = speech + round * 31000; /* the second begins in full voice */

		if (round == 0)
			setup(true);
		CHECK_INT(lane_alloc(&l, 1 + (uint32_t)round, 1000), 0);
		CHECK_INT(lane_write(l, said, SECOND, rig.now), 0);
		CHECK_INT(sender_add(rig.s, l), 0);
		lane_end(l);
		run_ms(2000);
		for (int i = 0; i < rig.n_out; i++) {
			int got;

			if (round == 1 && rig.out[i].silence && i < 60)
				skip = i + 1;
			got = opus_decode(d, rig.out[i].opus, (int)rig.out[i].len, heard + n, 960,
					  0);
			CHECK_INT(got, 960);
			n = skip == i + 1 ? 0 : n + got;
		}
		opus_decoder_destroy(d);
		CHECK(likeness(said, heard, SECOND, 312) > 0.9);
		CHECK(likeness(said, heard, 4800, 312) > 0.9);
	}
	sender_free(rig.s);
}

/* Silence frames make decoders start afresh, so each utterance must be encoded as if it were the
 * first. */
TEST(send_encodes_each_utterance_afresh)
{
	static struct out first[10];

	setup(true);
	say(1, 9600, true);
	run_ms(1000);
	memcpy(first, rig.out, sizeof first);
	rig.n_out = 0;
	say(2, 9600, true);
	run_ms(1000);
	for (int i = 0; i < 10; i++)
		CHECK_MEM(rig.out[i].opus, rig.out[i].len, first[i].opus, first[i].len);
	sender_free(rig.s);
}

TEST_OOM(send_without_memory)
{
	struct sender *s = NULL;

	CHECK_OOM(sender_alloc(&s, 1, event_h, &rig), );
	sender_set_bitrate(s, 1000000);
	sender_free(s);
	CHECK(!sender_free(NULL));
}

/* A playback whose end comes when all of it was sent, in a call that is between two sessions. */
TEST(send_drained_while_halted)
{
	struct lane *l;

	setup(true);
	l = say(7, 4800, false);
	run_ms(1000);
	CHECK_INT(lane_sent(l), 4800);
	sender_halt(rig.s, rig.now);
	CHECK(!find_event(SENDER_DRAINED));
	CHECK(sender_end(rig.s, 7, rig.now));
	CHECK(find_event(SENDER_DRAINED));
	CHECK_INT(find_event(SENDER_DRAINED)->samples, 4800);
	CHECK(!sender_end(rig.s, 7, rig.now));
	sender_free(rig.s);
}

/* ---- the gate ---- */

static void gate(bool open)
{
	sender_set_gate(rig.s, open);
	sender_prepare(rig.s, rig.now);
}

/* Nothing of what is said; the frames of joining are sent all the same. */
TEST(send_gate_closed_from_the_start)
{
	setup(false);
	gate(false);
	say(1, SECOND, true);
	run_ms(5000);
	CHECK_INT(rig.n_out, 5);
	for (int i = 0; i < 5; i++)
		CHECK(rig.out[i].silence);
	CHECK_INT(rig.n_ops, 2); /* on and off again, for these */
	CHECK(!find_event(SENDER_STARTED));
	rig.n_out = 0;
	gate(true);
	run_ms(2000 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(rig.n_out, 50 + 1 + 5);
	CHECK_INT(rig.n_ops, 4);
	CHECK_INT(find_event(SENDER_DRAINED)->samples, SECOND);
	sender_free(rig.s);
}

/* It pauses at its sample and goes on there: what arrives is all of it, once. */
TEST(send_gate_closes_in_the_middle)
{
	uint32_t ts;
	uint16_t seq;
	int n;

	setup(true);
	say(1, SECOND, true);
	run_ms(400);
	n = rig.n_out;
	CHECK(n > 10 && !rig.out[n - 1].silence);
	ts = rig.out[n - 1].ts;
	seq = rig.out[n - 1].seq;
	gate(false);
	run_ms(500 + SENDER_SPEAKING_HOLD_MS);
	/* The deadline has its frame: silence instead of the one that was made. */
	CHECK_INT(rig.n_out, n + 5);
	CHECK_INT((uint32_t)(rig.out[n].ts - ts), 960);
	for (int i = n; i < n + 5; i++)
		CHECK(rig.out[i].silence);
	CHECK_INT(rig.ev[rig.n_ev - 1].type, SENDER_SPEAKING);
	CHECK(!rig.ev[rig.n_ev - 1].on);
	CHECK_INT(lane_sent(sender_lane(rig.s, 1)), (uint64_t)n * 960);
	gate(true);
	run_ms(2000);
	CHECK(!rig.out[n + 5].silence);
	CHECK_INT(rig.out[n + 5].seq, (uint16_t)(seq + 6));
	CHECK_INT((uint32_t)(rig.out[n + 5].ts - ts),
		  (rig.out[n + 5].at - rig.out[n - 1].at) / TICK * 960);
	CHECK_INT(rig.n_out, 50 + 1 + 5 + 5);
	CHECK_INT(find_event(SENDER_DRAINED)->samples, SECOND);
	CHECK_INT(find_event(SENDER_DRAINED)->reason, MEDIA_REASON_NONE);
	sender_free(rig.s);
}

/* Closed and open again between two deadlines: nothing is to be heard of it. */
TEST(send_gate_closes_briefly)
{
	setup(true);
	say(1, SECOND, true);
	run_ms(400);
	gate(false);
	gate(true);
	run_ms(2000 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(rig.n_out, 50 + 1 + 5);
	for (int i = 1; i < rig.n_out; i++)
		CHECK(rig.out[i].at - rig.out[i - 1].at == TICK);
	CHECK_INT(rig.n_ops, 2);
	sender_free(rig.s);
}

TEST(send_gate_wait_ends_after_ten_seconds)
{
	const struct sender_event *ev;
	int n;

	setup(true);
	say(1, 2 * SECOND, false);
	run_ms(400);
	n = rig.n_out;
	gate(false);
	run_ms(3000);
	say(2, SECOND, true);
	run_ms(6900);
	CHECK(!find_event(SENDER_STOPPED));
	run_ms(200);
	ev = find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 1 && ev->reason == MEDIA_REASON_NO_KEY);
	CHECK_INT(ev->samples, (uint64_t)n * 960);
	CHECK(sender_lane(rig.s, 2));
	run_ms(2600);
	CHECK(sender_lane(rig.s, 2)); /* it came later, and its time is its own */
	run_ms(400);
	CHECK(!sender_lane(rig.s, 2));
	CHECK_INT(rig.ev[rig.n_ev - 1].reason, MEDIA_REASON_NO_KEY);
	CHECK_INT(rig.ev[rig.n_ev - 1].samples, 0);
	CHECK_INT(rig.n_out, n + 5);
	sender_free(rig.s);
}

/* Only the time of a session counts, and only that without a key. */
TEST(send_gate_wait_restarts)
{
	setup(true);
	gate(false);
	say(1, SECOND, true);
	run_ms(8000);
	gate(true);
	gate(false);
	run_ms(8000);
	CHECK(!find_event(SENDER_STOPPED));
	sender_halt(rig.s, rig.now);
	sender_start(rig.s, rig.now + 60000 * NS_PER_MS, 1, 1);
	rig.now += 60000 * NS_PER_MS;
	run_ms(8000);
	CHECK(!find_event(SENDER_STOPPED));
	sender_command(rig.s, 1, SENDER_PAUSE, 0, 0, rig.now);
	run_ms(20000); /* one that is paused does not wait */
	CHECK(!find_event(SENDER_STOPPED));
	sender_command(rig.s, 1, SENDER_RESUME, 0, 0, rig.now);
	run_ms(10200);
	CHECK(find_event(SENDER_STOPPED));
	sender_free(rig.s);
}

/* What is asked of a lane while the gate is closed takes effect within a frame, and to the sample.
 */
TEST(send_gate_closed_commands_take_effect)
{
	const struct sender_event *ev;
	int n;

	setup(true);
	say(1, 2 * SECOND, false);
	say(2, 2 * SECOND, false);
	run_ms(400);
	n = rig.n_out;
	CHECK(sender_command(rig.s, 2, SENDER_STOP, 0, 3000,
			     rig.now)); /* a fade that cannot go on */
	gate(false);
	CHECK(sender_command(rig.s, 1, SENDER_PAUSE, 0, 500, rig.now));
	run_ms(20);
	ev = find_event(SENDER_PAUSED);
	CHECK(ev && ev->playback == 1 && ev->samples == (uint64_t)n * 960);
	ev = find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 2 && ev->samples == (uint64_t)n * 960);
	CHECK_INT(ev->reason, MEDIA_REASON_NONE);
	CHECK(sender_command(rig.s, 1, SENDER_STOP, 0, 500, rig.now));
	CHECK(!sender_lane(rig.s, 1));
	sender_free(rig.s);
}

/* The buffer is full when the frame goes back into it. */
TEST(send_gate_returns_samples_to_a_full_lane)
{
	struct lane *l;
	int n;

	setup(true);
	l = say(1, 2 * SECOND, false);
	run_ms(400);
	n = rig.n_out;
	CHECK_INT(lane_pulled(l), (uint64_t)(n + 1) * 960);
	CHECK_INT(lane_write(l, tone, (size_t)n * 960 + 1, rig.now), ENOBUFS);
	CHECK_INT(lane_write(l, tone, (size_t)n * 960, rig.now), 0);
	gate(false);
	run_ms(100);
	CHECK_INT(lane_pulled(l), (uint64_t)n * 960);
	CHECK_INT(lane_room(l), 0);
	gate(true);
	lane_end(l);
	run_ms(3000);
	CHECK_INT(find_event(SENDER_DRAINED)->samples, (uint64_t)n * 960 + 2 * SECOND);
	sender_free(rig.s);
}
