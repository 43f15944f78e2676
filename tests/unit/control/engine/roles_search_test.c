/* The search of a provider: only asks for answers offer it, and what it reports is told. */
#include "control/engine/roles.h"

#include "control/settings/settings.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	struct settings *settings;
	struct roles *roles;
	char events[400];
} fx;

static void note(const struct roles_event *ev, void *arg)
{
	const struct engine_event *e = ev->engine;
	const char *name = e->type == ENGINE_SEARCH_BEGAN ? "begins"
			   : e->type == ENGINE_SEARCHED	  ? "searched"
			   : e->type == ENGINE_SOURCE	  ? "source"
			   : e->type == ENGINE_DONE	  ? "done"
							  : NULL;
	size_t at = strlen(fx.events);

	(void)arg;
	if (name)
		snprintf(fx.events + at, sizeof fx.events - at, "%u %s %.*s%s%s\n", ev->turn, name,
			 (int)e->data.n, e->data.n ? (const char *)e->data.p : "",
			 e->title ? " " : "", e->title ? e->title : "");
	if (e->type == ENGINE_DONE || e->type == ENGINE_FAILED)
		env_stop(fx.fake.env);
}

#define EVENT(json) "data: " json "\n\n"

static void answer(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] = EVENT(
		"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"web_search_call\"}}")
		EVENT("{\"type\":\"response.output_item.done\",\"item\":{\"type\":"
		      "\"web_search_call\",\"action\":{\"query\":\"owls\"}}}")
			EVENT("{\"type\":\"response.output_text.delta\",\"delta\":\"Hoot.\"}")
				EVENT("{\"type\":\"response.output_text.annotation.added\","
				      "\"annotation\":{\"type\":\"url_citation\","
				      "\"url\":\"https://owl.example\",\"title\":\"Owls\"}}")
					EVENT("{\"type\":\"response.completed\",\"response\":{"
					      "\"status\":\"completed\"}}");

	(void)f;
	fake_http_answer(req, 200, "text/event-stream", all, sizeof all - 1);
}

static bool begin(void)
{
	char record[300];

	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, answer, NULL) || settings_alloc(&fx.settings))
		return false;
	snprintf(record, sizeof record,
		 "[{\"name\":\"own\",\"dialect\":\"responses\",\"url\":\"%s\",\"model\":\"m\"}]",
		 fx.fake.base);
	return !settings_set(fx.settings, "reply_path", "brain") &&
	       !settings_set(fx.settings, "providers", record) &&
	       !settings_set(fx.settings, "roles", "{\"text\":[\"own\"]}") &&
	       !roles_alloc(&fx.roles, &(struct roles_conf){.env = fx.fake.env,
							    .http = fx.fake.http,
							    .settings = fx.settings,
							    .h = note});
}

static bool is_offered(enum engine_use use)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "owls"};

	roles_ask(fx.roles, use, 0,
		  &(struct engine_ask){
			  .turn = 7, .instructions = "You are.", .messages = &m, .n = 1});
	env_run(fx.fake.env);
	return !fx.fake.timed_out &&
	       strstr((char *)fx.fake.body, "{\"type\":\"web_search\"}") != NULL;
}

TEST(only_asks_for_answers_offer_the_search_of_a_provider)
{
	const struct engine_tool none = {0};

	CHECK(begin());
	roles_tools(fx.roles, &none, 0);
	CHECK(!is_offered(ENGINE_USE_REPLY));
	roles_search(fx.roles, true);
	fx.events[0] = '\0';
	CHECK(is_offered(ENGINE_USE_REPLY));
	CHECK_STR(fx.events, "7 begins \n7 searched owls\n7 source https://owl.example Owls\n"
			     "7 done \n");
	CHECK(!is_offered(ENGINE_USE_WORKER));
	CHECK(!is_offered(ENGINE_USE_SUMMARY));
	CHECK(!fx.fake.timed_out);
	roles_free(fx.roles);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}
