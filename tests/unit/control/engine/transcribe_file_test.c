#include "control/engine/transcribe_file.h"

#include "../fake_http.h"
#include "proto/base/wav.h"
#include "tests/test.h"

enum { ALICE = 5, BOB = 6 };

static struct seen {
	struct fake_http fake;
	struct transcribe_file *files;
	char events[256]; /* "t5/1:words/doubt/no_speech f5/2:why " */
	const char *answer;
	int status;
	unsigned held; /* requests that are refused first, with a wait of 60 ms */
} fx;

static void on_words(enum transcribe_event ev, uint64_t user, uint32_t utterance,
		     const uint8_t *text, size_t n, struct transcribe_sure sure, void *arg)
{
	size_t at = strlen(fx.events);

	(void)arg;
	snprintf(fx.events + at, sizeof fx.events - at, "%c%llu/%u:%.*s/%u/%u ",
		 ev == TRANSCRIBE_TRANSCRIPT ? 't' : 'f', (unsigned long long)user, utterance,
		 (int)n, (const char *)text, sure.doubt, sure.no_speech);
	env_stop(fx.fake.env);
}

static void on_request(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	if (fx.held && fx.held--) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "0.06");
		fake_http_answer(req, 429, "application/json", "{}", 2);
		return;
	}
	fake_http_answer(req, fx.status, "application/json", fx.answer, strlen(fx.answer));
}

static bool begin_dialect(const char *answer, int status, enum dialect dialect)
{
	memset(&fx, 0, sizeof fx);
	fx.answer = answer;
	fx.status = status;
	return fake_http_begin(&fx.fake, on_request, NULL) &&
	       !transcribe_file_alloc(&fx.files, &(struct transcribe_conf){.env = fx.fake.env,
									   .dialect = dialect,
									   .http = fx.fake.http,
									   .base = fx.fake.base,
									   .base_key = "the-key",
									   .model = "m",
									   .language = "en",
									   .h = on_words});
}

static bool begin(const char *answer, int status)
{
	return begin_dialect(answer, status, DIALECT_OPENAI);
}

static void end(void)
{
	transcribe_file_free(fx.files);
	fake_http_end(&fx.fake);
}

static void speak(uint64_t user, uint32_t utterance, const char *pcm)
{
	transcribe_file_start(fx.files, user, utterance);
	transcribe_file_append(fx.files, user, utterance, (const uint8_t *)pcm, strlen(pcm));
}

static int send_now(void)
{
	uint64_t user = 0;
	uint32_t utterance = 0;

	return transcribe_file_send(fx.files, &user, &utterance);
}

/* The sound of the file that arrived. */
static const char *arrived(void)
{
	static char pcm[64];
	uint8_t *wav = memmem(fx.fake.body, fx.fake.n, "RIFF", 4);
	struct wav w;

	if (!wav || wav_parse(&w, wav, fx.fake.n - (size_t)(wav - fx.fake.body)) || w.rate != 24000)
		return "no wav";
	snprintf(pcm, sizeof pcm, "%.*s", (int)(2 * w.frames), (const char *)w.data);
	return pcm;
}

TEST(a_recording_goes_out_and_its_words_come_back)
{
	CHECK(begin("{\"text\":\"what time is it\",\"logprobs\":[{\"logprob\":-0.25}]}", 200));
	speak(ALICE, 1, "abcd");
	transcribe_file_append(fx.files, ALICE, 1, (const uint8_t *)"ef", 2);
	CHECK_INT(send_now(), 0);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), 0);
	CHECK_INT(send_now(), 0);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), ENOENT);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t5/1:what time is it/251/0 ");
	CHECK_STR(fx.fake.path, "/v1/audio/transcriptions");
	CHECK_STR(fx.fake.auth, "Bearer the-key");
	CHECK(strncmp(fx.fake.type, "multipart/form-data; boundary=parley", 36) == 0);
	CHECK_STR(arrived(), "abcdef");
	CHECK_INT(fx.fake.requests, 1);
	end();
}

TEST(how_likely_it_was_no_speech_goes_with_the_words)
{
	CHECK(begin("{\"text\":\"hm\",\"segments\":[{\"text\":\"hm\",\"avg_logprob\":-0.5,"
		    "\"no_speech_prob\":0.75}]}",
		    200));
	speak(ALICE, 1, "ab");
	transcribe_file_run(fx.files, ALICE, 1);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t5/1:hm/501/751 ");
	end();
}

TEST(those_of_one_step_are_one)
{
	CHECK(begin("{\"text\":\"both\"}", 200));
	speak(ALICE, 1, "ab");
	speak(BOB, 2, "xx");
	speak(ALICE, 3, "cd");
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), 0);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 3), 0);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t5/1:both/0/0 ");
	CHECK_STR(arrived(), "abcd");
	end();
}

