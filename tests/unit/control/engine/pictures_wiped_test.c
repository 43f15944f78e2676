/* No copy of a picture, as a request has it, is left in memory when the request is over. */
#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>

#include "control/dialect/base64.h"
#include "control/dialect/realtime.h"
#include "control/dialect/text_inside.h"
#include "control/engine/engine.h"
#include "ipc/http.h"
#include "ipc/json_wipe.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"
#include "tests/unit/ipc/own_memory.h"

enum { CHARACTERS = 60000 };

static struct fixture {
	struct loop l;
	struct own_memory *m;
	json_malloc_t before_malloc;
	json_free_t before_free;
	uint8_t picture[CHARACTERS / 4 * 3];
	size_t n;
	int while_sent;
} fx;

/* The mark is in the base64 of the picture, not in the picture. */
static bool begin(void)
{
	char *text = malloc(CHARACTERS);
	int err = ENOMEM;

	memset(&fx, 0, sizeof fx);
	if (text && own_memory_begin(&fx.m)) {
		memcpy(text, own_memory_message(fx.m, CHARACTERS), CHARACTERS);
		for (unsigned i = 0; i < CHARACTERS; i++)
			text[i] = text[i] == '-' ? 'A' : text[i];
		err = base64_decode(text, CHARACTERS, fx.picture, sizeof fx.picture, &fx.n);
		explicit_bzero(text, CHARACTERS);
	}
	free(text);
	json_get_alloc_funcs(&fx.before_malloc, &fx.before_free);
	json_wipe_on_free();
	return !err && own_memory_count(fx.m) == 0;
}

static void end(void)
{
	json_set_alloc_funcs(fx.before_malloc, fx.before_free);
	own_memory_end(fx.m);
}

static void on_event(const struct engine_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == ENGINE_FAILED)
		env_stop(fx.l.env);
}

/* Nobody listens there, so that no server keeps a copy in this process. */
static int ask(enum dialect dialect, struct http *http)
{
	const struct engine_image image = {"image/jpeg", {fx.picture, fx.n}};
	const struct engine_message m = {.role = ENGINE_USER,
					 .speaker = "Bob",
					 .text = "look",
					 .images = &image,
					 .n_images = 1};
	void *text = NULL;
	int err = engine_text.alloc(&text,
				    &(struct engine_conf){.env = fx.l.env,
							  .http = http,
							  .options = "{}",
							  .caps = engine_caps(dialect, ROLE_TEXT),
							  .http_url = "http://127.0.0.1:9/v1",
							  .key = "k",
							  .h = on_event});

	if (!err)
		err = engine_text.ask(text, &(struct engine_ask){.id = 1,
								 .turn = 1,
								 .model = "m",
								 .voice = "",
								 .instructions = "",
								 .messages = &m,
								 .n = 1});
	if (!err) {
		fx.while_sent = own_memory_count(fx.m);
		err = loop_run(&fx.l) ? 0 : ETIMEDOUT;
	}
	engine_text.free(text);
	return err;
}

TEST(questions_leave_no_picture_behind)
{
	static const enum dialect dialects[] = {DIALECT_OPENAI, DIALECT_CHAT, DIALECT_ANTHROPIC};
	struct http *http = NULL;

	CHECK(begin());
	CHECK(http_wipe_on_free());
	CHECK_INT(loop_open(&fx.l, NULL), 0);
	CHECK_INT(http_alloc(&http, fx.l.env, NULL, "Tester"), 0);
	for (unsigned i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
		CHECK_INT(ask(dialects[i], http), 0);
		CHECK(fx.while_sent > 0);
		CHECK_INT(own_memory_count(fx.m), 0);
	}
	http_free(http);
	loop_close(&fx.l);
	curl_global_cleanup();
	end();
}

TEST(a_picture_in_a_question_leaves_no_copy_of_its_characters)
{
	struct engine_image image = {"image/jpeg", {NULL, 0}};
	json_t *url;

	CHECK(begin());
	image.data = (struct slice){fx.picture, fx.n};
	url = text_data_url(&image);
	CHECK(url && own_memory_count(fx.m) > 0);
	json_decref(url);
	CHECK_INT(own_memory_count(fx.m), 0);
	end();
}

static int sent(bool text, const void *data, size_t n, void *arg)
{
	(void)text, (void)data, (void)n, (void)arg;
	fx.while_sent = own_memory_count(fx.m);
	return 0;
}

TEST(voice_sessions_leave_no_picture_behind)
{
	static const struct realtime_dialect *const dialects[] = {&realtime_openai,
								  &realtime_gemini};
	const struct realtime_conf conf = {.url = "wss://host/v1/realtime",
					   .model = "a model",
					   .voice = "eve",
					   .rate_in = 24000,
					   .rate_out = 24000};

	CHECK(begin());
	for (unsigned i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
		const struct realtime_command cmd = {.type = REALTIME_IMAGE,
						     .mime = "image/jpeg",
						     .id = "a",
						     .after = "",
						     .data = {fx.picture, fx.n}};
		void *codec = NULL;

		fx.while_sent = 0;
		CHECK_INT(dialects[i]->alloc(&codec, &conf), 0);
		CHECK_INT(dialects[i]->encode(codec, &cmd, sent, NULL), 0);
		dialects[i]->free(codec);
		CHECK(fx.while_sent > 0);
		CHECK_INT(own_memory_count(fx.m), 0);
	}
	end();
}
