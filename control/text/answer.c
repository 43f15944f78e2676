/* What a model wrote, read as an answer (text_chat.h). */
#include <string.h>
#include <strings.h>

#include "control/settings/settings.h"
#include "control/text/text_chat.h"

static const char blanks[] = " \t\r\n";
static const char marks[] = " \t\r\n*_`\"'";	       /* before and behind a [SKIP] */
static const char ends[] = " \t\r\n*_`\"'.,;:!?-()/|"; /* behind it */
static const char skip[] = "[SKIP]";

static bool is_name(const char *name, const char *text, size_t n)
{
	return *name && strlen(name) == n && strncasecmp(name, text, n) == 0;
}

/* Models repeat how messages are told: "[Parley]: it is four". */
static const char *pass_label(const struct settings *s, const char *name, const char *text)
{
	size_t n = *text == '[' ? strcspn(text, "]") : 0;

	if (!n || !text[n] ||
	    (!is_name(name, text + 1, n - 1) && !is_name(s->bot_name, text + 1, n - 1)))
		return text;
	text += n + 1;
	text += *text == ':';
	return text + strspn(text, blanks);
}

enum text_words text_answer_read(const struct settings *s, const char *name, bool required,
				 const char **text)
{
	const char *words = pass_label(s, name, *text + strspn(*text, blanks));
	const char *mark = words + strspn(words, marks);

	*text = words;
	if (!*words)
		return TEXT_WORDS_NONE;
	if (strncasecmp(mark, skip, sizeof skip - 1) != 0)
		return TEXT_WORDS_SAID;
	mark += sizeof skip - 1;
	mark += strspn(mark, ends);
	if (!required || !*mark)
		return TEXT_WORDS_SKIP;
	*text = mark;
	return TEXT_WORDS_SAID;
}
