/* Speech over a WebSocket that stays open, against a server of this process. */
#include <stdlib.h>

#include "control/engine/engine.h"
#include "ipc/http.h"
#include "tests/test.h"
#include "tests/unit/control/engine/fake_realtime.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake fake;
	struct http *http;
	void *speech;
	char events[1024]; /* "a1:4 w1:hello@10 d1 f2:why …" */
	char came[4096];   /* messages of the client */
	const char *stop_at;
	unsigned spoken;
	uint64_t characters;
	uint32_t cancel_at_audio;
} fx;

static void on_event(const struct engine_event *ev, void *arg)
{
	size_t at = strlen(fx.events);
	char *to = fx.events + at;

	(void)arg;
	if (ev->type == ENGINE_AUDIO)
		snprintf(to, sizeof fx.events - at, "a%u:%zu ", ev->ask, ev->data.n);
	else if (ev->type == ENGINE_WORD_END)
		snprintf(to, sizeof fx.events - at, "w%u:%.*s@%llu ", ev->ask, (int)ev->data.n,
			 (const char *)ev->data.p, (unsigned long long)ev->samples);
	else if (ev->type == ENGINE_DONE)
		snprintf(to, sizeof fx.events - at, "d%u ", ev->ask);
	else if (ev->type == ENGINE_FAILED)
		snprintf(to, sizeof fx.events - at, "f%u:%.*s/%d ", ev->ask, (int)ev->data.n,
			 (const char *)ev->data.p, ev->trouble);
	else if (ev->type == ENGINE_USAGE)
		fx.characters += ev->usage->n[PRICE_CHARACTERS];
	if (ev->type == ENGINE_AUDIO && ev->ask == fx.cancel_at_audio)
		engine_speech_stream.cancel(fx.speech, ev->ask);
	if (fx.stop_at && strstr(fx.events, fx.stop_at))
		env_stop(fx.fake.env);
}

static bool open_engine(struct env *env, struct ws_ctx *ws, struct http *http, const char *base)
{
	return !engine_speech_stream.alloc(
		&fx.speech,
		&(struct engine_conf){.env = env,
				      .ws = ws,
				      .http = http,
				      .caps = engine_caps(DIALECT_ELEVENLABS, ROLE_SPEECH),
				      .http_url = base,
				      .key = "k",
				      .language = "",
				      .h = on_event});
}

static bool begin(fake_h *h)
{
	char base[64];

	memset(&fx, 0, sizeof fx);
	if (!fake_begin(&fx.fake, h, NULL) || http_alloc(&fx.http, fx.fake.env, NULL, "test"))
		return false;
	snprintf(base, sizeof base, "http://127.0.0.1:%u/v1", ws_server_port(fx.fake.server));
	return open_engine(fx.fake.env, fx.fake.ctx, fx.http, base);
}

static void end(void)
{
	engine_speech_stream.free(fx.speech);
	http_free(fx.http);
	fake_end(&fx.fake);
}

static int say(uint32_t id, const char *text)
{
	const struct engine_message m = {.role = ENGINE_ASSISTANT, .speaker = "", .text = text};

	return engine_speech_stream.ask(
		fx.speech,
		&(struct engine_ask){
			.id = id, .turn = 1, .model = "", .voice = "V", .messages = &m, .n = 1});
}

static void note(const json_t *root)
{
	size_t at = strlen(fx.came);
	char *text = json_dumps(root, JSON_COMPACT);

	snprintf(fx.came + at, sizeof fx.came - at, "%s\n", text);
	free(text);
}

static void speak(struct fake *f, unsigned conn, const char *context)
{
	fake_send(f, conn,
		  "{\"audio\":\"AAAAAAAA\",\"isFinal\":null,\"contextId\":\"%s\",\"alignment\":{"
		  "\"chars\":[\"h\",\"i\",\" \",\"y\"],\"charStartTimesMs\":[0,10,20,30],"
		  "\"charDurationsMs\":[10,10,10,10]},\"normalizedAlignment\":null}",
		  context);
	fake_send(f, conn,
		  "{\"audio\":\"AAAA\",\"is_final\":null,\"context_id\":\"%s\",\"alignment\":{"
		  "\"chars\":[\"o\",\"u\"],\"char_start_times_ms\":[0,100],"
		  "\"char_durations_ms\":[100,100]}}",
		  context);
}

/* Speaks what has a flush, at once; a context is final when it is closed. */
static void speaking_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const char *context = json_string_value(json_object_get(root, "context_id"));

	(void)type;
	note(root);
	if (json_is_true(json_object_get(root, "flush"))) {
		fx.spoken++;
		speak(f, conn, context);
	}
	if (json_is_true(json_object_get(root, "close_context")))
		fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"%s\"}", context);
}

