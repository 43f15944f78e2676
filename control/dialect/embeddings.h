/* Embeddings over HTTP in OpenAI's form (POST /v1/embeddings): some texts, and one vector for each.
 * Pure. Answers name each vector's text by its index. */
#ifndef CONTROL_DIALECT_EMBEDDINGS_H
#define CONTROL_DIALECT_EMBEDDINGS_H

#include <stddef.h>

#include "control/settings/usage.h"
#include "proto/base/cursor.h"

enum {
	EMBEDDINGS_TEXTS_MAX = 64,
	EMBEDDINGS_BYTES_MAX = 64 << 10, /* of all texts of a request */
	EMBEDDINGS_DIM_MIN = 8,
	EMBEDDINGS_DIM_MAX = 1024,
	EMBEDDINGS_ANSWER_MAX = 4 << 20,
};

struct embeddings_query {
	const char *model;
	unsigned dimensions; /* that the vectors shall have; 0: as the model likes */
	const char *const *texts;
	size_t n;
};
/* The body; the caller frees it. EINVAL: no texts or too many, an empty one, too many bytes;
 * ENOMEM. */
int embeddings_build(char **out, const struct embeddings_query *query);

/* Option `dimensions` of a provider's options (a JSON object as text, or ""). EINVAL: it is no
 * number from EMBEDDINGS_DIM_MIN to EMBEDDINGS_DIM_MAX. */
int embeddings_read_options(unsigned *dimensions, const char *options);

struct embeddings {
	float *v; /* n vectors of length 1 and dim numbers, one after the other; owned */
	size_t n;
	unsigned dim;
	struct usage usage;
};
/* Reads the answer to n texts. EBADMSG: a vector is missing or double, has another number of
 * numbers than the others or than is allowed, or has no direction; ENOMEM. embeddings_clear wipes
 * and frees. */
int embeddings_read(struct embeddings *out, size_t n, struct slice body);
void embeddings_clear(struct embeddings *e);

#endif
