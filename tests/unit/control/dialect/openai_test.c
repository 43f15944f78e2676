#include "tests/test.h"

#include <jansson.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"

static int parse(struct openai_fact *f, const char *text)
{
	return openai_parse(f, (const uint8_t *)text, strlen(text));
}

static bool slice_is(struct slice s, const char *want)
{
	return s.n == strlen(want) && memcmp(s.p, want, s.n) == 0;
}

TEST(a_response_is_followed_by_its_ids)
{
	struct openai_fact f;

	CHECK_INT(parse(&f, "{\"type\":\"response.created\",\"response\":{\"id\":\"r\","
			    "\"metadata\":{\"ask\":\"41\"}}}"),
		  0);
	CHECK_INT(f.type, OPENAI_RESPONSE);
	CHECK_STR(f.response, "r");
	CHECK_INT(f.ask, 41);
	openai_fact_clear(&f);

	/* Not every server gives metadata back. */
	CHECK_INT(parse(&f, "{\"type\":\"response.created\",\"response\":{\"id\":\"r\","
			    "\"metadata\":null}}"),
		  0);
	CHECK_INT(f.ask, 0);
	openai_fact_clear(&f);

	CHECK_INT(parse(&f, "{\"type\":\"response.output_audio.delta\",\"response_id\":\"r\","
			    "\"item_id\":\"i\",\"delta\":\"AAEC\"}"),
		  0);
	CHECK_INT(f.type, OPENAI_AUDIO);
	CHECK(slice_is(f.audio, "AAEC"));
	CHECK_STR(f.item, "i");
	openai_fact_clear(&f);
}

TEST(names_of_the_beta_shape_are_known)
{
	struct openai_fact f;

	CHECK_INT(parse(&f, "{\"type\":\"response.audio.delta\",\"response_id\":\"r\","
			    "\"item_id\":\"i\",\"delta\":\"AAEC\"}"),
		  0);
	CHECK_INT(f.type, OPENAI_AUDIO);
	openai_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"type\":\"response.audio_transcript.delta\",\"response_id\":\"r\","
			    "\"item_id\":\"i\",\"delta\":\"x\"}"),
		  0);
	CHECK_INT(f.type, OPENAI_TEXT);
	openai_fact_clear(&f);
}

TEST(what_is_not_known_is_ignored)
{
	struct openai_fact f;

	CHECK_INT(parse(&f, "{\"type\":\"rate_limits.updated\",\"rate_limits\":[]}"), 0);
	CHECK_INT(f.type, OPENAI_IGNORED);
	openai_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"type\":\"session.updated\",\"new\":{\"deep\":[1,2]}}"), 0);
	CHECK_INT(f.type, OPENAI_SESSION);
	openai_fact_clear(&f);
}

TEST(what_is_malformed_is_refused)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"7",
		"{\"type\":7}",
		"{\"typ\":\"error\"}",
		"{\"type\":\"error\"}",
		"{\"type\":\"error\",\"error\":[]}",
		"{\"type\":\"response.created\"}",
		"{\"type\":\"response.created\",\"response\":{\"id\":7}}",
		"{\"type\":\"response.output_audio.delta\",\"response_id\":\"r\",\"item_id\":"
		"\"i\"}",
		"{\"type\":\"response.output_audio.delta\",\"item_id\":\"i\",\"delta\":\"AA==\"}",
		"{\"type\":\"input_audio_buffer.committed\"}",
		"{\"type\":\"conversation.item.input_audio_transcription.completed\","
		"\"item_id\":\"i\"}",
		"{\"type\":\"session.created\"} trailing",
	};
	struct openai_fact f;
	char *long_id = calloc(1, 1024);

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (parse(&f, bad[i]) != EBADMSG)
			test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
	CHECK(long_id);
	strcpy(long_id, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"");
	memset(long_id + strlen(long_id), 'x', OPENAI_ID_MAX);
	strcat(long_id, "\"}");
	CHECK_INT(parse(&f, long_id), EBADMSG);
	CHECK_INT(openai_parse(&f, (const uint8_t *)long_id, (size_t)OPENAI_MAX_MESSAGE + 1),
		  EMSGSIZE);
	free(long_id);
}

TEST(a_transcript_says_how_sure_it_is)
{
	static const struct {
		const char *logprobs;
		uint32_t doubt;
	} rows[] = {{"", 0},
		    {",\"logprobs\":null", 0},
		    {",\"logprobs\":[]", 0},
		    {",\"logprobs\":[{\"logprob\":-0.5},{\"logprob\":-1.5}]", 1001},
		    {",\"logprobs\":[{\"logprob\":0.0}]", 1},
		    {",\"logprobs\":[{\"logprob\":7}]", 1},
		    {",\"logprobs\":[{\"logprob\":-1e300}]", 1000001},
		    {",\"logprobs\":[7,{\"logprob\":\"x\"}]", 1}};
	struct openai_fact f;
	char msg[512];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(msg, sizeof msg,
			 "{\"type\":\"conversation.item.input_audio_transcription.completed\","
			 "\"item_id\":\"i\",\"transcript\":\"hello\"%s}",
			 rows[i].logprobs);
		CHECK_INT(parse(&f, msg), 0);
		CHECK_INT(f.doubt, rows[i].doubt);
		openai_fact_clear(&f);
	}
}

