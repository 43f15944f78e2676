/* The parts of schema.h: the schema after its own check, values, sentences. */
#ifndef CONTROL_TOOLS_SCHEMA_INSIDE_H
#define CONTROL_TOOLS_SCHEMA_INSIDE_H

#include <stdbool.h>

#include "control/tools/schema.h"

struct schema {
	json_t *root; /* owned */
};

/* Where in a document, for JSON Pointers. Borrowed from the callers' stack. */
struct schema_place {
	const struct schema_place *parent; /* NULL at the root */
	const char *key;		   /* NULL: index counts */
	size_t index;
};

/* True if nothing below v is deeper than depth levels of arrays and objects. */
bool schema_within_depth(const json_t *v, unsigned depth);
/* The schema that a local reference ("#", "#/$defs/name") names; NULL: it names no place that holds
 * a schema. Borrowed from root. */
const json_t *schema_resolve(const json_t *root, const char *ref);

/* True if the keyword asserts something that is not supported. */
bool schema_is_refused(const char *keyword);
/* Schemas that a keyword holds: none, one, a list, an object of them. */
enum schema_holds { SCHEMA_HOLDS_NONE, SCHEMA_HOLDS_ONE, SCHEMA_HOLDS_MANY };
enum schema_holds schema_keyword_holds(const char *keyword);

/* Compares two numbers exactly, integers and reals: negative, 0 or positive. */
int schema_compare(const json_t *a, const json_t *b);
bool schema_is_integer(const json_t *v);
bool schema_is_multiple(const json_t *v, const json_t *divisor);
size_t schema_count_chars(const json_t *string);
/* Equality of JSON Schema. Takes a step for each value; false when they are used up. */
bool schema_equal(const json_t *a, const json_t *b, unsigned *steps);

/* Writes `WHAT at "/pointer" REST.`, or `WHAT REST.` for the root. */
void schema_say(char *to, size_t size, const char *what, const struct schema_place *at,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A value as JSON, shortened. `to` has at least 8 bytes. Returns `to`. */
const char *schema_quote(char *to, size_t size, const json_t *v);
const char *schema_quote_text(char *to, size_t size, const char *text);

#endif
