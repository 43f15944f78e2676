#include "control/offline/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const units[] = {
	"zero",	    "one",     "two",	  "three",     "four",	   "five",     "six",
	"seven",    "eight",   "nine",	  "ten",       "eleven",   "twelve",   "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
};
static const char *const tens[] = {"",	    "",	     "twenty",	"thirty", "forty",
				   "fifty", "sixty", "seventy", "eighty", "ninety"};
static const struct scale {
	const char *name;
	double value;
} scales[] = {{"trillion", 1e12},
	      {"billion", 1e9},
	      {"million", 1e6},
	      {"thousand", 1e3},
	      {"hundred", 1e2}};

/* Spellings that the recogniser's dictionary lacks. */
static const struct spelling {
	const char *from, *to;
} spellings[] = {
	{"whats", "what's"},
	{"wheres", "where's"},
	{"whens", "when's"},
	{"hows", "how's"},
	{"todays", "today's"},
	{"im", "i'm"},
	{"dont", "don't"},
	{"didnt", "didn't"},
	{"thats", "that's"},
	{"lets", "let's"},
	{"couldnt", "couldn't"},
	{"whos", "who's"},
	{"color", "colour"},
	{"favorite", "favourite"},
	{"ok", "okay"},
	{"pls", "please"},
	{"plz", "please"},
	{"thx", "thanks"},
	{"u", "you"},
	{"hi", "hi"},
	{"ive", "i've"},
	{"youre", "you're"},
	{"id", "i'd"},
	{"cant", "can't"},
	{"gimme", "give me"},
	{"bye-bye", "bye bye"},
	{"goodnight", "good night"},
};

static void say(double v, bool with_and, char *buf, size_t size);

static void add(struct words *out, const char *word, size_t n)
{
	if (!n)
		return;
	if (out->n == WORDS_MAX) {
		out->cut = true;
		return;
	}
	if (n >= WORD_SIZE)
		n = WORD_SIZE - 1;
	memcpy(out->w[out->n], word, n);
	out->w[out->n++][n] = '\0';
}

static void add_phrase(struct words *out, const char *phrase)
{
	while (*phrase) {
		size_t n = strcspn(phrase, " ");

		add(out, phrase, n);
		phrase += n + (phrase[n] == ' ');
	}
}

static void add_word(struct words *out, const char *word, size_t n)
{
	char low[WORD_SIZE];

	while (n && word[0] == '\'') {
		word++;
		n--;
	}
	while (n && word[n - 1] == '\'')
		n--;
	if (n >= sizeof low)
		n = sizeof low - 1;
	for (size_t i = 0; i < n; i++)
		low[i] = (char)tolower((unsigned char)word[i]);
	low[n] = '\0';
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
		if (strcmp(low, spellings[i].from) == 0) {
			add_phrase(out, spellings[i].to);
			return;
		}
	add(out, low, n);
}

static void add_number(struct words *out, const char *digits, size_t n)
{
	char plain[32], said[256];
	size_t k = 0;

	for (size_t i = 0; i < n && k < sizeof plain - 1; i++)
		if (digits[i] != ',')
			plain[k++] = digits[i];
	plain[k] = '\0';
	if (strcspn(plain, ".") > 15)
		plain[15] = '\0';
	say(strtod(plain, NULL), false, said, sizeof said);
	add_phrase(out, said);
}

/* Digits with thousands separators and one decimal point. */
static size_t number_span(const char *s)
{
	size_t n = 0;
	bool point = false;

	while (isdigit((unsigned char)s[n]) ||
	       (!point && (s[n] == ',' || s[n] == '.') && n && isdigit((unsigned char)s[n + 1]))) {
		if (s[n] == '.')
			point = true;
		n++;
	}
	return n;
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static const char *after_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* The word of an arithmetic sign at this place, and its size in bytes. */
static const char *sign_at(const char *s, bool after_number, size_t *len)
{
	static const struct spelling signs[] = {{"\xc3\x97", "times"},
						{"\xc3\xb7", "divided by"},
						{"\xe2\x88\x92", "minus"},
						{"+", "plus"},
						{"*", "times"},
						{"/", "divided by"}};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		*len = strlen(signs[i].from);
		if (strncmp(s, signs[i].from, *len) == 0)
			return signs[i].to;
	}
	*len = 1;
	if (*s == '-' && isdigit((unsigned char)*after_blanks(s + 1)))
		return "minus";
	if ((*s == 'x' || *s == 'X') && after_number &&
	    isdigit((unsigned char)*after_blanks(s + 1)))
		return "times";
	if (*s == '%')
		return "percent";
	return NULL;
}

