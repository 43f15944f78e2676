#include "control/offline/recogniser.h"

#include "control/offline/front_end.h"
#include "control/offline/pattern.h"
#include "control/offline/rules.h"

#include <errno.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PAD_BEFORE = RECOGNISER_RATE * 3 / 10,
	PAD_AFTER = RECOGNISER_RATE * 3 / 10,
	LEAST_FRAMES = 30,
	NOISE_BITS = 3
};

/* Measured with tests/offline/measure: see there for the two curves that cross here. */
static const double RECOGNISER_THRESHOLD = 8;
/* Additional distance that is allowed when both decoders agree in all words. */
static const double AGREEMENT = 16;

struct recogniser {
	struct front_end *front_end;
	ps_decoder_t *grammar, *general;
	double threshold;
	uint32_t noise;
	bool running;
};

/* One decoder's result. */
struct path {
	char text[RECOGNISER_TEXT_SIZE];
	long score;	 /* acoustic, whole utterance */
	unsigned frames; /* of words */
};

/* Silences the library's log; its failures are returned as errors. */
static void hush(void *arg, err_lvl_t level, const char *fmt, ...)
{
	(void)arg;
	(void)level;
	(void)fmt;
}

static cmd_ln_t *config(const char *model, bool general)
{
	char hmm[512], dict[512], lm[512];
	cmd_ln_t *c;

	snprintf(hmm, sizeof hmm, "%s/en-us", model);
	snprintf(dict, sizeof dict, "%s/cmudict-en-us.dict", model);
	snprintf(lm, sizeof lm, "%s/en-us.lm.bin", model);
	/* Every senone is scored in every frame, so that the two searches' scores are on one scale.
	 */
	c = cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", hmm, "-dict", dict, "-compallsen", "yes",
			NULL);
	if (!c)
		return c;
	if (!general) {
		/* The word graph is small: wide beams cost little and lose no sentence on the way.
		 */
		cmd_ln_set_float_r(c, "-beam", 1e-60);
		cmd_ln_set_float_r(c, "-pbeam", 1e-60);
		cmd_ln_set_float_r(c, "-wbeam", 1e-40);
		return c;
	}
	/* One pass only, and a narrow one: the answer is wanted the moment the sentence ends. */
	cmd_ln_set_str_r(c, "-lm", lm);
	cmd_ln_set_boolean_r(c, "-fwdflat", FALSE);
	cmd_ln_set_int_r(c, "-pl_window", 0);
	cmd_ln_set_int_r(c, "-maxhmmpf", 3000);
	cmd_ln_set_int_r(c, "-maxwpf", 10);
	return c;
}

static int decoder(ps_decoder_t **out, const char *model, bool general)
{
	cmd_ln_t *c = config(model, general);

	if (!c)
		return ENOMEM;
	*out = ps_init(c);
	cmd_ln_free_r(c);
	if (!*out)
		return EIO;
	/* Normalisation is done by the front end. */
	ps_get_feat(*out)->cmn = CMN_NONE;
	return 0;
}

/* Adds pronunciations the dictionary lacks: word, word(2), … A new word is for the rules'
 * recogniser only: the n-gram model of this library release reads past its tables when words are
 * added to it. */
static void add_sounds(ps_decoder_t *ps, const struct rule_sound *s, bool new_words)
{
	for (; s && s->word; s++) {
		char name[64];

		snprintf(name, sizeof name, "%s", s->word);
		for (unsigned i = 2; i < 20; i++) {
			char *known = ps_lookup_word(ps, name);
			bool same = known && strcmp(known, s->phones) == 0;

			if (!known && (new_words || i > 2))
				ps_add_word(ps, name, s->phones, TRUE);
			free(known);
			if (same || !known)
				break;
			snprintf(name, sizeof name, "%s(%u)", s->word, i);
		}
	}
}

