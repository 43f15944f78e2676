#include "control/discord/commands.h"

#include <event2/event.h>

#include "../fake_http.h"
#include "control/discord/rest.h"
#include "control/words/words.h"
#include "tests/test.h"

static int parse(const char *text, struct command *cmd)
{
	json_t *d = json_loads(text, 0, NULL);
	int err = command_parse(d, cmd);

	if (!err && cmd->member != json_object_get(d, "member"))
		err = -1;
	cmd->member = cmd->options = NULL; /* they were the interaction's */
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
	CHECK_INT(parse("{\"type\":2,\"guild_id\":\"100\",\"member\":{\"user\":{\"id\":\"501\"}},"
			"\"data\":{\"name\":\"status\"}}",
			&cmd),
		  0);
	CHECK_INT(cmd.kind, COMMAND_STATUS);
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

static struct replay {
	struct fake_http fake;
	unsigned refused;
	unsigned flags, want;
	int original;	    /* status of the message */
	bool stalls;	    /* Discord lets the first deferral wait */
	unsigned fails;	    /* so many replies, with a 500 */
	const char *locale; /* of the user's client; NULL: not told */
	struct evhttp_request *stalled;
	struct command *cmd; /* the last one that was carried out */
	char order[16], told[300], edited[300];
	bool bare;	     /* the last of them has no previews */
	bool replies;	     /* the handler answers before it returns */
	int type, privately; /* of the first answer of command 8 */
	char answer[300];
	struct commands *commands;
} fx;

static void note_content(char *buf, size_t size)
{
	json_t *body = json_loadb((const char *)fx.fake.body, fx.fake.n, 0, NULL);
	const char *text = json_string_value(json_object_get(body, "content"));

	snprintf(buf, size, "%s", text ? text : "");
	fx.bare = json_integer_value(json_object_get(body, "flags")) & 4;
	json_decref(body);
}

static void note_answer(void)
{
	json_t *body = json_loadb((const char *)fx.fake.body, fx.fake.n, 0, NULL);
	const json_t *data = json_object_get(body, "data");
	const char *text = json_string_value(json_object_get(data, "content"));

	fx.type = (int)json_integer_value(json_object_get(body, "type"));
	fx.privately = json_integer_value(json_object_get(data, "flags")) & 64;
	snprintf(fx.answer, sizeof fx.answer, "%s", text ? text : "");
	json_decref(body);
}

static void serve_discord(struct fake_http *f, struct evhttp_request *req)
{
	static const char twice[] = "{\"code\":40060,\"message\":\"acknowledged\"}";
	char message[64];

	if (strstr(f->path, "/7/") && fx.stalls) {
		fx.stalled = req;
	} else if (strstr(f->path, "/7/")) {
		/* The control before us deferred it. */
		fake_http_answer(req, 400, "application/json", twice, sizeof twice - 1);
	} else if (strstr(f->path, "/8/")) {
		note_answer();
		fake_http_answer(req, 204, "text/plain", "", 0);
	} else if (strcmp(f->method, "POST") == 0) {
		note_content(fx.told, sizeof fx.told);
		fake_http_answer(req, 200, "application/json", "{}", 2);
	} else if (strcmp(f->method, "PATCH") == 0 && fx.fails) {
		fx.fails--;
		fake_http_answer(req, 500, "text/plain", "", 0);
	} else if (strcmp(f->method, "PATCH") == 0) {
		note_content(fx.edited, sizeof fx.edited);
		fake_http_answer(req, 200, "application/json", "{}", 2);
	} else {
		snprintf(message, sizeof message, "{\"id\":\"1\",\"flags\":%u}", fx.flags);
		fake_http_answer(req, fx.original, "application/json", message, strlen(message));
	}
}

static void on_carried(struct command *cmd, void *arg)
{
	static const char letters[] = {[COMMAND_JOIN] = 'j',
				       [COMMAND_LEAVE] = 'l',
				       [COMMAND_STATUS] = 's',
				       [COMMAND_CONSENT] = 'c',
				       [COMMAND_PRIVACY] = 'p'};
	size_t n = strlen(fx.order);

	(void)arg;
	fx.cmd = cmd;
	fx.order[n] = letters[cmd->kind];
	if (fx.replies)
		command_reply(cmd, &(struct words){.text = "I am well.", .n = 10});
	if (n + 1 == fx.want)
		env_stop(fx.fake.env);
}

static json_t *command(const char *id, const char *name)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:s*,s:{s:{s:s}},s:{s:s}}", "id", id,
			 "application_id", "9", "type", 2, "token", "abc", "guild_id", "100",
			 "channel_id", "301", "locale", fx.locale, "member", "user", "id", "501",
			 "data", "name", name);
}

