#include "proto/base/numeric_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/test.h"

TEST(numeric_address_of_both_families)
{
	struct sockaddr_storage a;
	const struct sockaddr_in *four = (struct sockaddr_in *)&a;
	const struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a;

	CHECK_INT(numeric_address(&a, "10.0.0.5", 50000), sizeof *four);
	CHECK_INT(four->sin_family, AF_INET);
	CHECK_INT(ntohl(four->sin_addr.s_addr), 0x0a000005);
	CHECK_INT(ntohs(four->sin_port), 50000);
	CHECK_INT(numeric_address(&a, "fd00::1", 7), sizeof *six);
	CHECK_INT(six->sin6_family, AF_INET6);
	CHECK(six->sin6_addr.s6_addr[0] == 0xfd && six->sin6_addr.s6_addr[15] == 1);
	CHECK_INT(ntohs(six->sin6_port), 7);
}

TEST(numeric_address_is_no_name)
{
	static const char *const texts[] = {"",	     "localhost", "10.0.0",
					    "[::1]", "::1%lo",	  " 10.0.0.5"};
	struct sockaddr_storage a;

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
		CHECK_INT(numeric_address(&a, texts[i], 1), 0);
}
