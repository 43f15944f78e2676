/* Answers of search services: no input may crash, and every result is bounded text with an address
 * of the web. The first byte chooses the service. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/search.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct search_results r;

	if (!size || search_read(&r, data[0] % SEARCH_SERVICE_COUNT, 200,
				 (struct slice){data + 1, size - 1}))
		return 0;
	if (r.n > SEARCH_HITS_MAX || !utf8_valid(r.answer))
		abort();
	for (unsigned i = 0; i < r.n; i++)
		if (strncasecmp(r.hits[i].url, "http", 4) != 0 || !utf8_valid(r.hits[i].title) ||
		    !utf8_valid(r.hits[i].text))
			abort();
	return 0;
}
