/* The slice of the memory that enters a prompt: facts and earlier lines, quoted as data with author
 * and date. Pure.
 *
 * Recalled text must not act on the model, so each quote stands on a line of its own, between
 * quotation marks, and holds none itself; names lose their marks, and one that reads like an order
 * is left out. Of facts that say the same the first one stays, of two that contradict each other
 * the newer one of an author; what two authors say stands beside each other, the newer one first. A
 * line of the conversation enters only if it shares enough words with the question; if nothing fits
 * the slice is empty, and nothing enters the prompt. */
#ifndef CONTROL_MEMORY_SLICE_H
#define CONTROL_MEMORY_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/memory/calendar.h"

enum {
	SLICE_FACTS = 8,
	SLICE_LINES = 4,
	SLICE_SUMMARIES = 2,
	SLICE_QUOTE = 220,   /* bytes of a quote; longer facts and lines are cut */
	SLICE_SUMMARY = 400, /* bytes of a summary */
	SLICE_AUTHOR = 48,   /* bytes of an author's name */
	SLICE_BYTES = 2400,
	/* Most of all of them, whatever the limits. */
	SLICE_QUOTES = 40,
	SLICE_BYTES_MOST = 8000,
};

/* Of a slice for another purpose than a spoken answer. */
struct slice_limits {
	unsigned facts, lines; /* with SLICE_SUMMARIES at most SLICE_QUOTES */
	size_t bytes;	       /* at most SLICE_BYTES_MOST */
};

/* A fact, a line or a summary. Strings are borrowed for the call. */
struct slice_quote {
	uint32_t id;
	const char *author, *text;
	uint64_t user;
	bool private;	    /* a fact of the user's own memory */
	uint64_t at_ms;	    /* since 1970 */
	uint64_t again_ms;  /* of a fact: its author said it again then; 0: they did not */
	const char *former; /* of a fact: what it took the place of; NULL: nothing */
	uint64_t former_from_ms, former_until_ms; /* since 1970; 0: not known */
	const char *against; /* of a fact: what contradicts it; NULL: nothing that is known */
	uint64_t against_ms;
	bool other_time; /* of a line: nothing was found of the time that the question names */
};

struct memory_slice {
	const struct calendar_zone *zone;  /* the reader's, for the days of the quotes; NULL: UTC */
	const struct slice_limits *limits; /* NULL: SLICE_FACTS, SLICE_LINES, SLICE_BYTES */
	unsigned facts, lines, summaries;
	struct {
		char kind; /* 'f': a fact, 'p': a private one, 'u': a line, 's': a summary */
		uint32_t id;
		uint64_t user, at_ms;
		char text[SLICE_QUOTE + 1];
	} quoted[SLICE_QUOTES + 1]; /* the last place is for moving one */
	size_t n;
	char text[SLICE_BYTES_MOST + 1];
};

/* How the lines of slice_add_unfinished and slice_add_summary begin. */
#define SLICE_UNFINISHED "- you to "
#define SLICE_SUMMARIZED "- summary of an earlier conversation here"

/* False: it does not fit, or another fact says it already, or the same author a newer one. It may
 * take the place of an older one. */
bool slice_add_fact(struct memory_slice *s, const struct slice_quote *fact);
bool slice_add_line(struct memory_slice *s, const struct slice_quote *line, const char *question);
/* A line of the present conversation, which needs no question: at_ms is told as an age at now_ms.
 */
bool slice_add_recent(struct memory_slice *s, const struct slice_quote *line, uint64_t now_ms);
/* A line of the bot's own (author: whom it was for) that the end of a conversation cut, or a
 * question in it that was not answered. */
bool slice_add_unfinished(struct memory_slice *s, const struct slice_quote *line, bool cut);
/* A summary of an earlier session in this channel: id is the last utterance that it covers, at_ms
 * the start of the session. */
bool slice_add_summary(struct memory_slice *s, const struct slice_quote *summary);
/* Number of quotes. */
unsigned slice_count(const struct memory_slice *s);
/* True if a line of a slice's text begins so. No quote can: it stands on a line that code began. */
bool slice_has_line(const char *text, const char *beginning);
/* True if the text shares enough content words with the question: two, or the only one. */
bool slice_fits(const char *question, const char *text);
/* Returns the number of content words, without the function words of English and of the language
 * in which the words are (function_words.h); *shared: how many of them the text holds. Capitals do
 * not count. Scripts without blanks count by pairs of characters. */
unsigned slice_count_words(const char *words, const char *text, unsigned *shared);
/* True if one of both holds every content word of the other. */
bool slice_names(const char *words, const char *text);
/* True if a line by the author of a fact tells it again, or the most of it: it holds all content
 * words of the fact but the author's name, or two of them and two thirds, or two and no others. */
bool slice_repeats(const char *fact, const char *author, const char *line);
/* The question without this name, which every line that addresses the bot holds. Cut at size. */
void slice_question(char *to, size_t size, const char *question, const char *name);

#endif
