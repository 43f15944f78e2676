/* The end-of-turn model (control/room/turn/eot_model.h) on generated speech: how late it tells the
 * end of a turn when 5 % of the pauses within turns are taken for ends, beside endpointing by
 * silence alone. Speech of the seeds that trained the model is not used here.
 *
 * An item is the last second of speech before a silence, as sound (a sawtooth with syllables, a
 * pitch contour, loudness and noise), its words as an interim transcript, and the speaker's earlier
 * pauses. What the literature reports, and the generator follows:
 *
 *   pauses within turns   lognormal, median 450 ms, sigma 0.65 over all speakers (Campione and
 *                         Veronis 2002; Heldner and Edlund 2010), of which 0.35 is the speaker's
 *   ends of turns         pitch falls or rises at the end more often than at pauses, loudness is
 *                         lower (Gravano and Hirschberg 2011)
 *   pauses                level pitch more often; drawn-out syllables before a hesitation; at
 *                         boundaries of clauses, after connectors and fillers, and within clauses
 *
 *   EOT_TRAIN=1 prints weights for eot_weights.def; EOT_ITEMS=4000 EOT_SEED=900001 EOT_CURVE=1 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/floor/address.h"
#include "control/room/hearing/prosody.h"
#include "control/room/turn/eot_model.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

enum { ITEMS = 8000, SYLLABLES = 6, EARLIER = 8, LEAST_MS = 200, STEPS = 14, ROUNDS = 4000 };
enum { ENDPOINT_MS = 700 }; /* the silence after which a capture of a gated client ends */
enum { TRAIN_SEED = 1, HELD_OUT_SEED = 900001 };

struct item {
	bool end;
	uint32_t pause_ms; /* of a pause within a turn */
	struct room_eot_input in;
};

static const char *pick(uint64_t *r, const char *const *list, size_t n)
{
	return list[random_next(r) % n];
}

#define PICK(r, list) pick(r, list, sizeof(list) / sizeof(list)[0])

/* ---- words ---- */

static const char *const clauses[] = {
	"what is the tallest mountain in europe",   "tell me about the history of the town",
	"i was thinking of going there by train",   "how long does it take to boil an egg",
	"we saw a film about the war last night",   "can you explain how the engine works",
	"my brother lives near the old harbour",    "who wrote the book with the green cover",
	"i need a recipe without any onions",	    "they said it would rain for three days",
	"play the song from the beginning",	    "the second one sounded better to me",
	"is there a bus that stops at the station", "i would like to know when it opens",
	"she told us the story of the lost key",    "remind me to call the dentist tomorrow",
};
static const char *const replies[] = {
	"the blue one",	  "on monday i think",	  "two of them please", "yes the first",
	"somewhere warm", "about half past four", "no not that song",	"my sister"};
static const char *const links[] = {"and", "but", "because", "so", "and then", "or", "if", "which"};
static const char *const fillers[] = {"um", "uh", "well", "you know", "like"};

/* Cuts within the clause, behind at least one word. */
static void cut_words(uint64_t *r, char *text)
{
	size_t from = strcspn(text, " "), n = strlen(text);
	size_t at = from + (size_t)random_uniform(r, 0, (double)(n - from));

	at += strcspn(text + at, " ");
	if (at >= n)
		at = from;
	text[at] = '\0';
}

static void make_words(uint64_t *r, bool end, bool answers, char *text, size_t size)
{
	char clause[128];
	int n = 0;

	*text = '\0';
	snprintf(clause, sizeof clause, "%s", answers ? PICK(r, replies) : PICK(r, clauses));
	if (random_happens(r, 0.4))
		n += snprintf(text + n, size - (size_t)n, "parley ");
	if (!answers && random_happens(r, 0.4))
		n += snprintf(text + n, size - (size_t)n, "%s %s ", PICK(r, clauses),
			      PICK(r, links));
	if (end) {
		snprintf(text + n, size - (size_t)n, "%s%s", clause,
			 random_happens(r, 0.2) ? "." : "");
		return;
	}
	if (random_happens(r, 0.25)) /* at the end of a clause */
		n += snprintf(text + n, size - (size_t)n, "%s", clause);
	else if (random_happens(r, 0.4)) /* after a connector */
		n += snprintf(text + n, size - (size_t)n, "%s %s", clause, PICK(r, links));
	else {
		cut_words(r, clause);
		n += snprintf(text + n, size - (size_t)n, "%s", clause);
	}
	if (random_happens(r, 0.12))
		snprintf(text + n, size - (size_t)n, " %s", PICK(r, fillers));
}

/* ---- sound ---- */

