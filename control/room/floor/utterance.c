#include "control/room/floor/utterance.h"

#include <string.h>

#include "control/room/floor/address.h"

enum room_language room_phrase_language(const struct room_saying *s)
{
	return s->told ? s->told
		       : room_language_guess(s->text, s->over ? s->over : "", s->language);
}

void room_utterance_split(struct room_utterance *u, const struct room_saying *s)
{
	room_words_split(&u->w, s->text, room_phrase_language(s));
	u->over = s->over ? s->over : "";
	u->interim = s->interim;
	u->n = 0;
	for (unsigned i = 0; i < u->w.n;) {
		struct room_part *p = &u->v[u->n++];
		unsigned name = s->names ? room_name_at(s->names, &u->w, i) : 0;
		unsigned n = room_words_entry(&u->w, i, &p->classes);

		p->at = (uint8_t)i;
		p->n = (uint8_t)(name ? name : n);
		if (name)
			p->classes = (uint32_t)ROOM_PART_NAME;
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

/* True if a question or request begins with this part. */
static bool asks_at(const struct room_utterance *u, unsigned i)
{
	uint32_t classes = is_unfinished(u, i) ? 0 : u->v[i].classes;

	if (classes & ROOM_WORD_QUESTION)
		return !is_exclamation(u, i);
	if (classes & (ROOM_WORD_REQUEST | ROOM_WORD_WISH))
		return !(classes & (ROOM_WORD_ASSENT | ROOM_WORD_FILLER)) || u->n == 1;
	return classes & ROOM_WORD_MODAL && i + 1 < u->n && u->v[i + 1].classes & ROOM_WORD_SUBJECT;
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
		opens = opens &&
			(u->v[i].classes & (ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_ASSENT |
					    ROOM_WORD_FILLER | (uint32_t)ROOM_PART_NAME));
	}
	return false;
}

/* "No kidd" may become "no kidding": the piece of a word may complete an entry. */
static bool precedes_piece(const struct room_utterance *u, unsigned i)
{
	return u->interim && i + 2 == u->n && !u->v[i + 1].classes &&
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
