/* The offset of a time zone, out of its file in the system's database (TZif, RFC 8536). Pure.
 *
 * A file lists the changes of the clocks that are known; behind them its last line is a rule (as
 * POSIX writes TZ), which goes on for ever. */
#ifndef PROTO_BASE_ZONE_H
#define PROTO_BASE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZONE_FILE_MAX = 64 << 10, ZONE_NAME_MAX = 63 };

/* True for a name as "Europe/Berlin": letters, digits, '_', '+', '-', in parts between slashes. It
 * names nothing outside the folder of the database. */
bool zone_is_name(const char *name);
/* Seconds east of UTC at this time (since 1970). False: the file is malformed. */
bool zone_offset(const uint8_t *file, size_t n, int64_t at_s, int32_t *offset);

#endif
