/* Addresses as numbers in text, as far as no name has to be looked up. */
#ifndef PROTO_BASE_NUMERIC_ADDRESS_H
#define PROTO_BASE_NUMERIC_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

struct sockaddr_storage;

/* Reads "10.0.0.5" or "fd00::1", without brackets or a scope. Returns the length of the address, 0
 * if the text is none; *out is written in any case. port: in host order. */
size_t numeric_address(struct sockaddr_storage *out, const char *text, uint16_t port);

#endif
