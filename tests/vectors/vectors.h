/* The published MLS test vectors (mlswg/mls-implementations, test-vectors.md): one function per
 * kind, which takes one case of a file. Returns true when the case passes; otherwise writes the
 * failed check to stderr. Shared by the unit tests and the tool mls-vectors. */
#ifndef TESTS_VECTORS_VECTORS_H
#define TESTS_VECTORS_VECTORS_H

#include <jansson.h>
#include <stdio.h>

#include "proto/base/cursor.h"

bool vec_deserialization(const json_t *c);
bool vec_crypto_basics(const json_t *c);
bool vec_key_schedule(const json_t *c);
bool vec_transcript_hashes(const json_t *c);
bool vec_secret_tree(const json_t *c);
bool vec_psk_secret(const json_t *c);
bool vec_welcome(const json_t *c);
bool vec_tree_math(const json_t *c);
bool vec_tree_validation(const json_t *c);
bool vec_tree_operations(const json_t *c);
bool vec_treekem(const json_t *c);

/* The bytes of a hexadecimal string; empty when it is not one. Borrowed until vec_end. */
struct slice vec_hex(const json_t *string);
struct slice vec_get(const json_t *object, const char *key);
uint64_t vec_uint(const json_t *object, const char *key);
/* True when the n bytes at p are those of the key. */
bool vec_is(const json_t *object, const char *key, const void *p, size_t n);
/* Frees all bytes returned so far. */
void vec_end(void);

/* Goes to `out:` with a message about the failed check. */
#define VEC(cond)                                                                                  \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);         \
			goto out;                                                                  \
		}                                                                                  \
	} while (0)

#endif
