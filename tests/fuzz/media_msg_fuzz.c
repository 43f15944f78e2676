/* Message bodies between control and mediad: what unpacks must pack to bytes that unpack to the
 * same again. */
#include <stdlib.h>

#include "proto/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t one[MEDIA_MAX_FRAME], two[MEDIA_MAX_FRAME];
	enum media_side from;
	struct media_msg a, b;
	size_t n, m;
	char line[512];

	if (size < 1)
		return 0;
	from = data[0] & 1 ? MEDIA_SIDE_MEDIAD : MEDIA_SIDE_CONTROL;
	if (media_unpack(&a, from, data + 1, size - 1))
		return 0;
	media_print(&a, line, sizeof line);
	if (media_pack(&a, MEDIA_MINOR, one, sizeof one, &n))
		abort(); /* what was within the caps stays within them */
	if (media_unpack(&b, from, one, n) || media_pack(&b, MEDIA_MINOR, two, sizeof two, &m))
		abort();
	if (n != m || memcmp(one, two, n) != 0)
		abort();
	return 0;
}
