/* The privacy code of a call, as people compare it. No I/O. */
#ifndef CONTROL_SECURE_H
#define CONTROL_SECURE_H

#include <stddef.h>

struct media_call_secure;

/* In groups of five digits, as Discord shows it. "" for none. Always terminated. */
void secure_code(const struct media_call_secure *m, char *buf, size_t size);

#endif
