/* Tools of servers in the registries of rooms. */
#include "control/mcp/servers.h"

#include "control/mcp/tool_name.h"
#include "control/settings/settings.h"
#include "control/tools/envelope.h"
#include "control/tools/registry.h"
#include "tests/test.h"
#include "tests/unit/control/mcp/toy_http.h"

enum { ROOMS = 2 };

static struct rig {
	struct fake_http f;
	struct settings *settings;
	struct mcp_servers *servers;
	struct room {
		struct tools_registry *registry;
		struct mcp_seat *seat;
		unsigned changes, outputs;
		uint32_t id;
		bool ok;
		size_t n;
		char text[9000], doing[200];
	} room[ROOMS];
} rig;

static void on_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct room *r = arg;

	r->outputs++;
	r->id = id;
	r->ok = ok;
	r->n = text.n;
	snprintf(r->text, sizeof r->text, "%.*s", (int)text.n, (const char *)text.p);
	env_stop(rig.f.env);
}

static void on_progress(uint32_t id, const char *text, void *arg)
{
	struct room *r = arg;
	size_t n = strlen(r->doing);

	snprintf(r->doing + n, sizeof r->doing - n, "%u:%s ", id, text);
}

static void on_changed(void *arg)
{
	struct room *r = arg;

	r->changes++;
	env_stop(rig.f.env);
}

static bool name_server(const char *more)
{
	char list[400];

	snprintf(list, sizeof list,
		 "[{\"name\":\"far\",\"transport\":\"http\",\"url\":\"%s/mcp\"%s}]", rig.f.base,
		 more);
	return settings_set(rig.settings, "mcp_servers", list) == 0;
}

static bool begin(const char *more)
{
	memset(&rig, 0, sizeof rig);
	memset(&toy_http, 0, sizeof toy_http);
	if (!fake_http_begin(&rig.f, toy_http_serve, NULL) || settings_alloc(&rig.settings) ||
	    !name_server(more) ||
	    mcp_servers_alloc(&rig.servers, &(struct mcp_servers_conf){.env = rig.f.env,
								       .http = rig.f.http,
								       .settings = rig.settings,
								       .version = "1"}))
		return false;
	for (unsigned i = 0; i < ROOMS; i++) {
		struct room *r = &rig.room[i];
		const struct tool_host host = {
			.env = rig.f.env, .outputh = on_output, .progressh = on_progress, .arg = r};

		if (tools_registry_alloc(&r->registry) ||
		    mcp_seat_alloc(&r->seat, rig.servers,
				   &(struct tool_room){r->registry, host, on_changed}))
			return false;
	}
	while (!rig.room[ROOMS - 1].changes && !rig.f.timed_out)
		env_run(rig.f.env);
	return true;
}

static void end(void)
{
	for (unsigned i = 0; i < ROOMS; i++) {
		mcp_seat_free(rig.room[i].seat);
		tools_registry_free(rig.room[i].registry);
	}
	mcp_servers_free(rig.servers);
	settings_free(rig.settings);
	fake_http_end(&rig.f);
}

static int call(struct room *r, const char *name, uint32_t id)
{
	const struct tool *t = tools_registry_find(r->registry, name);

	return t ? t->shell->start(&(struct tool_start){.id = id, .tool = name, .arguments = "{}"},
				   t->arg)
		 : ENOENT;
}

static size_t servers_listed(void)
{
	json_t *status = mcp_servers_status(rig.servers);
	size_t n = json_array_size(json_object_get(status, "servers"));

	json_decref(status);
	return n;
}

