/* The three text dialects: requests as they are sent, and answers cut at every place. */
#include "control/dialect/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "control/dialect/sse.h"
#include "proto/base/utf8.h"
#include "tests/test.h"

/* ---- answers ---- */

struct answer {
	const struct text_dialect *d;
	struct text_stream s;
	char facts[2048];
};

static bool note(const struct text_fact *f, void *arg)
{
	static const char *const types[] = {"", "start", "more", "call", "usage", "done", "failed"};
	static const char *const ends[] = {"stop", "tools", "length", "filtered"};
	struct answer *a = arg;
	size_t at = strlen(a->facts), size = sizeof a->facts - at;
	char *to = a->facts + at;

	switch (f->type) {
	case TEXT_WORDS:
		snprintf(to, size, "%.*s", (int)f->text.n, (const char *)f->text.p);
		break;
	case TEXT_CALL_START:
	case TEXT_CALL_MORE: /* the whole call is told as well */
		break;
	case TEXT_CALL:
		snprintf(to, size, "|%s %s %s %.*s", types[f->type], f->call, f->tool,
			 f->too_large ? 9 : (int)f->text.n,
			 f->too_large ? "too large" : (const char *)f->text.p);
		break;
	case TEXT_SEARCH_BEGAN:
		snprintf(to, size, "|search");
		break;
	case TEXT_SEARCHED:
		snprintf(to, size, "|searched %.*s%s", (int)f->text.n, (const char *)f->text.p,
			 f->failed ? " failed" : "");
		break;
	case TEXT_SOURCE:
		snprintf(to, size, "|source %.*s %s", (int)f->text.n, (const char *)f->text.p,
			 f->title);
		break;
	case TEXT_USAGE:
		snprintf(to, size, "|usage %u+%u>%u", (unsigned)f->usage->n[PRICE_TEXT_IN],
			 (unsigned)f->usage->n[PRICE_TEXT_CACHED],
			 (unsigned)f->usage->n[PRICE_TEXT_OUT]);
		break;
	case TEXT_DONE:
		snprintf(to, size, "|done %s", ends[f->end]);
		break;
	case TEXT_FAILED:
		snprintf(to, size, "|failed %.*s", (int)f->text.n, (const char *)f->text.p);
		break;
	}
	return true;
}

static bool on_data(const uint8_t *data, size_t n, void *arg)
{
	struct answer *a = arg;

	return text_stream_read(&a->s, a->d, data, n, note, a) != ECANCELED;
}

static void read_answer(struct answer *a, const struct text_dialect *d, const char *stream,
			size_t step)
{
	size_t n = strlen(stream);
	struct sse sse = {0};
	int err = 0;

	*a = (struct answer){.d = d, .s.ask = 7};
	for (size_t i = 0; i < n && !err; i += step)
		err = sse_feed(&sse, stream + i, n - i < step ? n - i : step, on_data, a);
	sse_clear(&sse);
	text_stream_end(&a->s, note, a);
	text_stream_clear(&a->s);
}

#define D(json)	      "data: " json "\n\n"
#define CHAT(delta)   D("{\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]}")
#define CHAT_END(why) D("{\"choices\":[{\"delta\":{},\"finish_reason\":\"" why "\"}]}")
#define CALL(json)    CHAT("{\"tool_calls\":[" json "]}")
#define ITEM(at, state, arguments)                                                                 \
	D("{\"type\":\"response.output_item." state "\",\"output_index\":" at                      \
	  ",\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c1\","                \
	  "\"name\":\"look\",\"arguments\":\"" arguments "\"}}")
#define RESPONSE(type, fields)                                                                     \
	D("{\"type\":\"response." type "\",\"response\":{\"id\":\"r1\"," fields "}}")
#define SEARCH(state, fields)                                                                      \
	D("{\"type\":\"response.output_item." state "\",\"output_index\":0,\"item\":{"             \
	  "\"type\":\"web_search_call\",\"id\":\"ws\"," fields "}}")
