#include "control/room/floor/address.h"

#include <string.h>
#include <strings.h>

#include "control/room/floor/address_inside.h"

/* Similar enough to the name: half an edit in a key of five. */
enum { ALIKE = 88, ALIKE_MIN = 4, PRIMARY_MIN = 4 };
enum { CHARACTER_BYTES = 3 /* of hangul, Han */, FORM = ROOM_NAME_FORM /* of a word */ };

/* ---- names in other scripts ---- */

/* A key in which r is l, since many scripts have one letter for both. */
static void make_coarse_key(const char *latin, size_t n, char key[ROOM_KEY_MAX])
{
	char folded[ROOM_KEY_MAX];
	size_t k = 0;

	for (size_t i = 0; i < n && k + 1 < sizeof folded; i++)
		folded[k++] = latin[i] == 'r' || latin[i] == 'R' ? 'l' : latin[i];
	room_sound_key(folded, k, key);
}

static enum room_script script_at(const char *p, const char **next)
{
	uint32_t ch;

	*next = p;
	ch = room_script_next(next);
	return room_script_of(ch);
}

static bool is_calling_particle(const char *p)
{
	return strncmp(p, "야", CHARACTER_BYTES) == 0 || strncmp(p, "아", CHARACTER_BYTES) == 0;
}

/* "Palli" is the name, "pallo" and "pallyeo" are words: hangul spells the last vowel as it sounds.
 * The particle that calls is left out. */
static bool has_last_vowel(char vowel, const char *run, size_t n)
{
	char latin[ROOM_KEY_MAX];
	const char *next;

	if (!vowel || script_at(run, &next) != ROOM_SCRIPT_HANGUL)
		return true;
	if (n > 2 * CHARACTER_BYTES && is_calling_particle(run + n - CHARACTER_BYTES))
		n -= CHARACTER_BYTES;
	return room_sound_last_vowel(latin, room_script_romanise(run, n, latin, sizeof latin)) ==
	       vowel;
}

bool room_name_sounds(const struct room_names *names, const char *run, size_t n)
{
	char latin[ROOM_KEY_MAX], key[ROOM_KEY_MAX];
	size_t k = room_script_romanise(run, n, latin, sizeof latin);

	if (!k)
		return false;
	make_coarse_key(latin, k, key);
	for (unsigned i = 0; i < names->n; i++)
		if (k + 1 >= names->name[i].letters && strlen(key) > 2 &&
		    strcmp(key, names->name[i].coarse) == 0 &&
		    has_last_vowel(names->name[i].last_vowel, run, n))
			return true;
	return false;
}

static bool is_stop_at(const char *p)
{
	static const char *const wide[] = {"、", "。", "，", "！", "？", "；", "：", "…", "—", "–"};

	if (strchr(",;:.!?", *p))
		return true;
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
		if (strncmp(p, wide[i], strlen(wide[i])) == 0)
			return true;
	return false;
}

/* Latin letters and digits make one word; every other script, and a change of it, its own. */
static bool goes_on(enum room_script from, enum room_script to)
{
	bool latin = from == ROOM_SCRIPT_LATIN || from == ROOM_SCRIPT_DIGIT;

	return to != ROOM_SCRIPT_NONE &&
	       (from == to || (latin && (to == ROOM_SCRIPT_LATIN || to == ROOM_SCRIPT_DIGIT)));
}

static size_t run_length(const char *p, enum room_script script)
{
	const char *end = p, *next;

	while (*end && goes_on(script, script_at(end, &next)))
		end = next;
	return (size_t)(end - p);
}

static bool is_plain_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

static bool is_written(const struct room_names *names, const char *run, size_t n)
{
	for (unsigned i = 0; i < names->n; i++)
		if (names->name[i].words == 1 && strlen(names->name[i].form) == n &&
		    memcmp(names->name[i].form, run, n) == 0)
			return true;
	return false;
}

/* True if a particle begins at p, n bytes before the end of its run. */
static bool begins_with_particle(const char *p, size_t n)
{
	static const char *const particles[] = {
		"야", "아", "가", "이", "는", "은", "를",   "을",   "도",   "한", "에", "께",
		"님", "씨", "랑", "하", "와", "과", "의",   "로",   "만",   "보", "부", "까",
		"처", "나", "라", "네", "요", "였", "입니", "인데", "같은", "때"};

	for (size_t i = 0; i < sizeof particles / sizeof particles[0]; i++)
		if (strncmp(p, particles[i], strlen(particles[i])) == 0)
			return true;
	return n == 0;
}

