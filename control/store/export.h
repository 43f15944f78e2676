/* One person's data as a document. On the store's worker, or in the command line. */
#ifndef CONTROL_STORE_EXPORT_H
#define CONTROL_STORE_EXPORT_H

#include <stddef.h>
#include <stdint.h>

struct db;

/* Discord takes files of 10 MiB, with the form around them. */
enum { EXPORT_MAX = 9 << 20 };

/* {"format": "parley-export-1", "at_ms", "user": "ID", and a list for each row of EXPORTS
 * (statements.def), newest first}; docs/privacy.md describes it. Ids are texts, times are ms since
 * 1970. most: bytes, above which the oldest rows of long lists are left out and counted as
 * "left_out", all together in *left_out; 0: any. The caller frees *out. Errors of db.h, ENOMEM. */
int export_person(struct db *db, uint64_t user, uint64_t now_ms, size_t most, uint64_t *left_out,
		  char **out);

#endif
