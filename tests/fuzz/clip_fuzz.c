/* A line of a local sound: no bytes may crash, and a sound has a plain name and a bounded length.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/soundboard/clip.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clip c;

	if (clip_read(&c, (const char *)data, size))
		return 0;
	if (!*c.name || !utf8_valid(c.name) || strpbrk(c.name, "\t\r\n") || !c.n ||
	    c.n > CLIP_SAMPLES_MAX || size != strlen(c.name) + 1 + 4 * c.n)
		abort();
	clip_clear(&c);
	return 0;
}
