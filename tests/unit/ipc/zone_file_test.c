/* Zones of the system's database, beside what the C library reads out of the same files. */
#include "ipc/zone_file.h"

#include <time.h>

#include "tests/random.h"
#include "tests/test.h"
#include "tests/unit/ipc/zone.h"

enum { TIMES = 400 };

/* 1970 to 2200: the list of a file ends in 2037, and its rule goes on. */
static int64_t any_time(uint64_t *seed)
{
	return (int64_t)random_below(seed, 230u * 366) * 86400 + random_below(seed, 86400);
}

TEST(offsets_are_those_of_the_c_library)
{
	static const char *const zones[] = {"Europe/Berlin",
					    "America/New_York",
					    "Australia/Lord_Howe",
					    "America/Santiago",
					    "Asia/Kathmandu",
					    "Africa/Casablanca",
					    "Etc/GMT+5",
					    "UTC",
					    "America/Argentina/Ushuaia",
					    "Asia/Tokyo"};
	uint64_t seed = 7;

	for (size_t z = 0; z < sizeof zones / sizeof zones[0]; z++) {
		zone_set(zones[z]);
		for (unsigned i = 0; i < TIMES; i++) {
			int64_t at = any_time(&seed);
			time_t t = (time_t)at;
			struct tm there = {0};
			int32_t offset = -1;

			localtime_r(&t, &there);
			CHECK(zone_file_offset(zones[z], at, &offset));
			CHECK_INT(offset, there.tm_gmtoff);
		}
	}
	zone_set(NULL);
}

TEST(a_name_reaches_no_other_file)
{
	static const char *const names[] = {
		"",	  "Nowhere/City", "../../etc/passwd", "/etc/passwd", "Europe/../UTC",
		"Europe", "Europe/",	  "zone1970.tab",     "tzdata.zi"};
	int32_t offset;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK(!zone_file_offset(names[i], 0, &offset));
}
