/* The purpose followup: its providers go on with an answer once results of its tools are there. */
#include "control/engine/roles.h"

#include "control/settings/settings.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	struct settings *settings;
	struct roles *roles;
	char path[8][128]; /* of the requests */
	unsigned requests;
	unsigned done, others; /* events of use REPLY, and of any other */
} fx;

static void note(const struct roles_event *ev, void *arg)
{
	(void)arg;
	if (ev->engine->type != ENGINE_DONE && ev->engine->type != ENGINE_FAILED)
		return;
	if (ev->use == ENGINE_USE_REPLY && ev->engine->type == ENGINE_DONE)
		fx.done++;
	else
		fx.others++;
	env_stop(fx.fake.env);
}

static void answer(struct fake_http *f, struct evhttp_request *req)
{
	static const char words[] =
		"data: "
		"{\"choices\":[{\"delta\":{\"content\":\"Ten.\"},\"finish_reason\":\"stop\"}]}\n\n";

	snprintf(fx.path[fx.requests++ % 8], sizeof fx.path[0], "%s", f->path);
	fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
}

static bool begin(const char *purposes)
{
	char records[400];

	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, answer, NULL) || settings_alloc(&fx.settings))
		return false;
	snprintf(records, sizeof records,
		 "[{\"name\":\"quick\",\"dialect\":\"chat\",\"url\":\"%s/quick\",\"model\":\"m\"},"
		 "{\"name\":\"strong\",\"dialect\":\"chat\",\"url\":\"%s/strong\",\"model\":\"m\"},"
		 "{\"name\":\"other\",\"dialect\":\"chat\",\"url\":\"%s/other\",\"model\":\"m\"}]",
		 fx.fake.base, fx.fake.base, fx.fake.base);
	return !settings_set(fx.settings, "reply_path", "brain") &&
	       !settings_set(fx.settings, "providers", records) &&
	       !settings_set(fx.settings, "roles", "{\"text\":[\"other\"]}") &&
	       !settings_set(fx.settings, "purposes", purposes) &&
	       !roles_alloc(&fx.roles, &(struct roles_conf){.env = fx.fake.env,
							    .http = fx.fake.http,
							    .settings = fx.settings,
							    .h = note});
}

static void end(void)
{
	roles_free(fx.roles);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}

static void run(void)
{
	unsigned before = fx.done + fx.others;

	do
		env_run(fx.fake.env);
	while (fx.done + fx.others == before && !fx.fake.timed_out);
	CHECK(!fx.fake.timed_out);
}

static void ask(void)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "when"};

	roles_ask(fx.roles, ENGINE_USE_REPLY, 0,
		  &(struct engine_ask){
			  .turn = 7, .instructions = "You are.", .messages = &m, .n = 1});
	run();
}

static void go_on(void)
{
	const struct engine_message m[] = {
		{.role = ENGINE_CALL, .speaker = "", .call = "c1", .tool = "time", .text = "{}"},
		{.role = ENGINE_RESULT, .speaker = "", .call = "c1", .tool = "time", .text = "10"}};

	roles_go_on(fx.roles, ENGINE_USE_REPLY, 7, m, 2);
}

static bool was_asked(unsigned request, const char *provider)
{
	return request < fx.requests && strstr(fx.path[request], provider) != NULL;
}

TEST(an_answer_goes_on_with_the_providers_of_followup)
{
	CHECK(begin("{\"voice_reply\":[\"quick\"],\"followup\":[\"strong\"]}"));
	ask();
	CHECK(was_asked(0, "quick"));
	go_on();
	run();
	CHECK(was_asked(1, "strong"));
	CHECK(strstr((char *)fx.fake.body, "\"role\":\"tool\""));
	/* More tools, and once more without any. */
	go_on();
	run();
	CHECK(was_asked(2, "strong"));
	roles_ask_again(fx.roles, ENGINE_USE_REPLY, 7);
	run();
	CHECK(was_asked(3, "strong"));
	/* It is told, and can be cancelled, as the answer that it is. */
	CHECK_INT(fx.done, 4);
	CHECK_INT(fx.others, 0);
	go_on();
	roles_cancel(fx.roles, ENGINE_USE_REPLY, 7);
	ask();
	CHECK_INT(fx.done, 5);
	CHECK(was_asked(fx.requests - 1, "quick"));
	end();
}

TEST(without_providers_of_followup_the_same_one_goes_on)
{
	CHECK(begin("{\"voice_reply\":[\"quick\"]}"));
	CHECK_STR(settings_purpose(fx.settings, PURPOSE_FOLLOWUP, 0)->name, "quick");
	ask();
	go_on();
	run();
	CHECK(was_asked(0, "quick"));
	CHECK(was_asked(1, "quick"));
	CHECK_INT(fx.done, 2);
	end();
}
