/* Engines with sockets while allocations fail: whatever fails, the rest is freed, and can be used
 * as far as it is there. Nothing is connected here; the dialects and cores have tests of their own.
 */
#include "tests/test.h"

#include "control/engine/engine.h"
#include "control/engine/transcribe_session.h"
#include "control/engine/transcribe_shared.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/ws.h"
#include "proto/media.h"

static struct {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	bool told;
} fx;

static int open_loop(void)
{
	int err;

	memset(&fx, 0, sizeof fx);
	err = env_alloc(&fx.env, &(struct env_conf){.loop = true});
	if (!err)
		err = ws_ctx_alloc(&fx.ws, fx.env, NULL);
	if (!err)
		err = http_alloc(&fx.http, fx.env, NULL, "x");
	return err;
}

static void close_loop(void)
{
	http_free(fx.http);
	ws_ctx_free(fx.ws);
	env_free(fx.env);
}

static void take_event(const struct engine_event *ev, void *arg)
{
	(void)ev, (void)arg;
	fx.told = true;
}

static int open_engine(void **engine, enum dialect dialect, enum role role)
{
	const struct engine_caps *caps = engine_caps(dialect, role);

	return caps->ops->alloc(engine, &(struct engine_conf){.env = fx.env,
							      .ws = fx.ws,
							      .http = fx.http,
							      .caps = caps,
							      .socket_url = "ws://127.0.0.1:9/v1",
							      .http_url = "http://127.0.0.1:9/v1",
							      .key = "sk-test-key",
							      .model = "m",
							      .voice = "v",
							      .language = "en",
							      .options = "",
							      .silent_ms = 8000,
							      .h = take_event});
}

static int ask(const struct engine_ops *ops, void *engine)
{
	const struct engine_message line = {.role = ENGINE_USER, .speaker = "Alice", .text = "hi"};
	const struct engine_ask asked = {.id = 1,
					 .turn = 1,
					 .instructions = "",
					 .model = "m",
					 .voice = "v",
					 .messages = &line,
					 .n = 1};

	return ops->ask(engine, &asked);
}

/* gemini resamples, and its session cannot be changed. */
static int use_voice(enum dialect dialect)
{
	static const struct engine_tool tool = {"look", "looks", "{\"type\":\"object\"}"};
	const struct engine_ops *ops = &engine_realtime;
	void *engine = NULL;
	int err = open_engine(&engine, dialect, ROLE_VOICE);

	if (!err)
		err = ops->instruct(engine, "be brief");
	if (!err)
		err = ops->tools(engine, &tool, 1);
	if (!err)
		err = ops->rekey(engine, "another-key");
	if (!err)
		err = ask(ops, engine);
	if (!err) {
		ops->result(engine, "c", "{}", false);
		ops->cancel(engine, 1);
		ops->forget(engine, 1);
		ops->wake(engine);
	}
	ops->free(engine);
	return err;
}

TEST_OOM(a_realtime_voice_without_memory)
{
	int err = open_loop();

	if (!err)
		err = use_voice(DIALECT_OPENAI);
	close_loop();
	CHECK_OOM(err, (void)0);
}

TEST_OOM(a_resampled_voice_without_memory)
{
	int err = open_loop();

	if (!err)
		err = use_voice(DIALECT_GEMINI);
	close_loop();
	CHECK_OOM(err, (void)0);
}

TEST_OOM(a_voice_that_reads_out_without_memory)
{
	void *engine = NULL;
	int err = open_loop();

	if (!err)
		err = open_engine(&engine, DIALECT_ELEVENLABS, ROLE_SPEECH);
	if (!err)
		err = engine_speech_stream.rekey(engine, "another-key");
	if (!err)
		err = ask(&engine_speech_stream, engine);
	if (!err)
		engine_speech_stream.cancel(engine, 1);
	engine_speech_stream.free(engine);
	close_loop();
	CHECK_OOM(err, (void)0);
}

static void take_transcript(enum transcribe_event ev, uint64_t user, uint32_t utterance,
			    const uint8_t *text, size_t n, struct transcribe_sure sure, void *arg)
{
	(void)ev, (void)user, (void)utterance, (void)text, (void)n, (void)sure, (void)arg;
	fx.told = true;
}

static struct transcribe_conf conf_of(enum dialect dialect)
{
	return (struct transcribe_conf){.env = fx.env,
					.ws = fx.ws,
					.dialect = dialect,
					.base = "http://127.0.0.1:9/v1",
					.url = "ws://127.0.0.1:9/v1",
					.model = "m",
					.language = "en",
					.key = "sk-test-key",
					.h = take_transcript};
}

/* vLLM takes another rate. */
static int use_session(enum dialect dialect)
{
	static const uint8_t pcm[960];
	const struct transcribe_conf conf = conf_of(dialect);
	struct transcribe_session *a = NULL;
	int err = transcribe_session_alloc(&a, &conf);

	if (!err)
		err = transcribe_session_start(a, 1, 7);
	if (!err) {
		for (unsigned i = 0; i < 10; i++)
			transcribe_session_append(a, 1, 7, pcm, sizeof pcm);
		transcribe_session_commit(a, 1, 7);
		transcribe_session_cancel(a, 1, 7);
		transcribe_session_close(a, 1);
	}
	transcribe_session_free(a);
	return err;
}

TEST_OOM(a_transcription_session_without_memory)
{
	int err = open_loop();

	if (!err)
		err = use_session(DIALECT_OPENAI);
	close_loop();
	CHECK_OOM(err, (void)0);
}

TEST_OOM(a_resampled_transcription_session_without_memory)
{
	int err = open_loop();

	if (!err)
		err = use_session(DIALECT_VLLM);
	close_loop();
	CHECK_OOM(err, (void)0);
}

TEST_OOM(a_shared_transcription_session_without_memory)
{
	static const uint8_t pcm[960];
	struct transcribe_shared *s = NULL;
	struct transcribe_conf conf;
	int err = open_loop();

	conf = conf_of(DIALECT_OPENAI);
	if (!err)
		err = transcribe_shared_alloc(&s, &conf);
	for (uint32_t i = 1; !err && i < 3; i++)
		err = transcribe_shared_start(s, i, i);
	if (!err) {
		for (unsigned i = 0; i < 20; i++)
			transcribe_shared_append(s, 1 + i % 2, pcm, sizeof pcm);
		transcribe_shared_promoted(s, 1);
		transcribe_shared_promoted(s, 2);
		transcribe_shared_commit(s, 1, 1);
		transcribe_shared_cancel(s, 2);
		transcribe_shared_close(s, 1);
		transcribe_shared_close(s, 2);
	}
	transcribe_shared_free(s);
	close_loop();
	CHECK_OOM(err, (void)0);
}
