/* One person's data as a document. On the store's worker, or in the command line. */
#ifndef CONTROL_STORE_EXPORT_H
#define CONTROL_STORE_EXPORT_H

#include <stdint.h>

struct db;

/* {"format": "parley-export-1", "at_ms", "user": "ID", and a list for each row of EXPORTS
 * (statements.def), newest first}; docs/privacy.md describes it. Ids are texts, times are ms since
 * 1970. The caller frees *out. Errors of db.h, ENOMEM. */
int export_person(struct db *db, uint64_t user, uint64_t now_ms, char **out);

#endif
