#include "control/memory/whose.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "control/memory/function_words.h"
#include "control/memory/lists.h"
#include "control/memory/name.h"
#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/memory/whose.def"

enum {
	WORDS_MAX = 64,
	NAMES_MAX = 8,
	OWNED_MIN = 3,
	STEM_MIN = 2,	/* letters of a name before its ending */
	REPORT_NEAR = 3 /* words between "I" and "heard", with the latter */
};

struct word {
	char text[TERM_MAX];	 /* in lower case */
	bool capital, first;	 /* of its sentence */
	bool clause;		 /* it is the first after a comma or the like, or of its sentence */
	bool owner;		 /* an apostrophe makes it one: "Lena's", "Jonas'" */
	bool cyrillic, declines; /* names have endings there */
	bool empty;		 /* it says nothing of a subject */
};

struct statement {
	size_t n;
	struct word word[WORDS_MAX];
	function_languages languages;
	bool languages_known;
	/* Of whom it tells, by places of words; self: of its author. */
	size_t name[NAMES_MAX], names;
	bool self, has_self; /* has_self: it says "I" or "my" anywhere */
};

/* control/memory/whose.def says what they are. */
static const char *const selves[] = {WHOSE_SELVES, NULL};
static const char *const english_selves[] = {WHOSE_ENGLISH_SELVES, NULL};
static const char *const spanish_selves[] = {WHOSE_SPANISH_SELVES, NULL};
static const char *const french_selves[] = {WHOSE_FRENCH_SELVES, NULL};
static const char *const italian_selves[] = {WHOSE_ITALIAN_SELVES, NULL};
static const char *const polish_selves[] = {WHOSE_POLISH_SELVES, NULL};
static const char *const portuguese_selves[] = {WHOSE_PORTUGUESE_SELVES, NULL};
static const struct {
	function_languages languages; /* 0: English */
	const char *const *words;
} selves_of[] = {{0, english_selves},
		 {1u << FUNCTION_SPANISH, spanish_selves},
		 {1u << FUNCTION_FRENCH, french_selves},
		 {1u << FUNCTION_ITALIAN, italian_selves},
		 {1u << FUNCTION_POLISH, polish_selves},
		 {1u << FUNCTION_PORTUGUESE, portuguese_selves}};
static const char *const reports[] = {WHOSE_REPORTS, NULL};
static const char *const articles[] = {WHOSE_ARTICLES, NULL};
static const char *const of_somebody[] = {WHOSE_OF_SOMEBODY, NULL};
static const char *const verbs[] = {WHOSE_VERBS, NULL};
static const char *const doings[] = {WHOSE_DOINGS, NULL};
static const char *const nobody[] = {WHOSE_NOBODY, NULL};
static const char *const of_things[] = {WHOSE_OF_THINGS, NULL};
static const char *const days[] = {WHOSE_DAYS, NULL};
static const char *const endings[] = {WHOSE_ENDINGS, NULL};
static const char *const cyrillic_verb_endings[] = {WHOSE_CYRILLIC_VERB_ENDINGS, NULL};

/* ---- reading ---- */

static bool ends_with(const char *text, const char *ending)
{
	size_t n = strlen(text), k = strlen(ending);

	return n >= k && strcmp(text + n - k, ending) == 0;
}

static bool ends_with_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (ends_with(text, *list))
			return true;
	return false;
}

/* At the end of a word. Moves *p past "'s". */
static bool read_owner(const char **p, const char *end, const char *word)
{
	const char *at = *p, *after;

	if (at == end || !terms_is_apostrophe(terms_next(&at, end)))
		return false;
	after = at;
	if (at < end && *at == 's') {
		after++;
		if (after < end && terms_is_word(terms_next(&after, end)))
			return false;
		*p = at + 1;
		return true;
	}
	return (at == end || !terms_is_word(terms_next(&after, end))) && ends_with(word, "s");
}

