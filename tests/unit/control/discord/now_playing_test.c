/* The message about what plays: one message, edited when it differs and not too often. */
#include "control/discord/now_playing.h"

#include "../fake_http.h"
#include "control/discord/rest.h"
#include "control/words/words.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { EDIT_MS = 60 };

static struct scene {
	struct fake_http fake;
	struct rest *rest;
	struct now_playing *n;
	struct tmr *tmr;
	char log[32];	   /* P: posted, E: edited */
	char last[2048];   /* body */
	char content[200]; /* what is to be shown */
	uint32_t entry;
	uint64_t kept;
	const char *has; /* members of the message that Discord answers with */
	int status;
} scene;

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	char message[200];

	snprintf(message, sizeof message, "{\"id\":\"77\"%s}", scene.has);
	snprintf(scene.last, sizeof scene.last, "%.*s", (int)f->n, (const char *)f->body);
	strncat(scene.log, strcmp(f->method, "POST") == 0 ? "P" : "E",
		sizeof scene.log - strlen(scene.log) - 1);
	fake_http_answer(req, scene.status, "application/json", message, strlen(message));
}

static void on_text(struct words *words, struct now_playing_text *t, void *arg)
{
	(void)arg;
	words->n = (size_t)snprintf(words->text, sizeof words->text, "%s", scene.content);
	t->entry = scene.entry;
	t->starts = 1;
	t->components = json_array();
}

static void on_kept(uint64_t message, void *arg)
{
	(void)arg;
	scene.kept = message;
}

static void stop(void *arg)
{
	env_stop(arg);
}

static void run_for(unsigned ms)
{
	tmr_start(scene.tmr, ms * NS_PER_MS);
	env_run(scene.fake.env);
}

/* Runs until the server has seen these requests, and their answers are back, or for 20 s. */
static void await(const char *log)
{
	for (unsigned i = 0; i < 4000 && strcmp(scene.log, log) != 0; i++)
		run_for(5);
	run_for(20);
	CHECK_STR(scene.log, log);
}

static int make(uint64_t message)
{
	return now_playing_alloc(&scene.n, &(struct now_playing_conf){.env = scene.fake.env,
								      .rest = scene.rest,
								      .channel = 301,
								      .message = message,
								      .edit_ms = EDIT_MS,
								      .h = on_text,
								      .kepth = on_kept});
}

static void begin(uint64_t message)
{
	memset(&scene, 0, sizeof scene);
	scene.status = 200;
	scene.has = "";
	CHECK(fake_http_begin(&scene.fake, serve, NULL));
	CHECK_INT(rest_alloc(&scene.rest, scene.fake.env, scene.fake.http, scene.fake.base, "t"),
		  0);
	CHECK_INT(tmr_alloc(&scene.tmr, scene.fake.env, stop, scene.fake.env), 0);
	CHECK_INT(make(message), 0);
}

static void finish(void)
{
	now_playing_free(scene.n);
	rest_free(scene.rest);
	tmr_free(scene.tmr);
	fake_http_end(&scene.fake);
}

static void show(uint32_t entry, const char *content)
{
	scene.entry = entry;
	snprintf(scene.content, sizeof scene.content, "%s", content);
	now_playing_look(scene.n);
}

TEST(the_first_track_is_posted_and_the_message_kept)
{
	begin(0);
	show(0, "over");
	run_for(20);
	CHECK_STR(scene.log, "");
	show(1, "one");
	await("P");
	CHECK_INT(scene.kept, 77);
	CHECK(strstr(scene.last, "\"content\":\"one\""));
	CHECK(strstr(scene.last, "\"allowed_mentions\":{\"parse\":[]}"));
	CHECK(strstr(scene.last, "\"nonce\":\"m1.1\""));
	CHECK_STR(scene.fake.path, "/v1/channels/301/messages");
	finish();
}

/* Where the machine is slow there is time for more than one edit. */
/* Discord has given back the message of this nonce, which told that the bot had left. */
TEST(a_message_that_came_back_with_an_old_text_is_edited)
{
	begin(0);
	scene.has = ",\"content\":\"I have left.\"";
	show(1, "one");
	await("PE");
	CHECK(strstr(scene.last, "\"content\":\"one\""));
	CHECK_STR(scene.fake.path, "/v1/channels/301/messages/77");
	run_for(2 * EDIT_MS);
	CHECK_STR(scene.log, "PE");
	finish();
	begin(0);
	scene.has = ",\"content\":\"one\"";
	show(1, "one");
	await("P");
	run_for(2 * EDIT_MS);
	CHECK_STR(scene.log, "P");
	finish();
}

