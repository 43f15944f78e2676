/* Facts that people asked the brain to remember ("my bike is red"), with their speakers, and their
 * retrieval.
 *
 * Pure and bounded: the oldest is dropped first. Owned by the brain it is part of. */
#ifndef OFFLINE_FACTS_H
#define OFFLINE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FACTS_MAX = 64, FACT_SIZE = 200, FACT_SPEAKER_SIZE = 64 };

struct facts {
	unsigned n;
	struct fact {
		char text[FACT_SIZE]; /* as spoken, in lower case */
		char speaker[FACT_SPEAKER_SIZE];
	} fact[FACTS_MAX];
};

/* A fact about the same thing replaces the earlier one of the same speaker. */
void facts_add(struct facts *f, const char *text, const char *speaker);
/* Drops the newest fact of this speaker. False: there is none. */
bool facts_forget_last(struct facts *f, const char *speaker);
/* The fact that shares most content words with the question, the speaker's own facts first. NULL
 * when there is none. */
const struct fact *facts_find(const struct facts *f, const char *question, const char *speaker);
/* True if a text has a content word of the question. */
bool facts_share(const char *question, const char *text);
/* The fact as an answer: the asker's "my" becomes "your", another speaker's "alice's". Always
 * terminated. */
void fact_say(const struct fact *f, const char *to, char *buf, size_t size);
/* Turns a text to the asker's side: "my bike" -> "your bike", "i" -> "you". */
void fact_turn_round(const char *text, char *buf, size_t size);

#endif
