#include "control/web/keys.h"

#include <stdint.h>
#include <string.h>

#include <sodium.h>

void web_keyed_hex(char out[WEB_KEYED_HEX], const char *token, const char *purpose,
		   const void *data, size_t n)
{
	uint8_t key[crypto_generichash_BYTES], hash[crypto_generichash_BYTES];
	crypto_generichash_state st;

	/* A token may be longer than a key. */
	crypto_generichash(key, sizeof key, (const uint8_t *)token, strlen(token), NULL, 0);
	crypto_generichash_init(&st, key, sizeof key, sizeof hash);
	crypto_generichash_update(&st, (const uint8_t *)purpose, strlen(purpose) + 1);
	crypto_generichash_update(&st, data, n);
	crypto_generichash_final(&st, hash, sizeof hash);
	sodium_bin2hex(out, WEB_KEYED_HEX, hash, sizeof hash);
	sodium_memzero(key, sizeof key);
	sodium_memzero(&st, sizeof st);
}
