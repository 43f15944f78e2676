#include "control/memory/slice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/memory/compare.h"
#include "control/memory/guard.h"
#include "control/memory/terms.h"
#include "proto/base/utf8.h"

/* ---- whether a text fits ---- */

/* A word at *p, which moves behind it. Words of dense scripts end with the script. */
static size_t next_word(const char **p, const char **word)
{
	const char *end = *p + strlen(*p), *next = *p;
	bool dense = false;
	size_t n = 0;

	while (*p < end) {
		uint32_t c = terms_next(&next, end);

		if (!terms_is_word(c) || (n && terms_is_dense(c) != dense)) {
			if (n)
				return n;
			*p = next;
			continue;
		}
		if (!n) {
			*word = *p;
			dense = terms_is_dense(c);
		}
		n += (size_t)(next - *p);
		*p = next;
	}
	return n;
}

/* The beginning of a word, which its other forms share. */
static size_t stem_size(size_t n)
{
	return n > 5 ? n - 2 : n > 3 ? n - 1 : n;
}

static bool holds_word(const char *text, const char *word, size_t n)
{
	size_t stem = stem_size(n);
	const char *p = text, *w;
	size_t k;

	while ((k = next_word(&p, &w)) > 0)
		if (k >= stem && k <= n + 3 && strncasecmp(w, word, stem) == 0)
			return true;
	return false;
}

/* A run of a dense script is compared by its pairs, as the index has them. */
static unsigned count_pairs(const char *run, size_t n, const char *text, unsigned *shared)
{
	const char *end = run + n, *first = run, *second = run;
	uint32_t a = terms_next(&second, end), b;
	unsigned asked = 0;

	if (second == end) {
		*shared += memmem(text, strlen(text), run, n) != NULL;
		return 1;
	}
	while (second < end) {
		const char *after = second;

		b = terms_next(&after, end);
		if (!terms_is_hiragana(a) || !terms_is_hiragana(b)) {
			asked++;
			*shared +=
				memmem(text, strlen(text), first, (size_t)(after - first)) != NULL;
		}
		first = second;
		second = after;
		a = b;
	}
	return asked;
}

static bool is_dense(const char *word, size_t n)
{
	return terms_is_dense(terms_next(&word, word + n));
}

unsigned slice_count_words(const char *words, const char *text, unsigned *shared)
{
	const char *p = words, *word;
	unsigned asked = 0;
	char lower[TERM_MAX];
	size_t n;

	*shared = 0;
	while ((n = next_word(&p, &word)) > 0) {
		if (is_dense(word, n)) {
			asked += count_pairs(word, n, text, shared);
			continue;
		}
		if (n >= sizeof lower)
			continue;
		for (size_t i = 0; i < n; i++)
			lower[i] =
				(char)(word[i] | ((word[i] >= 'A' && word[i] <= 'Z') ? 0x20 : 0));
		if (terms_is_stop_word(lower, n))
			continue;
		asked++;
		*shared += holds_word(text, word, n);
	}
	return asked;
}

bool slice_fits(const char *question, const char *text)
{
	unsigned shared, asked = slice_count_words(question, text, &shared);

	return shared >= 2 || (shared && asked == 1);
}

static bool holds_all(const char *text, const char *words)
{
	unsigned shared, asked = slice_count_words(words, text, &shared);

	return asked && shared == asked;
}

bool slice_names(const char *words, const char *text)
{
	return holds_all(text, words) || holds_all(words, text);
}

void slice_question(char *to, size_t size, const char *question, const char *name)
{
	const char *p = question, *word, *from = question;
	size_t n, k = 0, length = strlen(name);

	to[0] = '\0';
	while ((n = next_word(&p, &word)) > 0) {
		if (!length || n != length || strncasecmp(word, name, n) != 0)
			continue;
		k += (size_t)snprintf(to + k, size - k, "%.*s", (int)(word - from), from);
		k = k < size ? k : size - 1;
		from = word + n;
	}
	snprintf(to + k, size - k, "%s", from);
	utf8_mend(to);
}

/* ---- quotes ---- */

/* One line without quotation marks, so that nothing in it looks like the end of the quote. */
static void copy_quote(char *to, size_t size, const char *text)
{
	utf8_copy(to, size, text);
	utf8_plain(to);
	for (; *to; to++)
		if (strchr("\"[]", *to))
			*to = '\'';
}

/* People choose their names, and a name stands outside the quotation marks: one short line without
 * marks, or nothing of it where it reads like an order. */
static void copy_author(char *to, const char *name)
{
	utf8_copy(to, SLICE_AUTHOR + 1, name);
	utf8_plain(to);
	for (char *p = to; *p; p++)
		if (strchr("\"[](){}<>:;,", *p))
			*p = ' ';
	if (memory_check_text(to))
		utf8_copy(to, SLICE_AUTHOR + 1, "a member");
}

static bool append_line(struct memory_slice *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const struct slice_limits *limits_of(const struct memory_slice *s)
{
	static const struct slice_limits voice = {SLICE_FACTS, SLICE_LINES, SLICE_BYTES};

	return s->limits ? s->limits : &voice;
}

/* All of it, or nothing. */
static bool append_line(struct memory_slice *s, const char *format, ...)
{
	size_t room = limits_of(s)->bytes + 1 - s->n;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->n, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room) {
		s->text[s->n] = '\0';
		return false;
	}
	s->n += (size_t)n;
	return true;
}

