#include "tests/unit/mediad/audio/send_fixture.h"

#include <math.h>
#include <opus/opus.h>

TEST(send_joins_with_five_silence_frames)
{
	send_setup(false);
	send_run_ms(400 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(send_rig.n_out, 5);
	for (int i = 0; i < 5; i++) {
		CHECK(send_rig.out[i].silence);
		CHECK_MEM(send_rig.out[i].opus, send_rig.out[i].len, OPUS_SILENCE, 3);
		CHECK_INT(send_rig.out[i].seq, (uint16_t)(65533 + i));
	}
	CHECK_INT(send_rig.n_ops, 2); /* on, off */
	CHECK(send_rig.ev[0].on && !send_rig.ev[1].on);
	sender_free(send_rig.s);
}

TEST(send_an_utterance)
{
	const struct sender_event *ev;

	send_setup(true);
	send_say(3, SECOND + 100, true);
	send_run_ms(2000);
	CHECK_INT(send_rig.n_ops, 1);
	send_run_ms(400);
	/* 50 frames, one with the last 100 samples, five of silence. */
	CHECK_INT(send_rig.n_out, 56);
	for (int i = 0; i < 56; i++) {
		CHECK(send_rig.out[i].silence == (i >= 51));
		if (i)
			CHECK(send_rig.out[i].at - send_rig.out[i - 1].at == TICK);
	}
	CHECK_INT(send_rig.n_ops, 2);
	CHECK(send_rig.ev[0].type == SENDER_SPEAKING && send_rig.ev[0].on &&
	      send_rig.told_out[0] == 0);
	CHECK(send_rig.ev[1].type == SENDER_STARTED && send_rig.ev[1].at == send_rig.out[0].at);
	CHECK_INT(send_rig.told_out[1], 1);
	CHECK(send_rig.ev[2].type == SENDER_DRAINED);
	CHECK_INT(send_rig.told_out[2], 51); /* when its last sample left, before the silence */
	CHECK(send_rig.ev[3].type == SENDER_SPEAKING && !send_rig.ev[3].on &&
	      send_rig.told_out[3] == 56);
	ev = send_find_event(SENDER_DRAINED);
	CHECK_INT(ev->samples, SECOND + 100);
	CHECK_INT(ev->playback, 3);
	CHECK(!sender_lane(send_rig.s, 3));
	sender_free(send_rig.s);
}

/* Speech that halts again and again is one utterance for the gateway, and even the worst rhythm
 * stays below its limit of 20 in ten seconds. */
TEST(send_halting_speech_needs_few_op_5)
{
	send_setup(true);
	for (uint32_t i = 1; i <= 100; i++) {
		send_say(i, 60 * 48, true);
		send_run_ms(900);
		send_rig.n_ev = send_rig.n_out = 0;
	}
	CHECK_INT(send_rig.n_ops, 1);
	sender_free(send_rig.s);
	send_setup(true);
	for (uint32_t i = 1; i <= 80; i++) {
		int before = send_rig.n_ops;

		send_say(i, 48, true);
		send_run_ms(1240);
		CHECK(send_rig.n_ops <= before + 2);
		send_rig.n_ev = send_rig.n_out = 0;
	}
	CHECK(send_rig.n_ops >= 80 && send_rig.n_ops <= 80 * 2);
	sender_free(send_rig.s);
}

/* When the last frame is full, what the encoder still holds goes out in one more. */
TEST(send_flushes_the_lookahead)
{
	send_setup(true);
	send_say(3, SECOND, true);
	send_run_ms(2000);
	CHECK_INT(send_rig.n_out, 50 + 1 + 5);
	sender_free(send_rig.s);
}

TEST(send_rtp_time_goes_on_through_silence)
{
	struct out first;

	send_setup(true);
	send_say(1, 9600, true);
	send_run_ms(1000);
	first = send_rig.out[0];
	send_rig.n_out = 0;
	send_run_ms(3000);
	CHECK_INT(send_rig.n_out, 0);
	send_say(2, 9600, true);
	send_run_ms(1000);
	CHECK(send_rig.n_out > 0);
	CHECK_INT((uint32_t)(send_rig.out[0].ts - first.ts),
		  (send_rig.out[0].at - first.at) / TICK * 960);
	CHECK_INT(send_rig.out[0].seq, (uint16_t)(first.seq + 10 + 1 + 5)); /* numbers do not */
	sender_free(send_rig.s);
}

TEST(send_never_bursts_after_a_stall)
{
	uint64_t t;
	struct sender_stats st;

	send_setup(true);
	send_say(1, 2 * SECOND, true);
	send_run_ms(300);
	CHECK(send_rig.n_out > 5);
	send_rig.n_out = 0;
	/* The owner comes 1010 ms late, then every 5 ms. */
	t = send_rig.now + 1010 * NS_PER_MS;
	for (int i = 0; i <= 80; i++)
		send_tick_at(t + (uint64_t)i * 5 * NS_PER_MS);
	CHECK(send_rig.n_out >= 20 && send_rig.n_out <= 22);
	for (int i = 1; i < send_rig.n_out; i++) {
		CHECK(send_rig.out[i].at - send_rig.out[i - 1].at >= 10 * NS_PER_MS);
		CHECK_INT(send_rig.out[i].seq,
			  (uint16_t)(send_rig.out[0].seq + i)); /* no sound was lost */
		CHECK_INT((uint32_t)(send_rig.out[i].ts - send_rig.out[i - 1].ts), 960);
	}
	sender_stats(send_rig.s, &st);
	CHECK(st.skipped >= 49 && st.skipped <= 50);
	CHECK(st.late >= 1);
	sender_free(send_rig.s);
}

TEST(send_small_lateness_is_caught_up)
{
	uint64_t t;

	send_setup(true);
	send_say(1, 2 * SECOND, true);
	send_run_ms(300);
	send_rig.n_out = 0;
	t = send_rig.now;
	for (unsigned i = 1; i <= 50; i++)
		send_tick_at(t + i * TICK + (i * 7 % 19) * NS_PER_MS); /* up to 18 ms late each */
	CHECK_INT(send_rig.n_out, 50);
	CHECK_INT((uint32_t)(send_rig.out[49].ts - send_rig.out[0].ts), 49 * 960);
	sender_free(send_rig.s);
}

TEST(send_waits_for_op_5)
{
	send_setup(true);
	send_rig.slow_gateway = true;
	send_say(1, SECOND, true);
	send_run_ms(480);
	CHECK_INT(send_rig.n_out, 0);
	CHECK_INT(send_rig.n_ops, 1); /* once */
	send_run_ms(100);
	CHECK(send_rig.n_out > 0); /* the server has had one in this session */
	CHECK_INT(send_rig.n_ops, 1);
	sender_free(send_rig.s);

	send_setup(false); /* a new session: never without */
	sender_halt(send_rig.s, send_rig.now);
	send_rig.slow_gateway = true;
	sender_start(send_rig.s, send_rig.now, 1, 1);
	send_rig.n_ops = send_rig.n_out = 0;
	send_say(1, SECOND, true);
	send_run_ms(3000);
	CHECK_INT(send_rig.n_out, 0);
	CHECK(send_rig.n_ops >= 4);
	send_rig.slow_gateway = false;
	send_run_ms(2000);
	CHECK(send_find_event(SENDER_DRAINED)->samples == SECOND);
	sender_free(send_rig.s);
}

/* With the extra calls of prepare the first frame leaves with the next deadline. */
TEST(send_starts_at_the_next_deadline)
{
	send_setup(true);
	send_say(1, 4800, true);
	sender_prepare(send_rig.s, send_rig.now + NS_PER_MS);
	CHECK_INT(send_rig.n_ops, 1);
	sender_speaking_sent(send_rig.s);
	sender_prepare(send_rig.s, send_rig.now + 2 * NS_PER_MS);
	sender_prepare(send_rig.s, send_rig.now + 3 * NS_PER_MS);
	send_run_ms(20);
	CHECK_INT(send_rig.n_out, 1);
	send_run_ms(300);
	CHECK_INT(send_rig.n_out, 5 + 1 + 5);
	sender_free(send_rig.s);
}

TEST(send_counts_only_sent_samples)
{
	send_setup(true);
	send_say(1, 4800, true);
	send_run_ms(80);
	CHECK_INT(send_rig.n_out, 2);
	send_rig.dead_socket = true;
	send_run_ms(20);
	send_rig.dead_socket = false;
	send_run_ms(500);
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, 4 * 960);
	sender_free(send_rig.s);

	send_setup(true);
	send_rig.dead_socket = true;
	send_say(1, 4800, true);
	send_run_ms(500);
	CHECK(!send_find_event(SENDER_STARTED));
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, 0);
	sender_free(send_rig.s);
}

