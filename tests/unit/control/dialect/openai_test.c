#include "tests/test.h"

#include <jansson.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"

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
