#include "control/memory/paraphrase.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/lists.h"
#include "control/memory/values.h"

enum { WORDS = 48, WORD_SIZE = 24, TEXT_SIZE = WORDS * WORD_SIZE, STEM_MIN = 4 };

/* Cosines; they did best on half of the pairs in tests/memory. */
#define LIKE_WHOLE   0.75 /* of the statements */
#define LIKE_REST    0.60 /* of the words that only one of them has */
#define LIKE_WORD    0.85 /* the same where each side has one such word */
#define LIKE_ADDED   0.85 /* of the statements, where only one side has such words */
#define LIKE_NEGATED 0.90 /* of the statements, where one has a negation */
#define LIKE_CHANGED 0.80 /* of the statements, where numbers or dates differ */

struct word {
	char text[WORD_SIZE];
	bool number, date;
	bool name;
};

struct statement {
	struct word word[WORDS];
	size_t n;
	bool negated, changes;
};

static const char *const negations[] = {"not",	   "no",      "never", "none", "nobody",
					"nothing", "without", "nor",   NULL};
/* Words by which people tell that something is another way now. */
static const char *const changes[] = {
	"now",	    "anymore", "longer",      "instead", "cancelled", "sorry",	 "switched",
	"since",    "stepped", "until",	      "called",	 "moved",     "dropped", "off",
	"back",	    "lately",  "pulled",      "turned",	 "turns",     "again",	 "rebooked",
	"migrated", "joined",  "broke",	      "died",	 "extension", "signed",	 "voted",
	"these",    "gave",    "took",	      "taken",	 "pushed",    "started", "actually",
	"left",	    "already", "transferred", "paid",	 NULL};
static const char *const fillers[] = {
	"a",	"an",	  "the",  "of",	   "to",    "in",   "at",  "on",    "for",  "and",  "that",
	"this", "it",	  "its",  "with",  "by",    "from", "as",  "so",    "do",   "does", "did",
	"just", "really", "very", "about", "there", "is",   "are", "was",   "were", "be",   "been",
	"have", "has",	  "had",  "will",  "would", "i",    "my",  "me",    "we",   "our",  "us",
	"you",	"your",	  "he",	  "she",   "they",  "his",  "her", "their", "am",   "s",    "m",
	"ve",	"d",	  "re",	  "ll",	   "got",   NULL};
/* Pairs that mean the same. */
static const char *const same[][2] = {
	{"begin", "start"},    {"begins", "starts"},	{"close", "shut"},
	{"closes", "shuts"},   {"scared", "afraid"},	{"finished", "completed"},
	{"bit", "little"},     {"flight", "plane"},	{"motorbike", "motorcycle"},
	{"flat", "apartment"}, {"kids", "children"},	{"mum", "mother"},
	{"dad", "father"},     {"film", "movie"},	{"big", "large"},
	{"bike", "bicycle"},   {"phone", "mobile"},	{"ill", "sick"},
	{"job", "work"},       {"lift", "elevator"},	{"leave", "depart"},
	{"gave", "given"},     {"holiday", "vacation"}, {"car", "automobile"},
};

/* ---- reading ---- */

static bool is_value(const struct word *w)
{
	return w->number || w->date;
}

static void add_word(struct statement *s, const char *word, bool name)
{
	struct word *w;

	if (lists_hold(negations, word))
		s->negated = !s->negated;
	if (lists_hold(changes, word))
		s->changes = true;
	if (lists_hold(fillers, word) || lists_hold(negations, word) || s->n == WORDS)
		return;
	w = &s->word[s->n++];
	snprintf(w->text, sizeof w->text, "%s", word);
	w->date = lists_hold(lists_dates, word);
	w->number = !w->date &&
		    (lists_hold(lists_numbers, word) || strpbrk(word, "0123456789") ||
		     (strcmp(word, "one") == 0 && s->n > 1 && is_value(&s->word[s->n - 2])));
	w->name = name;
}

static void read_statement(struct statement *s, const char *text)
{
	char plain[VALUES_TEXT];
	bool first = true;

	values_write(plain, text);
	*s = (struct statement){0};
	for (const char *p = plain; *p;) {
		char word[WORD_SIZE] = "";
		bool capital = isupper((unsigned char)*p);
		size_t n = 0;

		if (!isalnum((unsigned char)*p)) {
			p++;
			continue;
		}
		for (; isalnum((unsigned char)*p) || ((unsigned char)*p & 0x80); p++)
			if (n < sizeof word - 1)
				word[n++] = (char)tolower((unsigned char)*p);
		add_word(s, word, capital && !first && n > 1);
		first = false;
	}
}

/* ---- comparing ---- */