#define OWLS "\"status\":\"completed\",\"action\":{\"type\":\"search\",\"query\":\"owls\"}"
#define CITE(type)                                                                                 \
	D("{\"type\":\"response.output_text.annotation.added\",\"annotation\":{\"type\":\"" type   \
	  "\",\"url\":\"https://owl.example/a\",\"title\":\"Owls\"}}")
#define BLOCK(at, block)                                                                           \
	D("{\"type\":\"content_block_start\",\"index\":" at ",\"content_block\":" block "}")
#define DELTA(at, delta)                                                                           \
	D("{\"type\":\"content_block_delta\",\"index\":" at ",\"delta\":" delta "}")
#define STOP(at) D("{\"type\":\"content_block_stop\",\"index\":" at "}")

static const struct {
	const struct text_dialect *d;
	const char *stream, *facts;
} answers[] = {
	/* ---- chat ---- */
	{&text_dialect_chat,
	 ": ping\r\n\r\n" CHAT("{\"role\":\"assistant\",\"content\":\"\"}")
		 CHAT("{\"content\":\"It \\u00e9\"}") CHAT("{\"content\":\"t\xc3\xa9.\"}")
			 CHAT_END("stop") D("{\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
					    "\"completion_tokens\":3,\"prompt_tokens_details\":"
					    "{\"cached_tokens\":4}}}") D("[DONE]"),
	 "It \xc3\xa9t\xc3\xa9.|usage 5+4>3|done stop"},
	/* Not all servers mark the end. */
	{&text_dialect_chat, CHAT("{\"content\":\"late\"}"), "late|done stop"},
	{&text_dialect_chat, "", "|failed the answer was empty"},
	{&text_dialect_chat, CHAT_END("stop"), "|done stop"},
	{&text_dialect_chat, CHAT("{\"content\":\"a\"}") CHAT_END("length"), "a|done length"},
	{&text_dialect_chat, CHAT_END("content_filter"), "|failed content_filter"},
	{&text_dialect_chat, CHAT("{\"refusal\":\"I must not.\"}") CHAT_END("stop"),
	 "I must not.|done stop"},
	/* Reasoning, beside the text or in it. */
	{&text_dialect_chat,
	 CHAT("{\"reasoning_content\":\"hm\"}") CHAT("{\"reasoning\":\"hm\"}")
		 CHAT("{\"content\":\"yes\"}"),
	 "yes|done stop"},
	{&text_dialect_chat,
	 CHAT("{\"content\":\"\\n<th\"}") CHAT("{\"content\":\"ink>no </thin\"}")
		 CHAT("{\"content\":\"g </think>\\n\\nyes <b>\"}"),
	 "yes <b>|done stop"},
	{&text_dialect_chat, CHAT("{\"content\":\"<thin\"}") CHAT("{\"content\":\" ice\"}"),
	 "<thin ice|done stop"},
	{&text_dialect_chat, CHAT("{\"content\":\"<thi\"}"), "<thi|done stop"},
	/* Calls: by index, interleaved; whole without an index; the same index twice; an object. */
	{&text_dialect_chat,
	 CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"\"}}")
		 CALL("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":\"{"
		      "\"}}") CALL("{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\":\"}}")
			 CALL("{\"index\":1,\"function\":{\"arguments\":\"}\"}},"
			      "{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"1}\"}}")
				 CHAT_END("tool_calls"),
	 "|call a look {\"x\":1}|call b go {}|done tools"},
	{&text_dialect_chat,
	 CALL("{\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}},"
	      "{\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":{\"x\":1}}}"),
	 "|call a look {}|call b go {\"x\":1}|done tools"},
	{&text_dialect_chat,
	 CALL("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}")
		 CALL("{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"go\"}}") CALL(
			 "{\"index\":0,\"function\":{\"arguments\":\"{ }\"}}") CHAT_END("stop"),
	 "|call a look {}|call b go { }|done tools"},
	{&text_dialect_chat, CALL("{\"function\":{\"name\":\"look\"}}") D("[DONE]"),
	 "|call call_7_1 look {}|done tools"},
	/* Errors. */
	{&text_dialect_chat,
	 CHAT("{\"content\":\"It \"}") D("{\"error\":{\"message\":\"no more\",\"code\":"
					 "\"insufficient_quota\"}}") CHAT("{\"content\":\"no\"}"),
	 "It |failed insufficient_quota: no more"},
	{&text_dialect_chat, D("{\"error\":\"pl\\nain\"}"), "|failed pl ain"},
	{&text_dialect_chat,
	 D("[]") D("{\"choices\"") D("{\"error\":null,\"choices\":[{\"delta\":{"
				     "\"content\":\"x\"}}]}"),
	 "x|done stop"},
	{&text_dialect_chat,
	 D("{\"choices\":[{\"message\":{\"content\":\"YES\"},\"finish_reason\":\"stop\"}]}"),
	 "YES|done stop"},
	/* ---- responses ---- */
	{&text_dialect_responses,
	 "event: response.created\n" RESPONSE("created", "\"status\":\"in_progress\"") D(
		 "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"hm\"}")
		 D("{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"hm\"}") D(
			 "{\"type\":\"response.output_text.delta\",\"delta\":\"It \"}")
			 D("{\"type\":\"response.output_text.delta\",\"delta\":\"is.\"}") D(
				 "{\"type\":\"response.output_text.done\",\"text\":\"It is.\"}")
				 RESPONSE("completed",
					  "\"status\":\"completed\",\"error\":null,\"output\":[{"
					  "\"type\":\"message\",\"content\":[{\"type\":\"output_"
					  "text\",\"text\":\"It is.\"}]}],\"usage\":{\"input_"
					  "tokens\":7,\"input_tokens_details\":{\"cached_tokens\":"
					  "2},\"output_tokens\":3}"),
	 "It is.|usage 5+2>3|done stop"},
	{&text_dialect_responses,
	 ITEM("1", "added", "") D("{\"type\":\"response.function_call_arguments.delta\","
				  "\"output_index\":1,\"delta\":\"{\\\"a\\\"\"}")
		 D("{\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,"
		   "\"delta\":\":2}\"}") ITEM("1", "done", "{\\\"a\\\":2}")
			 RESPONSE("completed", "\"status\":\"completed\""),
	 "|call c1 look {\"a\":2}|done tools"},
	{&text_dialect_responses, ITEM("0", "done", "{}"), "|call c1 look {}|done tools"},
	{&text_dialect_responses,
	 D("{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}")
		 RESPONSE("incomplete", "\"status\":\"incomplete\",\"incomplete_details\":{"
					"\"reason\":\"max_output_tokens\"}"),
	 "a|done length"},
	{&text_dialect_responses,
	 RESPONSE("failed", "\"status\":\"failed\",\"error\":{\"code\":\"server_error\","
			    "\"message\":\"no\"}"),
	 "|failed server_error: no"},
	{&text_dialect_responses,
	 D("{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}"),
	 "|failed rate_limit_exceeded: slow"},
	{&text_dialect_responses,
	 D("{\"object\":\"response\",\"id\":\"r\",\"status\":\"completed\",\"output\":["
	   "{\"type\":\"reasoning\",\"content\":[{\"text\":\"hm\"}]},"
	   "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"YES\"}]}]}"),
	 "YES|done stop"},
	/* The search comes in the stream and again in the whole response. */
	{&text_dialect_responses,
	 SEARCH("added", "\"status\":\"in_progress\"") SEARCH("done", OWLS)
		 D("{\"type\":\"response.output_text.delta\",\"delta\":\"Owls.\"}")
			 CITE("url_citation") CITE("file_citation")
				 RESPONSE("completed", "\"status\":\"completed\",\"output\":["
						       "{\"type\":\"web_search_call\"," OWLS "}]"),
	 "|search|searched owlsOwls.|source https://owl.example/a Owls|done stop"},
	/* A server that tells nothing before the end, and a search that never ends. */
	{&text_dialect_responses,
	 RESPONSE("completed", "\"status\":\"completed\",\"output\":[{\"type\":\"web_search_call\","
			       "\"status\":\"failed\",\"action\":{\"type\":\"open_page\","
			       "\"url\":\"https://owl.example\"}}]"),
	 "|search|searched https://owl.example failed|done stop"},
	{&text_dialect_responses,
	 SEARCH("added", "\"status\":\"in_progress\"")
		 RESPONSE("completed", "\"status\":\"completed\""),
	 "|search|searched  failed|done stop"},
	/* ---- messages ---- */
	{&text_dialect_messages,
	 "event: message_start\n" D(
		 "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_"
		 "tokens\":5,\"cache_creation_input_tokens\":2,\"cache_read_input_tokens\":9,"
		 "\"output_tokens\":1}}}") D("{\"type\":\"ping\"}")
		 BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\"}") DELTA(
			 "0", "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}") STOP("0")
			 BLOCK("1", "{\"type\":\"text\",\"text\":\"\"}") DELTA(
				 "1", "{\"type\":\"text_delta\",\"text\":\"Let me look.\"}")
				 STOP("1") BLOCK("2", "{\"type\":\"tool_use\",\"id\":\"t1\","
						      "\"name\":\"look\",\"input\":{}}")
					 DELTA("2", "{\"type\":\"input_json_delta\",\"partial_"
						    "json\":\"{\\\"x\\\":\"}")
						 DELTA("2", "{\"type\":\"input_json_delta\","
							    "\"partial_json\":\"3}\"}") STOP("2")
							 D("{\"type\":\"message_delta\",\"delta\":"
							   "{\"stop_reason\":\"tool_use\"},"
							   "\"usage\":{\"output_tokens\":12}}")
								 D("{\"type\":\"message_stop\"}"),
	 "Let me look.|call t1 look {\"x\":3}|usage 8+9>12|done tools"},
	{&text_dialect_messages,
	 BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"go\",\"input\":{\"y\":1}}")
		 STOP("0"),
	 "|call t go {\"y\":1}|done tools"},
	{&text_dialect_messages,
	 BLOCK("0", "{\"type\":\"text\",\"text\":\"Cut\"}")
		 D("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}"),
	 "Cut|done length"},
	{&text_dialect_messages,
	 D("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}"),
	 "|failed content_filter"},
	{&text_dialect_messages,
	 D("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}"),
	 "|failed overloaded_error: Busy"},
	{&text_dialect_messages,
	 D("{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"YES\"}],"
	   "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":4,\"output_tokens\":1}}"),
	 "YES|usage 4+0>1|done stop"},
};

