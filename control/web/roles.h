/* What a client of the HTTP API may do. Each role may do what the ones before it may. */
#ifndef CONTROL_WEB_ROLES_H
#define CONTROL_WEB_ROLES_H

#include <stdbool.h>
#include <stddef.h>

enum web_role {
	WEB_PUBLIC = -1, /* of a route: credentials are not even read */
	WEB_NOBODY,
	WEB_VIEWER,   /* states and figures, without words */
	WEB_OPERATOR, /* words, too, as far as their speakers have agreed */
	WEB_ADMIN,    /* settings and audit */
};

/* "viewer" … */
const char *web_role_name(enum web_role role);
/* False: no role has this name, or it is nobody's. */
bool web_role_parse(const char *name, size_t n, enum web_role *out);

#endif
