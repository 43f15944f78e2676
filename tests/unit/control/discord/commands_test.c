#include "control/discord/commands.h"
#include "tests/test.h"

static int parse(const char *text, struct command *cmd)
{
	json_t *d = json_loads(text, 0, NULL);
	int err = command_parse(d, cmd);

	if (!err && cmd->member != json_object_get(d, "member"))
		err = -1;
	cmd->member = NULL; /* it was the interaction's */
	json_decref(d);
	return err;
}

TEST(commands_are_parsed)
{
	struct command cmd;

	CHECK_INT(parse("{\"type\":2,\"guild_id\":\"100\",\"member\":{\"user\":{\"id\":\"501\"}},"
			"\"data\":{\"name\":\"join\",\"options\":[{\"name\":\"channel\",\"type\":7,"
			"\"value\":\"301\"}]}}",
			&cmd),
		  0);
	CHECK_INT(cmd.kind, COMMAND_JOIN);
	CHECK_INT(cmd.guild, 100);
	CHECK_INT(cmd.user, 501);
	CHECK_INT(cmd.channel, 301);
	CHECK_INT(parse("{\"type\":2,\"guild_id\":\"100\",\"member\":{\"user\":{\"id\":\"501\"}},"
			"\"data\":{\"name\":\"status\"}}",
			&cmd),
		  0);
	CHECK_INT(cmd.kind, COMMAND_STATUS);
	CHECK_INT(cmd.channel, 0);
}

TEST(commands_of_others_and_nonsense_are_not_ours)
{
	struct command cmd;

	CHECK_INT(parse("{\"type\":2,\"guild_id\":\"1\",\"member\":{\"user\":{\"id\":\"5\"}},"
			"\"data\":{\"name\":\"dance\"}}",
			&cmd),
		  ENOENT);
	CHECK_INT(parse("{\"type\":3,\"data\":{\"custom_id\":\"x\"}}", &cmd), ENOENT);
	CHECK_INT(parse("{\"type\":2,\"data\":{\"name\":\"join\"}}", &cmd), EBADMSG);
	CHECK_INT(parse("{\"type\":2,\"guild_id\":7,\"member\":[],\"data\":{\"name\":\"join\"}}",
			&cmd),
		  EBADMSG);
	CHECK_INT(parse("[]", &cmd), ENOENT);
	CHECK_INT(parse("{}", &cmd), ENOENT);
}

TEST(commands_registration_is_within_the_documented_limits)
{
	json_t *body = commands_body(), *cmd;
	size_t i;

	CHECK_INT(json_array_size(body), 3);
	json_array_foreach(body, i, cmd)
	{
		const char *name = json_string_value(json_object_get(cmd, "name"));
		const char *text = json_string_value(json_object_get(cmd, "description"));

		CHECK(name && strlen(name) >= 1 && strlen(name) <= 32);
		CHECK(text && strlen(text) >= 1 && strlen(text) <= 100);
	}
	json_decref(body);
}
