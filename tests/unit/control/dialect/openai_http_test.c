#include "control/dialect/openai_http.h"

#include "control/dialect/openai.h"
#include "control/dialect/sse.h"
#include "control/engine/engine.h"
#include "tests/test.h"

/* ---- events of a stream ---- */

static bool collect(const uint8_t *data, size_t n, void *arg)
{
	char *all = arg;
	size_t at = strlen(all);

	snprintf(all + at, 512 - at, "<%.*s>", (int)n, (const char *)data);
	return strstr(all, "stop") == NULL;
}

static const char stream[] =
	"\xef\xbb\xbf: ping\r\n\r\nevent: x\rdata: one\r\rdata:two\ndata:  three\n\n"
	"id: 4\n\ndata\n\ndatax: no\ndata: \xc3\xa9\r\n\r\ndata: never ended";

TEST(sse_reads_events_in_any_pieces)
{
	static const char want[] = "<one><two\n three><><\xc3\xa9>";

	for (size_t step = 1; step <= sizeof stream; step++) {
		struct sse s = {0};
		char all[512] = "";

		for (size_t i = 0; i < sizeof stream - 1; i += step) {
			size_t n = sizeof stream - 1 - i;

			CHECK_INT(sse_feed(&s, stream + i, n < step ? n : step, collect, all), 0);
		}
		CHECK_STR(all, want);
		sse_clear(&s);
	}
}

TEST(sse_ends_when_asked_and_when_too_big)
{
	static char big[SSE_MAX + 8];
	struct sse s = {0};
	char all[512] = "";

	CHECK_INT(sse_feed(&s, "data: stop\n\ndata: more\n\n", 24, collect, all), ECANCELED);
	CHECK_STR(all, "<stop>");
	sse_clear(&s);
	memset(big, 'x', sizeof big);
	memcpy(big, "data: ", 6);
	all[0] = '\0';
	CHECK_INT(sse_feed(&s, big, sizeof big, collect, all), EMSGSIZE);
	CHECK_STR(all, "");
	sse_clear(&s);
}

TEST_OOM(sse_without_memory)
{
	struct sse s = {0};
	char all[512] = "";
	int err = sse_feed(&s, "data: one\n\n", 11, collect, all);

	CHECK_OOM(err, sse_clear(&s));
	CHECK_STR(all, "<one>");
	sse_clear(&s);
}

/* ---- recordings ---- */

static struct openai_recording recording(const char *model)
{
	static const uint8_t pcm[] = {1, 2, 3, 4};

	return (struct openai_recording){.model = model,
					 .language = "en",
					 .boundary = "b0",
					 .pcm = {pcm, sizeof pcm},
					 .rate = 24000};
}

TEST(a_recording_is_a_form_with_a_wav_file)
{
	static const char head[] =
		"--b0\r\nContent-Disposition: form-data; "
		"name=\"model\"\r\n\r\ngpt-4o-transcribe\r\n"
		"--b0\r\nContent-Disposition: form-data; name=\"language\"\r\n\r\nen\r\n"
		"--b0\r\nContent-Disposition: form-data; name=\"response_format\"\r\n\r\njson\r\n"
		"--b0\r\nContent-Disposition: form-data; name=\"include[]\"\r\n\r\nlogprobs\r\n"
		"--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.wav\"\r\n"
		"Content-Type: audio/wav\r\n\r\nRIFF";
	struct openai_recording rec = recording("gpt-4o-transcribe");
	struct openai_body b;

	CHECK_INT(openai_transcription(&b, &rec), 0);
	CHECK_MEM(b.p, sizeof head - 1, head, sizeof head - 1);
	CHECK_INT(b.sound_at, sizeof head - 1 - 4 + 44);
	CHECK_MEM(b.p + b.sound_at, b.n - b.sound_at, "\1\2\3\4\r\n--b0--\r\n", 14);
	CHECK_STR(b.type, "Content-Type: multipart/form-data; boundary=b0");
	free(b.p);
}

TEST(a_recording_asks_each_model_for_what_it_knows)
{
	static const struct {
		const char *model, *format;
		bool logprobs;
	} table[] = {{"whisper-1", "verbose_json", false},
		     {"gpt-4o-mini-transcribe", "json", true},
		     {"gpt-4o-transcribe-diarize", "json", false},
		     {"something-local", "json", false}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct openai_recording rec = recording(table[i].model);
		struct openai_body b;

		rec.language = "";
		CHECK_INT(openai_transcription(&b, &rec), 0);
		CHECK(memmem(b.p, b.n, table[i].format, strlen(table[i].format)));
		CHECK_INT(memmem(b.p, b.n, "logprobs", 8) != NULL, table[i].logprobs);
		CHECK(!memmem(b.p, b.n, "language", 8));
		free(b.p);
	}
}

