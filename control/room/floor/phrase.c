#include "control/room/floor/phrase.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "control/room/floor/lexicon.def"
#include "control/room/floor/phrases.def"

enum {
	WORDS = 64,
	WORD = 24,
	SHORT_CHARS = 5,
	TWO_CHARS = 12,
	FEW_WORDS = 4,
	FEW_CHARS = 20,
	LISTENING_WORDS = 6
};

struct words {
	unsigned n; /* may exceed WORDS; the first ones are kept */
	unsigned chars;
	bool question;
	char w[WORDS][WORD];
};

#define P(text) text,
static const char *const takeovers[] = {ROOM_TAKEOVERS(P)};
static const char *const stops[] = {ROOM_STOPS(P)};
static const char *const leads[] = {ROOM_STOP_LEADS(P)};
static const char *const tails[] = {ROOM_STOP_TAILS(P)};
static const char *const listening[] = {ROOM_BACKCHANNELS(P)};
static const char *const glue[] = {ROOM_GLUE(P)};
static const char *const openers[] = {LEXICON_CALLS(P) LEXICON_LEADS(P)};
static const char *const questions[] = {LEXICON_QUESTIONS(P)};
static const char *const requests[] = {LEXICON_REQUESTS(P)};
static const char *const modals[] = {LEXICON_MODALS(P)};
static const char *const subjects[] = {LEXICON_SUBJECTS(P)};
static const char *const wishes[] = {LEXICON_WISHES(P)};
static const char *const more[] = {LEXICON_MORE(P)};
static const char *const function[] = {LEXICON_FUNCTION(P)};
#undef P
#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool letter(unsigned char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch >= 0x80;
}

