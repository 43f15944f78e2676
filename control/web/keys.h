/* What is derived from the token of the HTTP API, so that a new token ends all of it. Pure. */
#ifndef CONTROL_WEB_KEYS_H
#define CONTROL_WEB_KEYS_H

#include <stddef.h>

enum { WEB_KEYED_HEX = 65 }; /* 32 bytes in hex, with NUL */

/* BLAKE2b-256, keyed by the token, of the purpose, a NUL and the n bytes. */
void web_keyed_hex(char out[WEB_KEYED_HEX], const char *token, const char *purpose,
		   const void *data, size_t n);

#endif
