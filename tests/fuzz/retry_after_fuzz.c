/* The wait that a refusal asks for: within its bounds, and the same once it was printed. Three
 * fields, divided by line ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/http/retry_after.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct retry_after_fields f = {0};
	char *to[3] = {f.after, f.after_ms, f.date}, wait[RETRY_AFTER_TEXT_MAX];
	size_t at = 0, n = 0;
	uint32_t ms;

	for (size_t i = 0; i < size && at < 3; i++) {
		if (data[i] == '\n') {
			at++;
			n = 0;
		} else if (n + 1 < RETRY_AFTER_FIELD_MAX) {
			to[at][n++] = (char)data[i];
		}
	}
	ms = retry_after_read(&f);
	retry_after_print(ms, wait);
	if (ms > RETRY_AFTER_MAX_MS || retry_after_told(wait, strlen(wait)) != ms ||
	    retry_after_told((const char *)data, size) > RETRY_AFTER_MAX_MS)
		abort();
	return 0;
}
