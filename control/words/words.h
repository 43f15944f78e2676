/* The sentences for people: words.def as functions that add a sentence to a message.
 *
 * Pure. A struct words is a message under construction, all zero at first, never longer than
 * Discord accepts. A blank separates sentences; a sentence that does not fit is left out whole, and
 * so are all later ones. Functions borrow their texts for the call only. */
#ifndef CONTROL_WORDS_WORDS_H
#define CONTROL_WORDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/words/words.def"

enum { WORDS_MAX = 2000 }; /* bytes, so no more characters than Discord allows */

struct words {
	size_t n;
	bool full;
	unsigned language; /* column of translations.def, 0: English */
	char text[WORDS_MAX + 1];
};

typedef const char *words_S;
typedef const char *words_N;
typedef const char *words_T;
typedef unsigned words_U;
typedef unsigned long long words_I;

#define WORDS_0_(name, text)	   void words_##name(struct words *w);
#define WORDS_1_(name, A, a, text) void words_##name(struct words *w, words_##A a);
#define WORDS_2_(name, A, a, B, b, text)                                                           \
	void words_##name(struct words *w, words_##A a, words_##B b);
#define WORDS_3_(name, A, a, B, b, C, c, text)                                                     \
	void words_##name(struct words *w, words_##A a, words_##B b, words_##C c);
WORDS(WORDS_0_, WORDS_1_, WORDS_2_, WORDS_3_)
#undef WORDS_0_
#undef WORDS_1_
#undef WORDS_2_
#undef WORDS_3_

/* Sentences from now on are in this language (a code of ISO 639 with two letters, "de", "de-AT")
 * where translations.def has them; in English for "" and a code that is not there. */
void words_speak(struct words *w, const char *code);
/* Starts the next sentence on a new line. */
void words_line(struct words *w);
/* Separates the next list item from the previous one, if there is one. */
void words_comma(struct words *w);

enum voice_reason {
#define X(NAME, text) VOICE_REASON_##NAME,
	VOICE_REASONS(X)
#undef X
};
enum voice_state {
#define X(NAME, text) VOICE_##NAME,
	VOICE_STATES(X)
#undef X
};
/* Adds why the bot is not in the desired state; nothing for none. media_reason (enum media_reason,
 * 0 for none) replaces REFUSED and MEDIA by a more exact sentence if there is one. */
void words_voice(struct words *w, enum voice_reason reason, unsigned media_reason);
const char *words_voice_state(enum voice_state state);

enum fault {
#define X(NAME, name, wait, again, begins, over) FAULT_##NAME,
	WORDS_FAULTS(X)
#undef X
		FAULT_COUNT
};
/* Adds the sentence about a fault's begin or end. */
void words_fault(struct words *w, enum fault fault, bool over);
/* The certificate of Discord is not valid at this time, ms since 1970. */
void words_clock(struct words *w, uint64_t wall_ms);
const char *words_fault_name(enum fault fault);

/* Adds why the bot leaves by itself; nothing for an end without a sentence. */
void words_end(struct words *w, const char *name);

enum unheard {
	UNHEARD_NOT, /* is heard */
#define X(NAME, text) UNHEARD_##NAME,
	WORDS_UNHEARD(X)
#undef X
};
const char *words_unheard(enum unheard why);
const char *words_phase(unsigned phase); /* enum media_phase */
const char *words_heal(unsigned heal);	 /* enum media_heal */
enum words_link {
#define X(NAME, text) WORDS_LINK_##NAME,
	WORDS_LINKS(X)
#undef X
};
const char *words_link(enum words_link link);

#endif