TEST(answers_become_facts_however_they_are_cut)
{
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		for (size_t step = 1; step <= strlen(answers[i].stream) + 1; step++) {
			struct answer a;

			read_answer(&a, answers[i].d, answers[i].stream, step);
			CHECK_STR(a.facts, answers[i].facts);
		}
}

TEST(arguments_of_a_call_have_a_limit)
{
	static char stream[40000];
	struct answer a;
	size_t n = (size_t)snprintf(stream, sizeof stream,
				    "data: {\"choices\":[{\"delta\":{\"tool_"
				    "calls\":[{\"index\":0,\"id\":\"a\","
				    "\"function\":{\"name\":\"x\","
				    "\"arguments\":\"");

	memset(stream + n, 'x', TEXT_ARGUMENTS_MAX + 1);
	strcpy(stream + n + TEXT_ARGUMENTS_MAX + 1, "\"}}]}}]}\n\n");
	read_answer(&a, &text_dialect_chat, stream, 4096);
	/* The call is told all the same: the model is owed an answer to it. */
	CHECK_STR(a.facts, "|call a x too large|done tools");
}

static bool check_names(const struct text_fact *f, void *arg)
{
	unsigned *calls = arg;

	*calls += f->type == TEXT_CALL && utf8_valid(f->call) && utf8_valid(f->tool);
	return true;
}