/* Cuts a name off the hangul run that it begins: a particle stands behind it. */
static void cut_particle(const struct room_names *names, struct address_word *w)
{
	for (size_t n = 2 * CHARACTER_BYTES; names && n <= w->n; n += CHARACTER_BYTES)
		if (is_written(names, w->p, n) || (begins_with_particle(w->p + n, w->n - n) &&
						   room_name_sounds(names, w->p, n))) {
			w->n = n;
			return;
		}
}

/* A name of Han characters stands among others without a blank: the run ends behind the name that
 * it begins with, or before the first within it. */
static void cut_characters(const struct room_names *names, struct address_word *w)
{
	for (const char *p = w->p, *end = w->p + w->n; names && p < end; room_script_next(&p))
		for (size_t n = CHARACTER_BYTES; n <= (size_t)(end - p); n += CHARACTER_BYTES)
			if (is_written(names, p, n)) {
				w->n = p > w->p ? (size_t)(p - w->p) : n;
				return;
			}
}

/* names: in hangul and Han they are cut off what stands beside them; may be NULL. */
static unsigned split_words(const char *text, struct address_word *words, unsigned max,
			    const struct room_names *names)
{
	unsigned n = 0;
	bool stop = false;
	const char *p = text, *next;

	while (*p && n < max) {
		struct address_word *w = &words[n];
		enum room_script script = script_at(p, &next);

		if (script == ROOM_SCRIPT_NONE) {
			stop = stop || is_stop_at(p);
			p = next;
			continue;
		}
		*w = (struct address_word){
			.p = p, .after_stop = stop, .script = script, .n = run_length(p, script)};
		stop = false;
		if (script == ROOM_SCRIPT_HANGUL)
			cut_particle(names, w);
		else if (script == ROOM_SCRIPT_HAN)
			cut_characters(names, w);
		p += w->n;
		if (*p == '\'' && (p[1] == 's' || p[1] == 'S') && !is_plain_letter(p[2])) {
			w->possessive = true;
			p += 2;
		} else if (script == ROOM_SCRIPT_LATIN) {
			while (*p == '\'' || (*p & 0x80 ? false : is_plain_letter(*p)))
				p++;
		}
		room_sound_key(w->p, w->n, w->key);
		n++;
	}
	return n;
}

bool address_in_list(const struct address_word *w, const char *const *list)
{
	for (; *list; list++)
		if ((**list | 0x20) == (*w->p | 0x20) && strlen(*list) == w->n &&
		    strncasecmp(*list, w->p, w->n) == 0)
			return true;
	return false;
}

size_t address_form(const struct address_word *w, char form[ROOM_NAME_FORM])
{
	const char *p = w->p, *end = w->p + w->n;
	size_t k = 0;

	form[0] = '\0';
	while (p < end) {
		uint32_t ch = room_script_lower(room_script_next(&p));

		if (ch != '\'' && ch != 0x2019 && !room_script_put(form, FORM, &k, ch))
			break;
	}
	return k;
}

/* The longest word of the name, unless many people bear it. */
static void find_primary_word(const struct address_word *w, unsigned n, char key[ROOM_KEY_MAX])
{
	static const char *const common[] = {
		"assistant", "robot",  "agent",	 "helper",  "voice",  "captain", "doctor",
		"professor", "mister", "miss",	 "lady",    "lord",   "king",	 "queen",
		"uncle",     "aunt",   "sister", "brother", "mother", "father",	 NULL};
	const struct address_word *best = NULL;

	*key = '\0';
	for (unsigned i = 0; i < n; i++)
		if (w[i].n >= PRIMARY_MIN && !address_in_list(&w[i], common) &&
		    (!best || w[i].n > best->n))
			best = &w[i];
	if (best && n > 1)
		memcpy(key, best->key, ROOM_KEY_MAX);
}

