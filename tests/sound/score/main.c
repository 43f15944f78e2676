/* sound_score: the rows of a sound test from its recordings (docs/room-score.md). */
#include "tests/sound/items.h"
#include "tests/sound/score/judge.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 5, ITEMS = 4096, ANSWER_MS = 5000, THRESHOLDS = 20, OPEN_MIC_MS = 2000 };
enum class { BACKCHANNEL, TAKEOVER, ASIDE, TIC, FOLLOWUP };
static const char *const class_names[CLASSES] = {"backchannel", "takeover", "aside", "tic",
						 "followup"};
/* Names of the rows. */
static const char *const row_names[CLASSES] = {"backchannel", "yield", "aside", "tic", "followup"};

struct result {
	int class; /* -1: a question alone */
	bool after, counts, right, quiet;
	double words_ms;
};

static struct {
	const char *folder;
	bool noise, open_mic, show;
	struct item *items;
	size_t n_items;
	struct result v[ITEMS];
	size_t n;
	double answer[ITEMS];
	size_t n_answer, unanswered;
	FILE *rows;
} w;

/* ---- figures ---- */

struct share {
	unsigned right, of;
};

static double share_rate(struct share s)
{
	return s.of ? (double)s.right / s.of : 0;
}

/* Wilson's interval at 95 %. */
static void share_interval(struct share s, double *low, double *high)
{
	const double z = 1.96;
	double n = s.of ? s.of : 1, p = share_rate(s);
	double mid = p + z * z / (2 * n), half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	*low = (mid - half) / (1 + z * z / n);
	*high = (mid + half) / (1 + z * z / n);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- recordings ---- */

static struct recording recording_read(unsigned room, const char *who)
{
	char path[1024];
	struct recording r;

	snprintf(path, sizeof path, "%s/room-%u-%s.pcm", w.folder, room, who);
	r.pcm = items_sound(path, &r.n);
	return r;
}

/* A recording of ITEM_RATE as one of SCORE_RATE. */
static struct recording answer_read(const char *path)
{
	struct recording r = {NULL, 0};
	size_t n, by = ITEM_RATE / SCORE_RATE;
	int16_t *pcm = items_sound(path, &n);

	if (!pcm)
		return r;
	r.n = n / by;
	for (size_t i = 0; i < r.n; i++) {
		int sum = 0;

		for (size_t k = 0; k < by; k++)
			sum += pcm[i * by + k];
		pcm[i] = (int16_t)(sum / (int)by);
	}
	r.pcm = pcm;
	return r;
}

/* ---- items ---- */

static int class_of(const char *name)
{
	for (int i = 0; i < CLASSES; i++)
		if (strcmp(class_names[i], name) == 0)
			return i;
	return -1;
}

static void result_note(const struct item *it, const struct judgement *j)
{
	struct result *r = &w.v[w.n++];

	*r = (struct result){class_of(it->class), it->after,  j->said, false,
			     !j->spoke_later,	  j->words_ms};
	switch (r->class) {
	case BACKCHANNEL:
	case TIC:
		r->counts = j->said && (j->over || j->broken);
		r->right = j->talked_on;
		break;
	case ASIDE:
		r->counts = j->said && (it->after || j->over || j->broken);
		r->right = (it->after || j->talked_on) && !j->spoke_later;
		break;
	case TAKEOVER:
		r->counts = j->said && j->over;
		r->right = j->yielded;
		break;
	case FOLLOWUP:
		r->right = j->answered;
		break;
	default:
		break;
	}
}

static void item_score(size_t i, unsigned room, size_t from, size_t to)
{
	const struct item *it = &w.items[i];
	struct recording answers[ITEM_ANSWERS];
	struct judge_item ji = {.asker = recording_read(room, "asker"),
				.speaker = recording_read(room, "other"),
				.bot = recording_read(room, "bot"),
				.from = from,
				.to = to,
				.same = !it->other,
				.answers = answers};
	struct judgement j;

	for (; ji.n_answers < ITEM_ANSWERS && *it->answer[ji.n_answers]; ji.n_answers++)
		answers[ji.n_answers] = answer_read(it->answer[ji.n_answers]);
	judge(&j, &ji);
	if (j.asked && j.answer_ms >= 0 && j.answer_ms <= ANSWER_MS)
		w.answer[w.n_answer++] = j.answer_ms;
	else if (j.asked)
		w.unanswered++;
	result_note(it, &j);
	if (w.show)
		printf("%-3zu room %-2u %8.2f s %-11s %s %s answer %5.0f ms, silent after %5.0f "
		       "ms%s%s%s%s: "
		       "\"%s\"\n",
		       i, room, (double)from / SCORE_RATE, it->class, it->other ? "other" : "asker",
		       !w.v[w.n - 1].counts ? "void "
		       : w.v[w.n - 1].right ? "right"
					    : "WRONG",
		       j.answer_ms, j.silent_ms, j.broken ? ", broken before" : "",
		       j.resumed ? ", resumed" : "", j.spoke_later ? ", spoke later" : "",
		       j.talked_on ? ", talked on" : "", it->text);
	for (size_t k = 0; k < ji.n_answers; k++)
		free(answers[k].pcm);
	free(ji.asker.pcm);
	free(ji.speaker.pcm);
	free(ji.bot.pcm);
}

static bool played_read(void)
{
	char path[1024];
	unsigned long long from, to;
	unsigned room;
	size_t i;
	int answered;
	FILE *f;

	snprintf(path, sizeof path, "%s/played.tsv", w.folder);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (w.n < ITEMS &&
	       fscanf(f, "%zu %u %llu %llu %d", &i, &room, &from, &to, &answered) == 5)
		if (i < w.n_items)
			item_score(i, room, from, to);
	fclose(f);
	return w.n > 0;
}

/* ---- baselines: always yields, never does, yields to so much voice ---- */

static bool is_right(const struct result *r, bool yields)
{
	return (r->class == TAKEOVER || r->class == FOLLOWUP) == yields;
}

static struct share baseline(int class, double least_ms)
{
	struct share s = {0, 0};

	for (size_t i = 0; i < w.n; i++)
		if (w.v[i].class == class && w.v[i].counts) {
			s.of++;
			s.right += is_right(&w.v[i], w.v[i].words_ms >= least_ms);
		}
	return s;
}

/* The threshold that tells takeovers from backchannels best, on these very items. */
static double energy_threshold(void)
{
	double best = 0, at = 0;

	for (int i = 1; i <= THRESHOLDS; i++) {
		double balance = share_rate(baseline(BACKCHANNEL, i * 100.0)) +
				 share_rate(baseline(TAKEOVER, i * 100.0));

		if (balance > best) {
			best = balance;
			at = i * 100.0;
		}
	}
	return at;
}

/* ---- rows ---- */

static struct share class_share(int class, bool quiet)
{
	struct share s = {0, 0};

	for (size_t i = 0; i < w.n; i++)
		if (w.v[i].class == class && w.v[i].counts) {
			s.of++;
			s.right += quiet ? w.v[i].quiet : w.v[i].right;
		}
	return s;
}

static void row_print(const char *name, struct share s, const char *more)
{
	double low, high;

	share_interval(s, &low, &high);
	printf("sound_%s%-20s %.3f (%.2f-%.2f) of %u%s\n", w.noise ? "noisy_" : "", name,
	       share_rate(s), low, high, s.of, more);
	if (w.rows)
		fprintf(w.rows,
			"{\"name\": \"sound_%s%s\", \"value\": %.4f, \"unit\": \"share\", \"n\": "
			"%u, "
			"\"low\": %.3f, \"high\": %.3f}\n",
			w.noise ? "noisy_" : "", name, share_rate(s), s.of, low, high);
}

static void answer_row(const char *name, double q)
{
	size_t at = (size_t)ceil(q * (double)(w.n_answer + w.unanswered)) - 1;
	double ms = at < w.n_answer ? w.answer[at] : ANSWER_MS;

	printf("sound_%s%-20s %.0f ms of %zu\n", w.noise ? "noisy_" : "", name, ms,
	       w.n_answer + w.unanswered);
	if (w.rows)
		fprintf(w.rows,
			"{\"name\": \"sound_%s%s\", \"value\": %.0f, \"unit\": \"ms\", \"n\": "
			"%zu}\n",
			w.noise ? "noisy_" : "", name, ms, w.n_answer + w.unanswered);
}

static void classes_print(void)
{
	double worst = 1, threshold = energy_threshold();
	struct share at_worst = {0, 0};
	size_t counted = 0;

	for (int c = 0; c < CLASSES; c++) {
		struct share s = class_share(c, false);
		char more[128];

		snprintf(more, sizeof more, "   always %.2f, never %.2f, energy %.2f",
			 share_rate(baseline(c, 0)), share_rate(baseline(c, 1e9)),
			 share_rate(baseline(c, threshold)));
		if (s.of)
			row_print(row_names[c], s, more);
		if (c <= ASIDE && s.of && share_rate(s) <= worst) {
			worst = share_rate(s);
			at_worst = s;
		}
		counted += s.of;
	}
	row_print("backchannel_quiet", class_share(BACKCHANNEL, true), "");
	if (w.noise)
		row_print("worst", at_worst, "");
	printf("energy: yields to %.0f ms of voice, the best threshold here; void: %zu of %zu "
	       "items\n",
	       threshold, w.n - counted, w.n);
}

static void open_mic_print(void)
{
	struct share s = {0, 0};

	for (size_t i = 0; i < w.n_answer; i++)
		s.right += w.answer[i] <= OPEN_MIC_MS;
	s.of = (unsigned)(w.n_answer + w.unanswered);
	row_print("open_mic_answered", s, "");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {{"folder", 1, NULL, 'f'},	  {"noise", 0, NULL, 'n'},
					      {"open-mic", 0, NULL, 'o'}, {"show", 0, NULL, 's'},
					      {"rows", 1, NULL, 'r'},	  {0}};
	char path[1024];
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		w.folder = c == 'f' ? optarg : w.folder;
		w.noise |= c == 'n';
		w.open_mic |= c == 'o';
		w.show |= c == 's';
		if (c == 'r' && !(w.rows = fopen(optarg, "a")))
			return 1;
	}
	if (!w.folder) {
		fprintf(stderr, "usage: sound_score --folder DIR [--noise] [--open-mic] [--show] "
				"[--rows FILE]\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/items.tsv", w.folder);
	if (items_read(&w.items, &w.n_items, path) || !played_read()) {
		fprintf(stderr, "sound_score: there is nothing to score in %s\n", w.folder);
		return 1;
	}
	qsort(w.answer, w.n_answer, sizeof *w.answer, compare);
	if (w.open_mic) {
		open_mic_print();
	} else {
		classes_print();
		answer_row("answer_p50_ms", 0.5);
		answer_row("answer_p95_ms", 0.95);
	}
	free(w.items);
	return w.rows && fclose(w.rows) ? 1 : 0;
}