TEST(recordings_that_are_refused_fail_once)
{
	CHECK(begin("{\"error\":{\"message\":\"no\"}}", 429));
	speak(ALICE, 1, "ab");
	transcribe_file_run(fx.files, ALICE, 1);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "f5/1:status 429 rate_limit_exceeded: no/0/0 ");
	fx.status = 200;
	speak(ALICE, 2, "ab");
	transcribe_file_run(fx.files, ALICE, 2);
	CHECK_INT(send_now(), 0);
	fx.events[0] = '\0';
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "f5/2:the answer holds no words/0/0 ");
	end();
}

TEST(recordings_that_are_not_wanted_any_more)
{
	CHECK(begin("{\"text\":\"bob\"}", 200));
	speak(ALICE, 1, "ab");
	transcribe_file_run(fx.files, ALICE, 1);
	CHECK_INT(send_now(), 0);
	transcribe_file_cancel(fx.files, ALICE, 1); /* it is on its way */
	speak(ALICE, 2, "cd");
	transcribe_file_cancel(fx.files, ALICE, 2);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 2), ENOENT);
	speak(ALICE, 3, "ef");
	transcribe_file_close(fx.files, ALICE);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 3), ENOENT);
	transcribe_file_append(fx.files, ALICE, 3, (const uint8_t *)"gh", 2);
	speak(BOB, 4, "xx");
	transcribe_file_run(fx.files, BOB, 4);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t6/4:bob/0/0 ");
	end();
}

TEST(recordings_are_capped)
{
	static uint8_t much[1 << 20];

	CHECK(begin("{}", 200));
	transcribe_file_start(fx.files, ALICE, 1);
	for (unsigned i = 0; i < 5; i++)
		transcribe_file_append(fx.files, ALICE, 1, much, sizeof much);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), ENOBUFS);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), ENOENT);
	for (unsigned i = 0; i < TRANSCRIBE_FILE_KEPT; i++)
		CHECK_INT(transcribe_file_start(fx.files, ALICE, 10 + i), 0);
	CHECK_INT(transcribe_file_start(fx.files, ALICE, 9), ENOBUFS);
	/* All together: 32 of 1 MiB fill it. */
	for (unsigned i = 0; i < 40; i++)
		transcribe_file_append(fx.files, ALICE, 10 + i, much, sizeof much);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 10), 0);
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 49), ENOBUFS);
	end();
}

TEST_OOM(recordings_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct transcribe_file *f = NULL;
	uint64_t user;
	uint32_t utterance;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = transcribe_file_alloc(
			&f, &(struct transcribe_conf){.env = env,
						      .http = http,
						      .base = "http://127.0.0.1:9/v1",
						      .model = "m",
						      .h = on_words});
	if (!err)
		err = transcribe_file_start(f, ALICE, 1);
	if (!err) {
		transcribe_file_append(f, ALICE, 1, (const uint8_t *)"ab", 2);
		err = transcribe_file_run(f, ALICE, 1);
		err = err == ENOBUFS ? ENOMEM : err;
	}
	if (!err)
		err = transcribe_file_send(f, &user, &utterance);
	transcribe_file_free(f);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}

TEST(recordings_go_to_scribe)
{
	CHECK(begin_dialect("{\"language_code\":\"en\",\"text\":\"what time\",\"words\":["
			    "{\"text\":\"what\",\"type\":\"word\",\"logprob\":-0.5},"
			    "{\"text\":\" \",\"type\":\"spacing\",\"logprob\":-9},"
			    "{\"text\":\"time\",\"type\":\"word\",\"logprob\":-1.5}]}",
			    200, DIALECT_ELEVENLABS));
	speak(ALICE, 1, "abcd");
	transcribe_file_run(fx.files, ALICE, 1);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t5/1:what time/1001/0 ");
	CHECK_STR(fx.fake.path, "/v1/speech-to-text");
	CHECK_STR(fx.fake.auth, "");
	CHECK(memmem(fx.fake.body, fx.fake.n, "name=\"model_id\"\r\n\r\nm\r\n", 22));
	CHECK(memmem(fx.fake.body, fx.fake.n, "name=\"language_code\"\r\n\r\nen\r\n", 28));
	CHECK_STR(arrived(), "abcd");
	end();
}

/* Its audio is sent again after the service's Retry-After, and not a third time. */
TEST(a_recording_waits_as_long_as_it_is_asked_to)
{
	CHECK(begin("{\"text\":\"hello\"}", 200));
	fx.held = 1;
	speak(ALICE, 1, "abcd");
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 1), 0);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "t5/1:hello/0/0 ");
	CHECK_STR(arrived(), "abcd");
	CHECK_INT(fx.fake.requests, 2);
	fx.events[0] = '\0';
	fx.held = 2;
	speak(ALICE, 2, "abcd");
	CHECK_INT(transcribe_file_run(fx.files, ALICE, 2), 0);
	CHECK_INT(send_now(), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "f5/2:status 429 rate_limit_exceeded, retry after 60 ms/0/0 ");
	CHECK_INT(fx.fake.requests, 4);
	/* One that waits is forgotten with its speaker. */
	fx.held = 1;
	speak(BOB, 3, "abcd");
	CHECK_INT(transcribe_file_run(fx.files, BOB, 3), 0);
	CHECK_INT(send_now(), 0);
	transcribe_file_close(fx.files, BOB);
	end();
}
