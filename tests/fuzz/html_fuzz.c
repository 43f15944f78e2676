/* A page, read whole: no input may crash, pass a bound or yield text that is not clean UTF-8. Its
 * media type and character set are judged as well. */
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "control/tools/charset.h"
#include "control/tools/html.h"
#include "control/tools/untrusted.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t mark[UNTRUSTED_MARK];
	struct html_text page = {0};
	char type[64], *fenced = NULL;
	size_t skip, n;

	snprintf(type, sizeof type, "%.*s", (int)(size < 40 ? size : 40), (const char *)data);
	if (!charset_find(type, (const char *)data, size, &skip) || skip > size)
		abort();
	charset_form(type, (const char *)data, size);
	if (html_read(&page, (const char *)data, size))
		abort();
	n = strlen(page.text);
	if (n >= HTML_TEXT_MAX || !utf8_valid(page.text) || !utf8_valid(page.title) ||
	    strchr(page.title, '\n') || untrusted_clean(page.text) != n)
		abort();
	if (untrusted_wrap(&fenced, mark, type, page.text) || !utf8_valid(fenced))
		abort();
	free(fenced);
	html_text_clear(&page);
	return 0;
}