TEST(send_pause_resume_stop)
{
	const struct sender_event *ev;
	int n;

	send_setup(true);
	send_say(1, 2 * SECOND, false);
	send_run_ms(500);
	n = send_rig.n_out;
	CHECK(sender_command(send_rig.s, 1, SENDER_PAUSE, 0, 0, send_rig.now));
	CHECK(!send_find_event(SENDER_PAUSED)); /* one frame is prepared */
	send_run_ms(400);
	ev = send_find_event(SENDER_PAUSED);
	CHECK(ev && ev->samples == (uint64_t)(n + 1) * 960);
	CHECK_INT(send_rig.n_out, n + 1 + 1 + 5);
	CHECK(sender_command(send_rig.s, 1, SENDER_RESUME, 0, 20, send_rig.now));
	send_run_ms(200);
	CHECK(sender_command(send_rig.s, 1, SENDER_STOP, 0, 100, send_rig.now));
	send_run_ms(200);
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->samples > (uint64_t)(n + 8) * 960 &&
	      ev->samples < (uint64_t)(n + 17) * 960);
	CHECK(!sender_command(send_rig.s, 1, SENDER_STOP, 0, 0, send_rig.now));
	sender_free(send_rig.s);
}

/* Not even the frame that was made already goes out; what the server hears next is silence. */
TEST(send_stop_without_fade_is_silent_at_once)
{
	const struct sender_event *ev;
	int n;

	send_setup(true);
	send_say(1, SECOND, false);
	send_run_ms(300);
	n = send_rig.n_out;
	CHECK(n > 5 && !send_rig.out[n - 1].silence);
	CHECK(sender_command(send_rig.s, 1, SENDER_STOP, 0, 0, send_rig.now));
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->samples == (uint64_t)n * 960);
	send_run_ms(400);
	CHECK_INT(send_rig.n_out, n + 5);
	for (int i = n; i < send_rig.n_out; i++)
		CHECK(send_rig.out[i].silence);
	sender_free(send_rig.s);
}

