#include "control/engine/speech.h"

#include "../fake_http.h"
#include <event2/event.h>

#include "control/engine/endpoint.h"
#include "tests/test.h"

static struct seen {
	struct fake_http fake;
	struct endpoint *provider;
	struct engine_speech *speech;
	char sound[64], end[128];
	size_t n;
	unsigned ends, odd;
	uint32_t turn, chunk;
	bool cancel_at_sound;
	struct evhttp_request *open;
} fx;

static void on_event(enum engine_speech_event ev, uint32_t turn, uint32_t chunk,
		     const uint8_t *data, size_t n, void *arg)
{
	(void)arg;
	fx.turn = turn;
	fx.chunk = chunk;
	if (ev == ENGINE_SPEECH_SOUND) {
		fx.odd += n % 2;
		if (fx.n + n <= sizeof fx.sound)
			memcpy(fx.sound + fx.n, data, n);
		fx.n += n;
		if (fx.cancel_at_sound)
			engine_speech_cancel(fx.speech, turn);
		return;
	}
	fx.ends++;
	snprintf(fx.end, sizeof fx.end, "%s%.*s",
		 ev == ENGINE_SPEECH_DONE ? "done" : "failed: ", (int)n,
		 n ? (const char *)data : "");
	env_stop(fx.fake.env);
}

static bool begin(fake_http_h *h)
{
	memset(&fx, 0, sizeof fx);
	return fake_http_begin(&fx.fake, h, NULL) &&
	       !endpoint_alloc(&fx.provider, fx.fake.http, fx.fake.base, "") &&
	       !engine_speech_alloc(&fx.speech, fx.provider, on_event, NULL);
}

static void end(void)
{
	engine_speech_free(fx.speech);
	endpoint_free(fx.provider);
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
	CHECK_INT(engine_speech_say(fx.speech, "tts-m", "marin", 7, 3, "Hello there."), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.end, "done");
	CHECK(fx.turn == 7 && fx.chunk == 3 && fx.odd == 0);
	CHECK_MEM(fx.sound, fx.n, "abcdefgh", 8);
	CHECK_STR(fx.fake.path, "/v1/audio/speech");
	CHECK_STR(fx.fake.auth, "");
	CHECK(strstr((char *)fx.fake.body, "\"input\":\"Hello there.\""));
	CHECK(strstr((char *)fx.fake.body, "\"response_format\":\"pcm\""));
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
		CHECK_INT(engine_speech_say(fx.speech, "m", "v", 1, 1, "x"), 0);
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
	CHECK_INT(engine_speech_say(fx.speech, "m", "v", 2, 1, "x"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK(fx.fake.gone == 1 && fx.ends == 0 && fx.n == 4);
	for (unsigned i = 0; i < ENGINE_SPEECH_AT_ONCE; i++)
		CHECK_INT(engine_speech_say(fx.speech, "m", "v", 3, i, "x"), 0);
	CHECK_INT(engine_speech_say(fx.speech, "m", "v", 3, 99, "x"), EBUSY);
	engine_speech_cancel(fx.speech, 4);
	CHECK_INT(engine_speech_say(fx.speech, "m", "v", 3, 99, "x"), EBUSY);
	engine_speech_cancel(fx.speech, 3);
	CHECK_INT(engine_speech_say(fx.speech, "m", "v", 3, 99, "x"), 0);
	end();
}

TEST_OOM(speech_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct endpoint *p = NULL;
	struct engine_speech *t = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = endpoint_alloc(&p, http, "http://127.0.0.1:9/v1", "k");
	if (!err)
		err = engine_speech_alloc(&t, p, on_event, NULL);
	if (!err)
		err = engine_speech_say(t, "m", "v", 1, 1, "x");
	engine_speech_free(t);
	endpoint_free(p);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
