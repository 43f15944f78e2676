/* How long a server wants the client to wait. */
#include "proto/http/retry_after.h"

#include "tests/test.h"

static uint32_t wait_of(const char *after, const char *after_ms, const char *date)
{
	struct retry_after_fields f = {0};

	snprintf(f.after, sizeof f.after, "%s", after);
	snprintf(f.after_ms, sizeof f.after_ms, "%s", after_ms);
	snprintf(f.date, sizeof f.date, "%s", date);
	return retry_after_read(&f);
}

TEST(retry_after_in_seconds)
{
	CHECK_INT(wait_of("2", "", ""), 2000);
	CHECK_INT(wait_of("0.25", "", ""), 250);
	CHECK_INT(wait_of("0", "", ""), 0);
	CHECK_INT(wait_of("", "", ""), 0);
	CHECK_INT(wait_of("3600", "", ""), RETRY_AFTER_MAX_MS);
	CHECK_INT(wait_of("99999999999999999999999999999999999999999999", "", ""),
		  RETRY_AFTER_MAX_MS);
	CHECK_INT(wait_of("-2", "", ""), 0);
	CHECK_INT(wait_of("2s", "", ""), 0);
	CHECK_INT(wait_of("soon", "", ""), 0);
}

TEST(retry_after_in_milliseconds_comes_first)
{
	CHECK_INT(wait_of("2", "150", ""), 150);
	CHECK_INT(wait_of("", "150.7", ""), 150);
	CHECK_INT(wait_of("2", "x", ""), 2000);
}

TEST(retry_after_as_a_date_counts_from_the_servers_clock)
{
	static const char now[] = "Sun, 22 Nov 2026 23:59:58 GMT";

	CHECK_INT(wait_of("Mon, 23 Nov 2026 00:00:01 GMT", "", now), 3000);
	CHECK_INT(wait_of("Sun, 22 Nov 2026 23:59:58 GMT", "", now), 0);
	CHECK_INT(wait_of("Sun, 22 Nov 2026 23:59:00 GMT", "", now), 0);
	CHECK_INT(wait_of("Fri, 01 Jan 2027 00:00:00 GMT", "", now), RETRY_AFTER_MAX_MS);
	/* A leap day, and the end of a year. */
	CHECK_INT(wait_of("Thu, 29 Feb 2024 00:00:05 GMT", "", "Wed, 28 Feb 2024 23:59:59 GMT"),
		  6000);
	CHECK_INT(wait_of("Fri, 01 Jan 2027 00:00:00 GMT", "", "Thu, 31 Dec 2026 23:59:59 GMT"),
		  1000);
	CHECK_INT(wait_of("Mon, 23 Nov 2026 00:00:01 GMT", "", ""), 0);
	CHECK_INT(wait_of("Mon, 23 nov 2026 00:00:01 GMT", "", now), 0);
	CHECK_INT(wait_of("Mon, 23 Nov 2026 00:00:01 CET", "", now), 0);
	CHECK_INT(wait_of("Mon, 23 ovD 2026 00:00:01 GMT", "", now), 0);
}

TEST(retry_after_travels_in_a_text)
{
	char wait[RETRY_AFTER_TEXT_MAX], why[128];

	retry_after_print(0, wait);
	CHECK_STR(wait, "");
	retry_after_print(2500, wait);
	CHECK_STR(wait, ", retry after 2500 ms");
	snprintf(why, sizeof why, "status 429 rate_limit_exceeded%s: Slow down.", wait);
	CHECK_INT(retry_after_told(why, strlen(why)), 2500);
	CHECK_INT(retry_after_told(why, strlen("status 429 rate_limit_exceeded")), 0);
	CHECK_INT(retry_after_told(why, strlen("status 429 rate_limit_exceeded, retry after 25")),
		  0);
	CHECK_INT(retry_after_told(", retry after 999999999999 ms", 29), RETRY_AFTER_MAX_MS);
	/* A provider's own words, in a unit of its own. */
	CHECK_INT(retry_after_told("status 429: Too many, retry after 20 seconds", 44), 0);
	CHECK_INT(retry_after_told(", retry after a while", 21), 0);
	CHECK_INT(retry_after_told(NULL, 0), 0);
}