/* What others say in that frame is not taken back. */
TEST(send_stop_leaves_the_other_lane_alone)
{
	const struct sender_event *ev;
	int n;

	send_setup(true);
	send_say(1, SECOND, false);
	send_say(2, SECOND, false);
	send_run_ms(300);
	n = send_rig.n_out;
	CHECK(sender_command(send_rig.s, 1, SENDER_STOP, 0, 0, send_rig.now));
	CHECK(!send_find_event(SENDER_STOPPED));
	send_run_ms(200);
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 1 && ev->samples == (uint64_t)(n + 1) * 960);
	CHECK_INT(send_rig.n_out, n + 10);
	for (int i = n; i < send_rig.n_out; i++)
		CHECK(!send_rig.out[i].silence);
	sender_free(send_rig.s);
}

TEST(send_halt_keeps_lanes)
{
	const struct sender_event *ev;

	send_setup(true);
	send_say(1, SECOND, true);
	send_say(2, SECOND, true);
	send_run_ms(300);
	sender_command(send_rig.s, 2, SENDER_STOP, 0, 1000, send_rig.now);
	sender_halt(send_rig.s, send_rig.now);
	CHECK(sender_next(send_rig.s) == UINT64_MAX);
	ev = send_find_event(SENDER_STOPPED); /* its fade would never end */
	CHECK(ev && ev->playback == 2);
	send_rig.n_out = 0;
	sender_start(send_rig.s, send_rig.now + 500 * NS_PER_MS, 100, 5000);
	send_run_ms(2000);
	CHECK(send_rig.out[0].seq == 100 && send_rig.out[0].silence && send_rig.out[0].ts > 5000);
	ev = send_find_event(SENDER_DRAINED);
	CHECK(ev && ev->playback == 1 &&
	      ev->samples == SECOND - 960); /* the prepared frame was lost */
	sender_free(send_rig.s);
}