/* Semitones over the last syllable, decibels of it, and how much longer it is. */
struct ending {
	double pitch, energy, length;
};

static struct ending make_ending(uint64_t *r, bool end)
{
	struct ending e = {0};
	double kind = random_uniform(r, 0, 1);

	if (end) {
		e.pitch = kind < 0.6   ? random_normal(r, -4, 2)
			  : kind < 0.8 ? random_normal(r, 4, 2)
				       : random_normal(r, 0, 1);
		e.energy = random_normal(r, -5, 3);
		e.length = random_normal(r, 1.4, 0.3);
	} else {
		e.pitch = kind < 0.25  ? random_normal(r, -3, 2)
			  : kind < 0.5 ? random_normal(r, 2, 1.5)
				       : random_normal(r, 0, 1);
		e.energy = random_normal(r, -2, 3);
		e.length = random_happens(r, 0.4) ? random_normal(r, 1.8, 0.4)
						  : random_normal(r, 1.2, 0.3);
	}
	e.length = e.length < 0.6 ? 0.6 : e.length;
	return e;
}

static void add_syllable(uint64_t *r, struct room_prosody *p, double hz, double to_hz, double loud,
			 double seconds)
{
	static uint8_t pcm[2 * ROOM_RATE];
	unsigned n = (unsigned)(seconds * ROOM_RATE);
	static double phase, low;

	n = n < ROOM_RATE ? n : ROOM_RATE;
	for (unsigned i = 0; i < n; i++) {
		double t = (double)i / n, v;
		int16_t s;

		phase += hz * pow(to_hz / hz, t) / ROOM_RATE;
		phase -= floor(phase);
		low += 0.15 * (2 * phase - 1 - low);
		v = low * loud * (0.15 + 0.85 * sin(M_PI * t)) + random_uniform(r, -120, 120);
		s = (int16_t)fmax(-32768, fmin(32767, v));
		pcm[2 * i] = (uint8_t)(s & 0xff);
		pcm[2 * i + 1] = (uint8_t)((uint16_t)s >> 8);
	}
	room_prosody_add(p, (struct slice){pcm, 2 * n});
}

static void make_sound(uint64_t *r, bool end, struct room_eot_input *in)
{
	static struct room_prosody p;
	struct ending e = make_ending(r, end);
	struct room_prosody_end out;
	double hz = random_uniform(r, 95, 230), loud = random_uniform(r, 3000, 12000);
	double syllable = random_uniform(r, 0.16, 0.22);

	room_prosody_clear(&p);
	for (unsigned i = 0; i < SYLLABLES; i++) {
		double now = hz * pow(2, random_normal(r, 0, 0.7) / 12);

		add_syllable(r, &p, now, now * pow(2, random_normal(r, 0, 0.5) / 12),
			     loud * pow(10, random_normal(r, 0, 1.5) / 20),
			     syllable * random_uniform(r, 0.8, 1.2));
	}
	add_syllable(r, &p, hz, hz * pow(2, 1.3 * e.pitch / 12), loud * pow(10, e.energy / 20),
		     syllable * e.length);
	room_prosody_measure(&p, &out);
	in->pitch = out.pitch;
	in->energy = out.energy;
	in->length = out.length;
}

/* ---- items ---- */

static void make_item(uint64_t *r, struct item *item)
{
	struct room_names names = {0};
	double scale = 450 * exp(random_normal(r, 0, 0.35));
	char text[512];

	memset(item, 0, sizeof *item);
	room_names_add(&names, "Parley");
	item->end = random_happens(r, 0.5);
	item->in.answers = random_happens(r, item->end ? 0.2 : 0.1);
	for (unsigned i = (unsigned)random_uniform(r, 0, EARLIER); i; i--) {
		double pause = scale * exp(random_normal(r, 0, 0.55));

		if (pause >= ROOM_EOT_PAUSE_MIN_MS)
			item->in.usual_pause_ms =
				room_eot_usual_pause(item->in.usual_pause_ms, (uint64_t)pause);
	}
	item->pause_ms = (uint32_t)(scale * exp(random_normal(r, 0, 0.55)));
	make_words(r, item->end, item->in.answers, text, sizeof text);
	item->in.words = room_eot_words(text, &names);
	make_sound(r, item->end, &item->in);
}

static struct item items[ITEMS];

static unsigned make_items(uint64_t seed, unsigned n)
{
	uint64_t r = seed * 0x2545f4914f6cdd1dull + 3;

	n = n < ITEMS ? n : ITEMS;
	for (unsigned i = 0; i < n; i++)
		make_item(&r, &items[i]);
	return n;
}

/* ---- training ---- */

enum { WEIGHTS = ROOM_EOT_INPUTS + 1 };

