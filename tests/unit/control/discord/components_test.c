/* Buttons, selects and autocomplete: whose they are, until when, and how a press is answered. */
#include "control/discord/components.h"

#include <errno.h>

#include "../fake_http.h"
#include "control/discord/rest.h"
#include "control/words/words.h"
#include "tests/test.h"

enum { NOW_S = 1790000000 };
#define NOW_MS (UINT64_C(1000) * NOW_S)

static json_t *press_json(const char *custom_id, const char *user)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:{s:{s:s}},s:{s:s,s:[s]}}", "id", "7",
			 "application_id", "9", "type", 3, "token", "abc", "guild_id", "100",
			 "locale", "en-GB", "member", "user", "id", user, "data", "custom_id",
			 custom_id, "values", "neither");
}

static int parse(const char *custom_id, const char *user, struct press *out)
{
	json_t *d = press_json(custom_id, user);
	int err = press_parse(d, NOW_MS, out);

	json_decref(d);
	return err;
}

TEST(a_press_names_its_action_and_its_value)
{
	json_t *button = component_button("forget", 501, NOW_MS, COMPONENT_DANGER, "Forget me");
	struct press p;

	CHECK_INT(parse(json_string_value(json_object_get(button, "custom_id")), "501", &p), 0);
	CHECK_STR(p.action, "forget");
	CHECK_STR(p.value, "neither");
	CHECK_INT(p.user, 501);
	CHECK_INT(p.guild, 100);
	CHECK_STR(p.locale, "en-GB");
	json_decref(button);
}

TEST(a_press_of_somebody_else_and_a_late_one_are_refused)
{
	struct press p;

	CHECK_INT(parse("parley:forget:501:1790000000", "502", &p), EPERM);
	CHECK_INT(parse("parley:forget:501:1789999100", "501", &p), 0);
	CHECK_INT(parse("parley:forget:501:1789999099", "501", &p), ETIME);
	CHECK_INT(parse("parley:forget:501:1790009999", "501", &p), ETIME);
	CHECK_INT(parse("another:forget:501:1790000000", "501", &p), ENOENT);
	CHECK_INT(parse("parley:forget:501", "501", &p), EBADMSG);
	CHECK_INT(parse("parley::501:1790000000", "501", &p), EBADMSG);
	CHECK_INT(parse("parley:an_action_that_is_much_too_long:501:1790000000", "501", &p),
		  EBADMSG);
}

static struct scene {
	struct fake_http fake;
	struct rest *rest;
	struct components *c;
	struct press *press;
	unsigned presses, edits;
	char body[2048], type[96];
	int answer; /* type of the callback */
	unsigned flags;
	char content[400];
	bool later; /* suggestions do not come at once */
	uint32_t typing;
	char typed[64];
} scene;

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	json_t *body;

	snprintf(scene.body, sizeof scene.body, "%.*s", (int)f->n, (const char *)f->body);
	if (strcmp(f->method, "PATCH") == 0) {
		const char *type =
			evhttp_find_header(evhttp_request_get_input_headers(req), "Content-Type");

		snprintf(scene.type, sizeof scene.type, "%s", type ? type : "");
		scene.edits++;
		fake_http_answer(req, 200, "application/json", "{}", 2);
		env_stop(f->env);
		return;
	}
	body = json_loads(scene.body, 0, NULL);
	scene.answer = (int)json_integer_value(json_object_get(body, "type"));
	scene.flags = (unsigned)json_integer_value(
		json_object_get(json_object_get(body, "data"), "flags"));
	snprintf(scene.content, sizeof scene.content, "%s",
		 json_is_string(json_object_get(json_object_get(body, "data"), "content"))
			 ? json_string_value(
				   json_object_get(json_object_get(body, "data"), "content"))
			 : "");
	json_decref(body);
	fake_http_answer(req, 204, "text/plain", "", 0);
	if (scene.answer != 5)
		env_stop(f->env);
}

static void on_press(struct press *p, void *arg)
{
	(void)arg;
	scene.press = p;
	scene.presses++;
}

static void on_typing(const struct typing *t, uint32_t id, void *arg)
{
	(void)arg;
	scene.typing = id;
	snprintf(scene.typed, sizeof scene.typed, "%s %s %s", t->subcommand, t->option, t->text);
	if (!scene.later)
		components_suggest(scene.c, id,
				   json_pack("[{s:s,s:s}]", "name", t->text, "value", t->text));
}

