#include "proto/base/zone.h"

#include <stdio.h>

#include "proto/base/cursor.h"
#include "tests/test.h"

enum { SUMMER_BEGINS = 1774746000, SUMMER_ENDS = 1792890000 };

/* A file with the summer of one year, of the later format, and this line at its end. */
static size_t make_file(uint8_t out[512], const char *line)
{
	static const uint8_t chars[] = "CET\0CEST";
	struct wr w = wr_of(out, 512);

	for (unsigned size = 4; size <= 8; size += 4) {
		wr_bytes(&w, "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
		for (unsigned i = 0; i < 3; i++)
			wr_be(&w, 0, 4);
		wr_be(&w, 2, 4);
		wr_be(&w, 2, 4);
		wr_be(&w, sizeof chars, 4);
		wr_be(&w, SUMMER_BEGINS, size);
		wr_be(&w, SUMMER_ENDS, size);
		wr_bytes(&w, "\1\0", 2);
		wr_be(&w, 3600, 4);
		wr_bytes(&w, "\0\0", 2);
		wr_be(&w, 7200, 4);
		wr_bytes(&w, "\1\4", 2);
		wr_bytes(&w, chars, sizeof chars);
	}
	wr_bytes(&w, "\n", 1);
	wr_bytes(&w, line, strlen(line));
	wr_bytes(&w, "\n", 1);
	return w.ok ? w.pos : 0;
}

/* 999999: malformed. */
static int offset_at(const char *line, int64_t at)
{
	uint8_t file[512];
	int32_t offset;
	size_t n = make_file(file, line);

	return zone_offset(file, n, at, &offset) ? offset : 999999;
}

TEST(the_list_tells_the_offset_and_behind_it_the_rule)
{
	static const char rule[] = "CET-1CEST,M3.5.0,M10.5.0/3";

	CHECK_INT(offset_at(rule, 0), 3600);
	CHECK_INT(offset_at(rule, SUMMER_BEGINS - 1), 3600);
	CHECK_INT(offset_at(rule, SUMMER_BEGINS), 7200);
	CHECK_INT(offset_at(rule, SUMMER_ENDS - 1), 7200);
	CHECK_INT(offset_at(rule, SUMMER_ENDS), 3600);
	/* 2027-03-28 01:00 UTC and 2027-10-31 01:00 UTC. */
	CHECK_INT(offset_at(rule, 1806195599), 3600);
	CHECK_INT(offset_at(rule, 1806195600), 7200);
	CHECK_INT(offset_at(rule, 1824944399), 7200);
	CHECK_INT(offset_at(rule, 1824944400), 3600);
	CHECK_INT(offset_at("<-0330>3:30", SUMMER_ENDS + 1), -12600);
}

TEST(a_summer_of_the_south_goes_over_the_turn_of_the_year)
{
	static const char rule[] = "AEST-10AEDT,M10.1.0,M4.1.0/3";

	CHECK_INT(offset_at(rule, 1798761600), 39600); /* 2027-01-01 */
	CHECK_INT(offset_at(rule, 1814400000), 36000); /* 2027-07-01 */
}

TEST(days_of_the_year_are_counted_with_and_without_leap_days)
{
	/* 2028-03-01 is day 60 without the leap day, and 60 from 0 on with it. */
	CHECK_INT(offset_at("AAA0BBB,J60/0,J300/0", 1835481599), 0);
	CHECK_INT(offset_at("AAA0BBB,J60/0,J300/0", 1835481600), 3600);
	CHECK_INT(offset_at("AAA0BBB,60/0,300/0", 1835481599), 0);
	CHECK_INT(offset_at("AAA0BBB,60/0,300/0", 1835481600), 3600);
	CHECK_INT(offset_at("AAA0BBB,60/-1,300/0", 1835481599), 3600);
}

TEST(malformed_rules_and_files_are_refused)
{
	static const char *const rules[] = {"C1",
					    "CET",
					    "CET-25",
					    "CET-1CEST",
					    "CET-1CEST,M13.1.0,M10.5.0",
					    "CET-1CEST,M3.6.0,M10.5.0",
					    "CET-1CEST,M3.5.7,M10.5.0",
					    "CET-1CEST,J0,J5",
					    "CET-1CEST,M3.5.0",
					    "CET-1CEST,M3.5.0,M10.5.0x",
					    "<CET-1"};
	uint8_t file[512];
	int32_t offset;
	size_t n = make_file(file, "CET-1");

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		CHECK_INT(offset_at(rules[i], SUMMER_ENDS), 999999);
	/* Cut before the list ends; without its last line the list is all there is. */
	for (size_t i = 0; i + 8 < n; i++)
		CHECK(!zone_offset(file, i, SUMMER_ENDS, &offset));
	CHECK(zone_offset(file, n - 7, SUMMER_ENDS, &offset));
	CHECK_INT(offset, 3600);
	file[0] = 'X';
	CHECK(!zone_offset(file, n, SUMMER_ENDS, &offset));
}

TEST(names_stay_inside_the_folder)
{
	CHECK(zone_is_name("Europe/Berlin") && zone_is_name("Etc/GMT+5") && zone_is_name("UTC"));
	CHECK(!zone_is_name("") && !zone_is_name("/UTC") && !zone_is_name("UTC/"));
	CHECK(!zone_is_name("a//b") && !zone_is_name("..") && !zone_is_name("Europe/Ber lin"));
	CHECK(!zone_is_name("0123456789012345678901234567890123456789012345678901234567890123"));
}
