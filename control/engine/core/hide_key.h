/* Removes a provider's key from texts of failures: some servers quote the key that they refuse.
 * Pure. */
#ifndef CONTROL_ENGINE_CORE_HIDE_KEY_H
#define CONTROL_ENGINE_CORE_HIDE_KEY_H

#include <stddef.h>

enum {
	HIDE_KEY_MIN = 6,    /* bytes; shorter keys would match ordinary words */
	HIDE_KEY_PREFIX = 12 /* bytes of a longer key that are hidden where the rest is cut off */
};

/* Replaces the key in text by as many '*', in place, and its beginnings of HIDE_KEY_PREFIX bytes or
 * more. */
void hide_key(const char *key, char *text);

#endif
