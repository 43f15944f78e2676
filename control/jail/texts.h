/* Lists that a settings record keeps as JSON text, as the arrays that system calls want. Values may
 * be secret: what was joined is wiped. */
#ifndef CONTROL_JAIL_TEXTS_H
#define CONTROL_JAIL_TEXTS_H

#include <jansson.h>

#include "control/jail/jail.h"

enum { TEXTS_JOINED_MAX = 34 };

/* All zero at first; cleared by texts_clear. */
struct texts {
	json_t *root; /* owns the texts that were read */
	char *joined[TEXTS_JOINED_MAX];
	const char *v[JAIL_COMMAND_MAX + 1]; /* NULL-terminated */
	unsigned n, n_joined;
};

/* The texts of a JSON array; none for "". Borrowed from t until it is cleared. */
const char *const *texts_read(struct texts *t, const char *json);
/* Adds NAME + between + value for each member of the JSON object that is a text; only: a JSON
 * object whose names are wanted, or NULL for all. "" is an empty object. ENOMEM, E2BIG. */
int texts_join(struct texts *t, const char *json, const char *between, const char *only);
void texts_clear(struct texts *t);

#endif