static void begin(void)
{
	memset(&scene, 0, sizeof scene);
	CHECK(fake_http_begin(&scene.fake, serve, NULL));
	CHECK_INT(
		rest_alloc(&scene.rest, scene.fake.env, scene.fake.http, scene.fake.base, "token"),
		0);
	CHECK_INT(components_alloc(&scene.c, scene.fake.env, scene.rest, on_press, on_typing, NULL),
		  0);
}

static void finish(void)
{
	rest_free(scene.rest);
	components_free(scene.c);
	fake_http_end(&scene.fake);
}

static void send_press(const char *custom_id, const char *user)
{
	json_t *d = press_json(custom_id, user);

	CHECK(components_interaction(scene.c, d, NOW_MS));
	json_decref(d);
}

TEST(a_stranger_gets_an_ephemeral_refusal_and_the_handler_nothing)
{
	begin();
	send_press("parley:forget:501:1790000000", "502");
	env_run(scene.fake.env);
	CHECK_INT(scene.presses, 0);
	CHECK_INT(scene.answer, 4);
	CHECK_INT(scene.flags, 64);
	CHECK(strstr(scene.content, "somebody else"));
	finish();
}

TEST(an_expired_component_says_so)
{
	begin();
	send_press("parley:forget:501:1", "501");
	env_run(scene.fake.env);
	CHECK_INT(scene.presses, 0);
	CHECK_INT(scene.flags, 64);
	CHECK(strstr(scene.content, "15 minutes"));
	finish();
}

TEST(a_press_replaces_its_message)
{
	struct words words = {0};

	begin();
	send_press("parley:keep:501:1790000000", "501");
	CHECK_INT(scene.presses, 1);
	words_privacy_kept(&words);
	press_update(scene.press, &words, NULL);
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 7);
	CHECK_STR(scene.content, words.text);
	CHECK(strstr(scene.body, "\"components\":[]"));
	finish();
}

/* The answer waits until Discord has the deferral, and carries a file. */
TEST(a_deferred_press_is_answered_with_a_file)
{
	struct words words = {0};

	begin();
	send_press("parley:export:501:1790000000", "501");
	words_privacy_exported(&words);
	press_defer(scene.press);
	press_finish(scene.press, &words, "parley-export.json", "{\"format\":1}");
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 5);
	CHECK_INT(scene.flags, 64);
	CHECK_INT(scene.edits, 1);
	CHECK(strncmp(scene.type, "multipart/form-data; boundary=", 30) == 0);
	CHECK(strstr(scene.body, scene.type + 30));
	CHECK(strstr(scene.body, "filename=\"parley-export.json\""));
	CHECK(strstr(scene.body, "\r\n\r\n{\"format\":1}\r\n--"));
	finish();
}

static json_t *typing_json(void)
{
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:{s:{s:s}},s:{s:s,s:[{s:s,s:s,s:b}]}}", "id", "7",
			 "application_id", "9", "type", 4, "token", "abc", "guild_id", "100",
			 "member", "user", "id", "501", "data", "name", "consent", "options",
			 "name", "answer", "value", "rem", "focused", 1);
}

static void send_typing(json_t *d)
{
	CHECK(components_interaction(scene.c, d, NOW_MS));
	json_decref(d);
}

TEST(a_user_who_types_gets_suggestions)
{
	begin();
	send_typing(typing_json());
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 8);
	CHECK_STR(scene.typed, " answer rem");
	CHECK(strstr(scene.body, "\"value\":\"rem\""));
	finish();
}

TEST(suggestions_may_come_later_and_once)
{
	begin();
	scene.later = true;
	send_typing(typing_json());
	components_suggest(scene.c, scene.typing + 1, json_array());
	components_suggest(scene.c, scene.typing,
			   json_pack("[{s:s,s:s}]", "name", "n", "value", "v"));
	components_suggest(scene.c, scene.typing, json_array());
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 8);
	CHECK(strstr(scene.body, "\"value\":\"v\""));
	finish();
}

