/* What a model wrote, read as an answer (text_chat.h). */
#include <string.h>
#include <strings.h>

#include "control/settings/settings.h"
#include "control/text/text_chat.h"

static const char blanks[] = " \t\r\n";
static const char marks[] = " \t\r\n*_`\"'";	       /* before and behind a [SKIP] */
static const char ends[] = " \t\r\n*_`\"'.,;:!?-()/|"; /* behind it */
static const char around[] = "*_`\"'";		       /* on both sides of it */
static const char skip[] = "SKIP";

/* Bytes of a name of the bot at the beginning, the longer one; 0: there is none. */
static size_t name_at(const struct settings *s, const char *name, const char *text)
{
	const char *const names[] = {name, s->bot_name};
	size_t most = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);

		if (n > most && strncasecmp(names[i], text, n) == 0)
			most = n;
	}
	return most;
}

/* Models repeat how messages are told, "[Parley]: it is four", or write it as in a play: "Parley:",
 * "**Parley:**". */
static const char *pass_label(const struct settings *s, const char *name, const char *text)
{
	size_t stars = strspn(text, "*_"), n = stars;
	bool bracket = text[n] == '[', colon, closed;

	n += bracket;
	if (!name_at(s, name, text + n))
		return text;
	n += name_at(s, name, text + n);
	if (bracket && text[n++] != ']')
		return text;
	closed = stars && strspn(text + n, "*_") == stars;
	n += closed ? stars : 0;
	colon = text[n] == ':';
	n += colon;
	if (!closed && stars && strspn(text + n, "*_") != stars)
		return text;
	n += closed ? 0 : stars;
	return bracket || colon ? text + n + strspn(text + n, blanks) : text;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (unsigned char)c >= 0x80;
}

/* Bytes of the words at the beginning that say that nothing is to be said; 0: they are others. */
static size_t skip_words(const char *mark)
{
	size_t n = sizeof skip - 1;

	if (strncasecmp(mark, skip, sizeof skip - 1) != 0)
		n = strncasecmp(mark, "NO", 2) == 0 ? 2 + strspn(mark + 2, " _-") : 0;
	if (n && n != sizeof skip - 1)
		n = strncasecmp(mark + n, "REPLY", 5) == 0 ? n + 5 : 0;
	return is_letter(mark[n]) ? 0 : n;
}

/* Bytes of "[SKIP]", "( skip )", "[SKIP: nothing to add]" or "[NO REPLY]"; 0: none begins there. */
static size_t skip_mark(const char *mark)
{
	bool square = *mark == '[';
	size_t n = 1 + (*mark ? strspn(mark + 1, marks) : 0), words, end;

	if ((!square && *mark != '(') || !(words = skip_words(mark + n)))
		return 0;
	n += words;
	n += strspn(mark + n, marks);
	end = n + strcspn(mark + n, square ? "]" : ")");
	/* A reason stands behind a colon, or another mark that no bracket of an answer has. */
	return mark[end] && (end == n || square || mark[n] == ':') ? end + 1 : 0;
}

/* "SKIP" alone; in small letters it may be the answer to a question that must have one. */
static bool is_bare_skip(const char *words, bool required)
{
	size_t n = skip_words(words);

	for (size_t i = 0; required && i < n; i++)
		if (words[i] >= 'a' && words[i] <= 'z')
			return false;
	return n && !words[n + strspn(words + n, ends)];
}

/* The mark behind which nothing stands; NULL: there is none. */
static const char *last_mark(const char *words)
{
	const char *mark = strrchr(words, '[');
	size_t n = mark ? skip_mark(mark) : 0;

	return n && !mark[n + strspn(mark + n, ends)] ? mark : NULL;
}

/* True if it ends with a mark, or with a line that says the same. */
static bool ends_with_skip(const char *words)
{
	const char *line = strrchr(words, '\n');

	return last_mark(words) || (line && is_bare_skip(line + strspn(line, marks), true));
}

/* The mark in the spelling of the prompt, or one with a reason. "Click [Skip Intro]." has neither
 * at its end. */
static bool is_plain_mark(const char *mark)
{
	const char *words = mark + 1 + strspn(mark + 1, marks), *end = words + skip_words(words);
	bool small = false;

	for (const char *at = words; at < end; at++)
		small = small || (*at >= 'a' && *at <= 'z');
	end += strspn(end, marks);
	return *end == ':' || (!small && (*end == ']' || *end == '-'));
}

/* Bytes of the words before a mark that is their end, and before what stands around that. */
static size_t before_mark(const char *words)
{
	const char *last = last_mark(words), *mark = last && is_plain_mark(last) ? last : NULL;
	size_t n = mark ? (size_t)(mark - words) : strlen(words), k = 0;

	while (mark && k < n && strchr(around, words[n - 1 - k]))
		k++;
	if (k && strspn(mark + skip_mark(mark), around) >= k)
		n -= k;
	while (mark && n && strchr(blanks, words[n - 1]))
		n--;
	return n;
}

enum text_words text_answer_read(const struct settings *s, const char *name, bool required,
				 const char **text, size_t *length)
{
	const char *words = pass_label(s, name, *text + strspn(*text, blanks));
	const char *mark = words + strspn(words, marks);
	size_t n = skip_mark(mark);

	*text = words;
	*length = strlen(words);
	if (!*words)
		return TEXT_WORDS_NONE;
	if (n) {
		mark += n;
		*text = mark + strspn(mark, ends);
	} else if (is_bare_skip(mark, required)) {
		return TEXT_WORDS_SKIP;
	}
	if (!required)
		return n || ends_with_skip(words) ? TEXT_WORDS_SKIP : TEXT_WORDS_SAID;
	*length = before_mark(*text);
	return *length ? TEXT_WORDS_SAID : TEXT_WORDS_SKIP;
}
