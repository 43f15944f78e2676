#include "control/room/floor/utterance.h"

#include <stdio.h>
#include <string.h>

#include "control/room/floor/address.h"

enum { SENTENCE_MAX = 1024 };

/* Words that stand before a question or request. */
static const uint32_t opens_clause =
	ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_ASSENT | ROOM_WORD_FILLER;

enum room_language room_phrase_language(const struct room_saying *s)
{
	bool unlisted = s->told == ROOM_LANGUAGE_UNLISTED ||
			(!s->told && s->language == ROOM_LANGUAGE_UNLISTED);
	enum room_language hint =
		s->language == ROOM_LANGUAGE_UNLISTED ? ROOM_LANGUAGE_UNKNOWN : s->language;
	enum room_language guess;

	if (s->told && !unlisted)
		return s->told;
	guess = room_language_guess(s->text, s->over ? s->over : "", hint);
	/* Providers err on short words such as "mhm": a list that has all of them is right. */
	return unlisted && !room_language_has_all(guess, s->text) ? ROOM_LANGUAGE_UNKNOWN : guess;
}

void room_utterance_split(struct room_utterance *u, const struct room_saying *s)
{
	room_words_split(&u->w, s->text, room_phrase_language(s));
	u->over = s->over ? s->over : "";
	u->interim = s->interim;
	u->asked = s->asked;
	u->n = 0;
	for (unsigned i = 0; i < u->w.n;) {
		struct room_part *p = &u->v[u->n++];
		unsigned name = s->names ? room_name_at(s->names, &u->w, i) : 0;
		unsigned n = room_words_entry(&u->w, i, &p->classes);

		p->at = (uint8_t)i;
		p->n = (uint8_t)(name ? name : n);
		p->name = name;
		if (name)
			p->classes = 0;
		i += p->n;
	}
}

const struct room_word *room_utterance_word(const struct room_utterance *u, unsigned part)
{
	return &u->w.v[u->v[part].at];
}

bool room_utterance_begins_clause(const struct room_utterance *u, unsigned part)
{
	return part == 0 || part >= u->n || room_utterance_word(u, part)->after_stop;
}

bool room_utterance_is_named(const struct room_utterance *u)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->v[i].name)
			return true;
	return false;
}

bool room_utterance_all(const struct room_utterance *u, unsigned from, unsigned to,
			uint32_t classes)
{
	for (unsigned i = from; i < to; i++)
		if (!(u->v[i].classes & classes))
			return false;
	return true;
}

bool room_utterance_any(const struct room_utterance *u, unsigned from, unsigned to,
			uint32_t classes)
{
	for (unsigned i = from; i < to; i++)
		if (u->v[i].classes & classes)
			return true;
	return false;
}

/* ---- questions, requests, objections ---- */

/* "What a story" and "how funny" are exclamations, no questions. */
static bool is_exclamation(const struct room_utterance *u, unsigned i)
{
	static const char *const of_how[] = {"do",    "does", "did",   "is",	 "are",	  "was",
					     "were",  "can",  "could", "much",	 "many",  "long",
					     "old",   "far",  "would", "should", "to",	  "come",
					     "about", "tall", "high",  "big",	 "often", "late"};
	const char *word = u->w.text + room_utterance_word(u, i)->at, *next;
	size_t n;

	if (u->w.language != ROOM_LANGUAGE_EN || i + 1 >= u->n || u->w.question)
		return false;
	next = u->w.text + room_utterance_word(u, i + 1)->at;
	n = room_utterance_word(u, i + 1)->n;
	if (strncmp(word, "what ", 5) == 0)
		return (n == 1 && *next == 'a') || (n == 2 && memcmp(next, "an", 2) == 0);
	if (strncmp(word, "how ", 4) != 0)
		return false;
	for (size_t k = 0; k < sizeof of_how / sizeof of_how[0]; k++)
		if (strlen(of_how[k]) == n && memcmp(of_how[k], next, n) == 0)
			return false;
	return true;
}

/* The last word of an interim transcript tells nothing yet: "how" may become "how funny". */
static bool is_unfinished(const struct room_utterance *u, unsigned i)
{
	return u->interim && i + 1 == u->n;
}

bool room_utterance_inverts(const struct room_utterance *u, unsigned part)
{
	const struct room_word *w = &u->w.v[u->v[part].at];
	unsigned left = u->w.n - u->v[part].at;

	return u->v[part].n < 3 && left > 2 && w[0].classes[0] & ROOM_WORD_MODAL &&
	       w[1].classes[0] & ROOM_WORD_SUBJECT && !w[1].after_stop && !w[2].after_stop;
}

/* True if a question or request begins with this part. */
static bool asks_at(const struct room_utterance *u, unsigned i)
{
	uint32_t classes = is_unfinished(u, i) ? 0 : u->v[i].classes;

	if (classes & ROOM_WORD_QUESTION)
		return !is_exclamation(u, i);
	if (classes & (ROOM_WORD_REQUEST | ROOM_WORD_WISH))
		return !(classes & (ROOM_WORD_ASSENT | ROOM_WORD_FILLER)) || u->n == 1;
	return (classes & ROOM_WORD_MODAL && i + 1 < u->n &&
		u->v[i + 1].classes & ROOM_WORD_SUBJECT) ||
	       room_utterance_inverts(u, i);
}