TEST(nothing_is_suggested_when_no_answer_comes_in_time)
{
	begin();
	scene.later = true;
	send_typing(typing_json());
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 8);
	CHECK(strstr(scene.body, "\"choices\":[]"));
	CHECK(!scene.fake.timed_out);
	finish();
}

TEST(so_many_users_may_wait_for_suggestions)
{
	begin();
	scene.later = true;
	for (unsigned i = 0; i < COMPONENTS_TYPING_MAX; i++)
		send_typing(typing_json());
	CHECK_INT(scene.typing, COMPONENTS_TYPING_MAX);
	send_typing(typing_json()); /* is answered at once */
	CHECK_INT(scene.typing, COMPONENTS_TYPING_MAX);
	env_run(scene.fake.env);
	CHECK(strstr(scene.body, "\"choices\":[]"));
	finish();
}

TEST(typing_in_a_subcommand_names_it)
{
	json_t *d = typing_json(), *data = json_object_get(d, "data");
	struct typing t;

	json_object_set_new(data, "options",
			    json_pack("[{s:s,s:i,s:O}]", "name", "add", "type", 1, "options",
				      json_object_get(data, "options")));
	CHECK_INT(typing_parse(d, &t), 0);
	CHECK_STR(t.subcommand, "add");
	CHECK_STR(t.option, "answer");
	CHECK_STR(t.text, "rem");
	json_array_clear(json_object_get(data, "options"));
	CHECK_INT(typing_parse(d, &t), EBADMSG);
	json_decref(d);
}

TEST(a_shared_button_is_everybodys_and_names_its_subject)
{
	json_t *button = component_shared_button("music_skip", "301.7", COMPONENT_PLAIN, "Skip");
	const char *id = json_string_value(json_object_get(button, "custom_id"));
	struct press p;

	CHECK_STR(id, "parley:music_skip:*:301.7");
	CHECK_INT(parse(id, "501", &p), 0);
	CHECK_STR(p.action, "music_skip");
	CHECK_STR(p.subject, "301.7");
	CHECK_INT(parse(id, "502", &p), 0);
	CHECK_INT(p.user, 502);
	CHECK_INT(parse("parley:music_skip:*:", "501", &p), EBADMSG);
	CHECK_INT(parse("parley:music_skip:*:a b", "501", &p), EBADMSG);
	CHECK_INT(parse("parley:music_skip:*:123456789012345678901234567890123456789012345678",
			"501", &p),
		  EBADMSG);
	CHECK_INT(parse("parley:music_skip:*", "501", &p), EBADMSG);
	json_decref(button);
}

TEST(a_press_that_shows_nothing_new_is_accepted)
{
	begin();
	send_press("parley:music_skip:*:301.7", "502");
	CHECK_INT(scene.presses, 1);
	press_accept(scene.press);
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 6);
	finish();
}

TEST(a_press_is_refused_in_words_for_the_user_alone)
{
	struct words words = {0};

	begin();
	send_press("parley:music_stop:*:301.7", "502");
	words_not_here(&words);
	press_refuse(scene.press, &words);
	env_run(scene.fake.env);
	CHECK_INT(scene.answer, 4);
	CHECK_INT(scene.flags, 64);
	CHECK_STR(scene.content, words.text);
	finish();
}

/* Typing that finds no memory is answered at once, with nothing. */
TEST_OOM(typing_survives_a_lack_of_memory)
{
	json_t *d = typing_json();
	uint32_t before;

	memset(&scene, 0, sizeof scene);
	if (!d || !fake_http_begin(&scene.fake, serve, NULL) ||
	    rest_alloc(&scene.rest, scene.fake.env, scene.fake.http, scene.fake.base, "token") ||
	    components_alloc(&scene.c, scene.fake.env, scene.rest, on_press, on_typing, NULL)) {
		json_decref(d);
		finish();
		return;
	}
	scene.later = true;
	before = scene.typing;
	CHECK(components_interaction(scene.c, d, NOW_MS));
	if (scene.typing != before)
		components_suggest(scene.c, scene.typing, NULL);
	json_decref(d);
	finish();
}

static int make_components(void)
{
	struct components *c = NULL;
	int err = components_alloc(&c, NULL, NULL, on_press, on_typing, NULL);

	components_free(c);
	return err;
}

TEST_OOM(components_survive_a_lack_of_memory)
{
	CHECK_OOM(make_components(), (void)0);
}
