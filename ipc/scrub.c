#include "ipc/scrub.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int scrub_add(struct scrub *s, const char *secret)
{
	if (!secret || strlen(secret) < SCRUB_MIN_BYTES)
		return 0;
	if (s->n == SCRUB_MAX)
		return ENOSPC;
	s->secrets[s->n] = strdup(secret);
	if (!s->secrets[s->n])
		return ENOMEM;
	s->n++;
	return 0;
}

void scrub_clear(struct scrub *s)
{
	while (s->n) {
		char *secret = s->secrets[--s->n];

		explicit_bzero(secret, strlen(secret));
		free(secret);
	}
}

void scrub_bytes(const struct scrub *s, void *data, size_t len)
{
	for (unsigned i = 0; i < s->n; i++) {
		size_t n = strlen(s->secrets[i]);
		char *p = data, *end = p + len;

		while ((p = memmem(p, (size_t)(end - p), s->secrets[i], n))) {
			memset(p, '*', n);
			p += n;
		}
	}
}

static bool holds_any(const struct scrub *s, const void *data, size_t len)
{
	for (unsigned i = 0; i < s->n; i++)
		if (memmem(data, len, s->secrets[i], strlen(s->secrets[i])))
			return true;
	return false;
}

int scrub_copy(const struct scrub *s, const void *data, size_t len, void **out)
{
	void *copy;

	*out = NULL;
	if (!len || !holds_any(s, data, len))
		return 0;
	copy = malloc(len);
	if (!copy)
		return ENOMEM;
	memcpy(copy, data, len);
	scrub_bytes(s, copy, len);
	*out = copy;
	return 0;
}
