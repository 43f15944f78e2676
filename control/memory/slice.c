#include "control/memory/slice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/compare.h"
#include "control/memory/function_words.h"
#include "control/memory/guard.h"
#include "control/memory/terms.h"
#include "proto/base/utf8.h"

enum {
	SLICE_OTHERS = 2 * (SLICE_QUOTE + 80),
	SLICE_LINE = SLICE_OTHERS + SLICE_SUMMARY + SLICE_AUTHOR + 100,
	SLICE_AGAIN = 48,
	SLICE_NONE = SLICE_QUOTES,
};
/* Behind the date of a line. */
#define SLICE_OTHER_TIME " (not of the time asked about, of which nothing was found)"

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

/* The beginning of a word, in characters, which its other forms share. */
static size_t stem_size(size_t n)
{
	return n > 5 ? n - 2 : n > 3 ? n - 1 : n;
}

static size_t count_characters(const char *word, size_t n)
{
	const char *p = word, *end = word + n;
	size_t k = 0;

	while (p < end) {
		(void)terms_next(&p, end);
		k++;
	}
	return k;
}

/* Bytes of the first k characters. */
static size_t size_of(const char *word, size_t n, size_t k)
{
	const char *p = word;

	while (k-- > 0 && p < word + n)
		(void)terms_next(&p, word + n);
	return (size_t)(p - word);
}

/* word: in lower case. */
static bool holds_word(const char *text, const char *word, size_t n)
{
	size_t characters = count_characters(word, n), stem = stem_size(characters),
	       bytes = size_of(word, n, stem), k;
	char lower[TERM_MAX];
	const char *p = text, *w;

	while ((k = next_word(&p, &w)) > 0) {
		if (k < bytes || k > sizeof lower)
			continue;
		terms_fold(lower, w, k);
		if (memcmp(lower, word, bytes) == 0 && count_characters(w, k) <= characters + 3)
			return true;
	}
	return false;
}

/* ---- scripts without blanks ---- */

struct dense_count {
	const char *text;
	unsigned asked, shared;
};

static void count_part(struct dense_count *d, const char *from, const char *to)
{
	d->asked++;
	d->shared += memmem(d->text, strlen(d->text), from, (size_t)(to - from)) != NULL;
}

/* Content is compared by its pairs, as the index has them. */
static void count_pairs(struct dense_count *d, const char *run, const char *end)
{
	const char *first = run, *second = run;
	uint32_t a = terms_next(&second, end), b;

	if (run == end || function_words_dense(run, (size_t)(end - run)))
		return;
	if (second == end) {
		count_part(d, run, end);
		return;
	}
	while (second < end) {
		const char *after = second;

		b = terms_next(&after, end);
		if (!terms_is_hiragana(a) || !terms_is_hiragana(b))
			count_part(d, first, after);
		first = second;
		second = after;
		a = b;
	}
}

/* Of the particles that stand behind a noun in Japanese. */
static bool is_particle(const char *p, size_t n)
{
	static const char particles[] = "はがをにのでともへ";

	return n == 3 && memmem(particles, sizeof particles - 1, p, n) != NULL;
}

/* Kanji or katakana with the hiragana behind them, without a particle. */
static void count_japanese(struct dense_count *d, const char *run, const char *end)
{
	const char *from = run, *p = run;
	bool kana = true;

	while (p < end) {
		const char *at = p;
		bool hiragana = terms_is_hiragana(terms_next(&p, end));

		/* A particle, or a word that begins behind hiragana. */
		if (!kana && hiragana && is_particle(at, (size_t)(p - at))) {
			count_pairs(d, from, at);
			from = p;
			kana = true;
			continue;
		}
		if (kana && !hiragana) {
			count_pairs(d, from, at);
			from = at;
		}
		kana = hiragana;
	}
	count_pairs(d, from, end);
}

static void count_chinese(struct dense_count *d, const char *run, const char *end)
{
	const char *from = run, *p = run;

	while (p < end) {
		size_t n = function_words_chinese(p, end);

		if (!n) {
			(void)terms_next(&p, end);
			continue;
		}
		count_pairs(d, from, p);
		p += n;
		from = p;
	}
	count_pairs(d, from, end);
}

static bool is_hangul(const char *p, const char *end)
{
	uint32_t c = terms_next(&p, end);

	return c >= 0xac00 && c <= 0xd7a3;
}

static bool has_kana(const char *text)
{
	const char *p = text, *end = text + strlen(text);
	uint32_t c;

	while ((c = terms_next(&p, end)) != 0)
		if (c >= 0x3041 && c <= 0x30ff)
			return true;
	return false;
}

