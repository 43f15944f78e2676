/* The file `deletions` of the state directory: whose data were erased, and when.
 *
 * It stands beside the database, so that a database restored from an older backup does not bring
 * back an erased person: deletions_replay erases again whatever the database does not know of. A
 * line is the time (ms since 1970) and the person's subject_mac. Backups do not copy the file. */
#ifndef CONTROL_STORE_DELETIONS_H
#define CONTROL_STORE_DELETIONS_H

#include <stdint.h>

/* Appends a line and syncs it. Errors of open, write and fsync. */
int deletions_add(const char *dir, uint64_t at_ms, const char *mac);
/* Erases again whom the database of dir has not erased at the times of the file. *people: how many.
 * A person who cannot be erased keeps nobody else from it; a full disk gets the room of the
 * reserve. 0 also without a file or a database. Errors of control/store/db.h: data of an erased
 * person may be left. */
int deletions_replay(const char *dir, unsigned *people);

#endif
