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
	unsigned cancel_at_piece; /* its first is 0 */
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
	if (ev->type == ENGINE_AUDIO && ev->ask == fx.cancel_at_audio && !fx.cancel_at_piece--)
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
				      .silent_ms = 1500,
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

static bool flushes(const json_t *root)
{
	return json_is_true(json_object_get(root, "flush"));
}

static bool closes(const json_t *root)
{
	return json_is_true(json_object_get(root, "close_context"));
}

static const char *context_of(const json_t *root)
{
	const char *context = json_string_value(json_object_get(root, "context_id"));

	return context ? context : "";
}

static void send_final(struct fake *f, unsigned conn, const char *context)
{
	fake_send(f, conn, "{\"isFinal\":true,\"contextId\":\"%s\"}", context);
}

/* Three samples that speak these letters. */
static void send_letters(struct fake *f, unsigned conn, const char *context, const char *letters)
{
	fake_send(f, conn,
		  "{\"audio\":\"AAAAAAAA\",\"contextId\":\"%s\",\"alignment\":{\"chars\":[\"%s\"],"
		  "\"charStartTimesMs\":[0],\"charDurationsMs\":[10]}}",
		  context, letters);
}

/* Speaks what has a flush, at once; a context is final when it is closed. */
static void speaking_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	note(root);
	if (flushes(root))
		fake_send(f, conn,
			  "{\"audio\":\"AAAAAAAA\",\"isFinal\":null,\"contextId\":\"%s\","
			  "\"alignment\":{\"chars\":[\"h\",\"\xc3\xad\",\" \",\"y\"],"
			  "\"charStartTimesMs\":[0,10,20,30],\"charDurationsMs\":[10,10,10,10]},"
			  "\"normalizedAlignment\":null}",
			  context_of(root));
	if (flushes(root))
		fake_send(f, conn,
			  "{\"audio\":\"AAAA\",\"is_final\":null,\"context_id\":\"%s\","
			  "\"alignment\":{\"chars\":[\"o\",\"u\"],\"char_start_times_ms\":[0,100],"
			  "\"char_durations_ms\":[100,100]}}",
			  context_of(root));
	if (closes(root))
		send_final(f, conn, context_of(root));
}

TEST(a_line_is_a_context_and_its_words_have_an_end)
{
	CHECK(begin(speaking_server));
	fx.stop_at = "d7";
	CHECK_INT(say(7, "H\xc3\xad y"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	/* 6 bytes are 3 samples, 3 bytes are none. */
	CHECK_STR(fx.events, "a7:6 w7:h\xc3\xad@480 w7:y@960 d7 ");
	CHECK_INT(fx.characters, 4);
	CHECK_STR(fx.fake.path[0],
		  "/v1/text-to-speech/V/multi-stream-input?model_id=eleven_flash_v2_5"
		  "&output_format=pcm_24000&inactivity_timeout=180&sync_alignment=true");
	CHECK_STR(fx.fake.auth[0], "k");
	CHECK_STR(fx.came, "{\"text\":\" \",\"context_id\":\"c1\"}\n"
			   "{\"text\":\" \",\"context_id\":\"c2\"}\n"
			   "{\"text\":\"H\xc3\xad y \",\"flush\":true,\"context_id\":\"c2\"}\n"
			   "{\"close_context\":true,\"context_id\":\"c2\"}\n");
	end();
}

static char late[8][16];
static unsigned n_late;

/* Ends no context before four are closed; then all at once. */
static void slow_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	if (flushes(root))
		send_letters(f, conn, context_of(root), "x");
	if (!closes(root))
		return;
	snprintf(late[n_late++], sizeof late[0], "%s", context_of(root));
	if (n_late == 4)
		for (unsigned i = 0; i < 4; i++)
			send_final(f, conn, late[i]);
	else if (n_late > 4)
		send_final(f, conn, context_of(root));
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
	CHECK_STR(fx.events, "a1:6 a2:6 a3:6 a4:6 w1:x@240 d1 w2:x@240 d2 w3:x@240 d3 w4:x@240 d4 "
			     "a5:6 a6:6 w5:x@240 d5 w6:x@240 d6 ");
	end();
}

static unsigned count_closes(const char *context)
{
	const char *at = fx.came;
	char wanted[64];
	unsigned n = 0;

	snprintf(wanted, sizeof wanted, "{\"close_context\":true,\"context_id\":\"%s\"}", context);
	for (; (at = strstr(at, wanted)); at++)
		n++;
	return n;
}

/* The first context goes on although it was closed. */
static void stubborn_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	note(root);
	if (flushes(root))
		for (unsigned i = 0; i < 3; i++)
			send_letters(f, conn, context_of(root), i < 2 ? "" : "two");
	else if (closes(root) && strcmp(context_of(root), "c3") == 0)
		send_final(f, conn, "c3");
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
	CHECK_STR(fx.events, "a1:6 a2:6 a2:6 a2:6 w2:two@246 d2 ");
	CHECK_INT(fx.fake.conns, 1);
	CHECK_INT(count_closes("c2"), 1);
	end();
}