static void add_word(struct statement *s, const char *from, size_t n, bool first, bool clause)
{
	struct word *w = &s->word[s->n];
	const char *p = from;
	uint32_t c = terms_next(&p, from + n);

	if (s->n == WORDS_MAX || n >= sizeof w->text || terms_is_dense(c))
		return;
	*w = (struct word){
		.first = first, .clause = first || clause, .capital = terms_lower(c) != c};
	w->declines = w->cyrillic = c >= 0x400 && c <= 0x4ff;
	terms_fold(w->text, from, n);
	w->text[n] = '\0';
	s->n++;
}

static bool ends_clause(uint32_t c)
{
	return c == 0x2013 || c == 0x2014 || (c < 0x80 && strchr(",;:()", (int)c));
}

static void split(struct statement *s, const char *text)
{
	const char *p = text, *end = text + strlen(text);
	bool first = true, clause = true;

	while (p < end) {
		const char *from = p, *at;
		size_t before = s->n;
		uint32_t c = terms_next(&p, end);

		if (!terms_is_word(c)) {
			first = first || (c < 0x80 && strchr(".?!", (int)c));
			clause = clause || ends_clause(c);
			continue;
		}
		for (at = p; p < end && terms_is_word(terms_next(&at, end));)
			p = at;
		add_word(s, from, (size_t)(p - from), first, clause);
		first = clause = false;
		if (s->n > before)
			s->word[before].owner = read_owner(&p, end, s->word[before].text);
	}
}

static void find_languages(struct statement *s)
{
	struct function_count c = {0};

	for (size_t i = 0; i < s->n && !s->languages_known; i++)
		function_words_count(&c, s->word[i].text, strlen(s->word[i].text));
	if (!s->languages_known)
		s->languages = function_words_guess(&c);
	s->languages_known = true;
}

/* The languages of a text take long to find: only where they decide. */
static bool is_self(struct statement *s, const char *word)
{
	bool in = lists_hold(selves, word);

	for (size_t i = 0; i < sizeof selves_of / sizeof selves_of[0] && !in; i++) {
		if (!lists_hold(selves_of[i].words, word))
			continue;
		find_languages(s);
		in = selves_of[i].languages ? (s->languages & selves_of[i].languages) != 0
					    : !s->languages;
	}
	return in;
}

static void find_empty(struct statement *s)
{
	find_languages(s);
	for (size_t i = 0; i < s->n; i++) {
		struct word *w = &s->word[i];
		size_t n = strlen(w->text);

		w->declines = w->declines || (s->languages & (1u << FUNCTION_POLISH));
		w->empty = terms_is_stop_word(w->text, n) || is_self(s, w->text) ||
			   function_words_hold(s->languages, w->text, n) ||
			   lists_hold(lists_dates, w->text) || lists_hold(lists_numbers, w->text) ||
			   lists_hold(days, w->text);
	}
}

/* ---- names ---- */

static const char *text_before(const struct statement *s, size_t i)
{
	return i && !s->word[i].first ? s->word[i - 1].text : "";
}

static const char *text_after(const struct statement *s, size_t i)
{
	return i + 1 < s->n && !s->word[i + 1].first ? s->word[i + 1].text : "";
}

static bool is_german(const struct statement *s)
{
	return s->languages & (1u << FUNCTION_GERMAN);
}

/* "Lenas Termin": German has no apostrophe there. */
static bool is_genitive(const struct statement *s, size_t i)
{
	return is_german(s) && s->word[i].capital && ends_with(s->word[i].text, "s") &&
	       *text_after(s, i) && s->word[i + 1].capital && !s->word[i + 1].empty;
}

static bool is_owner(const struct statement *s, size_t i)
{
	const struct word *w = &s->word[i];

	if (is_genitive(s, i))
		return true;
	return w->owner && strlen(w->text) >= OWNED_MIN;
}

static bool is_verb(const char *word)
{
	return lists_hold(doings, word) || lists_hold(verbs, word);
}

