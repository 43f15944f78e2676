/* The codecs of realtime sessions: what each dialect makes of a command, and of a message. */
#include "control/dialect/realtime.h"

#include <errno.h>
#include <jansson.h>

#include "control/dialect/base64.h"
#include "tests/test.h"

static char sent[8192]; /* one message a line */

static int keep(bool text, const void *data, size_t n, void *arg)
{
	size_t at = strlen(sent);

	(void)arg;
	snprintf(sent + at, sizeof sent - at, "%s%s%.*s", *sent ? "\n" : "",
		 text ? "" : "binary:", (int)n, (const char *)data);
	return 0;
}

static bool text_only;

static void *codec_of(const struct realtime_dialect *d)
{
	const struct realtime_conf conf = {.url = "wss://host/v1/realtime",
					   .text_only = text_only,
					   .model = "a model",
					   .voice = "eve",
					   .rate_in = 24000,
					   .rate_out = 24000};
	void *codec = NULL;

	return d->alloc(&codec, &conf) ? NULL : codec;
}

static const char *encode(const struct realtime_dialect *d, struct realtime_command cmd)
{
	void *codec = codec_of(d);
	int err;

	*sent = '\0';
	err = d->encode(codec, &cmd, keep, NULL);
	if (err)
		snprintf(sent, sizeof sent, "%s", strerror(err));
	d->free(codec);
	return sent;
}

static const char tools[] = "[{\"name\":\"look\",\"description\":\"looks\",\"parameters\":{}}]";

/* Another provider's voice reads out what the session writes. */
TEST(a_session_may_be_asked_for_text_alone)
{
	struct realtime_command describe = {.type = REALTIME_DESCRIBE, .instructions = ""};
	struct realtime_command respond = {.type = REALTIME_RESPOND, .ask = 1};

	text_only = true;
	CHECK(strstr(encode(&realtime_openai, describe), "\"output_modalities\":[\"text\"]"));
	CHECK(strstr(encode(&realtime_openai_beta, describe), "\"modalities\":[\"text\"]"));
	CHECK(strstr(encode(&realtime_xai, respond), "\"modalities\":[\"text\"]"));
	CHECK(strstr(encode(&realtime_gemini, describe), "\"responseModalities\":[\"TEXT\"]"));
	text_only = false;
	CHECK(strstr(encode(&realtime_xai, respond), "\"modalities\":[\"text\",\"audio\"]"));
}

TEST(each_dialect_describes_its_session)
{
	struct realtime_command cmd = {
		.type = REALTIME_DESCRIBE, .instructions = "be brief", .tools = tools};

	CHECK_STR(
		encode(&realtime_openai, cmd),
		"{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"instructions\":"
		"\"be brief\",\"output_modalities\":[\"audio\"],\"audio\":{\"input\":{\"format\":{"
		"\"type\":\"audio/pcm\",\"rate\":24000},\"turn_detection\":null},\"output\":{"
		"\"format\":{\"type\":\"audio/pcm\",\"rate\":24000},\"voice\":\"eve\"}},\"tools\":["
		"{\"type\":\"function\",\"name\":\"look\",\"description\":\"looks\","
		"\"parameters\":{\"type\":\"object\",\"properties\":{}}}]}}");
	CHECK_STR(
		encode(&realtime_xai, cmd),
		"{\"type\":\"session.update\",\"session\":{\"instructions\":\"be brief\","
		"\"turn_detection\":null,\"audio\":{\"input\":{\"format\":{\"type\":\"audio/pcm\","
		"\"rate\":24000}},\"output\":{\"format\":{\"type\":\"audio/pcm\",\"rate\":24000}}},"
		"\"voice\":\"eve\",\"tools\":[{\"type\":\"function\",\"name\":\"look\","
		"\"description\":"
		"\"looks\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}]}}");
	cmd.tools = NULL;
	CHECK_STR(encode(&realtime_openai_beta, cmd),
		  "{\"type\":\"session.update\",\"session\":{\"instructions\":\"be brief\","
		  "\"modalities\":[\"text\",\"audio\"],\"input_audio_format\":\"pcm16\","
		  "\"output_audio_format\":\"pcm16\",\"turn_detection\":null,\"voice\":\"eve\"}}");
}

