#include "tests/standins/recognition.h"

#include "tests/standins/standin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = SI_PROMPT_WINDOW * SI_PROMPT_ROW,
	HOP = WINDOW / 2,
	TOP = 32,	/* places whose waveform is compared */
	NEAR = 120,	/* samples around each of them */
	FOLLOW = 4,	/* samples around where a prompt goes on */
	FLOOR_RISE = 1, /* dB in a window: how fast the noise floor follows */
	LOUD = 800,	/* is worth a look in any case */
	QUIET = 20,	/* of 32768: less is no sound */
	SEGMENTS = 16,
	SAME = 160, /* samples by which the same sound may differ in its place */
};

static const double FIRST = 0.5, NEXT = 0.45; /* correlations that are enough */
static const double ABOVE_FLOOR = 1.4;

/* What was heard of one prompt, without a break. */
struct segment {
	const struct si_prompt *prompt;
	size_t from, to; /* of its `low` */
	double ratio;	 /* the sum of dB over the windows */
	unsigned windows;
};

struct si_recognition {
	const struct si_prompts *prompts;
	struct si_thinner thin;
	float last[WINDOW]; /* the newest samples */
	size_t fresh;	    /* of them that no window had in its second half */
	bool tracks;	    /* the last segment goes on */
	double floor;	    /* the loudness of the quietest windows lately */
	struct segment v[SEGMENTS];
	size_t n;
};

struct si_recognition *si_recognition_new(const struct si_prompts *p)
{
	struct si_recognition *r = si_alloc(sizeof *r);

	r->prompts = p;
	return r;
}

struct si_recognition *si_recognition_free(struct si_recognition *r)
{
	free(r);
	return NULL;
}

/* ---- comparison ---- */

/* The best correlation of the window with the prompt around `at`. */
static double compare(const struct si_recognition *r, const struct si_prompt *p, long at, long near,
		      size_t *found)
{
	double best = 0, xx = si_prompt_dot(r->last, r->last, WINDOW);

	for (long k = at - near; k <= at + near; k++) {
		double yy, c;

		if (k < 0 || k + WINDOW > (long)p->n_low)
			continue;
		yy = p->power[k + WINDOW] - p->power[k];
		if (xx <= 0 || yy <= 0)
			continue;
		c = si_prompt_dot(r->last, p->low + k, WINDOW) / sqrt(xx * yy);
		if (c > best) {
			best = c;
			*found = (size_t)k;
		}
	}
	return best;
}

/* Roughly the same, at half the rate: where in the prompt, and how well. */
static double compare_half(const float half[WINDOW / 2], const struct si_prompt *p, long at,
			   size_t *found)
{
	double best = 0, xx = si_prompt_dot(half, half, WINDOW / 2);

	for (long k = (at - NEAR) / 2; k <= (at + NEAR) / 2; k++) {
		double yy, c;

		if (k < 0 || 2 * k + WINDOW > (long)p->n_low)
			continue;
		yy = 2 * (p->power[2 * k + WINDOW] - p->power[2 * k]);
		if (xx <= 0 || yy <= 0)
			continue;
		c = si_prompt_dot(half, p->half + k, WINDOW / 2) / sqrt(xx * yy);
		if (c > best) {
			best = c;
			*found = (size_t)k * 2;
		}
	}
	return best;
}

static const struct si_prompt *prompt_at(const struct si_prompts *p, size_t row)
{
	size_t a = 0, b = p->n;

	while (b - a > 1) {
		size_t mid = (a + b) / 2;

		if (p->v[mid].first_row <= row)
			a = mid;
		else
			b = mid;
	}
	return &p->v[a];
}

struct place {
	size_t row;
	float score;
};

static void place_insert(struct place top[TOP], size_t row, float score)
{
	unsigned i = TOP - 1;

	if (score <= top[i].score)
		return;
	for (; i && top[i - 1].score < score; i--)
		top[i] = top[i - 1];
	top[i] = (struct place){row, score};
}