static bool precedes_verb(const struct statement *s, size_t i)
{
	const char *after = text_after(s, i);

	/* Any noun has a capital in German, and an adjective may stand before it. */
	if (is_german(s) && i && !s->word[i].first && !s->word[i - 1].empty)
		return false;
	return s->word[i].cyrillic ? ends_with_any(after, cyrillic_verb_endings) : is_verb(after);
}

/* "lena has a dog", as the embedded recognition writes it. */
static bool is_small(const struct statement *s, size_t i)
{
	const struct word *w = &s->word[i];

	return (w->first || (i && s->word[i - 1].empty)) && strlen(w->text) >= OWNED_MIN &&
	       lists_hold(doings, text_after(s, i)) && !name_is_everyday(w->text);
}

static bool is_somebody(const struct statement *s, size_t i)
{
	const struct word *w = &s->word[i];
	const char *before = text_before(s, i);

	if (w->empty || lists_hold(articles, before) || lists_hold(nobody, w->text))
		return false;
	if (is_owner(s, i))
		return true;
	if (!w->capital)
		return is_small(s, i);
	if (w->first && name_is_everyday(w->text))
		return false;
	if (w->cyrillic && !w->first)
		return !lists_hold(of_things, before);
	return (!w->first && lists_hold(of_somebody, before)) || precedes_verb(s, i);
}

/* What is_somebody takes for one in some language; most statements have none. */
static bool may_be_somebody(const struct statement *s, size_t i)
{
	const struct word *w = &s->word[i];
	const char *after = text_after(s, i);

	if (w->owner || lists_hold(doings, after))
		return true;
	return w->capital && ((w->cyrillic && !w->first) || is_verb(after) ||
			      lists_hold(of_somebody, text_before(s, i)) ||
			      (w->cyrillic && ends_with_any(after, cyrillic_verb_endings)) ||
			      (*after && s->word[i + 1].capital && ends_with(w->text, "s")));
}

/* The function words of a text take longer to look up than all else. */
static void read_statement(struct statement *s, const char *text)
{
	bool may = false;

	*s = (struct statement){0};
	split(s, text);
	for (size_t i = 0; i < s->n && !may; i++)
		may = may_be_somebody(s, i);
	if (may)
		find_empty(s);
	for (size_t i = 0; may && i < s->n && s->names < NAMES_MAX; i++)
		if (is_somebody(s, i))
			s->name[s->names++] = i;
}

static void find_self(struct statement *s)
{
	bool first;

	for (size_t i = 0; i < s->n && !s->has_self; i++)
		s->has_self = is_self(s, s->word[i].text);
	if (!s->has_self || s->names || s->n < 2)
		return;
	/* "У меня" */
	first = is_self(s, s->word[0].text);
	s->self = first || (strcmp(s->word[0].text, "у") == 0 && is_self(s, s->word[1].text));
}

/* What "The Dude" shares with a text is not "the". */
static void read_author(struct statement *s, const char *name)
{
	size_t n = 0;

	*s = (struct statement){0};
	split(s, name);
	for (size_t i = 0; i < s->n; i++)
		if (!terms_is_stop_word(s->word[i].text, strlen(s->word[i].text)))
			s->word[n++] = s->word[i];
	s->n = n;
}

/* ---- comparing ---- */

/* Of a letter of several bytes. */
static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static bool is_ending(const char *rest)
{
	return !*rest || lists_hold(endings, rest);
}

/* "Kasia" and "Kasi", "Сергей" and "Сергея": what both begin with has an ending of its own in
 * each. */
static bool same_declined(const char *a, const char *b)
{
	size_t n = 0, letters = 0;

	for (; a[n] && a[n] == b[n]; n++)
		letters += !is_inside(a[n]);
	/* Both letters may begin with the same byte. */
	for (; is_inside(a[n]) || is_inside(b[n]); n--)
		letters -= !is_inside(a[n - 1]);
	while (letters >= STEM_MIN && !(is_ending(a + n) && is_ending(b + n))) {
		do {
			n--;
		} while (is_inside(a[n]));
		letters--;
	}
	return letters >= STEM_MIN;
}

