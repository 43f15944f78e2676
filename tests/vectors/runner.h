/* Runs a file of test vectors; the part of its name before the first dot is the kind. Counts
 * passed, failed and skipped cases. */
#ifndef TESTS_VECTORS_RUNNER_H
#define TESTS_VECTORS_RUNNER_H

#include "tests/vectors/vectors.h"

enum { VEC_NOTES = 64, VEC_WHY = 200 };

struct vec_note {
	char why[VEC_WHY];
	bool failure;
	size_t first; /* case */
	unsigned times;
};

struct vec_tally {
	unsigned passed, failed, skipped;
	unsigned missing; /* skipped cases whose required check did not run */
	struct vec_note notes[VEC_NOTES];
	unsigned n_notes;
	size_t index; /* of the running case */
	bool must;    /* it must not be skipped */
};

void vec_pass(struct vec_tally *t);
void vec_fail(struct vec_tally *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The case needs a part that is not implemented. */
void vec_skip(struct vec_tally *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The case is outside of the part that DAVE uses. */
void vec_leave_out(struct vec_tally *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Kinds that count several checks in a case, or may skip it. */
void vec_messages(const json_t *c, struct vec_tally *t);
void vec_message_protection(const json_t *c, struct vec_tally *t);
void vec_passive_client(const json_t *c, struct vec_tally *t);

/* Returns NULL, or the fault of the file itself (static). */
const char *vec_run(struct vec_tally *t, const char *path);
/* Prints the counts on one line, and each note on a line of its own. */
void vec_print(const struct vec_tally *t, const char *path);

#endif
