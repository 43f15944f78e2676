/* Tools in the form that a provider takes: names within its limits, schemas of arguments without
 * what it refuses or does not read (tool_form.def). Pure; needs jansson.h.
 *
 * What is left out makes a schema accept more; the arguments of a call are checked against the
 * whole schema all the same (control/tools/schema.h). The order of members is kept. */
#ifndef CONTROL_DIALECT_TOOL_FORM_H
#define CONTROL_DIALECT_TOOL_FORM_H

#include <jansson.h>
#include <stdbool.h>

#include "control/dialect/tool_form.def"

enum tool_form {
#define F(NAME, ...) TOOL_FORM_##NAME,
	TOOL_FORMS(F)
#undef F
};

/* True if the provider takes this name; a tool with another one is not offered. */
bool tool_form_takes(enum tool_form form, const char *name);
/* A new object for this schema. References within it are resolved; one that leads elsewhere, or to
 * itself, stands for anything. A text, or value, that is no object becomes the schema of an object.
 * NULL without memory. */
json_t *tool_form_schema(enum tool_form form, const json_t *schema);
json_t *tool_form_text(enum tool_form form, const char *schema);

#endif
