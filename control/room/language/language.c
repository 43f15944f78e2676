#include "control/room/language/language.h"

#include <stdio.h>
#include <string.h>

#include "control/room/language/de.def"
#include "control/room/language/en.def"
#include "control/room/language/es.def"
#include "control/room/language/fr.def"
#include "control/room/language/it.def"
#include "control/room/language/ja.def"
#include "control/room/language/ko.def"
#include "control/room/language/names.def"
#include "control/room/language/nl.def"
#include "control/room/language/pl.def"
#include "control/room/language/pt.def"
#include "control/room/language/ru.def"
#include "control/room/language/zh.def"

enum { SLOTS = 1 << 17, ENTRY = 96, ENDING = '~' };

/* People of any language are in one room: their given names are a list of their own. */
#define NAMES ROOM_LANGUAGE_COUNT

/* Sets the beginnings of entries apart from entries. */
static const uint64_t beginning = 0x5bd1e9955bd1e995ull;

struct list {
	enum room_language language;
	uint32_t class;
	const char *entries;
};

static const struct list lists[] = {
#define C(class, entries) {LANGUAGE_OF_LIST, ROOM_WORD_##class, entries},
#define LANGUAGE_OF_LIST  ROOM_LANGUAGE_EN
	LANGUAGE_EN(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_DE
		LANGUAGE_DE(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_ES
			LANGUAGE_ES(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_FR
				LANGUAGE_FR(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_IT
					LANGUAGE_IT(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_NL
						LANGUAGE_NL(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_PL
							LANGUAGE_PL(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_PT
								LANGUAGE_PT(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_RU
									LANGUAGE_RU(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_JA
										LANGUAGE_JA(C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_KO
											LANGUAGE_KO(
												C)
#undef LANGUAGE_OF_LIST
#define LANGUAGE_OF_LIST ROOM_LANGUAGE_ZH
												LANGUAGE_ZH(
													C)
#undef LANGUAGE_OF_LIST
#undef C
													{NAMES,
													 ROOM_WORD_KIN,
													 GIVEN_NAMES}};

static const char *const codes[] = {"",
#define X(NAME, code) #code,
				    ROOM_LANGUAGES(X)
#undef X
};

/* The index: open addressing by the hash of language and entry. */
struct slot {
	uint64_t hash; /* 0: free */
	uint32_t classes;
};
static struct slot slots[SLOTS];
static bool prepared;

static uint64_t hash_entry(enum room_language language, const char *entry, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull ^ (uint64_t)language * 0x9e3779b97f4a7c15ull;

	for (const char *p = entry; p < entry + n;) {
		/* One list serves both ways to write Chinese. */
		uint32_t ch = language == ROOM_LANGUAGE_ZH
				      ? room_script_simplify(room_script_next(&p))
				      : (unsigned char)*p++;

		h = (h ^ ch) * 0x100000001b3ull;
	}
	return h ? h : 1;
}

static struct slot *find_slot(uint64_t hash)
{
	size_t i = (size_t)(hash ^ hash >> 32) % SLOTS;

	while (slots[i].hash && slots[i].hash != hash)
		i = (i + 1) % SLOTS;
	return &slots[i];
}

/* Some providers write "that is" where people said "that's": the entry without its contractions;
 * false if it has none. */
static bool expand_contractions(const char *entry, size_t n, char *text, size_t size)
{
	static const struct {
		const char *word, *full;
	} table[] = {{"thats", "that is"}, {"im", "i am"},	 {"ive", "i have"},
		     {"id", "i would"},	   {"youre", "you are"}, {"dont", "do not"},
		     {"didnt", "did not"}};
	const char *end = entry + n;
	bool found = false;
	size_t k = 0;

	while (entry < end) {
		size_t len = 0, i = 0;
		int put;

		while (entry + len < end && entry[len] != ' ')
			len++;
		while (i < sizeof table / sizeof table[0] &&
		       (strlen(table[i].word) != len || memcmp(table[i].word, entry, len) != 0))
			i++;
		found = found || i < sizeof table / sizeof table[0];
		put = i < sizeof table / sizeof table[0]
			      ? snprintf(text + k, size - k, " %s", table[i].full)
			      : snprintf(text + k, size - k, " %.*s", (int)len, entry);
		if (put < 0 || (size_t)put >= size - k)
			return false;
		k += (size_t)put;
		entry += len + (entry + len < end);
	}
	return found;
}

static void add_classes(uint64_t hash, uint32_t classes)
{
	struct slot *slot = find_slot(hash);

	slot->hash = hash;
	slot->classes |= classes;
}

/* The entry in its common form, of which its words are joined as those of a text are. */
static void add_entry(const struct list *list, const char *entry, size_t n)
{
	static struct room_words words;
	char text[ENTRY];

	if (n >= sizeof text)
		return;
	if (*entry == ENDING) {
		add_classes(hash_entry(list->language, entry, n), list->class);
		return;
	}
	memcpy(text, entry, n);
	text[n] = '\0';
	room_words_split(&words, text, list->language);
	if (!words.n)
		return;
	for (unsigned i = 0; i < words.n; i++) {
		uint64_t hash = hash_entry(list->language, words.text,
					   (size_t)(words.v[i].at + words.v[i].n));

		if (i + 1 == words.n)
			add_classes(hash, list->class);
		else if (list->class == ROOM_WORD_ASSENT)
			add_classes(hash ^ beginning, list->class);
	}
}

static void add_whole(const struct list *list, const char *entry, size_t n)
{
	char full[ENTRY];

	add_entry(list, entry, n);
	if (list->language == ROOM_LANGUAGE_EN && list->class == ROOM_WORD_ASSENT &&
	    expand_contractions(entry, n, full, sizeof full))
		add_entry(list, full, strlen(full));
}

/* "{so|very} {early|late}" is four entries: adds those that begin with the k bytes of made. */
static void add_choices(const struct list *list, const char *entry, size_t n, char made[ENTRY],
			size_t k)
{
	const char *end = entry + n, *close;

	for (; entry < end && *entry != '{' && k < ENTRY; entry++)
		made[k++] = *entry;
	close = memchr(entry, '}', (size_t)(end - entry));
	if (!close) {
		add_whole(list, made, k);
		return;
	}
	while (entry < close) {
		size_t len = strcspn(++entry, "|}");

		if (k + len < ENTRY) {
			memcpy(made + k, entry, len);
			add_choices(list, close + 1, (size_t)(end - close - 1), made, k + len);
		}
		entry += len;
	}
}

void room_language_prepare(void)
{
	char made[ENTRY];

	if (prepared)
		return;
	prepared = true; /* entries are split into words, which looks them up */
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (const char *p = lists[i].entries; *p;) {
			size_t n = strcspn(p, ";");

			add_choices(&lists[i], p, n, made, 0);
			p += n + (p[n] == ';');
			p += strspn(p, " ");
		}
}

enum room_language room_language_by_code(const char *code)
{
	static const struct {
		const char *code;
		enum room_language language;
	} three[] = {
		{"eng", ROOM_LANGUAGE_EN}, {"deu", ROOM_LANGUAGE_DE}, {"ger", ROOM_LANGUAGE_DE},
		{"spa", ROOM_LANGUAGE_ES}, {"fra", ROOM_LANGUAGE_FR}, {"fre", ROOM_LANGUAGE_FR},
		{"ita", ROOM_LANGUAGE_IT}, {"nld", ROOM_LANGUAGE_NL}, {"dut", ROOM_LANGUAGE_NL},
		{"pol", ROOM_LANGUAGE_PL}, {"por", ROOM_LANGUAGE_PT}, {"rus", ROOM_LANGUAGE_RU},
		{"jpn", ROOM_LANGUAGE_JA}, {"kor", ROOM_LANGUAGE_KO}, {"zho", ROOM_LANGUAGE_ZH},
		{"chi", ROOM_LANGUAGE_ZH}, {"cmn", ROOM_LANGUAGE_ZH}, {"yue", ROOM_LANGUAGE_ZH}};

	for (int i = 1; i < ROOM_LANGUAGE_COUNT; i++)
		if (strncmp(code, codes[i], 2) == 0 && (!code[2] || code[2] == '-'))
			return (enum room_language)i;
	for (size_t i = 0; i < sizeof three / sizeof three[0]; i++)
		if (strcmp(code, three[i].code) == 0)
			return three[i].language;
	return ROOM_LANGUAGE_UNKNOWN;
}

enum room_language room_language_told(const char *code)
{
	static const char *const undetermined[] = {"und", "mul", "zxx", "mis"};
	enum room_language language = room_language_by_code(code);
	size_t n = strcspn(code, "-");

	for (size_t i = 0; i < sizeof undetermined / sizeof undetermined[0]; i++)
		if (strcmp(code, undetermined[i]) == 0)
			return ROOM_LANGUAGE_UNKNOWN;
	return !language && (n == 2 || n == 3) ? ROOM_LANGUAGE_UNLISTED : language;
}

const char *room_language_code(enum room_language language)
{
	return codes[language];
}

bool room_language_unspaced(enum room_language language)
{
	return language == ROOM_LANGUAGE_JA || language == ROOM_LANGUAGE_ZH;
}

bool room_language_in_situ(enum room_language language)
{
	return room_language_unspaced(language) || language == ROOM_LANGUAGE_KO;
}

uint32_t room_language_classes(enum room_language language, const char *entry, size_t n)
{
	uint64_t hash = hash_entry(language, entry, n);
	const struct slot *slot;

	room_language_prepare();
	slot = find_slot(hash);
	return slot->hash == hash ? slot->classes : 0;
}

bool room_language_is_given_name(const char *word, size_t n)
{
	return room_language_classes(NAMES, word, n);
}

/* ---- words ---- */

static bool is_script_char(enum room_script script)
{
	return script >= ROOM_SCRIPT_HIRAGANA && script <= ROOM_SCRIPT_HAN;
}

static bool is_stop(uint32_t ch)
{
	return ch &&
	       (strchr(",;:.!?", (int)(ch < 0x80 ? ch : 'x')) || ch == 0x3001 || ch == 0x3002 ||
		ch == 0xff0c || ch == 0xff01 || ch == 0xff1f || ch == 0xff1b || ch == 0xff1a ||
		ch == 0x2026 || ch == 0xbf || ch == 0xa1 || ch == 0x2014 || ch == 0x2013);
}

/* True if this letter begins another word than the letter before it. */
static bool begins_word(const struct room_words *w, enum room_script before,
			enum room_script script)
{
	if (before == ROOM_SCRIPT_NONE)
		return true;
	if (w->unspaced && (is_script_char(before) || is_script_char(script)))
		return true;
	/* "Parley야": a particle behind Latin letters. */
	return (before == ROOM_SCRIPT_HANGUL) != (script == ROOM_SCRIPT_HANGUL);
}

static bool add_letter(struct room_words *w, size_t *n, uint32_t ch, bool begins, bool stop)
{
	uint32_t low = room_script_lower(ch);

	if (begins) {
		struct room_word *word = &w->v[w->n];

		if (w->n == ROOM_WORDS_MAX || *n + 8 >= sizeof w->text)
			return false;
		if (w->n && !w->unspaced)
			w->text[(*n)++] = ' ';
		*word = (struct room_word){
			.at = (uint16_t)*n, .after_stop = stop, .capital = low != ch, .caps = true};
		w->n++;
	}
	if (!room_script_put(w->text, sizeof w->text, n, low))
		return false;
	w->v[w->n - 1].n = (uint16_t)(*n - w->v[w->n - 1].at);
	w->v[w->n - 1].caps = w->v[w->n - 1].caps && low != ch;
	w->letters++;
	return true;
}

/* "Uhhh", with a letter three times or more, is looked up as "uhh" and "uh". */
static uint32_t look_up_drawled(enum room_language language, const char *word, size_t n)
{
	char drawn[ENTRY];
	bool drawled = false;

	for (unsigned most = 2; most > 0; most--) {
		unsigned longest = 0;
		size_t k = 0;

		for (const char *p = word, *end = word + n; p < end;) {
			const char *from = p;
			uint32_t ch = room_script_next(&p);
			size_t len = (size_t)(p - from);
			unsigned before = 0;

			while (before < most && k >= (before + 1) * len &&
			       memcmp(drawn + k - (before + 1) * len, from, len) == 0)
				before++;
			longest = before == most ? longest + 1 : 0;
			drawled = drawled || longest + most > 2;
			if (before < most && !room_script_put(drawn, sizeof drawn, &k, ch))
				return 0;
		}
		if (drawled && room_language_classes(language, drawn, k))
			return room_language_classes(language, drawn, k);
	}
	return 0;
}

/* "신기하네요" is looked up as "~하네요", "~네요": the longest listed ending. */
static uint32_t look_up_ending(enum room_language language, const char *word, size_t n)
{
	char ending[ENTRY] = {ENDING};

	if (n >= sizeof ending)
		return 0;
	for (const char *p = word, *end = word + n; p < end;) {
		uint32_t classes;

		room_script_next(&p);
		memcpy(ending + 1, p, (size_t)(end - p));
		classes = room_language_classes(language, ending, 1 + (size_t)(end - p));
		if (classes)
			return classes;
	}
	return 0;
}

static uint32_t look_up_unlisted(const struct room_words *w, const struct room_word *word)
{
	uint32_t classes = look_up_drawled(w->language, w->text + word->at, word->n);

	return classes ? classes : look_up_ending(w->language, w->text + word->at, word->n);
}

static void look_up(struct room_words *w)
{
	unsigned most = w->unspaced ? (unsigned)ROOM_ENTRY_CHARS : (unsigned)ROOM_ENTRY_WORDS;

	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0; k < most && i + k < w->n; k++) {
			const struct room_word *last = &w->v[i + k];

			if (k && last->after_stop)
				break;
			w->v[i].classes[k] =
				room_language_classes(w->language, w->text + w->v[i].at,
						      (size_t)(last->at + last->n - w->v[i].at));
		}
	for (unsigned i = 0; i < w->n && !w->unspaced; i++)
		if (!room_words_match(w, i, UINT32_MAX))
			w->v[i].classes[0] = look_up_unlisted(w, &w->v[i]);
}

void room_words_split(struct room_words *out, const char *text, enum room_language language)
{
	enum room_script before = ROOM_SCRIPT_NONE;
	bool stop = false;
	size_t n = 0;

	out->language = language;
	out->unspaced = room_language_unspaced(language);
	out->question = out->cut = out->paused = false;
	out->n = out->letters = 0;
	out->text[0] = '\0';
	while (*text) {
		uint32_t ch = room_script_next(&text);
		enum room_script script = room_script_of(ch);

		out->question = out->question || ch == '?' || ch == 0xff1f;
		if ((ch == '\'' || ch == 0x2019) && before != ROOM_SCRIPT_NONE)
			continue; /* "that's" is one word */
		if (script == ROOM_SCRIPT_NONE) {
			stop = stop || is_stop(ch);
		} else {
			out->paused = out->paused || (stop && out->n);
			if (!add_letter(out, &n, ch, begins_word(out, before, script), stop)) {
				out->cut = true;
				break;
			}
			stop = false;
		}
		before = script;
	}
	if (language != ROOM_LANGUAGE_UNKNOWN)
		look_up(out);
}

unsigned room_words_match(const struct room_words *w, unsigned i, uint32_t classes)
{
	for (unsigned n = i < w->n ? (unsigned)ROOM_ENTRY_CHARS : 0; n > 0; n--)
		if (w->v[i].classes[n - 1] & classes)
			return n;
	return 0;
}

unsigned room_words_entry(const struct room_words *w, unsigned i, uint32_t *classes)
{
	unsigned n = room_words_match(w, i, UINT32_MAX);

	*classes = n ? w->v[i].classes[n - 1] : 0;
	return n ? n : 1;
}

/* True if words [i, to) begin a longer ASSENT entry. */
static bool is_beginning(const struct room_words *w, unsigned i, unsigned to)
{
	uint64_t hash = hash_entry(w->language, w->text + w->v[i].at,
				   (size_t)(w->v[to - 1].at + w->v[to - 1].n - w->v[i].at));

	for (unsigned k = i + 1; k < to; k++)
		if (w->v[k].after_stop)
			return false;
	return find_slot(hash ^ beginning)->hash;
}

bool room_words_may_complete(const struct room_words *w, unsigned i)
{
	if (i + 2 > w->n || w->language == ROOM_LANGUAGE_UNKNOWN)
		return false;
	/* "No me dig": the last word may be a piece of one. */
	return is_beginning(w, i, w->n) ||
	       (!w->unspaced && i + 2 < w->n && !w->v[w->n - 1].after_stop &&
		!room_words_match(w, w->n - 1, UINT32_MAX) && is_beginning(w, i, w->n - 1));
}

bool room_language_has_all(enum room_language language, const char *text)
{
	struct room_words w;

	room_words_split(&w, text, language);
	for (unsigned i = 0; i < w.n;) {
		uint32_t classes;

		i += room_words_entry(&w, i, &classes);
		if (!classes)
			return false;
	}
	return w.n;
}