static bool append(struct memory_slice *s, const struct slice_quote *q, const char *quote,
		   const char *former)
{
	char author[SLICE_AUTHOR + 1], day[CALENDAR_DATE];

	copy_author(author, q->author);
	calendar_date(day, q->at_ms, calendar_offset(s->zone, q->at_ms));
	return append_line(s, "- %s, %s: \"%s\"%s%s%s\n", author, day, quote,
			   *former ? " (before that: \"" : "", former, *former ? "\")" : "");
}

bool slice_has_line(const char *text, const char *beginning)
{
	size_t n = strlen(beginning);

	while (text && strncmp(text, beginning, n) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text != NULL;
}

unsigned slice_count(const struct memory_slice *s)
{
	return s->facts + s->lines + s->summaries;
}

static void keep(struct memory_slice *s, const struct slice_quote *q, const char *quote, char kind)
{
	unsigned at = slice_count(s);

	s->quoted[at].kind = kind;
	s->quoted[at].id = q->id;
	s->quoted[at].user = q->user;
	utf8_copy(s->quoted[at].text, sizeof s->quoted[at].text, quote);
	s->facts += kind == 'f' || kind == 'p';
	s->lines += kind == 'u';
	s->summaries += kind == 's';
}

bool slice_add_fact(struct memory_slice *s, const struct slice_quote *fact)
{
	char quote[SLICE_QUOTE + 1], former[SLICE_QUOTE + 1] = "";

	copy_quote(quote, sizeof quote, fact->text);
	if (fact->former)
		copy_quote(former, sizeof former, fact->former);
	for (unsigned i = 0; i < slice_count(s); i++)
		if (strchr("fp", s->quoted[i].kind) &&
		    fact_compare(s->quoted[i].text, quote, s->quoted[i].user == fact->user, NULL) !=
			    FACT_NEW)
			return false;
	if (s->facts == limits_of(s)->facts || !append(s, fact, quote, former))
		return false;
	keep(s, fact, quote, fact->private ? 'p' : 'f');
	return true;
}

static bool has_line(const struct memory_slice *s, uint32_t id)
{
	for (unsigned i = 0; i < slice_count(s); i++)
		if (s->quoted[i].kind == 'u' && s->quoted[i].id == id)
			return true;
	return false;
}

bool slice_add_unfinished(struct memory_slice *s, const struct slice_quote *line, bool cut)
{
	char quote[SLICE_QUOTE + 1], name[SLICE_AUTHOR + 1], day[CALENDAR_DATE];

	copy_quote(quote, sizeof quote, line->text);
	copy_author(name, line->author);
	calendar_date(day, line->at_ms, calendar_offset(s->zone, line->at_ms));
	if (s->lines == limits_of(s)->lines || has_line(s, line->id) ||
	    !append_line(s,
			 cut ? SLICE_UNFINISHED "%s, %s, cut off by the end of that conversation: "
						"\"%s\"\n"
			     : SLICE_UNFINISHED
				 "%s, %s, a question that was not answered: \"%s\"\n",
			 name, day, quote))
		return false;
	keep(s, line, quote, 'u');
	return true;
}

bool slice_add_line(struct memory_slice *s, const struct slice_quote *line, const char *question)
{
	char quote[SLICE_QUOTE + 1];

	copy_quote(quote, sizeof quote, line->text);
	if (s->lines == limits_of(s)->lines || has_line(s, line->id) ||
	    !slice_fits(question, line->text) || !append(s, line, quote, ""))
		return false;
	keep(s, line, quote, 'u');
	return true;
}

bool slice_add_recent(struct memory_slice *s, const struct slice_quote *line, uint64_t now_ms)
{
	char quote[SLICE_QUOTE + 1], author[SLICE_AUTHOR + 1];
	uint64_t minutes = now_ms > line->at_ms ? (now_ms - line->at_ms) / 60000 : 0;

	copy_quote(quote, sizeof quote, line->text);
	copy_author(author, line->author);
	if (s->lines == limits_of(s)->lines || has_line(s, line->id) ||
	    !append_line(s, "- %s, %llu %s ago: \"%s\"\n", author,
			 (unsigned long long)(minutes < 120 ? minutes : minutes / 60),
			 minutes == 1	 ? "minute"
			 : minutes < 120 ? "minutes"
					 : "hours",
			 quote))
		return false;
	keep(s, line, quote, 'u');
	return true;
}

bool slice_add_summary(struct memory_slice *s, const struct slice_quote *summary)
{
	struct slice_quote q = *summary;
	char quote[SLICE_SUMMARY + 1];

	q.author = SLICE_SUMMARIZED + 2; /* append begins the line with "- " */
	copy_quote(quote, sizeof quote, q.text);
	if (s->summaries == SLICE_SUMMARIES || !append(s, &q, quote, ""))
		return false;
	keep(s, &q, quote, 's');
	return true;
}
