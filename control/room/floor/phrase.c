#include "control/room/floor/phrase.h"

#include <string.h>

#include "control/room/floor/backchannel.h"
#include "control/room/floor/stop_words.h"
#include "control/room/floor/utterance.h"

enum {
	FEW_WORDS = 4,
	FEW_LETTERS = 20,
	FEW_UNSPACED = 10,
	SLIGHT_LETTERS = 4, /* of a word that can be a sound */
	MISHEARD_LEAST = 4, /* letters of a word with one wrong vowel */
	MISHEARD_MOST = 16,
};

static bool is_few(const struct room_words *w)
{
	if (w->unspaced)
		return w->letters <= FEW_UNSPACED;
	return w->n <= FEW_WORDS && w->letters <= FEW_LETTERS;
}

static bool is_listed(const struct room_utterance *u)
{
	return u->w.question || room_utterance_objects(u, 0, u->n) ||
	       room_utterance_asks(u, 0, u->n);
}

static enum room_phrase classify(const struct room_utterance *u)
{
	if (!u->n)
		return ROOM_PHRASE_NOTHING;
	if (room_stop_is_whole(u))
		return ROOM_PHRASE_STOP;
	if (room_takeover_occurs(u))
		return ROOM_PHRASE_TAKEOVER;
	if (room_backchannel_is_sounds(u) || room_backchannel_is_stutter(u) ||
	    room_backchannel_is_broken_off(u) || room_backchannel_is(u) ||
	    room_backchannel_may_follow(u))
		return ROOM_PHRASE_BACKCHANNEL;
	if (u->w.language == ROOM_LANGUAGE_UNKNOWN ||
	    (u->interim && room_utterance_all(u, 0, u->n, ROOM_PART_SOFT)))
		return ROOM_PHRASE_FEW;
	if (is_listed(u))
		return ROOM_PHRASE_WORDS;
	return is_few(&u->w) ? ROOM_PHRASE_FEW : ROOM_PHRASE_WORDS;
}

/* "Stop", when the provider tells that it is Japanese: no word is in the lists of that language,
 * and all are a stop request in another. */
static bool is_foreign_stop(const struct room_saying *s, const struct room_utterance *u)
{
	struct room_saying other = *s;

	if (!s->told || s->told == ROOM_LANGUAGE_UNLISTED || s->asked || !u->n ||
	    room_utterance_any(u, 0, u->n, UINT32_MAX))
		return false;
	for (int l = ROOM_LANGUAGE_EN; l < ROOM_LANGUAGE_COUNT; l++) {
		struct room_utterance in;

		other.told = (enum room_language)l;
		room_utterance_split(&in, &other);
		if (room_stop_is_whole(&in))
			return true;
	}
	return false;
}

/* Fills *u with its words, too. */
static enum room_phrase classify_saying(const struct room_saying *s, struct room_utterance *u)
{
	room_utterance_split(u, s);
	return is_foreign_stop(s, u) ? ROOM_PHRASE_STOP : classify(u);
}

enum room_phrase room_phrase_of(const struct room_saying *s)
{
	struct room_utterance u;

	return classify_saying(s, &u);
}

bool room_phrase_stops_work(const struct room_saying *s)
{
	struct room_utterance u;

	room_utterance_split(&u, s);
	return room_stop_begins_or_ends(&u);
}

bool room_phrase_is_listed(const struct room_saying *s)
{
	struct room_utterance u;

	room_utterance_split(&u, s);
	return u.n && u.w.language != ROOM_LANGUAGE_UNKNOWN && is_listed(&u);
}

/* ---- slight words ---- */

/* The word with another vowel is a backchannel: "swoet" for "sweet" was misrecognised. */
static bool is_nearly_soft(const struct room_utterance *u, const struct room_word *w)
{
	char word[MISHEARD_MOST];

	if (w->n < MISHEARD_LEAST || w->n > MISHEARD_MOST)
		return false;
	memcpy(word, u->w.text + w->at, w->n);
	for (unsigned i = 0; i < w->n; i++) {
		char was = word[i];

		if (!room_backchannel_vowel(was))
			continue;
		for (const char *v = "aeiou"; *v; v++) {
			word[i] = *v;
			if (room_language_classes(u->w.language, word, w->n) &
			    (ROOM_WORD_ASSENT | ROOM_WORD_FILLER))
				return true;
		}
		word[i] = was;
	}
	return false;
}

/* A short word in no list can be a sound ("hic"), or a backchannel that was misrecognised. */
static bool is_slight_word(const struct room_utterance *u)
{
	const struct room_word *w = room_utterance_word(u, 0);
	const char *p = u->w.text + w->at;
	enum room_script script = room_script_of(room_script_next(&p));

	if (u->w.n != 1 || u->v[0].classes || u->v[0].name)
		return false;
	return (u->w.letters <= SLIGHT_LETTERS &&
		(script == ROOM_SCRIPT_LATIN || script == ROOM_SCRIPT_CYRILLIC)) ||
	       is_nearly_soft(u, w);
}

/* "Hear hear": one word, again and again. */
static bool is_doubled(const struct room_utterance *u)
{
	for (unsigned i = 1; i < u->w.n; i++)
		if (u->w.v[i].n != u->w.v[0].n ||
		    memcmp(u->w.text + u->w.v[i].at, u->w.text + u->w.v[0].at, u->w.v[0].n) != 0)
			return false;
	return u->w.n > 1;
}

/* "Par qui", "c'était quoi". */
static bool ends_in_question_word(const struct room_utterance *u)
{
	return u->n > 1 && u->v[u->n - 1].classes & ROOM_WORD_QUESTION;
}

bool room_phrase_is_slight(const struct room_saying *s)
{
	struct room_utterance u;

	if (classify_saying(s, &u) != ROOM_PHRASE_FEW || u.w.unspaced ||
	    room_utterance_any(&u, 0, u.n, ROOM_PART_NUMBER))
		return false;
	return is_slight_word(&u) || is_doubled(&u) ||
	       (room_utterance_all(&u, 0, u.n, ROOM_PART_SOFT | ROOM_WORD_OPEN_END) &&
		!ends_in_question_word(&u));
}

bool room_phrase_is_fragment(const struct room_saying *s)
{
	struct room_utterance u;

	room_utterance_split(&u, s);
	if (!u.n)
		return true;
	if (u.w.question || room_utterance_asks(&u, 0, u.n) ||
	    (u.w.n <= 2 && room_utterance_all(&u, 0, u.n, ROOM_WORD_CALL)))
		return false;
	if (u.w.unspaced)
		return u.w.letters < 4;
	return !(u.w.n >= 3 && u.w.letters >= 6) && !(u.w.n >= 2 && u.w.letters >= 10);
}

bool room_phrase_is_nonverbal(const struct room_saying *s)
{
	struct room_utterance u;

	room_utterance_split(&u, s);
	return room_backchannel_is_sounds(&u) || room_backchannel_is_stutter(&u);
}

bool room_phrase_idle(const struct room_saying *s)
{
	struct room_utterance u;

	return classify_saying(s, &u) == ROOM_PHRASE_BACKCHANNEL &&
	       (room_backchannel_is_sounds(&u) || room_backchannel_is_stutter(&u) ||
		room_utterance_all(&u, 0, u.n, ROOM_PART_SOFT));
}

bool room_phrase_passing(const struct room_saying *s)
{
	return room_phrase_of(s) == ROOM_PHRASE_BACKCHANNEL;
}
