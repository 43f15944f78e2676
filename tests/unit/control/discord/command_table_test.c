#include "control/discord/command_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/guildd/command_rules.h"
#include "tests/test.h"

static json_t *interaction(const char *data)
{
	json_t *d =
		json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:{s:{s:s},s:[]}}", "type", 2, "id", "77",
			  "application_id", "9", "token", "abc", "guild_id", "100", "channel_id",
			  "200", "locale", "de", "member", "user", "id", "501", "roles");

	json_object_set_new(d, "data", json_loads(data, 0, NULL));
	return d;
}

TEST(the_registration_is_one_that_discord_accepts)
{
	json_t *body = commands_body(), *cmd, *names;
	const char *fault = command_list_fault(body);
	unsigned menus = 0;
	size_t i;

	CHECK_STR(fault ? fault : "", "");
	CHECK_INT(json_array_size(body), COMMAND_COUNT);
	json_array_foreach(body, i, cmd)
	{
		json_int_t type = json_integer_value(json_object_get(cmd, "type"));

		/* Every language of the words has it. */
		names = json_object_get(cmd, type == COMMAND_SLASH ? "description_localizations"
								   : "name_localizations");
		CHECK_INT(json_object_size(names), 13);
		menus += type != COMMAND_SLASH;
	}
	CHECK_INT(menus, 3);
	json_decref(body);
}

/* What Discord shows of a name in a language. */
static const char *shown_name(const json_t *o, const char *locale)
{
	const char *name = json_string_value(
		json_object_get(json_object_get(o, "name_localizations"), locale));

	return name ? name : json_string_value(json_object_get(o, "name"));
}

/* In each language no two that stand beside each other have the same name; n: how many names there
 * are in this one. */
static void check_names(const json_t *list, const char *locale, unsigned *n)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);

		*n += json_object_get(json_object_get(o, "name_localizations"), locale) != NULL;
		for (size_t k = 0; k < i; k++)
			if (strcmp(shown_name(o, locale),
				   shown_name(json_array_get(list, k), locale)) == 0)
				test_fail(__FILE__, __LINE__, "%s: %s twice", locale,
					  shown_name(o, locale));
		check_names(json_object_get(o, "options"), locale, n);
	}
}

TEST(names_are_in_the_languages_of_the_descriptions)
{
	json_t *body = commands_body(), *first = json_array_get(body, 0), *words;
	unsigned n, all = 0;
	const char *locale;

	check_names(body, "none", &all);
	json_object_foreach(json_object_get(first, "description_localizations"), locale, words)
	{
		n = 0;
		check_names(body, locale, &n);
		/* All but those that are the same there, such as "status". */
		if (n < 70)
			test_fail(__FILE__, __LINE__, "%s: %u names", locale, n);
	}
	CHECK_STR(shown_name(first, "de"), "beitreten");
	CHECK_STR(shown_name(first, "es-419"), "unirse");
	CHECK_STR(json_string_value(json_object_get(first, "name")), "join");
	json_decref(body);
}

TEST(those_that_change_the_server_are_for_those_who_manage_it)
{
	json_t *body = commands_body(), *cmd;
	size_t i;

	json_array_foreach(body, i, cmd)
	{
		const char *name = json_string_value(json_object_get(cmd, "name"));
		bool manages = strcmp(name, "settings") == 0 || strcmp(name, "say") == 0;

		CHECK(json_is_string(json_object_get(cmd, "default_member_permissions")) ==
		      manages);
		CHECK(command_permits(cmd, 1 << 5));
		CHECK(command_permits(cmd, 0) == !manages);
	}
	json_decref(body);
}

TEST(options_are_read_as_the_table_has_them)
{
	json_t *d = interaction("{\"name\":\"ask\",\"type\":1,\"options\":["
				"{\"name\":\"question\",\"type\":3,\"value\":\"why\"},"
				"{\"name\":\"private\",\"type\":5,\"value\":true},"
				"{\"name\":\"voice\",\"type\":3,\"value\":\"true\"},"
				"{\"name\":\"channel\",\"type\":7,\"value\":\"5\"}]}");
	struct command cmd;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_INT(cmd.kind, COMMAND_ASK);
	CHECK_INT(cmd.id, 77);
	CHECK_INT(cmd.in, 200);
	CHECK_STR(command_text(&cmd, "question"), "why");
	CHECK(command_flag(&cmd, "private"));
	CHECK(command_is_private(&cmd));
	/* Of another type, and of another command. */
	CHECK(!command_flag(&cmd, "voice"));
	CHECK_INT(command_channel(&cmd, "channel"), 0);
	CHECK(!command_text(&cmd, "text"));
	json_decref(d);
}