/* The places of the catalogue whose spectrogram is most like that of the window. */
static void places_find(const struct si_recognition *r, struct place top[TOP])
{
	float x[SI_PROMPT_WINDOW * SI_PROMPT_BANDS];
	const struct si_prompts *p = r->prompts;

	si_prompt_rows(x, r->last, SI_PROMPT_WINDOW);
	for (unsigned b = 0; b < SI_PROMPT_BANDS; b++) {
		float mean = 0;

		for (unsigned k = 0; k < SI_PROMPT_WINDOW; k++)
			mean += x[k * SI_PROMPT_BANDS + b] / SI_PROMPT_WINDOW;
		for (unsigned k = 0; k < SI_PROMPT_WINDOW; k++)
			x[k * SI_PROMPT_BANDS + b] -= mean;
	}
	for (size_t row = 0; row + SI_PROMPT_WINDOW <= p->n_rows; row++) {
		if (p->spread[row] >= 1)
			place_insert(top, row,
				     si_prompt_dot(x, p->rows + row * SI_PROMPT_BANDS,
						   SI_PROMPT_WINDOW * SI_PROMPT_BANDS) /
					     p->spread[row]);
	}
}

static double search(const struct si_recognition *r, const struct si_prompt **prompt, size_t *found)
{
	struct place top[TOP] = {{0}};
	float half[WINDOW / 2];
	double best = 0;

	for (size_t i = 0; i < WINDOW / 2; i++)
		half[i] = r->last[2 * i] + r->last[2 * i + 1];
	places_find(r, top);
	for (unsigned i = 0; i < TOP && top[i].score > 0; i++) {
		const struct si_prompt *p = prompt_at(r->prompts, top[i].row);
		size_t at = 0;
		double c = compare_half(half, p,
					(long)((top[i].row - p->first_row) * SI_PROMPT_ROW), &at);

		if (c > best) {
			best = c;
			*prompt = p;
			*found = at;
		}
	}
	return best > 0 ? compare(r, *prompt, (long)*found, FOLLOW, found) : 0;
}

/* ---- segments ---- */

/* A prompt that the window matches: from `at` of its `low` on, with correlation c. */
struct recognised {
	const struct si_prompt *prompt;
	size_t at;
	double c;
};

static double decibels(double c)
{
	return 10 * log10(c * c / fmax(1 - c * c, 1e-4));
}

/* True if there can be speech in the window: something, and louder than what is there all the
 * time. */
static bool window_quiet(struct si_recognition *r)
{
	double loud = sqrt(si_prompt_dot(r->last, r->last, WINDOW) / WINDOW);

	r->floor *= pow(10, FLOOR_RISE / 20.0);
	if (r->floor <= 0)
		r->floor = loud / 2;
	else if (loud < r->floor)
		r->floor = loud;
	return loud < QUIET || (loud < LOUD && loud < r->floor * ABOVE_FLOOR);
}

static void segment_extend(struct segment *s, size_t to, double c)
{
	s->to = to;
	s->ratio += decibels(c);
	s->windows++;
}

static bool window_follows(struct si_recognition *r, size_t step)
{
	struct segment *s = &r->v[r->n - 1];
	size_t at;
	double c = compare(r, s->prompt, (long)(s->to + step) - WINDOW, FOLLOW, &at);

	if (c < NEXT)
		return false;
	segment_extend(s, at + WINDOW, c);
	return true;
}

/* The window is of this prompt. Two prompts may begin with the same sound: when the first one was
 * the wrong one, it is replaced. followed: the last segment had the window before. */
static void segment_note(struct recognised *found, struct si_recognition *r, size_t step,
			 bool followed)
{
	struct segment *s = r->n ? &r->v[r->n - 1] : NULL;
	size_t to = found->at + WINDOW, from = found->at;

	if (s && s->prompt == found->prompt && to > s->to) {
		segment_extend(s, to, found->c);
		return;
	}
	if (s && followed && to + SAME > s->to + step && to < s->to + step + SAME) {
		s->prompt = found->prompt;
		segment_extend(s, to, found->c);
		return;
	}
	if (followed)
		from += WINDOW - step;
	r->v[r->n++] = (struct segment){found->prompt, from, to, decibels(found->c), 1};
}

static void window_look(struct si_recognition *r, size_t step)
{
	struct recognised found = {NULL, 0, 0};
	bool followed = r->tracks;

	bool quiet = window_quiet(r);

	if (r->tracks && window_follows(r, step))
		return;
	r->tracks = false;
	if (quiet || r->n == SEGMENTS)
		return;
	found.c = search(r, &found.prompt, &found.at);
	if (found.c < FIRST)
		return;
	r->tracks = true;
	segment_note(&found, r, step, followed);
}