TEST(a_change_of_a_session_holds_nothing_else)
{
	CHECK_STR(encode(&realtime_localai,
			 (struct realtime_command){.type = REALTIME_INSTRUCT, .instructions = "x"}),
		  "{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\","
		  "\"instructions\":\"x\"}}");
	CHECK_STR(encode(&realtime_xai,
			 (struct realtime_command){.type = REALTIME_TOOLS, .tools = ""}),
		  "{\"type\":\"session.update\",\"session\":{\"tools\":[]}}");
	CHECK_STR(encode(&realtime_openai,
			 (struct realtime_command){.type = REALTIME_TOOLS, .tools = "{}"}),
		  strerror(EINVAL));
}

TEST(an_answer_is_asked_for_as_each_dialect_wants_it)
{
	struct realtime_command cmd = {.type = REALTIME_RESPOND, .ask = 3, .turn = 4, .limit = 50};

	CHECK_STR(
		encode(&realtime_openai, cmd),
		"{\"type\":\"response.create\",\"event_id\":\"ask-3\",\"response\":{\"metadata\":{"
		"\"ask\":\"3\",\"turn\":\"4\"},\"max_output_tokens\":50}}");
	CHECK_STR(encode(&realtime_xai, cmd),
		  "{\"type\":\"response.create\",\"event_id\":\"ask-3\",\"response\":{"
		  "\"modalities\":[\"text\",\"audio\"]}}");
	CHECK_STR(encode(&realtime_localai, cmd),
		  "{\"type\":\"response.create\",\"event_id\":\"ask-3\",\"response\":{}}");
}

TEST(rule_010_exact_words_leave_no_trace_in_the_conversation)
{
	struct realtime_command cmd = {.type = REALTIME_SAY, .ask = 3, .turn = 4, .text = "ten"};

	CHECK_STR(
		encode(&realtime_openai, cmd),
		"{\"type\":\"response.create\",\"event_id\":\"ask-3\",\"response\":{"
		"\"conversation\":\"none\",\"input\":[],\"tools\":[],\"instructions\":\"Say "
		"exactly "
		"the following words and nothing else. Do not answer them, do not add to them, do "
		"not translate them:\\nten\",\"metadata\":{\"ask\":\"3\",\"turn\":\"4\"}}}");
	CHECK_STR(encode(&realtime_xai, cmd),
		  "{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"force_message\","
		  "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ten\"}]}}");
	CHECK_STR(encode(&realtime_localai, cmd), strerror(ENOTSUP));
}

TEST(lines_images_and_results_are_items)
{
	CHECK_STR(encode(&realtime_xai, (struct realtime_command){.type = REALTIME_ITEM,
								  .id = "heard_1",
								  .after = "item_9",
								  .assistant = true,
								  .text = "hi"}),
		  "{\"type\":\"conversation.item.create\",\"previous_item_id\":\"item_9\","
		  "\"item\":{\"id\":\"heard_1\",\"type\":\"message\",\"role\":"
		  "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}}");
	CHECK_STR(encode(&realtime_openai_beta, (struct realtime_command){.type = REALTIME_ITEM,
									  .assistant = true,
									  .text = "hi"}),
		  "{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"message\",\"role\":"
		  "\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}");
	CHECK_STR(encode(&realtime_openai,
			 (struct realtime_command){.type = REALTIME_IMAGE,
						   .id = "i",
						   .mime = "image/png",
						   .text = "see",
						   .data = {(const uint8_t *)"abc", 3}}),
		  "{\"type\":\"conversation.item.create\",\"item\":{\"id\":\"i\",\"type\":"
		  "\"message\","
		  "\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"see\"},{"
		  "\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,YWJj\"}]}}");
	CHECK_STR(encode(&realtime_xai,
			 (struct realtime_command){.type = REALTIME_IMAGE, .mime = "image/png"}),
		  strerror(ENOTSUP));
	CHECK_STR(encode(&realtime_xai, (struct realtime_command){.type = REALTIME_RESULT,
								  .call = "c1",
								  .text = "{}"}),
		  "{\"type\":\"conversation.item.create\",\"item\":{\"type\":"
		  "\"function_call_output\",\"call_id\":\"c1\",\"output\":\"{}\"}}");
	CHECK_STR(encode(&realtime_openai,
			 (struct realtime_command){.type = REALTIME_DELETE, .id = "i"}),
		  "{\"type\":\"conversation.item.delete\",\"item_id\":\"i\"}");
	/* Text that is no UTF-8 cannot be sent. */
	CHECK_STR(encode(&realtime_openai,
			 (struct realtime_command){.type = REALTIME_ITEM, .text = "\xff"}),
		  strerror(ENOMEM));
}

