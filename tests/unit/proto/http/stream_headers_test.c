#include "proto/http/stream_headers.h"

#include <string.h>

#include "proto/media.h"
#include "tests/test.h"

TEST(headers_of_a_stream_are_those_of_a_list)
{
	char to[STREAM_HEADERS_MAX + 1] = "", small[24] = "", value[STREAM_HEADERS_MAX];

	CHECK(stream_headers_add(to, sizeof to, "user-agent", "Mozilla/5.0 (X)"));
	CHECK(!stream_headers_add(to, sizeof to, "User-Agent", "again"));
	CHECK(!stream_headers_add(to, sizeof to, "Cookie", "a=b"));
	CHECK(!stream_headers_add(to, sizeof to, "Authorization", "Basic x"));
	CHECK(!stream_headers_add(to, sizeof to, "Host", "evil.example"));
	CHECK(!stream_headers_add(to, sizeof to, "Range", "bytes=0-"));
	CHECK(!stream_headers_add(to, sizeof to, "Referer", ""));
	CHECK(!stream_headers_add(to, sizeof to, "Referer", "a\r\nHost: evil"));
	CHECK(!stream_headers_add(to, sizeof to, "Referer", "a\x7f"));
	CHECK(stream_headers_add(to, sizeof to, "Referer", "https://page.example/"));
	CHECK_STR(to, "User-Agent: Mozilla/5.0 (X)\nReferer: https://page.example/\n");
	CHECK(stream_headers_valid(slice_str(to)));
	memset(value, 'a', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	CHECK(!stream_headers_add(to, sizeof to, "Origin", value));
	CHECK(!stream_headers_add(small, sizeof small, "Origin", "https://a.example"));
	CHECK(stream_headers_add(small, sizeof small, "Origin", "https://a.ex"));
	CHECK_STR(small, "Origin: https://a.ex\n");
}

TEST(lines_that_are_no_headers_of_a_stream)
{
	static const char *const bad[] = {"Cookie: a=b\n",
					  "Referer: a",
					  "Referer:a\n",
					  "Referer: \n",
					  "Referer: a\r\n",
					  "Referer: a\n\n",
					  "\n",
					  ": a\n",
					  "Referer: a\nreferer: b\n",
					  "Referer: a\nHost: b\n",
					  "User-Agent\n"};
	char many[STREAM_HEADERS_MAX + 2];

	CHECK(stream_headers_valid((struct slice){NULL, 0}));
	CHECK(stream_headers_valid(slice_str("Referer: a\nOrigin: b\n")));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK(!stream_headers_valid(slice_str(bad[i])));
	memset(many, 'a', sizeof many);
	memcpy(many, "Referer: ", 9);
	many[sizeof many - 1] = '\n';
	CHECK(!stream_headers_valid((struct slice){(const uint8_t *)many, sizeof many}));
	CHECK(!stream_headers_valid((struct slice){(const uint8_t *)"Referer: a\0b\n", 13}));
}
