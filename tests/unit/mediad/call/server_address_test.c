#include "mediad/call/server_address.h"

#include <stddef.h>

#include "tests/test.h"

TEST(server_address_of_discord_is_public)
{
	static const char discord[] = "russia1234.discord.media:443";
	static const char *const refused[] = {
		"127.0.0.1",
		"10.1.2.3",
		"172.16.0.1",
		"192.168.1.1",
		"169.254.169.254",
		"100.64.0.1",
		"0.0.0.0",
		"224.0.0.1",
		"240.0.0.1",
		"255.255.255.255",
		"203.0.113.9",
		"::",
		"::1",
		"fe80::1",
		"fd00::1",
		"ff02::1",
		"::ffff:66.22.196.1",
		"64:ff9b::1.2.3.4",
		"2001:db8::1",
		"::66.22.196.1",
		"localhost",
		"",
		"66.22.196",
		"66.22.196.1 ",
		"0x42.22.196.1",
	};

	CHECK(server_address_is_allowed("66.22.196.1", 50000, discord));
	CHECK(server_address_is_allowed("2a06:98c1::5", 50000, discord));
	CHECK(!server_address_is_allowed("66.22.196.1", 0, discord));
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		CHECK(!server_address_is_allowed(refused[i], 50000, discord));
}

/* A voice gateway of our own network, as that of the tests, may name an address there. */
TEST(server_address_of_our_own_network)
{
	static const char *const local[] = {"localhost",   "localhost:443", "127.0.0.1:443",
					    "10.0.0.5:80", "[::1]:443",	    "[fd00::1]",
					    "guildd:8443", "voice.lan:443"};
	static const char *const far[] = {"66.22.196.1:443", "[2a06:98c1::5]:443",
					  "localhost.example:443", "127.0.0.1.example",
					  "10.example"};

	for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
		CHECK(server_address_is_allowed("127.0.0.1", 50000, local[i]));
		CHECK(server_address_is_allowed("172.18.0.2", 50000, local[i]));
		CHECK(server_address_is_allowed("::1", 50000, local[i]));
		CHECK(!server_address_is_allowed("127.0.0.1", 0, local[i]));
		CHECK(!server_address_is_allowed("0.0.0.0", 50000, local[i]));
		CHECK(!server_address_is_allowed("224.0.0.1", 50000, local[i]));
		CHECK(!server_address_is_allowed("255.255.255.255", 50000, local[i]));
		CHECK(!server_address_is_allowed("::", 50000, local[i]));
		CHECK(!server_address_is_allowed("ff02::1", 50000, local[i]));
		CHECK(!server_address_is_allowed("::ffff:0.0.0.0", 50000, local[i]));
		CHECK(!server_address_is_allowed("guildd", 50000, local[i]));
	}
	for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
		CHECK(!server_address_is_allowed("127.0.0.1", 50000, far[i]));
}
