/* Messages of transcription sessions, by dialect. */
#include <jansson.h>

#include "control/dialect/stt_file.h"
#include "control/dialect/stt_wire.h"
#include "tests/test.h"

static int parse(const struct stt_wire *wire, struct stt_fact *f, const char *text)
{
	return wire->parse(f, (const uint8_t *)text, strlen(text));
}

TEST(transcription_sessions_have_a_wire_by_dialect)
{
	CHECK(stt_wire(DIALECT_OPENAI) == &stt_openai && stt_wire(DIALECT_EMBEDDED) == &stt_openai);
	CHECK(stt_wire(DIALECT_XAI) == &stt_xai && stt_wire(DIALECT_VLLM) == &stt_vllm);
	CHECK(stt_wire(DIALECT_ELEVENLABS) == &stt_scribe);
	CHECK(stt_wire(DIALECT_XAI_STT) == &stt_xai_stt);
	CHECK(stt_file(DIALECT_ELEVENLABS) == &stt_file_scribe && stt_file(DIALECT_VLLM));
	CHECK(!stt_file(DIALECT_XAI));
}

TEST(rule_009_openai_alone_has_a_least_of_speech)
{
	CHECK_INT(stt_openai.min_commit_ms * stt_openai.rate / 1000 * 2, 4800);
	CHECK_INT(stt_xai.min_commit_ms, 0);
	CHECK_INT(stt_scribe.min_commit_ms, 0);
	CHECK_INT(stt_vllm.min_commit_ms, 0);
}

TEST(openai_transcripts_have_doubt_and_errors_an_utterance)
{
	struct stt_fact f;

	CHECK_INT(parse(&stt_openai, &f,
			"{\"type\":\"conversation.item.input_audio_transcription.completed\","
			"\"item_id\":\"i\",\"transcript\":\"ten\",\"logprobs\":[{\"logprob\":-1},"
			"{\"logprob\":-0.5}],\"obfuscation\":\"x\"}"),
		  0);
	CHECK(f.type == STT_FINAL && f.doubt == 751);
	CHECK_STR(f.item, "i");
	CHECK_MEM(f.text.p, f.text.n, "ten", 3);
	stt_fact_clear(&f);
	CHECK_INT(
		parse(&stt_openai, &f,
		      "{\"type\":\"error\",\"error\":{\"code\":\"insufficient_quota\",\"message\":"
		      "\"m\",\"event_id\":\"utterance-7\"}}"),
		0);
	CHECK(f.type == STT_ERROR && f.fatal && f.commit && f.utterance == 7 && !f.empty);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai, &f, "{\"type\":\"something.new\",\"x\":1}"), 0);
	CHECK(f.type == STT_IGNORED);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_openai, &f,
			"{\"type\":\"conversation.item.input_audio_transcription.completed\","
			"\"transcript\":\"ten\"}"),
		  EBADMSG);
	CHECK_INT(parse(&stt_openai, &f, "[]"), EBADMSG);
	CHECK_INT(parse(&stt_openai, &f, "{\"type\":\"error\"}"), EBADMSG);
	CHECK_INT(stt_openai.parse(&f, (const uint8_t *)"", STT_MESSAGE_MAX + 1), EMSGSIZE);
}

TEST(transcripts_have_the_language_that_the_provider_tells)
{
	static const struct {
		const struct stt_wire *wire;
		const char *text, *language;
	} table[] = {
		{&stt_openai,
		 "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		 "\"item_id\":\"i\",\"transcript\":\"zehn\",\"languages\":[{\"code\":\"de\"}]}",
		 "de"},
		{&stt_openai,
		 "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		 "\"item_id\":\"i\",\"transcript\":\"zehn\",\"languages\":[]}",
		 ""},
		{&stt_scribe,
		 "{\"message_type\":\"committed_transcript_with_timestamps\",\"text\":\"zehn\","
		 "\"language_code\":\"deu\",\"words\":[]}",
		 "deu"},
		{&stt_scribe,
		 "{\"message_type\":\"committed_transcript_with_timestamps\",\"text\":\"zehn\","
		 "\"language_code\":\"a code that is too long\"}",
		 ""},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct stt_fact f;

		CHECK_INT(parse(table[i].wire, &f, table[i].text), 0);
		CHECK(f.type == STT_FINAL);
		CHECK_STR(f.language, table[i].language);
		stt_fact_clear(&f);
	}
}

