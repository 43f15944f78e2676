#include "control/room/floor/phrase.h"

#include <limits.h>
#include <string.h>

#include "control/room/floor/address.h"

enum {
	FEW_WORDS = 4,
	FEW_LETTERS = 20,
	FEW_UNSPACED = 10,
	BACKCHANNEL_REST = 9, /* words beside an ASSENT */
	BACKCHANNEL_CHARS = 16,
	FRAGMENT = 2, /* letters of a broken-off word */
	FRAGMENT_WORDS = 3,
	ECHO_LEAST = 3,
	CALL_REST = 3, /* words beside a vocative */
	NAME_CHARS = 4,
	SLIGHT_LETTERS = 4, /* of a word that can be a sound */
	MISHEARD_LEAST = 4, /* letters of a word with one wrong vowel */
	MISHEARD_MOST = 16,
	SAYING_MAX = 2048,
	STOP_REST = 4, /* words of what is to be stopped */
	STOP_REST_UNSPACED = 10,
};

/* Beside the classes of the lists. */
enum { PART_NAME = 1u << 31 };

/* A part of an utterance: the longest entry, or a word that is in no list. */
struct part {
	uint8_t at, n; /* words */
	uint32_t classes;
};

struct utterance {
	struct room_words w;
	unsigned n;
	struct part v[ROOM_WORDS_MAX];
	const char *over;
	bool interim;
};

static const uint32_t numbers = ROOM_WORD_ORDINAL_1 | ROOM_WORD_ORDINAL_2 | ROOM_WORD_ORDINAL_3 |
				ROOM_WORD_ORDINAL_4 | ROOM_WORD_ORDINAL_5;
static const uint32_t soft = ROOM_WORD_ASSENT | ROOM_WORD_FILLER | ROOM_WORD_GLUE;

enum room_language room_phrase_language(const struct room_saying *s)
{
	return s->told ? s->told
		       : room_language_guess(s->text, s->over ? s->over : "", s->language);
}

static void split_parts(struct utterance *u, const struct room_saying *s)
{
	room_words_split(&u->w, s->text, room_phrase_language(s));
	u->over = s->over ? s->over : "";
	u->interim = s->interim;
	u->n = 0;
	for (unsigned i = 0; i < u->w.n;) {
		struct part *p = &u->v[u->n++];
		unsigned name = s->names ? room_name_at(s->names, &u->w, i) : 0;
		unsigned n = room_words_entry(&u->w, i, &p->classes);

		p->at = (uint8_t)i;
		p->n = (uint8_t)(name ? name : n);
		if (name)
			p->classes = (uint32_t)PART_NAME;
		i += p->n;
	}
}

static const struct room_word *word_of(const struct utterance *u, unsigned part)
{
	return &u->w.v[u->v[part].at];
}

/* Punctuation stands before this part, or it is the first, or there is none. */
static bool begins_clause(const struct utterance *u, unsigned part)
{
	return part == 0 || part >= u->n || word_of(u, part)->after_stop;
}

static bool all_of(const struct utterance *u, unsigned from, unsigned to, uint32_t classes)
{
	for (unsigned i = from; i < to; i++)
		if (!(u->v[i].classes & classes))
			return false;
	return true;
}

static bool any_of(const struct utterance *u, unsigned from, unsigned to, uint32_t classes)
{
	for (unsigned i = from; i < to; i++)
		if (u->v[i].classes & classes)
			return true;
	return false;
}

/* "Ok, please stop it now." The longest entry may hide a shorter one, so words are matched anew. */
static bool is_only_stop(const struct utterance *u)
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
				if (u->v[k].at == i && u->v[k].classes & PART_NAME)
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
static unsigned count_rest(const struct utterance *u, unsigned from, unsigned to)
{
	unsigned rest = 0;

	for (unsigned i = from; i < to;) {
		unsigned n = room_words_match(&u->w, i, ROOM_WORD_STOP_AROUND);

		for (unsigned k = 0; !n && k < u->n; k++)
			if (u->v[k].at == i && u->v[k].classes & PART_NAME)
				n = u->v[k].n;
		if (!n && room_words_match(&u->w, i, ROOM_WORD_COUNTER | ROOM_WORD_QUESTION))
			return UINT_MAX;
		rest += n ? 0 : 1;
		i += n ? n : 1;
	}
	return rest;
}

static bool stops_work(const struct utterance *u)
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

static bool is_takeover(const struct utterance *u)
{
	for (unsigned i = 0; i < u->w.n; i++)
		if (room_words_match(&u->w, i, ROOM_WORD_TAKEOVER))
			return true;
	return false;
}

/* ---- questions, requests, objections ---- */

