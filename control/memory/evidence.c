#include "control/memory/evidence.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/compare.h"
#include "control/memory/guard.h"
#include "control/memory/lists.h"
#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/memory/values.h"
#include "proto/base/utf8.h"

/* Quotes of more bytes than that prove no more. */
enum { QUOTES_SIZE = 4096, WORD_SIZE = 64, SHARE = 3 };

static const char digits[] = "0123456789";

static const char *quote_of(const json_t *one)
{
	const char *text = json_string_value(json_object_get(one, "quote"));

	return text ? text : "";
}

/* ---- numbers ---- */

static bool has_number(const char *text, const char *number, size_t n)
{
	while (*(text += strcspn(text, digits))) {
		size_t k = strspn(text, digits);

		if (k == n && memcmp(text, number, n) == 0)
			return true;
		text += k;
	}
	return false;
}

static bool quotes_have_number(const json_t *quotes, const char *number, size_t n)
{
	char said[VALUES_TEXT];
	const json_t *one;
	size_t i;

	json_array_foreach(quotes, i, one)
	{
		if (has_number(quote_of(one), number, n))
			return true;
		values_write(said, quote_of(one));
		if (has_number(said, number, n))
			return true;
	}
	return false;
}

static bool has_digits(const char *text, const json_t *quotes)
{
	for (; *(text += strcspn(text, digits)); text += strspn(text, digits))
		if (!quotes_have_number(quotes, text, strspn(text, digits)))
			return false;
	return true;
}

bool evidence_has_numbers(const char *text, const json_t *quotes)
{
	char values[VALUES_TEXT];

	values_write(values, text);
	return has_digits(text, quotes) && has_digits(values, quotes);
}

/* ---- words ---- */

static void join_quotes(const json_t *quotes, char all[QUOTES_SIZE])
{
	const json_t *one;
	size_t i, n = 0;

	all[0] = '\0';
	json_array_foreach(quotes, i, one)
	{
		n += (size_t)snprintf(all + n, QUOTES_SIZE - n, "%s\n", quote_of(one));
		n = n < QUOTES_SIZE ? n : QUOTES_SIZE - 1;
	}
	utf8_mend(all);
}

/* False: the word begins with a capital inside a sentence, as a name does, and no quote has it. */
static bool is_proven(const char *word, size_t n, bool begins, const char *quotes)
{
	const char *p = word;
	char text[WORD_SIZE];
	uint32_t c = terms_next(&p, word + n);
	unsigned shared, asked;

	if (begins || terms_lower(c) == c || n >= sizeof text)
		return true;
	memcpy(text, word, n);
	text[n] = '\0';
	asked = slice_count_words(text, quotes, &shared);
	return shared == asked;
}

static bool has_names(const char *text, const char *quotes)
{
	const char *p = text, *end = text + strlen(text), *word = NULL;
	bool begins = true, first = true;

	while (p <= end) {
		const char *at = p;
		uint32_t c = terms_next(&p, end);
		bool in_word = c && terms_is_word(c);

		if (in_word && !word) {
			word = at;
			begins = first;
		} else if (!in_word && word) {
			if (!is_proven(word, (size_t)(at - word), begins, quotes))
				return false;
			word = NULL;
			first = false;
		}
		if (!c)
			break;
		first = first || strchr(".!?:", (int)(c < 0x80 ? c : ' '));
	}
	return true;
}

bool evidence_has_words(const char *text, const char *author, const json_t *quotes)
{
	char all[QUOTES_SIZE], told[MEMORY_TEXT_MAX + 1];
	unsigned shared, said, asked;

	join_quotes(quotes, all);
	slice_question(told, sizeof told, text, author);
	asked = slice_count_words(told, all, &shared);
	/* One word of two or three is little, unless the quotes say more. */
	if (!shared || shared * SHARE < asked ||
	    (shared == 1 && asked > 1 && slice_count_words(all, all, &said) < 2))
		return false;
	return has_names(told, all);
}

/* ---- the sentence around a quote ---- */

enum { LINE_SIZE = 1024, BEFORE_VERB = 3 };

