#include "control/dialect/json_read.h"

#include <errno.h>
#include <string.h>

struct slice json_read_text(const json_t *obj, const char *key)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_string(v) ? (struct slice){.p = (const uint8_t *)json_string_value(v),
						  .n = json_string_length(v)}
				 : (struct slice){.p = (const uint8_t *)"", .n = 0};
}

int json_read_copy(const json_t *obj, const char *key, char *to, size_t size)
{
	struct slice s = json_read_text(obj, key);

	if (!s.n || s.n >= size || memchr(s.p, '\0', s.n))
		return EBADMSG;
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	return 0;
}

uint64_t json_read_count(const json_t *obj, const char *key)
{
	double d = json_number_value(json_object_get(obj, key));

	return d > 0 && d <= JSON_READ_COUNT_MAX ? (uint64_t)d : 0;
}

uint32_t json_read_number_after(struct slice text, const char *prefix)
{
	size_t n = strlen(prefix);
	uint64_t v = 0;

	if (text.n <= n || text.n > n + 10 || memcmp(text.p, prefix, n) != 0)
		return 0;
	for (size_t i = n; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		v = v * 10 + (text.p[i] - '0');
	}
	return v <= UINT32_MAX ? (uint32_t)v : 0;
}
