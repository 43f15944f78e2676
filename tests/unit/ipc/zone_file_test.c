/* Zones of the system's database, beside what the C library reads out of the same files. */
#include "ipc/zone_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/test.h"
#include "tests/unit/ipc/loop.h"
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
	struct zone_files *files = zone_files_new(ZONE_FILES);
	uint64_t seed = 7;

	CHECK(files);
	for (size_t z = 0; z < sizeof zones / sizeof zones[0]; z++) {
		zone_set(zones[z]);
		for (unsigned i = 0; i < TIMES; i++) {
			int64_t at = any_time(&seed);
			time_t t = (time_t)at;
			struct tm there = {0};
			int32_t offset = -1;

			localtime_r(&t, &there);
			CHECK(zone_files_offset(files, zones[z], at, &offset));
			CHECK_INT(offset, there.tm_gmtoff);
		}
	}
	zone_set(NULL);
	zone_files_free(files);
}

TEST(a_name_reaches_no_other_file)
{
	static const char *const names[] = {
		"",	  "Nowhere/City", "../../etc/passwd", "/etc/passwd", "Europe/../UTC",
		"Europe", "Europe/",	  "zone1970.tab",     "tzdata.zi"};
	struct zone_files *files = zone_files_new(ZONE_FILES);
	int32_t offset;

	CHECK(files);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK(!zone_files_offset(files, names[i], 0, &offset));
	zone_files_free(files);
}

static char dir[32], folder[40], path[64];

/* The bytes of the system's file of that zone take the place of those of the test's one. */
static bool copy_zone(const char *zone)
{
	char from[96], bytes[8192];
	FILE *in, *out;
	size_t n;

	snprintf(from, sizeof from, ZONE_FILES "%s", zone);
	in = fopen(from, "r");
	out = fopen(path, "r+");
	if (!out)
		out = fopen(path, "w");
	n = in ? fread(bytes, 1, sizeof bytes, in) : 0;
	if (in)
		fclose(in);
	if (out) {
		fwrite(bytes, 1, n, out);
		fclose(out);
	}
	return n && out;
}

static void set_time(unsigned s)
{
	const struct timespec t[2] = {{.tv_sec = 1000 + s}, {.tv_sec = 1000 + s}};

	CHECK_INT(utimensat(AT_FDCWD, path, t, 0), 0);
}

TEST(a_zone_is_read_again_only_when_its_file_has_changed)
{
	struct zone_files *z;
	int32_t offset = 0;
	struct stat st;

	CHECK(folder_make(dir));
	snprintf(folder, sizeof folder, "%s/", dir);
	snprintf(path, sizeof path, "%s/Here", dir);
	z = zone_files_new(folder);
	CHECK(z);
	CHECK(!zone_files_offset(z, "Here", 0, &offset));
	CHECK(copy_zone("Asia/Tokyo"));
	set_time(1);
	CHECK(zone_files_offset(z, "Here", 1774746000, &offset));
	CHECK_INT(offset, 32400);
	/* As if nobody had touched it. */
	CHECK(stat(path, &st) == 0 && truncate(path, 0) == 0 && truncate(path, st.st_size) == 0);
	set_time(1);
	CHECK(zone_files_offset(z, "Here", 1774746000, &offset));
	CHECK_INT(offset, 32400);
	set_time(2);
	CHECK(!zone_files_offset(z, "Here", 1774746000, &offset));
	CHECK(copy_zone("Europe/Berlin"));
	set_time(3);
	CHECK(zone_files_offset(z, "Here", 1774746000, &offset));
	CHECK_INT(offset, 7200);
	CHECK(!zone_files_offset(z, "../Here", 0, &offset));
	zone_files_free(z);
	folder_remove(dir);
}
