/* Loads a JSON message without copying its sound: long values of one key are set aside, and a mark
 * takes their place, so that jansson reads only what is left. Pure; needs jansson.h.
 *
 * A value is set aside when it is a string of at least `least` printable ASCII characters without
 * escapes, which stands in JSON as it is. Whether the rest is well formed is jansson's to say. */
#ifndef CONTROL_DIALECT_JSON_ASIDE_H
#define CONTROL_DIALECT_JSON_ASIDE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum { JSON_ASIDE_MAX = 8, JSON_ASIDE_LEAST = 1024 };

/* The values point into the message. */
struct json_aside {
	size_t n;
	struct slice v[JSON_ASIDE_MAX];
};

/* NULL: malformed, or no memory. The caller owns the tree; *aside lives as long as msg. */
json_t *json_aside_load(struct json_aside *aside, const uint8_t *msg, size_t n, const char *key,
			size_t least);
/* The value whose mark this text of the tree is, otherwise the text itself. */
struct slice json_aside_value(const struct json_aside *aside, struct slice text);

#endif
