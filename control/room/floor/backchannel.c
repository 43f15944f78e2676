#include "control/room/floor/backchannel.h"

#include <string.h>

enum {
	BACKCHANNEL_REST = 9, /* words beside an ASSENT */
	BACKCHANNEL_CHARS = 16,
	FRAGMENT = 2, /* letters of a broken-off word */
	FRAGMENT_WORDS = 3,
	NEWS_MOST = 2, /* unlisted words of a comment; twice as many characters */
	ECHO_LEAST = 3,
	PIECE_UNSPACED = 3, /* characters of an entry that is being said */
	SAYING_MAX = 2048,
};

/* ---- sounds ---- */

bool room_backchannel_vowel(char ch)
{
	return ch && strchr("aeiouy", ch);
}

static uint32_t first_letter(const struct room_utterance *u, unsigned part)
{
	const char *p = u->w.text + room_utterance_word(u, part)->at;

	return room_script_next(&p);
}

/* A part that is one kana, with no punctuation between it and the part before (joined) or
 * whatever is there. */
static bool is_one_kana(const struct room_utterance *u, unsigned part, bool joined)
{
	enum room_script script = room_script_of(first_letter(u, part));

	return u->w.unspaced && u->v[part].n == 1 && !u->v[part].name &&
	       (script == ROOM_SCRIPT_HIRAGANA || script == ROOM_SCRIPT_KATAKANA) &&
	       !(joined && room_utterance_word(u, part)->after_stop);
}

/* The long vowel mark and the small tsu, which stretch and cut a sound. */
static bool is_kana_mark(uint32_t ch)
{
	return ch == 0x30fc || ch == 0x3063 || ch == 0x30c3;
}

/* "ラーメン", "りんご": every kana is a word to the lists; several in a row of which one is in no
 * list are a word that they do not have. */
static bool is_in_kana_word(const struct room_utterance *u, unsigned part)
{
	unsigned from = part, to = part + 1;
	bool unlisted = false, several = false;
	uint32_t letter = 0;

	if (!is_one_kana(u, part, false))
		return false;
	while (from && is_one_kana(u, from, true) && is_one_kana(u, from - 1, false))
		from--;
	while (to < u->n && is_one_kana(u, to, true))
		to++;
	for (unsigned i = from; i < to; i++) {
		uint32_t ch = first_letter(u, i);

		if (is_kana_mark(ch))
			continue;
		unlisted = unlisted || !u->v[i].classes;
		several = several || (letter && ch != letter);
		letter = ch;
	}
	return unlisted && several;
}

/* A single letter of an alphabet, of kana or jamo that is no word. */
static bool is_lone_letter(const struct room_utterance *u, unsigned part)
{
	const char *p = u->w.text + room_utterance_word(u, part)->at,
		   *end = p + room_utterance_word(u, part)->n;
	uint32_t ch = room_script_next(&p);
	enum room_script script = room_script_of(ch);

	return p == end && !u->v[part].classes &&
	       (script == ROOM_SCRIPT_CYRILLIC || script == ROOM_SCRIPT_HIRAGANA ||
		script == ROOM_SCRIPT_KATAKANA || (ch >= 0x3130 && ch <= 0x318f));
}

/* Latin letters without a vowel (pff, brr, tsk), or too few to be a word (th, wh). */
static bool is_sound(const struct room_utterance *u, unsigned part)
{
	const struct room_word *w = room_utterance_word(u, part);
	const char *text = u->w.text + w->at;
	bool vowel = false;

	if (is_in_kana_word(u, part))
		return false;
	if (u->v[part].classes & ROOM_WORD_FILLER)
		return true;
	/* "Pi", "ox": letters that answer a question. */
	if (u->v[part].name || u->asked)
		return false;
	if (is_lone_letter(u, part))
		return true;
	for (unsigned i = 0; i < w->n; i++) {
		if (text[i] < 'a' || text[i] > 'z')
			return false;
		vowel = vowel || room_backchannel_vowel(text[i]);
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
		vowel = vowel || room_backchannel_vowel(word[i]);
	}
	return n <= 3 && vowel;
}