TEST(an_edit_waits_its_time_and_an_equal_text_is_not_sent)
{
	uint64_t began;
	size_t edits;

	begin(0);
	began = env_now(scene.fake.env);
	show(1, "one");
	await("P");
	show(1, "two");
	show(1, "three");
	for (unsigned i = 0; i < 4000 && !strstr(scene.last, "\"content\":\"three\""); i++)
		run_for(5);
	run_for(20);
	CHECK(strstr(scene.last, "\"content\":\"three\""));
	edits = strlen(scene.log) - 1;
	CHECK(edits * EDIT_MS * NS_PER_MS <= env_now(scene.fake.env) - began);
	CHECK(!strstr(scene.last, "nonce"));
	CHECK_STR(scene.fake.path, "/v1/channels/301/messages/77");
	run_for(4 * EDIT_MS);
	CHECK_INT(strlen(scene.log) - 1, edits);
	snprintf(scene.content, sizeof scene.content, "four"); /* the bar went on */
	await(edits == 1 ? "PEE" : "PEEE");
	finish();
}

TEST(the_message_of_the_control_before_is_edited)
{
	begin(55);
	show(3, "three");
	await("E");
	CHECK_STR(scene.fake.path, "/v1/channels/301/messages/55");
	finish();
}

TEST(a_message_of_before_whose_music_is_over_says_so)
{
	begin(55);
	show(0, "over");
	await("E");
	CHECK(strstr(scene.last, "\"content\":\"over\""));
	CHECK_INT(now_playing_message(scene.n), 0);
	finish();
}

TEST(the_end_is_edited_in_and_the_next_music_gets_a_new_message)
{
	begin(0);
	show(1, "one");
	await("P");
	show(0, "over");
	await("PE");
	CHECK_INT(scene.kept, 0);
	show(0, "still over");
	run_for(2 * EDIT_MS);
	CHECK_STR(scene.log, "PE");
	show(2, "two");
	await("PEP");
	finish();
}

TEST(a_deleted_message_comes_back_with_the_next_track)
{
	begin(55);
	scene.status = 404;
	show(1, "one");
	await("E");
	CHECK_INT(now_playing_message(scene.n), 0);
	show(1, "one again");
	run_for(2 * EDIT_MS);
	CHECK_STR(scene.log, "E");
	scene.status = 200;
	show(2, "two");
	await("EP");
	finish();
}

TEST(the_bot_leaves_and_the_message_says_that_it_is_over)
{
	begin(55);
	show(1, "one");
	scene.n = now_playing_end(scene.n, "de", false); /* while the edit is out */
	await("EE");
	CHECK(strstr(scene.last, "**Die Musik ist zu Ende.**"));
	CHECK_INT(scene.kept, 0);
	CHECK(strstr(scene.last, "\"components\":[]"));
	finish();
}

TEST(the_bot_leaves_and_the_message_says_that_music_waits)
{
	begin(55);
	show(1, "one");
	await("E");
	scene.n = now_playing_end(scene.n, "en", true);
	await("EE");
	CHECK(strstr(scene.last, "after /join, /music resume plays on"));
	CHECK_INT(scene.kept, 77); /* for when it is back */
	CHECK(strstr(scene.last, "\"components\":[]"));
	finish();
}

TEST(nothing_is_left_behind_when_discord_goes_first)
{
	begin(0);
	show(1, "one");
	scene.n = now_playing_end(scene.n, "en", false);
	finish();
	begin(0);
	show(1, "one");
	scene.n = now_playing_free(scene.n);
	await("P");
	finish();
}

TEST_OOM(now_playing_survives_a_lack_of_memory)
{
	struct now_playing *n = NULL;
	struct env *env = NULL;

	CHECK_OOM(env_alloc(&env, &(struct env_conf){0}), (void)0);
	CHECK_OOM(now_playing_alloc(&n, &(struct now_playing_conf){.env = env, .edit_ms = 1}),
		  env_free(env));
	now_playing_free(n);
	env_free(env);
}
