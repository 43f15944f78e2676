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

static bool is_letter(unsigned char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch >= 0x80;
}

static void split_words(const char *text, size_t n, struct words *out)
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
		if (is_letter(ch)) {
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

static unsigned words_kept(const struct words *w)
{
	return w->n < WORDS ? w->n : WORDS;
}

static bool is_in_list(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/* The number of words of `phrase` at position `at`; 0 if it is not there. */
static unsigned phrase_length_at(const struct words *w, unsigned at, const char *phrase)
{
	unsigned i = at;

	while (*phrase) {
		size_t n = strcspn(phrase, " ");

		if (i >= words_kept(w) || strlen(w->w[i]) != n || memcmp(w->w[i], phrase, n) != 0)
			return 0;
		phrase += n + (phrase[n] == ' ');
		i++;
	}
	return i - at;
}

/* "Ok, please stop it now." */
static bool is_only_stop(const struct words *w)
{
	unsigned i = 0, n = 0;

	while (i < words_kept(w) && is_in_list(w->w[i], leads, COUNT(leads)))
		i++;
	for (size_t k = 0; k < COUNT(stops) && !n; k++)
		n = phrase_length_at(w, i, stops[k]);
	if (!n)
		return false;
	i += n;
	while (i < words_kept(w) && (is_in_list(w->w[i], tails, COUNT(tails)) ||
				     is_in_list(w->w[i], leads, COUNT(leads)) ||
				     is_in_list(w->w[i], stops, COUNT(stops))))
		i++;
	return i == w->n;
}

static bool is_takeover(const struct words *w)
{
	for (unsigned i = 0; i < words_kept(w); i++)
		for (size_t k = 0; k < COUNT(takeovers); k++)
			if (phrase_length_at(w, i, takeovers[k]))
				return true;
	return false;
}

/* Recognisers mishear, so one word in three may be any word. */
static bool is_backchannel(const struct words *w)
{
	unsigned core = 0, other = 0;

	if (w->n > LISTENING_WORDS)
		return false;
	for (unsigned i = 0; i < w->n; i++) {
		if (is_in_list(w->w[i], listening, COUNT(listening)))
			core++;
		else if (!is_in_list(w->w[i], glue, COUNT(glue)))
			other++;
	}
	return core > 0 && (other == 0 || (other == 1 && core >= 2));
}

/* "What a story" and "how funny" are exclamations, no questions. */
static bool is_exclamation(const char *word, const char *next)
{
	static const char *const article[] = {"a", "an", "the"};
	static const char *const of_how[] = {"do",   "does", "did",   "is",	"are",	"was",
					     "were", "can",  "could", "much",	"many", "long",
					     "old",  "far",  "would", "should", "to",	"come"};

	if (strcmp(word, "how") == 0)
		return !is_in_list(next, of_how, COUNT(of_how));
	return strncmp(word, "what", 4) == 0 && is_in_list(next, article, COUNT(article));
}

/* Whether a question or request has begun: two of its words, after an optional lead-in. */
static bool asks_something(const struct words *w)
{
	const char *a, *b;
	unsigned i = 0;

	while (i < words_kept(w) && (is_in_list(w->w[i], openers, COUNT(openers)) ||
				     is_in_list(w->w[i], listening, COUNT(listening))))
		i++;
	if (i + 1 >= words_kept(w))
		return false;
	a = w->w[i];
	b = w->w[i + 1];
	if (is_in_list(a, questions, COUNT(questions)))
		return !is_exclamation(a, b);
	if (is_in_list(a, requests, COUNT(requests)))
		return strcmp(b, "on") != 0; /* "hold on" */
	if (is_in_list(a, modals, COUNT(modals)))
		return is_in_list(b, subjects, COUNT(subjects)) && strcmp(b, "it") != 0;
	return strcmp(a, "i") == 0 && is_in_list(b, wishes, COUNT(wishes));
}

/* A sentence of function words only. One that begins with no or but usually goes on to say
 * more. */
static bool is_comment(const struct words *w)
{
	if (w->n < 2 || w->n > LISTENING_WORDS || strcmp(w->w[0], "not") == 0)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		if (!is_in_list(w->w[i], function, COUNT(function)) &&
		    !is_in_list(w->w[i], listening, COUNT(listening)))
			return false;
	return true;
}

static enum room_phrase classify_words(const struct words *w)
{
	if (!w->n)
		return ROOM_PHRASE_NOTHING;
	if (is_only_stop(w))
		return ROOM_PHRASE_STOP;
	if (is_takeover(w))
		return ROOM_PHRASE_TAKEOVER;
	if (w->question)
		return ROOM_PHRASE_WORDS;
	if (is_backchannel(w))
		return ROOM_PHRASE_BACKCHANNEL;
	if (asks_something(w))
		return ROOM_PHRASE_WORDS;
	if (is_comment(w) || (w->n <= 2 && w->chars <= TWO_CHARS))
		return ROOM_PHRASE_BACKCHANNEL;
	return w->n <= FEW_WORDS && w->chars <= FEW_CHARS ? ROOM_PHRASE_FEW : ROOM_PHRASE_WORDS;
}

enum room_phrase room_phrase_of(const char *text)
{
	struct words w;

	split_words(text, strlen(text), &w);
	return classify_words(&w);
}

/* ---- what needs no answer ---- */

static bool is_vowel(char ch)
{
	return ch && strchr("aeiouy", ch);
}

/* One syllable of at most three letters, with a vowel, that is no known word. */
static bool is_syllable(const char *word)
{
	return strlen(word) <= 3 && strpbrk(word, "aeiouy") &&
	       !is_in_list(word, function, COUNT(function)) && strcmp(word, "no") != 0 &&
	       strcmp(word, "go") != 0 && !strpbrk(word, "0123456789");
}

static bool syllables_rhyme(const char *a, const char *b)
{
	size_t i = strcspn(a, "aeiouy"), k = strcspn(b, "aeiouy");

	return strcmp(a + i, b + k) == 0 || (!is_vowel(*a) && *a == *b);
}

/* "La la la", "dum di dum": similar syllables, next to each other or one apart. */
static bool is_humming(const struct words *w)
{
	bool alike = false;

	for (unsigned i = 0; i < w->n; i++) {
		if (!is_syllable(w->w[i]))
			return false;
		alike = alike || (i && syllables_rhyme(w->w[i - 1], w->w[i])) ||
			(i > 1 && syllables_rhyme(w->w[i - 2], w->w[i]));
	}
	return alike && !is_only_stop(w);
}

/* A word has a vowel or is in another script; pff, brr and tsk are sounds. */
static bool is_sound(const char *word)
{
	static const char *const known[] = {"uh",  "um",  "ah",	  "oh",	  "er",
					    "huh", "aha", "uhuh", "uhhuh"};

	if (is_in_list(word, known, COUNT(known)))
		return true;
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p >= 0x80 || strchr("aeiouy0123456789", *p))
			return false;
	return true;
}

/* Only nonverbal sounds. An utterance with more words than are kept says more. */
static bool is_only_sounds(const struct words *w)
{
	if (!w->n || w->n > WORDS || w->question)
		return false;
	for (unsigned i = 0; i < w->n; i++)
		if (!is_sound(w->w[i]))
			return is_humming(w);
	return true;
}

bool room_phrase_is_nonverbal(const char *text)
{
	struct words w;

	split_words(text, strlen(text), &w);
	return is_only_sounds(&w);
}

bool room_phrase_asks(const char *text)
{
	if (strchr(text, '?'))
		return true;
	for (size_t n; *text; text += n + (text[n] != '\0')) {
		struct words w;

		n = strcspn(text, ".!:;\n");
		split_words(text, n, &w);
		if (asks_something(&w))
			return true;
	}
	return false;
}

/* A single word that is in no table and asks for nothing; words in other scripts are not
 * judged. */
static bool is_short_word(const char *word)
{
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p >= 0x80 || (*p >= '0' && *p <= '9'))
			return false;
	return strlen(word) <= SHORT_CHARS && !is_in_list(word, questions, COUNT(questions)) &&
	       !is_in_list(word, requests, COUNT(requests)) && !is_in_list(word, more, COUNT(more));
}

static bool is_idle_word(const struct words *w)
{
	if (is_only_sounds(w))
		return true;
	if (!w->n || w->question || is_only_stop(w) || is_takeover(w))
		return false;
	return is_backchannel(w) || (w->n == 1 && is_short_word(w->w[0]));
}

bool room_phrase_idle(const char *text)
{
	struct words w;

	split_words(text, strlen(text), &w);
	return is_idle_word(&w);
}

bool room_phrase_passing(const char *text)
{
	struct words w;

	split_words(text, strlen(text), &w);
	return is_idle_word(&w) || (w.n > 1 && classify_words(&w) == ROOM_PHRASE_BACKCHANNEL);
}
