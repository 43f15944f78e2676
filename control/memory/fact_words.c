#include "control/memory/fact_words.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "control/memory/lists.h"
#include "control/memory/terms.h"
#include "control/memory/values.h"
#include "proto/base/utf8.h"

static const char *const negations[] = {
	"not",	  "no",	     "never",	  "none",     "nobody",	 "nothing", "without", "nor",
	"hardly", "neither", "cancelled", "canceled", "nicht",	 "kein",    "keine",   "keinen",
	"nie",	  "pas",     "jamais",	  "nunca",    "stopped", "quit",    NULL};
const char *const fact_dense_negations[] = {"不", "没", "無", "안", "않", NULL};
static const char *const mine[] = {"i",	   "my",    "me",  "mine", "myself", "ich",
				   "mein", "meine", "mir", "mich", "je",     "moi",
				   "mon",  "ma",    "yo",  "mi",   NULL};
static const char *const selves[] = {"i",      "my",  "me",   "mine",  "we",  "our",  "us",
				     "myself", "ich", "mein", "meine", "mir", "mich", "moi",
				     "je",     "mon", "ma",   "yo",    "mi",  NULL};
/* A verb that equates parts subject and value. */
static const char *const equations[] = {"is",  "are",	  "was", "were", "am",
					"be",  "becomes", "ist", "sind", "war",
					"est", "sont",	  "era", "son",	 NULL};
static const char *const verbs[] = {
	"has",	  "have",  "had",     "will",	"lives",   "live",  "lived", "works",  "work",
	"worked", "likes", "like",    "love",	"loves",   "hates", "hate",  "wants",  "want",
	"needs",  "need",  "prefers", "prefer", "goes",	   "go",    "going", "starts", "start",
	"begins", "ends",  "opens",   "closes", "meet",	   "meets", "moved", "moves",  "leads",
	"owns",	  "runs",  "plays",   "play",	"drives",  "drive", "eats",  "eat",    "drinks",
	"drink",  "ships", "ship",    "leaves", "arrives", "costs", "takes", "uses",   "use",
	"speaks", "speak", "studies", "study",	"can",	   "does",  NULL};
/* A person has one of these at a time. */
const char *const fact_single[] = {"lives",  "live",   "works",	  "work",  "moved",
				   "drives", "drive",  "studies", "study", "called",
				   "starts", "begins", "ends",	  "costs", NULL};
/* One person has this part, so another name is a change. */
const char *const fact_parts[] = {"leads", "owns",	"runs",	  "manages",
				  "hosts", "maintains", "chairs", NULL};
static const char *const additions[] = {"also",		"another", "additionally", "auch", "aussi",
					"tambi\u00e9n", NULL};
static const char *const prepositions[] = {"to", "in",	 "at", "on", "for",   "of",   "with", "by",
					   "as", "from", "um", "am", "until", "till", "near", NULL};
static const char *const articles[] = {"a",  "an", "the", "der", "die", "das", "den", "ein", "eine",
				       "le", "la", "les", "un",	 "une", "el",  "los", "las", NULL};
static const char *const fillers[] = {
	"a",	  "an",	    "the",	    "of",    "to",     "in",
	"at",	  "on",	    "for",	    "and",   "that",   "this",
	"it",	  "its",    "with",	    "by",    "from",   "as",
	"now",	  "so",	    "do",	    "does",  "did",    "just",
	"really", "very",   "about",	    "there", "longer", "anymore",
	"any",	  "please", "been",	    "being", "will",   "would",
	"has",	  "have",   "had",	    "der",   "die",    "das",
	"den",	  "ein",    "eine",	    "um",    "am",     "le",
	"la",	  "les",    "un",	    "une",   "el",     "los",
	"las",	  "also",   "additionally", "auch",  "aussi",  "tambi\u00e9n",
	"until",  "till",   "near",	    NULL};
static const char *const past[] = {"was",   "were",   "had",	    "did",   "war",
				   "waren", "hatte",  "hatten",	    "wurde", "\u00e9tait",
				   "avait", "estaba", "ten\u00eda", "era",   NULL};
static const char *const present[] = {"is", "are", "am", "ist", "sind", "est", "sont", NULL};

/* ---- reading ---- */

/* "bikes" and "bike" are one word. */
static void trim_plural(char *word)
{
	size_t n = strlen(word);

	if (n > 3 && word[n - 1] == 's' && word[n - 2] != 's' && word[n - 2] != 'u')
		word[n - 1] = '\0';
}

static void add_token(struct fact_words *f, const char *text, unsigned is)
{
	struct token *t;

	if (f->n == TOKENS_MAX)
		return;
	t = &f->token[f->n++];
	memcpy(t->text, text, strlen(text) + 1);
	t->is = is;
	memcpy(t->preposition, f->preposition, sizeof t->preposition);
	t->article = f->article;
	f->preposition[0] = '\0';
	f->article = false;
}

static void take_filler(struct fact_words *f, const char *word)
{
	f->article = f->article || lists_hold(articles, word);
	if (lists_hold(prepositions, word))
		utf8_copy(f->preposition, sizeof f->preposition, word);
}

/* A verb ends the subject. */
static void take_verb(struct fact_words *f, bool equation)
{
	if (f->has_verb || !f->n)
		return;
	f->has_verb = true;
	f->is_equation = equation;
	for (unsigned i = 0; i < f->n; i++)
		f->token[i].is |= IS_SUBJECT;
}