static int add_arcs(ps_decoder_t *ps, fsg_model_t *fsg, const struct pattern_graph *g,
		    const char **why)
{
	static __thread char text[128];

	for (unsigned i = 0; i < g->n_arcs; i++) {
		const char *word = g->words[g->arcs[i].word];
		char *known = ps_lookup_word(ps, word);

		if (!known) {
			snprintf(text, sizeof text,
				 "the word \"%s\" of the rules has no pronunciation", word);
			*why = text;
			return EINVAL;
		}
		free(known);
		fsg_model_trans_add(fsg, (int32)g->arcs[i].from, (int32)g->arcs[i].to, 0,
				    fsg_model_word_add(fsg, word));
	}
	for (unsigned i = 0; i < g->n_states; i++)
		if (g->final[i])
			fsg_model_null_trans_add(fsg, (int32)i, (int32)g->n_states, 0);
	return 0;
}

static int set_graph(ps_decoder_t *ps, const struct pattern_graph *g, const char **why)
{
	fsg_model_t *fsg =
		fsg_model_init("rules", ps_get_logmath(ps), 1.0F, (int32)g->n_states + 1);
	int err = ENOMEM;

	if (!fsg)
		return err;
	err = add_arcs(ps, fsg, g, why);
	fsg->start_state = 0;
	fsg->final_state = (int32)g->n_states;
	if (!err && (ps_set_fsg(ps, "rules", fsg) < 0 || ps_set_search(ps, "rules") < 0))
		err = EIO;
	fsg_model_free(fsg);
	return err;
}

static int both(float **frames, int n, void *arg)
{
	struct recogniser *e = arg;

	/* A decoder may modify the rows; the second gets rows that the first leaves alone: it only
	 * reads them. */
	if (ps_process_cep(e->grammar, frames, n, FALSE, FALSE) < 0)
		return EIO;
	return ps_process_cep(e->general, frames, n, FALSE, FALSE) < 0 ? EIO : 0;
}

int recogniser_find_model(const char *model, const char **why)
{
	static const char *const parts[] = {"en-us.lm.bin", "en-us/mdef"};
	char path[512];

	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", model ? model : RECOGNISER_MODEL_DIR,
			 parts[i]);
		if (!access(path, R_OK))
			continue;
		*why = "the speech model is not there: install the Debian "
		       "package " RECOGNISER_MODEL_PACKAGE;
		return ENOENT;
	}
	return 0;
}

int recogniser_alloc(struct recogniser **out, const struct recogniser_conf *conf, const char **why)
{
	const char *model = conf->model ? conf->model : RECOGNISER_MODEL_DIR, *reason = "";
	struct recogniser *e;
	int err;

	err_set_logfp(NULL);
	err_set_callback(hush, NULL);
	err = recogniser_find_model(model, &reason);
	if (err) {
		if (why)
			*why = reason;
		return err;
	}
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	e->threshold = conf->threshold != 0 ? conf->threshold : RECOGNISER_THRESHOLD;
	err = front_end_alloc(&e->front_end, both, e);
	if (!err)
		err = decoder(&e->grammar, model, false);
	if (!err)
		err = decoder(&e->general, model, true);
	if (!err) {
		add_sounds(e->grammar, conf->sounds, true);
		add_sounds(e->general, conf->sounds, false);
		err = set_graph(e->grammar, conf->graph, &reason);
	}
	if (why)
		*why = *reason ? reason : "the speech model could not be loaded";
	if (err) {
		recogniser_free(e);
		return err;
	}
	*out = e;
	return 0;
}

static int stop(struct recogniser *e)
{
	e->running = false;
	return ps_end_utt(e->grammar) < 0 || ps_end_utt(e->general) < 0 ? EIO : 0;
}

struct recogniser *recogniser_free(struct recogniser *e)
{
	if (!e)
		return NULL;
	/* A decoder that is freed in the middle of an utterance leaks its active search. */
	if (e->running)
		stop(e);
	if (e->grammar)
		ps_free(e->grammar);
	if (e->general)
		ps_free(e->general);
	front_end_free(e->front_end);
	free(e);
	return NULL;
}