/* Some sound of the first context comes after it was closed. */
static void trailing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	note(root);
	if (flushes(root))
		send_letters(f, conn, context_of(root), "one");
	if (closes(root) && strcmp(context_of(root), "c2") == 0)
		send_letters(f, conn, "c2", "");
	else if (closes(root))
		send_final(f, conn, context_of(root));
}

/* It is closed when all of it has come, so there is nothing left to close. */
TEST(a_cut_closes_no_context_that_is_closed_already)
{
	CHECK(begin(trailing_server));
	fx.stop_at = "d2";
	fx.cancel_at_audio = 1;
	fx.cancel_at_piece = 1;
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "one"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_INT(count_closes("c2"), 1);
	CHECK(strstr(fx.events, "a1:6 ") && !strstr(fx.events, "d1"));
	end();
}

/* The alignment leaves the last letters out. */
static void careless_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	note(root);
	if (flushes(root))
		send_letters(f, conn, context_of(root), "on");
	if (closes(root))
		send_final(f, conn, context_of(root));
}

TEST(a_context_is_closed_when_no_more_of_it_comes)
{
	CHECK(begin(careless_server));
	fx.stop_at = "d1";
	CHECK_INT(say(1, "one"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "a1:6 w1:on@240 d1 ");
	CHECK_INT(count_closes("c2"), 1);
	end();
}

/* Loses the first socket before any audio, and the second in the audio of the second line. */
static void losing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	if (flushes(root) && conn == 0) {
		ws_close(f->ws[conn], 1011, "broken");
		return;
	}
	if (flushes(root))
		send_letters(f, conn, context_of(root), fx.spoken++ ? "tw" : "one");
	if (closes(root)) {
		send_final(f, conn, context_of(root));
		ws_close(f->ws[conn], 1011, "broken");
	}
}

TEST(a_lost_socket_costs_a_line_only_in_its_audio)
{
	CHECK(begin(losing_server));
	fx.stop_at = "f2";
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "two"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "a1:6 a2:6 w1:one@240 d1 f2:closed 1011 broken/0 ");
	CHECK_INT(fx.fake.conns, 2);
	end();
}

static void mute_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)type;
	note(root);
	if (flushes(root) && fx.spoken++)
		send_letters(f, conn, context_of(root), "two");
	else if (closes(root) && fx.spoken > 1)
		send_final(f, conn, context_of(root));
}

/* A text of which there is nothing to say: the service would be silent until it is closed. */
TEST(a_line_without_any_sound_fails_and_its_context_is_closed)
{
	CHECK(begin(mute_server));
	fx.stop_at = "f1";
	CHECK_INT(say(1, "\xe2\x80\xa6"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "f1:no sound came/0 ");
	fx.stop_at = "d2";
	CHECK_INT(say(2, "two"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK(strstr(fx.came, "\"close_context\":true"));
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

static void refuse_with_a_wait(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "2");
	fake_http_answer(req, 429, "application/json", "{}", 2);
}

TEST(a_refusal_that_asks_for_a_wait_fails_each_line_at_once)
{
	struct fake_http web;
	struct ws_ctx *ctx = NULL;

	memset(&fx, 0, sizeof fx);
	CHECK(fake_http_begin(&web, refuse_with_a_wait, NULL));
	CHECK_INT(ws_ctx_alloc(&ctx, web.env, NULL), 0);
	CHECK(open_engine(web.env, ctx, web.http, web.base));
	fx.fake.env = web.env;
	fx.stop_at = "f2:";
	CHECK_INT(say(1, "one"), 0);
	CHECK_INT(say(2, "two"), 0);
	env_run(web.env);
	CHECK(!web.timed_out);
	CHECK(strstr(fx.events, "f1:closed 1006 refused with status 429") == fx.events);
	CHECK(strstr(fx.events, "retry after 2000 ms"));
	/* Neither a second socket nor a request. */
	CHECK_INT(web.requests, 1);
	engine_speech_stream.free(fx.speech);
	ws_ctx_free(ctx);
	fake_http_end(&web);
}
