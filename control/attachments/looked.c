#include "control/attachments/looked.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

static bool has_word(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

bool looked_fits(const char *query, const char *name, const char *by)
{
	char word[WORD];

	while (*(query += strspn(query, " ,"))) {
		size_t n = strcspn(query, " ,");
		size_t m = n < sizeof word ? n : sizeof word - 1;

		memcpy(word, query, m);
		word[m] = '\0';
		query += n;
		if (!has_word(name, word) && !has_word(by, word))
			return false;
	}
	return true;
}

char *looked_text(const struct view_result *got, const char *name, const char *by, uint64_t age_s,
		  const uint8_t mark[UNTRUSTED_MARK], const char **why)
{
	const struct seen seen = {.kind = got->kind,
				  .cut = got->cut,
				  .name = name,
				  .by = by,
				  .age_s = age_s,
				  .text = got->text};

	*why = got->kind == SEEN_NOT ? got->text : "there is not enough memory";
	return got->kind == SEEN_NOT ? NULL : seen_text(&seen, 1, mark);
}

/* Marks of a sentence may stand behind it, and what closes brackets and quotes. */
static bool ends_here(const char *at)
{
	at += strspn(at, ".,;!?");
	return !*at || strchr(" \t\r\n<>\"')]", *at);
}

/* A longer address that begins with it is another one. */
bool looked_has_url(const char *text, const char *url)
{
	const char *at = *url ? strstr(text, url) : NULL;

	while (at && !ends_here(at + strlen(url)))
		at = strstr(at + 1, url);
	return at != NULL;
}
