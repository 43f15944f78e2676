/* Exact lines of a voice that reads out in a session (statement 10): two voices, the first of which
 * has a session. */
#include "tests/test.h"

#include "control/engine/roles.h"
#include "control/settings/settings.h"
#include "ipc/http.h"
#include "tests/unit/control/engine/fake_realtime.h"

static struct lines {
	struct fake fake;
	struct settings *settings;
	struct http *http;
	struct roles *roles;
	char events[512], said[512]; /* told by the roles; spoken by the session */
	unsigned asked;
	const char *fails; /* the line that fails */
} lx;

static void take_event(const struct roles_event *ev, void *arg)
{
	size_t at = strlen(lx.events);
	const char *name = ev->engine->type == ENGINE_DONE	 ? "done"
			   : ev->engine->type == ENGINE_FAILED	 ? "failed"
			   : ev->engine->type == ENGINE_FAILOVER ? "failover"
								 : NULL;

	(void)arg;
	if (!name)
		return;
	snprintf(lx.events + at, sizeof lx.events - at, "%s:%u:%s ", name, ev->turn,
		 ev->provider ? ev->provider->name : "");
	if (ev->engine->type != ENGINE_FAILOVER)
		env_stop(lx.fake.env);
}

static void take_message(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const json_t *item = json_object_get(root, "item");
	const char *kind = json_string_value(json_object_get(item, "type"));
	const char *text = json_string_value(
		json_object_get(json_array_get(json_object_get(item, "content"), 0), "text"));
	size_t at = strlen(lx.said);
	char response[16];

	if (strcmp(type, "conversation.item.create") != 0)
		return;
	snprintf(lx.said + at, sizeof lx.said - at, "%s:%s ", kind, text);
	snprintf(response, sizeof response, "r%u", ++lx.asked);
	fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"%s\"}}",
		  response);
	if (strcmp(text, lx.fails) != 0)
		fake_audio(f, conn, response, "i", 3, 240);
	fake_send(f, conn,
		  "{\"type\":\"response.done\",\"response\":{\"id\":\"%s\",\"status\":\"%s\"}}",
		  response, strcmp(text, lx.fails) == 0 ? "failed" : "completed");
}

static void name_voice(const char *name, enum dialect dialect, const char *url)
{
	struct settings_records *r = &lx.settings->records;
	struct provider_record *p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];
	struct provider_names *list = &r->role[ROLE_SPEECH];

	snprintf(p->name, sizeof p->name, "%s", name);
	snprintf(p->url, sizeof p->url, "%s", url);
	p->dialect = dialect;
	snprintf(list->name[list->n++], RECORD_NAME_MAX, "%s", name);
}

static void begin(void)
{
	memset(&lx, 0, sizeof lx);
	CHECK(fake_begin(&lx.fake, take_message, NULL));
	CHECK_INT(settings_alloc(&lx.settings), 0);
	CHECK_INT(http_alloc(&lx.http, lx.fake.env, NULL, "x"), 0);
	CHECK_INT(settings_set(lx.settings, "reply_path", "brain"), 0);
	name_voice("session", DIALECT_XAI, lx.fake.url);
	name_voice("spare", DIALECT_OPENAI, "http://127.0.0.1:1");
	settings_resolve(lx.settings);
	CHECK_INT(roles_alloc(&lx.roles, &(struct roles_conf){.env = lx.fake.env,
							      .ws = lx.fake.ctx,
							      .http = lx.http,
							      .settings = lx.settings,
							      .h = take_event}),
		  0);
}

static void end(void)
{
	roles_free(lx.roles);
	http_free(lx.http);
	settings_free(lx.settings);
	fake_end(&lx.fake);
}

static void say(uint32_t turn, const char *text)
{
	const struct engine_message m = {.role = ENGINE_ASSISTANT, .speaker = "", .text = text};
	const struct engine_ask ask = {.turn = turn, .instructions = "", .messages = &m, .n = 1};

	roles_ask(lx.roles, ENGINE_USE_SPEECH, 0, &ask);
	env_run(lx.fake.env);
	CHECK(!lx.fake.timed_out);
}

TEST(rule_010_a_line_that_fails_in_a_session_is_said_by_no_other_voice)
{
	begin();
	lx.fails = "two";
	say(1, "one");
	say(2, "two");
	say(3, "three");
	/* Verbatim, in order, and without a model's answer. */
	CHECK_STR(lx.said, "force_message:one force_message:two force_message:three ");
	CHECK(!strstr(lx.fake.types, "response.create"));
	CHECK_STR(lx.events, "done:1:session failed:2:session done:3:session ");
	end();
}