/* Names that were cut within a character could not be sent back. */
TEST(names_that_are_too_long_end_with_a_whole_character)
{
	struct text_stream s = {0};
	char words[600] = "", text[2048];
	unsigned calls = 0;

	for (unsigned i = 0; i < 2; i++) {
		memset(words, 'a', i);
		for (size_t at = i; at + 2 < sizeof words; at += 2)
			memcpy(words + at, "\xc3\xa9", 3);
		snprintf(text, sizeof text,
			 "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"%s\","
			 "\"function\":{\"name\":\"%s\",\"arguments\":\"{}\"}}]}}]}",
			 words, words);
		CHECK_INT(text_stream_read(&s, &text_dialect_chat, (const uint8_t *)text,
					   strlen(text), check_names, &calls),
			  0);
		text_stream_end(&s, check_names, &calls);
		text_stream_clear(&s);
	}
	CHECK_INT(calls, 2);
}

/* ---- requests ---- */

static const struct engine_image image = {"image/png", {(const uint8_t *)"abc", 3}};
static const struct engine_message messages[] = {
	{.role = ENGINE_ASSISTANT, .speaker = "", .text = "hello"},
	{.role = ENGINE_USER, .speaker = "Bob", .text = "look", .images = &image, .n_images = 1},
	{.role = ENGINE_ASSISTANT, .speaker = "", .text = "I do."},
	{.role = ENGINE_CALL, .speaker = "", .text = "{\"x\":1}", .call = "a", .tool = "look"},
	{.role = ENGINE_CALL, .speaker = "", .text = "bad", .call = "b", .tool = "go"},
	{.role = ENGINE_RESULT, .speaker = "", .text = "a cat", .call = "a"},
	{.role = ENGINE_RESULT, .speaker = "", .text = "no", .call = "b", .failed = true},
	{.role = ENGINE_USER, .speaker = "", .text = "[Bob]: and?"},
};
static const struct engine_tool tool = {"look", "Looks.",
					"{\"type\":\"object\",\"properties\":{}}"};

