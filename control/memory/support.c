#include "control/memory/support.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "control/memory/lists.h"

/* Standard deviations above the mean; it did best on half of the questions in tests/memory. */
#define LEAST 1.7
/* Cosine of a question and a fact about another subject, below. Of the evidence without a common
 * word in tests/memory/tuned, one line in ten lies below, and of all other lines two in three. */
#define OTHER_SUBJECT 0.15
/* At least: of that evidence half, and of all other lines one in twenty. */
#define SAME_SUBJECT 0.3

enum { WORD_SIZE = 32, PREFIX = 5, SAYING_WITHIN = 4 };

/* The next word in lower case; false: none. Bytes above ASCII are letters. */
static bool next_word(const char **p, char word[WORD_SIZE])
{
	size_t n = 0;

	while (**p && !isalnum((unsigned char)**p) && !((unsigned char)**p & 0x80))
		++*p;
	for (; isalnum((unsigned char)**p) || ((unsigned char)**p & 0x80); ++*p)
		if (n < WORD_SIZE - 1)
			word[n++] = (char)tolower((unsigned char)**p);
	word[n] = '\0';
	return n > 0;
}

/* A word that begins alike: "allergic" for "allergy". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	char other[WORD_SIZE];

	n = n < PREFIX ? n : PREFIX;
	while (next_word(&text, other))
		if (strncmp(other, word, n) == 0)
			return true;
	return false;
}

static bool any_has_word(const struct support_line *lines, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (has_word(lines[i].text, word))
			return true;
	return false;
}

static bool has_numbers(const char *words, const struct support_line *lines, size_t n)
{
	char word[WORD_SIZE];

	while (next_word(&words, word))
		if (isdigit((unsigned char)word[0]) && !any_has_word(lines, n, word))
			return false;
	return true;
}

/* ---- the kind of answer ---- */

enum answer { ANY_ANSWER, NUMBER, TIME, COLOUR };

static const char *const amounts[] = {"many",  "much",	"long", "tall", "old",	"often",
				      "hot",   "big",	"far",	"high", "fast", "wide",
				      "heavy", "large", "deep", NULL};
static const char *const times[] = {"time", "day", "date", "month", "weekday", NULL};
static const char *const spans[] = {"week",  "weeks", "month", "months", "year",
				    "years", "night", "noon",  "new",	 NULL};
/* Of which the time of the line is asked. */
static const char *const sayings[] = {
	"talk",	     "talked",	  "speak",     "spoke",	   "spoken",	 "mention",
	"mentioned", "ask",	  "asked",     "bring",	   "brought",	 "discuss",
	"decide",    "discussed", "decided",   "agree",	   "agreed",	 "promise",
	"promised",  "suggest",	  "suggested", "propose",  "proposed",	 "write",
	"announce",  "announced", "wrote",     "complain", "complained", NULL};

/* The kind that a question of two adjacent words asks for, as "how many". */
static enum answer asked_by(const char *word, const char *next)
{
	bool which = strcmp(word, "what") == 0 || strcmp(word, "which") == 0;

	if (strcmp(word, "how") == 0 && lists_hold(amounts, next))
		return NUMBER;
	if (which && lists_hold(times, next))
		return TIME;
	if (which && (strcmp(next, "colour") == 0 || strcmp(next, "color") == 0))
		return COLOUR;
	return ANY_ANSWER;
}

/* "when did we talk about it", "how long ago was it mentioned": each line has its own time. "when
 * did she say the trip begins" asks for what the line tells. */
static bool asks_when_said(const char *rest)
{
	static const char *const past[] = {"did", "was", "were", "has", "have", "had", "ago", NULL};
	char word[WORD_SIZE];

	for (unsigned i = 0; i < SAYING_WITHIN && next_word(&rest, word); i++) {
		if (!i && !lists_hold(past, word))
			return false;
		if (lists_hold(sayings, word))
			return true;
	}
	return false;
}

/* "when" in the middle of a question seldom asks for a time. */
static enum answer read_asked(const char *question)
{
	char word[WORD_SIZE] = "", next[WORD_SIZE];
	enum answer asked = ANY_ANSWER;

	for (unsigned i = 0; asked == ANY_ANSWER && next_word(&question, next); i++) {
		asked = i < 2 && strcmp(next, "when") == 0 ? TIME : asked_by(word, next);
		memcpy(word, next, sizeof word);
	}
	if (strcmp(word, "when") != 0 && strcmp(word, "long") != 0)
		return asked;
	return asks_when_said(question) ? ANY_ANSWER : asked;
}

static bool answers(const char *text, enum answer asked)
{
	char word[WORD_SIZE];

	while (next_word(&text, word)) {
		bool number = isdigit((unsigned char)word[0]) || lists_hold(lists_numbers, word);

		if (asked == COLOUR ? lists_hold(lists_colours, word)
				    : number || (asked == TIME && (lists_hold(lists_dates, word) ||
								   lists_hold(spans, word))))
			return true;
	}
	return asked == ANY_ANSWER;
}

/* Lines about the subject of a question without a number tell no "how many". */
static bool any_answers(const char *words, bool names_speaker, const struct support_line *lines,
			size_t n)
{
	enum answer asked = read_asked(words);

	for (size_t i = 0; i < n; i++)
		if ((!names_speaker || lines[i].named) && answers(lines[i].text, asked))
			return true;
	return false;
}

/* Distance of the likeness from the mean of all, in standard deviations. */
static double stand_out(const struct support_line *lines, size_t n, double likeness)
{
	double sum = 0, squares = 0, mean, variance;

	for (size_t i = 0; i < n; i++) {
		sum += lines[i].likeness;
		squares += lines[i].likeness * lines[i].likeness;
	}
	mean = n ? sum / (double)n : 0;
	variance = n ? squares / (double)n - mean * mean : 0;
	return variance > 1e-9 ? (likeness - mean) / sqrt(variance) : 0;
}

bool support_check(const char *words, bool names_speaker, const struct support_line *lines,
		   size_t n)
{
	size_t first = n < SUPPORT_FIRST ? n : SUPPORT_FIRST;
	double like = 0;

	for (size_t i = 0; i < first; i++)
		if ((!names_speaker || lines[i].named) && lines[i].likeness > like)
			like = lines[i].likeness;
	return first && has_numbers(words, lines, first) &&
	       any_answers(words, names_speaker, lines, first) &&
	       stand_out(lines, n, like) >= LEAST;
}

static bool is_alike(const struct rank_line *fact, double least)
{
	return fact->match > 0 || !fact->has_likeness || fact->likeness >= least;
}

bool support_check_fact(const struct rank_line *fact)
{
	return is_alike(fact, OTHER_SUBJECT);
}

bool support_is_sure(const struct rank_line *fact)
{
	return is_alike(fact, SAME_SUBJECT);
}