static const char *const conditions[] = {"if",	    "unless",  "would",	     "wouldn't", "wish",
					 "suppose", "imagine", "pretend",    "perhaps",	 "maybe",
					 "wenn",    "falls",   "w\u00fcrde", NULL};
/* Of what may be or is wanted; they count within the clause of the quote alone. */
static const char *const possibilities[] = {
	"might",      "may",	     "could",	  "should",	 "want",	"wants",
	"wanted",     "hope",	     "hopes",	  "hoping",	 "hoped",	"plan",
	"plans",      "planning",    "planned",	  "try",	 "tries",	"trying",
	"almost",     "nearly",	     "probably",  "possibly",	 "considering", "k\u00f6nnte",
	"sollte",     "m\u00f6chte", "hoffe",	  "hofft",	 "vielleicht",	"peut-\u00eatre",
	"voudrais",   "esp\u00e8re", "quiero",	  "quiz\u00e1s", "quiz\u00e1",	"ojal\u00e1",
	"espero",     "voglio",	     "vorrei",	  "forse",	 "spero",	"quero",
	"talvez",     "wil",	     "misschien", "hoop",	 "chc\u0119",	"mo\u017ce",
	"хочу",	      "может",	     "надеюсь",	  "если",	 "бы",		"gdyby",
	"je\u015bli", NULL};
/* Beside those that a comparison of facts knows (compare.h). */
static const char *const other_negations[] = {"non",   "n\u00e3o", "nao", "nem", "niet",    "geen",
					      "nooit", "nigdy",	   "не",  "нет", "никогда", NULL};
/* A sentence that begins with one of them asks, whether or not it was written with its mark. */
static const char *const questions[] = {"is",	"are",	 "am",	"was",	 "were",   "do",
					"does", "did",	 "can", "could", "should", "shall",
					"will", "would", "has", "have",	 "had",	   NULL};
static const char *const possessives[] = {
	"my",	 "our",	     "your",	"his",	 "her", "their", "mein",  "meine",
	"unser", "unsere",   "dein",	"deine", "mon", "ma",	 "mes",	  "notre",
	"mi",	 "nuestro",  "nuestra", "mio",	 "mia", "meu",	 "minha", "mijn",
	"onze",	 "m\u00f3j", "moja",	"мой",	 "моя", "наш",	 "наша",  NULL};
static const char *const third_persons[] = {"he", "she", "they", NULL};
static const char *const times[] = {"when", "once", "until", NULL};
static const char *const speaking[] = {
	"said", "says",	 "told",   "tells",    "thinks",   "thought", "claims", "claimed", "asked",
	"asks", "wrote", "writes", "believes", "believed", "sagt",    "sagte",	NULL};
static const char *const selves[] = {"i",     "i'm", "i've", "i'll", "i'd",  "we", "we're",
				     "we've", "ich", "wir",  "je",   "nous", "yo", "io",
				     "eu",    "ik",  "ja",   "я",    NULL};

/* The next word of the span in lower case; false: none. */
static bool read_word(const char **p, const char *end, char word[WORD_SIZE])
{
	size_t n = 0;

	while (*p < end && !isalnum((unsigned char)**p) && !((unsigned char)**p & 0x80))
		++*p;
	for (; *p < end &&
	       (isalnum((unsigned char)**p) || ((unsigned char)**p & 0x80) || **p == '\'');
	     ++*p)
		if (n < WORD_SIZE - 1)
			word[n++] = (char)tolower((unsigned char)**p);
	word[n] = '\0';
	terms_fold(word, word, n);
	return n > 0;
}

static bool has_one_of(const char *from, const char *end, const char *const *list)
{
	char word[WORD_SIZE];

	while (read_word(&from, end, word))
		if (lists_hold(list, word))
			return true;
	return false;
}

static bool ends_sentence(const char *p)
{
	return strchr(".!?;", *p) && (!p[1] || p[1] == ' ');
}

/* Commas part clauses, and so does "but". */
static bool ends_clause(const char *p)
{
	return *p == ',' || ends_sentence(p) || strncmp(p, " but ", 5) == 0;
}