static char *build(const struct text_dialect *d, const char *options, const struct engine_ask *more,
		   size_t from)
{
	struct engine_ask ask = *more;
	struct text_options o;

	text_options_parse(&o, options);
	ask.model = ask.model ? ask.model : "m";
	ask.instructions = ask.instructions ? ask.instructions : "";
	if (!ask.n) {
		ask.messages = messages;
		ask.n = sizeof messages / sizeof messages[0];
	}
	return d->build(&(struct text_request){.ask = &ask,
					       .options = &o,
					       .from = from,
					       .previous = from ? "r9" : "",
					       .stream = !ask.one_word});
}

static void check_body(char *body, const char *want)
{
	CHECK_STR(body, want);
	free(body);
}

#define TOOL_ASK                                                                                   \
	&(struct engine_ask)                                                                       \
	{                                                                                          \
		.instructions = "be kind", .instructions_stable = 3, .tools = &tool, .n_tools = 1, \
		.output_tokens = 50                                                                \
	}

TEST(a_chat_request)
{
	check_body(
		build(&text_dialect_chat, "", TOOL_ASK, 0),
		"{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be kind\"},"
		"{\"role\":\"assistant\",\"content\":\"hello\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Bob]: look\"},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,YWJj\"}}]},"
		"{\"role\":\"assistant\",\"content\":\"I do.\",\"tool_calls\":["
		"{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"look\","
		"\"arguments\":\"{\\\"x\\\":1}\"}},"
		"{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"go\","
		"\"arguments\":\"bad\"}}]},"
		"{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"a cat\"},"
		"{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"no\"},"
		"{\"role\":\"user\",\"content\":\"[Bob]: and?\"}],\"stream\":true,"
		"\"max_tokens\":50,\"stream_options\":{\"include_usage\":true},"
		"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\","
		"\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}"
		"}]}");
}

