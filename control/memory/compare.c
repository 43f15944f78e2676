#include "control/memory/compare.h"

#include <ctype.h>
#include <string.h>

#include "control/memory/lists.h"
#include "control/memory/paraphrase.h"
#include "control/memory/terms.h"
#include "control/memory/values.h"
#include "proto/base/utf8.h"

enum { TOKENS_MAX = 48, TOKEN_SIZE = 24 };

/* Kinds of tokens. */
enum {
	IS_NUMBER = 1,
	IS_DATE = 2,
	IS_NAME = 4,
	IS_SELF = 8,	 /* I, my, we, … */
	IS_SUBJECT = 16, /* stands before the verb */
	IS_COLOUR = 32,
};
#define IS_VALUE (IS_NUMBER | IS_DATE | IS_NAME)
#define IS_KIND	 (IS_VALUE | IS_COLOUR)

enum { PREPOSITION_SIZE = 8, DENIED_MAX = 4 };

/* What auxiliaries say of the time: "I am a nurse", "I was", "I will be", "I would be", "I have
 * been". */
enum {
	TENSE_PAST = 1,
	TENSE_FUTURE = 2,
	TENSE_WISH = 4,
	TENSE_PERFECT = 8,
	TENSE_PRESENT = 16,
};

struct token {
	char text[TOKEN_SIZE];
	unsigned is;
	char preposition[PREPOSITION_SIZE]; /* before it, "in"; "": none */
	bool article;			    /* before it, too */
};

struct fact_words {
	unsigned n;
	struct token token[TOKENS_MAX];
	bool negated;
	bool has_verb, is_equation; /* a verb parts it; that verb is "is" */
	bool has_self;
	bool has_me; /* "I", "my", and not "we" alone */
	bool adds;   /* "also": it takes the place of nothing */
	bool dense;  /* a script without blanks */
	unsigned tense;
	/* The tokens before which a negation stands. */
	unsigned denied[DENIED_MAX], n_denied;
	bool no_more; /* the word before was "any" or "no" */
	/* Of the next token. */
	char preposition[PREPOSITION_SIZE];
	bool article;
};

static const char *const negations[] = {
	"not",	  "no",	     "never",	  "none",     "nobody",	 "nothing", "without", "nor",
	"hardly", "neither", "cancelled", "canceled", "nicht",	 "kein",    "keine",   "keinen",
	"nie",	  "pas",     "jamais",	  "nunca",    "stopped", "quit",    NULL};
static const char *const dense_negations[] = {"不", "没", "無", "안", "않", NULL};
static const char *const mine[] = {"i",	   "my",    "me",  "mine", "myself", "ich",
				   "mein", "meine", "mir", "mich", "je",     "moi",
				   "mon",  "ma",    "yo",  "mi",   NULL};
/* Of a question about somebody; plurals as trim_plural leaves them. */
static const char *const asking[] = {"what", "who",   "you",  "know",	    "remember", "tell",
				     "told", "say",   "said", "everything", "anything", "something",
				     "all",  "think", "can",  "could",	    NULL};
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
static const char *const single[] = {"lives",  "live",	 "works",   "work",  "moved",
				     "drives", "drive",	 "studies", "study", "called",
				     "starts", "begins", "ends",    "costs", NULL};
/* One person has this part, so another name is a change. */
static const char *const parts[] = {"leads", "owns",	  "runs",   "manages",
				    "hosts", "maintains", "chairs", NULL};
static const char *const additions[] = {"also",		"another", "additionally", "auch", "aussi",
					"tambi\u00e9n", NULL};
static const char *const prepositions[] = {"to", "in",	 "at", "on", "for",   "of",   "with", "by",
					   "as", "from", "um", "am", "until", "near", NULL};
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
	NULL};
static const char *const past[] = {"was",   "were",   "had",	    "did",   "war",
				   "waren", "hatte",  "hatten",	    "wurde", "\u00e9tait",
				   "avait", "estaba", "ten\u00eda", "era",   NULL};
static const char *const present[] = {"is", "are", "am", "ist", "sind", "est", "sont", NULL};
/* Words that turn what a value or the order of two things means; limits do before a number. */
static const char *const comparisons[] = {"than",  "more",   "less",  "fewer",
					  "least", "before", "after", NULL};
