/* Messages between mediad and decoderd. A message that is accepted must survive a round trip. */
#include <stdlib.h>
#include <string.h>

#include "mediad/music/decoder_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t first[DECODER_MSG_MAX], second[DECODER_MSG_MAX];
	struct decoder_msg msg, copy;
	size_t n, m;

	if (decoder_wire_decode(&msg, data, size))
		return 0;
	if (decoder_wire_encode(&msg, first, &n) || decoder_wire_decode(&copy, first, n) ||
	    decoder_wire_encode(&copy, second, &m))
		abort();
	if (n != m || memcmp(first, second, n) != 0)
		abort();
	return 0;
}