/* One bad line must not fail all answers. */
TEST(a_cut_character_fails_no_request)
{
	static const struct text_dialect *const all[] = {
		&text_dialect_chat, &text_dialect_responses, &text_dialect_messages};
	static const struct engine_message cut = {
		.role = ENGINE_USER,
		.speaker = "",
		.text = "the screen of \xe7\x94\xbb\xe7\x94, new"};

	for (unsigned i = 0; i < 3; i++) {
		char *body = build(all[i], "", &(struct engine_ask){.messages = &cut, .n = 1}, 0);

		CHECK(body && strstr(body, "the screen of \xe7\x94\xbb, new"));
		free(body);
	}
}

static char *build_room(const char *options)
{
	static const struct engine_message room[] = {
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "hello"},
		{.role = ENGINE_USER, .speaker = "Bob", .text = "one"},
		{.role = ENGINE_USER, .speaker = "Eve", .text = "two"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "three"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "four"},
		{.role = ENGINE_USER, .speaker = "", .text = "five"},
	};
	const struct engine_ask ask = {.model = "m", .messages = room, .n = 6};

	return build(&text_dialect_chat, options, &ask, 0);
}

/* Chat templates of some models refuse anything else. */
TEST(roles_take_turns_where_the_server_applies_a_template)
{
	static const char *const servers[] = {"{\"server\":\"llama.cpp\",\"stream_usage\":false}",
					      "{\"server\":\"vllm\",\"stream_usage\":false}"};

	char *body;

	for (size_t i = 0; i < 2; i++) {
		body = build_room(servers[i]);
		CHECK(strstr(body, "\"messages\":[{\"role\":\"user\",\"content\":\"(earlier)\"},"
				   "{\"role\":\"assistant\",\"content\":\"hello\"},"
				   "{\"role\":\"user\",\"content\":\"[Bob]: one\\n[Eve]: two\"},"
				   "{\"role\":\"assistant\",\"content\":\"three\\nfour\"},"
				   "{\"role\":\"user\",\"content\":\"five\"}]"));
		free(body);
	}
	body = build_room("");
	CHECK(strstr(body, "{\"role\":\"user\",\"content\":\"[Bob]: one\"},"
			   "{\"role\":\"user\",\"content\":\"[Eve]: two\"}"));
	free(body);
}

TEST(servers_and_models_have_their_own_names)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "hi"};
	const struct engine_ask word = {
		.model = "gpt-5-nano", .messages = &m, .n = 1, .one_word = true};
	const struct engine_ask json = {.messages = &m, .n = 1, .answer_schema = "{}"};
	const struct engine_ask o = {.model = "o4-mini", .messages = &m, .n = 1, .one_word = true};
	const struct engine_ask later = {
		.model = "gpt-5.1", .messages = &m, .n = 1, .one_word = true};

	check_body(
		build(&text_dialect_chat, "", &word, 0),
		"{\"model\":\"gpt-5-nano\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
		",\"stream\":false,\"max_completion_tokens\":64,\"reasoning_effort\":\"minimal\"}");
	check_body(build(&text_dialect_chat, "", &o, 0),
		   "{\"model\":\"o4-mini\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		   "\"stream\":false,\"max_completion_tokens\":512,\"reasoning_effort\":\"low\"}");
	check_body(build(&text_dialect_chat, "", &later, 0),
		   "{\"model\":\"gpt-5.1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		   "\"stream\":false,\"max_completion_tokens\":64}");
	check_body(build(&text_dialect_chat,
			 "{\"server\":\"llama.cpp\",\"slot\":2,\"stream_usage\":false,"
			 "\"effort\":\"low\",\"output_tokens\":7,\"schema\":false}",
			 &json, 0),
		   "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		   "\"stream\":true,\"max_tokens\":7,\"response_format\":{\"type\":\"json_object\"}"
		   ",\"reasoning_effort\":\"low\",\"cache_prompt\":true,\"id_slot\":2}");
	check_body(build(&text_dialect_responses, "{\"store\":true}", &word, 0),
		   "{\"model\":\"gpt-5-nano\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		   "\"stream\":false,\"store\":false,\"max_output_tokens\":64,\"reasoning\":{"
		   "\"effort\":\"minimal\"}}");
	check_body(
		build(&text_dialect_responses, "{\"effort\":\"none\",\"schema\":false}", &json, 0),
		"{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		"\"stream\":true,\"store\":false,\"reasoning\":{\"effort\":\"none\"},"
		"\"text\":{\"format\":{\"type\":\"json_object\"}}}");
	check_body(build(&text_dialect_messages, "", &word, 0),
		   "{\"model\":\"gpt-5-nano\",\"max_tokens\":8,\"messages\":[{\"role\":\"user\","
		   "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}],\"stream\":false}");
}