TEST(a_recording_needs_a_boundary_and_whole_samples)
{
	struct openai_recording rec = recording("m");
	struct openai_body b;
	char longest[72];

	rec.boundary = "";
	CHECK_INT(openai_transcription(&b, &rec), EINVAL);
	memset(longest, 'x', 71);
	longest[71] = '\0';
	rec.boundary = longest;
	CHECK_INT(openai_transcription(&b, &rec), EINVAL);
	rec.boundary = longest + 1;
	CHECK_INT(openai_transcription(&b, &rec), 0);
	free(b.p);
	rec.pcm.n = 3;
	CHECK_INT(openai_transcription(&b, &rec), EINVAL);
}

static int words(struct openai_words *w, const char *body)
{
	memset(w, 'x', sizeof *w);
	return openai_transcript(w, body, strlen(body));
}

TEST(words_of_a_recording)
{
	struct openai_words w;

	CHECK_INT(words(&w, "{\"text\":\"  what time is it\"}"), 0);
	CHECK_STR(w.text, "what time is it");
	CHECK(w.doubt == 0 && w.no_speech == 0);
	CHECK_INT(words(&w, "{\"text\":\"hm\",\"logprobs\":[{\"token\":\"h\",\"logprob\":-0.5},"
			    "{\"token\":\"m\",\"logprob\":-1.5}]}"),
		  0);
	CHECK_INT(w.doubt, 1001);
	CHECK_INT(words(&w, "{\"text\":\"\"}"), 0);
	CHECK_STR(w.text, "");
	CHECK_INT(words(&w, "{}"), EBADMSG);
	CHECK_INT(words(&w, "{\"text\":5}"), EBADMSG);
	CHECK_INT(words(&w, "no json"), EBADMSG);
	CHECK_INT(words(&w, ""), EBADMSG);
}

TEST(stretches_that_are_no_speech_are_left_out)
{
	struct openai_words w;

	CHECK_INT(words(&w, "{\"text\":\" Hello. Thank you for watching.\",\"segments\":["
			    "{\"text\":\" Hello.\",\"avg_logprob\":-0.2,\"no_speech_prob\":0.1,"
			    "\"tokens\":[1,2,3]},"
			    "{\"text\":\" Thank you for watching.\",\"avg_logprob\":-1.2,"
			    "\"no_speech_prob\":0.9,\"tokens\":[1]}]}"),
		  0);
	CHECK_STR(w.text, "Hello.");
	CHECK_INT(w.doubt, 201);
	CHECK_INT(w.no_speech, 101);
	/* One that it is sure of counts, whatever it holds of the silence. */
	CHECK_INT(words(&w, "{\"text\":\" Yes.\",\"segments\":[{\"text\":\" Yes.\","
			    "\"avg_logprob\":-0.4,\"no_speech_prob\":0.9}]}"),
		  0);
	CHECK_STR(w.text, "Yes.");
	CHECK_INT(w.no_speech, 901);
}

TEST(a_recording_has_the_language_that_the_provider_tells)
{
	static const char *const told[][2] = {
		{"german", "de"}, {"chinese", "zh"}, {"de", "de"}, {"en-US", "en-US"},
		{"swahili", ""},  {"xx-y", ""},	     {"", ""},
	};
	struct openai_words w;
	char text[96];

	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
		snprintf(text, sizeof text, "{\"text\":\"zehn\",\"language\":\"%s\"}", told[i][0]);
		CHECK_INT(words(&w, text), 0);
		CHECK_STR(w.language, told[i][1]);
	}
	CHECK_INT(words(&w, "{\"text\":\"zehn\",\"language\":7}"), 0);
	CHECK_STR(w.language, "");
}

TEST(words_of_a_recording_end_at_a_character)
{
	static char body[3 * OPENAI_WORDS_MAX];
	struct openai_words w;
	size_t n = (size_t)snprintf(body, sizeof body, "{\"text\":\"");

	for (unsigned i = 0; i < OPENAI_WORDS_MAX; i++)
		n += (size_t)snprintf(body + n, sizeof body - n, "\xc3\xa9");
	snprintf(body + n, sizeof body - n, "\"}");
	CHECK_INT(words(&w, body), 0);
	CHECK_INT(strlen(w.text), OPENAI_WORDS_MAX - 2);
}

