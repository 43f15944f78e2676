#include "mediad/engine/ssrc_hash.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

static struct {
	uint8_t bytes[crypto_shorthash_KEYBYTES];
	bool drawn;
} key;

void ssrc_hash_draw(void)
{
	if (!key.drawn)
		crypto_shorthash_keygen(key.bytes);
	key.drawn = true;
}

uint32_t ssrc_hash(uint32_t ssrc)
{
	uint8_t in[sizeof ssrc], out[crypto_shorthash_BYTES];
	uint32_t h;

	memcpy(in, &ssrc, sizeof in);
	crypto_shorthash(out, in, sizeof in, key.bytes);
	memcpy(&h, out, sizeof h);
	return h;
}
