/* Landlock, which takes all files from the calling thread and its later ones, beside a filter of
 * system calls. */
#ifndef IPC_JAIL_LANDLOCK_H
#define IPC_JAIL_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forbids every use of files, but for the removal of files in this directory; -1: of none. *used,
 * unless it is NULL: false where the kernel has no Landlock, which is no error. errno of a failure.
 */
int landlock_forbid_files(int directory, bool *used);
/* Leaves of files only to read what lies at these paths and below them, and of TCP only to connect
 * to these ports of any address. Links are followed now: a file that takes the place of one of the
 * paths later cannot be read. Paths that are not there are passed over. The kernel judges ports
 * from version 4 of Landlock on. errno of a failure; without Landlock, 0. */
int landlock_leave(const char *const *paths, size_t n_paths, const uint16_t *ports, size_t n_ports);

#endif
