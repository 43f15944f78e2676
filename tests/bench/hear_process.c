/* The cost of receiving in a real mediad, from datagram to HEARD written, paced, beside the bare
 * AEAD, DAVE and Opus calls on the same frames at the same pace: hear_ratio at a hundred speakers
 * and hear_ratio_3 at three. And whether a call costs more among many: cost_slope.
 *
 * The floor of both ratios is that of the relay (relay.h), with the kernel's part of such a path
 * and nothing else; that of its first process, as mediad's.
 *
 * Turns: for a while all speakers send a frame every 20 ms, evenly spread over it, and mediad hears
 * them; then as long the same frames go to the bare calls on a thread that wakes at the same times,
 * and mediad has nothing to do: that is the idle process. */
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/bench/relay.h"
#include "tests/bench/speakers.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 24000, MOST = 100, TURN_MS = 1500, TURNS = 5, TURNS_3 = 11, FEW = 40, MANY = 200 };

static struct rig {
	struct plane *plane;
	struct speakers *speakers;
	unsigned n;
	struct bare_receiver *receivers[MOST];
	struct relay *relay;
	uint64_t spent, frames; /* by the bare calls, and how many */
	uint64_t heard, sent, unheard;
} rig;

/* What was not heard cost nothing. Returns the value of a row, unless more than one frame in a
 * hundred was not. (A frame may be heard in the turn after its own.) */
static double judged(double value, uint64_t sent, uint64_t unheard)
{
	return (int64_t)unheard * 100 > (int64_t)sent ? BENCH_FAILED : value;
}

static void bare(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *arg)
{
	(void)call, (void)arg;
	rig.spent += bare_receiver_run(rig.receivers[speaker], p, n);
	rig.frames++;
}

static void on_msg(const struct media_msg *msg, void *arg)
{
	uint64_t *heard = arg;

	if (msg->type == MEDIA_HEARD && !(msg->heard.flags & MEDIA_HEARD_CONCEALED))
		++*heard;
}

/* A turn; CPU time of mediad in it, ns. */
static uint64_t turn(struct plane *p, struct speakers *c, speakers_h *h, uint64_t *sent)
{
	uint64_t from = plane_cpu(p);

	speakers_start(c, h, NULL);
	plane_run(p, TURN_MS);
	*sent = speakers_stop(c);
	plane_run(p, 50);
	return plane_cpu(p) - from;
}

struct figures {
	double ours, bare, ratio, floor;
};

/* CPU time of the relay's first process for each frame, µs. */
static double relay_turn(void)
{
	uint64_t from = relay_cpu(rig.relay, 0), sent;

	speakers_start(rig.speakers, relay_send, rig.relay);
	plane_run(rig.plane, TURN_MS);
	sent = speakers_stop(rig.speakers);
	plane_run(rig.plane, 50);
	return (double)(relay_cpu(rig.relay, 0) - from) / (double)sent / 1000;
}

static void measure(struct figures *out, const char *raw, unsigned turns)
{
	double a[TURNS_3], b[TURNS_3], r[TURNS_3], floor[TURNS_3];

	for (unsigned t = 0; t < turns; t++) {
		uint64_t heard = rig.heard, sent, more,
			 busy = turn(rig.plane, rig.speakers, NULL, &sent), idle;

		rig.unheard += sent - (rig.heard - heard);
		rig.sent += sent;
		rig.spent = rig.frames = 0;
		idle = turn(rig.plane, rig.speakers, bare, &more);
		a[t] = (double)(busy - idle) / (double)sent / 1000;
		b[t] = (double)rig.spent / (double)rig.frames / 1000;
		r[t] = a[t] / b[t];
		floor[t] = relay_turn() / b[t];
	}
	bench_raw(raw, r, turns);
	*out = (struct figures){bench_median(a, turns), bench_median(b, turns),
				bench_median(r, turns), bench_median(floor, turns)};
}

static void rig_start(unsigned n)
{
	struct plane_conf conf = {.cpu = -1, .speakers = n, .msgh = on_msg, .arg = &rig.heard};
	struct speakers_conf cc = {.calls = 1, .speakers = n};
	uint8_t transport[FAR_END_KEY], dave[16];
	uint64_t sent;

	memset(&rig, 0, sizeof rig);
	rig.n = n;
	far_end_key(transport, 0, 0);
	plane_alloc(&rig.plane, &conf);
	plane_calls(rig.plane, 0, 1);
	for (unsigned s = 0; s < n; s++) {
		far_end_speaker_key(plane_far(rig.plane), 0, s, dave);
		bare_receiver_alloc(&rig.receivers[s], transport, dave, RATE);
		plane_speaker(rig.plane, 0, s, RATE);
	}
	plane_run(rig.plane, 300);
	cc.far_end = plane_far(rig.plane);
	speakers_alloc(&rig.speakers, &cc);
	relay_alloc(&rig.relay, rig.receivers, n);
	turn(rig.plane, rig.speakers, NULL, &sent);
}

