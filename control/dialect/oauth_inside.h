/* The parts of oauth.h: oauth.c, metadata and tokens; oauth_sign_in.c, challenges, registration and
 * sign-in. */
#ifndef CONTROL_DIALECT_OAUTH_INSIDE_H
#define CONTROL_DIALECT_OAUTH_INSIDE_H

#include <stdbool.h>

/* Equal but for slashes at the end. */
bool oauth_same_address(const char *a, const char *b);

/* A text that is being written; what does not fit before end is left out. */
struct oauth_form {
	char *at, *end;
};

/* Adds "&name=value" as application/x-www-form-urlencoded; nothing for NULL and "". */
void oauth_form_add(struct oauth_form *f, const char *name, const char *value);

#endif
