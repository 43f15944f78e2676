#include "tests/unit/mediad/dave/answers.h"

#include <sodium.h>

#include "tests/test.h"

static json_t *load(const char *path)
{
	json_t *j = json_load_file(path, 0, NULL);

	if (!j)
		test_fail(__FILE__, __LINE__, "%s: not JSON", path);
	return j;
}

json_t *answers_shared(const char *name)
{
	char rel[256];
	const char *path;

	snprintf(rel, sizeof rel, "vectors/dave/%s", name);
	path = test_shared(rel);
	if (!path)
		test_skip("shared vectors not there");
	return path ? load(path) : NULL;
}

json_t *answers_davey(void)
{
	const char *path = test_data("unit/mediad/dave/davey.json");

	if (!path)
		test_fail(__FILE__, __LINE__, "davey.json is not there");
	return path ? load(path) : NULL;
}

const char *answers_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

size_t answers_hex(const json_t *string, uint8_t *out, size_t cap)
{
	const char *hex = json_string_value(string);
	size_t n = 0;

	if (hex)
		sodium_hex2bin(out, cap, hex, strlen(hex), NULL, &n, NULL);
	return n;
}

size_t answers_bytes(const json_t *object, const char *key, uint8_t *out, size_t cap)
{
	return answers_hex(json_object_get(object, key), out, cap);
}

uint64_t answers_number(const json_t *object, const char *key)
{
	return strtoull(answers_text(object, key), NULL, 10);
}

enum dave_codec answers_codec(const char *name)
{
	static const char *const names[] = {"OPUS", "VP8", "VP9", "H264", "H265", "AV1"};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum dave_codec)i;
	return DAVE_UNKNOWN;
}
