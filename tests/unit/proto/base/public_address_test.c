#include "proto/base/public_address.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static bool judge(const char *text, uint16_t port, bool (*by)(const struct sockaddr *, size_t))
{
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
		return by((const struct sockaddr *)&in4, sizeof in4);
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
		test_fail(__FILE__, __LINE__, "%s is no address", text);
	return by((const struct sockaddr *)&in6, sizeof in6);
}

/* The first and the last address of each block, and their neighbours outside. */
TEST(public_address_leaves_out_every_special_block)
{
	static const char *const special[] = {
		"0.0.0.0",
		"0.255.255.255",
		"10.0.0.0",
		"10.255.255.255",
		"100.64.0.0",
		"100.127.255.255",
		"127.0.0.0",
		"127.255.255.255",
		"169.254.0.0",
		"169.254.169.254",
		"169.254.255.255",
		"172.16.0.0",
		"172.31.255.255",
		"192.0.0.0",
		"192.0.0.255",
		"192.0.2.0",
		"192.0.2.255",
		"192.88.99.1",
		"192.168.0.0",
		"192.168.255.255",
		"198.18.0.0",
		"198.19.255.255",
		"198.51.100.0",
		"198.51.100.255",
		"203.0.113.0",
		"203.0.113.255",
		"224.0.0.0",
		"239.255.255.255",
		"240.0.0.0",
		"255.255.255.255",
		"::",
		"::1",
		"::ffff:1.1.1.1",
		"::ffff:127.0.0.1",
		"::127.0.0.1",
		"64:ff9b::1.1.1.1",
		"64:ff9b:1::1",
		"100::1",
		"1fff:ffff::",
		"4000::",
		"2001::1",
		"2001:1ff:ffff::",
		"2001:db8::1",
		"2001:db8:ffff::",
		"2002:7f00:1::",
		"3fff::1",
		"3fff:fff:ffff::",
		"fc00::1",
		"fd12::1",
		"fe80::1",
		"fec0::1",
		"ff02::1",
	};
	static const char *const usual[] = {
		"1.0.0.0",	 "9.255.255.255", "11.0.0.0",	   "100.63.255.255",
		"100.128.0.0",	 "126.0.0.1",	  "128.0.0.0",	   "169.253.255.255",
		"169.255.0.0",	 "172.15.0.1",	  "172.32.0.0",	   "191.255.255.255",
		"192.0.1.0",	 "192.0.3.0",	  "192.167.255.1", "192.169.0.0",
		"198.17.255.1",	 "198.20.0.0",	  "198.51.99.255", "198.51.101.0",
		"203.0.112.255", "203.0.114.0",	  "223.255.255.1", "2000::1",
		"2001:200::1",	 "2001:db7::1",	  "2001:db9::1",   "2003::1",
		"2606:4700::1",	 "2a00:1450::1",  "3fff:1000::1",  "3ffe::1",
	};

	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (judge(special[i], 80, public_address))
			test_fail(__FILE__, __LINE__, "%s is public", special[i]);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!judge(usual[i], 80, public_address))
			test_fail(__FILE__, __LINE__, "%s is not public", usual[i]);
}

TEST(public_address_takes_no_other_family_scope_or_length)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr unix_ = {.sa_family = AF_UNIX};

	CHECK(inet_pton(AF_INET6, "2606:4700::1", &in6.sin6_addr) == 1);
	CHECK(public_address((const struct sockaddr *)&in6, sizeof in6));
	CHECK(!public_address((const struct sockaddr *)&in6, sizeof in6 - 1));
	in6.sin6_scope_id = 1;
	CHECK(!public_address((const struct sockaddr *)&in6, sizeof in6));
	CHECK(!public_address(&unix_, sizeof unix_));
}

TEST(public_port_is_one_of_the_web)
{
	CHECK(judge("1.1.1.1", 80, public_port) && judge("2606:4700::1", 443, public_port));
	CHECK(!judge("1.1.1.1", 0, public_port) && !judge("1.1.1.1", 22, public_port));
	CHECK(!judge("2606:4700::1", 8080, public_port));
}

TEST(public_host_has_a_dot_and_no_local_name)
{
	static const char *const local[] = {"",
					    ".",
					    "localhost",
					    "router",
					    "router.",
					    "wiki.internal",
					    "WIKI.Internal",
					    "metadata.google.internal.",
					    "a.local",
					    "b.localhost",
					    "c.localdomain",
					    "printer.home.arpa",
					    "x.lan",
					    "intra.corp",
					    "host.intranet",
					    "d.home",
					    "n.private"};
	static const char *const usual[] = {"example.org",  "example.org.",	    "127.0.0.1",
					    "[::1]",	    "internal.example.com", "xlocal.org",
					    "notlocal.xlan"};

	for (size_t i = 0; i < sizeof local / sizeof *local; i++)
		if (public_host(local[i]))
			test_fail(__FILE__, __LINE__, "%s is public", local[i]);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!public_host(usual[i]))
			test_fail(__FILE__, __LINE__, "%s is not public", usual[i]);
}
