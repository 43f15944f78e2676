/* Decides what a new fact does to an older one that is like it. Pure.
 *
 * Similarity only proposes. Facts that contradict each other share more words than paraphrases do
 * ("at four", "at five"), so a changed number, name, date or negation is never a duplicate: it
 * makes an update, which ends the older fact. Where nothing is certain both stay. */
#ifndef CONTROL_MEMORY_COMPARE_H
#define CONTROL_MEMORY_COMPARE_H

#include <stdbool.h>

enum fact_change {
	FACT_NEW,    /* another fact: both stay */
	FACT_SAME,   /* it says nothing new */
	FACT_UPDATE, /* it takes the place of the older one */
};

/* Compares the meanings of two texts: a cosine; 0: not known. NULL: there is no encoder. */
struct fact_meaning {
	double (*likenessh)(const char *a, const char *b, void *arg);
	void *arg;
};

/* same_speaker: both were said by the same person, so that "my" means the same. meaning may be
 * NULL: words alone decide. */
enum fact_change fact_compare(const char *older, const char *newer, bool same_speaker,
			      const struct fact_meaning *meaning);
/* True if no number, date or name speaks against both saying the same, nor a direction ("to Rome",
 * "from Rome"), a wish in one of both, nor a negation of the same words. */
bool fact_may_be_same(const char *older, const char *newer);
/* How much a question is about the person who asks it. "we" and "us" are not. */
enum fact_self {
	FACT_SELF_NONE,
	FACT_SELF_PART, /* "what colour is my bike?" */
	FACT_SELF_ALL,	/* about nothing else: "what do you know about me?" */
};
enum fact_self fact_asks_about_self(const char *question);
/* True if the text denies what it tells. */
bool fact_is_negated(const char *text);

#endif
