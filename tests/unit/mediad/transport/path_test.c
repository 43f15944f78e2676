#include "mediad/transport/path.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(path_is_silent_only_after_it_was_proved)
{
	struct path p = {0};

	CHECK(!path_is_silent(&p, 3600 * NS_PER_S));
	path_prove(&p, 100 * NS_PER_S);
	CHECK(!path_is_silent(&p, 114 * NS_PER_S));
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_prove(&p, 115 * NS_PER_S);
	CHECK(!path_is_silent(&p, 116 * NS_PER_S));
}

TEST(path_is_silent_when_sends_fail)
{
	struct path p = {0};

	path_sent(&p, 100 * NS_PER_S, false);
	path_sent(&p, 110 * NS_PER_S, false);
	CHECK(!path_is_silent(&p, 114 * NS_PER_S));
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_sent(&p, 115 * NS_PER_S, true);
	CHECK(!path_is_silent(&p, 200 * NS_PER_S));
}
