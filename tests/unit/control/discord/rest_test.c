#include "control/discord/rest.h"

#include "control/discord/commands.h"
#include "control/discord/gateway.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/ws.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

struct heard {
	unsigned answers;
	int err;
};

static void on_answer(int err, int status, const json_t *body, void *arg)
{
	struct heard *h = arg;

	(void)status;
	(void)body;
	h->answers++;
	h->err = err;
}

static void on_event(const char *name, const json_t *d, void *arg)
{
	(void)name;
	(void)d;
	(void)arg;
}

static void on_state(enum gateway_state s, unsigned code, const char *text, void *arg)
{
	(void)s;
	(void)code;
	(void)text;
	(void)arg;
}

static void on_session(void *arg)
{
	(void)arg;
}

static void on_command(struct command *cmd, void *arg)
{
	(void)cmd;
	(void)arg;
}

struct parts {
	struct env *env;
	struct http *http;
	struct rest *rest;
	struct commands *commands;
};

static int parts_alloc(struct parts *p)
{
	struct env_conf conf = {.loop = true};
	int err;

	memset(p, 0, sizeof *p);
	err = env_alloc(&p->env, &conf);
	if (!err)
		err = http_alloc(&p->http, p->env, NULL, "DiscordBot (x, 0)");
	if (!err)
		err = rest_alloc(&p->rest, p->env, p->http, "http://127.0.0.1:9/api", "token");
	if (!err)
		err = commands_alloc(&p->commands, p->env, p->rest, on_command, NULL, NULL);
	return err;
}

static void parts_free(struct parts *p)
{
	rest_free(p->rest);
	commands_free(p->commands);
	http_free(p->http);
	env_free(p->env);
}

static const struct rest_call get = {.method = "GET", .route = "/x", .path = "/x"};

TEST_OOM(rest_allocates)
{
	struct heard h = {0};
	struct parts p;
	int err = parts_alloc(&p);

	CHECK_OOM(err, parts_free(&p));
	err = rest_request(p.rest, &get, on_answer, &h);
	CHECK_OOM(err, parts_free(&p));
	parts_free(&p);
	CHECK_INT(h.answers, 1);
	CHECK_INT(h.err, ECANCELED);
}

TEST(rest_answers_each_call_once_also_at_the_end)
{
	struct heard h = {0};
	struct rest_call spare = get;
	struct parts p;

	spare.spare = true;
	CHECK_INT(parts_alloc(&p), 0);
	/* What nobody misses leaves four fifths of the queue to the rest. */
	for (int i = 0; i < 200; i++)
		CHECK_INT(rest_request(p.rest, &spare, on_answer, &h), 0);
	CHECK_INT(rest_request(p.rest, &spare, on_answer, &h), ENOBUFS);
	for (int i = 200; i < 1000; i++)
		CHECK_INT(rest_request(p.rest, &get, on_answer, &h), 0);
	CHECK_INT(rest_request(p.rest, &get, on_answer, &h), ENOBUFS);
	CHECK_INT(h.answers, 0);
	parts_free(&p);
	CHECK_INT(h.answers, 1000);
}

/* Answers with this status. */
static void answer_status(struct fake_http *f, struct evhttp_request *req)
{
	const int *status = f->arg;
	const char *body = *status == 429 ? "{\"retry_after\":60}" : "{}";

	fake_http_answer(req, *status, "application/json", body, strlen(body));
}

static void stop(void *arg)
{
	env_stop(arg);
}

/* Nobody knows whether a server that failed has done it; after a limit nothing was done. */
TEST(a_call_that_discord_may_have_is_not_taken_back)
{
	struct rest_call post = {.method = "POST", .route = "/x", .path = "/x", .idempotent = true};
	static const int statuses[] = {200, 503, 429};

	for (unsigned i = 0; i < 3; i++) {
		struct fake_http fake;
		struct rest *rest = NULL;
		struct heard h = {0};
		int status = statuses[i];
		struct tmr *t = NULL;

		CHECK(fake_http_begin(&fake, answer_status, &status));
		CHECK_INT(rest_alloc(&rest, fake.env, fake.http, fake.base, "token"), 0);
		CHECK_INT(tmr_alloc(&t, fake.env, stop, fake.env), 0);
		CHECK_INT(rest_request(rest, &post, on_answer, &h), 0);
		if (i == 0)
			CHECK(rest_withdraw(rest, on_answer, &h));
		tmr_start(t, 200 * NS_PER_MS);
		env_run(fake.env);
		CHECK_INT(fake.requests, i != 0);
		CHECK_INT(h.answers, 0);
		CHECK_INT(rest_withdraw(rest, on_answer, &h), i == 2);
		tmr_free(t);
		rest_free(rest);
		fake_http_end(&fake);
	}
}