void si_recognition_take(struct si_recognition *r, const int16_t *pcm, size_t n)
{
	while (n) {
		float low[HOP];
		size_t some = n < 240 ? n : 240, made = si_thin(&r->thin, low, pcm, some);

		memmove(r->last, r->last + made, (WINDOW - made) * sizeof *r->last);
		memcpy(r->last + WINDOW - made, low, made * sizeof *low);
		r->fresh += made;
		if (r->fresh >= HOP) {
			window_look(r, r->fresh);
			r->fresh = 0;
		}
		pcm += some;
		n -= some;
	}
}

void si_recognition_end(struct si_recognition *r)
{
	static const int16_t silence[SI_PROMPT_RATE / 10];

	if (r->fresh)
		window_look(r, r->fresh);
	r->fresh = 0;
	/* What began in the last half of a window. */
	for (unsigned i = 0; i < 2 && !r->n; i++)
		si_recognition_take(r, silence, sizeof silence / sizeof *silence);
}

void si_recognition_clear(struct si_recognition *r)
{
	struct si_recognition fresh = {.prompts = r->prompts, .floor = r->floor};

	*r = fresh;
}

/* ---- words ---- */

static unsigned wrong_percent(double ratio, uint32_t *delay_ms)
{
	static const struct {
		double least;
		unsigned percent, delay_ms;
	} table[] = {{9, 3, 0}, {6, 6, 0}, {3, 12, 50}, {0, 20, 100}, {-100, 45, 150}};
	unsigned i = 0;

	while (ratio < table[i].least)
		i++;
	if (*delay_ms < table[i].delay_ms)
		*delay_ms = table[i].delay_ms;
	return table[i].percent;
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The word as it is understood: as it is, another one, none, or one more. */
static size_t word_write(char *to, size_t cap, const char *word, size_t n, uint64_t random)
{
	static const char *const others[] = {"the", "and", "it",   "to",   "in",   "that",
					     "was", "for", "on",   "are",  "with", "they",
					     "at",  "one", "have", "this", "from", "her"};
	const char *other = others[random / 100 % (sizeof others / sizeof *others)];
	int got;

	if (random % 100 < 60)
		got = snprintf(to, cap, "%s ", other);
	else if (random % 100 < 85)
		got = 0;
	else
		got = snprintf(to, cap, "%.*s %s ", (int)n, word, other);
	return (size_t)got < cap ? (size_t)got : cap ? cap - 1 : 0;
}

static size_t segment_write(const struct segment *s, const struct si_prompts *p, char *to,
			    size_t cap, uint32_t *delay_ms)
{
	unsigned percent = wrong_percent(s->ratio / s->windows, delay_ms), i = 0;
	size_t made = 0, begin = s->prompt->from;

	for (const char *t = s->prompt->text; *t && i < s->prompt->words; i++) {
		size_t n = strcspn(t, " "), end = s->prompt->word_end[i], third = (end - begin) / 3;
		uint64_t random = mix((uint64_t)(s->prompt - p->v) * 1000 + i + 1);

		if (begin + third >= s->from && end - third <= s->to) {
			if (random % 100 >= percent)
				made += (size_t)snprintf(to + made, cap - made, "%.*s ", (int)n, t);
			else
				made += word_write(to + made, cap - made, t, n, mix(random));
			if (made + 128 > cap)
				break;
		}
		begin = end;
		t += n + strspn(t + n, " ");
	}
	return made;
}

void si_recognition_words(const struct si_recognition *r, char text[SI_RECOGNITION_TEXT],
			  uint32_t *delay_ms)
{
	size_t n = 0;

	*delay_ms = 0;
	*text = '\0';
	for (size_t i = 0; i < r->n && n + 512 < SI_RECOGNITION_TEXT; i++)
		n += segment_write(&r->v[i], r->prompts, text + n, SI_RECOGNITION_TEXT - n,
				   delay_ms);
	if (n)
		text[n - 1] = '\0';
}

double si_recognition_ratio(const struct si_recognition *r)
{
	double sum = 0;
	unsigned n = 0;

	for (size_t i = 0; i < r->n; i++) {
		sum += r->v[i].ratio;
		n += r->v[i].windows;
	}
	return n ? sum / n : -100;
}
