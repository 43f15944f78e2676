#include "control/room/floor/utterance.h"

enum {
	TERM_WORDS = 4,	 /* of a term of address with the words that lead to it, or a name */
	LEAST_WORDS = 3, /* of an utterance that has one */
};

/* True if parts [from, to), a clause of its own, are a term of address: "mum", "hang on everyone",
 * "Mr Wang". A noun by itself is none: "Hamburg, how far is that?" */
static bool calls_person(const struct room_utterance *u, unsigned from, unsigned to)
{
	const uint32_t may = ROOM_WORD_KIN | ROOM_WORD_LEAD | ROOM_WORD_CALL;
	unsigned words = 0;

	for (unsigned i = from; i < to; i++) {
		words += u->v[i].n;
		if (u->v[i].classes && !(u->v[i].classes & may))
			return false;
	}
	return words <= TERM_WORDS && room_utterance_any(u, from, to, ROOM_WORD_KIN);
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

	room_utterance_split(&u, s);
	least = u.w.unspaced ? LEAST_WORDS + 1 : (unsigned)LEAST_WORDS;
	if (u.w.n < least || room_utterance_is_named(&u))
		return false;
	for (unsigned from = 0, to; from < u.n; from = to) {
		for (to = from + 1; to < u.n && !room_utterance_begins_clause(&u, to);)
			to++;
		if (to - from < u.n && calls_person(&u, from, to))
			return true;
	}
	return false;
}
