#include "control/memory/kernel.h"

#include "tests/random.h"
#include "tests/test.h"

enum { NUMBERS = 3 * KERNEL_STEP, COLUMNS = 9, BITS = 8 };

static int8_t row[NUMBERS];
static int16_t column[COLUMNS * NUMBERS];
static uint64_t bits[COLUMNS * BITS];

static void fill(uint64_t seed)
{
	for (size_t i = 0; i < NUMBERS; i++)
		row[i] = (int8_t)(random_next(&seed) & 0xff);
	for (size_t i = 0; i < COLUMNS * NUMBERS; i++)
		column[i] = (int16_t)((int)random_below(&seed, 2 * KERNEL_WIDE_MAX + 1) -
				      KERNEL_WIDE_MAX);
	for (size_t i = 0; i < COLUMNS * BITS; i++)
		bits[i] = random_next(&seed);
}

static int32_t multiply(size_t at)
{
	int32_t sum = 0;

	for (size_t i = 0; i < NUMBERS; i++)
		sum += row[i] * column[at * NUMBERS + i];
	return sum;
}

static unsigned count_bits(size_t at)
{
	unsigned n = 0;

	for (size_t i = 0; i < 64 * BITS; i++)
		n += (bits[at * BITS + i / 64] ^ bits[i / 64]) >> i % 64 & 1;
	return n;
}

static void check_kernels(size_t count)
{
	int32_t dot[COLUMNS + 1] = {0};
	uint16_t apart[COLUMNS + 1] = {0};

	dot[count] = 7;
	apart[count] = 7;
	kernel_dots_wide(dot, row, column, NUMBERS, count);
	kernel_distances(apart, bits, bits, BITS, count);
	for (size_t i = 0; i < count; i++) {
		CHECK_INT(dot[i], multiply(i));
		CHECK_INT(apart[i], count_bits(i));
	}
	CHECK_INT(dot[count], 7);
	CHECK_INT(apart[count], 7);
}

TEST(both_forms_of_the_kernels_count_right)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		fill(seed);
		for (size_t count = 0; count <= COLUMNS; count++) {
			kernel_use_plain(true);
			check_kernels(count);
			kernel_use_plain(false);
			check_kernels(count);
		}
	}
}
