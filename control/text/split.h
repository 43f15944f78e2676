/* Splits a long answer into messages that Discord takes. Pure.
 *
 * A part ends, in this order of preference, before a blank line, before a paragraph or an item of a
 * list, at the end of a line, at the end of a sentence, at a blank, and only then within a word. A
 * code block that must be split is closed at the end of a part and opened again, with its language,
 * in the next one, and so are spoilers, inline code and bold text; quotes go on. Links stay whole,
 * and bold text and inline code do if they fit. */
#ifndef CONTROL_TEXT_SPLIT_H
#define CONTROL_TEXT_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SPLIT_UNITS = 2000, /* of a message; UTF-16, which is at least what Discord counts */
	SPLIT_FENCE = 32,   /* bytes of the line that opens a code block; longer ones are cut */
	SPLIT_BYTES = 3 * SPLIT_UNITS + 1,
};

/* What is open at a place of the text. */
struct split_marks {
	char fence[SPLIT_FENCE]; /* of the code block; "": none */
	unsigned ticks;		 /* of the inline code; 0: none */
	bool spoiler, bold;
	bool bold_outside; /* around the spoiler, not within it */
	bool quoted;	   /* "> " */
	bool quoted_rest;  /* ">>> ", which quotes all that follows */
	size_t spoilers;   /* "||" behind the place that open or close one */
};

struct split {
	const char *rest; /* borrowed */
	struct split_marks marks;
	bool begun; /* a part was cut off */
};

/* text is borrowed, valid UTF-8, and outlives it. */
void split_begin(struct split *s, const char *text);
/* Writes the next part to buf. False: nothing is left. */
bool split_next(struct split *s, char buf[SPLIT_BYTES]);
/* Number of parts that a text has. */
size_t split_count(const char *text);

#endif