static void add_one(struct room_names *names, const char *one)
{
	struct address_word words[ROOM_NAME_WORDS];
	unsigned n = split_words(one, words, ROOM_NAME_WORDS, NULL);
	char joined[ROOM_KEY_MAX] = "";
	size_t j = 0;

	for (unsigned i = 0; i < n; i++) {
		memcpy(names->name[names->n].key[i], words[i].key, ROOM_KEY_MAX);
		for (size_t c = 0; c < words[i].n && j + 1 < sizeof joined; c++)
			joined[j++] = words[i].p[c];
	}
	room_sound_key(joined, j, names->name[names->n].joined);
	make_coarse_key(joined, j, names->name[names->n].coarse);
	if (n)
		address_form(&words[0], names->name[names->n].form);
	names->name[names->n].letters = (unsigned)j;
	names->name[names->n].last_vowel = room_sound_last_vowel(joined, j);
	find_primary_word(words, n, names->name[names->n].primary);
	names->name[names->n].words = n;
	names->n += n > 0;
}

static void add_list(struct room_names *names, const char *list)
{
	for (const char *p = list; *p && names->n < ROOM_NAMES; p += *p == ',') {
		char one[ROOM_KEY_MAX * ROOM_NAME_WORDS];
		size_t len = strcspn(p, ",");

		if (len < sizeof one) {
			memcpy(one, p, len);
			one[len] = '\0';
			add_one(names, one);
		}
		p += len;
	}
}

/* Recognisers of Chinese write a name in characters ("帕利"). They come behind the names of the
 * list, which they must not crowd out. */
void room_names_add(struct room_names *names, const char *list)
{
	unsigned from = names->n, to;

	add_list(names, list);
	to = names->n;
	for (unsigned i = from; i < to; i++) {
		const char *han = room_script_characters(names->name[i].form);

		if (han)
			add_list(names, han);
	}
}

/* The key of word i and the next as one. */
static bool make_pair_key(const struct address_word *w, unsigned n, unsigned i,
			  char key[ROOM_KEY_MAX])
{
	char both[2 * ROOM_KEY_MAX];

	if (i + 1 >= n || w[i].n + w[i + 1].n >= sizeof both || w[i + 1].after_stop)
		return false;
	memcpy(both, w[i].p, w[i].n);
	memcpy(both + w[i].n, w[i + 1].p, w[i + 1].n);
	room_sound_key(both, w[i].n + w[i + 1].n, key);
	return true;
}

/* The number of words from i on that are this name; 0 if they are not. pair: the key of two of
 * them as one, or NULL. */
static unsigned match_name(const struct room_names *names, unsigned which,
			   const struct address_word *w, unsigned n, unsigned i, const char *pair)
{
	unsigned words = names->name[which].words, k = 0;

	while (k < words && i + k < n && strcmp(names->name[which].key[k], w[i + k].key) == 0)
		k++;
	if (k == words)
		return words;
	if (w[i].script != ROOM_SCRIPT_LATIN && room_name_sounds(names, w[i].p, w[i].n))
		return 1;
	if (strcmp(names->name[which].joined, w[i].key) == 0 ||
	    (*names->name[which].primary && strcmp(names->name[which].primary, w[i].key) == 0))
		return 1;
	return pair && strcmp(names->name[which].joined, pair) == 0 ? 2 : 0;
}

static bool is_similar(const struct room_names *names, unsigned which, const char *key)
{
	const char *name = names->name[which].joined;

	return strlen(name) >= ALIKE_MIN && room_sound_alike(name, key) >= ALIKE;
}

/* ---- other languages: the form ---- */

/* Classes of the longest entry at the beginning (from_end: at the end) of a word; of the whole word
 * where blanks part words. */
static uint32_t classes_of(enum room_language language, const struct address_word *w, bool from_end)
{
	char form[FORM];
	size_t n = address_form(w, form);
	bool whole = !room_language_in_situ(language);

	for (size_t k = n; k > 0; k = whole ? 0 : k - 1) {
		const char *at = from_end ? form + n - k : form;
		uint32_t classes;

		if ((*at & 0xc0) == 0x80 || (form[n - (n - k)] & 0xc0) == 0x80)
			continue;
		classes = room_language_classes(language, at, k);
		if (classes)
			return classes;
	}
	return 0;
}

/* Only words that open a sentence stand before word i, from the last punctuation on. */
static bool is_led_in(enum room_language language, const struct address_word *w, unsigned i)
{
	const uint32_t opens =
		ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_FILLER | ROOM_WORD_ASSENT;

	while (i > 0 && !w[i].after_stop) {
		i--;
		if (!(classes_of(language, &w[i], true) & opens))
			return false;
	}
	return true;
}

