/* The file `consents` of the state directory: each answer to /consent, and when it was given.
 *
 * It stands beside the database, so that a database restored from an older backup does not bring
 * back a consent that was withdrawn or lose a refusal. A line is the time (ms since 1970), the
 * server, the person's subject_mac and the name of the consent. Arguments are borrowed. */
#ifndef CONTROL_STORE_CONSENT_FILE_H
#define CONTROL_STORE_CONSENT_FILE_H

#include "control/store/consents.h"

/* Appends the line of a change and syncs it. Errors of record_file_add. */
int consent_file_add(const char *dir, const struct consent_change *change, const char *mac);
/* Brings the consents of dir's database up to date. *changed: how many were not. A
 * `remembered` from before an erasure of its person counts as `heard`. After
 * deletions_replay, before the loop runs. 0 also without a file. Errors of control/store/db.h and
 * of open and read. */
int consents_replay(const char *dir, unsigned *changed);

#endif
