#include "control/music/match.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/terms.h"
#include "control/music/track.h"
#include "proto/base/utf8.h"

enum {
	WORD_ALIKE = 620, /* less similar words are different ones */
	SHORT = 6,	  /* letters of words with one mistake at most: "hello" is not "yellow" */
	PREFIX = 880,	  /* "bohem" for "bohemian" */
	LIGHT_SHARE = 5,  /* a light word counts for this part of its length */
	COVERAGE_PART = 750,
	TITLE_PART = 150,
	COVERED = 900, /* of a query: nothing of weight is missing, as in "radio head" */
};

/* What a search may compare, in pairs of letters: some 30 ms. A search among 500 usual tracks takes
 * a tenth of it. */
enum { WORK = 16 << 20 };

struct word {
	uint32_t letters[MUSIC_MATCH_LETTERS];
	unsigned n;
	unsigned weight;
};

struct words {
	unsigned n;
	struct word word[MUSIC_MATCH_WORDS];
};

/* Latin letters with a mark, each followed by what it becomes. */
static const struct {
	const char *marked, *plain;
} marks[] = {
	{"àáâãäåāăą", "a"},  {"çćĉċč", "c"},	 {"ďđð", "d"}, {"èéêëēĕėęě", "e"}, {"ĝğġģ", "g"},
	{"ĥħ", "h"},	     {"ìíîïĩīĭįı", "i"}, {"ĵ", "j"},   {"ķ", "k"},	   {"ĺļľŀł", "l"},
	{"ñńņňŋ", "n"},	     {"òóôõöøōŏő", "o"}, {"ŕŗř", "r"}, {"śŝşšș", "s"},	   {"ţťŧț", "t"},
	{"ùúûüũūŭůűų", "u"}, {"ŵ", "w"},	 {"ýÿŷ", "y"}, {"źżž", "z"},	   {"æ", "ae"},
	{"œ", "oe"},	     {"ß", "ss"},	 {"þ", "th"},  {"ё", "е"},	   {"&", "and"},
};

static const char *find_plain(uint32_t c)
{
	char letter[8];

	if (c != '&' && (c < 0xc0 || (c > 0x24f && c != 0x451)))
		return NULL;
	letter[utf8_write(letter, c)] = '\0';
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (strstr(marks[i].marked, letter))
			return marks[i].plain;
	return NULL;
}

/* Apostrophes and combining accents: "don't" is one word. */
static bool is_dropped(uint32_t c)
{
	return c == '\'' || c == 0x2019 || c == 0x2bc || c == '`' || (c >= 0x300 && c <= 0x36f);
}

