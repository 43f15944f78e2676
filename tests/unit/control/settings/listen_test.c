#include "tests/test.h"

#include "control/settings/listen.h"

#include <errno.h>
#include <string.h>

#include "control/settings/settings.h"

TEST(a_numeric_address_and_a_port_are_read)
{
	struct listen_address at;

	CHECK_INT(listen_parse(&at, "127.0.0.1:8787"), 0);
	CHECK_STR(at.host, "127.0.0.1");
	CHECK_STR(at.address, "127.0.0.1");
	CHECK_INT(at.port, 8787);
	CHECK_INT(listen_parse(&at, "[::1]:0"), 0);
	CHECK_STR(at.host, "[::1]");
	CHECK_STR(at.address, "::1");
	CHECK_INT(at.port, 0);
}

TEST(what_is_no_address_is_refused)
{
	static const char *const bad[] = {
		"",	      "8787",	     ":8787",		"localhost:8787", "127.0.0.1",
		"127.0.0.1:", "::1:80",	     "127.0.0.1:65536", "127.0.0.1:8x",	  "[]:80",
		"[:80",	      "127.0.0.1:-1"};
	struct listen_address at = {.port = 7};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(listen_parse(&at, bad[i]), EINVAL);
	CHECK_INT(at.port, 7);
}

static void on_fault(const char *text, void *arg)
{
	*(bool *)arg = strstr(text, "\"web_listen\" must be a numeric address") != NULL;
}

TEST(a_name_to_listen_at_is_a_fault_of_the_settings)
{
	struct settings *s = NULL;
	bool told = false;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK_INT(settings_set(s, "web_listen", "127.0.0.1:8787"), 0);
	CHECK_INT(settings_check(s, on_fault, &told), 0);
	CHECK_INT(settings_set(s, "web_listen", "localhost:8787"), 0);
	CHECK_INT(settings_check(s, on_fault, &told), 1);
	CHECK(told);
	settings_free(s);
}
