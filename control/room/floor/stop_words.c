#include "control/room/floor/stop_words.h"

#include <limits.h>
#include <string.h>

enum {
	STOP_REST = 4, /* words of what is to be stopped */
	STOP_REST_UNSPACED = 10,
	JOINED_MAX = 96, /* bytes of an entry */
	GAPS = 3,	 /* polite words within it */
};

/* The number of words of the bot's name that begin at word i. */
static unsigned match_name(const struct room_utterance *u, unsigned i)
{
	for (unsigned k = 0; k < u->n; k++)
		if (u->v[k].at == i && u->v[k].name)
			return u->v[k].n;
	return 0;
}

/* Words that may stand around a STOP entry, and the bot's name. */
static unsigned match_around(const struct room_utterance *u, unsigned i)
{
	unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP_AROUND);

	return n ? n : match_name(u, i);
}

/* The class of word i and n words from word `next` on as one entry, across punctuation. */
static uint32_t look_up_joined(const struct room_utterance *u, unsigned i, unsigned next,
			       unsigned n)
{
	char text[JOINED_MAX];
	size_t len = u->w.v[i].n;

	if (len >= sizeof text)
		return 0;
	memcpy(text, u->w.text + u->w.v[i].at, len);
	for (unsigned k = next; k < next + n; k++) {
		if (len + u->w.v[k].n + 1 >= sizeof text)
			return 0;
		if (!u->w.unspaced)
			text[len++] = ' ';
		memcpy(text + len, u->w.text + u->w.v[k].at, u->w.v[k].n);
		len += u->w.v[k].n;
	}
	return room_language_classes(u->w.language, text, len);
}

/* "Hör doch bitte auf", "всё, спасибо": punctuation or polite words stand within the entry. */
static unsigned match_parted(const struct room_utterance *u, unsigned i, uint32_t *classes)
{
	unsigned most = u->w.unspaced ? (unsigned)ROOM_ENTRY_CHARS : (unsigned)ROOM_ENTRY_WORDS;

	for (unsigned gaps = 0, next = i + 1; gaps <= GAPS && next < u->w.n; gaps++) {
		unsigned polite = match_around(u, next);

		for (unsigned n = most - 1; n > 0; n--) {
			if (next + n > u->w.n)
				continue;
			*classes = look_up_joined(u, i, next, n);
			if (*classes & ROOM_WORD_STOP)
				return next + n - i;
		}
		if (!polite)
			return 0;
		next += polite;
	}
	return 0;
}

/* "Don't stop", "ja halt": a longer entry has these words in it and is no STOP entry. */
static bool is_part_of_other(const struct room_utterance *u, unsigned from, unsigned n)
{
	for (unsigned i = 0; i <= from; i++)
		for (unsigned k = n; k < ROOM_ENTRY_CHARS; k++) {
			uint32_t classes = u->w.v[i].classes[k];

			if (classes && !(classes & ROOM_WORD_STOP) && i + k + 1 >= from + n)
				return true;
		}
	return false;
}

/* The number of words of the STOP entry at word i and its classes; 0 if none is. */
static unsigned match_stop(const struct room_utterance *u, unsigned i, uint32_t *classes)
{
	unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP);

	if (!n)
		return match_parted(u, i, classes);
	*classes = u->w.v[i].classes[n - 1];
	return is_part_of_other(u, i, n) ? 0 : n;
}

/* "Para ahora", when the bot asked "¿Para cuándo?": the word is the one of its question. In an
 * interim transcript the words behind it may still come. */
static bool answers_question(const struct room_utterance *u, unsigned i, unsigned n)
{
	bool goes_on = i + n < u->w.n ? !u->w.v[i + n].after_stop : u->interim;

	return goes_on && room_utterance_asked_with(u, i, n);
}

/* "行了吗" is a question: its particle stands behind the STOP entry. */
static bool has_question_particle(const struct room_utterance *u, unsigned i)
{
	const uint32_t particle = ROOM_WORD_QUESTION | ROOM_WORD_STOP_AROUND;

	return i < u->w.n && room_language_in_situ(u->w.language) && !u->w.v[i].after_stop &&
	       (u->w.v[i].classes[0] & particle) == particle;
}

bool room_stop_is_whole(const struct room_utterance *u)
{
	bool stop = false, firm = false, requests = false, asks = u->w.question;

	if (!u->w.n || u->w.cut)
		return false;
	for (unsigned i = 0, n; i < u->w.n; i += n) {
		uint32_t classes = 0;

		n = match_stop(u, i, &classes);
		if (n) {
			if (answers_question(u, i, n))
				return false;
			stop = true;
			asks = asks || has_question_particle(u, i + n);
			firm = firm || !(classes & ROOM_WORD_ENOUGH);
			continue;
		}
		n = match_around(u, i);
		if (!n)
			return false;
		requests =
			requests || room_words_match(&u->w, i, ROOM_WORD_REQUEST | ROOM_WORD_MODAL);
	}
	if (asks && !requests)
		return false;
	return stop && (firm || !u->asked);
}

/* Words around a STOP entry that are neither polite nor the bot's name, before or after it.
 * Negations and questions are no such words: UINT_MAX. */
static unsigned count_rest(const struct room_utterance *u, unsigned from, unsigned to)
{
	const uint32_t not_rest = ROOM_WORD_COUNTER | ROOM_WORD_QUESTION | ROOM_WORD_MODAL;
	unsigned rest = 0;

	for (unsigned i = from; i < to;) {
		unsigned n = match_around(u, i);

		if (room_words_match(&u->w, i, not_rest) > n)
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
		uint32_t classes;
		unsigned n = match_stop(u, i, &classes);
		unsigned before = n ? count_rest(u, 0, i) : 0;
		unsigned after = n ? count_rest(u, i + n, u->w.n) : 0;

		if (n && !answers_question(u, i, n) && !has_question_particle(u, i + n) &&
		    ((!before && after <= most) || (!after && before <= most)))
			return true;
	}
	return false;
}

/* "Don't stop talking": the word before negates it; "no, stop talking" does not. */
static bool is_negated(const struct room_utterance *u, unsigned i)
{
	uint32_t before = i && !u->w.v[i].after_stop ? u->w.v[i - 1].classes[0] : 0;

	return before & ROOM_WORD_COUNTER && !(before & ROOM_WORD_STOP_AROUND);
}

bool room_takeover_occurs(const struct room_utterance *u)
{
	for (unsigned i = 0; i < u->w.n; i++)
		if (room_words_match(&u->w, i, ROOM_WORD_TAKEOVER) && !is_negated(u, i))
			return true;
	return false;
}