/* Reads one token or separator. Returns its size in bytes, at least one. */
static size_t take(struct words *out, const char *s, bool *after_number)
{
	size_t n, len;
	const char *sign = sign_at(s, *after_number, &len);

	if (sign) {
		add_phrase(out, sign);
		*after_number = false;
		return len;
	}
	n = number_span(s);
	if (n) {
		add_number(out, s, n);
		*after_number = true;
		return n;
	}
	/* A typographic apostrophe is an apostrophe. */
	while (is_letter(s[n]) || s[n] == '\'') {
		if (strncmp(s + n, "\xe2\x80\x99", 3) == 0 || strncmp(s + n, "\xe2\x80", 2) == 0)
			break;
		n++;
	}
	if (strncmp(s + n, "\xe2\x80\x99", 3) == 0 && n && is_letter(s[n + 3])) {
		char joined[WORD_SIZE];
		size_t tail = 0;

		while (is_letter(s[n + 3 + tail]) && (unsigned char)s[n + 3 + tail] < 0x80)
			tail++;
		snprintf(joined, sizeof joined, "%.*s'%.*s", (int)(n < 20 ? n : 20), s,
			 (int)(tail < 8 ? tail : 8), s + n + 3);
		add_word(out, joined, strlen(joined));
		*after_number = false;
		return n + 3 + tail;
	}
	if (n) {
		add_word(out, s, n);
		*after_number = false;
		return n;
	}
	if (*s != ' ')
		*after_number = false;
	return (unsigned char)*s == 0xe2 && s[1] && s[2] ? 3 : 1;
}

void words_split(struct words *out, const char *text)
{
	bool after_number = false;

	memset(out, 0, sizeof *out);
	text = after_blanks(text);
	if (*text == '[') {
		size_t n = strcspn(text + 1, "]");

		if (text[1 + n] == ']' && text[2 + n] == ':') {
			snprintf(out->speaker, sizeof out->speaker, "%.*s", (int)(n < 63 ? n : 63),
				 text + 1);
			text += n + 3;
		}
	}
	while (*text && !out->cut)
		text += take(out, text, &after_number);
}

char *words_join(const struct words *w, unsigned from, unsigned to, char *buf, size_t size)
{
	size_t k = 0;

	buf[0] = '\0';
	for (unsigned i = from; i < to && i < w->n && k < size; i++)
		k += (size_t)snprintf(buf + k, size - k, "%s%s", i == from ? "" : " ", w->w[i]);
	return buf;
}

static size_t put(char *buf, size_t size, size_t k, const char *word)
{
	if (k >= size)
		return k;
	return k + (size_t)snprintf(buf + k, size - k, "%s%s", k ? " " : "", word);
}

static size_t below_hundred(unsigned v, char *buf, size_t size, size_t k)
{
	if (v < 20)
		return put(buf, size, k, units[v]);
	k = put(buf, size, k, tens[v / 10]);
	return v % 10 ? put(buf, size, k, units[v % 10]) : k;
}

static size_t below_thousand(unsigned v, bool with_and, char *buf, size_t size, size_t k)
{
	if (v >= 100) {
		k = put(buf, size, k, units[v / 100]);
		k = put(buf, size, k, "hundred");
		if (with_and && v % 100)
			k = put(buf, size, k, "and");
	}
	return v % 100 || v < 100 ? below_hundred(v % 100, buf, size, k) : k;
}

/* with_and: "one hundred and two" is how it is said; a text's digits do without, where `and` could
 * be an addition. */
