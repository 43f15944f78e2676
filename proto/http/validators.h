/* What tells one content of an address from another: the fields of a response that RFC 9110 section
 * 8.8 calls validators. For a client that asks for the rest of what it has. Pure. */
#ifndef PROTO_HTTP_VALIDATORS_H
#define PROTO_HTTP_VALIDATORS_H

#include <stdbool.h>

enum { VALIDATOR_MAX = 96 }; /* bytes of an ETag or a date; longer ones count as absent */

/* Of one response; all zero: it has none. */
struct validators {
	char etag[VALIDATOR_MAX], modified[VALIDATOR_MAX], date[VALIDATOR_MAX];
};

/* Takes a field of the response, if it is one of them. */
void validators_note(struct validators *v, const char *name, const char *value);
bool validators_exist(const struct validators *v);
/* Whether two responses are of different contents, as far as the server tells. One validator that
 * agrees is enough, since mirrors agree on one of them at most; a date of modification that is the
 * date of the response is none, as a program made that. */
bool validators_differ(const struct validators *a, const struct validators *b);

#endif
