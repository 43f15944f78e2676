#include "control/room/floor/utterance.h"

#include <string.h>

enum {
	CALL_REST = 3, /* words beside a vocative */
	NAME_CHARS = 4,
};

/* True if parts [from, to), a clause of its own, call a person: "mum", "Mr Wang", "Oscar". */
static bool calls_person(const struct room_utterance *u, unsigned from, unsigned to)
{
	const struct room_word *first = room_utterance_word(u, from);
	unsigned words = 0;
	bool kin = false;

	for (unsigned i = from; i < to; i++) {
		words += u->v[i].n;
		kin = kin || u->v[i].classes & ROOM_WORD_KIN;
		if (u->v[i].classes &&
		    !(u->v[i].classes & (ROOM_WORD_KIN | ROOM_WORD_LEAD | ROOM_WORD_CALL)))
			return false;
	}
	if (kin)
		return words <= NAME_CHARS;
	/* "Hang on Sarah, ..." */
	if (to > from + 1 && room_utterance_word(u, to - 1)->capital && !u->v[to - 1].classes &&
	    u->v[to - 1].n == 1 &&
	    room_utterance_all(u, from, to - 1, ROOM_WORD_LEAD | ROOM_WORD_CALL))
		return true;
	if (room_utterance_any(u, from, to, UINT32_MAX))
		return false;
	if (u->w.language == ROOM_LANGUAGE_ZH || u->w.language == ROOM_LANGUAGE_JA)
		return words >= 2 && words <= NAME_CHARS;
	return words == 1 && (first->capital || u->w.language == ROOM_LANGUAGE_KO);
}

/* "수진아", "민수야": the ending calls somebody. */
static bool has_calling_end(const struct room_utterance *u, unsigned part)
{
	const struct room_word *w = room_utterance_word(u, part);
	const char *end = u->w.text + w->at + w->n;

	return u->w.language == ROOM_LANGUAGE_KO && w->n >= 9 && !u->v[part].classes &&
	       (memcmp(end - 3, "아", 3) == 0 || memcmp(end - 3, "야", 3) == 0) &&
	       (room_utterance_begins_clause(u, part + 1));
}

bool room_phrase_to_other(const struct room_saying *s)
{
	struct room_utterance u;
	unsigned rest = 0;

	room_utterance_split(&u, s);
	rest = u.w.unspaced ? CALL_REST + 1 : (unsigned)CALL_REST;
	if (!u.n || room_utterance_any(&u, 0, u.n, (uint32_t)ROOM_PART_NAME))
		return false;
	for (unsigned from = 0, to; from < u.n; from = to) {
		bool objects = u.v[0].classes & ROOM_WORD_COUNTER && from;

		for (to = from + 1; to < u.n && !room_utterance_begins_clause(&u, to); to++)
			if (has_calling_end(&u, to) && u.w.n >= 3)
				return true;
		if (to - from == u.n || u.w.n < rest || !calls_person(&u, from, to))
			continue;
		if (room_utterance_any(&u, from, to, ROOM_WORD_KIN))
			return true;
		if (from == 0 && to < u.n && u.v[to].classes & ROOM_WORD_COUNTER)
			continue;
		if (from == 0 && !room_utterance_asks(&u, to, u.n) &&
		    !room_utterance_any(&u, to, u.n, ROOM_WORD_PERSON))
			continue;
		if (from == 0 || (!objects && u.v[from].at >= CALL_REST - (to < u.n)))
			return true;
	}
	return false;
}
