#include "control/voice_session/encrypted_channels.h"
#include "tests/test.h"

TEST(encrypted_channels_are_kept_until_they_are_removed)
{
	struct encrypted_channels e = {0};

	CHECK(!encrypted_channels_has(&e, 1) && !encrypted_channels_require(&e, 1));
	CHECK(encrypted_channels_add(&e, 1));
	CHECK(encrypted_channels_add(&e, 2));
	CHECK(!encrypted_channels_add(&e, 1));
	CHECK_INT(e.n, 2);
	CHECK(encrypted_channels_require(&e, 1) && encrypted_channels_require(&e, 2));
	CHECK(encrypted_channels_remove(&e, 1));
	CHECK(!encrypted_channels_remove(&e, 1));
	CHECK(!encrypted_channels_require(&e, 1) && encrypted_channels_require(&e, 2));
}

/* A server that opens many channels cannot push one out. */
TEST(encrypted_channels_beyond_the_limit_make_all_channels_strict)
{
	struct encrypted_channels e = {0};

	for (uint64_t i = 1; i <= ENCRYPTED_CHANNELS_MAX + 1; i++)
		encrypted_channels_add(&e, i);
	CHECK_INT(e.n, ENCRYPTED_CHANNELS_MAX);
	CHECK(encrypted_channels_has(&e, 1));
	CHECK(!encrypted_channels_has(&e, ENCRYPTED_CHANNELS_MAX + 1));
	CHECK(encrypted_channels_require(&e, ENCRYPTED_CHANNELS_MAX + 1));
}
