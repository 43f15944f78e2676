/* Patterns: sentences written as `what (is|'s) the time [now]`, compiled to one network of words.
 *
 * One pattern serves two readers. Text is matched against the whole network, in which an open slot
 * takes any words and `*` skips some. The recogniser gets the closed part as a minimal
 * deterministic word graph (pattern_graph), in which an open slot stands for its list of examples.
 * Pure.
 *
 * Notation: words; `( a | b )`; `[ optional ]`; `<slot>` (captured); `<_slot>` (a mere
 * abbreviation, not captured);
 * `{ one or more times }` and `*`, any words or none, only where the recogniser does not read. */
#ifndef OFFLINE_PATTERN_H
#define OFFLINE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words;
struct pattern_set;

enum pattern_slot_kind {
	PATTERN_CLOSED, /* the same for both readers */
	PATTERN_OPEN,	/* in text any one or more words, spoken the pattern */
};

struct pattern_slot {
	const char *name; /* without <>, a leading _ when it is not captured */
	const char *spoken;
	const char *written; /* what text may say; NULL = as spoken */
	enum pattern_slot_kind kind;
};

struct pattern_rule {
	const char *text;
	bool spoken; /* part of the recogniser's graph */
};

enum { PATTERN_MAX_CAPS = 12 };

struct pattern_match {
	unsigned rule; /* index into the rules */
	unsigned cost; /* weighted number of words that were skipped or taken by an open slot; 0 =
			  an exact match */
	unsigned n;
	struct pattern_cap {
		unsigned slot;	   /* index into the slots */
		unsigned from, to; /* tokens */
	} cap[PATTERN_MAX_CAPS];
};

/* The patterns of a set; the tables are borrowed for as long as the set lives. */
struct pattern_table {
	const struct pattern_slot *slots;
	unsigned n_slots;
	const struct pattern_rule *rules;
	unsigned n_rules;
	const char *lead, *tail; /* optional before and after each rule; patterns, or NULL */
};

/* Compiles all rules. EINVAL: a pattern is malformed (*bad, if not NULL, is its text), ENOMEM. */
int pattern_compile(struct pattern_set **out, const struct pattern_table *table, const char **bad);
struct pattern_set *pattern_free(struct pattern_set *set);

/* The cheapest reading of the tokens; of equal ones the first rule's. ENOENT when there is none,
 * ENOMEM. */
int pattern_match(const struct pattern_set *set, const struct words *words,
		  struct pattern_match *out);

/* The word graph of the spoken rules: deterministic and minimal; state 0 is the start. */
struct pattern_graph {
	unsigned n_states, n_arcs, n_words;
	bool *final; /* per state */
	struct pattern_arc {
		uint32_t from, to, word;
	} * arcs;	    /* sorted by from */
	const char **words; /* borrowed from the set */
};
int pattern_graph(struct pattern_graph *out, const struct pattern_set *set);
void pattern_graph_free(struct pattern_graph *g);

#endif
