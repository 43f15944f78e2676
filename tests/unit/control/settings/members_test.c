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

static unsigned entry_line(const char *text, unsigned entry)
{
	struct members walk;
	struct member m;

	members_begin(&walk, text, strlen(text));
	return members_next(&walk, &m) ? members_entry_line(&m, entry) : 0;
}

TEST(entries_of_a_member_are_found_on_their_lines)
{
	static const char list[] = "{\n\"a\":\n[\n{\"x\": [1,\n2]},\n\n{\"y\": \"]\"}, 7]}";
	static const char object[] = "{\"a\": {\"x\": [1,\n2],\n \"y\"\n: {}}}";

	CHECK_INT(entry_line(list, 0), 4);
	CHECK_INT(entry_line(list, 1), 7);
	CHECK_INT(entry_line(list, 2), 7);
	CHECK_INT(entry_line(list, 3), 2); /* there is none */
	CHECK_INT(entry_line(object, 0), 1);
	CHECK_INT(entry_line(object, 1), 3);
	CHECK_INT(entry_line("{\"a\": 1}", 0), 1);
	CHECK_INT(entry_line("{\"a\": [", 4), 1);
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
	CHECK_STR(walked("{\"a\":]]"), "1:\"a\"=;");
	CHECK_STR(walked("{,}"), "");
}
