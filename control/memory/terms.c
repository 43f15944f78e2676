#include "control/memory/terms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t terms_next(const char **p, const char *end)
{
	static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	const uint8_t *at = (const uint8_t *)*p;
	size_t n = at >= (const uint8_t *)end ? 0
		   : *at < 0xc2		      ? 1
		   : *at < 0xe0		      ? 2
		   : *at < 0xf0		      ? 3
		   : *at < 0xf5		      ? 4
					      : 1;
	uint32_t c;

	if (!n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (at + i >= (const uint8_t *)end || (at[i] & 0xc0) != 0x80)
			n = 1;
	c = n == 1 ? *at : (uint32_t)(*at & ~marks[n]);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (at[i] & 0x3fu);
	*p += n;
	return c;
}

uint32_t terms_lower(uint32_t c)
{
	bool odd = c & 1;

	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 0x20;
	if (c >= 0x400 && c <= 0x40f)
		return c + 0x50;
	/* In Latin Extended-A an upper-case letter stands before its lower-case one. */
	if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177))
		return c | 1;
	if (odd && ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)))
		return c + 1;
	return c;
}

void terms_fold(char *to, const char *from, size_t n)
{
	const char *p = from, *end = from + n;

	while (p < end) {
		const char *at = p;
		uint32_t c = terms_next(&p, end), lower = terms_lower(c);
		size_t k = (size_t)(p - at);

		memmove(to, at, k);
		if (k == 2) {
			to[0] = (char)(0xc0 | lower >> 6);
			to[1] = (char)(0x80 | (lower & 0x3f));
		} else if (k == 1 && c < 0x80) {
			to[0] = (char)lower;
		}
		to += k;
	}
}

bool terms_is_dense(uint32_t c)
{
	return (c >= 0x3041 && c <= 0x30ff && c != 0x30fb) || /* kana */
	       (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x4e00 && c <= 0x9fff) ||
	       (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x3134f) || /* Han */
	       (c >= 0xac00 && c <= 0xd7a3);					 /* Hangul */
}

bool terms_is_apostrophe(uint32_t c)
{
	return c == '\'' || c == 0x2018 || c == 0x2019 || c == 0x2bc;
}

bool terms_is_word(uint32_t c)
{
	if (c < 0x80)
		return isalnum((int)c);
	/* The punctuation of Latin, the general one, and that of the scripts above. */
	return !(c < 0xc0 || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
		 (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) || c == 0x30fb ||
		 (c >= 0xff01 && c <= 0xff0f) || (c >= 0xff1a && c <= 0xff20));
}

char *terms_index(const char *text, size_t n)
{
	const char *p = text, *end = text + n, *from, *last = NULL;
	char *out = malloc(3 * n + 2);
	size_t k = 0, run = 0;
	uint32_t c;

	while (out && (from = p, c = terms_next(&p, end))) {
		size_t len = (size_t)(p - from);

		if (!terms_is_dense(c)) {
			if (run)
				out[k++] = ' ';
			run = 0;
			memcpy(out + k, from, len);
			k += len;
			continue;
		}
		/* The second character completes the pair that the first one began. */
		if (!run || run > 1)
			out[k++] = ' ';
		if (run > 1) {
			memcpy(out + k, last, (size_t)(from - last));
			k += (size_t)(from - last);
		}
		memcpy(out + k, from, len);
		k += len;
		last = from;
		run++;
	}
	if (out)
		out[k] = '\0';
	return out;
}

/* ---- questions ---- */

