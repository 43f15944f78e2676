#include "control/voice_session/refused.h"
#include "tests/test.h"

TEST(refused_channels_are_kept_until_they_are_removed)
{
	struct refused r = {0};

	CHECK(!refused_has(&r, 1));
	refused_add(&r, 1);
	refused_add(&r, 2);
	refused_add(&r, 1);
	CHECK_INT(r.n, 2);
	CHECK(refused_has(&r, 1) && refused_has(&r, 2));
	CHECK(refused_remove(&r, 1));
	CHECK(!refused_remove(&r, 1));
	CHECK(!refused_has(&r, 1) && refused_has(&r, 2));
}

TEST(refused_channels_beyond_the_limit_replace_the_oldest)
{
	struct refused r = {0};

	for (uint64_t i = 1; i <= REFUSED_MAX + 1; i++)
		refused_add(&r, i);
	CHECK_INT(r.n, REFUSED_MAX);
	CHECK(!refused_has(&r, 1) && refused_has(&r, 2) && refused_has(&r, REFUSED_MAX + 1));
}