/* Adds a little deterministic noise, because the logarithm of digital silence is useless. */
static int16_t noisy(struct recogniser *e, int v)
{
	e->noise = e->noise * 1664525 + 1013904223;
	v += (int)(e->noise >> (32 - NOISE_BITS)) - (1 << (NOISE_BITS - 1));
	return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

static int feed(struct recogniser *e, const int16_t *pcm, size_t n)
{
	int16_t block[1024];
	int err = 0;

	while (n && !err) {
		size_t k = n < 1024 ? n : 1024;

		for (size_t i = 0; i < k; i++)
			block[i] = noisy(e, pcm ? pcm[i] : 0);
		err = front_end_feed(e->front_end, block, k);
		pcm = pcm ? pcm + k : NULL;
		n -= k;
	}
	return err;
}

int recogniser_start(struct recogniser *e)
{
	int err = e->running ? stop(e) : 0;

	if (!err)
		err = front_end_start(e->front_end);
	if (!err && (ps_start_utt(e->grammar) < 0 || ps_start_utt(e->general) < 0))
		err = EIO;
	e->noise = 1;
	e->running = !err;
	return err ? err : feed(e, NULL, PAD_BEFORE);
}

int recogniser_feed(struct recogniser *e, const int16_t *pcm, size_t n)
{
	return e->running ? feed(e, pcm, n) : EIO;
}

static bool is_filler(const char *word)
{
	return word[0] == '<' || word[0] == '[' || word[0] == '+' || word[0] == '(';
}

/* The two decoders give acoustic scores of segments in different units. */
static void read_path(ps_decoder_t *ps, unsigned shift, struct path *out)
{
	int32 best;
	size_t k = 0;

	*out = (struct path){.score = 0};
	if (!ps_get_hyp(ps, &best))
		return;
	for (ps_seg_t *s = ps_seg_iter(ps); s; s = ps_seg_next(s)) {
		const char *word = ps_seg_word(s);
		int from, to;
		int32 acoustic, language, back;

		ps_seg_frames(s, &from, &to);
		ps_seg_prob(s, &acoustic, &language, &back);
		out->score += (long)acoustic * (1L << (10 - shift)) / 1024;
		if (is_filler(word))
			continue;
		out->frames += (unsigned)(to - from + 1);
		if (k < sizeof out->text)
			k += (size_t)snprintf(out->text + k, sizeof out->text - k, "%s%.*s",
					      k ? " " : "", (int)strcspn(word, "("), word);
	}
}

/* Share of words that both sentences have in the same order. */
static double agreement(const char *a, const char *b)
{
	unsigned row[WORDS_MAX + 1] = {0}, most;
	struct words x, y;

	words_split(&x, a);
	words_split(&y, b);
	most = x.n > y.n ? x.n : y.n;
	for (unsigned i = 0; i < x.n; i++) {
		unsigned diagonal = 0;

		for (unsigned k = 0; k < y.n; k++) {
			unsigned above = row[k + 1];

			row[k + 1] = strcmp(x.w[i], y.w[k]) == 0 ? diagonal + 1
				     : row[k] > above		 ? row[k]
								 : above;
			diagonal = above;
		}
	}
	return most ? (double)row[y.n] / most : 0;
}

int recogniser_finish(struct recogniser *e, struct recognition *out)
{
	struct path ours, general;
	unsigned frames;
	int err;

	*out = (struct recognition){.in_grammar = false};
	if (!e->running)
		return EIO;
	err = feed(e, NULL, PAD_AFTER);
	if (!err)
		err = front_end_finish(e->front_end);
	if (stop(e) || err)
		return err ? err : EIO;
	read_path(e->grammar, 0, &ours);
	read_path(e->general, 10, &general);
	frames = ours.frames > general.frames ? ours.frames : general.frames;
	out->frames = frames;
	out->distance = (double)(general.score - ours.score) /
			(frames > LEAST_FRAMES ? frames : LEAST_FRAMES);
	out->agreement = agreement(ours.text, general.text);
	out->in_grammar =
		ours.text[0] && out->distance <= e->threshold + AGREEMENT * out->agreement;
	snprintf(out->grammar, sizeof out->grammar, "%s", ours.text);
	snprintf(out->general, sizeof out->general, "%s", general.text);
	snprintf(out->text, sizeof out->text, "%s", out->in_grammar ? ours.text : general.text);
	return 0;
}
