#include <string.h>

#include "control/room/floor/address.h"
#include "control/room/floor/utterance.h"

enum {
	TERM_WORDS = 4,	  /* of a term of address with the words that lead to it, or a name */
	LEAST_WORDS = 3,  /* of an utterance that has one */
	LEAST_BESIDE = 2, /* words beside a given name */
};

/* True if parts [from, to), a clause of its own, are a term of address: "mum", "hang on everyone",
 * "yes mum", "Mr Wang". A noun by itself is none: "Hamburg, how far is that?" */
static bool calls_person(const struct room_utterance *u, unsigned from, unsigned to)
{
	const uint32_t may = ROOM_WORD_KIN | ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_ASSENT;
	unsigned words = 0;

	for (unsigned i = from; i < to; i++) {
		words += u->v[i].n;
		if (u->v[i].classes && !(u->v[i].classes & may))
			return false;
	}
	return words <= TERM_WORDS * (u->w.unspaced ? 2u : 1u) &&
	       room_utterance_any(u, from, to, ROOM_WORD_KIN);
}

/* True if the bot's sentence has this word: somebody of its story. */
static bool is_in_answer(const struct room_utterance *u, const struct room_word *word)
{
	struct room_words over;

	room_words_split(&over, u->over, u->w.language);
	for (unsigned i = 0; i < over.n; i++)
		if (over.v[i].n == word->n &&
		    memcmp(over.text + over.v[i].at, u->w.text + word->at, word->n) == 0)
			return true;
	return false;
}

static bool is_given_name(const struct room_utterance *u, unsigned part)
{
	const struct room_word *word = room_utterance_word(u, part);

	return u->v[part].n == 1 && word->capital &&
	       !(u->v[part].classes & ~(uint32_t)ROOM_WORD_KIN) &&
	       room_language_is_given_name(u->w.text + word->at, word->n) && !is_in_answer(u, word);
}

static bool is_third_person(const struct room_utterance *u, const struct room_word *word)
{
	static const char *const others[] = {"he", "she", "his", "her"};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strlen(others[i]) == word->n &&
		    memcmp(u->w.text + word->at, others[i], word->n) == 0)
			return true;
	return false;
}

/* "Elizabeth, do you know when she was born", while the bot speaks of a queen: "she" occurs in
 * both. */
static bool asks_about_answer(const struct room_utterance *u)
{
	for (unsigned i = 0; i < u->w.n; i++)
		if (is_third_person(u, &u->w.v[i]) && is_in_answer(u, &u->w.v[i]))
			return true;
	return false;
}

/* True if parts [from, to) are words of two who talk to each other, or begin with what one is to
 * do. "Emma, why did she marry him" asks about her. */
static bool speaks_to_person(const struct room_utterance *u, unsigned from, unsigned to)
{
	if (from < to && u->v[from].classes & ROOM_WORD_REQUEST)
		return true;
	for (unsigned i = from; i < to; i++)
		if (u->v[i].classes & ROOM_WORD_PERSON &&
		    !is_third_person(u, room_utterance_word(u, i)))
			return true;
	return false;
}

/* True if parts [from, to) are a given name with words that lead to it, and the others turn to its
 * bearer: "Tom, you're on mute". A name alone is an answer, and "Emily, I said" a correction. */
static bool calls_given_name(const struct room_utterance *u, unsigned from, unsigned to)
{
	unsigned words = 0, names = 0;

	for (unsigned i = from; i < to; i++) {
		bool name = is_given_name(u, i);

		words += u->v[i].n;
		names += name;
		if (!name && !(u->v[i].classes & (ROOM_WORD_LEAD | ROOM_WORD_CALL)))
			return false;
	}
	return names == 1 && words <= TERM_WORDS && u->w.n - words >= LEAST_BESIDE &&
	       !room_utterance_any(u, 0, from, ROOM_WORD_WISH) &&
	       !room_utterance_any(u, to, u->n, ROOM_WORD_WISH) &&
	       (speaks_to_person(u, 0, from) || speaks_to_person(u, to, u->n));
}

/* "Hey Sarah are you coming": nobody calls a person of a story. */
static bool begins_with_call(const struct room_utterance *u)
{
	return u->n > (u->interim ? 1 : LEAST_BESIDE + 1) && u->v[0].classes & ROOM_WORD_CALL &&
	       is_given_name(u, 1);
}

/* "Mum", "Lisa": who is called is known before what is said to them. */
static bool is_only_person(const struct room_utterance *u)
{
	return u->interim && u->n == 1 && (u->v[0].classes & ROOM_WORD_KIN || is_given_name(u, 0));
}

/* "Thanks sweetheart". */
static bool is_thanks_to_person(const struct room_utterance *u)
{
	return u->n == 2 && u->v[0].classes & ROOM_WORD_ASSENT && u->v[1].classes & ROOM_WORD_KIN;
}

/* "Jonas did you write that": recognisers leave the comma out. */
static bool begins_with_given_name(const struct room_utterance *u)
{
	if (begins_with_call(u))
		return true;
	if (u->n < LEAST_WORDS || !is_given_name(u, 0))
		return false;
	/* "Can you" is one entry. */
	if (u->v[1].classes & ROOM_WORD_REQUEST && u->v[1].classes & ROOM_WORD_PERSON)
		return true;
	return u->n > LEAST_WORDS && u->v[1].classes & ROOM_WORD_MODAL &&
	       u->v[2].classes & ROOM_WORD_SUBJECT && speaks_to_person(u, 2, 3);
}

bool room_phrase_calls(const struct room_saying *s)
{
	const uint32_t leads = ROOM_WORD_LEAD | ROOM_WORD_CALL;
	struct room_utterance u;

	room_utterance_split(&u, s);
	for (unsigned from = 0, i; from < u.n; from = i + 1) {
		for (i = from;
		     i < u.n && u.v[i].classes & leads && !room_utterance_begins_clause(&u, i + 1);)
			i++;
		if (i < u.n && u.v[i].name && room_utterance_begins_clause(&u, i + 1))
			return true;
		while (i + 1 < u.n && !room_utterance_begins_clause(&u, i + 1))
			i++;
	}
	return false;
}

bool room_phrase_to_other(const struct room_saying *s)
{
	struct room_utterance u;
	unsigned least;
	bool given;

	room_utterance_split(&u, s);
	/* More words of an interim transcript will come. */
	least = (u.w.unspaced ? LEAST_WORDS + 1 : (unsigned)LEAST_WORDS) - u.interim;
	/* "Anna, my wife" answers "Whom shall I send it to?". */
	if (s->asked || room_utterance_is_named(&u))
		return false;
	if (is_thanks_to_person(&u) || is_only_person(&u))
		return true;
	if (u.w.n < least)
		return false;
	/* "Tamara, can you hear me" may be for Damara. */
	given = (!s->names || !room_name_cue(s->names, s->text)) && !asks_about_answer(&u);
	if (given && begins_with_given_name(&u))
		return true;
	for (unsigned from = 0, to; from < u.n; from = to) {
		for (to = from + 1; to < u.n && !room_utterance_begins_clause(&u, to);)
			to++;
		if (to - from < u.n &&
		    (calls_person(&u, from, to) || (given && calls_given_name(&u, from, to))))
			return true;
	}
	return false;
}