static bool syllables_rhyme(const char *a, unsigned na, const char *b, unsigned nb)
{
	unsigned i = 0, k = 0;

	while (i < na && !room_backchannel_vowel(a[i]))
		i++;
	while (k < nb && !room_backchannel_vowel(b[k]))
		k++;
	return (na - i == nb - k && memcmp(a + i, b + k, na - i) == 0) ||
	       (!room_backchannel_vowel(*a) && *a == *b);
}

/* "La la la", "dum di dum": similar syllables, next to each other or one apart. */
static bool is_humming(const struct room_utterance *u)
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
bool room_backchannel_is_sounds(const struct room_utterance *u)
{
	if (!u->n || u->w.cut || u->w.question)
		return false;
	for (unsigned i = 0; i < u->n; i++)
		if (!is_sound(u, i))
			return is_humming(u);
	return true;
}

bool room_backchannel_is_stutter(const struct room_utterance *u)
{
	const struct room_words *w = &u->w;
	uint32_t known = w->unspaced ? ROOM_WORD_FILLER | ROOM_WORD_GLUE : 0;

	if (w->n < 2 || w->question || w->letters > (unsigned)(w->unspaced ? 3 : 8))
		return false;
	/* "等等": the entry itself repeats a character. */
	if (w->unspaced && room_utterance_objects(u, 0, u->n))
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

/* "小さい", "是上海啊": where words have no blanks, a last character without punctuation before it
 * belongs to the word. */
static bool ends_in_filler(const struct room_utterance *u)
{
	const struct room_part *last = &u->v[u->n - 1];

	return u->n > 1 && last->classes & ROOM_WORD_FILLER &&
	       (!u->w.unspaced || last->n > 1 || room_utterance_word(u, u->n - 1)->after_stop);
}

bool room_backchannel_is_broken_off(const struct room_utterance *u)
{
	if (u->interim || u->w.question || u->w.n > FRAGMENT_WORDS * (u->w.unspaced ? 2u : 1u))
		return false;
	if (ends_in_filler(u) && !room_utterance_objects(u, 0, u->n))
		return true;
	if (room_utterance_any(u, 0, u->n, ROOM_WORD_FILLER) &&
	    room_utterance_all(u, 0, u->n, ROOM_WORD_FILLER | ROOM_WORD_GLUE))
		return true;
	return room_utterance_all(u, 0, u->n, ROOM_WORD_OPEN_END | ROOM_WORD_FILLER) &&
	       !room_utterance_any(u, 0, u->n,
				   ROOM_WORD_COUNTER | ROOM_WORD_QUESTION | ROOM_WORD_REQUEST);
}

/* ---- backchannels ---- */

static bool is_letter(char ch)
{
	return (unsigned char)ch >= 0x80 || (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9');
}

/* True if the word occurs in the text; whole: with no letter on either side. */
static bool occurs_in(const char *text, const char *word, size_t n, bool whole)
{
	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		if (!whole || ((p == text || !is_letter(p[-1])) && !is_letter(p[n])))
			return true;
	return false;
}

/* True if the bot's sentence has the words of this part: "seven, yeah". */
static bool is_echo(const struct room_utterance *u, unsigned part)
{
	const struct room_word *first = room_utterance_word(u, part),
			       *last = &u->w.v[u->v[part].at + u->v[part].n - 1];
	char over[SAYING_MAX];
	char word[64];
	size_t n = (size_t)(last->at + last->n - first->at), k = 0;

	if (n >= sizeof word)
		return false;
	memcpy(word, u->w.text + first->at, n);
	word[n] = '\0';
	for (const char *p = u->over; *p;)
		if (!room_script_put(over, sizeof over, &k,
				     room_script_lower(room_script_next(&p))))
			break;
	over[k] = '\0';
	return occurs_in(over, word, n, !u->w.unspaced && n < ECHO_LEAST);
}

/* The end of an interim transcript may become an entry: "yeah tot" becomes "totally". */
static bool may_grow(const struct room_utterance *u, unsigned part)
{
	return u->interim && part + (u->w.unspaced ? PIECE_UNSPACED : 1) >= u->n;
}

/* Endings of adjectives, by which a word that is in no list praises or pities; "oh fire" and "oh
 * twelve" are news. */
static bool ends_as_adjective(const struct room_utterance *u, unsigned part)
{
	static const char *const endings[ROOM_LANGUAGE_COUNT] = {
		[ROOM_LANGUAGE_EN] =
			"ous ible able ing ic ish ed id tic al ive some y ry nt less ful",
		[ROOM_LANGUAGE_DE] = "lich ig isch bar voll end sam haft ant ent los iv ell",
		[ROOM_LANGUAGE_ES] =
			"oso osa able ible ante ente ico ica ado ada ido ida ivo iva al",
		[ROOM_LANGUAGE_FR] = "ant ante eux euse able ible ique é ée el elle if ive al ale",
		[ROOM_LANGUAGE_IT] =
			"oso osa abile ibile ante ente ico ica ato ata ito ita ivo iva ale",
		[ROOM_LANGUAGE_NL] = "lijk ig isch baar vol end zaam haft ant ent loos ief eel",
		[ROOM_LANGUAGE_PL] = "ny na ne nie cko wo ło wy wa we cy ca ce sty sta ste ący ące",
		[ROOM_LANGUAGE_PT] =
			"oso osa ável ível ante ente ico ica ado ada ido ida ivo iva al",
		[ROOM_LANGUAGE_RU] = "но ный ная ное ий ый ая ое ко ски во",
	};
	const struct room_word *w = room_utterance_word(u, part);
	const char *end = u->w.text + w->at + w->n, *p = endings[u->w.language];

	while (p && *p) {
		size_t n = strcspn(p, " ");

		if (n < w->n && memcmp(end - n, p, n) == 0)
			return true;
		p += n + strspn(p + n, " ");
	}
	return false;
}

/* "Oh marvellous", "oh wow splendid": an adjective behind sounds of surprise is an exclamation,
 * unless it is a name. */
static bool is_exclaimed(const struct room_utterance *u, unsigned part)
{
	const uint32_t surprise = ROOM_WORD_ASSENT | ROOM_WORD_FILLER;

	for (unsigned i = 0; i < part; i++)
		if ((u->v[i].classes & surprise) != surprise &&
		    (i == 0 || !(u->v[i].classes & ROOM_WORD_ASSENT)))
			return false;
	return part + 1 == u->n && !u->w.unspaced && !u->v[part].classes &&
	       !room_utterance_word(u, part)->capital && ends_as_adjective(u, part);
}

/* "Gut, die Karten", "good, and tomorrow": words such as an article before the last one, which
 * makes no backchannel. */
static bool leads_to_news(const struct room_utterance *u, unsigned part)
{
	const struct room_part *last = &u->v[u->n - 1];

	return part + 1 < u->n && part + 3 >= u->n && !(last->classes & ROOM_PART_SOFT) &&
	       room_utterance_all(u, part, u->n - 1, ROOM_WORD_OPEN_END);
}

/* "Great now do France": a name, except in German, where every noun has a capital letter. */
static bool is_capital_noun(const struct room_utterance *u, unsigned part)
{
	return u->w.language != ROOM_LANGUAGE_DE && !u->v[part].classes &&
	       room_utterance_word(u, part)->capital && !room_utterance_begins_clause(u, part);
}

/* True if unlisted words beside an assent are news: more than a few, as many as the others where an
 * assent of several words counts once ("okay then salmon"), with a person or a number ("my
 * wallet", "two tickets"), or behind a preposition ("in the kitchen"). */
static bool is_news(const struct room_utterance *u, unsigned from, unsigned to)
{
	unsigned unknown = 0, words = 0;
	bool told = false;

	for (unsigned i = 0; i < u->n; i++) {
		bool inside = i >= from && i < to;
		bool beside = inside && !is_echo(u, i) && !may_grow(u, i);

		if (!leads_to_news(u, i))
			words += inside ? u->v[i].n : 1;
		if (beside && !(u->v[i].classes & ROOM_PART_SOFT))
			unknown += u->v[i].n;
		told = told ||
		       (beside && (u->v[i].classes & (ROOM_WORD_PERSON | ROOM_PART_NUMBER) ||
				   is_capital_noun(u, i))) ||
		       (i == from && u->v[i].classes & ROOM_WORD_LINK);
	}
	return unknown &&
	       (told || unknown > NEWS_MOST * (u->w.unspaced ? 2u : 1u) || 2 * unknown >= words);
}

/* True if parts [from, to) leave an assent what it is: they repeat the bot or say nothing new. */
static bool is_light(const struct room_utterance *u, unsigned from, unsigned to)
{
	unsigned most = u->w.unspaced ? (unsigned)BACKCHANNEL_CHARS : (unsigned)BACKCHANNEL_REST;
	/* "What a story": the word behind belongs to it. */
	const uint32_t exclaims = ROOM_WORD_ASSENT | ROOM_WORD_LINK;
	unsigned words = 0;

	if (from && from < to && !room_utterance_begins_clause(u, from) &&
	    ((u->v[from - 1].classes & exclaims) == exclaims || is_exclaimed(u, from)))
		from++;
	for (unsigned i = from; i < to; i++)
		words += u->v[i].n;
	return words <= most && !is_news(u, from, to) && !room_utterance_objects(u, from, to) &&
	       !room_utterance_asks(u, from, to);
}

/* "Really?" asks for nothing; "hm?" asks to say it again, and so does the word that answers a call,
 * alone, in Japanese and Korean ("はい？"). */
static bool is_surprise(const struct room_utterance *u)
{
	bool wordy = false;

	if (u->n == 1 && room_language_in_situ(u->w.language) &&
	    u->v[0].classes & (ROOM_WORD_CALL | ROOM_WORD_LEAD))
		return false;

	for (unsigned i = 0; i < u->n; i++)
		wordy = wordy || (u->v[i].classes & ROOM_WORD_ASSENT &&
				  !(u->v[i].classes & ROOM_WORD_FILLER));
	return wordy && room_utterance_all(u, 0, u->n, ROOM_WORD_ASSENT | ROOM_WORD_FILLER) &&
	       !(u->v[0].classes & ROOM_WORD_QUESTION);
}

bool room_backchannel_may_follow(const struct room_utterance *u)
{
	for (unsigned i = 0; u->interim && i < u->n; i++) {
		if (room_words_may_complete(&u->w, u->v[i].at))
			return true;
		if (!(u->v[i].classes & ROOM_PART_SOFT))
			return false;
	}
	return false;
}

/* "Tem certeza": soft words all of them. */
static bool begins_with_question(const struct room_utterance *u)
{
	return u->n > 1 && room_utterance_asks(u, 0, 1);
}

bool room_backchannel_is(const struct room_utterance *u)
{
	unsigned from = 0, to = u->n;
	bool echo = false;

	if (u->w.cut || room_utterance_is_named(u) || room_utterance_inverts(u, 0))
		return false;
	if (room_utterance_any(u, 0, u->n, ROOM_WORD_ASSENT) &&
	    room_utterance_all(u, 0, u->n, ROOM_PART_SOFT))
		return (!u->w.question && !begins_with_question(u)) || is_surprise(u);
	if (u->w.question)
		return false;
	while (from < to && u->v[from].classes & ROOM_WORD_FILLER &&
	       !(u->v[from].classes & ROOM_WORD_ASSENT))
		from++;
	if (from < to && u->v[from].classes & ROOM_WORD_ASSENT && is_light(u, from + 1, to))
		return true;
	if (to > from + 1 && u->v[to - 1].classes & ROOM_WORD_ASSENT &&
	    (!u->w.unspaced || room_utterance_word(u, to - 1)->after_stop) &&
	    is_light(u, from, to - 1))
		return true;
	for (unsigned i = from; i < to; i++) {
		bool same = is_echo(u, i);

		/* "My turn", "eighty one": these words are what is new. */
		if (!same && (!(u->v[i].classes & ROOM_PART_SOFT) ||
			      u->v[i].classes & (ROOM_WORD_PERSON | ROOM_PART_NUMBER)))
			return false;
		echo = echo || (same && !(u->v[i].classes & ROOM_WORD_GLUE));
	}
	return echo && is_light(u, from, to);
}
