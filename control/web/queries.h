/* The parameters of queries: which a request takes, and the values that are names (queries.def).
 *
 * Pure. */
#ifndef CONTROL_WEB_QUERIES_H
#define CONTROL_WEB_QUERIES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "proto/http/head.h"

enum query_fault { QUERY_FINE, QUERY_UNKNOWN_NAME, QUERY_UNKNOWN_KIND, QUERY_UNKNOWN_REASON };

/* text: that of the route (routes.def). reasons: an object whose members are the reasons of turns.
 */
enum query_fault query_check(const struct http_head *head, const char *text, const json_t *reasons);
/* The next `?name` of a route's text from p on, with *n letters; NULL: there is none. */
const char *query_name(const char *p, size_t *n);
/* True if the value of this parameter is a number. */
bool query_is_number(const char *name, size_t n);

#endif
