/* Sessions whose handshake is refused with a wait. */
#include "control/engine/engine.h"
#include "control/engine/transcribe_session.h"

#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	struct ws_ctx *ctx;
	struct transcribe_session *asr;
	void *voice;
	const char *wait; /* seconds */
	char auth[2][32];
	uint64_t asked[4];
	char events[512];
} fx;

static void refuse(struct fake_http *f, struct evhttp_request *req)
{
	const char *auth =
		evhttp_find_header(evhttp_request_get_input_headers(req), "Authorization");

	if (f->requests <= 4)
		fx.asked[f->requests - 1] = env_now(f->env);
	if (f->requests <= 2)
		snprintf(fx.auth[f->requests - 1], sizeof fx.auth[0], "%s", auth ? auth : "");
	if (fx.voice && f->requests == 2)
		env_stop(f->env);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", fx.wait);
	fake_http_answer(req, 429, "application/json", "{}", 2);
}

static void heard(enum transcribe_event ev, uint64_t user, uint32_t utterance, const uint8_t *text,
		  size_t n, struct transcribe_sure sure, void *arg)
{
	size_t at = strlen(fx.events);

	(void)sure, (void)arg;
	snprintf(fx.events + at, sizeof fx.events - at, "%c%llu/%u:%.*s ",
		 ev == TRANSCRIBE_FAILED ? 'f' : 't', (unsigned long long)user, utterance, (int)n,
		 (const char *)text);
	env_stop(fx.fake.env);
}

static bool begin_server(const char *wait, char *url, size_t size)
{
	memset(&fx, 0, sizeof fx);
	fx.wait = wait;
	if (!fake_http_begin(&fx.fake, refuse, NULL) || ws_ctx_alloc(&fx.ctx, fx.fake.env, NULL))
		return false;
	snprintf(url, size, "ws%.60s/realtime", fx.fake.base + strlen("http"));
	return true;
}

static bool begin(const char *wait)
{
	char url[96];

	return begin_server(wait, url, sizeof url) &&
	       !transcribe_session_alloc(&fx.asr,
					 &(struct transcribe_conf){.env = fx.fake.env,
								   .ws = fx.ctx,
								   .dialect = DIALECT_OPENAI,
								   .url = url,
								   .model = "m",
								   .h = heard});
}

static void end(void)
{
	if (fx.voice)
		engine_realtime.free(fx.voice);
	transcribe_session_free(fx.asr);
	ws_ctx_free(fx.ctx);
	fake_http_end(&fx.fake);
}

static void speak_as(uint64_t user, uint32_t utterance)
{
	static const uint8_t pcm[48000];

	transcribe_session_start(fx.asr, user, utterance);
	transcribe_session_append(fx.asr, user, utterance, pcm, sizeof pcm);
	transcribe_session_commit(fx.asr, user, utterance);
}

static void speak(uint32_t utterance)
{
	speak_as(1, utterance);
}

TEST(a_session_is_opened_again_after_the_wait_that_its_provider_asks_for)
{
	CHECK(begin("0.2"));
	speak(1);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "f1/1:closed 1006 refused with status 429 rate_limit_exceeded, retry "
			     "after 200 ms ");
	CHECK_INT(fx.fake.requests, 2);
	CHECK(fx.asked[1] - fx.asked[0] >= 190 * NS_PER_MS);
	end();
}

TEST(a_session_that_must_wait_for_long_fails_its_utterances_at_once)
{
	CHECK(begin("30"));
	speak(1);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "f1/1:closed 1006 refused with status 429 rate_limit_exceeded, retry "
			     "after 30000 ms ");
	fx.events[0] = '\0';
	speak(2);
	CHECK(strncmp(fx.events, "f1/2:closed 1006 refused with status 429", 40) == 0);
	CHECK_INT(fx.fake.requests, 1);
	CHECK(!fx.fake.timed_out);
	end();
}

TEST(a_wait_lasts_until_another_key_is_given)
{
	CHECK(begin("30"));
	CHECK_INT(transcribe_session_rekey(fx.asr, "first"), 0);
	speak(1);
	env_run(fx.fake.env);
	fx.events[0] = '\0';
	/* Another setting was changed. */
	CHECK_INT(transcribe_session_rekey(fx.asr, "first"), 0);
	speak_as(2, 2);
	CHECK_STR(fx.events, "f2/2:rate_limit: the provider asked for a longer wait ");
	env_run(fx.fake.env); /* ends at once: the handler has stopped it */
	CHECK_INT(transcribe_session_rekey(fx.asr, "second"), 0);
	speak(3);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.auth[1], "Bearer second");
	end();
}

static void give_second_key(void *arg)
{
	(void)arg;
	transcribe_session_rekey(fx.asr, "second");
}

TEST(a_session_that_waits_connects_at_once_with_another_key)
{
	struct tmr *t;

	CHECK(begin("3.9"));
	speak(1);
	CHECK_INT(tmr_alloc(&t, fx.fake.env, give_second_key, NULL), 0);
	tmr_start(t, 200 * NS_PER_MS);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.auth[1], "Bearer second");
	CHECK(fx.asked[1] - fx.asked[0] < 3900 * NS_PER_MS);
	tmr_free(t);
	end();
}

static void on_voice_event(const struct engine_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == ENGINE_LINK_DOWN)
		env_stop(fx.fake.env);
}

TEST(a_voice_session_that_waits_connects_at_once_with_another_key)
{
	char url[96];

	CHECK(begin_server("30", url, sizeof url));
	CHECK_INT(engine_realtime.alloc(
			  &fx.voice,
			  &(struct engine_conf){.env = fx.fake.env,
						.ws = fx.ctx,
						.caps = engine_caps(DIALECT_OPENAI, ROLE_VOICE),
						.socket_url = url,
						.model = "m",
						.voice = "",
						.key = "first",
						.silent_ms = 8000,
						.h = on_voice_event}),
		  0);
	env_run(fx.fake.env);
	CHECK_INT(fx.fake.requests, 1);
	/* Another setting was changed. */
	CHECK_INT(engine_realtime.rekey(fx.voice, "first"), 0);
	CHECK_INT(engine_realtime.rekey(fx.voice, "second"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.auth[0], "Bearer first");
	CHECK_STR(fx.auth[1], "Bearer second");
	end();
}
