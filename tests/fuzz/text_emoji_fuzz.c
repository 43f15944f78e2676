/* The directives of a model's answer: what is left is no longer and has none at the ends of its
 * lines; an emoji that was taken is one, and reads as itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/text/emoji.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), emoji[TEXT_EMOJI], again[TEXT_EMOJI];
	size_t left;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	text_emoji_take(text, emoji);
	left = strlen(text);
	if (left > size || strlen(emoji) >= sizeof emoji)
		abort();
	if (*emoji && (!utf8_valid(emoji) || !text_emoji_read(emoji, strlen(emoji), again) ||
		       strcmp(emoji, again) != 0))
		abort();
	free(text);
	return 0;
}