/* "What a story" and "how funny" are exclamations, no questions. */
static bool is_exclamation(const struct utterance *u, unsigned i)
{
	static const char *const of_how[] = {"do",    "does", "did",   "is",	 "are",	  "was",
					     "were",  "can",  "could", "much",	 "many",  "long",
					     "old",   "far",  "would", "should", "to",	  "come",
					     "about", "tall", "high",  "big",	 "often", "late"};
	const char *word = u->w.text + word_of(u, i)->at, *next;
	size_t n;

	if (u->w.language != ROOM_LANGUAGE_EN || i + 1 >= u->n || u->w.question)
		return false;
	next = u->w.text + word_of(u, i + 1)->at;
	n = word_of(u, i + 1)->n;
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
static bool is_unfinished(const struct utterance *u, unsigned i)
{
	return u->interim && i + 1 == u->n;
}

/* True if a question or request begins with this part. */
static bool asks_at(const struct utterance *u, unsigned i)
{
	uint32_t classes = is_unfinished(u, i) ? 0 : u->v[i].classes;

	if (classes & ROOM_WORD_QUESTION)
		return !is_exclamation(u, i);
	if (classes & (ROOM_WORD_REQUEST | ROOM_WORD_WISH))
		return !(classes & (ROOM_WORD_ASSENT | ROOM_WORD_FILLER)) || u->n == 1;
	return classes & ROOM_WORD_MODAL && i + 1 < u->n && u->v[i + 1].classes & ROOM_WORD_SUBJECT;
}

/* True if a question or request begins anywhere in [from, to): at the beginning of a clause, after
 * words that lead to it, or in some languages in any position. */
static bool asks_in(const struct utterance *u, unsigned from, unsigned to)
{
	bool opens = true;

	for (unsigned i = from; i < to; i++) {
		opens = opens || begins_clause(u, i);
		if (opens && asks_at(u, i))
			return true;
		if (room_language_in_situ(u->w.language) &&
		    u->v[i].classes & (ROOM_WORD_QUESTION | ROOM_WORD_REQUEST) &&
		    !(u->v[i].classes & soft))
			return true;
		opens = opens &&
			(u->v[i].classes & (ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_ASSENT |
					    ROOM_WORD_FILLER | (uint32_t)PART_NAME));
	}
	return false;
}

/* "No kidd" may become "no kidding": the piece of a word may complete an entry. */
static bool precedes_piece(const struct utterance *u, unsigned i)
{
	return u->interim && i + 2 == u->n && !u->v[i + 1].classes && !begins_clause(u, i + 1);
}

static bool objects_in(const struct utterance *u, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (u->v[i].classes & (ROOM_WORD_COUNTER | ROOM_WORD_TAKEOVER) &&
		    !(u->v[i].classes & ROOM_WORD_ASSENT) && !is_unfinished(u, i) &&
		    !precedes_piece(u, i))
			return true;
	return false;
}

/* ---- sounds ---- */

static bool is_vowel(char ch)
{
	return ch && strchr("aeiouy", ch);
}

/* A single letter of an alphabet, of kana or jamo that is no word. */
static bool is_lone_letter(const struct utterance *u, unsigned part)
{
	const char *p = u->w.text + word_of(u, part)->at, *end = p + word_of(u, part)->n;
	uint32_t ch = room_script_next(&p);
	enum room_script script = room_script_of(ch);

	return p == end && !u->v[part].classes &&
	       (script == ROOM_SCRIPT_CYRILLIC || script == ROOM_SCRIPT_HIRAGANA ||
		script == ROOM_SCRIPT_KATAKANA || (ch >= 0x3130 && ch <= 0x318f));
}

/* Latin letters without a vowel (pff, brr, tsk), or too few to be a word (th, wh). */
static bool is_sound(const struct utterance *u, unsigned part)
{
	const struct room_word *w = word_of(u, part);
	const char *text = u->w.text + w->at;
	bool vowel = false;

	if (u->v[part].classes & ROOM_WORD_FILLER || is_lone_letter(u, part))
		return true;
	for (unsigned i = 0; i < w->n; i++) {
		if (text[i] < 'a' || text[i] > 'z')
			return false;
		vowel = vowel || is_vowel(text[i]);
	}
	if (u->v[part].n > 1 || u->v[part].classes & ~(uint32_t)ROOM_WORD_ASSENT)
		return false;
	/* "SVG" is spelt, "th" breaks off. */
	return !vowel ? !w->caps : !u->v[part].classes && w->n <= FRAGMENT && !w->capital;
}

static bool is_syllable(const char *word, unsigned n)
{
	bool vowel = false;

	for (unsigned i = 0; i < n; i++) {
		if (word[i] < 'a' || word[i] > 'z')
			return false;
		vowel = vowel || is_vowel(word[i]);
	}
	return n <= 3 && vowel;
}

static bool syllables_rhyme(const char *a, unsigned na, const char *b, unsigned nb)
{
	unsigned i = 0, k = 0;

	while (i < na && !is_vowel(a[i]))
		i++;
	while (k < nb && !is_vowel(b[k]))
		k++;
	return (na - i == nb - k && memcmp(a + i, b + k, na - i) == 0) ||
	       (!is_vowel(*a) && *a == *b);
}

/* "La la la", "dum di dum": similar syllables, next to each other or one apart. */
static bool is_humming(const struct utterance *u)
{
	const struct room_words *w = &u->w;
	bool alike = false;

	for (unsigned i = 0; i < w->n; i++) {
		const char *word = w->text + w->v[i].at;
		uint32_t classes = w->v[i].classes[0];

		if (!is_syllable(word, w->v[i].n) ||
		    (classes & ~(uint32_t)(ROOM_WORD_FILLER | ROOM_WORD_ASSENT)))
			return false;
		for (unsigned k = 1; k <= 2 && k <= i; k++)
			alike = alike || syllables_rhyme(w->text + w->v[i - k].at, w->v[i - k].n,
							 word, w->v[i].n);
	}
	return alike;
}

/* An utterance with more words than are kept says more. */
static bool is_only_sounds(const struct utterance *u)
{
	if (!u->n || u->w.cut || u->w.question)
		return false;
	for (unsigned i = 0; i < u->n; i++)
		if (!is_sound(u, i))
			return is_humming(u);
	return true;
}

/* "L le", "就就": a short word that is begun again. */
static bool is_stutter(const struct utterance *u)
{
	const struct room_words *w = &u->w;
	uint32_t known = w->unspaced ? ROOM_WORD_FILLER | ROOM_WORD_GLUE : 0;

	if (w->n < 2 || w->question || w->letters > (unsigned)(w->unspaced ? 3 : 8))
		return false;
	for (unsigned i = 0; i + 1 < w->n; i++) {
		const struct room_word *a = &w->v[i], *b = &w->v[i + 1];
		unsigned n = a->n < b->n ? a->n : b->n;

		if (memcmp(w->text + a->at, w->text + b->at, n) != 0 || (a->classes[0] & ~known) ||
		    (w->text[a->at] >= '0' && w->text[a->at] <= '9'))
			return false;
	}
	return w->unspaced || w->v[0].n <= FRAGMENT;
}

/* "The", "and so, um": nobody ends a sentence so; the speaker gave it up. */
static bool is_broken_off(const struct utterance *u)
{
	if (u->interim || u->w.question || u->w.n > FRAGMENT_WORDS * (u->w.unspaced ? 2u : 1u))
		return false;
	if (u->n > 1 && u->v[u->n - 1].classes & ROOM_WORD_FILLER)
		return true;
	if (any_of(u, 0, u->n, ROOM_WORD_FILLER) &&
	    all_of(u, 0, u->n, ROOM_WORD_FILLER | ROOM_WORD_GLUE))
		return true;
	return all_of(u, 0, u->n, ROOM_WORD_OPEN_END | ROOM_WORD_FILLER) &&
	       !any_of(u, 0, u->n, ROOM_WORD_COUNTER | ROOM_WORD_QUESTION | ROOM_WORD_REQUEST);
}

/* ---- backchannels ---- */

/* True if the bot's sentence has the words of this part: "seven, yeah". */
static bool is_echo(const struct utterance *u, unsigned part)
{
	const struct room_word *first = word_of(u, part),
			       *last = &u->w.v[u->v[part].at + u->v[part].n - 1];
	char over[SAYING_MAX];
	char word[64];
	size_t n = (size_t)(last->at + last->n - first->at), k = 0;

	if (n >= sizeof word || (!u->w.unspaced && n < ECHO_LEAST))
		return false;
	memcpy(word, u->w.text + first->at, n);
	word[n] = '\0';
	for (const char *p = u->over; *p;)
		if (!room_script_put(over, sizeof over, &k,
				     room_script_lower(room_script_next(&p))))
			break;
	over[k] = '\0';
	return strstr(over, word) != NULL;
}

/* True if parts [from, to) leave an assent what it is. */
static bool is_light(const struct utterance *u, unsigned from, unsigned to)
{
	unsigned most = u->w.unspaced ? (unsigned)BACKCHANNEL_CHARS : (unsigned)BACKCHANNEL_REST;
	unsigned words = 0;

	for (unsigned i = from; i < to; i++)
		words += u->v[i].n;
	return words <= most && !objects_in(u, from, to) && !asks_in(u, from, to);
}

/* "Really?" asks for nothing; "hm?" asks to say it again. */
static bool is_surprise(const struct utterance *u)
{
	bool wordy = false;

	for (unsigned i = 0; i < u->n; i++)
		wordy = wordy || (u->v[i].classes & ROOM_WORD_ASSENT &&
				  !(u->v[i].classes & ROOM_WORD_FILLER));
	return wordy && all_of(u, 0, u->n, ROOM_WORD_ASSENT | ROOM_WORD_FILLER) &&
	       !(u->v[0].classes & ROOM_WORD_QUESTION);
}

static bool is_backchannel(const struct utterance *u)
{
	unsigned from = 0, to = u->n;
	bool echo = false;

	if (u->w.cut || any_of(u, 0, u->n, (uint32_t)PART_NAME))
		return false;
	if (any_of(u, 0, u->n, ROOM_WORD_ASSENT) && all_of(u, 0, u->n, soft))
		return !u->w.question || is_surprise(u);
	if (u->w.question)
		return false;
	while (from < to && u->v[from].classes & ROOM_WORD_FILLER &&
	       !(u->v[from].classes & ROOM_WORD_ASSENT))
		from++;
	if (from < to && u->v[from].classes & ROOM_WORD_ASSENT && is_light(u, from + 1, to))
		return true;
	if (to > from + 1 && u->v[to - 1].classes & ROOM_WORD_ASSENT &&
	    (!u->w.unspaced || word_of(u, to - 1)->after_stop) && is_light(u, from, to - 1))
		return true;
	for (unsigned i = from; i < to; i++) {
		bool same = is_echo(u, i);

		/* "My turn", "eighty one": these words are what is new. */
		if (!same &&
		    (!(u->v[i].classes & soft) || u->v[i].classes & (ROOM_WORD_PERSON | numbers)))
			return false;
		echo = echo || (same && !(u->v[i].classes & ROOM_WORD_GLUE));
	}
	return echo && is_light(u, from, to);
}

static bool is_few(const struct room_words *w)
{
	if (w->unspaced)
		return w->letters <= FEW_UNSPACED;
	return w->n <= FEW_WORDS && w->letters <= FEW_LETTERS;
}

static bool is_listed(const struct utterance *u)
{
	return u->w.question || objects_in(u, 0, u->n) || asks_in(u, 0, u->n);
}

static enum room_phrase classify(const struct utterance *u)
{
	if (!u->n)
		return ROOM_PHRASE_NOTHING;
	if (is_only_stop(u))
		return ROOM_PHRASE_STOP;
	if (is_takeover(u))
		return ROOM_PHRASE_TAKEOVER;
	if (is_only_sounds(u) || is_stutter(u) || is_broken_off(u) || is_backchannel(u))
		return ROOM_PHRASE_BACKCHANNEL;
	if (u->w.language == ROOM_LANGUAGE_UNKNOWN || (u->interim && all_of(u, 0, u->n, soft)))
		return ROOM_PHRASE_FEW;
	if (is_listed(u))
		return ROOM_PHRASE_WORDS;
	return is_few(&u->w) ? ROOM_PHRASE_FEW : ROOM_PHRASE_WORDS;
}

enum room_phrase room_phrase_of(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	return classify(&u);
}

bool room_phrase_stops_work(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	return stops_work(&u);
}

bool room_phrase_is_listed(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	return u.n && u.w.language != ROOM_LANGUAGE_UNKNOWN && is_listed(&u);
}

/* ---- slight words ---- */

/* The word with another vowel is a backchannel: "swoet" for "sweet" was misrecognised. */
static bool is_nearly_soft(const struct utterance *u, const struct room_word *w)
{
	char word[MISHEARD_MOST];

	if (w->n < MISHEARD_LEAST || w->n > MISHEARD_MOST)
		return false;
	memcpy(word, u->w.text + w->at, w->n);
	for (unsigned i = 0; i < w->n; i++) {
		char was = word[i];

		if (!is_vowel(was))
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
static bool is_slight_word(const struct utterance *u)
{
	const struct room_word *w = word_of(u, 0);
	const char *p = u->w.text + w->at;
	enum room_script script = room_script_of(room_script_next(&p));

	if (u->w.n != 1 || u->v[0].classes)
		return false;
	return (u->w.letters <= SLIGHT_LETTERS &&
		(script == ROOM_SCRIPT_LATIN || script == ROOM_SCRIPT_CYRILLIC)) ||
	       is_nearly_soft(u, w);
}

/* "Hear hear": one word, again and again. */
static bool is_doubled(const struct utterance *u)
{
	for (unsigned i = 1; i < u->w.n; i++)
		if (u->w.v[i].n != u->w.v[0].n ||
		    memcmp(u->w.text + u->w.v[i].at, u->w.text + u->w.v[0].at, u->w.v[0].n) != 0)
			return false;
	return u->w.n > 1;
}

bool room_phrase_is_slight(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	if (classify(&u) != ROOM_PHRASE_FEW || u.w.unspaced || any_of(&u, 0, u.n, numbers))
		return false;
	return is_slight_word(&u) || is_doubled(&u) ||
	       all_of(&u, 0, u.n, soft | ROOM_WORD_OPEN_END);
}

bool room_phrase_is_fragment(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	if (!u.n)
		return true;
	if (u.w.question || asks_in(&u, 0, u.n) ||
	    (u.w.n <= 2 && all_of(&u, 0, u.n, ROOM_WORD_CALL)))
		return false;
	if (u.w.unspaced)
		return u.w.letters < 4;
	return !(u.w.n >= 3 && u.w.letters >= 6) && !(u.w.n >= 2 && u.w.letters >= 10);
}

bool room_phrase_is_nonverbal(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	return is_only_sounds(&u) || is_stutter(&u);
}

bool room_phrase_idle(const struct room_saying *s)
{
	struct utterance u;

	split_parts(&u, s);
	return classify(&u) == ROOM_PHRASE_BACKCHANNEL &&
	       (is_only_sounds(&u) || is_stutter(&u) || all_of(&u, 0, u.n, soft));
}

bool room_phrase_passing(const struct room_saying *s)
{
	return room_phrase_of(s) == ROOM_PHRASE_BACKCHANNEL;
}

bool room_phrase_asks(const char *text)
{
	struct room_saying s = {.text = text};
	struct utterance u;

	split_parts(&u, &s);
	return u.w.question || asks_in(&u, 0, u.n);
}

/* ---- words to somebody else ---- */

/* True if parts [from, to), a clause of its own, call a person: "mum", "Mr Wang", "Oscar". */
static bool calls_person(const struct utterance *u, unsigned from, unsigned to)
{
	const struct room_word *first = word_of(u, from);
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
	if (to > from + 1 && word_of(u, to - 1)->capital && !u->v[to - 1].classes &&
	    u->v[to - 1].n == 1 && all_of(u, from, to - 1, ROOM_WORD_LEAD | ROOM_WORD_CALL))
		return true;
	if (any_of(u, from, to, UINT32_MAX))
		return false;
	if (u->w.language == ROOM_LANGUAGE_ZH || u->w.language == ROOM_LANGUAGE_JA)
		return words >= 2 && words <= NAME_CHARS;
	return words == 1 && (first->capital || u->w.language == ROOM_LANGUAGE_KO);
}

/* "수진아", "민수야": the ending calls somebody. */
static bool has_calling_end(const struct utterance *u, unsigned part)
{
	const struct room_word *w = word_of(u, part);
	const char *end = u->w.text + w->at + w->n;

	return u->w.language == ROOM_LANGUAGE_KO && w->n >= 9 && !u->v[part].classes &&
	       (memcmp(end - 3, "아", 3) == 0 || memcmp(end - 3, "야", 3) == 0) &&
	       (begins_clause(u, part + 1));
}

bool room_phrase_to_other(const struct room_saying *s)
{
	struct utterance u;
	unsigned rest = 0;

	split_parts(&u, s);
	rest = u.w.unspaced ? CALL_REST + 1 : (unsigned)CALL_REST;
	if (!u.n || any_of(&u, 0, u.n, (uint32_t)PART_NAME))
		return false;
	for (unsigned from = 0, to; from < u.n; from = to) {
		bool objects = u.v[0].classes & ROOM_WORD_COUNTER && from;

		for (to = from + 1; to < u.n && !begins_clause(&u, to); to++)
			if (has_calling_end(&u, to) && u.w.n >= 3)
				return true;
		if (to - from == u.n || u.w.n < rest || !calls_person(&u, from, to))
			continue;
		if (any_of(&u, from, to, ROOM_WORD_KIN))
			return true;
		if (from == 0 && to < u.n && u.v[to].classes & ROOM_WORD_COUNTER)
			continue;
		if (from == 0 && !asks_in(&u, to, u.n) && !any_of(&u, to, u.n, ROOM_WORD_PERSON))
			continue;
		if (from == 0 || (!objects && u.v[from].at >= CALL_REST - (to < u.n)))
			return true;
	}
	return false;
}