static struct rest *begin_replay(void)
{
	struct rest *rest = NULL;

	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, serve_discord, NULL) ||
	    rest_alloc(&rest, fx.fake.env, fx.fake.http, fx.fake.base, "token") ||
	    commands_alloc(&fx.commands, fx.fake.env, rest, on_carried, NULL, NULL))
		return NULL;
	return rest;
}

static void end_replay(struct rest *rest)
{
	rest_free(rest);
	commands_free(fx.commands);
	fake_http_end(&fx.fake);
}

/* The second command is used after the first one: checks what is carried out, in order. */
static void run_commands(const char *first, const char *second, const char *order)
{
	json_t *one = command("7", first), *two = command("8", second);

	fx.want = (unsigned)strlen(order);
	commands_interaction(fx.commands, one, 1000);
	commands_interaction(fx.commands, two, 1000);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.order, order);
	json_decref(one);
	json_decref(two);
}

/* A /leave that was deferred before, whose message has these flags, and a /join after it. */
static void check_replay(int status, unsigned flags, const char *order)
{
	struct rest *rest = begin_replay();

	CHECK(rest);
	fx.original = status;
	fx.flags = flags;
	run_commands("leave", "join", order);
	end_replay(rest);
}

TEST(commands_that_have_their_answer_are_not_carried_out_again)
{
	check_replay(200, 0, "j");
	check_replay(200, 64, "j");   /* ephemeral */
	check_replay(200, 128, "lj"); /* it still says that the bot thinks */
	check_replay(404, 0, "j");    /* nobody waits for its answer any more */
}

static unsigned count_waiting(void)
{
	json_t *list = commands_waiting(fx.commands);
	unsigned n = (unsigned)json_array_size(list);

	json_decref(list);
	return n;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	env_stop(fx.fake.env);
}

static void run_for(unsigned ms)
{
	struct timeval t = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};

	event_base_once(env_base(fx.fake.env), -1, EV_TIMEOUT, on_look, NULL, &t);
	env_run(fx.fake.env);
}

static void run_a_moment(void)
{
	run_for(5);
}

/* Runs until no command waits. */
static void run_to_the_end(void)
{
	while (count_waiting() && !fx.fake.timed_out)
		run_a_moment();
}

/* It may have been carried out: a second /leave would end the call that somebody asked for since.
 */
TEST(a_command_whose_answer_is_unknown_is_told_and_not_carried_out)
{
	struct rest *rest = begin_replay();

	CHECK(rest);
	fx.original = 403;
	run_commands("leave", "join", "j");
	command_reply(fx.cmd, &(struct words){.text = "joined", .n = 6});
	run_to_the_end();
	CHECK(strstr(fx.told, "/leave") && strstr(fx.told, "cannot tell"));
	CHECK_STR(fx.order, "j");
	end_replay(rest);
}

/* The first control carries the command out, and ends before Discord has its reply: the next one
 * sends that reply, and does nothing else. */
TEST(a_reply_that_discord_did_not_get_is_sent_by_the_next_control)
{
	json_t *leave = command("7", "leave"), *list;
	struct rest *rest = begin_replay();

	CHECK(rest);
	fx.original = 200;
	fx.flags = 128;
	fx.want = 1;
	commands_interaction(fx.commands, leave, 1000);
	env_run(fx.fake.env);
	CHECK_STR(fx.order, "l");
	command_reply(fx.cmd, &(struct words){.text = "I have left.", .n = 12});
	list = commands_waiting(fx.commands);
	CHECK_INT(json_array_size(list), 1);
	end_replay(rest);
	CHECK_STR(fx.edited, "");

	rest = begin_replay();
	CHECK(rest);
	fx.original = 200;
	fx.flags = 128;
	commands_inherit(fx.commands, list, 2000);
	commands_resume(fx.commands, 0);
	run_to_the_end();
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.edited, "I have left.");
	CHECK(fx.bare);
	CHECK_STR(fx.order, "");
	end_replay(rest);
	json_decref(list);
	json_decref(leave);
}

