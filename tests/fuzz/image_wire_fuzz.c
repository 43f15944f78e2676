/* Lines between control and imaged: what is read is valid, and is the same when it is written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/vision/core/image_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_request(const char *line)
{
	char again[IMAGE_REQUEST_MAX], more[IMAGE_REQUEST_MAX];
	struct image_request q, same;
	size_t n;

	if (image_request_read(&q, line))
		return;
	n = image_request_write(&q, again);
	again[n - 1] = '\0';
	if (image_request_read(&same, again) || image_request_write(&same, more) != n ||
	    memcmp(again, more, n - 1) != 0)
		abort();
}

static void check_result(const char *line, size_t n)
{
	struct image_result r, same;
	void *memory = NULL, *more = NULL;
	char *again = NULL;
	size_t length = 0;

	if (image_result_read(&r, &memory, line, n))
		return;
	if (image_result_write(&r, &again, &length) ||
	    image_result_read(&same, &more, again, length - 1) || same.id != r.id ||
	    same.reason != r.reason || same.n != r.n)
		abort();
	free(again);
	free(memory);
	free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);

	if (!line)
		abort();
	memcpy(line, data, size);
	line[size] = '\0';
	check_request(line);
	check_result(line, size);
	free(line);
	return 0;
}
