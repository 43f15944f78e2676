#include "control/tools/arguments_mac.h"

#include <sodium.h>

void arguments_mac(const uint8_t key[ARGUMENTS_KEY], uint64_t hash, char out[ARGUMENTS_MAC])
{
	uint8_t in[8], mac[crypto_shorthash_BYTES];

	_Static_assert(crypto_shorthash_KEYBYTES == ARGUMENTS_KEY, "the key of SipHash");
	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)(hash >> (8 * i));
	crypto_shorthash(mac, in, sizeof in, key);
	sodium_bin2hex(out, ARGUMENTS_MAC, mac, sizeof mac);
}