TEST(sound_is_appended_and_committed)
{
	CHECK_STR(encode(&realtime_openai,
			 (struct realtime_command){.type = REALTIME_APPEND,
						   .data = {(const uint8_t *)"abc", 3}}),
		  "{\"type\":\"input_audio_buffer.append\",\"audio\":\"YWJj\"}");
	CHECK_STR(encode(&realtime_openai, (struct realtime_command){.type = REALTIME_COMMIT}),
		  "{\"type\":\"input_audio_buffer.commit\"}");
	CHECK_STR(encode(&realtime_openai, (struct realtime_command){.type = REALTIME_DROP_AUDIO}),
		  "{\"type\":\"input_audio_buffer.clear\"}");
	CHECK_STR(encode(&realtime_openai, (struct realtime_command){.type = REALTIME_ACTIVITY}),
		  "");
}

TEST(a_key_goes_into_a_header)
{
	void *codec = codec_of(&realtime_xai);
	char *url = realtime_xai.url(codec), *auth = realtime_xai.auth("k");

	CHECK_STR(url, "wss://host/v1/realtime?model=a%20model");
	CHECK_STR(auth, "Authorization: Bearer k");
	free(url);
	realtime_xai.free(codec);
	CHECK_INT(
		realtime_xai.alloc(&codec, &(struct realtime_conf){.url = "wss://host/v1/realtime",
								   .model = "",
								   .rate_out = 24000}),
		0);
	url = realtime_xai.url(codec);
	CHECK_STR(url, "wss://host/v1/realtime?model=grok-voice-latest");
	CHECK(!realtime_xai.auth(""));
	CHECK_STR(realtime_openai_beta.header, "OpenAI-Beta: realtime=v1");
	CHECK(!realtime_openai.header);
	free(url);
	free(auth);
	realtime_xai.free(codec);
}

TEST(rule_009_the_least_commit_is_openais)
{
	CHECK_INT(realtime_openai.min_commit_ms * 48, 4800);
	CHECK_INT(realtime_openai_beta.min_commit_ms * 48, 4800);
	CHECK_INT(realtime_xai.min_commit_ms, 0);
	CHECK_INT(realtime_localai.min_commit_ms, 0);
}

/* ---- what comes in ---- */

static struct realtime_facts facts;

static int decode(const char *text)
{
	return realtime_openai.decode(NULL, true, (const uint8_t *)text, strlen(text), &facts);
}

static const char *text_of(const struct realtime_fact *f)
{
	static char text[256];

	snprintf(text, sizeof text, "%.*s", (int)f->text.n, (const char *)f->text.p);
	return text;
}

TEST(every_name_of_the_family_is_one_fact)
{
	static const struct {
		const char *type;
		enum realtime_fact_type fact;
	} rows[] = {{"response.output_audio.delta", REALTIME_AUDIO},
		    {"response.audio.delta", REALTIME_AUDIO},
		    {"response.output_audio_transcript.delta", REALTIME_TEXT},
		    {"response.audio_transcript.delta", REALTIME_TEXT},
		    {"response.output_text.delta", REALTIME_TEXT},
		    {"response.text.delta", REALTIME_TEXT},
		    {"response.function_call_arguments.delta", REALTIME_CALL_FRAGMENT},
		    {"conversation.item.input_audio_transcription.delta", REALTIME_HEARD_PART}};
	char text[256];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 "{\"type\":\"%s\",\"response_id\":\"r\",\"item_id\":\"i\",\"delta\":"
			 "\"AAEC\","
			 "\"obfuscation\":\"x\"}",
			 rows[i].type);
		CHECK_INT(decode(text), 0);
		CHECK_INT(facts.n, 1);
		CHECK_INT(facts.v[0].type, rows[i].fact);
		CHECK_STR(facts.v[0].item, "i");
		CHECK_STR(text_of(&facts.v[0]), "AAEC");
		realtime_facts_clear(&facts);
	}
}

