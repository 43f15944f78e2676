#include <string.h>

#include "control/room/language/language.h"

enum {
	SAID = 3,    /* a known word of the text itself counts so much, one of `over` 1 ... */
	SHORT = 8,   /* ... but of so few letters no more than that */
	OVER = 48,   /* words of `over` that are examined */
	SPECIAL = 2, /* a letter that few languages have */
	RARE = 10,   /* at least one word in so many must be known */
};

/* Letters that tell a language; those of none of ours are in `foreign`. */
static const struct {
	enum room_language language;
	const char *letters;
} special[] = {{ROOM_LANGUAGE_DE, "äöüß"},     {ROOM_LANGUAGE_ES, "ñ¿¡"},
	       {ROOM_LANGUAGE_FR, "çèêœâîûë"}, {ROOM_LANGUAGE_IT, "òìùè"},
	       {ROOM_LANGUAGE_PL, "łąęśżźćń"}, {ROOM_LANGUAGE_PT, "ãõçâ"}};
static const char foreign[] = "ğışțșřůěčšžåøæőűďťňāēīūļķģėųįðþ";
static const char not_russian[] = "іїєґўљњћђџјѓќө";

struct evidence {
	unsigned script[ROOM_SCRIPT_COUNT];
	unsigned score[ROOM_LANGUAGE_COUNT];
	unsigned words, foreign;
};

static bool has_char(const char *letters, uint32_t ch)
{
	while (*letters)
		if (room_script_next(&letters) == ch)
			return true;
	return false;
}

static void count_letters(struct evidence *e, const char *text, unsigned weight)
{
	while (*text) {
		uint32_t ch = room_script_lower(room_script_next(&text));

		e->script[room_script_of(ch)] += weight;
		if (ch < 0x80)
			continue;
		e->foreign += has_char(foreign, ch) || has_char(not_russian, ch);
		for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
			if (has_char(special[i].letters, ch))
				e->score[special[i].language] += SPECIAL * weight;
	}
}

/* Counts words that a language of the Latin script knows. */
static void count_words(struct evidence *e, const char *text, unsigned weight)
{
	struct room_words w;

	room_words_split(&w, text, ROOM_LANGUAGE_UNKNOWN);
	for (unsigned i = 0; i < w.n && i < OVER; i++) {
		e->words += weight;
		for (int l = ROOM_LANGUAGE_EN; l <= ROOM_LANGUAGE_PT; l++)
			if (room_language_classes((enum room_language)l, w.text + w.v[i].at,
						  w.v[i].n))
				e->score[l] += weight;
	}
}

static enum room_language pick_latin(const struct evidence *e, enum room_language hint)
{
	enum room_language best = hint;

	for (int l = ROOM_LANGUAGE_EN; l <= ROOM_LANGUAGE_PT; l++)
		if (e->score[l] > (best ? e->score[best] : 0))
			best = (enum room_language)l;
	if (best == hint)
		return hint;
	return RARE * e->score[best] >= e->words && e->foreign * SAID <= e->score[best]
		       ? best
		       : ROOM_LANGUAGE_UNKNOWN;
}

/* The script of the text decides where one language of ours has it. */
static enum room_language pick_by_script(const struct evidence *e)
{
	const unsigned *n = e->script;
	unsigned kana = n[ROOM_SCRIPT_HIRAGANA] + n[ROOM_SCRIPT_KATAKANA];

	if (n[ROOM_SCRIPT_OTHER] > n[ROOM_SCRIPT_LATIN] + n[ROOM_SCRIPT_CYRILLIC] + kana)
		return ROOM_LANGUAGE_UNKNOWN;
	if (n[ROOM_SCRIPT_HANGUL])
		return ROOM_LANGUAGE_KO;
	if (kana)
		return ROOM_LANGUAGE_JA;
	if (n[ROOM_SCRIPT_HAN])
		return ROOM_LANGUAGE_ZH;
	if (n[ROOM_SCRIPT_CYRILLIC])
		return e->foreign ? ROOM_LANGUAGE_UNKNOWN : ROOM_LANGUAGE_RU;
	return ROOM_LANGUAGE_COUNT; /* Latin, or no letter at all */
}

enum room_language room_language_guess(const char *text, const char *over, enum room_language hint)
{
	struct evidence said = {0}, both = {0};
	enum room_language l;
	unsigned weight;

	count_letters(&said, text, 1);
	l = pick_by_script(&said);
	/* Chinese characters alone are Japanese in a Japanese conversation. */
	if (l == ROOM_LANGUAGE_ZH) {
		count_letters(&both, over, 1);
		return pick_by_script(&both) == ROOM_LANGUAGE_JA || hint == ROOM_LANGUAGE_JA
			       ? ROOM_LANGUAGE_JA
			       : l;
	}
	if (l != ROOM_LANGUAGE_COUNT)
		return l;
	count_letters(&both, over, 1);
	l = pick_by_script(&both);
	/* "OK", "Parley": a word in Latin letters within a conversation in another script. */
	if (l != ROOM_LANGUAGE_COUNT && l != ROOM_LANGUAGE_UNKNOWN &&
	    said.script[ROOM_SCRIPT_LATIN] < 8)
		return l;
	memset(both.score, 0, sizeof both.score);
	both.foreign = 0;
	weight = said.script[ROOM_SCRIPT_LATIN] <= SHORT ? 1 : SAID;
	count_letters(&both, text, weight);
	count_letters(&both, over, 1);
	count_words(&both, text, weight);
	count_words(&both, over, 1);
	return pick_latin(&both, hint);
}
