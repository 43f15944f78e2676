/* Base64 as RFC 4648 section 4 has it: with padding, nothing else between. */
#ifndef CONTROL_DIALECT_BASE64_H
#define CONTROL_DIALECT_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Characters for n bytes, without a NUL. */
static inline size_t base64_encoded(size_t n)
{
	return (n + 2) / 3 * 4;
}

/* Most bytes that n characters can hold. */
static inline size_t base64_decoded(size_t n)
{
	return n / 4 * 3;
}

/* Writes base64_encoded(n) characters to out. */
void base64_encode(const uint8_t *in, size_t n, char *out);
/* *len gets the bytes written. EBADMSG for anything that is not whole groups of base64, EMSGSIZE
 * beyond cap. */
int base64_decode(const char *in, size_t n, uint8_t *out, size_t cap, size_t *len);

#endif
