/* One part of a form of several parts (RFC 7578), as clients of HTTP send files. Pure. */
#ifndef OFFLINE_FORM_H
#define OFFLINE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of this name in a body with this Content-Type; borrowed of the body. False: there is none. */
bool form_part(const char *type, const uint8_t *body, size_t n, const char *name, const uint8_t **part,
	       size_t *part_n);

#endif