static unsigned kind_of(const char *word, bool capital)
{
	if (lists_hold(lists_dates, word))
		return IS_DATE;
	if (strpbrk(word, "0123456789") || lists_hold(lists_numbers, word))
		return IS_NUMBER;
	if (lists_hold(lists_colours, word))
		return IS_COLOUR;
	return capital ? IS_NAME : 0;
}

static unsigned tense_of(const char *word)
{
	return lists_hold(past, word)	    ? TENSE_PAST
	       : lists_hold(present, word)  ? TENSE_PRESENT
	       : strcmp(word, "will") == 0  ? TENSE_FUTURE
	       : strcmp(word, "would") == 0 ? TENSE_WISH
	       : strcmp(word, "been") == 0  ? TENSE_PERFECT
					    : 0;
}

static void take_negation(struct fact_words *f)
{
	f->negated = !f->negated;
	if (f->n_denied < DENIED_MAX)
		f->denied[f->n_denied++] = f->n;
}

/* "any more" and "no more" compare nothing. */
static bool is_no_more(struct fact_words *f, const char *word)
{
	bool was = f->no_more;

	f->no_more = strcmp(word, "any") == 0 || strcmp(word, "no") == 0;
	return was && strcmp(word, "more") == 0;
}

static void take_word(struct fact_words *f, char *word, bool capital)
{
	size_t n = strlen(word);
	unsigned verb = 0;

	if (n > 2 && strcmp(word + n - 2, "'s") == 0) {
		word[n - 2] = '\0';
	}
	f->adds = f->adds || lists_hold(additions, word);
	f->tense |= tense_of(word);
	if (is_no_more(f, word))
		return;
	if (lists_hold(negations, word)) {
		take_negation(f);
		return;
	}
	if (lists_hold(selves, word)) {
		f->has_self = true;
		f->has_me = f->has_me || lists_hold(mine, word);
		add_token(f, "i", IS_SELF);
		return;
	}
	if (lists_hold(equations, word) || lists_hold(verbs, word)) {
		verb = IS_VERB;
		take_verb(f, lists_hold(equations, word));
		if (lists_hold(equations, word) || lists_hold(fillers, word))
			return;
	} else if (lists_hold(fillers, word)) {
		take_filler(f, word);
		return;
	}
	if (!lists_hold(fact_single, word) && !lists_hold(fact_parts, word))
		trim_plural(word);
	add_token(f, word, verb | kind_of(word, capital));
}

static bool holds_character(const char *set, const char *text, size_t n)
{
	for (const char *p = set; *p; p += 3)
		if (n == 3 && memcmp(p, text, 3) == 0)
			return true;
	return false;
}

/* Numerals, and the characters of weekdays where they stand in a weekday: by themselves these mean
 * the moon, water or gold. */
static unsigned dense_kind(const char *text, const char *from, size_t n)
{
	static const char *const behind[] = {"曜", "요일", NULL};
	static const char *const before[] = {"星期", "周", "週", "礼拜", NULL};

	for (size_t i = 0; behind[i]; i++)
		if (holds_character("月火水木金土日월화수목금토일", from, n) &&
		    strncmp(from + n, behind[i], strlen(behind[i])) == 0)
			return IS_DATE;
	for (size_t i = 0; before[i]; i++) {
		size_t k = strlen(before[i]);

		if (holds_character("一二三四五六日天", from, n) && from >= text + k &&
		    memcmp(from - k, before[i], k) == 0)
			return IS_DATE;
	}
	return holds_character("一二两三四五六七八九十百千万", from, n) ? IS_NUMBER : 0;
}

static void take_dense(struct fact_words *f, const char *text, const char *from, size_t n)
{
	char token[TOKEN_SIZE] = "";

	memcpy(token, from, n);
	f->dense = true;
	if (lists_hold(fact_dense_negations, token))
		f->negated = !f->negated;
	add_token(f, token, dense_kind(text, from, n));
}

/* Endings of Japanese, which the characters alone do not show. */
static bool has_negative_ending(const char *text)
{
	return strstr(text, "ない") || strstr(text, "なかった") || strstr(text, "ません");
}

/* "-200", and neither "5-6" nor a hyphen alone. */
static bool is_sign(const char *text, const char *at, const char *end)
{
	return *at == '-' && end - at > 1 && isdigit((unsigned char)at[1]) &&
	       (at == text || at[-1] == ' ');
}

void fact_words_read(struct fact_words *f, const char *text)
{
	char plain[VALUES_TEXT];
	const char *p = plain, *end;
	bool first = true;

	values_write(plain, text);
	end = plain + strlen(plain);
	*f = (struct fact_words){.negated = has_negative_ending(plain)};
	while (p < end) {
		const char *from = p;
		uint32_t c = terms_next(&p, end);
		char word[TOKEN_SIZE] = "";
		size_t n = 0;

		if (terms_is_dense(c)) {
			take_dense(f, plain, from, (size_t)(p - from));
			continue;
		}
		if (is_sign(plain, from, end))
			word[n++] = '-';
		else if (!terms_is_word(c))
			continue;
		else
			p = from;
		while (p < end) {
			const char *at = p;

			c = terms_next(&p, end);
			if (terms_is_dense(c) || (!terms_is_word(c) && (c != '\'' || p == end))) {
				p = at;
				break;
			}
			for (; at < p; at++)
				if (n < sizeof word - 1)
					word[n++] = (char)tolower((unsigned char)*at);
		}
		take_word(f, word, !first && isupper((unsigned char)*from));
		first = false;
	}
}