static bool has_question_mark(const struct address_word *last)
{
	const char *end = last->p + last->n;

	return *end == '?' || strncmp(end, "？", 3) == 0 || strncmp(end, " ?", 2) == 0;
}

static bool is_request(enum room_language language, const struct address_word *w, unsigned n)
{
	const uint32_t asks = ROOM_WORD_QUESTION | ROOM_WORD_REQUEST | ROOM_WORD_MODAL;

	if (has_question_mark(&w[n - 1]))
		return true;
	for (unsigned i = 0; i < n && (i == 0 || room_language_in_situ(language)); i++)
		if (classes_of(language, &w[i], false) & asks)
			return true;
	return false;
}

/* The classes of the longest entry at word i; of several words too ("il est quelle heure"). */
static uint32_t classes_from(enum room_language language, const struct address_word *w, unsigned n,
			     unsigned i)
{
	struct room_words words;
	uint32_t classes = 0;

	if (i < n) {
		room_words_split(&words, w[i].p, language);
		room_words_entry(&words, 0, &classes);
	}
	return classes;
}

/* "今何時": in some languages the words that ask stand anywhere behind the name. */
static bool asks_behind(enum room_language language, const struct address_word *w, unsigned n,
			unsigned i)
{
	struct room_words words;
	uint32_t classes;

	if (i >= n || !room_language_in_situ(language))
		return false;
	room_words_split(&words, w[i].p, language);
	for (unsigned k = 0; k < words.n;) {
		k += room_words_entry(&words, k, &classes);
		if (classes & (ROOM_WORD_QUESTION | ROOM_WORD_REQUEST) &&
		    !(classes & (ROOM_WORD_ASSENT | ROOM_WORD_GLUE)))
			return true;
	}
	return words.question;
}

/* "팔리야": the particle calls the bearer of the name. */
static bool has_calling_particle(enum room_language language, const struct address_word *w)
{
	return language == ROOM_LANGUAGE_KO && w->n == CHARACTER_BYTES && is_calling_particle(w->p);
}

/* The words from the last punctuation on, up to word i, with the words of `language` in them. */
static unsigned clause_before(enum room_language language, const struct address_word *w, unsigned i,
			      struct room_words *words)
{
	unsigned from = i;

	while (from > 0 && !w[from].after_stop)
		from--;
	room_words_split(words, w[from].p, language);
	return from;
}

/* The same with entries of several words, "danke dir", and greetings. */
static bool is_led_by_entries(enum room_language language, const struct address_word *w, unsigned i)
{
	const uint32_t opens =
		ROOM_WORD_LEAD | ROOM_WORD_CALL | ROOM_WORD_FILLER | ROOM_WORD_ASSENT;
	struct room_words words;
	unsigned from, k, n;

	if (room_language_in_situ(language))
		return false;
	from = clause_before(language, w, i, &words);
	for (k = from; k < i; k += n) {
		n = room_words_match(&words, k - from, opens);
		n = n ? n : address_calls(&w[k]);
		if (!n)
			return false;
	}
	return k == i;
}

/* "Weißt du das": the words are articles, too, which stand before what somebody speaks of. */
static bool is_object(const struct address_word *w)
{
	static const char *const words[] = {"das", "dat", "isso", "isto", "eso", "esto", NULL};

	return address_in_list(w, words);
}

/* "Ist das der neue …" asks what something is: those to whom it is put are not named. */
static bool asks_what_it_is(enum room_language language, const struct address_word *w, unsigned n)
{
	static const char *const is[] = {"ist", NULL}, *const it[] = {"das", "es", NULL};
	static const char *const articles[] = {"der",  "die",  "das",  "ein", "eine",
					       "dein", "euer", "eure", NULL};

	return language == ROOM_LANGUAGE_DE && n > 3 && address_in_list(&w[0], is) &&
	       address_in_list(&w[1], it) && address_in_list(&w[2], articles);
}