static void rig_stop(void)
{
	speakers_free(rig.speakers);
	relay_free(rig.relay);
	plane_free(rig.plane);
	for (unsigned s = 0; s < rig.n; s++)
		bare_receiver_free(rig.receivers[s]);
}

static void few_row(void)
{
	struct figures f;

	rig_start(3);
	measure(&f, "hear_ratio_3", TURNS_3);
	bench_row_more("hear_ratio_3", judged(f.ratio, rig.sent, rig.unheard), "x",
		       "\"ours_us\": %.2f, \"bare_us\": %.2f, \"floor\": %.2f, \"unheard\": %llu",
		       f.ours, f.bare, f.floor, (unsigned long long)rig.unheard);
	rig_stop();
}

static void many_row(void)
{
	struct figures spread, together;

	rig_start(MOST);
	measure(&spread, "hear_ratio", TURNS);
	speakers_set(rig.speakers, 1, MOST, 10);
	measure(&together, "hear_ratio_ten_at_once", 2);
	bench_row_more("hear_ratio", judged(spread.ratio, rig.sent, rig.unheard), "x",
		       "\"ours_us\": %.2f, \"bare_us\": %.2f, \"floor\": %.3f, \"speakers\": %d, "
		       "\"ten_at_once\": "
		       "%.3f, \"ten_at_once_ours_us\": %.2f, "
		       "\"unheard\": %llu",
		       spread.ours, spread.bare, spread.floor, MOST, together.ratio, together.ours,
		       (unsigned long long)rig.unheard);
	rig_stop();
}

/* ---- many calls ---- */

struct town {
	unsigned calls;
	struct plane *plane;
	struct speakers *speakers;
	uint64_t heard, sent, unheard;
};

static void town_start(struct town *t)
{
	struct plane_conf conf = {.cpu = -1, .threads = 1, .msgh = on_msg, .arg = &t->heard};
	struct speakers_conf cc = {.calls = t->calls, .speakers = 1};

	plane_alloc(&t->plane, &conf);
	plane_calls(t->plane, 0, t->calls);
	for (unsigned i = 0; i < t->calls; i++)
		plane_speaker(t->plane, i, 0, RATE);
	plane_run(t->plane, 300);
	cc.far_end = plane_far(t->plane);
	speakers_alloc(&t->speakers, &cc);
}

/* CPU µs a call and second. */
static double town_turn(struct town *t)
{
	uint64_t sent, heard = t->heard, cpu = turn(t->plane, t->speakers, NULL, &sent);

	t->unheard += sent - (t->heard - heard);
	t->sent += sent;
	return (double)cpu / 1000 / t->calls / (TURN_MS + 50) * 1000;
}

static void slope_row(void)
{
	struct town few = {.calls = FEW}, many = {.calls = MANY};
	double a[TURNS], b[TURNS], r[TURNS], slope;

	town_start(&few);
	town_start(&many);
	town_turn(&few);
	town_turn(&many);
	for (unsigned t = 0; t < TURNS; t++) {
		a[t] = town_turn(&many);
		b[t] = town_turn(&few);
		r[t] = a[t] / b[t];
	}
	bench_raw("cost_slope", r, TURNS);
	slope = judged(bench_median(r, TURNS), few.sent, few.unheard);
	slope = judged(slope, many.sent, many.unheard);
	bench_row_more("cost_slope", slope, "x",
		       "\"us_a_call_and_second\": {\"%d\": %.0f, \"%d\": %.0f}, \"unheard\": %llu",
		       FEW, bench_median(b, TURNS), MANY, bench_median(a, TURNS),
		       (unsigned long long)(few.unheard + many.unheard));
	for (unsigned i = 0; i < 2; i++) {
		speakers_free(i ? few.speakers : many.speakers);
		plane_free(i ? few.plane : many.plane);
	}
}

int main(void)
{
	if (sodium_init() < 0 || !crypto_aead_aes256gcm_is_available())
		bench_die("this processor has no AES instructions: the bare sum would be of "
			  "another maker");
	few_row();
	many_row();
	slope_row();
	return 0;
}
