/* Decides what a new fact does to an older one that shares words with it. Pure.
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

/* same_speaker: both were said by the same person, so that "my" means the same. likeness: cosine of
 * their vectors; 0: not known. */
enum fact_change fact_compare(const char *older, const char *newer, bool same_speaker,
			      double likeness);
/* Whether the text is about the person who says it ("my bike", "I"). */
bool fact_is_about_self(const char *text);

#endif