/* "Kannst du mir helfen, …": what stands right behind the entry is what is asked about. */
static bool is_led_by_request(enum room_language language, const struct address_word *w, unsigned i)
{
	const uint32_t asks = ROOM_WORD_QUESTION | ROOM_WORD_REQUEST | ROOM_WORD_MODAL;
	struct room_words words;
	unsigned from, n;

	if (room_language_in_situ(language))
		return false;
	from = clause_before(language, w, i, &words);
	n = room_words_match(&words, 0, asks);
	return n > 1 && from + n < i && !asks_what_it_is(language, &w[from], i - from) &&
	       (is_object(&w[i - 1]) || !(classes_of(language, &w[i - 1], true) & ROOM_WORD_ABOUT));
}

/* A question in a language without lists, behind the name that it begins with. */
static bool is_foreign_question(enum room_language language, const struct address_word *w,
				unsigned n, const struct address_hit *h)
{
	for (unsigned i = h->words; i < n; i++)
		if (classes_of(language, &w[i], false))
			return false;
	return h->at == 0 && n > h->words && has_question_mark(&w[n - 1]);
}

static enum room_address judge_form(enum room_language language, const struct address_word *w,
				    unsigned n, const struct address_hit *h)
{
	const uint32_t you = ROOM_WORD_QUESTION | ROOM_WORD_REQUEST | ROOM_WORD_PERSON |
			     ROOM_WORD_MODAL | ROOM_WORD_WISH | ROOM_WORD_CALL;
	unsigned i = h->at, next = i + h->words;
	uint32_t after = next < n ? classes_of(language, &w[next], false) : 0;
	bool before_stop = i == 0 || w[i].after_stop;
	bool led = is_led_in(language, w, i) || is_led_by_entries(language, w, i);
	bool after_stop = next == n || w[next].after_stop;

	if (next < n && !after_stop && has_calling_particle(language, &w[next]) &&
	    (before_stop || led || is_request(language, w, n)))
		return ROOM_ADDRESS_ADDRESSED;
	/* A term of address belongs to the name: "Parleyさん、". */
	if (!after_stop && after & ROOM_WORD_KIN && !(after & ROOM_WORD_THIRD) &&
	    (next + 1 == n || w[next + 1].after_stop))
		after_stop = true;
	if ((after_stop && (before_stop || led)) ||
	    (led && !before_stop && address_greets(&w[i - 1])))
		return ROOM_ADDRESS_ADDRESSED;
	if (before_stop || led) {
		uint32_t begins = classes_from(language, w, n, next);

		if (after & ROOM_WORD_THIRD && !(after & ROOM_WORD_REQUEST) &&
		    (begins & ROOM_WORD_THIRD || !(begins & ROOM_WORD_QUESTION)))
			return ROOM_ADDRESS_MENTIONED;
		return ((after | begins) & you) || (led && i > 0 && !before_stop) ||
				       asks_behind(language, w, n, next) ||
				       is_foreign_question(language, w, n, h)
			       ? ROOM_ADDRESS_ADDRESSED
			       : ROOM_ADDRESS_MENTIONED;
	}
	if (next == n && !(classes_of(language, &w[i - 1], true) & ROOM_WORD_ABOUT) &&
	    is_request(language, w, n))
		return ROOM_ADDRESS_ADDRESSED;
	if (next == n && is_led_by_request(language, w, i))
		return ROOM_ADDRESS_ADDRESSED;
	if (after_stop && language == ROOM_LANGUAGE_KO &&
	    !(classes_of(language, &w[i - 1], true) & ROOM_WORD_ABOUT))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_MENTIONED;
}

/* The same in another language. */
static enum room_address judge_similar_form(enum room_language language,
					    const struct address_word *w, unsigned n,
					    const struct address_hit *h)
{
	const uint32_t asks =
		ROOM_WORD_QUESTION | ROOM_WORD_REQUEST | ROOM_WORD_MODAL | ROOM_WORD_WISH;
	unsigned i = h->at, next = i + h->words;
	uint32_t after = next < n ? classes_of(language, &w[next], false) : 0;

	if (i > 0 && classes_of(language, &w[i - 1], true) & ROOM_WORD_CALL &&
	    (next == n || w[next].after_stop || !(after & ROOM_WORD_THIRD)))
		return ROOM_ADDRESS_ADDRESSED;
	if (is_led_in(language, w, i) && after & asks)
		return ROOM_ADDRESS_ADDRESSED;
	if (i > 1 && next == n && w[i].after_stop && is_request(language, w, n))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_NONE;
}

