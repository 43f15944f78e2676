#include "control/tools/builtin/page_text.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "control/tools/charset.h"
#include "control/tools/untrusted.h"
#include "proto/base/utf8.h"

/* Bytes of UTF-8 that a byte of another character set can become. */
enum { GROWTH_MAX = 3 };

/* Converts to UTF-8; what is malformed becomes U+FFFD. NULL without memory. */
static char *convert(iconv_t cd, const char *body, size_t n, size_t *len)
{
	char *in = (char *)body, *text = malloc(n * GROWTH_MAX + 4), *out = text;
	size_t left = n, room = n * GROWTH_MAX + 4;

	while (text && left && iconv(cd, &in, &left, &out, &room) == (size_t)-1) {
		if (errno == E2BIG || room < 3)
			break;
		memcpy(out, "\xef\xbf\xbd", 3);
		out += 3;
		room -= 3;
		in++;
		left--;
	}
	*len = text ? (size_t)(out - text) : 0;
	return text;
}

/* Text as it is, cut like that of a page. */
static int copy_text(struct html_text *out, const char *body, size_t n)
{
	size_t whole = n < HTML_TEXT_MAX ? n : utf8_whole(body, HTML_TEXT_MAX - 1);
	char *text = malloc(whole + 1);

	if (!text)
		return ENOMEM;
	for (size_t i = 0; i < whole; i++)
		text[i] = body[i] ? body[i] : ' ';
	text[whole] = '\0';
	untrusted_clean(text);
	*out = (struct html_text){.text = text, .cut = whole < n};
	return 0;
}

int page_text_read(struct html_text *out, const char *content_type, const char *body, size_t n)
{
	enum page_form form = charset_form(content_type, body, n);
	size_t skip;
	const char *name = charset_find(content_type, body, n, &skip);
	iconv_t cd = (iconv_t)-1;
	char *text = NULL;
	int err;

	if (form == PAGE_OTHER)
		return EMEDIUMTYPE;
	body += skip;
	n -= skip;
	/* A machine may lack the module; what is no UTF-8 is left out then. */
	if (strcmp(name, "UTF-8") != 0)
		cd = iconv_open("UTF-8", name);
	if (cd != (iconv_t)-1) {
		text = convert(cd, body, n, &n);
		iconv_close(cd);
		if (!text)
			return ENOMEM;
		body = text;
	}
	err = form == PAGE_HTML ? html_read(out, body, n) : copy_text(out, body, n);
	free(text);
	return err;
}
