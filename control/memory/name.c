#include "control/memory/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "control/memory/everyday.def"
#include "control/memory/lists.h"
#include "control/memory/terms.h"

enum { WORD_SIZE = 32, SMALL_MIN = 3 /* letters */ };

/* A noun follows them. */
static const char *const articles[] = {
	"the",	 "a",	  "an",	 "my",	"our", "your", "his", "her",  "its",  "this",
	"their", "der",	  "die", "das", "den", "dem",  "des", "ein",  "eine", "einen",
	"einem", "einer", "zur", "zum", "im",  "am",   "vom", "beim", NULL};
/* The subject of a question follows them; "s" is that of "what's". */
static const char *const auxiliaries[] = {"did", "does",  "has",    "had",  "is",
					  "was", "s",	  "will",   "d",    "would",
					  "can", "could", "should", "must", NULL};
static const char *const speaking[] = {
	"say",	 "said",    "says",	 "saying",   "tell",	  "told",    "tells",	  "mention",
	"ask",	 "asked",   "mentioned", "think",    "thinks",	  "thought", "want",	  "wanted",
	"wants", "suggest", "promise",	 "promised", "suggested", "explain", "explained", NULL};

/* Of Korean and Chinese, and what people are called in Japanese: one character each. */
static const char before_names[] = "\u662f\u548c\u8ddf\u4e0e\u7ed9\u5bf9\u6b22\u5728\u8ba9\u53eb"
				   "\u95ee\u628a\u88ab\u6bd4\u66ff\u4e3a\u89c1\u8bf7\u8bc9";
static const char after_names[] = "\u7684\u662f\u8bf4\u5728\u6709\u559c\u60f3\u548c\u8ddf\u4e5f"
				  "\u4f1a\u8981\u4e0d\u628a\u88ab\u7ed9\u6765\u53bb\u4f4f\u7231"
				  "\u5f88\u4e86\u5c31\u90fd\u80fd\u4eca\u660e\u6628\u541b\u69d8"
				  "\u6c0f\u5148\uc740\ub294\uc774\uac00\uc744\ub97c\uc758\ub3c4"
				  "\uc640\uacfc\uc5d0\uaed8\ud55c\uc528\ub2d8\uc544\uc57c\ub791";

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || ((unsigned char)c & 0x80);
}

static void copy_word(char word[WORD_SIZE], const char *from, size_t n)
{
	n = n < WORD_SIZE ? n : 0;
	for (size_t i = 0; i < n; i++)
		word[i] = (char)tolower((unsigned char)from[i]);
	word[n] = '\0';
}

/* The word before, in the same sentence; "": none. */
static void read_before(const char *question, const char *at, char word[WORD_SIZE])
{
	const char *end = at, *from;

	while (end > question && !is_letter(end[-1]) && !strchr(".?!:", end[-1]))
		end--;
	for (from = end; from > question && is_letter(from[-1]);)
		from--;
	copy_word(word, from, (size_t)(end - from));
}

/* The word after blanks. */
static void read_after(const char *at, char word[WORD_SIZE])
{
	const char *end;

	at += strspn(at, " ");
	for (end = at; is_letter(*end);)
		end++;
	copy_word(word, at, (size_t)(end - at));
}

static bool is_possessive(const char *after)
{
	size_t mark = *after == '\'' ? 1 : strncmp(after, "\u2019", 3) == 0 ? 3 : 0;

	return mark && after[mark] == 's' && !is_letter(after[mark + 1]);
}

/* Letters from Hebrew on have no case, apart from few rare scripts. */
static bool has_case(const char *at, size_t n)
{
	return terms_next(&at, at + n) < 0x590;
}

static bool begins_small(const char *at, size_t n)
{
	uint32_t c = terms_next(&at, at + n);

	return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0x17f && terms_lower(c) == c) ||
	       (c >= 0x3ac && c <= 0x3ce) || (c >= 0x430 && c <= 0x45f);
}

/* "Will" and "May" are names, too, but far more often they are not. */
static bool is_everyday(const char *at, size_t n)
{
	char word[WORD_SIZE];

	copy_word(word, at, n);
	return terms_is_stop_word(word, strlen(word)) || lists_hold(lists_dates, word);
}

enum name_use name_read(const char *question, const char *at, size_t n)
{
	char before[WORD_SIZE], after[WORD_SIZE];
	bool small = begins_small(at, n), speaks, subject;

	read_before(question, at, before);
	read_after(at + n, after);
	speaks = lists_hold(speaking, after);
	if (!has_case(at, n))
		return NAME_LIKELY;
	if (lists_hold(articles, before))
		return NAME_NONE;
	if (is_everyday(at, n))
		return !small && *before && speaks ? NAME_SURE : NAME_NONE;
	if (speaks)
		return NAME_SURE;
	if (is_possessive(at + n))
		return small || !*before ? NAME_LIKELY : NAME_SURE;
	subject = lists_hold(auxiliaries, before);
	if (small)
		return strcmp(before, "did") == 0 || strcmp(before, "does") == 0 ? NAME_LIKELY
										 : NAME_NONE;
	return !*before ? NAME_NONE : subject ? NAME_SURE : NAME_LIKELY;
}

