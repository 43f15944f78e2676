/* Finding one part of a multipart/form-data body (RFC 7578), as HTTP clients send files. Pure. */
#ifndef OFFLINE_FORM_H
#define OFFLINE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of this name in a body with this Content-Type; borrowed from the body. False when there
 * is none. */
bool multipart_find(const char *type, const uint8_t *body, size_t n, const char *name,
		    const uint8_t **part, size_t *part_n);

#endif
