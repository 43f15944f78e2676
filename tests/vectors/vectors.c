#include "tests/vectors/vectors.h"

#include <sodium.h>
#include <stdlib.h>

/* All bytes given out, newest first. */
static struct kept {
	struct kept *next;
	uint8_t bytes[];
} * kept;

struct slice vec_hex(const json_t *string)
{
	size_t chars = json_string_length(string), n = 0;
	struct kept *k = malloc(sizeof *k + chars / 2 + 1);

	if (!k)
		abort();
	k->next = kept;
	kept = k;
	if (chars &&
	    sodium_hex2bin(k->bytes, chars / 2, json_string_value(string), chars, NULL, &n, NULL))
		n = 0;
	return (struct slice){.p = k->bytes, .n = n};
}

struct slice vec_get(const json_t *object, const char *key)
{
	return vec_hex(json_object_get(object, key));
}

uint64_t vec_uint(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

bool vec_is(const json_t *object, const char *key, const void *p, size_t n)
{
	struct slice want = vec_get(object, key);

	return want.n == n && n && memcmp(want.p, p, n) == 0;
}

void vec_end(void)
{
	while (kept) {
		struct kept *next = kept->next;

		free(kept);
		kept = next;
	}
}