size_t music_fold(char to[MUSIC_FOLDED_MAX], const char *text)
{
	const char *end = text + strlen(text);
	size_t n = 0;

	while (text < end && n < MUSIC_FOLDED_MAX - 8) {
		uint32_t c = terms_next(&text, end);
		const char *plain;

		if (c >= 0xff01 && c <= 0xff5e) /* full-width forms */
			c -= 0xfee0;
		c = terms_lower(c);
		plain = find_plain(c);
		if (plain) {
			memcpy(to + n, plain, strlen(plain));
			n += strlen(plain);
		} else if (is_dropped(c)) {
			continue;
		} else if (terms_is_word(c)) {
			n += utf8_write(to + n, c);
		} else if (n && to[n - 1] != ' ') {
			to[n++] = ' ';
		}
	}
	while (n && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
	return n;
}

static bool is_light(const struct word *w)
{
	static const char *const light[] = {
		"the",	  "a",	   "an",	"by",	    "of",   "and",   "feat",  "ft",
		"der",	  "le",	   "la",	"some",	    "song", "songs", "music", "track",
		"tracks", "play",  "please",	"live",	    "best", "hit",   "hits",  "mix",
		"remix",  "album", "something", "anything", "stuff"};

	for (size_t i = 0; i < sizeof light / sizeof light[0]; i++) {
		unsigned n = 0;

		while (n < w->n && light[i][n] && w->letters[n] == (uint32_t)light[i][n])
			n++;
		if (n == w->n && !light[i][n])
			return true;
	}
	return false;
}

static void end_word(struct words *w)
{
	struct word *last = &w->word[w->n];

	if (!last->n)
		return;
	last->weight = is_light(last) ? last->n : last->n * LIGHT_SHARE;
	w->n++;
}

static bool begin_word(struct words *w)
{
	if (w->n == MUSIC_MATCH_WORDS)
		return false;
	w->word[w->n].n = 0;
	return true;
}

/* Splits a folded text, and dense scripts into overlapping pairs. */
static void split_words(struct words *w, const char *folded)
{
	const char *end = folded + strlen(folded);
	uint32_t before = ' ';

	w->n = 0;
	while (folded < end && begin_word(w)) {
		struct word *word = &w->word[w->n];

		while (folded < end) {
			const char *at = folded;
			uint32_t c = terms_next(&folded, end);
			bool dense = terms_is_dense(c), dense_before = terms_is_dense(before);

			if (c == ' ' || (word->n && dense != dense_before)) {
				folded = c == ' ' ? folded : at;
				before = ' ';
				break;
			}
			before = c;
			if (word->n < MUSIC_MATCH_LETTERS)
				word->letters[word->n++] = c;
			if (dense && word->n == 2) {
				const char *next = folded;

				if (folded < end && terms_is_dense(terms_next(&next, end)))
					folded = at;
				before = ' ';
				break;
			}
		}
		end_word(w);
	}
}

static bool starts_with(const struct word *w, const struct word *start)
{
	return start->n < w->n &&
	       memcmp(w->letters, start->letters, start->n * sizeof w->letters[0]) == 0;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, changes, and swaps of neighbours. */
static unsigned measure_distance(const struct word *a, const struct word *b)
{
	unsigned rows[3][MUSIC_MATCH_LETTERS + 1];
	unsigned *older = rows[0], *old = rows[1], *row = rows[2];

	for (unsigned k = 0; k <= b->n; k++)
		old[k] = older[k] = k;
	for (unsigned i = 1; i <= a->n; i++) {
		unsigned *spare = older;

		row[0] = i;
		for (unsigned k = 1; k <= b->n; k++) {
			bool same = a->letters[i - 1] == b->letters[k - 1];

			row[k] = least(least(old[k], row[k - 1]) + 1, old[k - 1] + !same);
			if (i > 1 && k > 1 && a->letters[i - 1] == b->letters[k - 2] &&
			    a->letters[i - 2] == b->letters[k - 1])
				row[k] = least(row[k], older[k - 2] + 1);
		}
		older = old;
		old = row;
		row = spare;
	}
	return old[b->n];
}

/* Thousandths; 0 where they are different words, or no work is left. */
static unsigned compare_words(const struct word *asked, const struct word *has, unsigned *work)
{
	unsigned longer = asked->n > has->n ? asked->n : has->n, mistakes, alike;
	unsigned takes = 1 + asked->n * has->n;

	*work -= least(takes, *work);
	if (!longer || longer > 2 * least(asked->n, has->n) + 4 || !*work)
		return 0;
	mistakes = measure_distance(asked, has);
	alike = MUSIC_MATCH_FULL - MUSIC_MATCH_FULL * mistakes / longer;
	if (alike < PREFIX && asked->n >= 3 && starts_with(has, asked))
		return PREFIX;
	return alike >= WORD_ALIKE && (longer > SHORT || mistakes <= 1) ? alike : 0;
}

static bool join_words(struct word *to, const struct words *w, unsigned i)
{
	if (i + 1 >= w->n || w->word[i].n + w->word[i + 1].n > MUSIC_MATCH_LETTERS)
		return false;
	*to = w->word[i];
	memcpy(to->letters + to->n, w->word[i + 1].letters,
	       w->word[i + 1].n * sizeof to->letters[0]);
	to->n += w->word[i + 1].n;
	return true;
}

static void raise_to(unsigned *alike, unsigned to)
{
	if (*alike < to)
		*alike = to;
}

/* The part of the words of `asked` that `has` contains, in thousandths, by their weights. */
static unsigned measure_coverage(const struct words *asked, const struct words *has, unsigned *work)
{
	unsigned best[MUSIC_MATCH_WORDS] = {0}, all = 0, covered = 0;
	struct word joined;
	bool heavy = false;

	for (unsigned i = 0; i < asked->n; i++)
		for (unsigned k = 0; *work && k < has->n; k++) {
			raise_to(&best[i], compare_words(&asked->word[i], &has->word[k], work));
			if (join_words(&joined, has, k)) /* "acdc" for "AC/DC" */
				raise_to(&best[i], compare_words(&asked->word[i], &joined, work));
		}
	for (unsigned i = 0; i + 1 < asked->n; i++)
		for (unsigned k = 0; *work && join_words(&joined, asked, i) && k < has->n; k++) {
			unsigned alike = compare_words(&joined, &has->word[k], work);

			raise_to(&best[i], alike); /* "black bird" for "Blackbird" */
			raise_to(&best[i + 1], alike);
		}
	for (unsigned i = 0; i < asked->n; i++) {
		all += asked->word[i].weight;
		covered += asked->word[i].weight * best[i] / MUSIC_MATCH_FULL;
		heavy |= asked->word[i].weight > asked->word[i].n;
	}
	return heavy ? covered * MUSIC_MATCH_FULL / all : 0;
}

struct query {
	char folded[MUSIC_FOLDED_MAX];
	struct words words;
	unsigned work; /* that is left */
};

static void split_query(struct query *q, const char *text)
{
	*q = (struct query){.work = WORK};
	music_fold(q->folded, text);
	split_words(&q->words, q->folded);
	if (q->words.n > MUSIC_MATCH_ASKED)
		q->words.n = MUSIC_MATCH_ASKED;
}

/* The number of words of `asked`, light ones aside, that `has` contains, or (missing) does not. */
static unsigned count_words(struct query *q, const struct words *has, bool missing)
{
	const struct words *asked = &q->words;
	struct words one = {.n = 1};
	unsigned n = 0;

	for (unsigned i = 0; i < asked->n; i++) {
		one.word[0] = asked->word[i];
		if (one.word[0].weight > one.word[0].n)
			n += !measure_coverage(&one, has, &q->work) == missing;
	}
	return n;
}

/* The part of the query that the words of the artist, the title and the album cover. */
static unsigned cover_query(struct query *q, const struct track *t, const char *label)
{
	char text[TRACK_LABEL_MAX + TRACK_ALBUM_MAX + 1], folded[MUSIC_FOLDED_MAX];
	struct words has;
	unsigned covered;

	snprintf(text, sizeof text, "%s %s", label, t->album);
	music_fold(folded, text);
	split_words(&has, folded);
	covered = measure_coverage(&q->words, &has, &q->work);
	if (!*t->artist || covered >= COVERED || !count_words(q, &has, true))
		return covered;
	snprintf(text, sizeof text, "%s %s", t->title, t->album);
	music_fold(folded, text);
	split_words(&has, folded);
	return count_words(q, &has, false) ? covered : 0;
}

static unsigned match_query(struct query *q, const struct track *t)
{
	char label[TRACK_LABEL_MAX], folded[MUSIC_FOLDED_MAX], title[MUSIC_FOLDED_MAX];
	struct words has;
	unsigned score;

	track_write_label(label, t);
	score = cover_query(q, t, label) * COVERAGE_PART / MUSIC_MATCH_FULL;
	music_fold(title, *t->title ? t->title : label);
	split_words(&has, title);
	score += measure_coverage(&has, &q->words, &q->work) * TITLE_PART / MUSIC_MATCH_FULL;
	music_fold(folded, label);
	if (q->words.n && (strcmp(q->folded, title) == 0 || strcmp(q->folded, folded) == 0))
		return MUSIC_MATCH_FULL;
	return score;
}

unsigned music_match(const char *query, const struct track *t)
{
	struct query q;

	split_query(&q, query);
	return match_query(&q, t);
}

size_t music_rank(const char *query, struct music_hit *hits, size_t n)
{
	struct query q;
	size_t kept = 0;

	split_query(&q, query);
	for (size_t i = 0; i < n; i++) {
		struct music_hit hit = {hits[i].track, match_query(&q, hits[i].track)};
		size_t at = kept;

		if (hit.score < MUSIC_MATCH_PLAUSIBLE)
			continue;
		for (; at && hits[at - 1].score < hit.score; at--)
			hits[at] = hits[at - 1];
		hits[at] = hit;
		kept++;
	}
	return kept;
}