TEST(scribe_errors_say_what_they_end)
{
	static const struct {
		const char *type;
		bool fatal, commit, empty;
	} rows[] = {{"auth_error", true, false, false},
		    {"session_time_limit_exceeded", true, false, false},
		    {"commit_throttled", false, true, true},
		    {"transcriber_error", false, true, false},
		    {"input_error", false, false, false}};
	struct stt_fact f;
	char text[128];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text, "{\"message_type\":\"%s\",\"error\":\"why\"}",
			 rows[i].type);
		CHECK_INT(parse(&stt_scribe, &f, text), 0);
		CHECK(f.type == STT_ERROR && f.fatal == rows[i].fatal);
		CHECK(f.commit == rows[i].commit && f.empty == rows[i].empty);
		CHECK_STR(f.code, rows[i].type);
		CHECK_MEM(f.text.p, f.text.n, "why", 3);
		stt_fact_clear(&f);
	}
	CHECK_INT(parse(&stt_scribe, &f, "{\"message_type\":\"session_started\",\"config\":{}}"),
		  0);
	CHECK(f.type == STT_IGNORED);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_scribe, &f, "{\"message_type\":7}"), EBADMSG);
}

TEST(xai_ends_utterances_with_what_it_has_not_told_yet)
{
	const struct stt_session s = {.http_url = "https://api.x.ai/v1", .language = "en"};
	struct stt_fact f;
	char *url = stt_xai_stt.url(&s), *done = stt_xai_stt.commit(1);

	CHECK_STR(url, "wss://api.x.ai/v1/stt?sample_rate=24000&encoding=pcm&interim_results=true"
		       "&endpointing=5000&language=en");
	CHECK_STR(done, "{\"type\":\"audio.done\"}");
	free(url);
	free(done);
	CHECK_INT(parse(&stt_xai_stt, &f, "{\"type\":\"transcript.created\"}"), 0);
	CHECK_INT(f.type, STT_READY);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai_stt, &f,
			"{\"type\":\"transcript.partial\",\"text\":\"what\",\"is_final\":true,"
			"\"speech_final\":false}"),
		  0);
	CHECK(f.type == STT_PARTIAL && f.whole);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai_stt, &f,
			"{\"type\":\"transcript.partial\",\"text\":\"what time\","
			"\"is_final\":true,\"speech_final\":true}"),
		  0);
	CHECK(f.type == STT_SEGMENT && f.text.n == 9);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai_stt, &f,
			"{\"type\":\"transcript.done\",\"text\":\"\",\"duration\":1.5}"),
		  0);
	CHECK(f.type == STT_FINAL && !f.text.n);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai_stt, &f, "{\"type\":\"error\",\"message\":\"no\"}"), 0);
	CHECK(f.type == STT_ERROR && f.fatal && f.text.n == 2);
	stt_fact_clear(&f);
	CHECK_INT(parse(&stt_xai_stt, &f, "{\"text\":\"x\"}"), EBADMSG);
}

TEST(vllm_errors_are_texts)
{
	struct stt_fact f;

	CHECK_INT(parse(&stt_vllm, &f,
			"{\"type\":\"error\",\"error\":\"boom\",\"code\":\"processing_error\"}"),
		  0);
	CHECK(f.type == STT_ERROR && f.commit && !f.fatal);
	CHECK_MEM(f.text.p, f.text.n, "boom", 4);
	stt_fact_clear(&f);
}

TEST(transcription_addresses_hold_no_key)
{
	const struct stt_session s = {.socket_url = "wss://h/v1/realtime",
				      .http_url = "https://h/v1",
				      .model = "",
				      .language = ""};
	char *url = stt_scribe.url(&s);

	CHECK_STR(url, "wss://h/v1/speech-to-text/realtime?model_id=scribe_v2_realtime"
		       "&audio_format=pcm_24000&commit_strategy=manual&include_timestamps=true"
		       "&include_language_detection=true");
	free(url);
	url = stt_scribe.auth("k");
	CHECK_STR(url, "xi-api-key: k");
	free(url);
	CHECK(!stt_scribe.auth(""));
	url = stt_scribe.commit(3);
	CHECK_STR(url,
		  "{\"message_type\":\"input_audio_chunk\",\"audio_base_64\":\"\",\"commit\":true,"
		  "\"sample_rate\":24000}");
	free(url);
	url = stt_vllm.url(&s);
	CHECK_STR(url, "wss://h/v1/realtime");
	free(url);
}
