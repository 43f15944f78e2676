/* Reads fields of provider messages, whatever their shape. Pure; needs jansson.h. */
#ifndef CONTROL_DIALECT_JSON_READ_H
#define CONTROL_DIALECT_JSON_READ_H

#include <jansson.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum { JSON_READ_COUNT_MAX = 100000000 };

/* A field that is a string; "" when it is not. Borrowed from obj, which may be NULL. */
struct slice json_read_text(const json_t *obj, const char *key);
/* The same, copied with its NUL. EBADMSG: it is empty, longer than size or has a NUL inside; to is
 * as it was. */
int json_read_copy(const json_t *obj, const char *key, char *to, size_t size);
/* A field that is a count of something that costs: 0 when it is no number, negative, or more than
 * JSON_READ_COUNT_MAX, which no answer can reach. */
uint64_t json_read_count(const json_t *obj, const char *key);
/* The decimal number behind a prefix; 0 when the text is not that, or no uint32_t. */
uint32_t json_read_number_after(struct slice text, const char *prefix);

#endif
