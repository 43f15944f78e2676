/* What a request asks: chat messages with content in parts, and the form of a transcription. */
#include "control/offline/brain.h"
#include "control/offline/chat.h"
#include "control/offline/transcript.h"
#include "tests/test.h"

static const char *question(const char *json)
{
	static char text[64];
	json_t *root = json_loads(json, 0, NULL);
	struct brain_room room = {0};
	int err = chat_question(root, &room, text, sizeof text);

	json_decref(root);
	return err ? NULL : text;
}

TEST(chat_question_is_the_last_text_of_the_user)
{
	CHECK_STR(question("{\"messages\":[{\"role\":\"user\",\"content\":\"one\"},"
			   "{\"role\":\"assistant\",\"content\":\"two\"},"
			   "{\"role\":\"user\",\"content\":\"three\"}]}"),
		  "three");
	CHECK_STR(question("{\"messages\":[{\"role\":\"user\",\"content\":["
			   "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\"},"
			   "{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"text\"}]}]}"),
		  "a b");
	CHECK(!question("{\"messages\":[{\"role\":\"user\",\"content\":[]}]}"));
	CHECK(!question("{\"messages\":[{\"role\":\"system\",\"content\":\"x\"}]}"));
	CHECK(!question("{\"messages\":7}"));
	/* Longer than the buffer: cut. */
	CHECK_INT(strlen(question("{\"messages\":[{\"role\":\"user\",\"content\":\""
				  "0123456789012345678901234567890123456789012345678901234567890123"
				  "4567890123456789\"}]}")),
		  63);
}

TEST(chat_output_is_of_the_tool_that_was_called)
{
	json_t *root = json_loads(
		"{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"roll\"}},7],"
		"\"messages\":[{\"role\":\"user\",\"content\":\"roll two dice\"},"
		"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\","
		"\"function\":{\"name\":\"roll\",\"arguments\":\"{}\"}},{\"id\":\"b\"}]},"
		"{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"six\"}]}",
		0, NULL);
	json_t *messages = json_object_get(root, "messages");
	const char *tool = "", *arguments = "";

	CHECK(chat_offers("roll", root));
	CHECK(!chat_offers("rol", root));
	CHECK_STR(chat_output(root, &tool, &arguments), "six");
	CHECK_STR(tool, "roll");
	CHECK_STR(arguments, "{}");
	/* Of a call that nobody made, or that has no name. */
	json_object_set_new(json_array_get(messages, 2), "tool_call_id", json_string("b"));
	CHECK(!chat_output(root, &tool, &arguments));
	json_object_set_new(json_array_get(messages, 2), "tool_call_id", json_string("c"));
	CHECK(!chat_output(root, &tool, &arguments));
	/* A question after it is the question. */
	json_object_set_new(json_array_get(messages, 2), "tool_call_id", json_string("a"));
	json_array_append_new(messages, json_pack("{s:s,s:s}", "role", "user", "content", "hey"));
	CHECK(!chat_output(root, &tool, &arguments));
	json_array_clear(messages);
	CHECK(!chat_output(root, &tool, &arguments));
	json_decref(root);
}

static int wish(struct transcript_wish *w, const char *fields, const char **param)
{
	char body[512];
	int n = snprintf(body, sizeof body, "--b\r\n%s--b--\r\n", fields);

	return transcript_wish_parse(w, "multipart/form-data; boundary=b",
				     (struct slice){(const uint8_t *)body, (size_t)n}, param);
}

#define FIELD(name, value)                                                                         \
	"Content-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n--b\r\n"

TEST(transcript_form_names_the_format)
{
	struct transcript_wish w;
	const char *param = NULL;

	CHECK_INT(wish(&w, FIELD("model", "m"), &param), 0);
	CHECK(w.format == TRANSCRIPT_JSON && !w.stream && !w.words);
	CHECK_INT(wish(&w,
		       FIELD("response_format", "verbose_json") FIELD("stream", "true")
			       FIELD("timestamp_granularities[]", "word"),
		       &param),
		  0);
	CHECK(w.format == TRANSCRIPT_VERBOSE && w.stream && w.words);
	CHECK_INT(wish(&w, FIELD("response_format", "mp3"), &param), EINVAL);
	CHECK_STR(param, "response_format");
}
