#include "control/room/floor/phonetic.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Costs of an edit, in half edits. */
enum { HALF = 1, WHOLE = 2 };

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

static char to_lower(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool is_vowel(char ch)
{
	return ch == 'a' || ch == 'e' || ch == 'i' || ch == 'o' || ch == 'u';
}

static char class_of_vowel(char ch)
{
	return strchr("ei", ch) ? 'e' : ch == 'a' ? 'a' : 'o';
}

/* Folds spellings of one sound into one letter. Returns the new length. */
static size_t fold_spelling(const char *w, size_t n, char *out, size_t cap)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k + 2 < cap; i++) {
		char ch = to_lower(w[i]), next = i + 1 < n ? to_lower(w[i + 1]) : '\0';
		bool soft = next == 'e' || next == 'i' || next == 'y';

		if (ch == 'p' && next == 'h') {
			out[k++] = 'f';
			i++;
		} else if (ch == 'g' && next == 'h') {
			i++;
		} else if (ch == 'c' && (next == 'k' || next == 'h')) {
			out[k++] = 'k';
			i++;
		} else if ((ch == 's' || ch == 't') && next == 'h') {
			out[k++] = ch;
			i++;
		} else if (ch == 'c') {
			out[k++] = soft ? 's' : 'k';
		} else if (ch == 'q') {
			out[k++] = 'k';
		} else if (ch == 'x') {
			out[k++] = 'k';
			out[k++] = 's';
		} else if (ch == 'z' || ch == 'v' || ch == 'y') {
			out[k++] = ch == 'z' ? 's' : ch == 'v' ? 'f' : 'i';
		} else if (is_letter(ch)) {
			out[k++] = ch;
		}
	}
	return k;
}

void room_sound_key(const char *word, size_t len, char key[ROOM_KEY_MAX])
{
	char w[ROOM_KEY_MAX];
	size_t n = fold_spelling(word, len, w, sizeof w), k = 0;
	bool vowel_seen = false;

	for (size_t i = 0; i < n && k + 1 < ROOM_KEY_MAX; i++) {
		char ch = w[i];

		if (i > 0 && is_vowel(ch)) {
			char kind = class_of_vowel(ch);

			while (i + 1 < n && is_vowel(w[i + 1]))
				i++;
			ch = vowel_seen ? '-' : kind;
			vowel_seen = true;
		} else if (i > 0 && ch == w[i - 1]) {
			continue;
		}
		key[k++] = ch;
	}
	key[k] = '\0';
}

char room_sound_last_vowel(const char *word, size_t len)
{
	char last = len ? to_lower(word[len - 1]) : 0;

	if (last == 'y')
		last = 'i';
	return is_vowel(last) ? class_of_vowel(last) : 0;
}

static bool mark_vowel(char ch)
{
	return is_vowel(ch) || ch == '-';
}

/* Sets of consonants with one place of articulation, or that are often confused; one bit for
 * each set. */
enum { BPFM = 1, DTS = 2, GK = 4, LR = 8, MN = 16, KH = 32, HF = 64, WF = 128, JS = 256, JK = 512 };

static unsigned articulation_sets(char ch)
{
	static const uint16_t of[] = {['b'] = BPFM,	 ['p'] = BPFM, ['f'] = BPFM | HF | WF,
				      ['m'] = BPFM | MN, ['d'] = DTS,  ['t'] = DTS,
				      ['s'] = DTS | JS,	 ['g'] = GK,   ['k'] = GK | KH | JK,
				      ['l'] = LR,	 ['r'] = LR,   ['n'] = MN,
				      ['h'] = KH | HF,	 ['w'] = WF,   ['j'] = JS | JK};

	return (unsigned char)ch < sizeof of / sizeof *of ? of[(unsigned char)ch] : 0;
}

/* The cost of replacing a by b. */
static unsigned replacement_cost(char a, char b)
{
	if (a == b)
		return 0;
	if (mark_vowel(a) && mark_vowel(b))
		return HALF;
	return articulation_sets(a) & articulation_sets(b) ? HALF : WHOLE;
}

static unsigned deletion_cost(char ch)
{
	return mark_vowel(ch) || ch == 'h' ? HALF : WHOLE;
}

unsigned room_sound_alike(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), longer = la > lb ? la : lb;
	unsigned row[ROOM_KEY_MAX + 1] = {0};

	if (!longer || la >= ROOM_KEY_MAX || lb >= ROOM_KEY_MAX)
		return 0;
	for (size_t j = 0; j < lb; j++)
		row[j + 1] = row[j] + deletion_cost(b[j]);
	for (size_t i = 0; i < la; i++) {
		unsigned diagonal = row[0];

		row[0] += deletion_cost(a[i]);
		for (size_t j = 0; j < lb; j++) {
			unsigned best = diagonal + replacement_cost(a[i], b[j]);

			diagonal = row[j + 1];
			if (row[j] + deletion_cost(b[j]) < best)
				best = row[j] + deletion_cost(b[j]);
			if (diagonal + deletion_cost(a[i]) < best)
				best = diagonal + deletion_cost(a[i]);
			row[j + 1] = best;
		}
	}
	return row[lb] >= 2 * longer ? 0 : (unsigned)(100 - 50 * row[lb] / longer);
}
