#include "tests/test.h"

#include "control/settings/members.h"

/* "LINE:KEY=VALUE;" of each member. */
static const char *walked(const char *text)
{
	static char out[512];
	struct members walk;
	struct member m;
	size_t n = 0;

	out[0] = '\0';
	members_begin(&walk, text, strlen(text));
	while (n < sizeof out && members_next(&walk, &m))
		n += (size_t)snprintf(out + n, sizeof out - n, "%u:%.*s=%.*s;", m.line,
				      (int)m.key_len, m.key, (int)m.value_len, m.value);
	return out;
}

TEST(members_are_found_on_their_lines)
{
	CHECK_STR(walked("{}"), "");
	CHECK_STR(walked("{\"a\":1}"), "1:\"a\"=1;");
	CHECK_STR(walked("\n{\n  \"a\" : 1 ,\n  \"b\"\n: \"x\"\n}\n"), "3:\"a\"=1;4:\"b\"=\"x\";");
	CHECK_STR(walked("{\"a\": {\"b\": [1,\n2, \"}\"]},\n\"c\": true}"),
		  "1:\"a\"={\"b\": [1,\n2, \"}\"]};3:\"c\"=true;");
	CHECK_STR(walked("{\"a\\\"b\": \"\\\\\", \"c\": \",\"}"),
		  "1:\"a\\\"b\"=\"\\\\\";1:\"c\"=\",\";");
}

TEST(members_of_what_is_no_object_end)
{
	CHECK_STR(walked(""), "");
	CHECK_STR(walked("[1]"), "");
	CHECK_STR(walked("{\"a\""), "");
	CHECK_STR(walked("{\"a"), "");
	CHECK_STR(walked("{\"a\\"), "");
	CHECK_STR(walked("{\"a\":"), "1:\"a\"=;");
	CHECK_STR(walked("{\"a\":[[["), "1:\"a\"=[[[;");
	CHECK_STR(walked("{\"a\":]]"), "1:\"a\"=]];");
	CHECK_STR(walked("{,}"), "");
}
