#include "control/room/address.h"

#include <string.h>

struct word {
	const char *p;
	size_t n;
	bool possessive; /* "parley's" */
	bool after_stop; /* punctuation stands before it */
	char key[ROOM_KEY_MAX];
};

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

static char lower(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool is_vowel(char ch)
{
	return ch && strchr("aeiou", ch);
}

/* Spellings of one sound become one letter. Returns the new length. */
static size_t fold(const char *w, size_t n, char *out, size_t cap)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k + 2 < cap; i++) {
		char ch = lower(w[i]), next = i + 1 < n ? lower(w[i + 1]) : '\0';
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
	size_t n = fold(word, len, w, sizeof w), k = 0;
	bool vowel_seen = false;

	for (size_t i = 0; i < n && k + 1 < ROOM_KEY_MAX; i++) {
		char ch = w[i];

		if (i > 0 && is_vowel(ch)) {
			char kind = strchr("ei", ch) ? 'e' : ch == 'a' ? 'a' : 'o';

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

static unsigned split(const char *text, struct word *words, unsigned max)
{
	unsigned n = 0;
	bool stop = false;
	const char *p = text;

	while (*p && n < max) {
		struct word *w = &words[n];

		if (!is_letter(*p)) {
			stop = stop || strchr(",;:.!?", *p);
			p++;
			continue;
		}
		*w = (struct word){.p = p, .after_stop = stop};
		stop = false;
		while (is_letter(*p))
			p++;
		w->n = (size_t)(p - w->p);
		if (*p == '\'' && lower(p[1]) == 's' && !is_letter(p[2])) {
			w->possessive = true;
			p += 2;
		} else {
			while (*p == '\'' || is_letter(*p))
				p++;
		}
		room_sound_key(w->p, w->n, w->key);
		n++;
	}
	return n;
}

static bool in_list(const struct word *w, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == w->n && strncasecmp(*list, w->p, w->n) == 0)
			return true;
	return false;
}

void room_names_add(struct room_names *names, const char *list)
{
	for (const char *p = list; *p && names->n < ROOM_NAMES; p += *p == ',') {
		struct word words[ROOM_NAME_WORDS];
		char one[ROOM_KEY_MAX * ROOM_NAME_WORDS], joined[ROOM_KEY_MAX] = "";
		size_t len = strcspn(p, ","), j = 0;
		unsigned n;

		if (len < sizeof one) {
			memcpy(one, p, len);
			one[len] = '\0';
			n = split(one, words, ROOM_NAME_WORDS);
			for (unsigned i = 0; i < n; i++) {
				memcpy(names->name[names->n].key[i], words[i].key, ROOM_KEY_MAX);
				for (size_t c = 0; c < words[i].n && j + 1 < sizeof joined; c++)
					joined[j++] = words[i].p[c];
			}
			room_sound_key(joined, j, names->name[names->n].joined);
			names->name[names->n].words = n;
			names->n += n > 0;
		}
		p += len;
	}
}

/* How many words from i on are this name; 0 when they are not. */
static unsigned match(const struct room_names *names, unsigned which, const struct word *w,
		      unsigned n, unsigned i)
{
	unsigned words = names->name[which].words, k = 0;
	char both[2 * ROOM_KEY_MAX], key[ROOM_KEY_MAX];

	while (k < words && i + k < n && strcmp(names->name[which].key[k], w[i + k].key) == 0)
		k++;
	if (k == words)
		return words;
	if (strcmp(names->name[which].joined, w[i].key) == 0)
		return 1;
	if (i + 1 < n && w[i].n + w[i + 1].n < sizeof both) {
		memcpy(both, w[i].p, w[i].n);
		memcpy(both + w[i].n, w[i + 1].p, w[i + 1].n);
		room_sound_key(both, w[i].n + w[i + 1].n, key);
		if (strcmp(names->name[which].joined, key) == 0)
			return 2;
	}
	return 0;
}

static enum room_address judge(const struct word *w, unsigned n, unsigned i, unsigned len)
{
	static const char *const about[] = {"ask",     "asked",	  "asking", "tell",    "told",
					    "telling", "show",	  "showed", "showing", "call",
					    "called",  "calling", NULL};
	static const char *const vocative[] = {"hey", "hi",  "hello", "yo",	"ok", "okay",
					       "oh",  "and", "so",    "please", NULL};
	static const char *const third[] = {"is", "was", "has", "had", "does", "did", "just", NULL};
	bool called = i > 0 && in_list(&w[i - 1], vocative);
	bool first = i == 0 || (i == 1 && called);
	bool last = i + len == n;
	bool spoken_of = !last && in_list(&w[i + len], third);

	if (i > 0 && in_list(&w[i - 1], about))
		return ROOM_ADDRESS_NONE;
	if (w[i + len - 1].possessive && !last && !called)
		return ROOM_ADDRESS_NONE;
	if (called || last || ((first || w[i].after_stop) && !spoken_of))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_MENTIONED;
}

enum room_address room_address(const struct room_names *names, const char *text)
{
	struct word words[ROOM_WORDS];
	unsigned n = split(text, words, ROOM_WORDS), len;
	enum room_address best = ROOM_ADDRESS_NONE;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < names->n; k++)
			if ((len = match(names, k, words, n, i)) > 0) {
				enum room_address a = judge(words, n, i, len);

				if (a > best)
					best = a;
			}
	return best;
}
