/* Test vectors: JSON files whose values are hexadecimal. What is read lives until vectors_end. */
#ifndef TESTS_UNIT_MEDIAD_MLS_VECTORS_H
#define TESTS_UNIT_MEDIAD_MLS_VECTORS_H

#include <jansson.h>

#include "proto/base/cursor.h"

/* A file under ../shared/vectors/mls. NULL and the test marked skipped when it is not there. Borrowed. */
json_t *vectors_load(const char *name);
/* The bytes that a hexadecimal string names; empty when it is none. Borrowed. */
struct slice vectors_bytes(const json_t *string);
struct slice vectors_hex(const char *hex);
struct slice vectors_get(const json_t *object, const char *key);
void vectors_end(void);

#endif
