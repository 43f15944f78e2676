/* Splits a long answer into messages that Discord takes. Pure.
 *
 * A part ends, in this order of preference, before a blank line, before a paragraph or an item of a
 * list, at the end of a line, at a blank, and only then within a word. A code block that must be
 * split is closed at the end of a part and opened again, with its language, in the next one. */
#ifndef CONTROL_TEXT_SPLIT_H
#define CONTROL_TEXT_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SPLIT_UNITS = 2000, /* of a message; UTF-16, which is at least what Discord counts */
	SPLIT_FENCE = 32,   /* bytes of the line that opens a code block; longer ones are cut */
	SPLIT_BYTES = 3 * SPLIT_UNITS + 1,
};

struct split {
	const char *rest;	 /* borrowed */
	char fence[SPLIT_FENCE]; /* of the code block that `rest` goes on with; "": none */
	bool begun;		 /* a part was cut off */
};

/* text is borrowed, valid UTF-8, and outlives it. */
void split_begin(struct split *s, const char *text);
/* Writes the next part to buf. False: nothing is left. */
bool split_next(struct split *s, char buf[SPLIT_BYTES]);
/* Number of parts that a text has. */
size_t split_count(const char *text);

#endif
