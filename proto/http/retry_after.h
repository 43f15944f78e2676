/* Wait that a server demands when it refuses a request: Retry-After (RFC 9110 section
 * 10.2.3), in seconds or as a date, and retry-after-ms, which some model providers send beside it.
 *
 * The wait travels inside the text of why something failed, so that every kind of connection hands
 * it on, and a journal holds it, without a field of its own. Pure. */
#ifndef PROTO_HTTP_RETRY_AFTER_H
#define PROTO_HTTP_RETRY_AFTER_H

#include <stddef.h>
#include <stdint.h>

/* A longer wait is not believed: a provider is tried once a minute, whatever it says. */
enum { RETRY_AFTER_MAX_MS = 60000 };
/* A person who has asked something waits for that long. */
enum { RETRY_AFTER_PATIENCE_MS = 4000 };

enum { RETRY_AFTER_FIELD_MAX = 64, RETRY_AFTER_TEXT_MAX = 40 };

/* Values of the response's fields; "" for those that are absent. */
struct retry_after_fields {
	char after[RETRY_AFTER_FIELD_MAX], after_ms[RETRY_AFTER_FIELD_MAX];
	char date[RETRY_AFTER_FIELD_MAX]; /* when the response was made, by the server's clock */
};

/* ms, from 1 to RETRY_AFTER_MAX_MS; 0: it asks for no wait, or in a form that is not known. */
uint32_t retry_after_read(const struct retry_after_fields *f);

/* ", retry after 2000 ms"; "" for 0. Always terminated. */
void retry_after_print(uint32_t ms, char buf[RETRY_AFTER_TEXT_MAX]);
/* The wait that stands in a text, ms, at most RETRY_AFTER_MAX_MS; 0 without one. */
uint32_t retry_after_told(const char *why, size_t n);

#endif
