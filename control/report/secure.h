/* Formats the privacy code of a call as Discord shows it. No I/O. */
#ifndef CONTROL_REPORT_SECURE_H
#define CONTROL_REPORT_SECURE_H

#include <stddef.h>

struct media_call_secure;

/* Writes groups of five digits, or "" if there is no code. Always terminated. */
void secure_code(const struct media_call_secure *m, char *buf, size_t size);

#endif
