/* What is shown of arguments (control/tools/arguments_mac.h). */
#include "control/tools/arguments_mac.h"

#include <string.h>

#include "tests/test.h"

/* The second vector of SipHash-2-4 with eight bytes in, of its reference implementation. */
TEST(arguments_are_told_as_siphash_of_their_hash)
{
	uint8_t key[ARGUMENTS_KEY];
	char mac[ARGUMENTS_MAC], other[ARGUMENTS_MAC];

	for (unsigned i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)i;
	arguments_mac(key, UINT64_C(0x0706050403020100), mac);
	CHECK_STR(mac, "6224939a79f5f593");
	key[0] ^= 1;
	arguments_mac(key, UINT64_C(0x0706050403020100), other);
	CHECK(strcmp(mac, other) != 0);
}
