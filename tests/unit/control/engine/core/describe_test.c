#include "control/engine/core/describe.h"

#include "proto/base/utf8.h"
#include "proto/media.h"
#include "tests/test.h"

TEST(a_close_reason_is_cut_at_whole_characters)
{
	/* 41 characters of 3 bytes: the limit lies within one of them. */
	char reason[124], text[64];

	for (unsigned i = 0; i < 123; i += 3)
		memcpy(reason + i, "\xe2\x82\xac", 3);
	for (size_t size = 8; size <= sizeof text; size++) {
		describe_close(1008, (const uint8_t *)reason, 123, text, size);
		CHECK(utf8_valid(text));
		CHECK(strlen(text) < size && strlen(text) + 3 >= size);
	}
	describe_close(1000, NULL, 0, text, sizeof text);
	CHECK_STR(text, "closed 1000 ");
	describe_close(1011, (const uint8_t *)"a\r\nb\xff", 5, text, sizeof text);
	CHECK_STR(text, "closed 1011 a  b");
}

TEST(an_error_is_its_code_and_its_text)
{
	char text[24];

	describe_error("", slice_str("wrong"), text, sizeof text);
	CHECK_STR(text, "wrong");
	describe_error("quota", (struct slice){0}, text, sizeof text);
	CHECK_STR(text, "quota");
	describe_error("quota", slice_str("none left at all \xe2\x82\xac"), text, sizeof text);
	CHECK_STR(text, "quota: none left at all");
	describe_error("quota", slice_str("none left at al \xe2\x82\xac"), text, sizeof text);
	CHECK_STR(text, "quota: none left at al ");
}
