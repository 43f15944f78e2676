/* Files of time zones: an offset lies within a day, and the same bytes give the same one. */
#include <stdlib.h>

#include "proto/base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t times[] = {-5000000000, 0, 951782400, 1790000000, 253402300799};

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		int32_t a = 0, b = 0;

		if (!zone_offset(data, size, times[i], &a))
			continue;
		if (!zone_offset(data, size, times[i], &b) || a != b)
			abort();
		if (a < -200000 || a > 200000)
			abort();
	}
	return 0;
}
