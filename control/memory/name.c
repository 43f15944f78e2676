#include "control/memory/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "control/memory/lists.h"
#include "control/memory/terms.h"

enum { WORD_SIZE = 32 };

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

static bool has_capitals(const char *text)
{
	for (const char *end = text + strlen(text); *text;) {
		uint32_t c = terms_next(&text, end);

		if (terms_lower(c) != c)
			return true;
	}
	return false;
}

bool name_is_told(const char *fact, const char *name)
{
	size_t n = strlen(name);

	if (!n || is_everyday(name, n))
		return false;
	for (const char *at = fact; *at; at++) {
		bool dense = !has_case(name, n);

		if (strncasecmp(at, name, n) != 0)
			continue;
		if (dense ||
		    ((at == fact || !is_letter(at[-1])) && !is_letter(at[n]) &&
		     (!begins_small(at, n) || begins_small(name, n) || !has_capitals(fact))))
			return true;
	}
	return false;
}