static void inherit_one(json_t *kept)
{
	json_t *list = json_pack("[O]", kept);

	commands_inherit(fx.commands, list, 2000);
	commands_resume(fx.commands, 0);
	run_to_the_end();
	CHECK(!fx.fake.timed_out);
	json_decref(list);
}

/* What the command did is known, so nobody is told that it is not, or that it was not done. */
TEST(a_kept_reply_is_sent_although_the_message_cannot_be_read)
{
	struct rest *rest = begin_replay();
	json_t *kept = command("7", "leave");

	CHECK(rest && kept);
	json_object_set_new(kept, "at_ms", json_integer(1000));
	json_object_set_new(kept, "reply", json_string("I left."));
	fx.original = 403;
	inherit_one(kept);
	CHECK_STR(fx.edited, "I left.");
	CHECK_STR(fx.told, "");
	CHECK_STR(fx.order, "");
	fx.edited[0] = '\0';
	fx.original = 200; /* Discord has it */
	inherit_one(kept);
	fx.original = 404; /* deleted */
	inherit_one(kept);
	CHECK_STR(fx.edited, "");
	end_replay(rest);
	json_decref(kept);
}

/* A /leave that a /join had to overtake does not end that call in the next control either. */
TEST(a_command_that_was_overtaken_stays_so_in_the_next_control)
{
	struct rest *rest = begin_replay();
	json_t *list;

	CHECK(rest);
	fx.stalls = true;
	run_commands("leave", "join", "j");
	list = commands_waiting(fx.commands);
	CHECK_INT(json_array_size(list), 2);
	end_replay(rest);

	rest = begin_replay();
	CHECK(rest);
	fx.original = 200;
	fx.flags = 128;
	inherit_one(json_array_get(list, 0));
	CHECK_STR(fx.order, "");
	CHECK(strstr(fx.edited, "/leave"));
	end_replay(rest);
	json_decref(list);
}

/* The next control speaks it, too. */
TEST(replies_are_in_the_language_of_the_users_client)
{
	struct rest *rest = begin_replay();
	json_t *list;

	CHECK(rest);
	fx.stalls = true;
	fx.locale = "de";
	run_commands("leave", "join", "j");
	CHECK_STR(fx.cmd->locale, "de");
	list = commands_waiting(fx.commands);
	end_replay(rest);

	rest = begin_replay();
	CHECK(rest);
	fx.original = 200;
	fx.flags = 128;
	inherit_one(json_array_get(list, 0));
	CHECK(strstr(fx.edited, "Bevor ich dieses /leave"));
	end_replay(rest);
	json_decref(list);
}

/* Only /join and /leave wait for each other, and not for long. */
TEST(a_deferral_that_takes_long_holds_up_no_other_command)
{
	struct rest *rest = begin_replay();

	CHECK(rest);
	fx.stalls = true;
	run_commands("leave", "status", "s");
	fake_http_answer(fx.stalled, 204, "text/plain", "", 0);
	fx.want = 2;
	env_run(fx.fake.env);
	CHECK_STR(fx.order, "sl");
	end_replay(rest);

	rest = begin_replay();
	CHECK(rest);
	fx.stalls = true;
	run_commands("leave", "join", "j");
	command_reply(fx.cmd, &(struct words){.text = "joined", .n = 6});
	while (count_waiting() > 1 && !fx.fake.timed_out)
		run_a_moment();
	CHECK_STR(fx.edited, "joined");
	fake_http_answer(fx.stalled, 204, "text/plain", "", 0);
	run_to_the_end();
	CHECK_STR(fx.order, "j"); /* the /leave comes too late */
	CHECK(strstr(fx.edited, "/leave"));
	end_replay(rest);
}

static void use(const char *id, const char *name, const char *guild)
{
	json_t *cmd = command(id, name);

	json_object_set_new(cmd, "guild_id", json_string(guild));
	commands_interaction(fx.commands, cmd, 1000);
	json_decref(cmd);
}

