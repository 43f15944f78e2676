/* The bot's name among the words of an utterance (address.h). */
#include "control/room/floor/address.h"

#include <string.h>

enum { HAN_BYTES = 3 };

/* True for the long vowel mark and the vowels of katakana, which lengthen the sound before. */
static bool is_long_vowel(const struct room_words *w, unsigned i)
{
	const char *p = w->text + w->v[i].at;
	uint32_t ch = room_script_next(&p);

	return ch == 0x30fc || (ch >= 0x30a1 && ch <= 0x30aa);
}

/* A run of kana is a word for each of its characters: the shortest that sounds like a name, with
 * its last vowel. What follows is no part of it ("パーリーやめて"). */
static unsigned match_foreign_run(const struct room_names *names, const struct room_words *w,
				  unsigned i)
{
	unsigned most = w->unspaced ? (unsigned)ROOM_ENTRY_CHARS : 1;

	for (unsigned m = 1; m <= most && i + m <= w->n; m++) {
		const struct room_word *last = &w->v[i + m - 1];

		if (m > 1 && last->after_stop)
			return 0;
		if (!room_name_sounds(names, w->text + w->v[i].at,
				      (size_t)(last->at + last->n - w->v[i].at)))
			continue;
		while (w->unspaced && i + m < w->n && !w->v[i + m].after_stop &&
		       is_long_vowel(w, i + m))
			m++;
		return m;
	}
	return 0;
}

/* The number of one-character words from i on that are this name; 0 if they are not. */
static unsigned count_characters(const struct room_words *w, unsigned i, const char *form)
{
	size_t n = strlen(form);
	unsigned words = (unsigned)(n / HAN_BYTES);

	return w->unspaced && (unsigned char)*form >= 0x80 && i + words <= w->n &&
			       strncmp(w->text + w->v[i].at, form, n) == 0
		       ? words
		       : 0;
}

unsigned room_name_at(const struct room_names *names, const struct room_words *w, unsigned i)
{
	char key[ROOM_KEY_MAX];

	for (unsigned k = 0; k < names->n; k++) {
		unsigned words = names->name[k].words, m = 0;

		while (m < words && i + m < w->n) {
			room_sound_key(w->text + w->v[i + m].at, w->v[i + m].n, key);
			if (strcmp(key, names->name[k].key[m]) != 0)
				break;
			m++;
		}
		if (m == words)
			return words;
		m = count_characters(w, i, names->name[k].form);
		if (m)
			return m;
	}
	return (unsigned char)w->text[w->v[i].at] >= 0x80 ? match_foreign_run(names, w, i) : 0;
}

bool room_name_is_word(const struct room_names *names)
{
	const char *form = names->name[0].form;

	return room_language_classes(ROOM_LANGUAGE_EN, form, strlen(form)) != 0;
}