TEST(tools_of_a_server_are_in_every_room_and_answer_the_one_that_called)
{
	const struct tool *t;

	CHECK(begin(""));
	t = tools_registry_find(rig.room[0].registry, "far__say");
	CHECK(t && t->row.effect == TOOL_EFFECT_OUTSIDE && t->row.taints && t->row.confirm &&
	      t->row.who == TOOL_WHO_EVERYONE);
	CHECK_STR(t->row.description, "The server far says about it: Says it.");
	CHECK(strstr(t->row.schema, "{\"description\":\"Nothing.\""));
	CHECK(tools_registry_find(rig.room[1].registry, "far__say"));
	CHECK_INT(call(&rig.room[1], "far__say", 7), 0);
	while (!rig.room[1].outputs && !rig.f.timed_out)
		env_run(rig.f.env);
	CHECK(rig.room[1].ok && rig.room[1].id == 7 && rig.room[0].outputs == 0);
	/* A stranger's text, in a fence with a random mark. */
	CHECK(strstr(rig.room[1].text, "<untrusted id=\"") == rig.room[1].text);
	CHECK(strstr(rig.room[1].text, "origin=\"MCP server far\">\nspoken\n</untrusted id="));
	end();
}

TEST(progress_of_a_server_reaches_the_room_that_called)
{
	CHECK(begin(""));
	toy_http.progresses = true;
	CHECK_INT(call(&rig.room[1], "far__say", 7), 0);
	while (!rig.room[1].outputs && !rig.f.timed_out)
		env_run(rig.f.env);
	CHECK_STR(rig.room[1].doing, "7:half of it 7:50 percent are done ");
	CHECK_STR(rig.room[0].doing, "");
	end();
}

TEST(errors_and_long_results_of_a_server_stay_in_their_fence)
{
	char first[200] = "";

	for (unsigned i = 0; i < 2; i++) {
		const struct room *r = &rig.room[0];
		size_t most;

		CHECK(begin(""));
		toy_http.speaks_long = true;
		toy_http.fails = i == 0;
		CHECK_INT(call(&rig.room[0], "far__say", 1), 0);
		while (!r->outputs && !rig.f.timed_out)
			env_run(rig.f.env);
		CHECK(r->ok == (i == 1));
		most = i ? tools_registry_find(r->registry, "far__say")->row.max_output
			 : TOOL_ERROR_MAX - 1;
		CHECK(r->n <= most && r->n > most / 2);
		CHECK(strncmp(r->text, "<untrusted id=\"", 15) == 0);
		CHECK(strncmp(r->text + r->n - 34, "</untrusted id=\"", 16) == 0);
		CHECK(strncmp(first, r->text, 30) != 0);
		snprintf(first, sizeof first, "%.40s", r->text);
		end();
	}
}

TEST(servers_run_only_while_tools_are_on)
{
	CHECK(begin(""));
	CHECK_INT(settings_set(rig.settings, "tools", "false"), 0);
	mcp_servers_update(rig.servers, rig.settings);
	CHECK(!tools_registry_find(rig.room[0].registry, "far__say"));
	CHECK_INT(servers_listed(), 0);
	CHECK_INT(settings_set(rig.settings, "tools", "true"), 0);
	mcp_servers_update(rig.servers, rig.settings);
	CHECK_INT(servers_listed(), 1);
	while (!tools_registry_find(rig.room[0].registry, "far__say") && !rig.f.timed_out)
		env_run(rig.f.env);
	CHECK(tools_registry_find(rig.room[0].registry, "far__say"));
	end();
}

TEST(a_cancelled_call_of_a_server_gives_no_output)
{
	const struct tool *t;
	json_t *status;

	CHECK(begin(",\"effects\":\"none\""));
	t = tools_registry_find(rig.room[0].registry, "far__say");
	CHECK(t && t->row.effect == TOOL_EFFECT_NONE && !t->row.confirm);
	CHECK_INT(call(&rig.room[0], "far__say", 1), 0);
	t->shell->cancel(1, t->arg);
	CHECK_INT(call(&rig.room[0], "far__say", 2), 0);
	while (!rig.room[0].outputs && !rig.f.timed_out)
		env_run(rig.f.env);
	CHECK(rig.room[0].outputs == 1 && rig.room[0].id == 2);
	status = mcp_servers_status(rig.servers);
	CHECK_INT(json_integer_value(json_object_get(
			  json_array_get(json_object_get(status, "servers"), 0), "calls")),
		  2);
	CHECK(json_is_string(
		json_object_get(json_array_get(json_object_get(status, "servers"), 0), "since")));
	json_decref(status);
	end();
}