TEST(a_wait_in_one_server_does_not_lengthen_that_in_another)
{
	struct rest *rest = begin_replay();

	CHECK(rest);
	fx.stalls = true;
	fx.want = 1;
	use("7", "leave", "100");
	use("8", "join", "100");
	run_for(1500);
	CHECK_STR(fx.order, "");
	use("7", "leave", "200");
	use("8", "join", "200");
	env_run(fx.fake.env);
	CHECK_STR(fx.order, "j"); /* not that of the other server in the same step */
	CHECK_INT(fx.cmd->guild, 100);
	end_replay(rest);
}

/* More often than one call is repeated. */
TEST(a_reply_is_sent_again_when_discord_is_back)
{
	struct rest *rest = begin_replay();
	json_t *leave = command("8", "leave");

	CHECK(rest && leave);
	fx.fails = 4;
	fx.want = 1;
	commands_interaction(fx.commands, leave, env_wall_ms(fx.fake.env));
	env_run(fx.fake.env);
	command_reply(fx.cmd, &(struct words){.text = "I left.", .n = 7});
	run_to_the_end();
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.edited, "I left.");
	end_replay(rest);

	/* Discord takes no reply of a command that is too old. */
	rest = begin_replay();
	CHECK(rest);
	fx.fails = 4;
	fx.want = 1;
	commands_interaction(fx.commands, leave, 1000);
	env_run(fx.fake.env);
	command_reply(fx.cmd, &(struct words){.text = "I left.", .n = 7});
	run_to_the_end();
	CHECK_STR(fx.edited, "");
	CHECK_INT(fx.fails, 0);
	end_replay(rest);
	json_decref(leave);
}

static bool is_ready(void *arg)
{
	return arg == NULL;
}

/* One request, not two, and no "thinks" in between. */
TEST(what_is_known_is_answered_at_once)
{
	struct rest *rest = begin_replay();
	json_t *status = command("8", "status"), *join = command("8", "join"), *list;

	CHECK(rest);
	fx.replies = true;
	commands_answer_at_once(fx.commands, is_ready);
	commands_interaction(fx.commands, status, 1000);
	CHECK_STR(fx.order, "s");
	CHECK_INT(count_waiting(), 1);
	run_to_the_end();
	CHECK_INT(fx.type, 4);
	CHECK_INT(fx.privately, 64);
	CHECK_STR(fx.answer, "I am well.");
	CHECK_STR(fx.edited, "");
	/* What takes longer, or changes something, is deferred. */
	commands_interaction(fx.commands, join, 1000);
	run_to_the_end();
	CHECK_INT(fx.type, 5);
	CHECK_STR(fx.edited, "I am well.");
	/* So is what the control before us may have begun. */
	fx.type = 0;
	fx.original = 200;
	json_object_set_new(status, "at_ms", json_integer(1000));
	list = json_pack("[O]", status);
	commands_inherit(fx.commands, list, 2000);
	commands_resume(fx.commands, 0);
	run_to_the_end();
	CHECK_INT(fx.type, 5);
	CHECK_STR(fx.order, "sjs");
	end_replay(rest);
	json_decref(list);
	json_decref(status);
	json_decref(join);
}

static void count_refused(void *arg)
{
	(void)arg;
	fx.refused++;
}

/* "The application did not respond" would tell nobody that it is worth another try. */
TEST(who_comes_when_too_many_wait_is_told_so)
{
	struct rest *rest = begin_replay();
	json_t *first = command("7", "join"), *next = command("8", "join");

	CHECK(rest);
	fx.original = 200;
	for (unsigned i = 0; i < COMMANDS_WAITING_MAX; i++)
		commands_interaction(fx.commands, first, 1000);
	CHECK_INT(count_waiting(), COMMANDS_WAITING_MAX);
	commands_tell_refused(fx.commands, count_refused);
	commands_interaction(fx.commands, next, 1000);
	CHECK_INT(fx.refused, 1);
	CHECK_INT(count_waiting(), COMMANDS_WAITING_MAX);
	while (!fx.type && !fx.fake.timed_out)
		run_a_moment();
	CHECK_INT(fx.type, 4);
	CHECK_INT(fx.privately, 64);
	CHECK(strstr(fx.answer, "busy"));
	end_replay(rest);
	json_decref(first);
	json_decref(next);
}