/* One step of the gradient; returns the loss. */
static double train_once(double w[WEIGHTS], unsigned n, double rate)
{
	double slope[WEIGHTS] = {0}, loss = 0, rows = 0;

	for (unsigned i = 0; i < n; i++) {
		int in[ROOM_EOT_INPUTS];
		double x[WEIGHTS], base = 0;

		room_eot_inputs(&items[i].in, in);
		for (unsigned k = 0; k < ROOM_EOT_INPUTS; k++)
			base += w[k] * (x[k] = in[k] / 1000.0);
		for (unsigned s = 0; s < STEPS; s++) {
			double ms = 100 * pow(2, s / 3.0), z, p;

			if (!items[i].end && ms >= items[i].pause_ms)
				break;
			x[WEIGHTS - 1] = room_eot_silence(&items[i].in, (uint32_t)ms) / 1000.0;
			z = base + w[WEIGHTS - 1] * x[WEIGHTS - 1];
			p = 1 / (1 + exp(-z));
			loss -= log(items[i].end ? p : 1 - p);
			rows++;
			for (unsigned k = 0; k < WEIGHTS; k++)
				slope[k] += (p - items[i].end) * x[k];
		}
	}
	for (unsigned k = 0; k < WEIGHTS; k++)
		w[k] -= rate * slope[k] / rows;
	return loss / rows;
}

static void train(unsigned n)
{
	double w[WEIGHTS] = {0}, loss = 0;

	n = make_items(TRAIN_SEED, n);
	for (unsigned i = 0; i < ROUNDS; i++)
		loss = train_once(w, n, 0.15);
	fprintf(stderr, "loss %.4f of %u items\n", loss, n);
	printf("#define ROOM_EOT_WEIGHTS {");
	for (unsigned k = 0; k < ROOM_EOT_INPUTS; k++)
		printf("%s%.0f", k ? ", " : "", 1000 * w[k]);
	printf("}\n#define ROOM_EOT_SILENCE_WEIGHT %.0f\n", 1000 * w[WEIGHTS - 1]);
}

/* ---- the curve ---- */

struct point {
	double cuts, latency_ms, p95_ms;
};

/* share 0: by silence alone, of silence_ms; else not after that silence, if it is not 0. */
static struct point measure(unsigned n, uint32_t share, uint64_t silence_ms)
{
	static double late[ITEMS];
	unsigned ends = 0, pauses = 0, cuts = 0;
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t ms = share ? room_eot_model_delay(&items[i].in, share) : silence_ms;

		ms = silence_ms && silence_ms < ms ? silence_ms : ms;
		ms = ms < LEAST_MS ? LEAST_MS : ms;
		if (items[i].end) {
			late[ends++] = (double)ms;
			sum += (double)ms;
		} else {
			pauses++;
			cuts += ms < items[i].pause_ms;
		}
	}
	return (struct point){(double)cuts / pauses, sum / ends, bench_quantile(late, ends, 0.95)};
}

static unsigned number(const char *env, unsigned otherwise)
{
	const char *text = getenv(env);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

int main(void)
{
	unsigned n = number("EOT_ITEMS", 6000);
	uint64_t silence = LEAST_MS;
	uint32_t share = 1;
	struct point at;

	if (getenv("EOT_TRAIN")) {
		train(n);
		return 0;
	}
	n = make_items(number("EOT_SEED", HELD_OUT_SEED), n);
	while (measure(n, 0, silence).cuts > 0.05)
		silence += 10;
	while (share < 999 && measure(n, share, 0).cuts > 0.05)
		share++;
	at = measure(n, share, 0);
	for (uint32_t s = 300; s < 1000 && getenv("EOT_CURVE"); s += 20)
		fprintf(stderr,
			"share %u: false cuts %.3f, latency %.0f ms, p95 %.0f; with the "
			"endpointing "
			"delay: false cuts %.3f, latency %.0f ms\n",
			s, measure(n, s, 0).cuts, measure(n, s, 0).latency_ms,
			measure(n, s, 0).p95_ms, measure(n, s, ENDPOINT_MS).cuts,
			measure(n, s, ENDPOINT_MS).latency_ms);
	if (getenv("EOT_CURVE"))
		fprintf(stderr, "the endpointing delay of %d ms alone: false cuts %.3f\n",
			ENDPOINT_MS, measure(n, 0, ENDPOINT_MS).cuts);
	bench_row_more("eot_latency_at_5_ms", at.latency_ms, "ms",
		       "\"n\": %u, \"silence_only\": %u, \"share\": %u, \"p95\": %.0f", n,
		       (unsigned)silence, share, at.p95_ms);
	return 0;
}
