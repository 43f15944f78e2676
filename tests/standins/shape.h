/* The shape of a provider's messages: refuses fields that the provider does not know.
 *
 * A shape is a table of rows, one for each member that may occur: its path, with [] for the
 * elements of an array, and what it may be. Pure. */
#ifndef STANDINS_SHAPE_H
#define STANDINS_SHAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { SI_SHAPE_PATH = 160 };

/* kinds: alternatives separated by spaces: str, int, num, bool, obj, arr, null, any (with whatever
 * is in it), 'word', int:1..4096, num:0.25..1.5. A leading ! means that the member is required
 * where its parent is present. A table ends with a row of NULL. */
struct si_shape {
	const char *path, *kinds;
};

enum si_fault_kind { SI_FAULT_UNKNOWN, SI_FAULT_MISSING, SI_FAULT_TYPE, SI_FAULT_VALUE };
struct si_fault {
	enum si_fault_kind kind;
	char path[SI_SHAPE_PATH];
	const char *kinds; /* what it may be; "" for SI_FAULT_UNKNOWN */
};

/* True if the value, an object, has the shape; otherwise *fault is the first difference. */
bool si_shape_check(const struct si_shape *shape, const json_t *value, struct si_fault *fault);

#endif
