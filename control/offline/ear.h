/* An ear: two recognisers on the same sound, one that knows only what the rules can answer and one
 * for everything.
 *
 * Sound goes in as it comes (16 kHz s16 mono) and both search along; at the end the acoustic scores
 * say whether the sentence is one of ours. Both see the same normalised frames and score every
 * senone, which is what makes the two scores comparable. Some faint noise is put before the
 * utterance and behind it; with what a session keeps from before the sound that is the half second
 * which the recognisers like.
 *
 * One ear hears one utterance at a time and is used by one thread at a time. Synchronous; no clock,
 * no thread. */
#ifndef OFFLINE_EAR_H
#define OFFLINE_EAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ear;
struct pattern_graph;
struct rule_sound;

enum { EAR_RATE = 16000, EAR_TEXT_SIZE = 512 };

struct ear_hearing {
	char text[EAR_TEXT_SIZE];    /* the verdict: the rules' words when inside, else the general
					ones */
	char ours[EAR_TEXT_SIZE];    /* best sentence of the rules */
	char general[EAR_TEXT_SIZE]; /* best of the general model */
	bool inside;
	double distance;  /* how much worse ours fits the sound, per frame of speech (log units /
			     1024) */
	double agreement; /* share of words that both have, 0 … 1 */
	unsigned frames;  /* of 10 ms, speech only */
};

struct ear_conf {
	const char *model; /* folder with en-us/, cmudict-en-us.dict, en-us.lm.bin; NULL =
			      EAR_MODEL_DIR */
	const struct pattern_graph *graph; /* used while allocating only */
	const struct rule_sound *sounds;   /* ended by a NULL word; used while allocating only */
	double threshold; /* distance up to which a sentence without a common word is ours; 0 = as
			     measured */
};

#define EAR_MODEL_DIR	  "/usr/share/pocketsphinx/model/en-us"
#define EAR_MODEL_PACKAGE "pocketsphinx-en-us"

/* ENOENT: the model is not installed; EINVAL: a word of the rules has no pronunciation (*why names
 * it); ENOMEM; EIO. why: a sentence for people, static or thread-local; may be NULL. Takes about
 * half a second. Caller owns *out. */
int ear_alloc(struct ear **out, const struct ear_conf *conf, const char **why);
struct ear *ear_free(struct ear *e);

/* Begins an utterance; one that was running is dropped. EIO. */
int ear_start(struct ear *e);
/* More sound. EIO. */
int ear_feed(struct ear *e, const int16_t *pcm, size_t n);
/* Ends the utterance. Silence gives empty texts. EIO. */
int ear_finish(struct ear *e, struct ear_hearing *out);

#endif