bool room_utterance_asks(const struct room_utterance *u, unsigned from, unsigned to)
{
	bool opens = true;

	for (unsigned i = from; i < to; i++) {
		opens = opens || room_utterance_begins_clause(u, i);
		if (opens && asks_at(u, i))
			return true;
		if (room_language_in_situ(u->w.language) &&
		    u->v[i].classes & (ROOM_WORD_QUESTION | ROOM_WORD_REQUEST) &&
		    !(u->v[i].classes & ROOM_PART_SOFT))
			return true;
		opens = opens && (u->v[i].name || u->v[i].classes & opens_clause);
	}
	return false;
}

/* "No kidd" may become "no kidding": the piece of a word may complete an entry. */
static bool precedes_piece(const struct room_utterance *u, unsigned i)
{
	return u->interim && i + 2 == u->n && !u->v[i + 1].classes && !u->v[i + 1].name &&
	       !room_utterance_begins_clause(u, i + 1);
}

bool room_utterance_objects(const struct room_utterance *u, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (u->v[i].classes & (ROOM_WORD_COUNTER | ROOM_WORD_TAKEOVER) &&
		    !(u->v[i].classes & ROOM_WORD_ASSENT) && !is_unfinished(u, i) &&
		    !precedes_piece(u, i))
			return true;
	return false;
}

/* ---- what the bot asked ---- */

static bool is_end_mark(uint32_t ch)
{
	return ch == '.' || ch == '!' || ch == '?' || ch == ':' || ch == 0x3002 || ch == 0xff01 ||
	       ch == 0xff1f || ch == 0x2026;
}

/* Copies the sentence at *p without its end mark and moves *p behind that; returns the mark, 0 if
 * the text ends without one. */
static uint32_t next_sentence(const char **p, char *sentence, size_t size)
{
	size_t n = 0;

	while (**p) {
		uint32_t ch = room_script_next(p);

		/* "At 3.30", "at 3:30": a mark within a number ends nothing. */
		if (is_end_mark(ch) && ((ch != '.' && ch != ':') || **p < '0' || **p > '9')) {
			sentence[n] = '\0';
			return ch;
		}
		room_script_put(sentence, size, &n, ch);
	}
	sentence[n] = '\0';
	return 0;
}

static bool is_question_mark(uint32_t ch)
{
	return ch == '?' || ch == 0xff1f;
}

bool room_utterance_asked_with(const struct room_utterance *u, unsigned i, unsigned n)
{
	const struct room_word *first = &u->w.v[i], *last = &u->w.v[i + n - 1];
	size_t len = (size_t)(last->at + last->n - first->at);
	char sentence[SENTENCE_MAX];

	for (const char *p = u->over; *p;) {
		uint32_t mark = next_sentence(&p, sentence, sizeof sentence);
		struct room_words w;

		/* An answer that was interrupted ends in its question. */
		if (!is_question_mark(mark) && (mark || !strstr(sentence, "¿")))
			continue;
		room_words_split(&w, sentence, u->w.language);
		for (unsigned k = 0; k + n <= w.n; k++)
			if ((size_t)(w.v[k + n - 1].at + w.v[k + n - 1].n - w.v[k].at) == len &&
			    memcmp(w.text + w.v[k].at, u->w.text + first->at, len) == 0)
				return true;
	}
	return false;
}

/* The last sentence with words in it. */
static uint32_t find_last_sentence(const char *text, char *sentence, size_t size)
{
	char next[SENTENCE_MAX];
	uint32_t mark = 0;

	*sentence = '\0';
	while (*text) {
		uint32_t ends = next_sentence(&text, next, sizeof next);
		struct room_words w;

		room_words_split(&w, next, ROOM_LANGUAGE_UNKNOWN);
		if (!w.n)
			continue;
		snprintf(sentence, size, "%s", next);
		mark = ends;
	}
	return mark;
}

/* "Pick a number." "Well, I need your name." No verb that can be a statement's ("tiene"). */
static bool begins_with_request(const struct room_utterance *u)
{
	unsigned i = 0;

	while (i + 1 < u->n && u->v[i].classes & opens_clause)
		i++;
	return u->v[i].classes & (ROOM_WORD_REQUEST | ROOM_WORD_WISH) &&
	       !(u->v[i].classes & (ROOM_WORD_THIRD | ROOM_WORD_QUESTION));
}

bool room_phrase_asks(const char *text)
{
	char sentence[SENTENCE_MAX];
	uint32_t mark = find_last_sentence(text, sentence, sizeof sentence);
	struct room_saying s = {.text = sentence};
	struct room_utterance u;
	unsigned to = 1;

	if (!*sentence || is_question_mark(mark))
		return *sentence;
	room_utterance_split(&u, &s);
	/* "まだ聞きますか。" */
	if (u.n && room_language_in_situ(u.w.language))
		return u.v[u.n - 1].classes & ROOM_WORD_QUESTION &&
		       !(u.v[u.n - 1].classes & ROOM_WORD_GLUE);
	while (to < u.n && !room_utterance_begins_clause(&u, to))
		to++;
	return u.n && (mark ? begins_with_request(&u) : room_utterance_asks(&u, 0, to));
}
