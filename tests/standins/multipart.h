/* The parts of a multipart/form-data body (RFC 7578), pure. */
#ifndef STANDINS_MULTIPART_H
#define STANDINS_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

struct si_part {
	const char *data; /* borrowed from the body */
	size_t n;
};

/* Finds the part of this name. type: the request's Content-Type. */
bool si_multipart_find(const char *type, const char *body, size_t n, const char *name,
		       struct si_part *out);
/* The same as a text of at most size bytes with NUL; "" when it is absent or longer. */
bool si_multipart_text(const char *type, const char *body, size_t n, const char *name, char *text,
		       size_t size);

#endif