TEST(a_session_begins_by_any_of_three_names)
{
	static const char *const names[] = {"session.created", "session.updated",
					    "conversation.created"};
	char text[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof text, "{\"type\":\"%s\",\"new\":{\"deep\":[1]}}", names[i]);
		CHECK_INT(decode(text), 0);
		CHECK_INT(facts.v[0].type, REALTIME_SESSION);
		realtime_facts_clear(&facts);
	}
	/* xAI's own. */
	CHECK_INT(decode("{\"type\":\"ping\",\"timestamp\":1}"), 0);
	CHECK_INT(facts.n, 0);
	realtime_facts_clear(&facts);
}

TEST(a_cumulative_transcript_is_whole)
{
	CHECK_INT(decode("{\"type\":\"conversation.item.input_audio_transcription.updated\","
			 "\"item_id\":\"i\",\"transcript\":\"ten past\"}"),
		  0);
	CHECK_INT(facts.v[0].type, REALTIME_HEARD_PART);
	CHECK(facts.v[0].whole);
	CHECK_STR(text_of(&facts.v[0]), "ten past");
	realtime_facts_clear(&facts);
	CHECK_INT(decode("{\"type\":\"conversation.item.input_audio_transcription.completed\","
			 "\"item_id\":\"i\",\"transcript\":\"ten past four\",\"usage\":{\"type\":"
			 "\"duration\",\"seconds\":1.2}}"),
		  0);
	CHECK_INT(facts.n, 2);
	CHECK_INT(facts.v[0].type, REALTIME_HEARD_TEXT);
	CHECK_INT(facts.v[1].type, REALTIME_USAGE);
	CHECK_INT(facts.v[1].usage.n[PRICE_SECONDS], 2);
	realtime_facts_clear(&facts);
}

TEST(a_call_comes_in_parts_and_whole)
{
	CHECK_INT(decode("{\"type\":\"response.output_item.added\",\"response_id\":\"r\",\"item\":{"
			 "\"id\":\"i\",\"type\":\"function_call\",\"call_id\":\"c\",\"name\":"
			 "\"look\","
			 "\"arguments\":\"\"}}"),
		  0);
	CHECK_INT(facts.v[0].type, REALTIME_CALL_BEGUN);
	CHECK_STR(facts.v[0].name, "look");
	CHECK_STR(facts.v[0].call, "c");
	realtime_facts_clear(&facts);
	CHECK_INT(
		decode("{\"type\":\"response.function_call_arguments.done\",\"response_id\":\"r\","
		       "\"item_id\":\"i\",\"call_id\":\"c\",\"arguments\":\"{}\"}"),
		0);
	CHECK_INT(facts.v[0].type, REALTIME_CALL);
	CHECK_STR(facts.v[0].name, "");
	CHECK_STR(text_of(&facts.v[0]), "{}");
	realtime_facts_clear(&facts);
	/* Items of other kinds say nothing. */
	CHECK_INT(decode("{\"type\":\"response.output_item.added\",\"response_id\":\"r\",\"item\":{"
			 "\"id\":\"i\",\"type\":\"message\"}}"),
		  0);
	CHECK_INT(facts.n, 0);
	realtime_facts_clear(&facts);
}

TEST(a_side_request_is_text_beside_the_conversation)
{
	struct realtime_command cmd = {
		.type = REALTIME_ASIDE, .ask = 3, .turn = 4, .limit = 64, .text = "for whom?"};

	CHECK_STR(encode(&realtime_openai, cmd),
		  "{\"type\":\"response.create\",\"event_id\":\"aside-3\",\"response\":{"
		  "\"conversation\":\"none\",\"input\":[],\"tools\":[],\"output_modalities\":["
		  "\"text\"],\"instructions\":\"for whom?\",\"max_output_tokens\":64,"
		  "\"metadata\":{\"aside\":\"3\"}}}");
	CHECK_STR(encode(&realtime_xai, cmd), strerror(ENOTSUP));
	CHECK_STR(encode(&realtime_localai, cmd), strerror(ENOTSUP));
	CHECK_STR(encode(&realtime_gemini, cmd), strerror(ENOTSUP));
	CHECK_INT(decode("{\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"metadata\":{"
			 "\"aside\":\"3\"}}}"),
		  0);
	CHECK(facts.v[0].aside);
	CHECK_INT(facts.v[0].ask, 3);
	realtime_facts_clear(&facts);
	CHECK_INT(decode("{\"type\":\"error\",\"error\":{\"event_id\":\"aside-3\"}}"), 0);
	CHECK(facts.v[0].aside);
	CHECK_INT(facts.v[0].ask, 3);
	realtime_facts_clear(&facts);
}