static const char *const english_stop_words[] = {
	"a",	 "about", "after", "all",  "am",     "an",    "and",	  "any",  "are",
	"as",	 "at",	  "be",	   "been", "before", "but",   "by",	  "can",  "could",
	"d",	 "did",	  "do",	   "does", "for",    "from",  "had",	  "has",  "have",
	"he",	 "her",	  "his",   "how",  "i",	     "if",    "in",	  "into", "is",
	"it",	 "its",	  "just",  "know", "ll",     "m",     "me",	  "mine", "my",
	"of",	 "on",	  "or",	   "our",  "please", "re",    "remember", "s",	  "said",
	"say",	 "she",	  "so",	   "some", "t",	     "talk",  "talked",	  "tell", "than",
	"that",	 "the",	  "their", "them", "then",   "there", "they",	  "this", "to",
	"told",	 "us",	  "ve",	   "was",  "we",     "were",  "what",	  "when", "where",
	"which", "who",	  "whose", "why",  "will",   "with",  "would",	  "you",  "your"};
/* Other languages that write blanks; words that are content in another one are left out, as a
 * question for the index has no language (function_words.h). */
static const char *const other_stop_words[] = {
	"das",	 "dem", "den",	"der", "ein", "eine", "er",  "hat", "ich", "ist",    "mit",   "und",
	"von",	 "wer", "wann", "wie", "wo",  "le",   "la",  "les", "est", "et",     "que",   "qui",
	"quand", "une", "des",	"du",  "el",  "los",  "las", "es",  "y",   "cuando", "quien", "il",
	"che",	 "chi", "di",	"het", "een", "wat",  "wie", "o",   "os",  "e",	     "quem"};

static bool holds(const char *const *list, size_t words, const char *word, size_t n)
{
	for (size_t i = 0; i < words; i++)
		if (strlen(list[i]) == n && memcmp(list[i], word, n) == 0)
			return true;
	return false;
}

bool terms_is_english_stop_word(const char *word, size_t n)
{
	return holds(english_stop_words, sizeof english_stop_words / sizeof english_stop_words[0],
		     word, n);
}

bool terms_is_stop_word(const char *word, size_t n)
{
	return terms_is_english_stop_word(word, n) ||
	       holds(other_stop_words, sizeof other_stop_words / sizeof other_stop_words[0], word,
		     n);
}

struct query {
	char *buf;
	size_t n;
	unsigned terms;
};

static void add_term(struct query *q, const char *word, size_t n, bool prefix)
{
	if (!n || n > TERM_MAX || q->terms == TERMS_MAX || q->n + n + 12 > TERMS_QUERY_MAX)
		return;
	q->n += (size_t)snprintf(q->buf + q->n, TERMS_QUERY_MAX - q->n, "%s\"%.*s\"%s",
				 q->terms ? " OR " : "", (int)n, word, prefix ? "*" : "");
	q->terms++;
}

static void add_word(struct query *q, const char *word, size_t n)
{
	char lower[TERM_MAX];

	if (n > sizeof lower)
		return;
	terms_fold(lower, word, n);
	if (!terms_is_stop_word(lower, n))
		add_term(q, lower, n, false);
}

bool terms_is_hiragana(uint32_t c)
{
	return c >= 0x3041 && c <= 0x309f;
}

static void add_pairs(struct query *q, const char *run, const char *end)
{
	const char *first = run, *second = run;
	uint32_t a = terms_next(&second, end), b;

	if (second == end)
		add_term(q, run, (size_t)(end - run), true);
	while (second < end) {
		const char *after = second;

		b = terms_next(&after, end);
		if (!terms_is_hiragana(a) || !terms_is_hiragana(b))
			add_term(q, first, (size_t)(after - first), false);
		first = second;
		second = after;
		a = b;
	}
}

unsigned terms_query(char buf[TERMS_QUERY_MAX], const char *question)
{
	struct query q = {.buf = buf};
	const char *p = question, *end = question + strlen(question);

	buf[0] = '\0';
	while (p < end) {
		const char *from = p;
		uint32_t c = terms_next(&p, end);
		bool dense = terms_is_dense(c);

		if (!terms_is_word(c))
			continue;
		for (const char *next = p; p < end; p = next) {
			c = terms_next(&next, end);
			if (!terms_is_word(c) || terms_is_dense(c) != dense)
				break;
		}
		if (dense)
			add_pairs(&q, from, p);
		else
			add_word(&q, from, (size_t)(p - from));
	}
	return q.terms;
}
