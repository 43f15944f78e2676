#include "control/memory/guard_fold.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "control/memory/confusables.def"
#include "control/memory/terms.h"

enum { SPACED_MIN = 4 }; /* letters that stand alone, one after another */

struct range {
	uint32_t from, to;
};

/* Format characters (Cf of Unicode), fillers, variation selectors and combining marks. */
static const struct range invisible[] = {
	{0xad, 0xad},	  {0x300, 0x36f},   {0x483, 0x489},    {0x61c, 0x61c},	 {0x115f, 0x1160},
	{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x1ab0, 0x1aff},  {0x1dc0, 0x1dff}, {0x200b, 0x200f},
	{0x202a, 0x202e}, {0x2060, 0x206f}, {0x20d0, 0x20ff},  {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
	{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
/* Control characters and separators (Zs, Zl, Zp). */
static const struct range blank[] = {{1, ' '},	       {0x7f, 0xa0},	 {0x1680, 0x1680},
				     {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
				     {0x205f, 0x205f}, {0x3000, 0x3000}};

#define IS_IN(c, list) is_in(c, list, sizeof(list) / sizeof(list)[0])
static bool is_in(uint32_t c, const struct range *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= list[i].from && c <= list[i].to)
			return true;
	return false;
}

/* ---- characters ---- */

/* Letters of Latin-1 and Latin Extended-A without their accents. */
static const char plain[] = "aaaaaaaceeeeiiiidnooooo ouuuuypsaaaaaaaceeeeiiiidnooooo ouuuuypy"
			    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
			    "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/* Alphabets that repeat after so many characters: mathematical, circled, squared letters. */
static const struct {
	uint32_t from, to;
	unsigned period; /* 52: capitals and small letters */
} letters[] = {{0x1d400, 0x1d6a3, 52}, {0x249c, 0x24b5, 26},   {0x24b6, 0x24e9, 26},
	       {0x1f130, 0x1f149, 26}, {0x1f150, 0x1f169, 26}, {0x1f170, 0x1f189, 26},
	       {0x1f1e6, 0x1f1ff, 26}, {0xff21, 0xff3a, 26},   {0xff41, 0xff5a, 26}};

enum { ALPHABETS = 0x370, ALPHABETS_END = 0x600 };

static const char alike[ALPHABETS_END - ALPHABETS] = {
#define C(letter, character) [(character)-ALPHABETS] = (letter),
	CONFUSABLES(C)
#undef C
};

/* 0: it looks like no Latin letter. */
static char look_alike(uint32_t c)
{
	if (c >= ALPHABETS && c < ALPHABETS_END)
		return alike[c - ALPHABETS];
	for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
		if (c >= letters[i].from && c <= letters[i].to)
			return (char)('a' + (c - letters[i].from) % letters[i].period % 26);
	switch (c) {
#define C(letter, character)                                                                       \
	case character:                                                                            \
		return letter;
		RARE_CONFUSABLES(C)
#undef C
	default:
		return 0;
	}
}

/* Punctuation of other scripts as that of ASCII; the character itself if it is none. */
static uint32_t to_ascii_mark(uint32_t c)
{
	static const struct {
		uint32_t from, to;
		char mark;
	} marks[] = {{0x2018, 0x201b, '\''}, {0x201c, 0x201f, '"'}, {0x2010, 0x2015, '-'},
		     {0x2022, 0x2022, '.'},  {0x2026, 0x2026, '.'}, {0xb7, 0xb7, '.'},
		     {0xab, 0xab, '"'},	     {0xbb, 0xbb, '"'},	    {0x3001, 0x3001, ','},
		     {0x3002, 0x3002, '.'},  {0x300c, 0x300f, '"'}, {0x30fb, 0x30fb, '.'}};

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (c >= marks[i].from && c <= marks[i].to)
			return (uint32_t)marks[i].mark;
	/* Full-width marks and digits. */
	return c >= 0xff01 && c <= 0xff5e ? c - 0xfee0 : c;
}

/* 0: it is invisible. */
static uint32_t fold_char(uint32_t c)
{
	char look;

	/* Most characters are none of what follows. */
	if (terms_is_dense(c) || (c > ' ' && c < 0x7f))
		return terms_lower(c);
	if (IS_IN(c, invisible))
		return 0;
	if (IS_IN(c, blank))
		return ' ';
	if (c >= 0xc0 && c < 0x180)
		return (unsigned char)plain[c - 0xc0];
	look = look_alike(c = terms_lower(c));
	return look ? (uint32_t)look : to_ascii_mark(c);
}

static size_t put_char(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* ---- texts ---- */

static bool is_mark(uint32_t c)
{
	return c < 0x80 && c && strchr(",;:.!?\"()[]{}*~-_/|+=<>", (int)c);
}

static void fold_words(char to[GUARD_FOLD_SIZE], const char *text, bool marks)
{
	const char *p = text, *end = text + strlen(text);
	uint32_t c;
	size_t n = 0;

	while ((c = terms_next(&p, end)) && n + 4 < GUARD_FOLD_SIZE) {
		c = fold_char(c);
		if (c == ' ' || (!marks && is_mark(c))) {
			if (n && to[n - 1] != ' ')
				to[n++] = ' ';
		} else if (c) {
			n += put_char(to + n, c);
		}
	}
	to[n] = '\0';
}

static char letter_of(char c)
{
	static const char from[] = "0134578@$!", to[] = "oieastbasi";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c;
}

/* Digits and signs of words that hold letters, too. */
static void fold_digits(char *text)
{
	while (*text) {
		size_t n = strcspn(text, " "), small = 0;

		for (size_t i = 0; i < n; i++)
			small += islower((unsigned char)text[i]) != 0;
		for (size_t i = 0; i < n && small; i++)
			text[i] = letter_of(text[i]);
		text += n;
		text += strspn(text, " ");
	}
}

/* How many letters stand alone from here on. */
static size_t count_alone(const char *p)
{
	size_t n = 0;

	for (; isalnum((unsigned char)*p) && (p[1] == ' ' || !p[1]); n++)
		p += p[1] ? 2 : 1;
	return n;
}

static void join_letters(char *text)
{
	const char *p = text;
	char *to = text;

	while (*p) {
		size_t n = count_alone(p);

		for (size_t i = 0; n >= SPACED_MIN && i < n; i++) {
			*to++ = *p;
			p += p[1] ? 2 : 1;
		}
		if (n >= SPACED_MIN)
			continue;
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	*to = '\0';
}

static void drop_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
}

void guard_fold(char to[GUARD_FOLD_SIZE], const char *text, enum guard_fold how)
{
	fold_words(to, text, how == GUARD_FOLD_MARKS);
	if (how == GUARD_FOLD_DIGITS)
		fold_digits(to);
	if (how == GUARD_FOLD_SPACED)
		join_letters(to);
	if (how == GUARD_FOLD_JOINED)
		drop_blanks(to);
}

/* ---- comparing ---- */

bool guard_is_within_word(const char *folded, const char *at)
{
	const char *p = at, *next = at;
	uint32_t before, c = terms_next(&next, at + strlen(at));

	if (at == folded || !c)
		return false;
	for (p--; p > folded && (*p & 0xc0) == 0x80;)
		p--;
	before = terms_next(&p, at);
	return terms_is_word(c) && !terms_is_dense(c) && terms_is_word(before) &&
	       !terms_is_dense(before);
}

size_t guard_match(const char *folded, const char *phrase)
{
	const char *at = folded, *p = phrase, *end = phrase + strlen(phrase);
	char one[4];
	uint32_t c;

	while ((c = terms_next(&p, end))) {
		size_t n;

		if (c == '|' && p == end)
			return guard_is_within_word(folded, at) ? 0 : (size_t)(at - folded);
		c = fold_char(c);
		n = c ? put_char(one, c) : 0;
		for (size_t i = 0; i < n; i++)
			if (*at++ != one[i])
				return 0;
	}
	return (size_t)(at - folded);
}

bool guard_is_disguised(const char *text)
{
	const char *p = text, *end = text + strlen(text);
	bool has_latin = false, has_alike = false, has_other = false;
	uint32_t c;

	do {
		c = terms_next(&p, end);
		if (c >= 0x80 && IS_IN(c, invisible))
			continue;
		if (!c || !terms_is_word(c)) {
			if (has_latin && has_alike && !has_other)
				return true;
			has_latin = has_alike = has_other = false;
		} else if (c < 0x80) {
			has_latin = has_latin || isalpha((int)c);
		} else if (c >= 0x370 && look_alike(terms_lower(c))) {
			has_alike = true;
		} else {
			has_other = has_other || c >= 0x370;
		}
	} while (c);
	return false;
}
