/* Results of reflection, which a model writes: a duplicate may be one, and nothing else is read. */
#include <stdlib.h>
#include <string.h>

#include "control/memory/compare.h"
#include "control/memory/reflect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct reflect_pair pairs[] = {
	{.older = 1, .newer = 2, .was = "we meet at four", .is = "the meeting is at five"},
	{.older = 3, .newer = 4, .was = "my bike is red", .is = "I ride a red bike"},
};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reflect_result r;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!reflect_read(text, pairs, PAIRS, &r) && r.refused)
		abort();
	for (unsigned i = 0; i < REFLECT_PAIRS; i++)
		if (r.relation[i] >= REFLECT_RELATION_COUNT || (i >= PAIRS && r.relation[i]))
			abort();
	if (r.relation[0] == REFLECT_DUPLICATE)
		abort();
	free(text);
	return 0;
}
