/* The whole server on loopback: a spoken question goes in, a spoken answer comes out. */
#include "control/offline/rules.h"
#include "control/offline/server.h"
#include "control/offline/speech.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/test.h"

#include <jansson.h>
#include <sodium.h>

static struct fixture {
	struct env *env;
	struct ws_ctx *ctx;
	struct rules *rules;
	struct pattern_graph graph;
	struct server *server;
	struct ws *ws;
	struct tmr *deadline;
	int16_t *question;
	size_t n;
	char heard[256], said[512], status[32];
	size_t sound;
	bool late, closed;
} fx;

static bool keep(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	int16_t *p = realloc(fx.question, (fx.n + n) * sizeof *p + 1);

	(void)piece;
	(void)arg;
	if (!p)
		return false;
	memcpy(p + fx.n, pcm, n * sizeof *p);
	fx.question = p;
	fx.n += n;
	return true;
}

static void on_deadline(void *arg)
{
	fx.late = true;
	env_stop(arg);
}

static void put(const char *json)
{
	ws_send(fx.ws, true, json, strlen(json));
}

static void ask(void)
{
	char b64[9600 * 4 / 3 + 16], text[sizeof b64 + 64];

	put("{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"turn_detection\":"
	    "null,\"transcription\":{"
	    "\"model\":\"x\"}}}}}");
	for (size_t i = 0; i < fx.n; i += 4800) {
		size_t n = fx.n - i < 4800 ? fx.n - i : 4800;

		sodium_bin2base64(b64, sizeof b64, (unsigned char *)(fx.question + i), n * 2,
				  sodium_base64_VARIANT_ORIGINAL);
		snprintf(text, sizeof text,
			 "{\"type\":\"input_audio_buffer.append\",\"audio\":\"%s\"}", b64);
		put(text);
	}
	put("{\"type\":\"input_audio_buffer.commit\"}");
	put("{\"type\":\"response.create\"}");
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	json_t *e = ev == WS_TEXT ? json_loadb((const char *)data, len, 0, NULL) : NULL;
	const char *type = json_string_value(json_object_get(e, "type"));

	(void)ws;
	(void)code;
	if (ev == WS_CLOSED) {
		fx.closed = true;
		env_stop(arg);
	}
	if (!type)
		return;
	if (strcmp(type, "session.created") == 0)
		ask();
	else if (strcmp(type, "conversation.item.input_audio_transcription.completed") == 0)
		snprintf(fx.heard, sizeof fx.heard, "%s",
			 json_string_value(json_object_get(e, "transcript")));
	else if (strcmp(type, "response.output_audio_transcript.done") == 0)
		snprintf(fx.said, sizeof fx.said, "%s",
			 json_string_value(json_object_get(e, "transcript")));
	else if (strcmp(type, "response.output_audio.delta") == 0)
		fx.sound += json_string_length(json_object_get(e, "delta")) / 4 * 3 / 2;
	if (strcmp(type, "response.done") == 0) {
		snprintf(fx.status, sizeof fx.status, "%s",
			 json_string_value(
				 json_object_get(json_object_get(e, "response"), "status")));
		env_stop(arg);
	}
	json_decref(e);
}

static int setup(void)
{
	struct server_conf conf = {.host = "127.0.0.1", .recognisers = 1};
	struct speech *speech = NULL;
	const char *why = "";
	int err;

	memset(&fx, 0, sizeof fx);
	err = env_alloc(&fx.env, &(struct env_conf){.loop = true});
	if (!err)
		err = ws_ctx_alloc(&fx.ctx, fx.env, NULL);
	if (!err)
		err = rules_alloc(&fx.rules);
	if (!err)
		err = rules_graph(fx.rules, &fx.graph);
	if (!err)
		err = speech_alloc(&speech);
	if (!err)
		err = speech_say(speech, "What is seven times eight?", "rms", 1, keep, NULL);
	speech_free(speech);
	conf.env = fx.env;
	conf.ws = fx.ctx;
	conf.rules = fx.rules;
	conf.recogniser = (struct recogniser_conf){.graph = &fx.graph, .sounds = rules_sounds()};
	if (!err)
		err = server_alloc(&fx.server, &conf, &why);
	if (err)
		printf("%s\n", why);
	if (!err)
		err = tmr_alloc(&fx.deadline, fx.env, on_deadline, fx.env);
	if (!err)
		tmr_start(fx.deadline, 60 * NS_PER_S);
	return err;
}

static void teardown(void)
{
	ws_free(fx.ws);
	server_free(fx.server);
	tmr_free(fx.deadline);
	ws_ctx_free(fx.ctx);
	pattern_graph_free(&fx.graph);
	rules_free(fx.rules);
	env_free(fx.env);
	free(fx.question);
}

static int dial(const char *path)
{
	char url[128];

	snprintf(url, sizeof url, "ws://127.0.0.1:%u%s", server_port(fx.server), path);
	return ws_connect(&fx.ws, fx.ctx, &(struct ws_dial){.url = url, .max_message = 1 << 20},
			  on_ws, fx.env);
}

TEST(server_answers_a_spoken_question)
{
	CHECK_INT(setup(), 0);
	CHECK_INT(dial("/v1/realtime?model=offline"), 0);
	env_run(fx.env);
	CHECK(!fx.late);
	CHECK_STR(fx.heard, "what is seven times eight");
	CHECK_STR(fx.said, "Seven times eight is fifty six.");
	CHECK_STR(fx.status, "completed");
	CHECK(fx.sound > 24000);
	/* Another path is refused. */
	ws_free(fx.ws);
	CHECK_INT(dial("/v2/nothing"), 0);
	env_run(fx.env);
	CHECK(fx.closed && !fx.late);
	teardown();
}

static void on_response(const struct http_resp *resp, void *arg)
{
	*(int *)arg = resp->status;
	env_stop(fx.env);
}

/* The status of the answer to a question that this page asks; NULL: a program. */
static int ask_as(struct http *http, const char *origin)
{
	static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
	const char *const headers[] = {origin, NULL};
	char url[128];
	int status = 0;
	struct http_call call = {.method = "POST",
				 .url = url,
				 .headers = headers,
				 .body = body,
				 .body_len = sizeof body - 1};

	snprintf(url, sizeof url, "http://127.0.0.1:%u/v1/chat/completions",
		 server_port(fx.server));
	if (http_request(NULL, http, &call, on_response, &status) == 0)
		env_run(fx.env);
	return status;
}

TEST(server_is_not_for_pages_of_a_browser)
{
	struct http *http = NULL;

	CHECK_INT(setup(), 0);
	CHECK_INT(http_alloc(&http, fx.env, NULL, "test"), 0);
	CHECK_INT(ask_as(http, NULL), 200);
	CHECK_INT(ask_as(http, "Origin: https://elsewhere.example"), 403);
	CHECK_INT(ask_as(http, "Origin: null"), 403);
	CHECK(!fx.late);
	http_free(http);
	teardown();
}

TEST(server_says_what_is_missing)
{
	struct recogniser_conf conf = {.model = "/nonexistent"};
	const char *why = "";
	struct recogniser *e = NULL;

	CHECK_INT(recogniser_alloc(&e, &conf, &why), ENOENT);
	CHECK(strstr(why, "pocketsphinx-en-us"));
	CHECK(!e);
}
