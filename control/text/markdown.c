#include "control/text/markdown.h"

#include <ctype.h>
#include <string.h>

/* Of the marks of ASCII those that only ever stand for themselves. A colon before a blank does, and
 * any other one may begin an emoji, or be of an address. */
static bool is_mark(const char *at)
{
	if (*at == ':')
		return at[1] && at[1] != ' ';
	return ispunct((unsigned char)*at) && !strchr(",;'\"?%&=$/", *at);
}

bool text_markdown_escape(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	for (; *text; text++) {
		bool mark = is_mark(text);

		if (n + mark + 1 >= size)
			break;
		if (mark)
			buf[n++] = '\\';
		buf[n++] = *text;
	}
	buf[n] = '\0';
	return !*text;
}