static int changed_lists(void)
{
	json_t *status = mcp_servers_status(rig.servers);
	int n = (int)json_integer_value(json_object_get(
		json_array_get(json_object_get(status, "servers"), 0), "changedLists"));

	json_decref(status);
	return n;
}

/* Calls until the server has forgotten its session and given its list once more. */
static void lose_session(uint32_t id)
{
	unsigned before = toy_http.sessions;

	toy_http.forgets = true;
	CHECK_INT(call(&rig.room[0], "far__say", id), 0);
	while ((toy_http.sessions == before || !rig.room[0].outputs) && !rig.f.timed_out)
		env_run(rig.f.env);
	rig.room[0].outputs = 0;
}

TEST(a_list_that_differs_from_the_one_before_is_told_to_the_operator)
{
	CHECK(begin(""));
	lose_session(1);
	CHECK_INT(toy_http.sessions, 2);
	CHECK_INT(changed_lists(), 0);
	toy_http.redescribes = true;
	lose_session(2);
	CHECK_STR(tools_registry_find(rig.room[0].registry, "far__say")->row.description,
		  "The server far says about it: Says it to everybody.");
	CHECK_INT(changed_lists(), 1);
	end();
}

TEST(a_server_that_settings_name_no_more_takes_its_tools_along)
{
	const struct tool_shell *shell;
	void *arg;

	CHECK(begin(""));
	shell = tools_registry_find(rig.room[0].registry, "far__say")->shell;
	arg = tools_registry_find(rig.room[0].registry, "far__say")->arg;
	CHECK_INT(call(&rig.room[0], "far__say", 1), 0);
	mcp_servers_update(rig.servers, rig.settings); /* the same: it goes on */
	CHECK(tools_registry_find(rig.room[0].registry, "far__say"));
	CHECK_INT(settings_set(rig.settings, "mcp_servers", "[]"), 0);
	mcp_servers_update(rig.servers, rig.settings);
	CHECK(!tools_registry_find(rig.room[0].registry, "far__say"));
	CHECK(!tools_registry_find(rig.room[1].registry, "far__say"));
	shell->cancel(1, arg); /* the room may still cancel its call */
	CHECK_INT(rig.room[0].outputs, 0);
	end();
}

TEST(names_of_servers_tools_stay_apart)
{
	char a[65], b[65];

	tool_name_make(a, sizeof a, "notes", "read_file");
	CHECK_STR(a, "notes__read_file");
	tool_name_make(a, sizeof a, "notes", "read-file");
	tool_name_make(b, sizeof b, "notes", "read.file");
	CHECK(strncmp(a, "notes__read_file_", 17) == 0 && strcmp(a, b) != 0);
	tool_name_make(a, sizeof a, "7up", "x");
	CHECK(strncmp(a, "_7up__x_", 8) == 0);
	tool_name_make(a, sizeof a, "a_server_with_a_long_name",
		       "and_a_tool_whose_name_is_longer_than_what_models_take");
	CHECK_INT(strlen(a), TOOL_NAME_KEPT + 9);
}

/* A server takes no name that the settings mean for another one. */
TEST(tools_of_two_servers_never_share_a_name)
{
	char one[TOOLS_NAME_MAX], other[TOOLS_NAME_MAX];

	tool_name_make(one, sizeof one, "home", "door__open");
	tool_name_make(other, sizeof other, "home__door", "open");
	CHECK(strcmp(one, other) != 0);
	tool_name_make(one, sizeof one, "home", "_open");
	tool_name_make(other, sizeof other, "home_", "open");
	CHECK(strcmp(one, other) != 0);
	tool_name_make(one, sizeof one, "home", "open");
	CHECK_STR(one, "home__open");
}
