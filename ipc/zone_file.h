/* Time zones by their names, from the system's database. */
#ifndef IPC_ZONE_FILE_H
#define IPC_ZONE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds east of UTC at this time (since 1970). False: no zone has this name, or its file cannot
 * be read. */
bool zone_file_offset(const char *name, int64_t at_s, int32_t *offset);

#endif
