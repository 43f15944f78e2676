#include "control/voice_session/encrypted_channels.h"
#include "tests/test.h"

static uint64_t strict;

static bool add(struct encrypted_channels *e, uint64_t guild, uint64_t channel)
{
	return encrypted_channels_add(e, guild, channel, &strict);
}

TEST(encrypted_channels_are_kept_until_they_are_removed)
{
	static struct encrypted_channels e;

	e.n = 0;
	CHECK(!encrypted_channels_has(&e, 100, 1) && !encrypted_channels_require(&e, 100, 1));
	CHECK(add(&e, 100, 1));
	CHECK(add(&e, 100, 2));
	CHECK(!add(&e, 100, 1));
	CHECK_INT(e.n, 2);
	CHECK(encrypted_channels_require(&e, 100, 1) && encrypted_channels_require(&e, 100, 2));
	CHECK(encrypted_channels_remove(&e, 100, 1));
	CHECK(!encrypted_channels_remove(&e, 100, 1));
	CHECK(!encrypted_channels_require(&e, 100, 1) && encrypted_channels_require(&e, 100, 2));
}

/* Of an earlier version, which kept channels alone. */
TEST(encrypted_channels_of_an_unknown_server_count)
{
	static struct encrypted_channels e;

	e.n = 0;
	CHECK(add(&e, 0, 1));
	CHECK(encrypted_channels_require(&e, 100, 1) && !encrypted_channels_require(&e, 100, 2));
	CHECK(add(&e, 100, 1));
	CHECK(e.n == 1 && e.v[0].guild == 100 && e.v[0].channel == 1);
	CHECK(!encrypted_channels_has(&e, 100, 0));
}

/* A server that opens many channels can push none out, and makes no other server strict. */
TEST(encrypted_channels_of_one_server_beyond_its_share_make_it_strict)
{
	static struct encrypted_channels e;

	e.n = 0;
	CHECK(add(&e, 200, 1));
	for (uint64_t i = 1; i <= ENCRYPTED_CHANNELS_GUILD; i++)
		CHECK(add(&e, 100, 10 + i) && !strict);
	CHECK(!encrypted_channels_require(&e, 100, 9));
	CHECK(add(&e, 100, 9) && strict == 100);
	for (uint64_t i = 0; i < 2 * ENCRYPTED_CHANNELS_MAX; i++) {
		CHECK(!add(&e, 100, 5000 + i));
		CHECK(!strict);
	}
	CHECK_INT(e.n, 2);
	CHECK(encrypted_channels_require(&e, 100, 11) && encrypted_channels_require(&e, 100, 7));
	CHECK(!encrypted_channels_has(&e, 100, 11));
	CHECK(encrypted_channels_require(&e, 200, 1) && !encrypted_channels_require(&e, 200, 2));
	/* An operator who prefers means no server, so all of it counts until it is forgotten. */
	CHECK(!encrypted_channels_remove(&e, 100, 11) && !encrypted_channels_remove(&e, 100, 0));
	CHECK(encrypted_channels_require(&e, 100, 11));
	CHECK_INT(encrypted_channels_forget(&e, 100), 1);
	CHECK(!encrypted_channels_require(&e, 100, 11) && encrypted_channels_require(&e, 200, 1));
	CHECK_INT(e.n, 1);
}

/* Several servers fill the list: the one that has most of it becomes strict and makes room. */
TEST(encrypted_channels_of_many_servers_make_the_largest_strict)
{
	static struct encrypted_channels e;
	unsigned n = 0;

	e.n = 0;
	for (uint64_t g = 1000; e.n + 1 < ENCRYPTED_CHANNELS_MAX; g++)
		for (unsigned i = 0; i < 40 && e.n + 1 < ENCRYPTED_CHANNELS_MAX; i++)
			CHECK(add(&e, g, 1 + n++) && !strict);
	CHECK(add(&e, 1000, ++n) && !strict);
	CHECK_INT(e.n, ENCRYPTED_CHANNELS_MAX);
	CHECK(add(&e, 300, 1) && strict == 1000);
	CHECK_INT(e.n, ENCRYPTED_CHANNELS_MAX - 39);
	CHECK(encrypted_channels_require(&e, 1000, 1) && encrypted_channels_require(&e, 300, 1));
	CHECK(!encrypted_channels_require(&e, 300, 2) && !encrypted_channels_require(&e, 1001, 1));
}