/* "retires", "retiring", "retired" share their beginning. */
static bool share_stem(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), least = na < nb ? na : nb;
	size_t stem = least > STEM_MIN + 2 ? least - 2 : STEM_MIN;

	return least >= STEM_MIN && strncmp(a, b, stem) == 0;
}

static bool are_equal(const struct word *a, const struct word *b)
{
	if (strcmp(a->text, b->text) == 0)
		return true;
	if (a->name || b->name)
		return false;
	if (is_value(a) || is_value(b))
		return lists_hold(lists_dates, a->text) && lists_hold(lists_dates, b->text) &&
		       share_stem(a->text, b->text);
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		if ((strcmp(a->text, same[i][0]) == 0 && strcmp(b->text, same[i][1]) == 0) ||
		    (strcmp(a->text, same[i][1]) == 0 && strcmp(b->text, same[i][0]) == 0))
			return true;
	return share_stem(a->text, b->text);
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n > k && strcmp(text + n - k, end) == 0;
}

/* "works", "worked": one word at two times; a participle may be an adjective ("interesting"). */
static bool is_at_other_time(const struct word *a, const struct word *b)
{
	return share_stem(a->text, b->text) && ends_in(a->text, "ed") != ends_in(b->text, "ed") &&
	       !ends_in(a->text, "ing") && !ends_in(b->text, "ing");
}

static bool used_to(const struct statement *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->word[i].text, "used") == 0)
			return true;
	return false;
}

/* What was is not what is, however near both are in meaning. */
static bool are_of_other_times(const struct statement *a, const struct statement *b)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			if (is_at_other_time(&a->word[i], &b->word[k]))
				return true;
	return used_to(a) != used_to(b);
}

/* The words of a that b lacks. */
struct rest {
	char text[TEXT_SIZE];
	size_t words, numbers, dates, names;
};

static void take_rest(struct rest *r, const struct statement *a, const struct statement *b)
{
	size_t at = 0;

	*r = (struct rest){0};
	for (size_t i = 0; i < a->n; i++) {
		bool has = false;

		for (size_t k = 0; k < b->n && !has; k++)
			has = are_equal(&a->word[i], &b->word[k]);
		if (has)
			continue;
		r->words++;
		r->numbers += a->word[i].number;
		r->dates += a->word[i].date;
		r->names += a->word[i].name;
		at += (size_t)snprintf(r->text + at, sizeof r->text - at, "%s%s", at ? " " : "",
				       a->word[i].text);
	}
}

static enum fact_change compare_rests(const struct rest *a, const struct rest *b, double whole,
				      const struct fact_meaning *m)
{
	double least = a->words == 1 && b->words == 1 ? LIKE_WORD : LIKE_REST;

	if (!a->words || !b->words)
		return a->words + b->words == 0 || whole >= LIKE_ADDED ? FACT_SAME : FACT_NEW;
	return m->likenessh(a->text, b->text, m->arg) >= least ? FACT_SAME : FACT_NEW;
}

static size_t count_values(const struct rest *r)
{
	return r->numbers + r->dates;
}

/* Nothing differs but a number that another one replaces, or a date that another one replaces: "on
 * Friday" and "at four" are two details of one meeting. */
static bool are_changed(const struct rest *gone, const struct rest *come)
{
	return count_values(gone) == gone->words && count_values(come) == come->words &&
	       ((gone->numbers && come->numbers) || (gone->dates && come->dates));
}

enum fact_change paraphrase_compare(const char *older, const char *newer,
				    const struct fact_meaning *m)
{
	struct statement a, b;
	struct rest gone, come;
	double whole = m->likenessh(older, newer, m->arg);

	read_statement(&a, older);
	read_statement(&b, newer);
	take_rest(&gone, &a, &b);
	take_rest(&come, &b, &a);
	/* Of another script nothing was read. */
	if (!a.n || !b.n || whole < LIKE_WHOLE || gone.names || come.names)
		return FACT_NEW;
	if (count_values(&gone) || count_values(&come))
		return whole >= LIKE_CHANGED && a.negated == b.negated && are_changed(&gone, &come)
			       ? FACT_UPDATE
			       : FACT_NEW;
	if ((b.changes && !a.changes) || are_of_other_times(&a, &b))
		return FACT_NEW;
	/* "smaller", "bigger" */
	if (gone.words == 1 && come.words == 1 && ends_in(gone.text, "er") &&
	    ends_in(come.text, "er"))
		return FACT_NEW;
	if (a.negated != b.negated && (whole < LIKE_NEGATED || !gone.words || !come.words))
		return FACT_NEW;
	return compare_rests(&gone, &come, whole, m);
}
