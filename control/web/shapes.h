/* The shapes of schemas.def as JSON Schema, for the OpenAPI document. */
#ifndef CONTROL_WEB_SHAPES_H
#define CONTROL_WEB_SHAPES_H

#include <jansson.h>

/* {name: schema} of all types. Caller owns it. */
json_t *shapes_types(void);
/* The schema of what a route answers or takes, by its method and path; NULL: the table has none.
 * Caller owns it. */
json_t *shapes_answer(const char *method, const char *path);
json_t *shapes_body(const char *method, const char *path);

#endif
