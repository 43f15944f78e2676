/* Which providers are sent images, and what the others are told. */
#include "control/engine/roles.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/picture.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct {
	struct fake_http fake;
	struct settings *settings;
	struct roles *roles;
	char said[256];
	unsigned fails;
	bool over;
} fx;

static void on_event(const struct roles_event *ev, void *arg)
{
	(void)arg;
	if (ev->engine->type == ENGINE_WORDS)
		snprintf(fx.said, sizeof fx.said, "%s %.*s", role_name(roles_role(ev->use)),
			 (int)ev->engine->data.n, (const char *)ev->engine->data.p);
	if (ev->engine->type == ENGINE_DONE || ev->engine->type == ENGINE_FAILED) {
		fx.over = true;
		env_stop(fx.fake.env);
	}
}

static void server(struct fake_http *f, struct evhttp_request *req)
{
	static const char words[] =
		"data: {\"choices\":[{\"delta\":{\"content\":\"A cat.\"},\"finish_reason\":"
		"\"stop\"}]}\n\ndata: [DONE]\n\n";

	(void)f;
	if (fx.fails && fx.fails--)
		fake_http_answer(req, 503, "application/json", "{}", 2);
	else
		fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
}

/* Two providers of text, of which the second is sent no images. */
static void begin(uint32_t first, uint32_t second)
{
	const uint32_t images[] = {first, second};
	struct settings_records *r;

	memset(&fx, 0, sizeof fx);
	CHECK(fake_http_begin(&fx.fake, server, NULL));
	CHECK_INT(settings_alloc(&fx.settings), 0);
	r = &fx.settings->records;
	for (unsigned i = 0; i < 2; i++) {
		struct provider_record *p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];

		*p = (struct provider_record){.dialect = DIALECT_CHAT, .images = images[i]};
		snprintf(p->name, sizeof p->name, "p%u", i);
		snprintf(p->url, sizeof p->url, "%s", fx.fake.base);
		snprintf(r->role[ROLE_TEXT].name[i], RECORD_NAME_MAX, "p%u", i);
		r->role[ROLE_TEXT].n++;
	}
	settings_resolve(fx.settings);
	CHECK_INT(roles_alloc(&fx.roles, &(struct roles_conf){.env = fx.fake.env,
							      .http = fx.fake.http,
							      .settings = fx.settings,
							      .idle = true,
							      .h = on_event}),
		  0);
}

static void end(void)
{
	roles_free(fx.roles);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}

/* n: messages before the question. */
static void ask(enum engine_use use, size_t n)
{
	const struct engine_image image = {"image/png", {picture_png, sizeof picture_png}};
	struct engine_message m[ENGINE_MESSAGES_MAX];

	for (size_t i = 0; i < n; i++)
		m[i] = (struct engine_message){.role = ENGINE_USER, .speaker = "", .text = "hm"};
	m[n] = (struct engine_message){.role = ENGINE_USER,
				       .speaker = "Ann",
				       .text = "look",
				       .images = &image,
				       .n_images = 1};
	fx.over = false;
	roles_ask(fx.roles, use, 0,
		  &(struct engine_ask){.turn = 1, .instructions = "", .messages = m, .n = n + 1});
	while (!fx.over && !fx.fake.timed_out)
		env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
}

static bool asked(const char *what)
{
	return strstr((const char *)fx.fake.body, what) != NULL;
}

TEST(a_provider_is_sent_images_unless_its_record_says_otherwise)
{
	begin(PROVIDER_IMAGES_AUTO, PROVIDER_IMAGES_OFF);
	CHECK(roles_sees(fx.roles, ENGINE_USE_TEXT));
	ask(ENGINE_USE_TEXT, 0);
	CHECK(asked("data:image/png;base64,") && !asked("cannot be shown"));
	end();
	begin(PROVIDER_IMAGES_OFF, PROVIDER_IMAGES_OFF);
	CHECK(!roles_sees(fx.roles, ENGINE_USE_TEXT));
	ask(ENGINE_USE_TEXT, 0);
	CHECK(!asked("data:image") && asked("cannot be shown") && asked("look"));
	end();
}

/* /share, its page and --check say so. */
TEST(a_screen_is_seen_by_who_answers_or_by_the_role_see)
{
	struct settings *set;

	begin(PROVIDER_IMAGES_OFF, PROVIDER_IMAGES_AUTO);
	set = fx.settings;
	set->reply_path = SETTINGS_REPLY_BRAIN;
	set->screen_mode = SETTINGS_SCREEN_MULTIMODAL;
	CHECK(roles_see_screens(set)); /* see is left open, and the second one serves it */
	set->records.provider[1].images = PROVIDER_IMAGES_OFF;
	settings_resolve(set);
	CHECK(!roles_see_screens(set));
	set->records.provider[0].images = PROVIDER_IMAGES_AUTO;
	snprintf(set->records.role[ROLE_SEE].name[0], RECORD_NAME_MAX, "p1");
	set->records.role[ROLE_SEE].n = 1;
	settings_resolve(set);
	CHECK(roles_see_screens(set));
	set->screen_mode = SETTINGS_SCREEN_TOOL;
	CHECK(!roles_see_screens(set));
	end();
	CHECK_INT(settings_alloc(&set), 0);
	settings_resolve(set);
	CHECK(settings_needs_embedded(set));
	CHECK(!roles_see_screens(set));
	settings_free(set);
}

TEST(a_provider_that_takes_over_without_images_is_told_that_there_are_some)
{
	begin(PROVIDER_IMAGES_AUTO, PROVIDER_IMAGES_OFF);
	fx.fails = 1;
	ask(ENGINE_USE_TEXT, 0);
	CHECK_STR(fx.said, "text A cat.");
	CHECK(!asked("data:image") && asked("cannot be shown"));
	CHECK(!roles_sees(fx.roles, ENGINE_USE_TEXT));
	end();
}

TEST(the_longest_ask_has_room_for_that)
{
	begin(PROVIDER_IMAGES_OFF, PROVIDER_IMAGES_OFF);
	ask(ENGINE_USE_TEXT, ENGINE_MESSAGES_MAX - 1);
	CHECK_STR(fx.said, "text A cat.");
	CHECK(asked("cannot be shown") && asked("look"));
	end();
}

TEST(see_left_open_is_served_by_the_text_models_that_are_sent_images)
{
	begin(PROVIDER_IMAGES_OFF, PROVIDER_IMAGES_AUTO);
	CHECK(roles_sees(fx.roles, ENGINE_USE_SEE) && !roles_sees(fx.roles, ENGINE_USE_TEXT));
	CHECK(!settings_uses(fx.settings, ROLE_SEE));
	ask(ENGINE_USE_SEE, 0);
	CHECK_STR(fx.said, "see A cat.");
	CHECK(asked("data:image/png"));
	end();
	begin(PROVIDER_IMAGES_OFF, PROVIDER_IMAGES_OFF);
	CHECK(!roles_sees(fx.roles, ENGINE_USE_SEE));
	end();
}