TEST(the_end_of_an_answer_tells_its_calls_and_its_usage)
{
	CHECK_INT(
		decode("{\"type\":\"response.done\",\"response\":{\"id\":\"r\",\"status\":"
		       "\"completed\",\"metadata\":{\"ask\":\"7\"},\"output\":[{\"type\":"
		       "\"message\"},"
		       "{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"c\",\"name\":"
		       "\"look\","
		       "\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":30,\"output_tokens\":9,"
		       "\"input_token_details\":{\"text_tokens\":20,\"audio_tokens\":10,"
		       "\"cached_tokens_details\":{\"text_tokens\":15,\"audio_tokens\":4}},"
		       "\"output_token_details\":{\"text_tokens\":2,\"audio_tokens\":7}}}}"),
		0);
	CHECK_INT(facts.n, 2);
	CHECK_INT(facts.v[0].type, REALTIME_CALL);
	CHECK_STR(facts.v[0].response, "r");
	CHECK_INT(facts.v[1].type, REALTIME_DONE);
	CHECK_INT(facts.v[1].ask, 7);
	CHECK_INT(facts.v[1].status, REALTIME_COMPLETED);
	CHECK_INT(facts.v[1].usage.n[PRICE_TEXT_IN], 5);
	CHECK_INT(facts.v[1].usage.n[PRICE_TEXT_CACHED], 15);
	CHECK_INT(facts.v[1].usage.n[PRICE_AUDIO_IN], 6);
	CHECK_INT(facts.v[1].usage.n[PRICE_AUDIO_CACHED], 4);
	CHECK_INT(facts.v[1].usage.n[PRICE_TEXT_OUT], 2);
	CHECK_INT(facts.v[1].usage.n[PRICE_AUDIO_OUT], 7);
	realtime_facts_clear(&facts);
	/* xAI has the usage beside the response, and tells no kinds. */
	CHECK_INT(decode("{\"type\":\"response.done\",\"usage\":{\"input_tokens\":3,"
			 "\"output_tokens\":4},\"response\":{\"id\":\"r\",\"status\":\"cancelled\","
			 "\"status_details\":{\"reason\":\"turn_detected\"}}}"),
		  0);
	CHECK_INT(facts.n, 2);
	CHECK_INT(facts.v[0].type, REALTIME_INTERRUPTED);
	CHECK_INT(facts.v[1].status, REALTIME_CANCELLED);
	CHECK_INT(facts.v[1].usage.n[PRICE_TEXT_IN], 3);
	CHECK_INT(facts.v[1].usage.n[PRICE_TEXT_OUT], 4);
	realtime_facts_clear(&facts);
}

static void end_with_calls(const char *details)
{
	size_t size = 65536, at;
	char *text = malloc(size);

	CHECK(text);
	at = (size_t)snprintf(text, size,
			      "{\"type\":\"response.done\",\"response\":{\"id\":\"r\",\"status\":"
			      "\"completed\",%s\"output\":[",
			      details);
	for (unsigned i = 0; i < 100; i++)
		at += (size_t)snprintf(text + at, size - at,
				       "%s{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":"
				       "\"c%u\",\"name\":\"look\",\"arguments\":\"{}\"}",
				       i ? "," : "", i);
	snprintf(text + at, size - at, "]}}");
	CHECK_INT(decode(text), 0);
	CHECK_INT(facts.n, REALTIME_FACTS);
	CHECK_INT(facts.v[REALTIME_FACTS - 1].type, REALTIME_DONE);
	free(text);
}

