/* The words of a statement as facts are compared by them (compare.h). Pure. */
#ifndef CONTROL_MEMORY_FACT_WORDS_H
#define CONTROL_MEMORY_FACT_WORDS_H

#include <stdbool.h>

enum { TOKENS_MAX = 48, TOKEN_SIZE = 24 };

/* Kinds of tokens. */
enum {
	IS_NUMBER = 1,
	IS_DATE = 2,
	IS_NAME = 4,
	IS_SELF = 8,	 /* I, my, we, … */
	IS_SUBJECT = 16, /* stands before the verb */
	IS_COLOUR = 32,
	IS_VERB = 64,
};
#define IS_VALUE (IS_NUMBER | IS_DATE | IS_NAME)
#define IS_KIND	 (IS_VALUE | IS_COLOUR)

enum { PREPOSITION_SIZE = 8, DENIED_MAX = 4 };

/* What auxiliaries say of the time: "I am a nurse", "I was", "I will be", "I would be", "I have
 * been". */
enum {
	TENSE_PAST = 1,
	TENSE_FUTURE = 2,
	TENSE_WISH = 4,
	TENSE_PERFECT = 8,
	TENSE_PRESENT = 16,
};

struct token {
	char text[TOKEN_SIZE];
	unsigned is;
	char preposition[PREPOSITION_SIZE]; /* before it, "in"; "": none */
	bool article;			    /* before it, too */
};

struct fact_words {
	unsigned n;
	struct token token[TOKENS_MAX];
	bool negated;
	bool has_verb, is_equation; /* a verb parts it; that verb is "is" */
	bool has_self;
	bool has_me; /* "I", "my", and not "we" alone */
	bool adds;   /* "also": it takes the place of nothing */
	bool dense;  /* a script without blanks */
	unsigned tense;
	/* The tokens before which a negation stands. */
	unsigned denied[DENIED_MAX], n_denied;
	bool no_more; /* the word before was "any" or "no" */
	/* Of the next token. */
	char preposition[PREPOSITION_SIZE];
	bool article;
};

/* Verbs of which a person has one at a time, and those for a part that one person has. */
extern const char *const fact_single[], *const fact_parts[], *const fact_dense_negations[];

/* Words behind TOKENS_MAX are left out. */
void fact_words_read(struct fact_words *f, const char *text);

#endif
