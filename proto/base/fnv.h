/* FNV-1a, 64 bits: a hash for comparing texts that nobody gains by making collide. Published by
 * Fowler, Noll and Vo (draft-eastlake-fnv). */
#ifndef PROTO_BASE_FNV_H
#define PROTO_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t fnv_value(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(1099511628211);
}

static inline uint64_t fnv_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = fnv_value(hash, p[i]);
	return hash;
}

/* With its terminating zero, so that the texts "a", "bc" and "ab", "c" differ. */
static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
	return fnv_bytes(hash, text, strlen(text) + 1);
}

#endif
