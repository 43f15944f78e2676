#include "control/offline/facts.h"

#include "control/offline/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Stop words: they do not tell which fact is meant. */
static const char *const light[] = {
	"a",	 "about", "an",	  "and", "are",	 "at",	     "by",     "colour", "did",
	"do",	 "for",	  "from", "had", "has",	 "have",     "her",    "his",	 "how",
	"i",	 "i'm",	  "in",	  "is",	 "it",	 "kind",     "know",   "me",	 "my",
	"of",	 "on",	  "our",  "say", "sort", "tell",     "that",   "the",	 "there",
	"this",	 "to",	  "was",  "we",	 "were", "what",     "what's", "when",	 "where",
	"which", "who",	  "with", "you", "your", "remember", "told",   "said",	 "favourite",
};

static bool is_light(const char *w)
{
	for (size_t i = 0; i < sizeof light / sizeof *light; i++)
		if (strcmp(light[i], w) == 0)
			return true;
	return false;
}

/* "keys" and "key" match. */
static bool same_thing(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n > m)
		return n == m + 1 && a[m] == 's' && strncmp(a, b, m) == 0;
	return strcmp(a, b) == 0 || (m == n + 1 && b[n] == 's' && strncmp(a, b, n) == 0);
}

/* Number of content words of `a` in `b`. "favourite colour" holds none but beats no match at all.
 */
static unsigned shared(const struct words *a, const struct words *b)
{
	unsigned score = 0;

	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			if (same_thing(a->w[i], b->w[k])) {
				bool half = strcmp(a->w[i], "favourite") == 0 ||
					    strcmp(a->w[i], "colour") == 0;

				score += half ? 1 : is_light(a->w[i]) ? 0 : 4;
				break;
			}
	return score;
}

bool facts_share(const char *question, const char *text)
{
	struct words q, w;

	words_split(&q, question);
	words_split(&w, text);
	return shared(&q, &w) > 0;
}

/* The subject of a fact: the words before "is" or "are". */
static void subject(const struct words *w, struct words *out)
{
	*out = *w;
	for (unsigned i = 0; i < w->n; i++)
		if (strcmp(w->w[i], "is") == 0 || strcmp(w->w[i], "are") == 0 ||
		    strcmp(w->w[i], "was") == 0) {
			out->n = i;
			return;
		}
}

static bool same_subject(const char *a, const char *b)
{
	struct words wa, wb, sa, sb;

	words_split(&wa, a);
	words_split(&wb, b);
	subject(&wa, &sa);
	subject(&wb, &sb);
	if (sa.n == wa.n || sa.n != sb.n)
		return false;
	for (unsigned i = 0; i < sa.n; i++)
		if (strcmp(sa.w[i], sb.w[i]) != 0)
			return false;
	return true;
}

static void drop(struct facts *f, unsigned i)
{
	memmove(&f->fact[i], &f->fact[i + 1], (f->n - i - 1) * sizeof f->fact[0]);
	f->n--;
}

void facts_add(struct facts *f, const char *text, const char *speaker)
{
	struct fact *slot;

	for (unsigned i = 0; i < f->n; i++)
		if (strcasecmp(f->fact[i].speaker, speaker) == 0 &&
		    same_subject(f->fact[i].text, text)) {
			drop(f, i);
			break;
		}
	if (f->n == FACTS_MAX)
		drop(f, 0);
	slot = &f->fact[f->n++];
	snprintf(slot->text, sizeof slot->text, "%s", text);
	snprintf(slot->speaker, sizeof slot->speaker, "%s", speaker);
}

bool facts_forget_last(struct facts *f, const char *speaker)
{
	for (unsigned i = f->n; i-- > 0;)
		if (strcasecmp(f->fact[i].speaker, speaker) == 0) {
			drop(f, i);
			return true;
		}
	return false;
}

const struct fact *facts_find(const struct facts *f, const char *question, const char *speaker)
{
	const struct fact *best = NULL;
	unsigned best_score = 0;
	struct words q, w;

	words_split(&q, question);
	for (unsigned i = f->n; i-- > 0;) {
		struct words about;
		unsigned score;

		words_split(&w, f->fact[i].text);
		subject(&w, &about);
		score = 2 * shared(&q, &w) + shared(&q, &about);
		if (score && strcasecmp(f->fact[i].speaker, speaker) == 0)
			score++;
		if (score > best_score) {
			best_score = score;
			best = &f->fact[i];
		}
	}
	return best;
}

struct turn {
	const char *from, *to;
};

static const struct turn turns[] = {
	{"my", "your"},	      {"i", "you"},	    {"i'm", "you are"},	   {"am", "are"},
	{"me", "you"},	      {"mine", "yours"},    {"our", "your"},	   {"we", "you"},
	{"i've", "you have"}, {"i'll", "you will"}, {"myself", "yourself"}};

void fact_turn_round(const char *text, char *buf, size_t size)
{
	struct words w;
	size_t k = 0;

	words_split(&w, text);
	buf[0] = '\0';
	for (unsigned i = 0; i < w.n && k < size; i++) {
		const char *word = w.w[i];

		for (size_t t = 0; t < sizeof turns / sizeof *turns; t++)
			if (strcmp(word, turns[t].from) == 0)
				word = turns[t].to;
		k += (size_t)snprintf(buf + k, size - k, "%s%s", i ? " " : "", word);
	}
}

void fact_say(const struct fact *f, const char *to, char *buf, size_t size)
{
	char turned[2 * FACT_SIZE];

	fact_turn_round(f->text, turned, sizeof turned);
	if (!f->speaker[0] || strcasecmp(f->speaker, to) == 0)
		snprintf(buf, size, "You told me that %s.", turned);
	else
		snprintf(buf, size, "%s told me: %s.", f->speaker, f->text);
}
