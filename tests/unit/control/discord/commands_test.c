#include "control/discord/commands.h"

#include "../fake_http.h"
#include "control/discord/rest.h"
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

static struct replay {
	struct fake_http fake;
	unsigned flags, want;
	int original; /* status of the message */
	char order[16];
} fx;

static void serve_discord(struct fake_http *f, struct evhttp_request *req)
{
	static const char twice[] = "{\"code\":40060,\"message\":\"acknowledged\"}";
	char message[64];

	if (strstr(f->path, "/7/")) {
		/* The control before us deferred it. */
		fake_http_answer(req, 400, "application/json", twice, sizeof twice - 1);
	} else if (strstr(f->path, "/8/")) {
		fake_http_answer(req, 204, "text/plain", "", 0);
	} else {
		snprintf(message, sizeof message, "{\"id\":\"1\",\"flags\":%u}", fx.flags);
		fake_http_answer(req, fx.original, "application/json", message, strlen(message));
	}
}

static void on_carried(struct command *cmd, void *arg)
{
	size_t n = strlen(fx.order);

	(void)arg;
	fx.order[n] = cmd->kind == COMMAND_LEAVE ? 'l' : 'j';
	if (n + 1 == fx.want)
		env_stop(fx.fake.env);
}

static json_t *command(const char *id, const char *name)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:{s:{s:s}},s:{s:s}}", "id", id,
			 "application_id", "9", "type", 2, "token", "abc", "guild_id", "100",
			 "channel_id", "301", "member", "user", "id", "501", "data", "name", name);
}

/* A /leave that was deferred before, whose message has these flags, and a /join after it: checks
 * what is carried out, in order. */
static void check_replay(int status, unsigned flags, const char *order)
{
	json_t *leave = command("7", "leave"), *enter = command("8", "join");
	struct commands *commands = NULL;
	struct rest *rest = NULL;

	memset(&fx, 0, sizeof fx);
	CHECK(fake_http_begin(&fx.fake, serve_discord, NULL));
	CHECK_INT(rest_alloc(&rest, fx.fake.env, fx.fake.http, fx.fake.base, "token"), 0);
	CHECK_INT(commands_alloc(&commands, rest, on_carried, NULL, NULL), 0);
	fx.original = status;
	fx.flags = flags;
	fx.want = (unsigned)strlen(order);
	commands_interaction(commands, leave, 1000);
	commands_interaction(commands, enter, 1000);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	rest_free(rest);
	commands_free(commands);
	fake_http_end(&fx.fake);
	json_decref(leave);
	json_decref(enter);
	CHECK_STR(fx.order, order);
}

TEST(commands_that_have_their_answer_are_not_carried_out_again)
{
	check_replay(200, 0, "j");
	check_replay(200, 64, "j");   /* ephemeral */
	check_replay(200, 128, "lj"); /* it still says that the bot thinks */
	check_replay(404, 0, "lj");   /* nobody can tell */
}