/* Nothing can make room: further servers are strict, and those with an entry are not. */
TEST(encrypted_channels_full_of_servers_make_the_others_strict)
{
	static struct encrypted_channels e;

	e.n = 0;
	for (uint64_t g = 1; g <= ENCRYPTED_CHANNELS_MAX; g++)
		CHECK(add(&e, g, 1));
	CHECK(!add(&e, 5000, 1) && !strict);
	CHECK_INT(e.n, ENCRYPTED_CHANNELS_MAX);
	CHECK(encrypted_channels_require(&e, 5000, 1) && encrypted_channels_require(&e, 5000, 2));
	CHECK(encrypted_channels_require(&e, 7, 1) && !encrypted_channels_require(&e, 7, 2));
	CHECK(add(&e, 7, 2) && strict == 7);
	CHECK(encrypted_channels_require(&e, 7, 3) && !encrypted_channels_require(&e, 8, 2));
}

static bool is_even(uint64_t guild, uint64_t channel, void *arg)
{
	(void)guild, (void)arg;
	return channel % 2 == 0;
}

TEST(encrypted_channels_that_are_deleted_make_place)
{
	struct encrypted_channels e = {.n = 0};

	for (uint64_t i = 0; i < ENCRYPTED_CHANNELS_GUILD - 1; i++)
		encrypted_channels_add(&e, 7, 1000 + i, &strict);
	encrypted_channels_add(&e, 8, 1001, &strict);
	/* A deleted channel is kept as long as there is place. */
	CHECK(!encrypted_channels_drop_gone(&e, 7, is_even, NULL));
	encrypted_channels_add(&e, 7, 2001, &strict);
	CHECK(encrypted_channels_drop_gone(&e, 7, is_even, NULL));
	CHECK_INT(e.n, 1 + ENCRYPTED_CHANNELS_GUILD / 2);
	CHECK(encrypted_channels_has(&e, 7, 1000) && !encrypted_channels_has(&e, 7, 1001));
	CHECK(encrypted_channels_has(&e, 8, 1001));
	encrypted_channels_add(&e, 7, 2003, &strict);
	CHECK_INT(strict, 0);
}

/* Of the others nothing is left. */
static bool is_of_11_to_20(uint64_t guild, uint64_t channel, void *arg)
{
	(void)arg;
	return channel && guild > 10 && guild <= 20;
}

/* Many servers, each with a channel for each talk, which is deleted after it: nobody becomes strict
 * because the list was full of what is gone. */
TEST(encrypted_channels_that_are_deleted_fill_no_list)
{
	static struct encrypted_channels e;
	unsigned fewest = ENCRYPTED_CHANNELS_MAX;

	e.n = 0;
	CHECK(add(&e, 0, 9)); /* of an earlier version */
	for (uint64_t i = 10; i <= ENCRYPTED_CHANNELS_GUILD + 10; i++)
		add(&e, 3, i);
	CHECK(strict == 3);
	for (uint64_t g = 11; g <= 80; g++) {
		for (uint64_t i = 1; i <= 60; i++) {
			unsigned before = e.n;

			if (encrypted_channels_drop_gone(&e, g, is_of_11_to_20, NULL)) {
				CHECK_INT(before, ENCRYPTED_CHANNELS_MAX - 1);
				fewest = e.n;
			}
			CHECK(add(&e, g, 1000 * g + i) && !strict);
			/* A server without an entry is none that counts. */
			CHECK(!encrypted_channels_require(&e, 500, 1));
		}
	}
	CHECK_INT(fewest, 2 + 10 * 60);
	CHECK(encrypted_channels_has(&e, 20, 20001) && encrypted_channels_has(&e, 500, 9) &&
	      encrypted_channels_has(&e, 3, 0));
}
