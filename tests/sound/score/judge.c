#include "tests/sound/score/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FRAME = SCORE_RATE / 100,
	AUDIBLE = 60,	  /* of 32768 */
	SPEECH_GAP = 700, /* ms; a mouth that is silent for longer has ended */
	STRETCHES = 64,
	PROBE = SCORE_RATE * 6 / 10, /* of what follows a silence: is it the old answer? */
	BEGINNING = SCORE_RATE / 2,  /* an answer from here on is a new one */
};

/* A correlation of the same words; other words of the same voice reach 0.65. */
static const double SAME = 0.7;

struct stretch {
	size_t from, to; /* samples */
};

static size_t ms_samples(unsigned ms)
{
	return (size_t)ms * SCORE_RATE / 1000;
}

static double samples_ms(size_t from, size_t to)
{
	return ((double)to - (double)from) * 1000 / SCORE_RATE;
}

static bool is_audible(const struct recording *r, size_t at)
{
	double sum = 0;

	if (at + FRAME > r->n)
		return false;
	for (size_t i = at; i < at + FRAME; i++)
		sum += (double)r->pcm[i] * r->pcm[i];
	return sqrt(sum / FRAME) > AUDIBLE;
}

/* The stretches of sound between from and to that are divided by at least gap_ms. */
static size_t stretches_find(struct stretch v[STRETCHES], const struct recording *r, size_t from,
			     size_t to, unsigned gap_ms)
{
	size_t n = 0;

	for (size_t at = from; at < to; at += FRAME) {
		if (!is_audible(r, at))
			continue;
		if (n && at - v[n - 1].to < ms_samples(gap_ms)) {
			v[n - 1].to = at + FRAME;
		} else if (n < STRETCHES) {
			v[n++] = (struct stretch){at, at + FRAME};
		}
	}
	return n;
}

static size_t voice_frames(const struct recording *r, const struct stretch *s)
{
	size_t n = 0;

	for (size_t at = s->from; at < s->to; at += FRAME)
		n += is_audible(r, at);
	return n;
}

static double correlate(const int16_t *x, const int16_t *y, size_t n)
{
	float xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		xy += (float)x[i] * y[i];
		xx += (float)x[i] * x[i];
		yy += (float)y[i] * y[i];
	}
	return xx > 0 && yy > 0 ? xy / sqrt((double)xx * yy) : 0;
}

/* True if the bot says a part of the answer here that is not its beginning. */
static bool is_middle(const struct judge_item *item, size_t at)
{
	size_t before = 0;
	double best = 0;
	bool middle = false;

	if (at + PROBE > item->bot.n)
		return false;
	for (size_t i = 0; i < item->n_answers; i++) {
		const struct recording *a = &item->answers[i];

		for (size_t k = 0; k + PROBE <= a->n; k++) {
			double c = correlate(item->bot.pcm + at, a->pcm + k, PROBE);

			if (c > best) {
				best = c;
				middle = before + k > BEGINNING;
			}
		}
		before += a->n;
	}
	return best > SAME && middle;
}

/* The bot's first sound after the question. */
static const struct stretch *answer_find(struct judgement *j, const struct stretch *bot, size_t n,
					 const struct stretch *question)
{
	for (size_t i = 0; i < n; i++)
		if (bot[i].from > question->from) {
			j->answer_ms = samples_ms(question->to, bot[i].from);
			return &bot[i];
		}
	return NULL;
}

static void judge_over(struct judgement *j, const struct judge_item *item,
		       const struct stretch *words, const struct stretch *bot, size_t n)
{
	const struct stretch *old = NULL;
	size_t end = words->to + ms_samples(JUDGE_AFTER_MS);

	for (size_t i = 0; i < n; i++) {
		if (bot[i].from <= words->from)
			old = &bot[i];
		if (bot[i].from > words->from &&
		    bot[i].from <= words->to + ms_samples(JUDGE_LATER_MS))
			j->answered = true;
	}
	j->over = old && old->to > words->from;
	j->broken = old && !j->over;
	if (j->over) {
		j->talked_on = old->to >= end;
		if (old->to < item->to)
			j->silent_ms = samples_ms(words->from, old->to);
	}
	for (size_t i = 0; i < n; i++) {
		if (bot[i].from <= words->from)
			continue;
		j->spoke_later = true;
		if (j->over && is_middle(item, bot[i].from))
			j->resumed = true;
	}
	j->yielded = j->over && j->silent_ms >= 0 && j->silent_ms <= JUDGE_YIELD_MS && !j->resumed;
}

void judge(struct judgement *out, const struct judge_item *item)
{
	struct stretch asker[STRETCHES], speaker[STRETCHES], bot[STRETCHES];
	size_t na = stretches_find(asker, &item->asker, item->from, item->to, SPEECH_GAP), nb, ns;
	const struct stretch *words = NULL;

	*out = (struct judgement){.answer_ms = -1, .silent_ms = -1};
	if (!na)
		return;
	out->asked = true;
	nb = stretches_find(bot, &item->bot, item->from, item->to, JUDGE_SILENCE_MS);
	if (!answer_find(out, bot, nb, &asker[0]))
		return;
	if (item->same && na > 1) {
		words = &asker[1];
	} else if (!item->same) {
		ns = stretches_find(speaker, &item->speaker, item->from, item->to, SPEECH_GAP);
		words = ns ? &speaker[0] : NULL;
	}
	if (!words)
		return;
	out->said = true;
	out->words_ms =
		(double)voice_frames(item->same ? &item->asker : &item->speaker, words) * 10;
	judge_over(out, item, words, bot, nb);
}
