#include "control/engine/core/log_limit.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(a_flood_is_one_line_and_a_count)
{
	struct log_limit limit = {0};
	unsigned lines = 0, held = 9;

	for (unsigned ms = 0; ms < 25000; ms++)
		if (log_limit_pass(&limit, (5 + ms) * NS_PER_MS, &held)) {
			CHECK_INT(held, lines ? LOG_LIMIT_MS - 1 : 0);
			lines++;
		}
	CHECK_INT(lines, 3);
	CHECK(log_limit_pass(&limit, 60 * NS_PER_S, &held));
	CHECK_INT(held, 4999);
	CHECK(log_limit_pass(&limit, 80 * NS_PER_S, &held));
	CHECK_INT(held, 0);
}