TEST(the_end_of_a_response_says_how)
{
	struct openai_fact f;

	CHECK_INT(parse(&f, "{\"type\":\"response.done\",\"response\":{\"id\":\"r\","
			    "\"status\":\"completed\",\"status_details\":null}}"),
		  0);
	CHECK_INT(f.status, OPENAI_COMPLETED);
	openai_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"type\":\"response.done\",\"response\":{\"id\":\"r\","
			    "\"status\":\"cancelled\",\"status_details\":{\"reason\":"
			    "\"client_cancelled\"}}}"),
		  0);
	CHECK_INT(f.status, OPENAI_CANCELLED);
	CHECK(slice_is(f.text, "client_cancelled"));
	openai_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"type\":\"response.done\",\"response\":{\"id\":\"r\","
			    "\"status\":\"a new one\"}}"),
		  0);
	CHECK_INT(f.status, OPENAI_FAILED);
	openai_fact_clear(&f);
}

TEST(errors_are_tied_to_what_caused_them)
{
	struct openai_fact f;

	CHECK_INT(parse(&f, "{\"type\":\"error\",\"error\":{\"code\":null,\"message\":\"m\","
			    "\"event_id\":\"ask-12\"}}"),
		  0);
	CHECK_INT(f.ask, 12);
	CHECK_INT(f.utterance, 0);
	CHECK_INT(f.error, OPENAI_ERROR_OTHER);
	CHECK_STR(f.code, "");
	openai_fact_clear(&f);
	CHECK_INT(parse(&f, "{\"type\":\"error\",\"error\":{\"code\":\"session_expired\","
			    "\"message\":\"m\",\"event_id\":\"utterance-99999999999\"}}"),
		  0);
	CHECK_INT(f.utterance, 0);
	CHECK_INT(f.error, OPENAI_ERROR_FATAL);
	openai_fact_clear(&f);
	CHECK_INT(parse(&f,
			"{\"type\":\"error\",\"error\":{\"code\":"
			"\"conversation_already_has_active_response\",\"event_id\":\"ask-3\"}}"),
		  0);
	CHECK_INT(f.error, OPENAI_ERROR_ACTIVE);
	CHECK_INT(f.ask, 3);
	openai_fact_clear(&f);
	/* A server with words of its own. */
	CHECK_INT(parse(&f, "{\"type\":\"error\",\"error\":{\"message\":"
			    "\"Cancellation failed: no active response found\"}}"),
		  0);
	CHECK_INT(f.error, OPENAI_ERROR_NOT_ACTIVE);
	openai_fact_clear(&f);
}

/* The value at a path like "session.audio.input.format.rate" of what was built. */
static json_t *at(const char *text, const char *path)
{
	json_t *root = json_loads(text, 0, NULL), *v = root, *out;
	char key[64];

	while (v && *path) {
		size_t n = strcspn(path, ".");

		snprintf(key, sizeof key, "%.*s", (int)n, path);
		v = json_is_array(v) ? json_array_get(v, (size_t)atoi(key))
				     : json_object_get(v, key);
		path += n + (path[n] == '.');
	}
	out = json_incref(v);
	json_decref(root);
	return out;
}

