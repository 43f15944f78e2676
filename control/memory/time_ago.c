#include "control/memory/time_ago.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 4 };

struct word {
	const char *p;
	size_t n;
};

static bool is_between(char c)
{
	return c == ' ' || c == '-' || c == ',';
}

static bool is_end(char c)
{
	return c == '?' || c == '.' || c == '!';
}

static bool is(struct word w, const char *text)
{
	return strlen(text) == w.n && strncmp(w.p, text, w.n) == 0;
}

static bool is_any(struct word w, const char *const *list)
{
	for (; *list; list++)
		if (is(w, *list))
			return true;
	return false;
}

/* The word that ends at or before p; n 0: there is none. */
static struct word word_before(const char *text, const char *p)
{
	struct word w;

	while (p > text && is_between(p[-1]))
		p--;
	w.p = p;
	while (w.p > text && !is_between(w.p[-1]))
		w.p--;
	w.n = (size_t)(p - w.p);
	return w;
}

/* The word at or behind p. */
static struct word word_at(const char *p)
{
	struct word w;

	while (is_between(*p))
		p++;
	w.p = p;
	while (*p && !is_between(*p) && !is_end(*p))
		p++;
	w.n = (size_t)(p - w.p);
	return w;
}

/* ---- numbers ---- */

static int place_of(struct word w, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (is(w, list[i]))
			return i;
	return -1;
}

static int digits(struct word w)
{
	size_t n = 0;

	while (n < w.n && isdigit((unsigned char)w.p[n]))
		n++;
	return n && n == w.n && n <= DIGITS_MAX ? atoi(w.p) : 0;
}

/* The number that ends with w; *first: its first word. 0: none. */
static int number_of(const char *text, struct word w, struct word *first)
{
	static const char *const small[] = {
		"one",	   "two",     "three",	   "four",     "five",	   "six",      "seven",
		"eight",   "nine",    "ten",	   "eleven",   "twelve",   "thirteen", "fourteen",
		"fifteen", "sixteen", "seventeen", "eighteen", "nineteen", NULL};
	static const char *const tens[] = {"twenty",  "thirty", "forty",  "fifty", "sixty",
					   "seventy", "eighty", "ninety", NULL};
	static const char *const larger[] = {"hundred", "thousand", "and", NULL};
	struct word before = word_before(text, w.p);
	int n = digits(w), ten;

	*first = w;
	if (n)
		return n;
	if (is(w, "a") || is(w, "an"))
		return 1;
	n = place_of(w, small) + 1;
	ten = n ? place_of(before, tens) : place_of(w, tens);
	if (!n && ten < 0)
		return 0;
	if (n && n < 10 && ten >= 0) {
		*first = before;
		before = word_before(text, before.p);
	}
	/* "A hundred and five": not five. */
	if (is_any(before, larger))
		return 0;
	return n && (n >= 10 || ten < 0) ? n : n + 20 + 10 * ten;
}

/* What is counted stands behind w: "three", "a couple of", "a few", "two and a half". */
static bool read_count(const char *text, struct word w, struct time_ago *out, struct word *first)
{
	struct word next = word_before(text, w.p);

	if (is(w, "of") && is(next, "couple"))
		w = next;
	if (is(w, "couple") || is(w, "few") || is(w, "several")) {
		out->least = is(w, "couple") ? 1 : is(w, "few") ? 2 : 3;
		out->most = is(w, "couple") ? 3 : is(w, "few") ? 5 : 8;
		next = word_before(text, w.p);
		*first = is(next, "a") || is(next, "the") ? next : w;
		return true;
	}
	if (is(w, "half") && is(next, "a") && is(word_before(text, next.p), "and")) {
		next = word_before(text, word_before(text, next.p).p);
		out->least = number_of(text, next, first);
		out->most = out->least + 1;
		return out->least > 0;
	}
	out->least = out->most = number_of(text, w, first);
	if ((is(w, "an") || is(w, "a")) && is(next, "half")) {
		out->least = out->most = 0;
		out->half = true;
		*first = next;
		return true;
	}
	return out->least > 0;
}

/* ---- ago ---- */

static bool is_last(struct word w)
{
	return is(w, "last") || is(w, "past");
}

/* "in the last week" is the seven days until now, "last week" the one before this one, "the last
 * day of school" and "at the last minute" no time. */
static bool is_until_now(const char *text, struct word last, const char *end)
{
	static const char *const within[] = {"in", "over", "within", "during", "for", NULL};
	struct word the = word_before(text, last.p);

	return is(the, "the") && !is(word_at(end), "of") &&
	       (is(last, "past") || is_any(word_before(text, the.p), within));
}

