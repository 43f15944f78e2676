#include "control/text/own_words.h"

#include <stdbool.h>
#include <string.h>

#include "proto/base/utf8.h"

enum { MARK_MAX = 128 /* bytes of what Discord writes in angle brackets */ };

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* "<:name:1>", "</name:1>", "<#1>", "<@1>", "<@&1>", "<t:1>", "<id:home>": its bytes; 0: it is
 * none. */
static size_t mark_at(const char *text)
{
	size_t n = 0;

	if (*text != '<' || !text[1] ||
	    (!strchr(":/#@", text[1]) && !begins(text, "<a:") && !begins(text, "<t:") &&
	     !begins(text, "<id:")))
		return 0;
	while (text[n] && text[n] != '\n' && text[n] != '>' && n < MARK_MAX)
		n++;
	return text[n] == '>' ? n + 1 : 0;
}

/* A span or block of code, which a run of as many backticks ends. */
static size_t code_at(const char *text)
{
	size_t n = strspn(text, "`");

	for (const char *end = text + n; n && (end = strchr(end, '`'));) {
		size_t run = strspn(end, "`");

		if (run == n || (n >= 3 && run >= 3))
			return (size_t)(end - text) + run;
		end += run;
	}
	return 0;
}

static size_t address_at(const char *text)
{
	return begins(text, "https://") || begins(text, "http://") ? strcspn(text, " \t\n>)") : 0;
}

/* A quoted line, or all that follows. */
static size_t quote_at(const char *line)
{
	if (begins(line, ">>> "))
		return strlen(line);
	return begins(line, "> ") ? strcspn(line, "\n") : 0;
}

/* Returns the bytes that are not the author's own words; 0 if the first one is. */
static size_t foreign_at(const char *text, bool new_line)
{
	size_t n = new_line ? quote_at(text) : 0;

	n = n ? n : mark_at(text);
	n = n ? n : code_at(text);
	return n ? n : address_at(text);
}

void own_words(char *to, size_t size, const char *content)
{
	bool new_line = true;
	size_t n = 0;

	while (*content && n + 1 < size) {
		size_t skip = foreign_at(content, new_line), kept = 0;

		if (!skip) {
			/* A mark behind a backslash is none, and neither is one that nothing ends.
			 */
			kept = *content == '\\' && content[1] && strchr("`<>", content[1]) ? 2
			       : *content == '`' ? strspn(content, "`")
						 : 1;
			kept = kept < size - 1 - n ? kept : size - 1 - n;
			memcpy(to + n, content, kept);
			n += kept;
		} else {
			to[n++] = ' ';
		}
		content += skip ? skip : kept;
		new_line = content[-1] == '\n';
	}
	to[n] = '\0';
	utf8_mend(to);
}
