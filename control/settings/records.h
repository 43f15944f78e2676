/* The members of a settings file that are no single values: lists of records, and the names that
 * serve each role and purpose.
 *
 * Pure. For control/settings alone; others use provider_record.h. */
#ifndef CONTROL_SETTINGS_RECORDS_H
#define CONTROL_SETTINGS_RECORDS_H

#include <stdbool.h>

#include "control/settings/record.h"

struct settings;
struct settings_records;
struct json_t;

/* Takes the member `name` as far as it can be used; ENOENT: there is no such member. *faults counts
 * what was told to h (both may be NULL); the entries of roles and purposes count in their
 * order. */
int records_take(struct settings *s, const char *name, const struct json_t *value, unsigned *faults,
		 record_entry_h *h, void *arg);
/* The member's value, NULL without memory or for a name that is none. Caller owns it. */
struct json_t *records_json(const struct settings *s, const char *name);
/* Gives a role or purpose whose names cannot all be used those of base, or leaves it open when
 * these cannot be used either. */
void records_mend(struct settings *s, const struct settings *base);
/* The names of the members, one after the other; NULL past the last. */
const char *records_member(unsigned i);

/* The secret values of the i-th record that can have any, with the prefix and the name by which
 * settings_each tells them; NULL past the last. RECORD_VALUES_MAX bytes, a part of r. */
char *records_values(const struct settings_records *r, unsigned i, const char **prefix,
		     const char **name);
/* The same by "mcp:NAME" or "worker:NAME"; NULL: no such record. */
char *records_values_named(const struct settings_records *r, const char *name);

#endif
