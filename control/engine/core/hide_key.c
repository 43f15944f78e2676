#include "control/engine/core/hide_key.h"

#include <string.h>

/* Returns the number of bytes of the text that are the key, or its beginning. */
static size_t match_key(const char *key, const char *text)
{
	size_t n = 0;

	while (key[n] && key[n] == text[n])
		n++;
	return n >= HIDE_KEY_PREFIX || (!key[n] && n >= HIDE_KEY_MIN) ? n : 0;
}

void hide_key(const char *key, char *text)
{
	while (*text) {
		size_t n = match_key(key, text);

		memset(text, '*', n);
		text += n ? n : 1;
	}
}