/* ---- words and speech ---- */

TEST(a_line_to_speak_names_model_and_voice)
{
	char *text = openai_speech("tts", "alloy", "Say \"it\".");
	CHECK_STR(text, "{\"model\":\"tts\",\"input\":\"Say \\\"it\\\".\",\"voice\":\"alloy\","
			"\"response_format\":\"pcm\"}");
	free(text);
}

TEST_OOM(requests_without_memory)
{
	struct openai_recording rec = recording("m");
	struct openai_body b;
	char *text = openai_speech("m", "v", "t");

	CHECK(text || test_oom_hit());
	free(text);
	text = openai_http_url("http://x/v1/", "a");
	CHECK(text || test_oom_hit());
	if (text)
		CHECK_STR(text, "http://x/v1/a");
	free(text);
	CHECK_OOM(openai_transcription(&b, &rec), (void)0);
	free(b.p);
}

TEST(raw_sound_is_known_by_its_type)
{
	CHECK(openai_speech_raw("audio/pcm") && openai_speech_raw("Audio/PCM; rate=24000"));
	CHECK(openai_speech_raw("application/octet-stream") && openai_speech_raw(""));
	CHECK(!openai_speech_raw("audio/mpeg") && !openai_speech_raw("audio/pcmx"));
	CHECK(!openai_speech_raw("application/json"));
}

TEST(a_refusal_tells_its_cause)
{
	static const char body[] = "{\"error\":{\"message\":\"You\\nexceeded\",\"code\":"
				   "\"insufficient_quota\"}}";
	char why[OPENAI_WHY_MAX];

	openai_refusal(429, body, sizeof body - 1, "", why, sizeof why);
	CHECK_STR(why, "status 429 insufficient_quota: You exceeded");
	CHECK_INT(openai_trouble((const uint8_t *)why, strlen(why)), TROUBLE_CREDIT);
	openai_refusal(401, "<html>", 6, "", why, sizeof why);
	CHECK_INT(openai_trouble((const uint8_t *)why, strlen(why)), TROUBLE_KEY);
	openai_refusal(429, NULL, 0, ", retry after 5 ms", why, sizeof why);
	CHECK_INT(openai_trouble((const uint8_t *)why, strlen(why)), TROUBLE_BUSY);
	openai_refusal(503, "{}", 2, "", why, sizeof why);
	CHECK_STR(why, "status 503");
}

/* As the services write it that have no code. */
TEST(a_refusal_without_a_code_tells_its_cause)
{
	static const struct {
		int status;
		const char *body, *why;
		enum trouble trouble;
	} rows[] = {
		{401,
		 "{\"detail\":{\"status\":\"quota_exceeded\",\"message\":\"This request exceeds "
		 "your quota of 10000.\"}}",
		 "status 401 quota_exceeded: This request exceeds your quota of 10000.",
		 TROUBLE_CREDIT},
		{401,
		 "{\"detail\":{\"status\":\"invalid_api_key\",\"message\":\"Invalid API key\"}}",
		 "status 401 invalid_api_key: Invalid API key", TROUBLE_KEY},
		{429, "{\"detail\":{\"status\":\"system_busy\",\"message\":\"Busy.\"}}",
		 "status 429 system_busy: Busy.", TROUBLE_BUSY},
		{404, "{\"detail\":{\"status\":\"voice_not_found\",\"message\":\"No voice.\"}}",
		 "status 404: No voice.", TROUBLE_OTHER},
		{422, "{\"detail\":\"Field required\"}", "status 422: Field required",
		 TROUBLE_OTHER},
		{403,
		 "{\"type\":\"error\",\"error\":{\"type\":\"permission_error\",\"message\":"
		 "\"Not for this key.\"}}",
		 "status 403 permission_error: Not for this key.", TROUBLE_KEY},
		{401,
		 "{\"error\":{\"type\":\"invalid_request_error\",\"code\":null,\"message\":"
		 "\"no\"}}",
		 "status 401 invalid_api_key: no", TROUBLE_KEY},
	};
	char why[OPENAI_WHY_MAX];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		openai_refusal(rows[i].status, rows[i].body, strlen(rows[i].body), "", why,
			       sizeof why);
		CHECK_STR(why, rows[i].why);
		CHECK_INT(engine_trouble((const uint8_t *)why, strlen(why)), rows[i].trouble);
	}
}
