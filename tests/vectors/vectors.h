/* The IETF's test vectors of MLS (mlswg/mls-implementations), by their own format; for build/tests/mls-vectors and for
 * unit tests.
 *
 * A file is an array of cases; its name up to the first dot tells the kind. A kind's function looks at one case and says
 * vec_pass, vec_fail, vec_skip or vec_leave_out, once for each thing that counts. */
#ifndef TESTS_VECTORS_VECTORS_H
#define TESTS_VECTORS_VECTORS_H

#include <jansson.h>

#include "proto/base/cursor.h"

enum { VEC_NOTES = 64, VEC_WHY = 200 };

struct vec_note {
	char why[VEC_WHY];
	bool failure;
	size_t first; /* case */
	unsigned times;
};

struct vec {
	unsigned passed, failed, skipped;
	unsigned missing; /* of the skipped: what must pass */
	struct vec_note notes[VEC_NOTES];
	unsigned n_notes;
	size_t index; /* of the running case */
	bool must;    /* it may not be skipped */
	void **kept;  /* bytes of the running case */
	size_t n_kept;
};

typedef void vec_fn(const json_t *c, struct vec *v);

void vec_pass(struct vec *v);
void vec_fail(struct vec *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Something that it needs is not built. */
void vec_skip(struct vec *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Outside of what DAVE uses: never asked for. */
void vec_leave_out(struct vec *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Leaves the calling vec_fn with a failure. */
#define VEC_CHECK(v, cond)                                                                                           \
	do {                                                                                                         \
		if (!(cond)) {                                                                                       \
			vec_fail((v), "%s:%d: %s", __FILE__, __LINE__, #cond);                                       \
			return;                                                                                      \
		}                                                                                                    \
	} while (0)

/* The bytes of a hexadecimal string; empty when it is none. They live as long as the case. */
struct slice vec_bytes(struct vec *v, const json_t *string);
struct slice vec_get(struct vec *v, const json_t *object, const char *key);
uint64_t vec_number(const json_t *object, const char *key);
/* True when `hex` bytes at p are those of the key. */
bool vec_is(struct vec *v, const json_t *object, const char *key, const void *p, size_t n);

/* Runs a file. NULL, or what is wrong with the file itself (static). Notes are the caller's to print. */
const char *vec_run(struct vec *v, const char *path);
/* One line per note. */
void vec_print(const struct vec *v, const char *path);

/* basics.c */
vec_fn vec_deserialization, vec_crypto_basics, vec_key_schedule, vec_transcript_hashes, vec_secret_tree, vec_psk_secret;
/* message.c */
vec_fn vec_messages, vec_message_protection;
/* tree.c */
vec_fn vec_tree_math, vec_tree_operations, vec_tree_validation, vec_treekem;
/* group.c */
vec_fn vec_welcome, vec_passive_client;

#endif