static const char *const everyday[] = {EVERYDAY_WORDS, NULL};

/* ---- names in facts ---- */

/* Scripts that follow each other without a blank. */
static unsigned script_of(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} scripts[] = {{0x3041, 0x309f}, {0x30a0, 0x30ff}, {0x3400, 0x9fff}, {0xac00, 0xd7a3}};
	unsigned i = 0;

	while (i < sizeof scripts / sizeof scripts[0] && (c < scripts[i].from || c > scripts[i].to))
		i++;
	return i;
}

static bool holds(const char *set, uint32_t c)
{
	const char *end = set + strlen(set);

	while (*set)
		if (terms_next(&set, end) == c)
			return true;
	return false;
}

static uint32_t character_before(const char *text, const char *at)
{
	const char *from = at;

	if (from == text)
		return 0;
	for (from--; from > text && ((unsigned char)*from & 0xc0) == 0x80;)
		from--;
	return terms_next(&from, at);
}

/* Without blanks, a name stands beside another script, or a word that people's names go with. */
static bool stands_alone(const char *text, const char *at, size_t n)
{
	const char *after = at + n, *name = at;
	uint32_t first = terms_next(&name, after), last = character_before(text, after);
	uint32_t left = character_before(text, at), right = terms_next(&after, text + strlen(text));

	return (!terms_is_word(left) || script_of(left) != script_of(first) ||
		(terms_is_dense(first) && holds(before_names, left))) &&
	       (!terms_is_word(right) || script_of(right) != script_of(last) ||
		(terms_is_dense(last) && holds(after_names, right)));
}

/* A name of one character is a word far more often. */
static bool is_short(const char *name, size_t n)
{
	const char *end = name + n;

	terms_next(&name, end);
	return name >= end;
}

static enum name_use read_told(const char *fact, const char *at, size_t n)
{
	char before[WORD_SIZE];
	enum name_use use = name_read(fact, at, n);

	read_before(fact, at, before);
	/* Most facts about people begin with their name. */
	return use == NAME_NONE && !*before && !begins_small(at, n) && !is_everyday(at, n)
		       ? NAME_LIKELY
		       : use;
}

enum name_use name_told(const char *fact, const char *name)
{
	enum name_use best = NAME_NONE;
	size_t n = strlen(name);

	if (is_short(name, n))
		return NAME_NONE;
	for (const char *at = fact; *at; at++) {
		enum name_use use;

		if (strncasecmp(at, name, n) != 0 || !stands_alone(fact, at, n))
			continue;
		use = read_told(fact, at, n);
		best = use > best ? use : best;
	}
	return best;
}

/* Of several words one that people do not use every day makes a name of all. */
static bool has_rare_word(const char *name)
{
	char word[WORD_SIZE];

	for (const char *at = name, *end; *at; at = end + (*end != '\0')) {
		for (end = at; is_letter(*end);)
			end++;
		copy_word(word, at, (size_t)(end - at));
		if (end - at >= SMALL_MIN && *word && !is_everyday(at, (size_t)(end - at)) &&
		    !lists_hold(everyday, word) && !lists_hold(lists_numbers, word))
			return true;
	}
	return false;
}

bool name_in_small(const char *fact, const char *name)
{
	char before[WORD_SIZE];
	size_t n = strlen(name);

	if (!has_case(name, n) || !has_rare_word(name))
		return false;
	for (const char *at = fact; *at; at++) {
		if (strncasecmp(at, name, n) != 0 || !begins_small(at, n) ||
		    !stands_alone(fact, at, n))
			continue;
		read_before(fact, at, before);
		if (!lists_hold(articles, before))
			return true;
	}
	return false;
}

bool name_is_everyday(const char *name)
{
	return has_case(name, strlen(name)) && !has_rare_word(name);
}

bool name_speaks(const char *fact, const char *name)
{
	char after[WORD_SIZE];
	size_t n = strlen(name);

	if (is_short(name, n) || !has_case(name, n))
		return false;
	for (const char *at = fact; *at; at++) {
		if (strncasecmp(at, name, n) != 0 || !stands_alone(fact, at, n))
			continue;
		read_after(at + n, after);
		if (lists_hold(speaking, after))
			return true;
	}
	return false;
}

bool name_is_used(const char *text, const char *name)
{
	char before[WORD_SIZE];
	size_t n = strlen(name);
	bool rare = has_rare_word(name);

	if (is_short(name, n))
		return false;
	for (const char *at = text; *at; at++) {
		if (strncasecmp(at, name, n) != 0 || !stands_alone(text, at, n))
			continue;
		read_before(text, at, before);
		if (rare || lists_hold(articles, before) || read_told(text, at, n) != NAME_NONE)
			return true;
	}
	return false;
}
