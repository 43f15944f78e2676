/* Rules: find the intent of a line of text. rules.def is the table; the recogniser's grammar is
 * generated from it too.
 *
 * Pure. A struct rules is constant after it was made, so every thread may use it. */
#ifndef OFFLINE_RULES_H
#define OFFLINE_RULES_H

#include "control/offline/pattern.h"
#include "control/offline/words.h"

enum intent {
#define INTENT(sym, name) INTENT_##sym,
#include "control/offline/rules.def"
	INTENT_COUNT
};

enum rule_slot {
#define SLOT(sym, name, kind, spoken, written) SLOT_##sym,
#include "control/offline/rules.def"
	RULE_SLOTS
};

struct rules;

/* The result of reading a line. Captures point into `words`; their slots are enum rule_slot. */
struct reading {
	enum intent intent; /* INTENT_NONE when no rule fits */
	struct words words;
	struct pattern_match match;
};

/* A pronunciation that the recogniser's dictionary may lack. */
struct rule_sound {
	const char *word, *phones;
};

/* EINVAL: the table is malformed (a bug; the test finds it), ENOMEM. Caller owns *out. */
int rules_alloc(struct rules **out);
struct rules *rules_free(struct rules *r);

/* Reads one line of UTF-8. ENOMEM. */
int rules_read(const struct rules *r, const char *text, struct reading *out);

const char *intent_name(enum intent intent);
/* False when there is no such intent. */
bool intent_parse(const char *name, enum intent *out);

/* The word graph of all spoken rules; the caller frees it, before the rules. ENOMEM. */
int rules_graph(const struct rules *r, struct pattern_graph *out);
/* Pronunciations, ended by a NULL word. A word's second one is its alternative, and so on. */
const struct rule_sound *rules_sounds(void);

#endif