/* The session is lost: nobody waits for frames that do not come. */
TEST(send_halted_commands_take_effect)
{
	const struct sender_event *ev;

	send_setup(true);
	send_say(1, SECOND, true);
	send_say(2, SECOND, true);
	send_run_ms(300);
	sender_halt(send_rig.s, send_rig.now);
	CHECK(sender_command(send_rig.s, 1, SENDER_STOP, 0, 500, send_rig.now));
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 1);
	CHECK(sender_command(send_rig.s, 2, SENDER_PAUSE, 0, 500, send_rig.now));
	ev = send_find_event(SENDER_PAUSED);
	CHECK(ev && ev->playback == 2);
	CHECK(sender_command(send_rig.s, 2, SENDER_STOP, 0, 500, send_rig.now));
	CHECK(!sender_lane(send_rig.s, 2));
	sender_free(send_rig.s);
}

TEST(send_lanes_are_limited)
{
	struct lane *l;

	send_setup(true);
	for (uint32_t i = 0; i < SENDER_LANES; i++)
		send_say(i, 100, false);
	CHECK_INT(lane_alloc(&l, 3, 1000), 0);
	CHECK_INT(sender_add(send_rig.s, l), EEXIST);
	lane_free(l);
	CHECK_INT(lane_alloc(&l, 99, 1000), 0);
	CHECK_INT(sender_add(send_rig.s, l), ENOSPC);
	lane_free(l);
	send_run_ms(200); /* one of them may be in the prepared frame */
	for (int i = 0; i < SENDER_LANES; i++) {
		l = sender_take(send_rig.s);
		CHECK(l != NULL);
		lane_free(l);
	}
	CHECK(!sender_take(send_rig.s));
	send_run_ms(100);
	sender_free(send_rig.s);
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
			send_setup(true);
		CHECK_INT(lane_alloc(&l, 1 + (uint32_t)round, 1000), 0);
		CHECK_INT(lane_write(l, said, SECOND, send_rig.now), 0);
		CHECK_INT(sender_add(send_rig.s, l), 0);
		lane_end(l);
		send_run_ms(2000);
		for (int i = 0; i < send_rig.n_out; i++) {
			int got;

			if (round == 1 && send_rig.out[i].silence && i < 60)
				skip = i + 1;
			got = opus_decode(d, send_rig.out[i].opus, (int)send_rig.out[i].len,
					  heard + n, 960, 0);
			CHECK_INT(got, 960);
			n = skip == i + 1 ? 0 : n + got;
		}
		opus_decoder_destroy(d);
		CHECK(likeness(said, heard, SECOND, 312) > 0.9);
		CHECK(likeness(said, heard, 4800, 312) > 0.9);
	}
	sender_free(send_rig.s);
}

/* Silence frames make decoders start afresh, so each utterance must be encoded as if it were the
 * first. */
TEST(send_encodes_each_utterance_afresh)
{
	static struct out first[10];

	send_setup(true);
	send_say(1, 9600, true);
	send_run_ms(1000);
	memcpy(first, send_rig.out, sizeof first);
	send_rig.n_out = 0;
	send_say(2, 9600, true);
	send_run_ms(1000);
	for (int i = 0; i < 10; i++)
		CHECK_MEM(send_rig.out[i].opus, send_rig.out[i].len, first[i].opus, first[i].len);
	sender_free(send_rig.s);
}

TEST_OOM(send_without_memory)
{
	struct sender *s = NULL;

	CHECK_OOM(sender_alloc(&s, 1, NULL, NULL), );
	sender_set_bitrate(s, 1000000);
	sender_free(s);
	CHECK(!sender_free(NULL));
}

/* A playback whose end comes when all of it was sent, in a call that is between two sessions. */
TEST(send_drained_while_halted)
{
	struct lane *l;

	send_setup(true);
	l = send_say(7, 4800, false);
	send_run_ms(1000);
	CHECK_INT(lane_sent(l), 4800);
	sender_halt(send_rig.s, send_rig.now);
	CHECK(!send_find_event(SENDER_DRAINED));
	CHECK(sender_end(send_rig.s, 7, send_rig.now));
	CHECK(send_find_event(SENDER_DRAINED));
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, 4800);
	CHECK(!sender_end(send_rig.s, 7, send_rig.now));
	sender_free(send_rig.s);
}

