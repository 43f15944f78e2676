/* The words for a host that cannot be reached. */
#include "ipc/unreachable.h"

#include "tests/test.h"

static bool told(const char *why)
{
	return unreachable_told(why, strlen(why));
}

TEST(unreachable_words_are_known_again)
{
	char why[128];

	for (unsigned i = 0; i < UNREACHABLE_COUNT; i++) {
		unreachable_print((enum unreachable)i, "", why, sizeof why);
		CHECK_STR(why, unreachable_words((enum unreachable)i));
		CHECK(told(why));
		unreachable_print((enum unreachable)i, "some detail", why, sizeof why);
		CHECK(told(why));
	}
	CHECK_STR(why, "proxy: some detail");
}

TEST(unreachable_is_told_from_what_a_provider_says)
{
	CHECK(told("closed 1006 cannot connect: Connection refused"));
	CHECK(told("closed 1006 its host name cannot be resolved (DNS)"));
	CHECK(!told("closed 1008 cannot connect: Connection refused"));
	CHECK(!told("status 503: cannot connect: upstream"));
	CHECK(!told("cannot connected"));
	CHECK(!told("closed 1006 "));
	CHECK(!told(""));
}
