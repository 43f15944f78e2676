/* Base64: no input may crash, leak or pass a bound; what is read can be written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t cap = base64_decoded(size), len = 0;
	uint8_t *pcm = malloc(cap ? cap : 1);
	char *again;

	if (!pcm)
		return 0;
	if (base64_decode((const char *)data, size, pcm, cap, &len) == 0) {
		if (len > cap || base64_encoded(len) != size)
			abort();
		again = malloc(size + 1);
		if (again) {
			base64_encode(pcm, len, again);
			/* The spare bits of the last group may differ; all before must not. */
			if (size > 4 && memcmp(again, data, size - 4) != 0)
				abort();
		}
		free(again);
	}
	free(pcm);
	return 0;
}
