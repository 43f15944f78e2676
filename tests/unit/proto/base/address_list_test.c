#include "proto/base/address_list.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static bool reads(const char *text)
{
	struct address_entry e;

	return address_entry_read(&e, text, strlen(text));
}

TEST(an_entry_is_an_ip_address_with_a_port)
{
	static const char *const right[] = {"10.0.0.5:80", "[fd00::1]:8080", "fd00::1:80",
					    "0.0.0.0:65535"};
	static const char *const wrong[] = {"",
					    ":",
					    ":80",
					    "10.0.0.5",
					    "10.0.0.5:",
					    "10.0.0.5:0",
					    "10.0.0:80",
					    "10.0.0.5:65536",
					    "10.0.0.5:80x",
					    "10.0.0.5: 80",
					    "[fd00::1]",
					    "[fd00::1:80",
					    "[fd00::1]80",
					    "[]:80",
					    "localhost:80",
					    "foo",
					    "station.example:8000",
					    "http://10.0.0.5:80",
					    "10.0.0.5:-1"};
	struct address_entry e;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&e.sa;
	char text[4096];

	for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
		CHECK(reads(right[i]));
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		CHECK(!reads(wrong[i]));
	CHECK(address_entry_read(&e, "10.0.0.5:8000, x", 13));
	CHECK(e.len == sizeof *four && ntohs(four->sin_port) == 8000 &&
	      ntohl(four->sin_addr.s_addr) == 0x0a000005);
	memset(text, '1', sizeof text);
	CHECK(!address_entry_read(&e, text, sizeof text));
}

TEST(a_list_names_its_first_wrong_entry)
{
	const char *list = " 10.0.0.5:80,, station.example:8000, x", *wrong;
	char many[ADDRESS_LIST_BYTES] = "";
	size_t n;

	wrong = address_list_fault(list, &n);
	CHECK(wrong && n == strlen("station.example:8000"));
	CHECK(wrong && strncmp(wrong, "station.example:8000", n) == 0);
	CHECK(!address_list_fault("", &n) && !address_list_fault(" , ", &n));
	CHECK(!address_list_fault("10.0.0.5:80 [fd00::1]:8080", &n));
	for (unsigned i = 0; i < ADDRESS_LIST_ENTRIES; i++)
		strcat(many, "10.0.0.5:8000,");
	CHECK(!address_list_fault(many, &n));
	strcat(many, "10.0.0.6:8000");
	wrong = address_list_fault(many, &n);
	CHECK(wrong && strncmp(wrong, "10.0.0.6:8000", n) == 0);
}
