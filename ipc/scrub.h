/* Replaces long-lived credentials in bytes by as many '*', so that lengths stay. */
#ifndef IPC_SCRUB_H
#define IPC_SCRUB_H

#include <stddef.h>

enum { SCRUB_MAX = 64, SCRUB_MIN_BYTES = 6 };

/* All zero at first. */
struct scrub {
	char *secrets[SCRUB_MAX];
	unsigned n;
};

/* Copies secret. Texts shorter than SCRUB_MIN_BYTES are ignored, because they would match ordinary
 * words. ENOSPC, ENOMEM. */
int scrub_add(struct scrub *s, const char *secret);
/* Wipes. */
void scrub_clear(struct scrub *s);
/* In place. */
void scrub_bytes(const struct scrub *s, void *data, size_t len);
/* Sets *out to NULL when data holds no secret, else to a scrubbed copy, which the caller frees.
 * ENOMEM. */
int scrub_copy(const struct scrub *s, const void *data, size_t len, void **out);

#endif
