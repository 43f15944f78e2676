/* The scenario language: no text may crash or leak its parser; the report on a bad one is a line
 * of it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script *s = NULL;
	char err[256] = "";
	int rc = script_parse(&s, (const char *)data, size, err, sizeof err);

	if (rc == EBADMSG && (!*err || !memchr(err, ':', sizeof err)))
		abort();
	if (rc)
		return 0;
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->line[i].tokens; k++)
			if (!s->line[i].token[k].text)
				abort();
	script_free(s);
	return 0;
}
