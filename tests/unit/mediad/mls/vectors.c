#include "tests/unit/mediad/mls/vectors.h"

#include "tests/test.h"

enum { KEPT = 1 << 16 };

static struct {
	json_t *root;
	uint8_t *kept[KEPT];
	size_t n;
} vectors;

json_t *vectors_load(const char *name)
{
	char rel[256];
	const char *path;

	snprintf(rel, sizeof rel, "vectors/mls/%s", name);
	path = test_shared(rel);
	if (!path) {
		test_skip("shared vectors not there");
		return NULL;
	}
	json_decref(vectors.root);
	vectors.root = json_load_file(path, 0, NULL);
	if (!vectors.root)
		test_fail(__FILE__, __LINE__, "%s: not JSON", path);
	return vectors.root;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice vectors_hex(const char *hex)
{
	size_t n = hex ? strlen(hex) / 2 : 0;
	uint8_t *p;

	if (n == 0 || vectors.n == KEPT)
		return (struct slice){0};
	p = malloc(n);
	if (!p)
		return (struct slice){0};
	vectors.kept[vectors.n++] = p;
	for (size_t i = 0; i < n; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return (struct slice){0};
		p[i] = (uint8_t)(high << 4 | low);
	}
	return (struct slice){.p = p, .n = n};
}

struct slice vectors_bytes(const json_t *string)
{
	return vectors_hex(json_string_value(string));
}

struct slice vectors_get(const json_t *object, const char *key)
{
	return vectors_bytes(json_object_get(object, key));
}

void vectors_end(void)
{
	json_decref(vectors.root);
	vectors.root = NULL;
	while (vectors.n)
		free(vectors.kept[--vectors.n]);
}