static const char *const limits[] = {"over", "under", "above", "below", NULL};

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
		take_verb(f, lists_hold(equations, word));
		if (lists_hold(equations, word) || lists_hold(fillers, word))
			return;
	} else if (lists_hold(fillers, word)) {
		take_filler(f, word);
		return;
	}
	if (!lists_hold(single, word) && !lists_hold(parts, word))
		trim_plural(word);
	add_token(f, word, kind_of(word, capital));
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
	if (lists_hold(dense_negations, token))
		f->negated = !f->negated;
	add_token(f, token, dense_kind(text, from, n));
}

/* Endings of Japanese, which the characters alone do not show. */
static bool has_negative_ending(const char *text)
{
	return strstr(text, "ない") || strstr(text, "なかった") || strstr(text, "ません");
}

static void read_fact(struct fact_words *f, const char *text)
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

/* The words of b stand in a in the same order. */
static bool is_part(const struct fact_words *a, const struct fact_words *b)
{
	unsigned k = 0;

	for (unsigned i = 0; i < a->n && k < b->n; i++)
		k += strcmp(a->token[i].text, b->token[k].text) == 0;
	return k == b->n;
}

/* It may stand at either end of a sentence: "On Friday we meet", "last summer we met". */
static bool is_adverb(const struct fact_words *f, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (f->token[i].is & IS_DATE)
			return true;
	return f->token[from].preposition[0] != '\0';
}

/* One side begins where the other one goes on: "On Tuesday is the release", "Ana is the boss". What
 * is no adverb moves around an "is" alone: owners have cats, and cats have owners. */
static bool is_turned(const struct fact_words *a, const struct fact_words *b)
{
	for (unsigned from = 1; a->n == b->n && from < a->n; from++) {
		unsigned i = 0;

		while (i < a->n && strcmp(a->token[(from + i) % a->n].text, b->token[i].text) == 0)
			i++;
		if (i == a->n)
			return (a->is_equation && b->is_equation) || is_adverb(a, from, a->n) ||
			       is_adverb(b, a->n - from, b->n);
	}
	return false;
}

static bool holds_any(const struct fact_words *f, const char *const *list)
{
	for (unsigned i = 0; i < f->n; i++)
		if (lists_hold(list, f->token[i].text))
			return true;
	return false;
}

static bool is_denied_alike(const struct fact_words *a, const struct fact_words *b)
{
	if (a->n_denied != b->n_denied)
		return false;
	for (unsigned i = 0; i < a->n_denied; i++) {
		unsigned ka = a->denied[i], kb = b->denied[i];

		if (ka < a->n && kb < b->n && strcmp(a->token[ka].text, b->token[kb].text) != 0)
			return false;
	}
	return true;
}

/* The order tells who does what to whom, and what of two things is denied or is more. */
static bool same_order(const struct fact_words *a, const struct fact_words *b)
{
	if (!is_denied_alike(a, b))
		return false;
	return is_part(a, b) || (!a->n_denied && !holds_any(a, comparisons) && is_turned(a, b));
}

/* "two cats and one dog", "one cat and two dogs": numbers or dates of the predicate changed their
 * places, and nothing else did. A colour is changed by "is" alone. */
static bool is_swapped(const struct fact_words *a, const struct fact_words *b)
{
	bool swapped = false;

	for (unsigned i = 0; i < a->n && a->n == b->n; i++) {
		const struct token *ta = &a->token[i], *tb = &b->token[i];
		unsigned kind = ta->is & tb->is & (IS_NUMBER | IS_DATE | IS_COLOUR);

		if (strcmp(ta->text, tb->text) == 0)
			continue;
		if (!kind || ((ta->is | tb->is) & IS_SUBJECT) ||
		    (kind == IS_COLOUR && !(a->is_equation && b->is_equation)))
			return false;
		swapped = true;
	}
	return swapped && a->n == b->n && is_denied_alike(a, b);
}

/* The k-th token of this kind, from 0; a word is a name if it is one in either text. */
static const struct token *of_kind(const struct fact_words *f, const struct fact_words *other,
				   unsigned kind, unsigned k)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct token *t = &f->token[i];
		bool is = (t->is & kind) != 0;

		for (unsigned j = 0; j < other->n && !is && kind == IS_NAME; j++)
			is = (other->token[j].is & IS_NAME) &&
			     strcmp(other->token[j].text, t->text) == 0;
		if (is && k-- == 0)
			return t;
	}
	return NULL;
}

/* The values of each kind stand in one order, as far as both have them: "20 for Ana and 50 for
 * Bob". */
