/* A time as ISO 8601 has it, in UTC with milliseconds: 2026-11-22T12:00:00.000Z. Pure. */
#ifndef PROTO_BASE_ISO_TIME_H
#define PROTO_BASE_ISO_TIME_H

#include <stdint.h>

enum { ISO_TIME_SIZE = 40 };

/* ms since 1970. */
void iso_time_format(char out[ISO_TIME_SIZE], uint64_t ms);

#endif
