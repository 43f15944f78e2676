#include <errno.h>
#include <math.h>
#include <stdlib.h>
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
	double n = s->effective > 0 ? s->effective : s->of ? s->of : 1, p = wordings_rate(s);
	double mid = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	*low = (mid - half) / (1 + z * z / n);
	*high = (mid + half) / (1 + z * z / n);
}

/* The share of each situation. */
struct situations {
	struct wordings_share v[WORDINGS_SITUATIONS];
};

/* A sample of clusters (Kish's design effect): where the wordings of a situation are right or wrong
 * together, the row tells as much as fewer independent ones would. */
static void count_effective(struct wordings_share *row, const struct situations *of)
{
	double p = wordings_rate(row), n = row->of, sum = 0, k = 0, cluster, simple;

	for (unsigned i = 0; i < WORDINGS_SITUATIONS; i++) {
		double off = of->v[i].right - p * of->v[i].of;

		k += of->v[i].of > 0;
		sum += off * off;
	}
	simple = p * (1 - p) / n;
	cluster = k > 1 ? sum / (n * n) * k / (k - 1) : 0;
	if (simple <= 0 || cluster <= 0)
		row->effective = k;
	else
		row->effective = cluster > simple ? n * simple / cluster : n;
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

static double bin_weight(const struct bins *b, unsigned language, unsigned bin)
{
	unsigned n0 = b->of[0][language][bin].of, n1 = b->of[1][language][bin].of;

	return n0 < n1 ? n0 : n1;
}

/* The mean of both classes' shares, each bin weighted by its rarer class. */
static double balance(const struct bins *b)
{
	double sum = 0, weight = 0;

	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		for (unsigned i = 0; i < BINS; i++) {
			double w = bin_weight(b, l, i);

			weight += w;
			for (unsigned c = 0; c < 2 && w > 0; c++)
				sum += w * wordings_rate(&b->of[c][l][i]);
		}
	return weight > 0 ? sum / (2 * weight) : 0;
}

/* Its variance, by situations: what the wordings of one add to it, together. */
static double balance_variance(const struct bins *b, const struct wordings *w, size_t step,
			       const bool *right)
{
	static double off[2][WORDINGS_SITUATIONS];
	double weight = 0, sum = 0;

	memset(off, 0, sizeof off);
	for (unsigned l = 0; l < WORDINGS_LANGUAGE_COUNT; l++)
		for (unsigned i = 0; i < BINS; i++)
			weight += bin_weight(b, l, i);
	for (size_t i = 0; i < w->n && weight > 0; i += step) {
		const struct wordings_line *line = &w->v[i];
		unsigned class = line->class == WORDINGS_BACKCHANNEL, bin = length_bin(line->said);
		const struct wordings_share *of = &b->of[class][line->language][bin];

		if (is_matched_class(line))
			off[class][line->situation] += bin_weight(b, line->language, bin) /
						       (2 * weight * of->of) *
						       (right[i] - wordings_rate(of));
	}
	for (unsigned c = 0; c < 2; c++)
		for (unsigned i = 0; i < WORDINGS_SITUATIONS; i++)
			sum += off[c][i] * off[c][i];
	return sum;
}

static double baseline_balance(const struct wordings *w, size_t step, enum wordings_baseline b,
			       unsigned threshold)
{
	struct bins bins = {0};

	for (size_t i = 0; i < w->n; i += step)
		if (is_matched_class(&w->v[i]))
			count(bin_of(&bins, &w->v[i]), baseline_takes(b, &w->v[i], threshold) ==
							       wordings_for_bot(w->v[i].class));
	return balance(&bins);
}

static void match_lengths(struct wordings_matched *m, const struct wordings *w, size_t step,
			  const struct bins *bins, const bool *right)
{
	double variance = balance_variance(bins, w, step, right);

	m->value = balance(bins);
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

/* Counts the rows of one wording. */
static void count_wording(struct wordings_score *out,
			  struct situations of[WORDINGS_CLASS_COUNT + 1],
			  const struct wordings_line *line, bool right, bool quiet)
{
	count(&out->row[line->class][line->language], right);
	count(&out->row[line->class][WORDINGS_LANGUAGE_COUNT], right);
	count(&of[line->class].v[line->situation], right);
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++)
		count(&out->baseline[line->class][b],
		      baseline_takes((enum wordings_baseline)b, line, LONG_ENOUGH) ==
			      wordings_for_bot(line->class));
	if (line->class != WORDINGS_BACKCHANNEL)
		return;
	count(&out->quiet[line->language], quiet);
	count(&out->quiet[WORDINGS_LANGUAGE_COUNT], quiet);
	count(&of[WORDINGS_CLASS_COUNT].v[line->situation], quiet);
}

static void count_situations(struct wordings_score *out,
			     const struct situations of[WORDINGS_CLASS_COUNT + 1])
{
	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++)
		count_effective(&out->row[c][WORDINGS_LANGUAGE_COUNT], &of[c]);
	count_effective(&out->quiet[WORDINGS_LANGUAGE_COUNT], &of[WORDINGS_CLASS_COUNT]);
}

