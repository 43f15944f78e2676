/* A speech recogniser: two decoders on the same sound, one with the grammar of the rules and one
 * with a general language model.
 *
 * Both decode 16 kHz s16 mono as it arrives; at the end their acoustic scores decide whether the
 * sentence is in the grammar. Both get the same normalised frames and score every senone, which
 * makes the scores comparable. Faint noise is added before and after the utterance, because the
 * decoders need about half a second around speech.
 *
 * A recogniser decodes one utterance at a time and is used by one thread at a time. Synchronous; no
 * clock, no thread. */
#ifndef OFFLINE_RECOGNISER_H
#define OFFLINE_RECOGNISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recogniser;
struct pattern_graph;
struct rule_sound;

enum { RECOGNISER_RATE = 16000, RECOGNISER_TEXT_SIZE = 512 };

struct recognition {
	char text[RECOGNISER_TEXT_SIZE];    /* the result: the grammar's words when in_grammar, else
					       the general ones */
	char grammar[RECOGNISER_TEXT_SIZE]; /* best sentence of the grammar */
	char general[RECOGNISER_TEXT_SIZE]; /* best of the general model */
	bool in_grammar;
	double distance;  /* how much worse the grammar fits the sound, per frame of speech (log
			     units / 1024) */
	double agreement; /* share of common words, 0 … 1 */
	unsigned frames;  /* of 10 ms, speech only */
};

struct recogniser_conf {
	const char *model; /* folder with en-us/, cmudict-en-us.dict, en-us.lm.bin; NULL =
			      RECOGNISER_MODEL_DIR */
	const struct pattern_graph *graph; /* used while allocating only */
	const struct rule_sound *sounds;   /* ended by a NULL word; used while allocating only */
	double threshold; /* distance up to which a sentence without common words is in the grammar;
			     0 = as measured */
};

#define RECOGNISER_MODEL_DIR	 "/usr/share/pocketsphinx/model/en-us"
#define RECOGNISER_MODEL_PACKAGE "pocketsphinx-en-us"

/* True if the speech model is in this folder (NULL: the package's). ENOENT, and why says what to
 * install. */
int recogniser_find_model(const char *model, const char **why);
/* ENOENT: the model is not installed; EINVAL: a word of the rules has no pronunciation (*why names
 * it); ENOMEM; EIO. why: a sentence for people, static or thread-local; may be NULL. Takes about
 * half a second. Caller owns *out. */
int recogniser_alloc(struct recogniser **out, const struct recogniser_conf *conf, const char **why);
struct recogniser *recogniser_free(struct recogniser *e);

/* Begins an utterance and drops a running one. EIO. */
int recogniser_start(struct recogniser *e);
/* More sound. EIO. */
int recogniser_feed(struct recogniser *e, const int16_t *pcm, size_t n);
/* Ends the utterance. Silence gives empty texts. EIO. */
int recogniser_finish(struct recogniser *e, struct recognition *out);

#endif