/* Moves both ends of the span to those of the sentence or the clause that it stands in. */
static void widen(const char *line, bool (*endsh)(const char *p), const char **from,
		  const char **end)
{
	while (*from > line && !endsh(*from - 1))
		--*from;
	while (**end && !endsh(*end))
		++*end;
}

/* The speaker's own name is "I". Words between the verb and the quote do not matter, unless a comma
 * parts them. */
static bool is_of_other(const char *from, const char *quote)
{
	char word[WORD_SIZE];
	unsigned ago = BEFORE_VERB;

	while (read_word(&from, quote, word)) {
		const char *comma;

		ago = lists_hold(selves, word) ? 0 : ago + 1;
		if (!lists_hold(speaking, word) || ago < BEFORE_VERB)
			continue;
		comma = memchr(from, ',', (size_t)(quote - from));
		if (!comma || !read_word(&comma, quote, word))
			return true;
	}
	return false;
}

/* The sentence that holds the quote, whose end is given, asks. */
static bool is_question(const char *sentence, const char *quote_end)
{
	const char *p = quote_end, *from = sentence;
	char word[WORD_SIZE];

	if (read_word(&from, quote_end, word) && lists_hold(questions, word))
		return true;
	for (; *p && !strchr(".!;", *p); p++)
		if (*p == '?' || strncmp(p, "\uff1f", 3) == 0)
			return true;
		else if (strncmp(p, "\u3002", 3) == 0 || strncmp(p, "\uff01", 3) == 0)
			return false;
	return quote_end > sentence && quote_end[-1] == '?';
}

/* "my brother", whom the text does not name, stands before the quote as its subject, or "she". */
static bool is_about_other(const char *text, const char *clause, const char *quote, const char *end)
{
	char word[WORD_SIZE], other[WORD_SIZE] = "";
	const char *p = clause;
	unsigned shared;

	while (!other[0] && read_word(&p, quote, word)) {
		if (lists_hold(selves, word))
			return false;
		if (lists_hold(third_persons, word))
			memcpy(other, word, sizeof other);
		else if (lists_hold(possessives, word) && read_word(&p, quote, other))
			other[strcspn(other, "'")] = '\0';
	}
	if (!other[0] || has_one_of(p, end, selves))
		return false;
	if (lists_hold(third_persons, other))
		return !has_one_of(text, text + strlen(text), third_persons);
	return slice_count_words(other, text, &shared) > shared;
}

bool evidence_is_negated(const char *text)
{
	return fact_is_negated(text) || has_one_of(text, text + strlen(text), other_negations);
}

enum evidence_sense evidence_sense(const char *text, const char *line, const char *quote)
{
	const char *end_of_text = text + strlen(text), *at = strstr(line, quote);
	const char *from = at, *end = at ? at + strlen(quote) : NULL, *quote_end = end, *clause,
		   *clause_end;
	char part[LINE_SIZE];

	if (!at)
		return EVIDENCE_SUPPOSES;
	clause = from, clause_end = end;
	widen(line, ends_sentence, &from, &end);
	widen(line, ends_clause, &clause, &clause_end);
	if ((has_one_of(from, end, conditions) && !has_one_of(text, end_of_text, conditions)) ||
	    (has_one_of(clause, clause_end, possibilities) &&
	     !has_one_of(text, end_of_text, possibilities)) ||
	    (has_one_of(clause, at, times) && !has_one_of(text, end_of_text, times)) ||
	    (is_question(from, quote_end) && !strchr(text, '?')))
		return EVIDENCE_SUPPOSES;
	if ((is_of_other(from, at) && !has_one_of(text, end_of_text, speaking)) ||
	    is_about_other(text, clause, at, quote_end))
		return EVIDENCE_QUOTES_OTHER;
	snprintf(part, sizeof part, "%.*s", (int)(clause_end - clause), clause);
	utf8_mend(part);
	return evidence_is_negated(part) ? EVIDENCE_DENIES : EVIDENCE_SAYS;
}
