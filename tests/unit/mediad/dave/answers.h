/* Known answers: JSON files whose values are hexadecimal, of ../shared or recorded into this
 * folder. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_ANSWERS_H
#define TESTS_UNIT_MEDIAD_DAVE_ANSWERS_H

#include <jansson.h>

#include "mediad/dave/frame.h"

/* A file under ../shared/vectors/dave; NULL and the test marked skipped when it is not there. The
 * caller's. */
json_t *answers_shared(const char *name);
/* The one that was recorded from another implementation: tests/unit/mediad/dave/davey.json. NULL:
 * the test failed. */
json_t *answers_davey(void);
/* A string's bytes, at most cap; returns how many. */
size_t answers_hex(const json_t *string, uint8_t *out, size_t cap);
size_t answers_bytes(const json_t *object, const char *key, uint8_t *out, size_t cap);
const char *answers_text(const json_t *object, const char *key);
uint64_t answers_number(const json_t *object, const char *key); /* a string of digits */
enum dave_codec answers_codec(const char *name);

#endif
