/* Time zones by their names, from the system's database. */
#ifndef IPC_ZONE_FILE_H
#define IPC_ZONE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define ZONE_FILES "/usr/share/zoneinfo/"

/* The files that were used last, so that a time does not cost a read: they are looked at again, and
 * read again only if they have changed. Of one thread. */
struct zone_files;

/* folder: with a slash at its end; borrowed. NULL without memory; the caller frees it. */
struct zone_files *zone_files_new(const char *folder);
/* NULL accepted. */
struct zone_files *zone_files_free(struct zone_files *z);
/* Seconds east of UTC at this time (since 1970). False: no zone has this name, or its file cannot
 * be read. */
bool zone_files_offset(struct zone_files *z, const char *name, int64_t at_s, int32_t *offset);

#endif
