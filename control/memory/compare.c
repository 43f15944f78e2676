#include "control/memory/compare.h"

#include <ctype.h>
#include <string.h>

#include "control/memory/lists.h"
#include "control/memory/paraphrase.h"
#include "control/memory/terms.h"
#include "control/memory/values.h"

enum { TOKENS_MAX = 48, TOKEN_SIZE = 24 };

/* Kinds of tokens. */
enum {
	IS_NUMBER = 1,
	IS_DATE = 2,
	IS_NAME = 4,
	IS_SELF = 8,	 /* I, my, we, … */
	IS_SUBJECT = 16, /* stands before the verb */
};
#define IS_VALUE (IS_NUMBER | IS_DATE | IS_NAME)

struct token {
	char text[TOKEN_SIZE];
	unsigned is;
};

struct fact_words {
	unsigned n;
	struct token token[TOKENS_MAX];
	bool negated;
	bool has_verb, is_equation; /* a verb parts it; that verb is "is" */
	bool has_self;
	bool dense; /* a script without blanks */
};

static const char *const negations[] = {
	"not",	  "no",	    "never", "none",   "nobody", "nothing", "without", "cannot",
	"dont",	  "doesnt", "didnt", "isnt",   "wont",	 "nicht",   "kein",    "keine",
	"keinen", "nie",    "pas",   "jamais", "nunca",	 "stopped", "quit",    NULL};
static const char *const selves[] = {"i",  "my",     "me",  "mine", "we",   "our",
				     "us", "myself", "i'm", "ich",  "mein", "meine",
				     "je", "mon",    "ma",  "yo",   "mi",   NULL};
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
static const char *const single[] = {"lives",  "live",	 "works",   "work",  "moved",
				     "drives", "drive",	 "studies", "study", "called",
				     "starts", "begins", "ends",    "costs", NULL};
/* One person has this part, so another name is a change. */
static const char *const parts[] = {"leads", "owns",	  "runs",   "manages",
				    "hosts", "maintains", "chairs", NULL};
static const char *const fillers[] = {
	"a",	"an",	"the",	  "of",	  "to",	    "in",   "at",    "on",    "for",	"and",
	"that", "this", "it",	  "its",  "with",   "by",   "from",  "as",    "now",	"so",
	"do",	"does", "did",	  "just", "really", "very", "about", "there", "longer", "anymore",
	"any",	"more", "please", "been", "being",  "will", "would", "has",   "have",	"had",
	"der",	"die",	"das",	  "den",  "ein",    "eine", "um",    "am",    "le",	"la",
	"les",	"un",	"une",	  "el",	  "los",    "las",  NULL};

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
	return capital ? IS_NAME : 0;
}

static void take_word(struct fact_words *f, char *word, bool capital)
{
	size_t n = strlen(word);

	if (n > 3 && strcmp(word + n - 3, "n't") == 0) {
		f->negated = !f->negated;
		word[n - 3] = '\0';
	} else if (n > 2 && strcmp(word + n - 2, "'s") == 0) {
		word[n - 2] = '\0';
	}
	if (lists_hold(negations, word)) {
		f->negated = !f->negated;
		return;
	}
	if (lists_hold(selves, word)) {
		f->has_self = true;
		add_token(f, "i", IS_SELF);
		return;
	}
	if (lists_hold(equations, word) || lists_hold(verbs, word)) {
		take_verb(f, lists_hold(equations, word));
		if (lists_hold(equations, word) || lists_hold(fillers, word))
			return;
	} else if (lists_hold(fillers, word)) {
		return;
	}
	if (!lists_hold(single, word) && !lists_hold(parts, word))
		trim_plural(word);
	add_token(f, word, kind_of(word, capital));
}

static bool is_numeral(const char *text, size_t n)
{
	static const char numerals[] = "一二三四五六七八九十百千万月火水木金土일이삼사오육칠팔구십";

	for (const char *p = numerals; *p; p += 3)
		if (n == 3 && memcmp(p, text, 3) == 0)
			return true;
	return false;
}

static void take_dense(struct fact_words *f, const char *from, size_t n)
{
	static const char *const nots[] = {"不", "没", "無", "안", "않", NULL};
	char text[TOKEN_SIZE] = "";

	memcpy(text, from, n);
	f->dense = true;
	if (lists_hold(nots, text))
		f->negated = !f->negated;
	add_token(f, text, is_numeral(from, n) ? IS_NUMBER : 0);
}

