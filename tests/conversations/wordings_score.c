#include <math.h>
#include <string.h>

#include "tests/conversations/wordings.h"

enum {
	LONG_ENOUGH = 16,
	/* letters: the rule of the length baseline */ THRESHOLDS = 40,
	BINS = 10
};

static const char *const baseline_names[] = {
#define X(NAME, name) #name,
	WORDINGS_BASELINES(X)
#undef X
};

static const char *const language_names[] = {
#define X(code) #code,
	WORDINGS_LANGUAGES(X)
#undef X
};

double wordings_rate(const struct wordings_share *s)
{
	return s->of ? (double)s->right / s->of : 0;
}

void wordings_interval(const struct wordings_share *s, double *low, double *high)
{
	const double z = 1.96;
	double n = s->of ? s->of : 1, p = wordings_rate(s);
	double mid = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	*low = (mid - half) / (1 + z * z / n);
	*high = (mid + half) / (1 + z * z / n);
}

/* ---- baselines ---- */

bool wordings_for_bot(enum wordings_class class)
{
	return class >= WORDINGS_TAKEOVER;
}

static bool baseline_takes(enum wordings_baseline b, const struct wordings_line *line,
			   unsigned threshold)
{
	switch (b) {
	case WORDINGS_BASELINE_LENGTH:
		return wordings_letters(line->said) >= threshold;
	case WORDINGS_BASELINE_NAME:
		return strstr(line->said, "Parley") || strstr(line->said, "parley");
	case WORDINGS_BASELINE_ALWAYS:
		return true;
	default:
		return false;
	}
}

static void count(struct wordings_share *s, bool right)
{
	s->of++;
	s->right += right;
}

/* ---- classes of the same length ---- */

static unsigned length_bin(const char *text)
{
	static const unsigned most[BINS - 1] = {2, 4, 6, 9, 12, 16, 21, 28, 38};
	unsigned n = wordings_letters(text), i = 0;

	while (i < BINS - 1 && n > most[i])
		i++;
	return i;
}

struct bins {
	struct wordings_share of[2][WORDINGS_LANGUAGE_COUNT][BINS]; /* takeovers, backchannels */
};

static bool is_matched_class(const struct wordings_line *line)
{
	return line->class == WORDINGS_TAKEOVER || line->class == WORDINGS_BACKCHANNEL;
}

static struct wordings_share *bin_of(struct bins *b, const struct wordings_line *line)
{
	return &b->of[line->class == WORDINGS_BACKCHANNEL][line->language][length_bin(line->said)];
}

/* The mean of both classes' shares, each bin weighted by its rarer class; its variance. */
static double balance(const struct bins *b, double *variance)
{
	double sum[2] = {0}, weight = 0, var = 0;

	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		for (unsigned i = 0; i < BINS; i++) {
			unsigned n0 = b->of[0][l][i].of, n1 = b->of[1][l][i].of;
			double w = n0 < n1 ? n0 : n1;

			if (w <= 0)
				continue;
			weight += w;
			for (unsigned c = 0; c < 2; c++) {
				double p = wordings_rate(&b->of[c][l][i]);

				sum[c] += w * p;
				var += w * w * p * (1 - p) / b->of[c][l][i].of;
			}
		}
	*variance = weight > 0 ? var / (4 * weight * weight) : 0;
	return weight > 0 ? (sum[0] + sum[1]) / (2 * weight) : 0;
}

static double baseline_balance(const struct wordings *w, size_t step, enum wordings_baseline b,
			       unsigned threshold)
{
	struct bins bins = {0};
	double variance;

	for (size_t i = 0; i < w->n; i += step)
		if (is_matched_class(&w->v[i]))
			count(bin_of(&bins, &w->v[i]), baseline_takes(b, &w->v[i], threshold) ==
							       wordings_for_bot(w->v[i].class));
	return balance(&bins, &variance);
}