/* ---- the gate ---- */

static void gate(bool open)
{
	sender_set_gate(send_rig.s, open);
	sender_prepare(send_rig.s, send_rig.now);
}

/* Nothing of what is said; the frames of joining are sent all the same. */
TEST(send_gate_closed_from_the_start)
{
	send_setup(false);
	gate(false);
	send_say(1, SECOND, true);
	send_run_ms(5000);
	CHECK_INT(send_rig.n_out, 5);
	for (int i = 0; i < 5; i++)
		CHECK(send_rig.out[i].silence);
	CHECK_INT(send_rig.n_ops, 2); /* on and off again, for these */
	CHECK(!send_find_event(SENDER_STARTED));
	send_rig.n_out = 0;
	gate(true);
	send_run_ms(2000 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(send_rig.n_out, 50 + 1 + 5);
	CHECK_INT(send_rig.n_ops, 4);
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, SECOND);
	sender_free(send_rig.s);
}

/* It pauses at its sample and goes on there: what arrives is all of it, once. */
TEST(send_gate_closes_in_the_middle)
{
	uint32_t ts;
	uint16_t seq;
	int n;

	send_setup(true);
	send_say(1, SECOND, true);
	send_run_ms(400);
	n = send_rig.n_out;
	CHECK(n > 10 && !send_rig.out[n - 1].silence);
	ts = send_rig.out[n - 1].ts;
	seq = send_rig.out[n - 1].seq;
	gate(false);
	send_run_ms(500 + SENDER_SPEAKING_HOLD_MS);
	/* The deadline has its frame: silence instead of the one that was made. */
	CHECK_INT(send_rig.n_out, n + 5);
	CHECK_INT((uint32_t)(send_rig.out[n].ts - ts), 960);
	for (int i = n; i < n + 5; i++)
		CHECK(send_rig.out[i].silence);
	CHECK_INT(send_rig.ev[send_rig.n_ev - 1].type, SENDER_SPEAKING);
	CHECK(!send_rig.ev[send_rig.n_ev - 1].on);
	CHECK_INT(lane_sent(sender_lane(send_rig.s, 1)), (uint64_t)n * 960);
	gate(true);
	send_run_ms(2000);
	CHECK(!send_rig.out[n + 5].silence);
	CHECK_INT(send_rig.out[n + 5].seq, (uint16_t)(seq + 6));
	CHECK_INT((uint32_t)(send_rig.out[n + 5].ts - ts),
		  (send_rig.out[n + 5].at - send_rig.out[n - 1].at) / TICK * 960);
	CHECK_INT(send_rig.n_out, 50 + 1 + 5 + 5);
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, SECOND);
	CHECK_INT(send_find_event(SENDER_DRAINED)->reason, MEDIA_REASON_NONE);
	sender_free(send_rig.s);
}

/* Closed and open again between two deadlines: nothing is to be heard of it. */
TEST(send_gate_closes_briefly)
{
	send_setup(true);
	send_say(1, SECOND, true);
	send_run_ms(400);
	gate(false);
	gate(true);
	send_run_ms(2000 + SENDER_SPEAKING_HOLD_MS);
	CHECK_INT(send_rig.n_out, 50 + 1 + 5);
	for (int i = 1; i < send_rig.n_out; i++)
		CHECK(send_rig.out[i].at - send_rig.out[i - 1].at == TICK);
	CHECK_INT(send_rig.n_ops, 2);
	sender_free(send_rig.s);
}

