/* Reflection: the request that asks a model what a later fact does to an earlier one that is near
 * it, and the checks of its result. Pure.
 *
 * Facts that code cannot tell apart stand beside each other until a model has decided
 * (control/memory/compare.h). Its answer holds decisions and no text that is kept: both texts are
 * those that passed the guard when they were written. A pair is of one author, memory and server,
 * so that a fact which reads like an order could harm its own author's facts alone. Code keeps a
 * decision only if it can be true: of duplicates numbers, dates, names and negation agree; an
 * update quotes what has changed in either fact. Whatever is left is a conflict, or nothing, and
 * both facts stay. */
#ifndef CONTROL_MEMORY_REFLECT_H
#define CONTROL_MEMORY_REFLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFLECT_PAIRS = 20 };

/* R(NAME, name): what the later fact of a pair does to the earlier one. */
#define REFLECT_RELATIONS(R)                                                                       \
	R(OTHER, other)		/* both stand */                                                   \
	R(DUPLICATE, duplicate) /* it says nothing new */                                          \
	R(UPDATE, update)	/* it takes its place */                                           \
	R(CONFLICT, conflict)	/* both stand, and at most one of them is true */

enum reflect_relation {
#define R(NAME, name) REFLECT_##NAME,
	REFLECT_RELATIONS(R)
#undef R
		REFLECT_RELATION_COUNT
};

/* Two facts, the one that was said earlier first. Strings are borrowed for the call. */
struct reflect_pair {
	uint64_t older, newer; /* ids */
	uint64_t older_ms, newer_ms;
	const char *was, *is;
};

struct reflect_result {
	enum reflect_relation relation[REFLECT_PAIRS];
	unsigned refused; /* decisions that cannot be true */
};

/* JSON Schema of the answer, for providers that hold a model to one. Code checks the answer all
 * the same. */
extern const char reflect_schema[];

const char *reflect_relation_name(enum reflect_relation relation);
/* The pairs as JSON, for the prompt, with their days there (offset_s: seconds east of UTC). At most
 * REFLECT_PAIRS. The caller frees it. NULL without memory. */
char *reflect_request(const struct reflect_pair *pairs, size_t n, int64_t offset_s);
/* Reads what the model answered about these pairs. Pairs that it leaves out are OTHER. False: it is
 * no such JSON; *out is empty then. */
bool reflect_read(const char *answer, const struct reflect_pair *pairs, size_t n,
		  struct reflect_result *out);

#endif
