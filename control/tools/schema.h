/* JSON Schema 2020-12 for arguments of tools, a subset: type, properties, required, enum, const,
 * items, additionalProperties, bounds of numbers, lengths, items and properties, multipleOf,
 * uniqueItems, local $ref, $defs, anyOf, allOf, oneOf, not, boolean schemas. Pure; needs jansson.h.
 *
 * schema_alloc refuses a schema with another keyword that asserts (pattern, if, contains, …): to
 * ignore it would accept values that the tool's author excluded. Annotations and unknown keywords
 * assert nothing. As the standard says, 5.0 is an integer, lengths count code points, and 1 equals
 * 1.0 but not true (JSON Schema Core 4.2, Validation 6).
 *
 * schema_alloc_loose is for tools that check their arguments themselves, as servers of MCP must:
 * there an unsupported keyword asserts nothing, and a model's mistake comes back as the tool's own
 * error.
 *
 * Time and stack are bounded whatever the schema and the value: both have bounds of their own, and
 * a check takes at most SCHEMA_STEPS_MAX steps. */
#ifndef CONTROL_TOOLS_SCHEMA_H
#define CONTROL_TOOLS_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

enum {
	SCHEMA_SIZE_MAX = 64 << 10, /* bytes of the schema as compact JSON */
	SCHEMA_DEPTH_MAX = 32,	    /* of schemas in schemas, and of a value */
	SCHEMA_STEPS_MAX = 200000,  /* of one check: schemas applied and values compared */
	SCHEMA_WHY_MAX = 384,	    /* a buffer for `why` that holds every sentence */
};

struct schema;

/* Copies root. EINVAL: the schema is wrong, refers elsewhere or to itself without end, or uses an
 * unsupported keyword. E2BIG: too large or too deep. ENOMEM. `why` gets a sentence that says what
 * is wrong and where, "" on success. Caller owns *out. */
int schema_alloc(struct schema **out, const json_t *root, char *why, size_t size);
/* The same, but leaves out unsupported keywords and what would mean something else without them, so
 * that every value that matches root matches. */
int schema_alloc_loose(struct schema **out, const json_t *root, char *why, size_t size);
/* Judges a value. EINVAL: it does not match. E2BIG: it is too deep, or the check took too many
 * steps. `why` gets a sentence for the model: where in the value, what is demanded, what was found;
 * "" on success. Names and values of the checked value are quoted in it, shortened. */
int schema_check(const struct schema *s, const json_t *value, char *why, size_t size);
struct schema *schema_free(struct schema *s);

#endif
