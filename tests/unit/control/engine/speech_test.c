/* The engine of voices, against a scripted HTTP server. */
#include <event2/event.h>

#include "control/engine/engine.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	void *speech;
	char sound[64], end[128];
	size_t n;
	unsigned ends, odd;
	uint32_t ask;
	bool cancel_at_sound;
	struct evhttp_request *open;
} fx;

static void on_event(const struct engine_event *ev, void *arg)
{
	(void)arg;
	fx.ask = ev->ask;
	if (ev->type == ENGINE_AUDIO) {
		fx.odd += ev->data.n % 2;
		if (fx.n + ev->data.n <= sizeof fx.sound)
			memcpy(fx.sound + fx.n, ev->data.p, ev->data.n);
		fx.n += ev->data.n;
		if (fx.cancel_at_sound)
			engine_speech.cancel(fx.speech, ev->ask);
		return;
	}
	fx.ends++;
	snprintf(fx.end, sizeof fx.end, "%s%.*s",
		 ev->type == ENGINE_DONE ? "done" : "failed: ", (int)ev->data.n,
		 ev->data.n ? (const char *)ev->data.p : "");
	env_stop(fx.fake.env);
}

static int open_speech(struct env *env, struct http *http, const char *base, const char *key)
{
	return engine_speech.alloc(
		&fx.speech, &(struct engine_conf){.env = env,
						  .http = http,
						  .caps = engine_caps(DIALECT_OPENAI, ROLE_SPEECH),
						  .http_url = base,
						  .key = key,
						  .h = on_event});
}

static int say(uint32_t id, const char *text)
{
	const struct engine_message m = {.role = ENGINE_ASSISTANT, .speaker = "", .text = text};

	return engine_speech.ask(fx.speech, &(struct engine_ask){.id = id,
								 .turn = 1,
								 .model = "tts-m",
								 .voice = "marin",
								 .messages = &m,
								 .n = 1});
}

static bool begin(fake_http_h *h)
{
	memset(&fx, 0, sizeof fx);
	return fake_http_begin(&fx.fake, h, NULL) &&
	       !open_speech(fx.fake.env, fx.fake.http, fx.fake.base, "");
}

static void end(void)
{
	engine_speech.free(fx.speech);
	fake_http_end(&fx.fake);
}

static void next_piece(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	fake_http_piece(fx.open, "defgh", 5);
	evhttp_send_reply_end(fx.open);
}

/* Three bytes, later five: a sample is cut in two. */
static void odd_pieces(struct fake_http *f, struct evhttp_request *req)
{
	struct timeval soon = {0, 5000};

	fx.open = req;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), NULL, NULL);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "audio/pcm");
	evhttp_send_reply_start(req, 200, "OK");
	fake_http_piece(req, "abc", 3);
	event_base_once(env_base(f->env), -1, EV_TIMEOUT, next_piece, NULL, &soon);
}

TEST(speech_comes_in_whole_samples)
{
	CHECK(begin(odd_pieces));
	CHECK_INT(say(7, "Hello there."), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.end, "done");
	CHECK(fx.ask == 7 && fx.odd == 0);
	CHECK_MEM(fx.sound, fx.n, "abcdefgh", 8);
	CHECK_STR(fx.fake.path, "/v1/audio/speech");
	CHECK_STR(fx.fake.auth, "");
	CHECK(strstr((char *)fx.fake.body, "\"input\":\"Hello there.\""));
	CHECK(strstr((char *)fx.fake.body, "\"response_format\":\"pcm\""));
	end();
}

/* Keys are rotated while a call goes on. */
TEST(another_key_holds_from_the_next_request)
{
	CHECK(begin(odd_pieces));
	CHECK_INT(say(1, "x"), 0);
	CHECK_INT(engine_speech.rekey(fx.speech, "another"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.end, "done");
	CHECK_STR(fx.fake.auth, "");
	CHECK_INT(say(2, "x"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.end, "done");
	CHECK_STR(fx.fake.auth, "Bearer another");
	end();
}

static void noise(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 200, "audio/mpeg", "ID3 and so on", 13);
}

static void silence(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 200, "audio/pcm", "", 0);
}

static void refuse(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 503, "application/json", "{}", 2);
}

TEST(speech_that_is_none_fails)
{
	static const struct {
		fake_http_h *h;
		const char *end;
	} table[] = {{noise, "failed: not raw sound but audio/mpeg"},
		     {silence, "failed: no sound came"},
		     {refuse, "failed: status 503"}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		CHECK(begin(table[i].h));
		CHECK_INT(say(1, "x"), 0);
		env_run(fx.fake.env);
		CHECK_STR(fx.end, table[i].end);
		CHECK(fx.n == 0 && fx.ends == 1);
		end();
	}
}

static void keep_open(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, "audio/pcm");
	fake_http_piece(req, "abcd", 4);
}

TEST(speech_is_cancelled_in_the_middle)
{
	CHECK(begin(keep_open));
	fx.cancel_at_sound = true;
	CHECK_INT(say(1, "x"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK(fx.fake.gone == 1 && fx.ends == 0 && fx.n == 4);
	for (unsigned i = 0; i < 8; i++)
		CHECK_INT(say(10 + i, "x"), 0);
	CHECK_INT(say(99, "x"), EBUSY);
	engine_speech.cancel(fx.speech, 4);
	CHECK_INT(say(99, "x"), EBUSY);
	engine_speech.cancel(fx.speech, 13);
	CHECK_INT(say(99, "x"), 0);
	end();
}

TEST_OOM(speech_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	memset(&fx, 0, sizeof fx);
	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = open_speech(env, http, "http://127.0.0.1:9/v1", "k");
	if (!err)
		err = say(1, "x");
	engine_speech.free(fx.speech);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
