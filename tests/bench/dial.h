/* Connections of many clients to a server on loopback, for the benches: from addresses of their
 * own, so that no limit for an address counts. */
#ifndef TESTS_BENCH_DIAL_H
#define TESTS_BENCH_DIAL_H

#include <stdint.h>

enum { DIAL_PER_ADDRESS = 32 };

/* The address of client number i. */
void dial_address(unsigned i, char buf[24]);
/* The socket. Dies. */
int dial(uint16_t port, const char *from);
/* Asks by GET; authorization: the field's value. Dies. */
void dial_get(int fd, const char *path, const char *authorization);

#endif