TEST(a_line_is_a_context_and_its_words_have_an_end)
{
	CHECK(begin(speaking_server));
	fx.stop_at = "d7";
	CHECK_INT(say(7, "Hi y\xc3\xb6u."), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	/* 6 bytes are 3 samples; the second word goes over two messages. 3 bytes are no samples. */
	CHECK_STR(fx.events, "a7:6 w7:hi@480 w7:y@960 d7 ");
	CHECK_INT(fx.characters, 7);
	CHECK_STR(fx.fake.path[0],
		  "/v1/text-to-speech/V/multi-stream-input?model_id=eleven_flash_v2_5"
		  "&output_format=pcm_24000&inactivity_timeout=180&sync_alignment=true");
	CHECK_STR(fx.fake.auth[0], "k");
	CHECK_STR(fx.came, "{\"text\":\" \",\"context_id\":\"c1\"}\n"
			   "{\"text\":\" \",\"context_id\":\"c2\"}\n"
			   "{\"text\":\"Hi y\xc3\xb6u. \",\"flush\":true,\"context_id\":\"c2\"}\n"
			   "{\"close_context\":true,\"context_id\":\"c2\"}\n");
	end();
}

static char late[8][16];
static unsigned n_late;

/* Ends no context before it has six; then all at once. */
static void slow_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const char *context = json_string_value(json_object_get(root, "context_id"));

	(void)type;
	if (!json_is_true(json_object_get(root, "close_context")))
		return;
	fake_send(f, conn, "{\"audio\":\"AAAAAAAA\",\"contextId\":\"%s\"}", context);
	snprintf(late[n_late++], sizeof late[0], "%s", context);
	if (n_late == 4)
		for (unsigned i = 0; i < 4; i++)
			fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"%s\"}", late[i]);
	else if (n_late > 4)
		fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"%s\"}", context);
}

TEST(no_more_contexts_are_open_than_the_service_allows)
{
	n_late = 0;
	CHECK(begin(slow_server));
	fx.stop_at = "d6";
	for (uint32_t i = 1; i <= 6; i++)
		CHECK_INT(say(i, "x"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "a1:6 a2:6 a3:6 a4:6 d1 d2 d3 d4 a5:6 d5 a6:6 d6 ");
	end();
}

/* The first context goes on although it was closed. */
static void stubborn_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const char *context = json_string_value(json_object_get(root, "context_id"));

	(void)type;
	note(root);
	if (json_is_true(json_object_get(root, "flush")))
		for (unsigned i = 0; i < 3; i++)
			fake_send(f, conn, "{\"audio\":\"AAAAAAAA\",\"contextId\":\"%s\"}",
				  context);
	else if (json_is_true(json_object_get(root, "close_context")) && strcmp(context, "c3") == 0)
		fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"c3\"}");
}

TEST(a_cut_line_says_nothing_more_and_the_next_one_speaks)
{
	CHECK(begin(stubborn_server));
	fx.stop_at = "d2";
	fx.cancel_at_audio = 1;
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "two"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "a1:6 a2:6 a2:6 a2:6 d2 ");
	CHECK_INT(fx.fake.conns, 1);
	end();
}

/* Loses the first socket before any audio, and the second in the audio of the second line. */
static void losing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const char *context = json_string_value(json_object_get(root, "context_id"));

	(void)type;
	if (!json_is_true(json_object_get(root, "close_context")))
		return;
	if (conn == 0) {
		ws_close(f->ws[conn], 1011, "broken");
		return;
	}
	fake_send(f, conn, "{\"audio\":\"AAAAAAAA\",\"contextId\":\"%s\"}", context);
	if (++fx.spoken == 2)
		ws_close(f->ws[conn], 1011, "broken");
	else
		fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"%s\"}", context);
}

TEST(a_lost_socket_costs_a_line_only_in_its_audio)
{
	CHECK(begin(losing_server));
	fx.stop_at = "f2";
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "two"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "a1:6 d1 a2:6 f2:closed 1011 broken/0 ");
	CHECK_INT(fx.fake.conns, 2);
	end();
}

static void refusing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	(void)root;
	fake_send(f, conn,
		  "{\"message\":\"Invalid API key\",\"error\":\"authentication_required\","
		  "\"code\":1008}");
	ws_close(f->ws[conn], 1008, "no");
}

TEST(a_refused_key_fails_each_line_at_once)
{
	CHECK(begin(refusing_server));
	fx.stop_at = "f2";
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "two"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "f1:authentication_required: Invalid API key/1 "
			     "f2:authentication_required: Invalid API key/1 ");
	CHECK_INT(fx.fake.conns, 1);
	end();
}

static void http_server(struct fake_http *f, struct evhttp_request *req)
{
	if (f->n)
		fake_http_answer(req, 200, "application/octet-stream", "abcd", 4);
	else
		fake_http_answer(req, 404, "text/plain", "", 0);
}

/* A server, or a proxy on the way, that takes no WebSocket. */
TEST(lines_go_over_http_where_there_is_no_socket)
{
	static struct fake_http http;
	struct ws_ctx *ctx = NULL;

	memset(&fx, 0, sizeof fx);
	memset(&http, 0, sizeof http);
	CHECK(fake_http_begin(&http, http_server, NULL));
	CHECK_INT(ws_ctx_alloc(&ctx, http.env, NULL), 0);
	fx.fake.env = http.env;
	CHECK(open_engine(http.env, ctx, http.http, http.base));
	fx.stop_at = "d1";
	CHECK_INT(say(1, "one"), 0);
	env_run(http.env);
	CHECK(!http.timed_out);
	CHECK_STR(fx.events, "a1:4 d1 ");
	CHECK_STR(http.path, "/v1/text-to-speech/V/stream?output_format=pcm_24000");
	CHECK(strstr((char *)http.body, "\"text\":\"one\""));
	engine_speech_stream.free(fx.speech);
	ws_ctx_free(ctx);
	fake_http_end(&http);
}
