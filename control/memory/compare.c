#include "control/memory/compare.h"

#include <string.h>

#include "control/memory/fact_words.h"
#include "control/memory/lists.h"
#include "control/memory/paraphrase.h"
#include "control/memory/terms.h"

/* Of a question about somebody; plurals as trim_plural leaves them. */
static const char *const asking[] = {"what", "who",   "you",  "know",	    "remember", "tell",
				     "told", "say",   "said", "everything", "anything", "something",
				     "all",  "think", "can",  "could",	    NULL};
/* Words that turn what a value or the order of two things means; limits do before a number. */
static const char *const comparisons[] = {"than",  "more",   "less",  "fewer",
					  "least", "before", "after", NULL};
static const char *const limits[] = {"over", "under", "above", "below", NULL};

/* What somebody wishes, tries or fears is not so; words as trim_plural leaves them. */
static const char *const wishes[] = {
	"want",	     "wanted",	    "hope",	   "hoping",  "hoped",	  "plan",     "planning",
	"planned",   "wish",	    "try",	   "trying",  "tried",	  "training", "think",
	"thinking",  "consider",    "considering", "dream",   "dreaming", "apply",    "applying",
	"applied",   "intend",	    "aim",	   "almost",  "nearly",	  "maybe",    "perhaps",
	"probably",  "possibly",    "might",	   "scared",  "afraid",	  "worried",  "fear",
	"searching", "m\u00f6chte", "hoffe",	   "suche",   "versuche", "beinahe",  "vielleicht",
	"voudrais",  "veux",	    "esp\u00e8re", "cherche", "presque",  "quiero",   "espero",
	"busco",     "casi",	    NULL};
/* They are wishes behind "would". */
static const char *const likings[] = {"like", "love", "prefer", NULL};
/* Another one of these turns what stands behind it. */
static const char *const directions[] = {"from", "to", "until", "till", "near", "by", NULL};

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

static bool has_wish(const struct fact_words *f)
{
	return holds_any(f, wishes) || ((f->tense & TENSE_WISH) && holds_any(f, likings));
}

/* The k-th token of this text, from 0. */
static const struct token *find_token(const struct fact_words *f, const char *text, unsigned k)
{
	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->token[i].text, text) == 0 && k-- == 0)
			return &f->token[i];
	return NULL;
}

/* "to work" is no "work", as in "I have to work". Values lose any preposition. */
static bool is_infinitive(const struct token *t)
{
	return !(t->is & IS_VALUE) && strcmp(t->preposition, "to") == 0;
}

/* Both stand behind the same preposition, as far as they have one: "to Rome", "from Rome". strict:
 * nor is "with Ana" the same as "for Ana". */
static bool same_prepositions(const struct fact_words *a, const struct fact_words *b, bool strict)
{
	for (unsigned i = 0, k = 0; i < a->n; i++, k = 0) {
		const struct token *ta = &a->token[i], *tb;
		bool lost;

		for (unsigned j = 0; j < i; j++)
			k += strcmp(a->token[j].text, ta->text) == 0;
		tb = find_token(b, ta->text, k);
		if (!tb || strcmp(ta->preposition, tb->preposition) == 0)
			continue;
		lost = !ta->preposition[0] || !tb->preposition[0];
		if (strict ? !lost || is_infinitive(ta) || is_infinitive(tb)
			   : !lost && (lists_hold(directions, ta->preposition) ||
				       lists_hold(directions, tb->preposition)))
			return false;
	}
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
	bool only = has_verb_of(a, fact_single) && has_verb_of(b, fact_single);
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

/* The words that the older one has beside those of the newer one are details at its end ("with milk
 * and honey") or colours. Others may turn what it says: "I have a broken arm", "I am almost a
 * doctor", "only when drunk". */
static bool only_details_gone(const struct fact_words *a, const struct fact_words *b)
{
	bool detail = false;

	for (unsigned i = 0; i < a->n; i++) {
		bool gone = !(a->token[i].is & IS_SUBJECT) && !holds(b, &a->token[i], 0);

		if (gone ? !detail && !a->token[i].preposition[0] && !(a->token[i].is & IS_COLOUR)
			 : detail)
			return false;
		detail = detail || (gone && a->token[i].preposition[0]);
	}
	return true;
}

/* Each word of b stands in a, which has the same or others that are no mere verb: without them it
 * is another statement, however near both are in meaning. */
static bool says_less(const struct fact_words *a, const struct fact_words *b)
{
	unsigned others = 0, verbs = 0;

	for (unsigned i = 0; i < b->n; i++)
		if (!holds(a, &b->token[i], 0) && !holds(a, &b->token[i], IS_SUBJECT))
			return false;
	for (unsigned i = 0; i < a->n; i++) {
		const struct token *t = &a->token[i];
		bool gone = !holds(b, t, 0) && !holds(b, t, IS_SUBJECT);

		verbs += gone && (t->is & IS_VERB) && !lists_hold(wishes, t->text);
		others += gone && (!(t->is & IS_VERB) || lists_hold(wishes, t->text));
	}
	return others || !verbs;
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
		return lacking(a, b, 0, true) || !same_order(a, b) || !only_details_gone(a, b)
			       ? FACT_NEW
			       : compare_tenses(a, b);
	if (!gone)
		return b->adds || has_wish(a) != has_wish(b) ? FACT_NEW : FACT_UPDATE;
	return is_changed(a, b) ? FACT_UPDATE : FACT_NEW;
}

static bool is_ending(const struct token *t)
{
	const char *p = t->text;

	return lists_hold(fact_dense_negations, t->text) ||
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
	if (has_verb_of(a, fact_parts) && has_verb_of(b, fact_parts) && !lacking(a, b, 0, false) &&
	    !lacking(b, a, 0, false))
		return FACT_UPDATE;
	return FACT_NEW;
}

/* alike: both have the same words, of which less may differ. */
static bool may_say_the_same(const struct fact_words *a, const struct fact_words *b, bool alike)
{
	return !is_of_other_time(a, b) && same_comparisons(a, b) && same_values_in_order(a, b) &&
	       has_wish(a) == has_wish(b) && same_prepositions(a, b, alike && !a->dense);
}

enum fact_change fact_compare(const char *older, const char *newer, bool same_speaker,
			      const struct fact_meaning *meaning)
{
	struct fact_words a, b;
	enum fact_change change;

	fact_words_read(&a, older);
	fact_words_read(&b, newer);
	if (!a.n || !b.n || ((a.has_self || b.has_self) && !same_speaker))
		return FACT_NEW;
	change = compare_words(&a, &b);
	/* The same words in another order: "Ana beats Bob". The encoder knows no dense script. */
	if (change == FACT_NEW && meaning && !a.dense && !b.dense && !says_less(&a, &b))
		change = paraphrase_compare(older, newer, meaning);
	return change == FACT_SAME && !may_say_the_same(&a, &b, says_less(&a, &b)) ? FACT_NEW
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

	fact_words_read(&a, older);
	fact_words_read(&b, newer);
	return a.n && b.n && holds_values(&a, &b) && holds_values(&b, &a) &&
	       same_values_in_order(&a, &b) && same_prepositions(&a, &b, false) &&
	       has_wish(&a) == has_wish(&b) &&
	       (a.negated == b.negated || !says_the_same_of(&a, &b));
}

enum fact_self fact_asks_about_self(const char *question)
{
	struct fact_words f;

	fact_words_read(&f, question);
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

	fact_words_read(&f, text);
	return f.negated;
}