static void split(const char *text, size_t n, struct words *out)
{
	const char *end = text + n;
	size_t k = 0;
	bool in = false;

	memset(out, 0, sizeof *out);
	for (;; text++) {
		unsigned char ch = text < end ? (unsigned char)*text : '\0';

		if (ch == '\'' && in)
			continue; /* "that's" is one word */
		out->question = out->question || ch == '?';
		if (letter(ch)) {
			if (!in)
				k = 0;
			in = true;
			out->chars++;
			if (out->n < WORDS && k + 1 < WORD)
				out->w[out->n][k++] =
					(char)(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
			continue;
		}
		out->n += in;
		in = false;
		if (!ch)
			return;
	}
}

static unsigned kept(const struct words *w)
{
	return w->n < WORDS ? w->n : WORDS;
}

static bool in_list(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/* The number of words of `phrase` at position `at`; 0 if it is not there. */
static unsigned stands(const struct words *w, unsigned at, const char *phrase)
{
	unsigned i = at;

	while (*phrase) {
		size_t n = strcspn(phrase, " ");

		if (i >= kept(w) || strlen(w->w[i]) != n || memcmp(w->w[i], phrase, n) != 0)
			return 0;
		phrase += n + (phrase[n] == ' ');
		i++;
	}
	return i - at;
}

/* "Ok, please stop it now." */
static bool only_stops(const struct words *w)
{
	unsigned i = 0, n = 0;

	while (i < kept(w) && in_list(w->w[i], leads, COUNT(leads)))
		i++;
	for (size_t k = 0; k < COUNT(stops) && !n; k++)
		n = stands(w, i, stops[k]);
	if (!n)
		return false;
	i += n;
	while (i < kept(w) &&
	       (in_list(w->w[i], tails, COUNT(tails)) || in_list(w->w[i], leads, COUNT(leads)) ||
		in_list(w->w[i], stops, COUNT(stops))))
		i++;
	return i == w->n;
}

static bool takes_over(const struct words *w)
{
	for (unsigned i = 0; i < kept(w); i++)
		for (size_t k = 0; k < COUNT(takeovers); k++)
			if (stands(w, i, takeovers[k]))
				return true;
	return false;
}

/* Recognisers mishear, so one word in three may be any word. */
static bool listens(const struct words *w)
{
	unsigned core = 0, other = 0;

	if (w->n > LISTENING_WORDS)
		return false;
	for (unsigned i = 0; i < w->n; i++) {
		if (in_list(w->w[i], listening, COUNT(listening)))
			core++;
		else if (!in_list(w->w[i], glue, COUNT(glue)))
			other++;
	}
	return core > 0 && (other == 0 || (other == 1 && core >= 2));
}

/* "What a story" and "how funny" are exclamations, no questions. */
static bool exclaims(const char *word, const char *next)
{
	static const char *const article[] = {"a", "an", "the"};
	static const char *const of_how[] = {"do",   "does", "did",   "is",	"are",	"was",
					     "were", "can",  "could", "much",	"many", "long",
					     "old",  "far",  "would", "should", "to",	"come"};

	if (strcmp(word, "how") == 0)
		return !in_list(next, of_how, COUNT(of_how));
	return strncmp(word, "what", 4) == 0 && in_list(next, article, COUNT(article));
}

/* Whether a question or request has begun: two of its words, after an optional lead-in. */
static bool asks(const struct words *w)
{
	const char *a, *b;
	unsigned i = 0;

	while (i < kept(w) && (in_list(w->w[i], openers, COUNT(openers)) ||
			       in_list(w->w[i], listening, COUNT(listening))))
		i++;
	if (i + 1 >= kept(w))
		return false;
	a = w->w[i];
	b = w->w[i + 1];
	if (in_list(a, questions, COUNT(questions)))
		return !exclaims(a, b);
	if (in_list(a, requests, COUNT(requests)))
		return strcmp(b, "on") != 0; /* "hold on" */
	if (in_list(a, modals, COUNT(modals)))
		return in_list(b, subjects, COUNT(subjects)) && strcmp(b, "it") != 0;
	return strcmp(a, "i") == 0 && in_list(b, wishes, COUNT(wishes));
}

/* A sentence of function words only. One that begins with no or but usually goes on to say
 * more. */
static bool comments(const struct words *w)
{
	if (w->n < 2 || w->n > LISTENING_WORDS || strcmp(w->w[0], "not") == 0)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		if (!in_list(w->w[i], function, COUNT(function)) &&
		    !in_list(w->w[i], listening, COUNT(listening)))
			return false;
	return true;
}

static enum room_phrase kind(const struct words *w)
{
	if (!w->n)
		return ROOM_PHRASE_NOTHING;
	if (only_stops(w))
		return ROOM_PHRASE_STOP;
	if (takes_over(w))
		return ROOM_PHRASE_TAKEOVER;
	if (w->question)
		return ROOM_PHRASE_WORDS;
	if (listens(w))
		return ROOM_PHRASE_BACKCHANNEL;
	if (asks(w))
		return ROOM_PHRASE_WORDS;
	if (comments(w) || (w->n <= 2 && w->chars <= TWO_CHARS))
		return ROOM_PHRASE_BACKCHANNEL;
	return w->n <= FEW_WORDS && w->chars <= FEW_CHARS ? ROOM_PHRASE_FEW : ROOM_PHRASE_WORDS;
}

enum room_phrase room_phrase_of(const char *text)
{
	struct words w;

	split(text, strlen(text), &w);
	return kind(&w);
}

/* ---- what needs no answer ---- */

static bool vowel(char ch)
{
	return ch && strchr("aeiouy", ch);
}

/* One syllable of at most three letters, with a vowel, that is no known word. */
static bool syllable(const char *word)
{
	return strlen(word) <= 3 && strpbrk(word, "aeiouy") &&
	       !in_list(word, function, COUNT(function)) && strcmp(word, "no") != 0 &&
	       strcmp(word, "go") != 0 && !strpbrk(word, "0123456789");
}

static bool rhyme(const char *a, const char *b)
{
	size_t i = strcspn(a, "aeiouy"), k = strcspn(b, "aeiouy");

	return strcmp(a + i, b + k) == 0 || (!vowel(*a) && *a == *b);
}

/* "La la la", "dum di dum": similar syllables, next to each other or one apart. */
static bool hums(const struct words *w)
{
	bool alike = false;

	for (unsigned i = 0; i < w->n; i++) {
		if (!syllable(w->w[i]))
			return false;
		alike = alike || (i && rhyme(w->w[i - 1], w->w[i])) ||
			(i > 1 && rhyme(w->w[i - 2], w->w[i]));
	}
	return alike && !only_stops(w);
}

/* A word has a vowel or is in another script; pff, brr and tsk are sounds. */
static bool sound(const char *word)
{
	static const char *const known[] = {"uh",  "um",  "ah",	  "oh",	  "er",
					    "huh", "aha", "uhuh", "uhhuh"};

	if (in_list(word, known, COUNT(known)))
		return true;
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p >= 0x80 || strchr("aeiouy0123456789", *p))
			return false;
	return true;
}

/* Only nonverbal sounds. An utterance with more words than are kept says more. */
static bool sounds(const struct words *w)
{
	if (!w->n || w->n > WORDS || w->question)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		if (!sound(w->w[i]))
			return hums(w);
	return true;
}

bool room_phrase_is_nonverbal(const char *text)
{
	struct words w;

	split(text, strlen(text), &w);
	return sounds(&w);
}

bool room_phrase_asks(const char *text)
{
	if (strchr(text, '?'))
		return true;
	for (size_t n; *text; text += n + (text[n] != '\0')) {
		struct words w;

		n = strcspn(text, ".!:;\n");
		split(text, n, &w);
		if (asks(&w))
			return true;
	}
	return false;
}

/* A single word that is in no table and asks for nothing; words in other scripts are not
 * judged. */
static bool short_word(const char *word)
{
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p >= 0x80 || (*p >= '0' && *p <= '9'))
			return false;
	return strlen(word) <= SHORT_CHARS && !in_list(word, questions, COUNT(questions)) &&
	       !in_list(word, requests, COUNT(requests)) && !in_list(word, more, COUNT(more));
}

static bool idle(const struct words *w)
{
	if (sounds(w))
		return true;
	if (!w->n || w->question || only_stops(w) || takes_over(w))
		return false;
	return listens(w) || (w->n == 1 && short_word(w->w[0]));
}

bool room_phrase_idle(const char *text)
{
	struct words w;

	split(text, strlen(text), &w);
	return idle(&w);
}

bool room_phrase_passing(const char *text)
{
	struct words w;

	split(text, strlen(text), &w);
	return idle(&w) || (w.n > 1 && kind(&w) == ROOM_PHRASE_BACKCHANNEL);
}
