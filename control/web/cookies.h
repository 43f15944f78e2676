/* The Cookie field of a request (RFC 6265 section 5.4), as browsers write it. Pure. */
#ifndef CONTROL_WEB_COOKIES_H
#define CONTROL_WEB_COOKIES_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/http/head.h"

/* The value of the first cookie of this name in a field's value; false, and "" in buf, when absent
 * or too long. Names are compared with case. */
bool cookie_find(struct http_text field, const char *name, char *buf, size_t size);
/* The same in all Cookie fields of the head. */
bool cookie_find_in_head(const struct http_head *head, const char *name, char *buf, size_t size);

#endif
