#include "control/memory/values.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/terms.h"

enum { WORD_SIZE = 16, VALUE_SIZE = 32, HOURS = 12, MINUTES = 60, DIGITS = 9 };

/* ---- words ---- */

/* The word at p in lower case; returns its end, and p where there is none. */
static const char *read_word(const char *p, char word[WORD_SIZE])
{
	size_t n = 0;

	for (; isalnum((unsigned char)*p) || ((unsigned char)*p & 0x80) ||
	       (*p == '\'' && isalnum((unsigned char)p[1]));
	     p++)
		if (n < WORD_SIZE - 1)
			word[n++] = (char)tolower((unsigned char)*p);
	word[n] = '\0';
	return p;
}

/* Behind one blank or hyphen; p where there is none. */
static const char *next_word(const char *p)
{
	return *p == ' ' || *p == '-' ? p + 1 : p;
}

/* True if this word stands at *p, which then moves to the next one. */
static bool skip_word(const char **p, const char *expected)
{
	char word[WORD_SIZE];
	const char *end = read_word(*p, word);

	if (strcmp(word, expected) != 0)
		return false;
	*p = next_word(end);
	return true;
}

/* ---- numbers ---- */

struct numeral {
	const char *word;
	long n;
};

static const struct numeral below_twenty[] = {
	{"one", 1},	 {"two", 2},	    {"three", 3},     {"four", 4},	{"five", 5},
	{"six", 6},	 {"seven", 7},	    {"eight", 8},     {"nine", 9},	{"ten", 10},
	{"eleven", 11},	 {"twelve", 12},    {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15},
	{"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19}, {NULL, 0}};
static const struct numeral tens[] = {{"twenty", 20}, {"thirty", 30}, {"forty", 40},
				      {"fifty", 50},  {"sixty", 60},  {"seventy", 70},
				      {"eighty", 80}, {"ninety", 90}, {NULL, 0}};
static const struct numeral scales[] = {
	{"hundred", 100}, {"thousand", 1000}, {"million", 1000000}, {"dozen", 12}, {NULL, 0}};

/* The number of this word, and *p moves behind it; 0: none. */
static long take_numeral(const char **p, const struct numeral *list)
{
	char word[WORD_SIZE];
	const char *end = read_word(*p, word);

	for (; list->word; list++)
		if (strcmp(list->word, word) == 0) {
			*p = end;
			return list->n;
		}
	return 0;
}

static long take_digits(const char **p)
{
	const char *q = *p;
	long n = 0;

	while (isdigit((unsigned char)*q) && q - *p < DIGITS)
		n = 10 * n + (*q++ - '0');
	if (isalnum((unsigned char)*q))
		return 0;
	*p = q;
	return n;
}

/* Below a hundred, or any number of digits. */
static long take_small(const char **p)
{
	long n = take_numeral(p, tens), unit;
	const char *q;

	if (!n) {
		n = take_numeral(p, below_twenty);
		return n ? n : take_digits(p);
	}
	q = next_word(*p);
	unit = take_numeral(&q, below_twenty);
	if (q > *p && unit > 0 && unit < 10) {
		*p = q;
		n += unit;
	}
	return n;
}

/* "two thousand five hundred and six"; 0: none. */
static long take_number(const char **p)
{
	long all = 0, part = take_small(p), scale, more;

	while (part) {
		const char *q = next_word(*p);

		scale = take_numeral(&q, scales);
		if (!scale)
			return all + part;
		*p = q;
		part *= scale;
		all += scale >= 1000 ? part : 0;
		part = scale >= 1000 ? 0 : part;
		q = next_word(*p);
		skip_word(&q, "and");
		more = take_small(&q);
		if (!more)
			return all + part;
		part += more;
		*p = q;
	}
	return all;
}

/* ---- times ---- */

/* An hour of the clock in words or digits; 0: none. */
static long take_hour(const char **p)
{
	const char *q = *p;
	long n = take_numeral(&q, below_twenty);

	if (!n)
		n = take_digits(&q);
	if (n < 1 || n > HOURS)
		return 0;
	*p = q;
	return n;
}

static void write_time(char out[VALUE_SIZE], long hour, long minute)
{
	snprintf(out, VALUE_SIZE, "%ldh%02ld", hour, minute);
}

/* "half past ten", "quarter to six", "ten minutes past six", "half seven" */
static bool read_relative(const char **p, char out[VALUE_SIZE])
{
	const char *q = *p, *after;
	bool half, past, to;
	long minute, hour;

	skip_word(&q, "a");
	half = skip_word(&q, "half");
	if (half) {
		minute = 30;
	} else if (skip_word(&q, "quarter")) {
		minute = 15;
	} else { /* "nine to five" is a span of hours */
		q = *p;
		minute = take_small(&q);
		minute = minute == 5 || minute == 10 || minute == 20 || minute == 25 ? minute : 0;
		q = next_word(q);
		skip_word(&q, "minutes");
	}
	past = skip_word(&q, "past");
	to = !past && skip_word(&q, "to");
	after = q;
	hour = minute && (past || to || half) ? take_hour(&after) : 0;
	if (!hour)
		return false;
	if (half && !past) { /* "half seven", but not "half two hundred" */
		const char *scale = next_word(after);

		if (to || take_numeral(&scale, scales))
			return false;
	}
	hour -= to;
	write_time(out, hour ? hour : HOURS, to ? MINUTES - minute : minute);
	*p = after;
	return true;
}

/* "ten thirty", "10:30", "six o'clock" */
static bool read_clock(const char **p, char out[VALUE_SIZE])
{
	const char *q = *p, *after;
	long hour = take_hour(&q), minute;

	if (!hour)
		return false;
	after = next_word(q);
	if (skip_word(&after, "o'clock")) {
		snprintf(out, VALUE_SIZE, "%ld", hour);
		*p = after[-1] == ' ' ? after - 1 : after;
		return true;
	}
	after = *q == ':' || *q == '.' ? q + 1 : next_word(q);
	if (after == q)
		return false;
	minute = take_small(&after);
	if (minute < 10 || minute >= MINUTES)
		return false;
	write_time(out, hour, minute);
	*p = after;
	return true;
}

/* ---- phrases ---- */

static const struct {
	const char *phrase, *value;
} phrases[] = {
	{"twelve noon", "12"},
	{"noon", "12"},
	{"midday", "12"},
	{"half an hour", "30 minutes"},
	{"an hour", "60 minutes"},
	{"one hour", "60 minutes"},
	{"a decade", "10 years"},
	{"a fortnight", "2 weeks"},
	{"twice", "2 times"},
	{"a dozen", "12"},
	{"half a dozen", "6"},
	{"half a thousand", "500"},
	{"half a million", "500000"},
	{"a hundred", "100"},
	{"a thousand", "1000"},
	{"a million", "1000000"},
	{"second hand", "used"},
};

static bool read_phrase(const char **p, char out[VALUE_SIZE])
{
	for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
		const char *q = *p, *words = phrases[i].phrase, *end = q;
		char word[WORD_SIZE], expected[WORD_SIZE] = "";

		while (*words) {
			words = next_word(read_word(words, expected));
			end = read_word(q, word);
			if (strcmp(word, expected) != 0)
				break;
			q = next_word(end);
			expected[0] = '\0';
		}
		if (expected[0])
			continue;
		snprintf(out, VALUE_SIZE, "%s", phrases[i].value);
		*p = end;
		return true;
	}
	return false;
}

/* "one" by itself may stand for a thing: "this one". */
static bool read_number(const char **p, char out[VALUE_SIZE])
{
	const char *q = *p;
	long n = take_number(&q);

	if (n < 1 || (n == 1 && !isdigit((unsigned char)**p)))
		return false;
	snprintf(out, VALUE_SIZE, "%ld", n);
	*p = q;
	return true;
}

/* ---- contractions ---- */

/* Of "not": those that lose more than the "n't", and all without the apostrophe. And of verbs. */
static const char *const contractions[][2] = {
	{"can't", "can not"},	    {"won't", "will not"},    {"shan't", "shall not"},
	{"ain't", "is not"},	    {"cannot", "can not"},    {"cant", "can not"},
	{"wont", "will not"},	    {"dont", "do not"},	      {"doesnt", "does not"},
	{"didnt", "did not"},	    {"isnt", "is not"},	      {"arent", "are not"},
	{"wasnt", "was not"},	    {"werent", "were not"},   {"havent", "have not"},
	{"hasnt", "has not"},	    {"hadnt", "had not"},     {"couldnt", "could not"},
	{"aint", "is not"},	    {"wouldnt", "would not"}, {"mustnt", "must not"},
	{"shouldnt", "should not"}, {"i'm", "I am"},	      {"i've", "I have"},
	{"i'll", "I will"},	    {"i'd", "I would"},	      {"we're", "we are"},
	{"we've", "we have"},	    {"we'll", "we will"},     {"it's", "it is"},
	{"he's", "he is"},	    {"she's", "she is"},      {"they're", "they are"},
	{"that's", "that is"},	    {"there's", "there is"}};

static bool read_contraction(const char **p, char out[VALUE_SIZE])
{
	char word[WORD_SIZE];
	const char *end = read_word(*p, word);
	size_t n = strlen(word);

	for (size_t i = 0; i < sizeof contractions / sizeof contractions[0]; i++)
		if (strcmp(contractions[i][0], word) == 0) {
			snprintf(out, VALUE_SIZE, "%s", contractions[i][1]);
			*p = end;
			return true;
		}
	if (n <= 3 || strcmp(word + n - 3, "n't") != 0)
		return false;
	snprintf(out, VALUE_SIZE, "%.*s not", (int)n - 3, word);
	*p = end;
	return true;
}

static void copy_plain(char out[VALUES_TEXT], const char *text)
{
	const char *end = text + strlen(text), *from = text;
	size_t n = 0;
	uint32_t c;

	while ((c = terms_next(&text, end)) && n + (size_t)(text - from) < VALUES_TEXT) {
		if (terms_is_apostrophe(c))
			out[n++] = '\'';
		else
			for (; from < text; from++)
				out[n++] = *from;
		from = text;
	}
	out[n] = '\0';
}

void values_write(char out[VALUES_TEXT], const char *said)
{
	char plain[VALUES_TEXT] = "";
	const char *text = plain;
	size_t n = 0;

	copy_plain(plain, said);
	while (*text && n + VALUE_SIZE < VALUES_TEXT) {
		char value[VALUE_SIZE], word[WORD_SIZE];
		const char *end;

		if (read_phrase(&text, value) || read_contraction(&text, value) ||
		    read_relative(&text, value) || read_clock(&text, value) ||
		    read_number(&text, value)) {
			n += (size_t)snprintf(out + n, VALUES_TEXT - n, "%s", value);
			continue;
		}
		end = read_word(text, word);
		end += end == text;
		while (text < end && n + 1 < VALUES_TEXT)
			out[n++] = *text++;
	}
	out[n] = '\0';
}