static void match_lengths(struct wordings_matched *m, const struct wordings *w, size_t step,
			  const struct bins *bins)
{
	double variance;

	m->value = balance(bins, &variance);
	m->low = m->value - 1.96 * sqrt(variance);
	m->high = m->value + 1.96 * sqrt(variance);
	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		for (unsigned i = 0; i < BINS; i++)
			if (bins->of[0][l][i].of && bins->of[1][l][i].of) {
				m->takeovers += bins->of[0][l][i].of;
				m->backchannels += bins->of[1][l][i].of;
			}
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++) {
		unsigned most = b == WORDINGS_BASELINE_LENGTH ? (unsigned)THRESHOLDS : 1u;

		for (unsigned k = 1; k <= most; k++) {
			double v = baseline_balance(w, step, (enum wordings_baseline)b, k);

			m->baseline[b] = v > m->baseline[b] ? v : m->baseline[b];
		}
	}
}

/* ---- the score ---- */

static void show_wrong(FILE *to, const struct wordings_line *line, const struct wordings_play *play)
{
	fprintf(to, "%s %s %s %s%s%s %s\t%s\t| %s\n", wordings_class_name(line->class),
		language_names[line->language], line->asker ? "asker" : "other",
		play->talked_on ? "talks" : "disturbed", play->yielded ? " yields" : "",
		play->asked ? " asks" : "", play->reason, line->said, line->bot);
}

int wordings_score(struct wordings_score *out, const struct wordings *w, size_t step,
		   const struct wordings_classifier *classifier, FILE *show)
{
	static struct bins bins;

	memset(out, 0, sizeof *out);
	memset(&bins, 0, sizeof bins);
	for (size_t i = 0; i < w->n; i += step) {
		const struct wordings_line *line = &w->v[i];
		struct wordings_play play;
		int err = wordings_play(&play, line, classifier);
		bool right = wordings_right(line, &play);

		if (err)
			return err;
		count(&out->row[line->class][line->language], right);
		count(&out->row[line->class][WORDINGS_LANGUAGE_COUNT], right);
		if (line->class == WORDINGS_BACKCHANNEL) {
			count(&out->quiet[line->language], !play.asked);
			count(&out->quiet[WORDINGS_LANGUAGE_COUNT], !play.asked);
		}
		for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++)
			count(&out->baseline[line->class][b],
			      baseline_takes((enum wordings_baseline)b, line, LONG_ENOUGH) ==
				      wordings_for_bot(line->class));
		if (is_matched_class(line))
			count(bin_of(&bins, line), right);
		if (show && (!right || (line->class == WORDINGS_BACKCHANNEL && play.asked)))
			show_wrong(show, line, &play);
	}
	match_lengths(&out->matched, w, step, &bins);
	return 0;
}

static void print_share(FILE *to, const char *half, const char *name,
			const struct wordings_share row[WORDINGS_SCORED],
			const struct wordings_share *baseline)
{
	const struct wordings_share *all = &row[WORDINGS_LANGUAGE_COUNT];
	double low, high;

	wordings_interval(all, &low, &high);
	fprintf(to, "%-9s %-22s %.3f (%.3f to %.3f of %u)", half, name, wordings_rate(all), low,
		high, all->of);
	for (unsigned b = 0; baseline && b < WORDINGS_BASELINES_COUNT; b++)
		fprintf(to, "  %s %.3f", baseline_names[b], wordings_rate(&baseline[b]));
	fprintf(to, "\n%-9s %-22s", "", "");
	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		if (row[l].of)
			fprintf(to, " %s %.2f", language_names[l], wordings_rate(&row[l]));
	fprintf(to, "\n");
}

void wordings_print(FILE *to, const char *half, const struct wordings_score *s)
{
	const struct wordings_matched *m = &s->matched;
	double best = 0;

	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++) {
		char name[40];

		snprintf(name, sizeof name, "text_%s",
			 c == WORDINGS_TAKEOVER	    ? "yield"
			 : c == WORDINGS_CORRECTION ? "short_kept"
						    : wordings_class_name((enum wordings_class)c));
		print_share(to, half, name, s->row[c], s->baseline[c]);
	}
	print_share(to, half, "text_backchannel_quiet", s->quiet, NULL);
	fprintf(to, "%-9s %-22s %.3f (%.3f to %.3f of %u takeovers, %u backchannels)", half,
		"text_matched", m->value, m->low, m->high, m->takeovers, m->backchannels);
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++) {
		fprintf(to, "  %s %.3f", baseline_names[b], m->baseline[b]);
		best = m->baseline[b] > best ? m->baseline[b] : best;
	}
	fprintf(to, "\n%-9s %-22s %.1f points\n", half, "text_margin", 100 * (m->value - best));
}
