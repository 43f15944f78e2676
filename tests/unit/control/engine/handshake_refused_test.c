/* Transcription sessions whose handshake is refused with a wait. */
#include "control/engine/transcribe_session.h"

#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct seen {
	struct fake_http fake;
	struct ws_ctx *ctx;
	struct transcribe_session *asr;
	const char *wait; /* seconds */
	uint64_t asked[4];
	char events[512];
} fx;

static void refuse(struct fake_http *f, struct evhttp_request *req)
{
	if (f->requests <= 4)
		fx.asked[f->requests - 1] = env_now(f->env);
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

static bool begin(const char *wait)
{
	char url[96];

	memset(&fx, 0, sizeof fx);
	fx.wait = wait;
	if (!fake_http_begin(&fx.fake, refuse, NULL) || ws_ctx_alloc(&fx.ctx, fx.fake.env, NULL))
		return false;
	snprintf(url, sizeof url, "ws%.60s/realtime", fx.fake.base + strlen("http"));
	return !transcribe_session_alloc(&fx.asr,
					 &(struct transcribe_conf){.env = fx.fake.env,
								   .ws = fx.ctx,
								   .dialect = DIALECT_OPENAI,
								   .url = url,
								   .model = "m",
								   .h = heard});
}

static void end(void)
{
	transcribe_session_free(fx.asr);
	ws_ctx_free(fx.ctx);
	fake_http_end(&fx.fake);
}

static void speak(uint32_t utterance)
{
	static const uint8_t pcm[48000];

	transcribe_session_start(fx.asr, 1, utterance);
	transcribe_session_append(fx.asr, 1, utterance, pcm, sizeof pcm);
	transcribe_session_commit(fx.asr, 1, utterance);
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