static bool same_values_in_order(const struct fact_words *a, const struct fact_words *b)
{
	static const unsigned kinds[] = {IS_NUMBER, IS_DATE, IS_NAME, IS_COLOUR};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		for (unsigned k = 0;; k++) {
			const struct token *ta = of_kind(a, b, kinds[i], k);
			const struct token *tb = of_kind(b, a, kinds[i], k);

			if (!ta || !tb)
				break;
			if (strcmp(ta->text, tb->text) != 0)
				return false;
		}
	}
	return true;
}

static bool holds_limit(const struct fact_words *f, const char *word)
{
	for (unsigned i = 0; i + 1 < f->n; i++)
		if ((f->token[i + 1].is & IS_NUMBER) && strcmp(f->token[i].text, word) == 0)
			return true;
	return false;
}

static bool same_comparisons(const struct fact_words *a, const struct fact_words *b)
{
	for (size_t i = 0; comparisons[i]; i++) {
		const char *const one[] = {comparisons[i], NULL};

		if (holds_any(a, one) != holds_any(b, one))
			return false;
	}
	for (size_t i = 0; limits[i]; i++)
		if (holds_limit(a, limits[i]) != holds_limit(b, limits[i]))
			return false;
	return true;
}

/* In other words only these are certain: "was cancelled" may be "they cancelled". */
static bool is_of_other_time(const struct fact_words *a, const struct fact_words *b)
{
	const unsigned both = TENSE_PAST | TENSE_PRESENT;

	return ((a->tense & both) == TENSE_PAST && (b->tense & both) == TENSE_PRESENT) ||
	       ((a->tense & both) == TENSE_PRESENT && (b->tense & both) == TENSE_PAST);
}

/* Nothing but the order of words, auxiliaries, fillers and plurals differs. */
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

static bool is_gone(const struct fact_words *a, unsigned i, const struct fact_words *b,
		    unsigned kind)
{
	return !(a->token[i].is & IS_SUBJECT) && (a->token[i].is & IS_KIND) == kind &&
	       !holds(b, &a->token[i], 0);
}

/* Numbers and dates may lose their preposition ("at 16:00", "16:00"). */
static bool same_place(const struct token *a, const struct token *b, unsigned kind)
{
	if (strcmp(a->preposition, b->preposition) == 0)
		return kind || a->article == b->article;
	return (kind & (IS_NUMBER | IS_DATE)) && (!a->preposition[0] || !b->preposition[0]);
}

/* "gate 12": the number of something that the other one does not tell of. */
static bool is_of_other(const struct fact_words *a, unsigned i, const struct fact_words *b)
{
	return i > 0 && (a->token[i].is & IS_NUMBER) && !a->token[i].preposition[0] &&
	       is_gone(a, i - 1, b, 0);
}

/* A value of this kind (0: of none that is known) stands in the place of another one. */
static bool has_changed(const struct fact_words *a, const struct fact_words *b, unsigned kind)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			if (is_gone(a, i, b, kind) && is_gone(b, k, a, kind) &&
			    !is_of_other(a, i, b) && !is_of_other(b, k, a) &&
			    same_place(&a->token[i], &b->token[k], kind))
				return true;
	return false;
}

/* Returns the number of predicate words of this kind that a has and b lacks. */
static unsigned count_gone(const struct fact_words *a, const struct fact_words *b, unsigned kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		n += is_gone(a, i, b, kind);
	return n;
}

/* Two details of one subject ("is a nurse", "is 30") stand beside each other: only a value that
 * another one of its kind replaces is a change. A thing may have several names, colours and places
 * unless the verb says that it has one. */
static bool is_changed(const struct fact_words *a, const struct fact_words *b)
{
	bool only = has_verb_of(a, single) && has_verb_of(b, single);
	bool slot = only || (a->is_equation && b->is_equation);

	if (b->adds)
		return false;
	if (only && has_changed(a, b, 0))
		return true;
	if (count_gone(a, b, 0) && count_gone(b, a, 0))
		return false;
	if (slot && (has_changed(a, b, IS_NAME) || has_changed(a, b, IS_COLOUR)))
		return true;
	/* "we meet Ana at four", "we meet Bob at five" */
	if (count_gone(a, b, IS_NAME) && count_gone(b, a, IS_NAME))
		return false;
	return has_changed(a, b, IS_NUMBER) || has_changed(a, b, IS_DATE);
}

/* What was is no more: "I am a nurse", "I was a nurse". */
static enum fact_change compare_tenses(const struct fact_words *a, const struct fact_words *b)
{
	unsigned older = a->tense & ~TENSE_PRESENT, newer = b->tense & ~TENSE_PRESENT;