TEST(a_channel_is_read_as_an_id)
{
	json_t *d = interaction("{\"name\":\"join\",\"options\":[{\"name\":\"channel\",\"type\":7,"
				"\"value\":\"301\"}]}");
	struct command cmd;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_INT(command_channel(&cmd, "channel"), 301);
	json_decref(d);
}

TEST(an_answer_is_for_everybody_unless_its_user_wants_it_alone)
{
	json_t *d = interaction("{\"name\":\"ask\",\"options\":["
				"{\"name\":\"question\",\"type\":3,\"value\":\"why\"}]}");
	struct command cmd;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK(!command_is_private(&cmd));
	json_decref(d);
	d = interaction("{\"name\":\"remember\"}");
	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK(command_is_private(&cmd));
	json_decref(d);
}

TEST(options_of_a_subcommand_are_found_below_it)
{
	json_t *d = interaction("{\"name\":\"work\",\"options\":[{\"name\":\"show\",\"type\":1,"
				"\"options\":[{\"name\":\"number\",\"type\":4,\"value\":7}]}]}");
	struct command cmd;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_STR(command_subcommand(&cmd), "show");
	CHECK_INT(command_number(&cmd, "number"), 7);
	CHECK(!command_text(&cmd, "task"));
	json_decref(d);
	d = interaction("{\"name\":\"work\",\"options\":[{\"name\":\"show\",\"type\":1,"
			"\"options\":[{\"name\":\"number\",\"type\":4,\"value\":-7}]}]}");
	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_INT(command_number(&cmd, "number"), 0);
	json_decref(d);
}

TEST(a_text_that_discord_would_not_have_let_through_is_none)
{
	char data[2200];
	struct command cmd;
	json_t *d;

	snprintf(data, sizeof data,
		 "{\"name\":\"say\",\"options\":[{\"name\":\"text\",\"type\":3,\"value\":\"%0*d\"}]"
		 "}",
		 COMMAND_SAY_CHARACTERS * 4 + 1, 1);
	d = interaction(data);
	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK(!command_text(&cmd, "text"));
	json_decref(d);
}

TEST(a_menu_names_the_message_and_who_wrote_it)
{
	json_t *d = interaction("{\"name\":\"Why did you not answer this?\",\"type\":3,"
				"\"target_id\":\"900\",\"resolved\":{\"messages\":{\"900\":{"
				"\"id\":\"900\",\"content\":\"secret\",\"author\":{\"id\":\"502\","
				"\"username\":\"bob\"}}}}}"),
	       *kept;
	struct command cmd;
	char *text;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_INT(cmd.kind, COMMAND_WHY_MESSAGE);
	CHECK_INT(cmd.target, 900);
	CHECK_INT(cmd.target_user, 502);
	kept = command_extract(d);
	CHECK_INT(command_parse(kept, &cmd), 0);
	CHECK_INT(cmd.target, 900);
	CHECK_INT(cmd.target_user, 502);
	/* What is kept until the answer, also on the disk, has none of its words. */
	text = json_dumps(kept, 0);
	CHECK(text && !strstr(text, "secret") && !strstr(text, "bob"));
	free(text);
	json_decref(kept);
	json_decref(d);
}

/* Of a private thread without the bot Discord tells nothing else. */
TEST(a_command_tells_the_channel_of_its_thread)
{
	static const struct {
		int type;
		uint64_t parent;
	} rows[] = {{0, 0}, {2, 0}, {10, 70}, {11, 70}, {12, 70}, {15, 0}};
	struct command cmd;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *d = interaction("{\"name\":\"stop\",\"type\":1}"), *kept;

		json_object_set_new(d, "channel",
				    json_pack("{s:i,s:s,s:s}", "type", rows[i].type, "parent_id",
					      "70", "name", "secret"));
		CHECK_INT(command_parse(d, &cmd), 0);
		CHECK_INT(cmd.parent, rows[i].parent);
		kept = command_extract(d);
		CHECK_INT(command_parse(kept, &cmd), 0);
		CHECK_INT(cmd.parent, rows[i].parent);
		CHECK(!json_object_get(json_object_get(kept, "channel"), "name"));
		json_decref(kept);
		json_decref(d);
	}
}

