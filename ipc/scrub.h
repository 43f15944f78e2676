/* Long-lived credentials, and how to leave them out of bytes: each is replaced by as many '*', so that lengths stay. */
#ifndef IPC_SCRUB_H
#define IPC_SCRUB_H

#include <stddef.h>

enum { SCRUB_MAX = 64, SCRUB_MIN_BYTES = 6 };

/* All zero at first. */
struct scrub {
	char *secrets[SCRUB_MAX];
	unsigned n;
};

/* Copied. Shorter ones than SCRUB_MIN_BYTES are words like any other and ignored. ENOSPC, ENOMEM. */
int scrub_add(struct scrub *s, const char *secret);
/* Wipes. */
void scrub_clear(struct scrub *s);
/* In place. */
void scrub_bytes(const struct scrub *s, void *data, size_t len);
/* *out: NULL when there is no secret in data, else a copy of it without, which the caller frees. ENOMEM. */
int scrub_copy(const struct scrub *s, const void *data, size_t len, void **out);

#endif