	if (older == newer)
		return FACT_SAME;
	return !(older & TENSE_PAST) && newer == (older | TENSE_PAST) ? FACT_UPDATE : FACT_NEW;
}

static enum fact_change compare_values(const struct fact_words *a, const struct fact_words *b)
{
	unsigned gone = lacking(a, b, 0, true) + lacking(a, b, 0, false);
	unsigned come = lacking(b, a, 0, true) + lacking(b, a, 0, false);

	/* It denies the older one, or a part of it; "I don't like coffee" denies no "I like tea".
	 */
	if (a->negated != b->negated)
		return come ? FACT_NEW : FACT_UPDATE;
	/* The older one says more. Without its number, date or name it is not the same. */
	if (!come)
		return lacking(a, b, 0, true) || !same_order(a, b) ? FACT_NEW
								   : compare_tenses(a, b);
	if (!gone)
		return b->adds ? FACT_NEW : FACT_UPDATE;
	return is_changed(a, b) ? FACT_UPDATE : FACT_NEW;
}

static bool is_ending(const struct token *t)
{
	const char *p = t->text;

	return lists_hold(dense_negations, t->text) ||
	       terms_is_hiragana(terms_next(&p, p + strlen(p)));
}

/* Returns the number of numerals and dates that a has and b lacks. *others: of the other
 * characters and words those that are no grammar. */
static unsigned count_dense(const struct fact_words *a, const struct fact_words *b,
			    unsigned *others)
{
	unsigned n = 0;

	*others = 0;
	for (unsigned i = 0; i < a->n; i++) {
		bool value = a->token[i].is & (IS_NUMBER | IS_DATE);

		if (holds(b, &a->token[i], 0))
			continue;
		n += value;
		*others += !value && !is_ending(&a->token[i]);
	}
	return n;
}

static bool same_sequence(const struct fact_words *a, const struct fact_words *b)
{
	for (unsigned i = 0; i < a->n && a->n == b->n; i++)
		if (strcmp(a->token[i].text, b->token[i].text) != 0)
			return false;
	return a->n == b->n;
}

/* Most facts of one form share most characters ("我喜欢喝茶", "我喜欢喝酒"), so nothing but a
 * numeral, a weekday or a negation may differ. */
static enum fact_change compare_dense(const struct fact_words *a, const struct fact_words *b)
{
	unsigned gone_others, come_others;
	unsigned gone = count_dense(a, b, &gone_others), come = count_dense(b, a, &come_others);

	if (same_sequence(a, b))
		return FACT_SAME;
	if (gone_others || come_others || (!gone != !come))
		return FACT_NEW;
	return gone || a->negated != b->negated ? FACT_UPDATE : FACT_NEW;
}

static enum fact_change compare_words(const struct fact_words *a, const struct fact_words *b)
{
	if (a->dense || b->dense)
		return compare_dense(a, b);
	if (same_words(a, b)) {
		if (a->negated != b->negated)
			return is_part(a, b) || is_turned(a, b) ? FACT_UPDATE : FACT_NEW;
		return same_order(a, b)	  ? compare_tenses(a, b)
		       : is_swapped(a, b) ? FACT_UPDATE
					  : FACT_NEW;
	}
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
	/* The same words in another order: "Ana beats Bob". The encoder knows no dense script. */
	if (change == FACT_NEW && meaning && !a.dense && !b.dense && !same_words(&a, &b))
		change = paraphrase_compare(older, newer, meaning);
	return change == FACT_SAME && (is_of_other_time(&a, &b) || !same_comparisons(&a, &b) ||
				       !same_values_in_order(&a, &b))
		       ? FACT_NEW
		       : change;
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
	       same_values_in_order(&a, &b) &&
	       (a.negated == b.negated || !says_the_same_of(&a, &b));
}

enum fact_self fact_asks_about_self(const char *question)
{
	struct fact_words f;

	read_fact(&f, question);
	if (!f.has_me)
		return FACT_SELF_NONE;
	for (unsigned i = 0; i < f.n; i++)
		if (!(f.token[i].is & IS_SELF) && !lists_hold(asking, f.token[i].text))
			return FACT_SELF_PART;
	return FACT_SELF_ALL;
}

bool fact_is_negated(const char *text)
{
	struct fact_words f;

	read_fact(&f, text);
	return f.negated;
}