/* A service that does not know the schema of an answer may refuse the whole request. */
TEST(the_schema_of_an_answer_goes_to_models_that_take_one)
{
	static const struct {
		const struct text_dialect *dialect;
		const char *model, *options, *part; /* part: NULL: no schema */
	} cases[] = {
		{&text_dialect_chat, "gpt-5-mini", "",
		 "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
		 "\"answer\",\"strict\":true,\"schema\":{\"a\":1}}}"},
		{&text_dialect_chat, "o4-mini", "", "\"json_schema\""},
		{&text_dialect_chat, "qwen", "{\"server\":\"ollama\"}", "\"json_schema\""},
		{&text_dialect_chat, "qwen", "{\"schema\":true}", "\"json_schema\""},
		{&text_dialect_chat, "qwen", "", NULL},
		{&text_dialect_chat, "gpt-4-turbo", "", NULL},
		{&text_dialect_chat, "gpt-4", "", NULL},
		{&text_dialect_chat, "gpt-4.1", "{\"schema\":false}", NULL},
		{&text_dialect_responses, "gpt-4.1", "",
		 "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"strict\":"
		 "true,\"schema\":{\"a\":1}}}"},
		{&text_dialect_responses, "gpt-3.5-turbo", "", NULL},
		{&text_dialect_messages, "claude-sonnet-4-5", "",
		 "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"a\":1}}}"},
		{&text_dialect_messages, "claude-sonnet-4-20250514", "", NULL},
		{&text_dialect_messages, "claude-opus-4-0", "", NULL},
		{&text_dialect_responses, "o1-mini", "", NULL},
		{&text_dialect_messages, "deepseek-chat", "", NULL},
		{&text_dialect_messages, "deepseek-chat", "{\"schema\":true}", "\"json_schema\""},
	};
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "hi"};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *part = cases[i].part ? cases[i].part : "schema";
		char *body = build(cases[i].dialect, cases[i].options,
				   &(struct engine_ask){.model = cases[i].model,
							.messages = &m,
							.n = 1,
							.answer_schema = "{\"a\":1}"},
				   0);

		CHECK(body && !!strstr(body, part) == !!cases[i].part);
		if (body && cases[i].dialect != &text_dialect_messages)
			CHECK(strstr(body, "json_schema") || strstr(body, "json_object"));
		free(body);
	}
}

TEST(a_responses_request)
{
	check_body(
		build(&text_dialect_responses, "", TOOL_ASK, 0),
		"{\"model\":\"m\",\"input\":[{\"role\":\"assistant\",\"content\":\"hello\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"[Bob]: look\"}"
		",{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":"
		"\"data:image/png;base64,YWJj\"}]},"
		"{\"role\":\"assistant\",\"content\":\"I do.\"},"
		"{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"look\",\"arguments\":"
		"\"{\\\"x\\\":1}\"},"
		"{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"go\",\"arguments\":"
		"\"bad\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"a cat\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"b\",\"output\":\"no\"},"
		"{\"role\":\"user\",\"content\":\"[Bob]: and?\"}],\"stream\":true,\"store\":false,"
		"\"max_output_tokens\":50,\"instructions\":\"be kind\","
		"\"tools\":[{\"type\":\"function\",\"name\":\"look\",\"description\":\"Looks.\","
		"\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}]}");
	check_body(build(&text_dialect_responses, "{\"store\":true}", &(struct engine_ask){0}, 7),
		   "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"[Bob]: and?\"}],"
		   "\"stream\":true,\"store\":true,\"previous_response_id\":\"r9\"}");
}