static void say(double v, bool with_and, char *buf, size_t size)
{
	size_t k = 0;
	double whole, cents;

	buf[0] = '\0';
	if (!(fabs(v) < 1e15)) {
		snprintf(buf, size, "more than I can count");
		return;
	}
	v = round(v * 100) / 100;
	if (v < 0)
		k = put(buf, size, k, "minus");
	v = fabs(v);
	whole = floor(v);
	cents = round((v - whole) * 100);
	for (unsigned i = 0; i < 4; i++) {
		unsigned part = (unsigned)fmod(floor(whole / scales[i].value), 1000);

		if (!part)
			continue;
		k = below_thousand(part, with_and, buf, size, k);
		k = put(buf, size, k, scales[i].name);
	}
	if (fmod(whole, 1000) > 0 || whole < 1) {
		if (with_and && whole >= 1000 && fmod(whole, 1000) < 100)
			k = put(buf, size, k, "and");
		k = below_thousand((unsigned)fmod(whole, 1000), with_and, buf, size, k);
	}
	if (cents > 0) {
		k = put(buf, size, k, "point");
		k = put(buf, size, k, units[(unsigned)cents / 10]);
		if ((unsigned)cents % 10)
			put(buf, size, k, units[(unsigned)cents % 10]);
	}
}

void number_say(double v, char *buf, size_t size)
{
	say(v, true, buf, size);
}

void ordinal_say(unsigned v, char *buf, size_t size)
{
	static const struct spelling odd[] = {
		{"one", "first"},    {"two", "second"}, {"three", "third"},    {"five", "fifth"},
		{"eight", "eighth"}, {"nine", "ninth"}, {"twelve", "twelfth"},
	};
	char *last;
	size_t n;

	number_say(v, buf, size);
	last = strrchr(buf, ' ');
	last = last ? last + 1 : buf;
	n = (size_t)(last - buf);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (strcmp(last, odd[i].from) == 0) {
			snprintf(last, size - n, "%s", odd[i].to);
			return;
		}
	n = strlen(buf);
	if (n && buf[n - 1] == 'y')
		snprintf(buf + n - 1, size - n + 1, "ieth");
	else
		snprintf(buf + n, size - n, "th");
}

static int find(const char *word, const char *const *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i][0] && strcmp(word, list[i]) == 0)
			return (int)i;
	return -1;
}

static bool digits_hear(const struct words *w, unsigned from, unsigned to, double *v)
{
	double step = 0.1;

	if (from == to)
		return false;
	for (; from < to; from++) {
		int u = find(w->w[from], units, 10);

		if (u < 0)
			return false;
		*v += u * step;
		step /= 10;
	}
	return true;
}

bool number_hear(const struct words *w, unsigned from, unsigned to, double *v)
{
	double total = 0, part = 0;
	bool any = false, negative = false;

	if (from < to &&
	    (strcmp(w->w[from], "minus") == 0 || strcmp(w->w[from], "negative") == 0)) {
		negative = true;
		from++;
	}
	for (; from < to && from < w->n; from++) {
		const char *s = w->w[from];
		int u = find(s, units, 20), t = find(s, tens, 10);
		unsigned i;

		if (any && strcmp(s, "and") == 0)
			continue;
		if (any && strcmp(s, "point") == 0) {
			total += part;
			if (!digits_hear(w, from + 1, to, &total))
				return false;
			*v = negative ? -total : total;
			return true;
		}
		for (i = 0; i < 5 && strcmp(s, scales[i].name) != 0; i++)
			;
		if (!any && (strcmp(s, "a") == 0 || strcmp(s, "an") == 0))
			u = 1;
		if (u >= 0) {
			part += u;
		} else if (t > 0) {
			part += t * 10;
		} else if (i == 4) {
			part = (any ? part : 1) * 100;
		} else if (i < 4) {
			total += (any ? part : 1) * scales[i].value;
			part = 0;
		} else {
			return false;
		}
		any = true;
	}
	*v = negative ? -(total + part) : total + part;
	return any;
}
