/* Messages of ElevenLabs' speech. */
#include "control/dialect/eleven.h"
#include "control/dialect/speech_http.h"
#include "tests/test.h"

static int parse(struct eleven_fact *f, const char *text)
{
	return eleven_parse(f, (const uint8_t *)text, strlen(text));
}

TEST(eleven_messages_have_both_casings)
{
	struct eleven_fact f;

	CHECK_INT(parse(&f, "{\"audio\":\"AAAA\",\"contextId\":\"c3\",\"alignment\":null}"), 0);
	CHECK(f.type == ELEVEN_AUDIO && f.context == 3 && !f.alignment);
	eleven_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"is_final\":true,\"context_id\":\"c4\",\"audio\":null}"), 0);
	CHECK(f.type == ELEVEN_FINAL && f.context == 4);
	eleven_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"message\":\"m\",\"error\":\"max_active_conversations\","
			    "\"code\":1008}"),
		  0);
	CHECK(f.type == ELEVEN_ERROR);
	CHECK_STR(f.code, "max_active_conversations");
	eleven_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"something\":1}"), 0);
	CHECK_INT(f.type, ELEVEN_IGNORED);
	eleven_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"audio\":\"AAAA\",\"contextId\":\"other\"}"), EBADMSG);
	CHECK_INT(parse(&f, "7"), EBADMSG);
	CHECK_INT(eleven_parse(&f, (const uint8_t *)"", ELEVEN_MESSAGE_MAX + 1), EMSGSIZE);
}

TEST(eleven_addresses_take_no_voice_that_is_none)
{
	char *text = eleven_speech_url("http://h/v1", "", "m x", "de");

	/* Most models refuse a language. */
	CHECK_STR(text, "ws://h/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/multi-stream-input"
			"?model_id=m%20x&output_format=pcm_24000&inactivity_timeout=180"
			"&sync_alignment=true");
	free(text);
	text = eleven_speech_url("http://h/v1", "", "", "de");
	CHECK(strstr(text, "&language_code=de"));
	free(text);
	CHECK(!eleven_speech_url("http://h/v1", "../x", "", ""));
	CHECK(!eleven_stream_endpoint("a?b"));
	text = eleven_stream_body("", "v", "hello");
	CHECK_STR(text, "{\"text\":\"hello\",\"model_id\":\"eleven_flash_v2_5\"}");
	free(text);
	text = eleven_keep_alive(1);
	CHECK_STR(text, "{\"text\":\"\",\"context_id\":\"c1\"}");
	free(text);
	text = eleven_close_socket();
	CHECK_STR(text, "{\"close_socket\":true}");
	free(text);
	CHECK(speech_http(DIALECT_ELEVENLABS) && !speech_http(DIALECT_VLLM));
}

TEST(eleven_troubles_are_named)
{
	static const char quota[] = "This request exceeds your quota of 10.";

	CHECK_INT(eleven_trouble((const uint8_t *)quota, sizeof quota - 1), TROUBLE_CREDIT);
	CHECK_INT(eleven_trouble((const uint8_t *)"auth_error", 10), TROUBLE_KEY);
	CHECK_INT(eleven_trouble((const uint8_t *)"upgrade unauthorized", 20), TROUBLE_KEY);
	CHECK_INT(eleven_trouble((const uint8_t *)"", 0), TROUBLE_OTHER);
}