int wordings_score(struct wordings_score *out, const struct wordings *w, size_t step,
		   const struct wordings_classifier *classifier, FILE *show)
{
	static struct situations situations[WORDINGS_CLASS_COUNT + 1];
	static struct bins bins;
	bool *rights = calloc(w->n, sizeof *rights);
	int err = rights ? 0 : ENOMEM;

	memset(out, 0, sizeof *out);
	memset(&bins, 0, sizeof bins);
	memset(situations, 0, sizeof situations);
	for (size_t i = 0; i < w->n && !err; i += step) {
		const struct wordings_line *line = &w->v[i];
		struct wordings_play play;

		err = wordings_play(&play, line, classifier);
		if (err)
			break;
		rights[i] = wordings_right(line, &play);
		count_wording(out, situations, line, rights[i], !play.asked);
		if (is_matched_class(line))
			count(bin_of(&bins, line), rights[i]);
		if (show && (!rights[i] || (line->class == WORDINGS_BACKCHANNEL && play.asked)))
			show_wrong(show, line, &play);
	}
	if (!err) {
		count_situations(out, situations);
		match_lengths(&out->matched, w, step, &bins, rights);
	}
	free(rights);
	return err;
}

/* ---- floors ---- */

static const struct {
	const char *name;
	double floor;
} rows[] = {
#define X(row, floor) {#row, floor},
	WORDINGS_FLOORS(X)
#undef X
};

static double best_baseline(const struct wordings_matched *m)
{
	double best = 0;

	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++)
		best = m->baseline[b] > best ? m->baseline[b] : best;
	return best;
}

static const char *row_name(enum wordings_class class)
{
	static const unsigned of[WORDINGS_CLASS_COUNT] = {
		[WORDINGS_BACKCHANNEL] = WORDINGS_ROW_text_backchannel,
		[WORDINGS_TIC] = WORDINGS_ROW_text_tic,
		[WORDINGS_ASIDE] = WORDINGS_ROW_text_aside,
		[WORDINGS_OF_THE_BOT] = WORDINGS_ROW_text_of_the_bot,
		[WORDINGS_TAKEOVER] = WORDINGS_ROW_text_yield,
		[WORDINGS_CORRECTION] = WORDINGS_ROW_text_short_kept,
		[WORDINGS_FOLLOWUP] = WORDINGS_ROW_text_followup,
		[WORDINGS_NAMED] = WORDINGS_ROW_text_named,
	};

	return rows[of[class]].name;
}

unsigned wordings_check_floors(FILE *to, const struct wordings_score *s)
{
	const struct wordings_matched *m = &s->matched;
	unsigned below = 0;

	for (unsigned i = 0; i < WORDINGS_ROWS; i++) {
		double value = i == WORDINGS_ROW_text_matched  ? m->value
			       : i == WORDINGS_ROW_text_margin ? m->value - best_baseline(m)
			       : i == WORDINGS_ROW_text_backchannel_quiet
				       ? wordings_rate(&s->quiet[WORDINGS_LANGUAGE_COUNT])
				       : 0;

		for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++)
			if (row_name((enum wordings_class)c) == rows[i].name)
				value = wordings_rate(&s->row[c][WORDINGS_LANGUAGE_COUNT]);
		if (value >= rows[i].floor)
			continue;
		fprintf(to, "%s is %.3f, below its floor of %.2f\n", rows[i].name, value,
			rows[i].floor);
		below++;
	}
	return below;
}

static void print_share(FILE *to, const char *half, const char *name,
			const struct wordings_share row[WORDINGS_SCORED],
			const struct wordings_share *baseline)
{
	const struct wordings_share *all = &row[WORDINGS_LANGUAGE_COUNT];
	double low, high;

	wordings_interval(all, &low, &high);
	fprintf(to, "%-9s %-22s %.3f (%.3f to %.3f of %u, %.0f effective)", half, name,
		wordings_rate(all), low, high, all->of, all->effective);
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

	for (unsigned c = 0; c < WORDINGS_CLASS_COUNT; c++)
		print_share(to, half, row_name((enum wordings_class)c), s->row[c], s->baseline[c]);
	print_share(to, half, "text_backchannel_quiet", s->quiet, NULL);
	fprintf(to, "%-9s %-22s %.3f (%.3f to %.3f of %u takeovers, %u backchannels)", half,
		"text_matched", m->value, m->low, m->high, m->takeovers, m->backchannels);
	for (unsigned b = 0; b < WORDINGS_BASELINES_COUNT; b++)
		fprintf(to, "  %s %.3f", baseline_names[b], m->baseline[b]);
	fprintf(to, "\n%-9s %-22s %.1f points\n", half, "text_margin",
		100 * (m->value - best_baseline(m)));
}