/* "Lena" and "Lenas", "Лена" and "Лены" are one name. */
static bool same_name(const struct word *a, const struct word *b)
{
	size_t na = strlen(a->text), nb = strlen(b->text), least = na < nb ? na : nb;

	if (a->declines || b->declines)
		return strcmp(a->text, b->text) == 0 || same_declined(a->text, b->text);
	if (memcmp(a->text, b->text, least) != 0)
		return false;
	return na == nb || (na + nb == 2 * least + 1 && (na > nb ? a : b)->text[least] == 's');
}

static bool mentions(const struct statement *s, const struct word *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (same_name(&s->word[i], name))
			return true;
	return false;
}

static bool mentions_any(const struct statement *s, const struct statement *names)
{
	for (size_t i = 0; i < names->names; i++)
		if (mentions(s, &names->word[names->name[i]]))
			return true;
	return false;
}

/* Whoever writes for the author tells of them by their name. */
static void find_author(struct statement *s, const struct statement *author)
{
	for (size_t i = 0; i < author->n; i++) {
		if (!mentions(s, &author->word[i]))
			continue;
		s->has_self = true;
		for (size_t k = 0; k < s->names; k++)
			s->self = s->self || same_name(&s->word[s->name[k]], &author->word[i]);
	}
}

bool whose_differ(const char *older, const char *newer, const char *author)
{
	struct statement a, b, by;

	read_statement(&a, older);
	read_statement(&b, newer);
	/* Both tell of their author, or one of nobody. */
	if (!a.names && !b.names)
		return false;
	find_self(&a);
	find_self(&b);
	read_author(&by, author);
	find_author(&a, &by);
	find_author(&b, &by);
	return (a.names || a.self) && (b.names || b.self) && !(a.self && b.has_self) &&
	       !(b.self && a.has_self) && !mentions_any(&a, &b) && !mentions_any(&b, &a);
}

bool whose_is_asked(const char *question, const char *text, const char *author)
{
	struct statement q, t, by;

	read_statement(&q, question);
	read_statement(&t, text);
	if (mentions_any(&q, &t))
		return true;
	read_author(&by, author);
	find_self(&t);
	find_author(&t, &by);
	if (!t.self)
		return false;
	find_self(&q);
	find_author(&q, &by);
	return q.has_self;
}

/* "I heard", "she told me", "ich glaube" */
static bool is_report(struct statement *s, size_t self)
{
	if (self && lists_hold(reports, s->word[self - 1].text))
		return true;
	for (size_t i = self + 1; i < s->n && i <= self + REPORT_NEAR && !s->word[i].clause; i++)
		if (is_self(s, s->word[i].text))
			return false;
		else if (lists_hold(reports, s->word[i].text))
			return true;
	return false;
}

/* What follows the name, until the clause ends or its author speaks of themselves, has a word of
 * the older statement: so it tells the same of this person ("Mira's bike", "Mira has a bike"). */
static bool tells_of_same(struct statement *s, size_t name, const char *older)
{
	unsigned shared;

	for (size_t i = name + 1; i < s->n && !s->word[i].clause; i++) {
		if (is_self(s, s->word[i].text))
			return false;
		slice_count_words(s->word[i].empty ? "" : s->word[i].text, older, &shared);
		if (shared)
			return true;
	}
	return false;
}

bool whose_takes_over(const char *text, const char *older, const char *name)
{
	struct statement s, by;
	bool takes = false;

	if (!name_told(text, name) || name_speaks(text, name))
		return false;
	read_statement(&s, text);
	find_empty(&s);
	read_author(&by, name);
	for (size_t i = 0; i < s.n; i++) {
		if (mentions(&by, &s.word[i]) && tells_of_same(&s, i, older))
			return false;
		takes = takes || (is_self(&s, s.word[i].text) && !is_report(&s, i));
	}
	return takes;
}