#define CHECK_AT(text, path, want)                                                                 \
	do {                                                                                       \
		json_t *v_ = at(text, path);                                                       \
		char *s_ = v_ ? json_dumps(v_, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;             \
		bool same_ = s_ && strcmp(s_, want) == 0;                                          \
		if (!same_)                                                                        \
			test_fail(__FILE__, __LINE__, "%s is %s, want %s", path, s_ ? s_ : "none", \
				  want);                                                           \
		free(s_);                                                                          \
		json_decref(v_);                                                                   \
	} while (0)

TEST(client_events_have_the_documented_shape)
{
	char *t;

	t = openai_session_voice("be \"brief\"", "marin");
	CHECK(t);
	CHECK_AT(t, "type", "\"session.update\"");
	CHECK_AT(t, "session.type", "\"realtime\"");
	CHECK_AT(t, "session.instructions", "\"be \\\"brief\\\"\"");
	CHECK_AT(t, "session.output_modalities", "[\"audio\"]");
	CHECK_AT(t, "session.audio.input.turn_detection", "null");
	CHECK_AT(t, "session.audio.input.format", "{\"type\":\"audio/pcm\",\"rate\":24000}");
	CHECK_AT(t, "session.audio.output.format.rate", "24000");
	CHECK_AT(t, "session.audio.output.voice", "\"marin\"");
	free(t);
	t = openai_session_voice("x", "");
	CHECK(t && !strstr(t, "voice"));
	free(t);
	t = openai_session_transcription("m", "de");
	CHECK(t);
	CHECK_AT(t, "session.type", "\"transcription\"");
	CHECK_AT(t, "session.audio.input.transcription", "{\"model\":\"m\",\"language\":\"de\"}");
	CHECK_AT(t, "session.audio.input.turn_detection", "null");
	CHECK(!strstr(t, "include"));
	free(t);
	t = openai_session_transcription("gpt-4o-mini-transcribe", "");
	CHECK(t);
	CHECK_AT(t, "session.include", "[\"item.input_audio_transcription.logprobs\"]");
	free(t);
	t = openai_item("ask_7", false, "[Alice]: hi");
	CHECK(t);
	CHECK_AT(t, "item",
		 "{\"id\":\"ask_7\",\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
		 "\"input_text\","
		 "\"text\":\"[Alice]: hi\"}]}");
	free(t);
	t = openai_response(7, 5);
	CHECK(t);
	CHECK_AT(t, "response.metadata.ask", "\"7\"");
	CHECK_AT(t, "response.metadata.turn", "\"5\"");
	CHECK_AT(t, "event_id", "\"ask-7\"");
	free(t);
	t = openai_item("", true, "hello");
	CHECK(t && !strstr(t, "\"id\""));
	CHECK_AT(t, "item.content", "[{\"type\":\"output_text\",\"text\":\"hello\"}]");
	free(t);
	t = openai_delete("ask_7");
	CHECK(t);
	CHECK_AT(t, "item_id", "\"ask_7\"");
	free(t);
	t = openai_truncate("i", 1700);
	CHECK(t);
	CHECK_AT(t, "audio_end_ms", "1700");
	CHECK_AT(t, "content_index", "0");
	free(t);
	t = openai_append((const uint8_t *)"\1\2\3", 3);
	CHECK_STR(t, "{\"type\":\"input_audio_buffer.append\",\"audio\":\"AQID\"}");
	free(t);
	CHECK(!openai_item("", false, "\xff"));
}

TEST(addresses_keep_what_they_have)
{
	char *u = openai_url_voice("wss://h/v1/realtime", "a b/c");

	CHECK_STR(u, "wss://h/v1/realtime?model=a%20b%2Fc");
	free(u);
	u = openai_url_transcription("ws://h/x?key=1");
	CHECK_STR(u, "ws://h/x?key=1&intent=transcription");
	free(u);
}

TEST(base64_holds_every_byte_at_every_length)
{
	uint8_t in[300], out[300];
	char text[400];
	size_t len;

	for (unsigned i = 0; i < sizeof in; i++)
		in[i] = (uint8_t)(i * 167 + i / 256);
	for (size_t n = 0; n <= sizeof in; n++) {
		base64_encode(in, n, text);
		CHECK_INT(base64_decode(text, base64_encoded(n), out, n, &len), 0);
		CHECK_MEM(out, len, in, n);
		if (n)
			CHECK_INT(base64_decode(text, base64_encoded(n), out, n - 1, &len),
				  EMSGSIZE);
	}
	/* RFC 4648 section 10 */
	base64_encode((const uint8_t *)"foobar", 6, text);
	CHECK_MEM(text, 8, "Zm9vYmFy", 8);
}

TEST(base64_refuses_what_it_is_not)
{
	static const char *const bad[] = {
		"A", "AB", "ABC", "A===", "====", "AB=C", "AAAA AAA", "AA-_", "A\nAA", "AB==AAAA"};
	uint8_t out[16];
	size_t len;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (base64_decode(bad[i], strlen(bad[i]), out, sizeof out, &len) != EBADMSG)
			test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
}

static enum trouble trouble_of(const char *why)
{
	return openai_trouble((const uint8_t *)why, strlen(why));
}

TEST(openai_troubles_are_known_by_their_codes)
{
	CHECK_INT(trouble_of("insufficient_quota: You exceeded your quota"), TROUBLE_CREDIT);
	CHECK_INT(trouble_of("closed 1000 invalid_api_key"), TROUBLE_KEY);
	CHECK_INT(trouble_of("closed 1006 unauthorized"), TROUBLE_KEY);
	CHECK_INT(trouble_of("rate_limit_exceeded"), TROUBLE_BUSY);
	CHECK_INT(trouble_of("closed 1006 "), TROUBLE_OTHER);
	CHECK_INT(openai_trouble(NULL, 0), TROUBLE_OTHER);
}
