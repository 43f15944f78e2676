#include "control/room/turn/eot.h"

#include <stdbool.h>
#include <string.h>

#include "control/room/floor/address.h"
#include "control/room/language/language.h"
#include "control/room/turn/eot.def"

enum { WORD_MAX = 15, ASKS_WORDS = 3, FALL = 60 };

static const struct {
	uint32_t from, by; /* thousandths; `by` a second */
} probabilities[] = {
	[ROOM_EOT_OPEN] = {100, 400}, [ROOM_EOT_MAYBE] = {400, 500}, [ROOM_EOT_WHOLE] = {520, 400}};

#define P(word) word,
static const char *const open_ends[] = {ROOM_EOT_OPEN_ENDS(P)};
static const char *const links[] = {ROOM_EOT_LINKS(P)};
static const char *const last_words[] = {ROOM_EOT_LAST_WORDS(P)};
static const char *const asks[] = {ROOM_EOT_ASKS(P)};
static const char *const begins[] = {ROOM_EOT_BEGINS(P)};
static const char *const leads[] = {ROOM_EOT_LEADS(P)};
#undef P

#define IN(list, word) is_in_list(list, sizeof(list) / sizeof(list)[0], word)

static bool is_in_list(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (*list[i] == *word && strcmp(list[i], word) == 0)
			return true;
	return false;
}

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '\'' || ((unsigned char)ch & 0x80);
}

/* The next word in lower case, cut at its size; returns the text behind it, or NULL at the end.
 * */
static const char *next_word(const char *text, char word[WORD_MAX + 1])
{
	size_t n = 0;

	while (*text && (*text == '\'' || !is_letter(*text)))
		text++;
	if (!*text)
		return NULL;
	for (; is_letter(*text); text++)
		if (n < WORD_MAX)
			word[n++] =
				(char)(*text >= 'A' && *text <= 'Z' ? *text + 'a' - 'A' : *text);
	word[n] = '\0';
	return text;
}

/* The last character that is not blank. */
static char last_character(const char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		n--;
	return n ? text[n - 1] : '\0';
}

/* The same cues in another language than English, from its lists (room/language). */
static enum room_eot_words words_in(enum room_language language, const char *text, char sign,
				    const struct room_names *names)
{
	const uint32_t asks_first = ROOM_WORD_QUESTION | ROOM_WORD_REQUEST | ROOM_WORD_MODAL;
	struct room_words w;
	uint32_t last = 0, classes;
	unsigned words = 0;
	bool asking = false;

	room_words_split(&w, text, language);
	for (unsigned i = 0, n; i < w.n; i += n) {
		n = names ? room_name_at(names, &w, i) : 0;
		if (n)
			continue;
		words++;
		n = room_words_entry(&w, i, &classes);
		asking = asking || (classes & asks_first && (i == 0 || w.v[i].after_stop ||
							     room_language_in_situ(language)));
		last = classes;
	}
	if (!words || sign == ',' || sign == '-' || sign == ':' || strstr(text, "..."))
		return ROOM_EOT_OPEN;
	if (w.question)
		return ROOM_EOT_WHOLE;
	if (last & ROOM_WORD_LAST && w.n >= ASKS_WORDS)
		return ROOM_EOT_WHOLE;
	if (last & (ROOM_WORD_OPEN_END | ROOM_WORD_LINK))
		return ROOM_EOT_OPEN;
	return asking && w.n >= ASKS_WORDS ? ROOM_EOT_WHOLE : ROOM_EOT_MAYBE;
}

enum room_eot_words room_eot_words(const char *text, const struct room_names *names)
{
	enum room_language language = room_language_guess(text, "", ROOM_LANGUAGE_EN);
	char word[WORD_MAX + 1] = "", last[WORD_MAX + 1] = "";
	char sign = last_character(text);
	unsigned n = 0;
	bool asking = false, first = true;

	if (language != ROOM_LANGUAGE_EN && language != ROOM_LANGUAGE_UNKNOWN)
		return words_in(language, text, sign, names);
	for (const char *at = text; (at = next_word(at, word));) {
		if (names && room_address(names, word) != ROOM_ADDRESS_NONE)
			continue;
		asking = asking || IN(asks, word) || (first && IN(begins, word));
		first = first && IN(leads, word);
		memcpy(last, word, sizeof last);
		n++;
	}
	if (!n || sign == ',' || sign == '-' || sign == ':' || strstr(text, "..."))
		return ROOM_EOT_OPEN;
	if (sign == '?')
		return ROOM_EOT_WHOLE;
	if (IN(open_ends, last))
		return ROOM_EOT_OPEN;
	if (IN(links, last))
		return asking && n >= ASKS_WORDS ? ROOM_EOT_MAYBE : ROOM_EOT_OPEN;
	if (n >= ASKS_WORDS && (asking || IN(last_words, last)))
		return ROOM_EOT_WHOLE;
	return ROOM_EOT_MAYBE;
}

int room_eot_loudness_shift(uint32_t tail, uint32_t all)
{
	if (!tail || !all)
		return 0;
	if (4 * (uint64_t)tail <= 3 * (uint64_t)all)
		return FALL;
	return tail >= all ? -FALL : 0;
}

static uint32_t base_probability(enum room_eot_words words, int fall)
{
	int from = (int)probabilities[words].from + fall;

	return from > 0 ? (uint32_t)from : 0;
}

uint32_t room_eot_probability(enum room_eot_words words, int fall, uint64_t pause_ms)
{
	uint64_t probability =
		base_probability(words, fall) + pause_ms * probabilities[words].by / 1000;

	return probability < 1000 ? (uint32_t)probability : 1000;
}

uint64_t room_eot_delay(enum room_eot_words words, int fall, uint32_t share)
{
	uint32_t from = base_probability(words, fall), by = probabilities[words].by;

	return share > from ? ((uint64_t)(share - from) * 1000 + by - 1) / by : 0;
}
