#include "control/room/base/scale.h"

enum { UNIT = 15 };

int room_log2(int64_t value)
{
	uint64_t v = value > 0 ? (uint64_t)value : 1;
	int whole = 0, part = 0;

	while (v >> (whole + 1))
		whole++;
	v = whole > UNIT ? v >> (whole - UNIT) : v << (UNIT - whole);
	/* Each squaring gives one more binary digit. */
	for (int bit = 512; bit; bit /= 2) {
		v = v * v >> UNIT;
		if (v >> (UNIT + 1)) {
			v >>= 1;
			part += bit;
		}
	}
	return 1000 * whole + part * 1000 / 1024;
}

uint64_t room_exp2(int thousandths)
{
	uint64_t low = 1, high = 1ull << 40;

	if (thousandths < 0)
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (room_log2((int64_t)middle) < thousandths)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
