/* Landlock, which takes all files from the calling thread and its later ones, beside a filter of
 * system calls. */
#ifndef IPC_JAIL_LANDLOCK_H
#define IPC_JAIL_LANDLOCK_H

#include <stdbool.h>

/* Forbids every use of files, but for the removal of files in this directory; -1: of none. *used,
 * unless it is NULL: false where the kernel has no Landlock, which is no error. errno of a failure.
 */
int landlock_forbid_files(int directory, bool *used);

#endif
