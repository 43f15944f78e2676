#include "control/room/floor/stop_words.h"

#include <limits.h>

enum {
	STOP_REST = 4, /* words of what is to be stopped */
	STOP_REST_UNSPACED = 10,
};

/* The longest entry may hide a shorter one, so words are matched anew. */
bool room_stop_is_whole(const struct room_utterance *u)
{
	bool stop = false;
	unsigned words = 0;

	for (unsigned i = 0; i < u->n; i++)
		words += u->v[i].n;
	if (!u->n || u->w.cut)
		return false;
	for (unsigned i = 0; i < words;) {
		unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP);

		if (!n) {
			n = room_words_match(&u->w, i, ROOM_WORD_STOP_AROUND);
			for (unsigned k = 0; !n && k < u->n; k++)
				if (u->v[k].at == i && u->v[k].classes & ROOM_PART_NAME)
					n = u->v[k].n;
		} else {
			stop = true;
		}
		if (!n)
			return false;
		i += n;
	}
	return stop;
}

/* Words around a STOP entry that are neither polite nor the bot's name, before or after it.
 * Negations and questions are no such words: UINT_MAX. */
static unsigned count_rest(const struct room_utterance *u, unsigned from, unsigned to)
{
	unsigned rest = 0;

	for (unsigned i = from; i < to;) {
		unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP_AROUND);

		for (unsigned k = 0; !n && k < u->n; k++)
			if (u->v[k].at == i && u->v[k].classes & ROOM_PART_NAME)
				n = u->v[k].n;
		if (!n && room_words_match(&u->w, i, ROOM_WORD_COUNTER | ROOM_WORD_QUESTION))
			return UINT_MAX;
		rest += n ? 0 : 1;
		i += n ? n : 1;
	}
	return rest;
}

bool room_stop_begins_or_ends(const struct room_utterance *u)
{
	unsigned most = u->w.unspaced ? STOP_REST_UNSPACED : STOP_REST;

	for (unsigned i = 0; i < u->w.n && !u->w.question && !u->w.cut; i++) {
		unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP);
		unsigned before = n ? count_rest(u, 0, i) : 0;
		unsigned after = n ? count_rest(u, i + n, u->w.n) : 0;

		if (n && ((!before && after <= most) || (!after && before <= most)))
			return true;
	}
	return false;
}

bool room_takeover_occurs(const struct room_utterance *u)
{
	for (unsigned i = 0; i < u->w.n; i++)
		if (room_words_match(&u->w, i, ROOM_WORD_TAKEOVER))
			return true;
	return false;
}