static void read_fact(struct fact_words *f, const char *text)
{
	char plain[VALUES_TEXT];
	const char *p = plain, *end;
	bool first = true;

	values_write(plain, text);
	end = plain + strlen(plain);
	*f = (struct fact_words){0};
	while (p < end) {
		const char *from = p;
		uint32_t c = terms_next(&p, end);
		char word[TOKEN_SIZE] = "";
		size_t n = 0;

		if (terms_is_dense(c)) {
			take_dense(f, from, (size_t)(p - from));
			continue;
		}
		if (!terms_is_word(c))
			continue;
		for (p = from; p < end;) {
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

/* ---- comparing ---- */

static bool holds(const struct fact_words *f, const struct token *t, unsigned side)
{
	for (unsigned i = 0; i < f->n; i++)
		if ((f->token[i].is & IS_SUBJECT) == side && strcmp(f->token[i].text, t->text) == 0)
			return true;
	return false;
}

/* Returns the number of tokens of this side, of values or of other words, that a has and b lacks.
 * */
static unsigned lacking(const struct fact_words *a, const struct fact_words *b, unsigned side,
			bool values)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		n += (a->token[i].is & IS_SUBJECT) == side &&
		     !(a->token[i].is & IS_VALUE) == !values && !holds(b, &a->token[i], side);
	return n;
}

static unsigned count(const struct fact_words *f, unsigned side, bool values)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		n += (f->token[i].is & IS_SUBJECT) == side &&
		     !(f->token[i].is & IS_VALUE) == !values;
	return n;
}

static bool same_subject(const struct fact_words *a, const struct fact_words *b)
{
	return a->has_verb == b->has_verb && !lacking(a, b, IS_SUBJECT, true) &&
	       !lacking(b, a, IS_SUBJECT, true) && !lacking(a, b, IS_SUBJECT, false) &&
	       !lacking(b, a, IS_SUBJECT, false);
}

static bool has_verb_of(const struct fact_words *f, const char *const *list)
{
	for (unsigned i = 0; i < f->n; i++)
		if (!(f->token[i].is & IS_SUBJECT) && lists_hold(list, f->token[i].text))
			return true;
	return false;
}

/* True if at least half of the other words are shared. */
static bool half_shared(const struct fact_words *a, const struct fact_words *b)
{
	unsigned na = count(a, 0, false), nb = count(b, 0, false);
	unsigned most = na > nb ? na : nb, shared = na - lacking(a, b, 0, false);

	return 2 * shared >= most;
}

/* The persons and values in their order: "Ana beats Bob" is not "Bob beats Ana". */
static bool same_order(const struct fact_words *a, const struct fact_words *b)
{
	unsigned i = 0, k = 0;

	for (;;) {
		while (i < a->n && !(a->token[i].is & (IS_NAME | IS_SELF)))
			i++;
		while (k < b->n && !(b->token[k].is & (IS_NAME | IS_SELF)))
			k++;
		if (i == a->n || k == b->n)
			return i == a->n && k == b->n;
		if (strcmp(a->token[i++].text, b->token[k++].text) != 0)
			return false;
	}
}

/* Nothing but the order of words, fillers and plurals differs. */
static bool same_words(const struct fact_words *a, const struct fact_words *b)
{
	for (unsigned i = 0; i < a->n; i++)
		if (!holds(b, &a->token[i], 0) && !holds(b, &a->token[i], IS_SUBJECT))
			return false;
	for (unsigned i = 0; i < b->n; i++)
		if (!holds(a, &b->token[i], 0) && !holds(a, &b->token[i], IS_SUBJECT))
			return false;
	return true;
}

static enum fact_change compare_values(const struct fact_words *a, const struct fact_words *b)
{
	unsigned gone = lacking(a, b, 0, true) + lacking(a, b, 0, false);
	unsigned come = lacking(b, a, 0, true) + lacking(b, a, 0, false);
	bool slot = a->is_equation && b->is_equation && count(a, IS_SUBJECT, false) >= 2;

	if (a->negated != b->negated)
		return half_shared(a, b) ? FACT_UPDATE : FACT_NEW;
	/* The older one says more. Without its number, date or name it is not the same. */
	if (!come)
		return lacking(a, b, 0, true) ? FACT_NEW : FACT_SAME;
	if (!gone || slot)
		return FACT_UPDATE;
	if (lacking(b, a, 0, true) && lacking(a, b, 0, true) && half_shared(a, b))
		return FACT_UPDATE;
	return has_verb_of(a, single) && has_verb_of(b, single) ? FACT_UPDATE : FACT_NEW;
}

static enum fact_change compare_dense(const struct fact_words *a, const struct fact_words *b)
{
	unsigned gone = lacking(a, b, 0, true) + lacking(a, b, 0, false);
	unsigned come = lacking(b, a, 0, true) + lacking(b, a, 0, false);
	unsigned most = a->n > b->n ? a->n : b->n;

	if (!gone && !come && a->negated == b->negated)
		return a->n == b->n && same_order(a, b) ? FACT_SAME : FACT_UPDATE;
	return 5 * (gone > come ? gone : come) <= 2 * most && a->n && b->n &&
			       strcmp(a->token[0].text, b->token[0].text) == 0
		       ? FACT_UPDATE
		       : FACT_NEW;
}

static unsigned count_persons(const struct fact_words *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		n += (f->token[i].is & (IS_NAME | IS_SELF)) != 0;
	return n;
}

static enum fact_change compare_words(const struct fact_words *a, const struct fact_words *b)
{
	if (a->dense || b->dense)
		return compare_dense(a, b);
	if (same_words(a, b))
		return a->negated != b->negated ? FACT_UPDATE
		       : same_order(a, b)	? FACT_SAME
						: FACT_NEW;
	if (same_subject(a, b))
		return a->has_verb ? compare_values(a, b) : FACT_NEW;
	if (has_verb_of(a, parts) && has_verb_of(b, parts) && !lacking(a, b, 0, false) &&
	    !lacking(b, a, 0, false))
		return FACT_UPDATE;
	return FACT_NEW;
}

enum fact_change fact_compare(const char *older, const char *newer, bool same_speaker,
			      const struct fact_meaning *meaning)
{
	struct fact_words a, b;
	enum fact_change change;

	read_fact(&a, older);
	read_fact(&b, newer);
	if (!a.n || !b.n || ((a.has_self || b.has_self) && !same_speaker))
		return FACT_NEW;
	change = compare_words(&a, &b);
	/* Persons in another order: "Ana beats Bob". */
	if (change != FACT_NEW || !meaning || (same_words(&a, &b) && count_persons(&b) > 1))
		return change;
	return paraphrase_compare(older, newer, meaning);
}

static bool holds_values(const struct fact_words *f, const struct fact_words *of)
{
	for (unsigned i = 0; i < of->n; i++)
		if ((of->token[i].is & IS_VALUE) && !holds(f, &of->token[i], 0) &&
		    !holds(f, &of->token[i], IS_SUBJECT))
			return false;
	return true;
}

/* At least half of the words of one stand in the other, so that a negation in one of them speaks
 * against it. "only takes cash" and "you can't pay by card" share none. */
static bool says_the_same_of(const struct fact_words *a, const struct fact_words *b)
{
	unsigned na = 0, nb = 0, shared = 0;

	for (unsigned i = 0; i < b->n; i++)
		nb += !(b->token[i].is & (IS_VALUE | IS_SELF));
	for (unsigned i = 0; i < a->n; i++) {
		if (a->token[i].is & (IS_VALUE | IS_SELF))
			continue;
		na++;
		shared += holds(b, &a->token[i], 0) || holds(b, &a->token[i], IS_SUBJECT);
	}
	return 2 * shared >= (na < nb ? na : nb);
}

bool fact_may_be_same(const char *older, const char *newer)
{
	struct fact_words a, b;

	read_fact(&a, older);
	read_fact(&b, newer);
	return a.n && b.n && holds_values(&a, &b) && holds_values(&b, &a) &&
	       (a.negated == b.negated || !says_the_same_of(&a, &b));
}

bool fact_is_about_self(const char *text)
{
	struct fact_words f;

	read_fact(&f, text);
	return f.has_self;
}