TEST(an_answer_with_more_calls_than_facts_still_ends)
{
	end_with_calls("");
	realtime_facts_clear(&facts);
	end_with_calls("\"status_details\":{\"reason\":\"turn_detected\"},");
	CHECK_INT(facts.v[REALTIME_FACTS - 2].type, REALTIME_INTERRUPTED);
	realtime_facts_clear(&facts);
}

TEST(counts_that_no_answer_can_reach_are_not_believed)
{
	CHECK_INT(decode("{\"type\":\"response.done\",\"response\":{\"id\":\"r\",\"status\":"
			 "\"completed\",\"usage\":{\"input_tokens\":9223372036854775807,"
			 "\"output_tokens\":1e14}}}"),
		  0);
	CHECK_INT(facts.v[0].usage.n[PRICE_TEXT_IN], 0);
	CHECK_INT(facts.v[0].usage.n[PRICE_TEXT_OUT], 0);
	realtime_facts_clear(&facts);
	CHECK_INT(decode("{\"type\":\"response.done\",\"response\":{\"id\":\"r\",\"status\":"
			 "\"completed\",\"usage\":{\"input_tokens\":-5,"
			 "\"output_tokens\":100000000}}}"),
		  0);
	CHECK_INT(facts.v[0].usage.n[PRICE_TEXT_IN], 0);
	CHECK_INT(facts.v[0].usage.n[PRICE_TEXT_OUT], 100000000);
	realtime_facts_clear(&facts);
}

TEST(rule_002_errors_are_known_by_code_or_by_words)
{
	static const struct {
		const char *code, *text;
		enum realtime_error error;
	} rows[] = {{"session_expired", "", REALTIME_ERROR_FATAL},
		    {"conversation_already_has_active_response", "", REALTIME_ERROR_ACTIVE},
		    {"x", "Conversation already has an active response", REALTIME_ERROR_ACTIVE},
		    {"response_cancel_not_active", "", REALTIME_ERROR_NOT_ACTIVE},
		    {"x", "there is no active response to cancel", REALTIME_ERROR_NOT_ACTIVE},
		    {"input_audio_buffer_commit_empty", "", REALTIME_ERROR_OTHER},
		    {"x", "audio could not be truncated", REALTIME_ERROR_OTHER}};
	char text[256];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 "{\"type\":\"error\",\"error\":{\"code\":\"%s\",\"message\":\"%s\","
			 "\"event_id\":\"ask-12\"}}",
			 rows[i].code, rows[i].text);
		CHECK_INT(decode(text), 0);
		CHECK_INT(facts.v[0].error, rows[i].error);
		CHECK_INT(facts.v[0].ask, 12);
		realtime_facts_clear(&facts);
	}
}

TEST(malformed_messages_are_refused)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{\"type\":7}",
		"{\"type\":\"error\"}",
		"{\"type\":\"response.created\"}",
		"{\"type\":\"response.done\",\"response\":{}}",
		"{\"type\":\"response.output_audio.delta\",\"response_id\":\"r\",\"item_id\":"
		"\"i\"}",
		"{\"type\":\"response.output_audio.delta\",\"item_id\":\"i\",\"delta\":\"AA==\"}",
		"{\"type\":\"response.function_call_arguments.done\",\"response_id\":\"r\","
		"\"item_id\":\"i\"}",
		"{\"type\":\"response.output_item.done\",\"response_id\":\"r\",\"item\":{\"type\":"
		"\"function_call\"}}",
		"{\"type\":\"input_audio_buffer.committed\"}"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (decode(bad[i]) != EBADMSG)
			test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
	CHECK_INT(realtime_openai.decode(NULL, false, (const uint8_t *)"{}", 2, &facts), EBADMSG);
	CHECK_INT(realtime_openai.decode(NULL, true, (const uint8_t *)"{}",
					 (size_t)REALTIME_MESSAGE_MAX + 1, &facts),
		  EMSGSIZE);
}

TEST_OOM(a_codec_without_memory)
{
	const struct realtime_conf conf = {.url = "u", .model = "m", .rate_out = 24000};
	void *codec;

	CHECK_OOM(realtime_openai.alloc(&codec, &conf), (void)0);
	realtime_openai.free(codec);
}