static bool is_english(enum room_language language)
{
	return language == ROOM_LANGUAGE_EN || language == ROOM_LANGUAGE_UNKNOWN;
}

/* True if a similar word could be an address in this position at all; saves the comparison. */
static bool can_be_addressed(enum room_language language, const struct address_word *w, unsigned n,
			     unsigned i)
{
	return i == 0 || (i + 1 == n && w[i].after_stop) ||
	       (is_english(language) ? address_is_called(w, i) : is_led_in(language, w, i));
}

/* "Parle" is French: a word of the language that only sounds like the name. */
static bool is_other_word(const struct room_names *names, enum room_language language,
			  const struct address_word *w)
{
	char form[FORM];
	size_t n = address_form(w, form);

	if (!language || language == ROOM_LANGUAGE_EN || !room_language_classes(language, form, n))
		return false;
	for (unsigned i = 0; i < names->n; i++)
		if (names->name[i].words == 1 && strcmp(names->name[i].form, form) == 0)
			return false;
	return true;
}

static bool find_hit(const struct room_names *names, enum room_language language,
		     const struct address_word *w, unsigned n, unsigned i, struct address_hit *h)
{
	char key[ROOM_KEY_MAX];
	const char *pair = make_pair_key(w, n, i, key) ? key : NULL;
	bool near = false, can_call = can_be_addressed(language, w, n, i);

	for (unsigned k = 0; k < names->n; k++) {
		unsigned len = match_name(names, k, w, n, i, pair);

		if (len) {
			*h = (struct address_hit){i, len, true};
			return true;
		}
		if (!near && can_call && is_similar(names, k, w[i].key)) {
			*h = (struct address_hit){i, 1, false};
			near = true;
		}
	}
	return near;
}

enum room_address room_address(const struct room_names *names, const char *text)
{
	return room_address_in(names, text, room_language_guess(text, "", ROOM_LANGUAGE_EN));
}

enum room_address room_address_in(const struct room_names *names, const char *text,
				  enum room_language language)
{
	struct address_word words[ROOM_WORDS];
	unsigned n = split_words(text, words, ROOM_WORDS, names);
	enum room_address best = ROOM_ADDRESS_NONE;
	bool english = is_english(language);

	for (unsigned i = 0; i < n; i++) {
		enum room_address a;
		struct address_hit h;

		if (!find_hit(names, language, words, n, i, &h) ||
		    (h.words == 1 && is_other_word(names, language, &words[i])))
			continue;
		if (!h.exact)
			a = english ? address_english_similar(words, n, &h)
				    : judge_similar_form(language, words, n, &h);
		else
			a = english ? address_english(words, n, &h)
				    : judge_form(language, words, n, &h);
		if (a > best)
			best = a;
	}
	return best;
}

bool room_name_cue(const struct room_names *names, const char *text)
{
	struct address_word words[ROOM_WORDS];
	unsigned n = split_words(text, words, ROOM_WORDS, names);
	struct address_hit h;

	for (unsigned i = 0; i < n; i++)
		if (find_hit(names, ROOM_LANGUAGE_EN, words, n, i, &h) &&
		    (h.exact || i == 0 || address_calls(&words[i - 1])))
			return true;
	return false;
}

/* The index of the last exact name, and the words of the text; n if there is none. */
static unsigned find_last_name(const struct room_names *names, const char *text,
			       struct address_word words[ROOM_WORDS], unsigned *n)
{
	unsigned last;
	struct address_hit h;

	last = *n = split_words(text, words, ROOM_WORDS, names);
	for (unsigned i = 0; i < *n; i++)
		if (find_hit(names, ROOM_LANGUAGE_EN, words, *n, i, &h) && h.exact)
			last = i + h.words - 1;
	return last;
}

bool room_name_occurs(const struct room_names *names, const char *text)
{
	struct address_word words[ROOM_WORDS];
	unsigned n;

	return find_last_name(names, text, words, &n) < n;
}

bool room_name_ends(const struct room_names *names, const char *text)
{
	struct address_word words[ROOM_WORDS];
	unsigned n, last = find_last_name(names, text, words, &n);

	return last < n && (last + 1 == n || (last + 2 == n && !words[last + 1].after_stop));
}