TEST(commands_that_wait_end_with_their_owner)
{
	json_t *d =
		json_loads("{\"id\":\"7\",\"application_id\":\"9\",\"type\":2,\"token\":\"abc\","
			   "\"guild_id\":\"100\",\"member\":{\"user\":{\"id\":\"501\"}},"
			   "\"data\":{\"name\":\"status\"}}",
			   0, NULL);
	struct parts p;

	CHECK_INT(parts_alloc(&p), 0);
	commands_interaction(p.commands, d, 1000);
	json_object_set_new(d, "token", json_string("../../x")); /* never goes into a path */
	commands_interaction(p.commands, d, 1000);
	json_decref(d);
	parts_free(&p);
}

static json_t *interaction(const char *id, const char *guild)
{
	return json_pack(
		"{s:s,s:s,s:i,s:s,s:s,s:s,s:{s:{s:s,s:s},s:[s],s:s},s:{s:s,s:[{s:s,s:s}]}}", "id",
		id, "application_id", "9", "type", 2, "token", "abc", "guild_id", guild,
		"channel_id", "301", "member", "user", "id", "501", "username", "alice", "roles",
		"77", "nick", "Al", "data", "name", "join", "options", "name", "channel", "value",
		"302");
}

/* The next control gets what it needs to carry a command out, and no more. */
TEST(commands_that_wait_are_handed_to_the_next_control)
{
	json_t *d = interaction("7", "100"), *e = interaction("8", "200"), *list, *again;
	const uint64_t at = 1700000000000;
	struct parts p;
	char *text;

	CHECK_INT(parts_alloc(&p), 0);
	commands_interaction(p.commands, d, at);
	commands_interaction(p.commands, e, at + 60000);
	list = commands_waiting(p.commands);
	CHECK_INT(json_array_size(list), 2);
	text = json_dumps(list, JSON_COMPACT);
	CHECK(strstr(text, "\"abc\"") && strstr(text, "\"77\"") && strstr(text, "\"302\""));
	CHECK(!strstr(text, "alice") && !strstr(text, "Al\""));
	free(text);
	parts_free(&p);

	CHECK_INT(parts_alloc(&p), 0);
	commands_inherit(p.commands, list, at + COMMAND_ANSWER_MS);
	again = commands_waiting(p.commands);
	CHECK_INT(json_array_size(again), 1); /* the other one is too old */
	json_decref(again);
	commands_resume(p.commands, 100); /* another server */
	commands_resume(p.commands, 200);
	again = commands_waiting(p.commands);
	CHECK_INT(json_array_size(again), 1);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(again, 0), "at_ms")),
		  at + 60000);
	json_decref(again);
	commands_resume(p.commands, 0); /* once */
	again = commands_waiting(p.commands);
	CHECK_INT(json_array_size(again), 1);
	json_decref(again);
	parts_free(&p);
	CHECK_INT(parts_alloc(&p), 0);
	commands_inherit(p.commands, list, at - 1); /* the clock was set back */
	commands_inherit(p.commands, NULL, at);
	again = commands_waiting(p.commands);
	CHECK_INT(json_array_size(again), 0);
	json_decref(again);
	parts_free(&p);
	json_decref(list);
	json_decref(d);
	json_decref(e);
}

static void check_order(struct commands *c)
{
	json_t *list = commands_waiting(c);

	CHECK_INT(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++)
		CHECK_STR(json_string_value(json_object_get(json_array_get(list, i), "id")),
			  i ? "8" : "7");
	json_decref(list);
}

/* /leave and then /join leave the bot in the channel, whichever control carries them out. */
TEST(commands_that_wait_keep_their_order)
{
	json_t *d = interaction("7", "100"), *e = interaction("8", "100"), *list;
	struct parts p;

	CHECK_INT(parts_alloc(&p), 0);
	commands_interaction(p.commands, d, 1700000000000);
	commands_interaction(p.commands, e, 1700000000001);
	list = commands_waiting(p.commands);
	check_order(p.commands);
	parts_free(&p);
	CHECK_INT(parts_alloc(&p), 0);
	commands_inherit(p.commands, list, 1700000000001);
	commands_resume(p.commands, 100);
	check_order(p.commands);
	parts_free(&p);
	json_decref(list);
	json_decref(d);
	json_decref(e);
}

TEST_OOM(gateway_allocates)
{
	struct env_conf conf = {.loop = true};
	struct gateway *g = NULL;
	struct ws_ctx *ws = NULL;
	struct env *env = NULL;
	int err = env_alloc(&env, &conf);

	CHECK_OOM(err, (void)0);
	err = ws_ctx_alloc(&ws, env, NULL);
	CHECK_OOM(err, env_free(env));
	err = gateway_alloc(&g, &(struct gateway_conf){.env = env,
						       .ws = ws,
						       .token = "t",
						       .intents = 1,
						       .eventh = on_event,
						       .stateh = on_state,
						       .sessionh = on_session,
						       .findh = on_session});
	gateway_free(g);
	ws_ctx_free(ws);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