/* The unit stands at p, up to end. */
static bool read_ago(const char *text, const char *p, const char *end, struct time_ago *out)
{
	static const char *const more[] = {"and", "a", "half", NULL};
	struct word w = word_before(text, p), first, next = word_at(end);

	out->half = out->since = false;
	if (is_last(w) && is_until_now(text, w, end)) {
		out->least = out->most = 1;
		out->since = true;
		out->at = w.p;
		out->n = (size_t)(end - w.p);
		return true;
	}
	if (!read_count(text, w, out, &first))
		return false;
	out->at = first.p;
	out->n = (size_t)(end - first.p);
	if (is_last(word_before(text, first.p))) {
		out->since = true;
		return true;
	}
	for (unsigned i = 0; more[i] && is(next, more[i]); i++) {
		next = word_at(next.p + next.n);
		if (!more[i + 1])
			out->most = out->least + 1;
	}
	out->n = (size_t)(next.p + next.n - first.p);
	return is(next, "ago");
}

bool time_ago_find(const char *text, struct time_ago *out)
{
	static const char *const units[] = {"minute", "hour", "day", "week", "month"};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i]);

		out->unit = (enum time_unit)i;
		for (const char *p = strstr(text, units[i]); p; p = strstr(p + n, units[i])) {
			const char *end = p + n + (p[n] == 's');

			if (p > text && is_between(p[-1]) && !isalnum((unsigned char)*end) &&
			    read_ago(text, p, end, out))
				return true;
		}
	}
	return false;
}

/* ---- dates ---- */

static const char *const months[] = {"january",	 "february", "march",  "april",	    "may",
				     "june",	 "july",     "august", "september", "october",
				     "november", "december", NULL};

static bool is_day_of(int month, int day)
{
	static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return day >= 1 && day <= (month ? days[month - 1] : 31);
}

/* "5th"; with plain, "5" as well. 0: no day. */
static int day_of(struct word w, bool plain)
{
	static const char *const endings[] = {"st", "nd", "rd", "th"};
	struct word number = w;

	if (plain && digits(w))
		return w.n <= 2 ? digits(w) : 0;
	number.n = w.n > 2 ? w.n - 2 : 0;
	for (size_t i = 0; i < 4; i++)
		if (number.n && number.n <= 2 && strncmp(w.p + number.n, endings[i], 2) == 0)
			return digits(number);
	return 0;
}

static void end_at(struct time_date *out, const char *end)
{
	out->n = (size_t)(end - out->at);
}

/* The day beside the month w: "5 november", "the 5th of november", "november 5th". */
static bool read_month(const char *text, struct word w, struct time_date *out)
{
	struct word before = word_before(text, w.p), behind = word_at(w.p + w.n), year = behind;

	out->at = w.p;
	if (is(before, "of"))
		before = word_before(text, before.p);
	out->day = day_of(before, true);
	if (out->day) {
		out->at = before.p;
		end_at(out, w.p + w.n);
	} else {
		if (is(behind, "the"))
			behind = word_at(behind.p + behind.n);
		out->day = day_of(behind, true);
		end_at(out, behind.p + behind.n);
		year = word_at(behind.p + behind.n);
	}
	if (out->day && year.n == 4 && digits(year) > 1970) {
		out->year = digits(year);
		end_at(out, year.p + year.n);
	}
	return is_day_of(out->month, out->day);
}

/* "2026-11-05", which the blanks of words part. */
static bool read_iso(struct word w, struct time_date *out)
{
	struct word month = word_at(w.p + w.n), day = word_at(month.p + month.n);

	if (w.n != 4 || month.n != 2 || day.n != 2 || w.p[4] != '-' || month.p[2] != '-')
		return false;
	out->at = w.p;
	out->year = digits(w);
	out->month = digits(month);
	out->day = digits(day);
	end_at(out, day.p + day.n);
	return out->year > 1970 && out->month >= 1 && out->month <= 12 &&
	       is_day_of(out->month, out->day);
}

/* The next word of this sentence, or of one behind it. */
static struct word next_word(const char *p)
{
	while (is_between(*p) || is_end(*p))
		p++;
	return word_at(p);
}

bool time_date_find(const char *text, struct time_date *out)
{
	struct word before = {text, 0};

	for (struct word w = next_word(text); w.n; before = w, w = next_word(w.p + w.n)) {
		*out = (struct time_date){.month = place_of(w, months) + 1};
		if (out->month ? read_month(text, w, out) : read_iso(w, out))
			return true;
		*out = (struct time_date){.at = w.p, .n = w.n, .day = day_of(w, false)};
		/* "the 5th of November" is read at its month, "the 2nd time" counts. */
		if (is(before, "the") && is(word_before(text, before.p), "on") &&
		    is_day_of(0, out->day) && !is(word_at(w.p + w.n), "of"))
			return true;
	}
	return false;
}