TEST(a_responses_request_offers_the_search_of_the_provider)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "hi"};
	const struct engine_ask search = {
		.instructions = "be kind", .messages = &m, .n = 1, .search = true};
	char *body = build(&text_dialect_responses, "", &search, 0);

	CHECK(strstr(body, "\"tools\":[{\"type\":\"web_search\"}]"));
	CHECK(strstr(body, "\"instructions\":\"be kind\\nYour answer is read out"));
	free(body);
	CHECK(text_dialect_responses.searches && !text_dialect_chat.searches);
}

TEST(a_messages_request)
{
	check_body(
		build(&text_dialect_messages, "", TOOL_ASK, 0),
		"{\"model\":\"m\",\"max_tokens\":50,\"messages\":["
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(earlier)\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Bob]: look\"},"
		"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
		"\"data\":\"YWJj\"}}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I do.\"},"
		"{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"look\",\"input\":{\"x\":1}},"
		"{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"go\",\"input\":{}}]},"
		"{\"role\":\"user\",\"content\":["
		"{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"a cat\","
		"\"is_error\":false},"
		"{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"no\","
		"\"is_error\":true},"
		"{\"type\":\"text\",\"text\":\"[Bob]: and?\"}]}],\"stream\":true,"
		"\"system\":[{\"type\":\"text\",\"text\":\"be \",\"cache_control\":{\"type\":"
		"\"ephemeral\"}},{\"type\":\"text\",\"text\":\"kind\"}],"
		"\"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":"
		"{\"type\":\"object\",\"properties\":{}}}]}");
}

TEST(options_of_a_provider)
{
	struct text_options o;
	const char *method = NULL;
	char path[64];

	text_options_parse(&o, "");
	CHECK(o.stream_usage && o.cache && !o.store && o.slot == -1 && !*o.version);
	CHECK(!text_slot_cancel(&o, &method, path, sizeof path));
	text_options_parse(&o, "{\"server\":\"llama.cpp\",\"slot\":3,\"version\":\"2023-06-01\","
			       "\"cache\":false,\"bearer\":true,\"unknown\":1}");
	CHECK(o.server == TEXT_SERVER_LLAMACPP && o.slot == 3 && !o.cache && o.bearer);
	CHECK_STR(o.version, "2023-06-01");
	CHECK(text_slot_cancel(&o, &method, path, sizeof path));
	CHECK_STR(method, "POST");
	CHECK_STR(path, "slots/3?action=erase");
	text_options_parse(&o, "{\"server\":7,\"slot\":-4,\"version\":\"a\\r\\nb\",\"effort\":"
			       "\"much too long an effort\",\"store\":1}");
	CHECK(o.server == TEXT_SERVER_ANY && o.slot == -1 && !*o.version && !*o.effort && !o.store);
	text_options_parse(&o, "[");
	CHECK(o.stream_usage);
}

TEST_OOM(text_dialects_without_memory)
{
	const struct text_dialect *dialects[] = {&text_dialect_chat, &text_dialect_responses,
						 &text_dialect_messages};

	for (size_t i = 0; i < 3; i++) {
		char *body = build(dialects[i], "{\"store\":true}", TOOL_ASK, 0);
		struct answer a;

		CHECK(body || test_oom_hit());
		free(body);
		read_answer(&a, dialects[i], answers[i == 0 ? 11 : i == 1 ? 20 : 26].stream, 64);
		CHECK(*a.facts || test_oom_hit());
	}
}