static void count_dense(struct dense_count *d, const char *run, size_t n, bool japanese)
{
	if (is_hangul(run, run + n)) {
		if (!function_words_dense(run, n))
			count_pairs(d, run, run + function_words_korean_stem(run, n));
	} else if (japanese) {
		count_japanese(d, run, run + n);
	} else {
		count_chinese(d, run, run + n);
	}
}

/* ---- words ---- */

static bool is_dense(const char *word, size_t n)
{
	return terms_is_dense(terms_next(&word, word + n));
}

static function_languages guess_languages(const char *text)
{
	struct function_count c = {0};
	const char *p = text, *word;
	char lower[TERM_MAX];
	size_t n;

	while ((n = next_word(&p, &word)) > 0) {
		if (n >= sizeof lower || is_dense(word, n))
			continue;
		terms_fold(lower, word, n);
		function_words_count(&c, lower, n);
	}
	return function_words_guess(&c);
}

unsigned slice_count_words(const char *words, const char *text, unsigned *shared)
{
	function_languages languages = guess_languages(words);
	struct dense_count d = {.text = text};
	bool japanese = has_kana(words);
	const char *p = words, *word;
	char lower[TERM_MAX];
	size_t n;

	while ((n = next_word(&p, &word)) > 0) {
		if (is_dense(word, n)) {
			count_dense(&d, word, n, japanese);
			continue;
		}
		if (n >= sizeof lower)
			continue;
		terms_fold(lower, word, n);
		if (terms_is_stop_word(lower, n) || function_words_hold(languages, lower, n))
			continue;
		d.asked++;
		d.shared += holds_word(text, lower, n);
	}
	*shared = d.shared;
	return d.asked;
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

bool slice_repeats(const char *fact, const char *author, const char *line)
{
	char told[MEMORY_TEXT_MAX + 1];
	unsigned shared, asked;

	/* Of oneself one says "my bike", and a fact tells of "Ana's bike". */
	slice_question(told, sizeof told, fact, author);
	asked = slice_count_words(told, line, &shared);
	if (shared && (shared == asked || (shared > 1 && 3 * shared >= 2 * asked)))
		return true;
	return slice_count_words(line, told, &shared) == shared && shared > 1;
}

void slice_question(char *to, size_t size, const char *question, const char *name)
{
	const char *p = question, *word, *from = question;
	size_t n, k = 0, length = strlen(name);
	char lower[TERM_MAX], asked[TERM_MAX];

	to[0] = '\0';
	length = length < sizeof lower ? length : 0;
	terms_fold(asked, name, length);
	while ((n = next_word(&p, &word)) > 0) {
		if (!length || n != length)
			continue;
		terms_fold(lower, word, n);
		if (memcmp(lower, asked, n) != 0)
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

/* Nothing of a time that is not known. */
static void write_day(char to[CALENDAR_DATE], const struct memory_slice *s, uint64_t at_ms)
{
	to[0] = '\0';
	if (at_ms)
		calendar_date(to, at_ms, calendar_offset(s->zone, at_ms));
}

/* " (before that, from 2026-11-20 until 2026-11-23: "…")", and what contradicts it. */
static void write_others(char to[SLICE_OTHERS], const struct memory_slice *s,
			 const struct slice_quote *q)
{
	char text[SLICE_QUOTE + 1], from[CALENDAR_DATE], until[CALENDAR_DATE];
	size_t n = 0;

	to[0] = '\0';
	if (q->former) {
		copy_quote(text, sizeof text, q->former);
		write_day(from, s, q->former_from_ms);
		write_day(until, s, q->former_until_ms);
		n = (size_t)snprintf(to, SLICE_OTHERS, " (before that%s%s%s%s: \"%s\")",
				     *from ? ", from " : "", from, *until ? " until " : "", until,
				     text);
	}
	if (q->against && n < SLICE_OTHERS) {
		copy_quote(text, sizeof text, q->against);
		write_day(from, s, q->against_ms);
		snprintf(to + n, SLICE_OTHERS - n, " (contradicted by%s%s: \"%s\")",
			 *from ? ", " : "", from, text);
	}
}

/* A day on which it was said again, if that is another one. */
static void write_again(char to[SLICE_AGAIN], const struct memory_slice *s,
			const struct slice_quote *q, const char *day)
{
	char again[CALENDAR_DATE];

	write_day(again, s, q->again_ms);
	to[0] = '\0';
	if (*again && strcmp(again, day) != 0)
		snprintf(to, SLICE_AGAIN, ", said again on %s", again);
}

static bool append(struct memory_slice *s, const struct slice_quote *q, const char *quote)
{
	char author[SLICE_AUTHOR + 1], day[CALENDAR_DATE], again[SLICE_AGAIN], others[SLICE_OTHERS];

	copy_author(author, q->author);
	calendar_date(day, q->at_ms, calendar_offset(s->zone, q->at_ms));
	write_again(again, s, q, day);
	write_others(others, s, q);
	return append_line(s, "- %s, %s%s%s: \"%s\"%s\n", author, day, again,
			   q->other_time ? SLICE_OTHER_TIME : "", quote, others);
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

/* The newest time when it was said. */
static uint64_t said_ms(const struct slice_quote *q)
{
	return q->again_ms > q->at_ms ? q->again_ms : q->at_ms;
}

static void keep(struct memory_slice *s, const struct slice_quote *q, const char *quote, char kind)
{
	unsigned at = slice_count(s);

	s->quoted[at].kind = kind;
	s->quoted[at].id = q->id;
	s->quoted[at].user = q->user;
	s->quoted[at].at_ms = said_ms(q);
	utf8_copy(s->quoted[at].text, sizeof s->quoted[at].text, quote);
	s->facts += kind == 'f' || kind == 'p';
	s->lines += kind == 'u';
	s->summaries += kind == 's';
}

/* The beginning of a quote's line, which is the only one of its quote. */
static char *find_line(struct memory_slice *s, unsigned at)
{
	char *line = s->text;

	while (at-- > 0)
		line = strchr(line, '\n') + 1;
	return line;
}

static void remove_quote(struct memory_slice *s, unsigned at)
{
	char *line = find_line(s, at), *next = strchr(line, '\n') + 1;
	char kind = s->quoted[at].kind;

	memmove(line, next, strlen(next) + 1);
	s->n -= (size_t)(next - line);
	memmove(&s->quoted[at], &s->quoted[at + 1],
		(slice_count(s) - at - 1) * sizeof s->quoted[0]);
	s->facts -= kind == 'f' || kind == 'p';
	s->lines -= kind == 'u';
	s->summaries -= kind == 's';
}

/* Moves the last quote before this one. */
static void move_last(struct memory_slice *s, unsigned before)
{
	unsigned last = slice_count(s) - 1;
	char *to = find_line(s, before), *from = find_line(s, last), moved[SLICE_LINE];
	size_t n = strlen(from);

	if (last == before || n >= sizeof moved)
		return;
	memcpy(moved, from, n);
	memmove(to + n, to, (size_t)(from - to));
	memcpy(to, moved, n);
	s->quoted[SLICE_QUOTES] = s->quoted[last];
	memmove(&s->quoted[before + 1], &s->quoted[before], (last - before) * sizeof s->quoted[0]);
	s->quoted[before] = s->quoted[SLICE_QUOTES];
}

/* Of the facts that are quoted already. */
struct opposed {
	unsigned before; /* an older one that it contradicts; it is told before that */
	unsigned remove; /* an older one of the same author, which it takes the place of */
};

/* True if one of them says the same, or the same author contradicts it later. */
static bool find_opposed(const struct memory_slice *s, const struct slice_quote *fact,
			 const char *quote, struct opposed *out)
{
	for (unsigned i = 0; i < slice_count(s); i++) {
		bool own = s->quoted[i].user == fact->user,
		     newer = said_ms(fact) > s->quoted[i].at_ms;
		enum fact_change change;

		if (!strchr("fp", s->quoted[i].kind))
			continue;
		change = newer ? fact_compare(s->quoted[i].text, quote, own, NULL)
			       : fact_compare(quote, s->quoted[i].text, own, NULL);
		if (change == FACT_SAME || (change == FACT_UPDATE && own && !newer))
			return true;
		if (change != FACT_UPDATE || !newer || out->before != SLICE_NONE)
			continue;
		out->before = i;
		out->remove = own ? i : SLICE_NONE;
	}
	return false;
}

bool slice_add_fact(struct memory_slice *s, const struct slice_quote *fact)
{
	struct opposed o = {SLICE_NONE, SLICE_NONE};
	char quote[SLICE_QUOTE + 1];

	copy_quote(quote, sizeof quote, fact->text);
	if (find_opposed(s, fact, quote, &o))
		return false;
	if (o.remove != SLICE_NONE)
		remove_quote(s, o.remove);
	/* Without room the newest of several authors is told. */
	if (o.remove == SLICE_NONE && o.before != SLICE_NONE && s->facts == limits_of(s)->facts)
		remove_quote(s, o.before);
	if (s->facts == limits_of(s)->facts || !append(s, fact, quote))
		return false;
	keep(s, fact, quote, fact->private ? 'p' : 'f');
	if (o.before != SLICE_NONE)
		move_last(s, o.before);
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
	    !slice_fits(question, line->text) || !append(s, line, quote))
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
	if (s->summaries == SLICE_SUMMARIES || !append(s, &q, quote))
		return false;
	keep(s, &q, quote, 's');
	return true;
}
