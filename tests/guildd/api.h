/* The control API for tests: plain HTTP and JSON, beside Discord's own surface. README.md lists it.
 */
#ifndef GUILDD_API_H
#define GUILDD_API_H

#include "tests/guildd/guildd.h"

struct gd_api;

/* Opens the server. Caller owns *out. */
int gd_api_alloc(struct gd_api **out, struct guildd *g);
struct gd_api *gd_api_free(struct gd_api *a);
/* "http://IP:PORT". Borrowed. */
const char *gd_api_url(const struct gd_api *a);

#endif