TEST(a_menu_of_a_user_names_them)
{
	json_t *d = interaction("{\"name\":\"Why no answer?\",\"type\":2,\"target_id\":\"502\"}");
	struct command cmd;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK_INT(cmd.kind, COMMAND_WHY_USER);
	CHECK_INT(cmd.target_user, 502);
	json_decref(d);
}

/* Who left a server can still look at what is kept, and have it erased. */
TEST(privacy_and_forgetting_are_for_direct_messages_too)
{
	json_t *d = json_pack("{s:i,s:s,s:s,s:s,s:s,s:{s:s,s:s},s:{s:s}}", "type", 2, "id", "1",
			      "application_id", "9", "token", "abc", "channel_id", "200", "user",
			      "id", "501", "global_name", "Alice", "data", "name", "privacy");
	json_t *kept, *body = commands_body(), *row;
	struct command cmd;
	unsigned direct = 0;
	size_t i;

	CHECK_INT(command_parse(d, &cmd), 0);
	CHECK(!cmd.guild && cmd.user == 501 && !cmd.member);
	CHECK_STR(cmd.name, "Alice");
	kept = command_extract(d);
	CHECK(kept);
	CHECK_INT(command_parse(kept, &cmd), 0);
	CHECK(!cmd.guild && cmd.user == 501);
	json_decref(kept);
	json_object_set_new(json_object_get(d, "data"), "name", json_string("status"));
	CHECK_INT(command_parse(d, &cmd), EBADMSG);
	json_object_set_new(json_object_get(d, "data"), "name", json_string("forget"));
	CHECK_INT(command_parse(d, &cmd), 0);
	json_object_set_new(d, "member", json_object());
	CHECK_INT(command_parse(d, &cmd), EBADMSG);
	json_array_foreach(body, i, row) direct +=
		json_array_size(json_object_get(row, "contexts")) == 2;
	CHECK_INT(direct, 2);
	json_decref(body);
	json_decref(d);
}

TEST(commands_that_read_memory_alone_are_answered_at_once)
{
	static const struct {
		const char *data;
		bool quick;
	} rows[] = {
		{"{\"name\":\"consent\"}", true},
		{"{\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":"
		 "\"heard\"}]}",
		 false},
		{"{\"name\":\"privacy\"}", true},
		{"{\"name\":\"join\"}", false},
		{"{\"name\":\"settings\",\"options\":[{\"name\":\"show\",\"type\":1}]}", true},
		{"{\"name\":\"settings\",\"options\":[{\"name\":\"set\",\"type\":1}]}", false},
		{"{\"name\":\"work\",\"options\":[{\"name\":\"list\",\"type\":1}]}", true},
		{"{\"name\":\"work\",\"options\":[{\"name\":\"start\",\"type\":1}]}", false},
		{"{\"name\":\"work\",\"options\":[{\"name\":\"show\",\"type\":1}]}", false},
		{"{\"name\":\"music\",\"options\":[{\"name\":\"queue\",\"type\":1}]}", true},
		{"{\"name\":\"music\",\"options\":[{\"name\":\"now\",\"type\":1}]}", true},
		{"{\"name\":\"music\",\"options\":[{\"name\":\"history\",\"type\":1}]}", true},
		{"{\"name\":\"music\",\"options\":[{\"name\":\"skip\",\"type\":1}]}", false},
	};
	struct command cmd;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *d = interaction(rows[i].data);

		CHECK_INT(command_parse(d, &cmd), 0);
		CHECK_INT(command_is_quick(&cmd), rows[i].quick);
		json_decref(d);
	}
}

TEST(a_menu_without_a_target_and_a_name_of_another_type_are_refused)
{
	static const struct {
		const char *data;
		int err;
	} rows[] = {
		{"{\"name\":\"Why no answer?\",\"type\":2}", EBADMSG},
		{"{\"name\":\"Why no answer?\",\"type\":2,\"target_id\":\"x\"}", EBADMSG},
		{"{\"name\":\"Why no answer?\",\"type\":3,\"target_id\":\"5\"}", ENOENT},
		{"{\"name\":\"Why no answer?\"}", ENOENT},
		{"{\"name\":\"join\",\"type\":3,\"target_id\":\"5\"}", ENOENT},
		{"{\"name\":\"why_message\"}", ENOENT},
		{"{\"type\":1}", EBADMSG},
	};
	struct command cmd;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *d = interaction(rows[i].data);

		CHECK_INT(command_parse(d, &cmd), rows[i].err);
		json_decref(d);
	}
}
