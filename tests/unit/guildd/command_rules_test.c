#include "tests/guildd/command_rules.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char *fault_of(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	const char *fault = command_fault(o);

	json_decref(o);
	return fault ? fault : "";
}

TEST(commands_have_the_documented_limits)
{
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"{\"name\":\"ask\",\"description\":\"x\"}", ""},
		{"{\"name\":\"Ask\",\"description\":\"x\"}", "name"},
		{"{\"name\":\"a b\",\"description\":\"x\"}", "name"},
		{"{\"name\":\"ask\"}", "description"},
		{"{\"name\":\"ask\",\"description\":\"\"}", "description"},
		{"{\"name\":\"ask\",\"type\":4,\"description\":\"x\"}", "type"},
		{"{\"name\":\"Why not?\",\"type\":3}", ""},
		{"{\"name\":\"Why not?\",\"type\":2,\"description\":\"\"}", ""},
		{"{\"name\":\"Why not?\",\"type\":3,\"description\":\"x\"}", "description"},
		{"{\"name\":\"Why not?\",\"type\":3,\"options\":[{}]}", "options"},
		{"{\"name\":\"123456789012345678901234567890123\",\"type\":3}", "name"},
		{"{\"name\":\"x\",\"type\":3,\"name_localizations\":{\"de\":\"Warum?\"}}", ""},
		{"{\"name\":\"x\",\"type\":3,\"name_localizations\":{\"pt\":\"y\"}}", "name"},
		{"{\"name\":\"x\",\"description\":\"x\",\"name_localizations\":{\"de\":\"Gross\"}}",
		 "name"},
		{"{\"name\":\"x\",\"description\":\"x\",\"description_localizations\":{\"de\":\"\"}"
		 "}",
		 "description"},
		{"{\"name\":\"x\",\"description\":\"x\",\"contexts\":[3]}", "contexts"},
		{"{\"name\":\"x\",\"description\":\"x\",\"default_member_permissions\":32}",
		 "default_member_permissions"},
		{"{\"name\":\"x\",\"description\":\"x\",\"default_member_permissions\":\"32\"}",
		 ""},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_STR(fault_of(rows[i].text), rows[i].fault);
}

static bool options_fit(const char *options)
{
	char text[1024];

	snprintf(text, sizeof text, "{\"name\":\"x\",\"description\":\"x\",\"options\":%s}",
		 options);
	return !*fault_of(text);
}

TEST(options_have_the_documented_limits)
{
	CHECK(options_fit(
		"[{\"name\":\"a\",\"description\":\"b\",\"type\":3,\"max_length\":6000}]"));
	CHECK(!options_fit(
		"[{\"name\":\"a\",\"description\":\"b\",\"type\":3,\"max_length\":6001}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":4,\"max_length\":5}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":3,\"min_value\":5}]"));
	CHECK(!options_fit(
		"[{\"name\":\"a\",\"description\":\"b\",\"type\":5,\"autocomplete\":true}]"));
	CHECK(!options_fit(
		"[{\"name\":\"a\",\"description\":\"b\",\"type\":3,\"autocomplete\":true,"
		"\"choices\":[{\"name\":\"x\",\"value\":\"y\"}]}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":3,"
			   "\"choices\":[{\"name\":\"x\",\"value\":1}]}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":3},"
			   "{\"name\":\"c\",\"description\":\"b\",\"type\":3,\"required\":true}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":3},"
			   "{\"name\":\"a\",\"description\":\"b\",\"type\":3}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":1},"
			   "{\"name\":\"c\",\"description\":\"b\",\"type\":3}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":1,\"options\":["
			   "{\"name\":\"c\",\"description\":\"b\",\"type\":1}]}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":2}]"));
	CHECK(!options_fit("[{\"name\":\"a\",\"description\":\"b\",\"type\":12}]"));
}

TEST(a_list_has_names_of_its_own_and_at_most_fifteen_menus)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 15; i++)
		json_array_append_new(list, json_pack("{s:o,s:i}", "name",
						      json_sprintf("Menu %u", i), "type", 3));
	CHECK(!command_list_fault(list));
	json_array_append_new(list, json_pack("{s:s,s:i}", "name", "Menu 3", "type", 2));
	CHECK(!command_list_fault(list));
	json_array_append_new(list, json_pack("{s:s,s:i}", "name", "One more", "type", 3));
	CHECK_STR(command_list_fault(list), "commands");
	json_decref(list);
	list = json_pack("[{s:s,s:s},{s:s,s:s}]", "name", "x", "description", "x", "name", "x",
			 "description", "y");
	CHECK_STR(command_list_fault(list), "name");
	json_decref(list);
}

TEST(a_client_sends_what_is_registered)
{
	json_t *cmd = json_loads("{\"name\":\"x\",\"type\":1,\"options\":["
				 "{\"name\":\"a\",\"type\":3,\"required\":true,\"max_length\":3},"
				 "{\"name\":\"n\",\"type\":4,\"min_value\":1,\"max_value\":9}]}",
				 0, NULL);
	static const struct {
		const char *given;
		bool fits;
	} rows[] = {
		{"[{\"name\":\"a\",\"type\":3,\"value\":\"abc\"}]", true},
		{"[{\"name\":\"a\",\"type\":3,\"value\":\"abcd\"}]", false},
		{"[{\"name\":\"a\",\"type\":4,\"value\":3}]", false},
		{"[]", false},
		{"[{\"name\":\"n\",\"type\":4,\"value\":3}]", false},
		{"[{\"name\":\"a\",\"type\":3,\"value\":\"\"},{\"name\":\"n\",\"type\":4,\"value\":"
		 "9}]",
		 true},
		{"[{\"name\":\"a\",\"type\":3,\"value\":\"\"},{\"name\":\"n\",\"type\":4,\"value\":"
		 "10}]",
		 false},
		{"[{\"name\":\"a\",\"type\":3,\"value\":\"\"},{\"name\":\"b\",\"type\":3,\"value\":"
		 "\"\"}]",
		 false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *given = json_loads(rows[i].given, 0, NULL);

		CHECK(command_options_given(cmd, given) == rows[i].fits);
		json_decref(given);
	}
	json_decref(cmd);
}

TEST(suggestions_are_few_and_short)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 25; i++)
		json_array_append_new(list, json_pack("{s:s,s:s}", "name", "x", "value", "y"));
	CHECK(command_choices_fit(list));
	json_array_append_new(list, json_pack("{s:s,s:i}", "name", "x", "value", 5));
	CHECK(!command_choices_fit(list));
	json_array_clear(list);
	json_array_append_new(list, json_pack("{s:s,s:s}", "name", "", "value", "y"));
	CHECK(!command_choices_fit(list));
	json_decref(list);
	CHECK(!command_choices_fit(NULL));
}
