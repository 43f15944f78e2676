/* Vectors of texts: small integers with a scale, and the lines of one server by the signs of their
 * vectors. Pure.
 *
 * A search compares the signs of the first 512 numbers, 64 bytes a line, and gives the ids of the
 * nearest ones; the caller reads their whole vectors and compares those. Ten times as many
 * candidates as wanted lose nearly nothing (recall 0.99 and more), and a million lines need 100 MB
 * instead of 600. */
#ifndef CONTROL_MEMORY_VECTORS_H
#define CONTROL_MEMORY_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VECTOR_DIM = 512,      /* of the embedded encoder, and the signs of any */
	VECTOR_DIM_MAX = 1024, /* of any encoder */
	VECTOR_WORDS = VECTOR_DIM / 64,
	VECTORS_MAX = 4 << 20,
	VECTORS_NAMES = 512
};

/* A text's vector: v[i] * scale; zeros behind dim numbers. */
struct vector {
	float scale;
	uint16_t dim;
	int8_t v[VECTOR_DIM_MAX];
};

/* Of a vector of length 1; dim: at most VECTOR_DIM_MAX. */
void vector_pack(struct vector *out, const float *in, size_t dim);
/* In [-1, 1]; 0 for vectors of different dimensions. */
double vector_cosine(const struct vector *a, const struct vector *b);

/* A line that has a vector. group: its channel, or the owner of a fact. name: of its speaker, by
 * vector_name; speaker: their id, by vector_speaker. */
struct vector_line {
	uint64_t id, at_ms, group;
	uint32_t name, speaker;
};
/* A number for an id; seldom the same for two. 0 for 0. */
uint32_t vector_speaker(uint64_t user);
/* A number for a name, the same for all cases of ASCII letters; 0 for "". */
uint32_t vector_name(const char *name);

struct vectors;

/* ENOMEM. The caller owns *out. */
int vectors_alloc(struct vectors **out);
/* Wipes it. NULL accepted. */
struct vectors *vectors_free(struct vectors *v);
/* ENOMEM; ENOSPC above VECTORS_MAX. */
int vectors_add(struct vectors *v, const struct vector_line *line, const struct vector *vector);
/* True if a line has this speaker, by vector_name; of the first VECTORS_NAMES speakers. */
bool vectors_has_name(const struct vectors *v, uint32_t name);
size_t vectors_count(const struct vectors *v);

/* Lines of one of two groups, in [since_ms, until_ms), by name and speaker if these are not 0. */
struct vector_filter {
	uint64_t group[2], since_ms, until_ms;
	uint32_t name, speaker;
};
/* Writes the ids of at most `most` lines, the nearest ones in no order, and returns how many. */
size_t vectors_find(struct vectors *v, const struct vector *question,
		    const struct vector_filter *filter, uint64_t *ids, size_t most);

#endif