TEST(send_gate_wait_ends_after_ten_seconds)
{
	const struct sender_event *ev;
	int n;

	send_setup(true);
	send_say(1, 2 * SECOND, false);
	send_run_ms(400);
	n = send_rig.n_out;
	gate(false);
	send_run_ms(3000);
	send_say(2, SECOND, true);
	send_run_ms(6900);
	CHECK(!send_find_event(SENDER_STOPPED));
	send_run_ms(200);
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 1 && ev->reason == MEDIA_REASON_NO_KEY);
	CHECK_INT(ev->samples, (uint64_t)n * 960);
	CHECK(sender_lane(send_rig.s, 2));
	send_run_ms(2600);
	CHECK(sender_lane(send_rig.s, 2)); /* it came later, and its time is its own */
	send_run_ms(400);
	CHECK(!sender_lane(send_rig.s, 2));
	CHECK_INT(send_rig.ev[send_rig.n_ev - 1].reason, MEDIA_REASON_NO_KEY);
	CHECK_INT(send_rig.ev[send_rig.n_ev - 1].samples, 0);
	CHECK_INT(send_rig.n_out, n + 5);
	sender_free(send_rig.s);
}

/* Only the time of a session counts, and only that without a key. */
TEST(send_gate_wait_restarts)
{
	send_setup(true);
	gate(false);
	send_say(1, SECOND, true);
	send_run_ms(8000);
	gate(true);
	gate(false);
	send_run_ms(8000);
	CHECK(!send_find_event(SENDER_STOPPED));
	sender_halt(send_rig.s, send_rig.now);
	sender_start(send_rig.s, send_rig.now + 60000 * NS_PER_MS, 1, 1);
	send_rig.now += 60000 * NS_PER_MS;
	send_run_ms(8000);
	CHECK(!send_find_event(SENDER_STOPPED));
	sender_command(send_rig.s, 1, SENDER_PAUSE, 0, 0, send_rig.now);
	send_run_ms(20000); /* one that is paused does not wait */
	CHECK(!send_find_event(SENDER_STOPPED));
	sender_command(send_rig.s, 1, SENDER_RESUME, 0, 0, send_rig.now);
	send_run_ms(10200);
	CHECK(send_find_event(SENDER_STOPPED));
	sender_free(send_rig.s);
}

/* What is asked of a lane while the gate is closed takes effect within a frame, and to the sample.
 */
TEST(send_gate_closed_commands_take_effect)
{
	const struct sender_event *ev;
	int n;

	send_setup(true);
	send_say(1, 2 * SECOND, false);
	send_say(2, 2 * SECOND, false);
	send_run_ms(400);
	n = send_rig.n_out;
	CHECK(sender_command(send_rig.s, 2, SENDER_STOP, 0, 3000,
			     send_rig.now)); /* a fade that cannot go on */
	gate(false);
	CHECK(sender_command(send_rig.s, 1, SENDER_PAUSE, 0, 500, send_rig.now));
	send_run_ms(20);
	ev = send_find_event(SENDER_PAUSED);
	CHECK(ev && ev->playback == 1 && ev->samples == (uint64_t)n * 960);
	ev = send_find_event(SENDER_STOPPED);
	CHECK(ev && ev->playback == 2 && ev->samples == (uint64_t)n * 960);
	CHECK_INT(ev->reason, MEDIA_REASON_NONE);
	CHECK(sender_command(send_rig.s, 1, SENDER_STOP, 0, 500, send_rig.now));
	CHECK(!sender_lane(send_rig.s, 1));
	sender_free(send_rig.s);
}

/* The buffer is full when the frame goes back into it. */
TEST(send_gate_returns_samples_to_a_full_lane)
{
	struct lane *l;
	int n;

	send_setup(true);
	l = send_say(1, 2 * SECOND, false);
	send_run_ms(400);
	n = send_rig.n_out;
	CHECK_INT(lane_pulled(l), (uint64_t)(n + 1) * 960);
	CHECK_INT(lane_write(l, send_tone, (size_t)n * 960 + 1, send_rig.now), ENOBUFS);
	CHECK_INT(lane_write(l, send_tone, (size_t)n * 960, send_rig.now), 0);
	gate(false);
	send_run_ms(100);
	CHECK_INT(lane_pulled(l), (uint64_t)n * 960);
	CHECK_INT(lane_room(l), 0);
	gate(true);
	lane_end(l);
	send_run_ms(3000);
	CHECK_INT(send_find_event(SENDER_DRAINED)->samples, (uint64_t)n * 960 + 2 * SECOND);
	sender_free(send_rig.s);
}
