#include "tests/test.h"

#include "proto/base/iso_time.h"

TEST(times_are_written_in_utc_with_milliseconds)
{
	char text[ISO_TIME_SIZE];

	iso_time_format(text, 0);
	CHECK_STR(text, "1970-01-01T00:00:00.000Z");
	iso_time_format(text, UINT64_C(1790000000007));
	CHECK_STR(text, "2026-09-21T14:13:20.007Z");
	iso_time_format(text, UINT64_MAX);
	CHECK_STR(text, "9999-12-31T23:59:59.999Z");
}
