#include "control/room/phrase.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "control/room/phrases.def"

enum { WORDS = 64, WORD = 24, FEW_WORDS = 2, FEW_CHARS = 12, LISTENING_WORDS = 6 };

struct words {
	unsigned n; /* more than WORDS when there were more; the first ones are kept */
	unsigned chars;
	bool question;
	char w[WORDS][WORD];
};

#define P(text) text,
static const char *const takeovers[] = {ROOM_TAKEOVERS(P)};
static const char *const stops[] = {ROOM_STOPS(P)};
static const char *const leads[] = {ROOM_STOP_LEADS(P)};
static const char *const tails[] = {ROOM_STOP_TAILS(P)};
static const char *const listening[] = {ROOM_LISTENING(P)};
static const char *const glue[] = {ROOM_GLUE(P)};
#undef P
#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool letter(unsigned char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch >= 0x80;
}

static void split(const char *text, struct words *out)
{
	size_t k = 0;
	bool in = false;

	memset(out, 0, sizeof *out);
	for (;; text++) {
		unsigned char ch = (unsigned char)*text;

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

/* Words of `phrase` that stand at `at`; 0 when it does not stand there. */
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

/* A recogniser mishears, so one word in three may be any. */
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

enum room_phrase room_phrase(const char *text)
{
	struct words w;

	split(text, &w);
	if (!w.n)
		return ROOM_PHRASE_NOTHING;
	if (only_stops(&w))
		return ROOM_PHRASE_STOP;
	if (takes_over(&w))
		return ROOM_PHRASE_TAKEOVER;
	if (!w.question && (listens(&w) || (w.n <= FEW_WORDS && w.chars <= FEW_CHARS)))
		return ROOM_PHRASE_LISTENING;
	return ROOM_PHRASE_WORDS;
}
