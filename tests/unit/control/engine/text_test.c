/* The engine of text models, against a scripted HTTP server. */
#include "control/engine/engine.h"
#include "proto/base/time.h"
#include "tests/unit/control/fake_http.h"
#include "tests/test.h"

#define SSE "text/event-stream"
#define DELTA(x)                                                                                   \
	"data: {\"choices\":[{\"delta\":{\"content\":\"" x "\"},\"finish_reason\":null}]}\n\n"
#define STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static struct seen {
	struct fake_http fake;
	void *text;
	struct evhttp_request *open;
	char events[512]; /* "7:words 7. 7!why " */
	unsigned ends, want;
	bool cancel_at_words, ask_at_end;
	int asked_at_end;
} fx;

static int ask(uint32_t id, const char *instructions, const char *line);

static void on_event(const struct engine_event *ev, void *arg)
{
	static const char marks[] = {[ENGINE_WORDS] = ':',
				     [ENGINE_DONE] = '.',
				     [ENGINE_FAILED] = '!',
				     [ENGINE_TOOL_CALL] = '(',
				     [ENGINE_USAGE] = '$'};
	size_t at = strlen(fx.events);

	(void)arg;
	snprintf(fx.events + at, sizeof fx.events - at, "%u%c%s%.*s ", ev->ask, marks[ev->type],
		 ev->type == ENGINE_TOOL_CALL ? ev->call : "", (int)ev->data.n,
		 ev->data.n ? (const char *)ev->data.p : "");
	if (ev->type == ENGINE_DONE && fx.ask_at_end) {
		fx.ask_at_end = false;
		fx.asked_at_end = ask(99, "", "when");
	}
	if (ev->type == ENGINE_WORDS && fx.cancel_at_words)
		engine_text.cancel(fx.text, ev->ask);
	else if ((ev->type == ENGINE_DONE || ev->type == ENGINE_FAILED) && ++fx.ends == fx.want)
		env_stop(fx.fake.env);
}

static int open_text(enum dialect dialect, const char *options, struct env *env, struct http *http,
		     const char *base, const char *key)
{
	return engine_text.alloc(&fx.text,
				 &(struct engine_conf){.env = env,
						       .http = http,
						       .options = options,
						       .caps = engine_caps(dialect, ROLE_TEXT),
						       .http_url = base,
						       .key = key,
						       .h = on_event});
}

static int ask(uint32_t id, const char *instructions, const char *line)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Bob", .text = "before"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "indeed"},
		{.role = ENGINE_USER, .speaker = "", .text = line}};

	return engine_text.ask(fx.text, &(struct engine_ask){.id = id,
							     .turn = 1,
							     .model = "m",
							     .voice = "",
							     .instructions = instructions,
							     .messages = messages,
							     .n = 3});
}

static int ask_word(uint32_t id, const char *line, uint32_t ms)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = line};

	return engine_text.ask(
		fx.text, &(struct engine_ask){.id = id,
					      .turn = 1,
					      .one_word = true,
					      .model = "m",
					      .voice = "",
					      .instructions = "",
					      .messages = &m,
					      .n = 1,
					      .deadline = env_now(fx.fake.env) + ms * NS_PER_MS});
}

static bool begin_as(enum dialect dialect, const char *options, fake_http_h *h)
{
	memset(&fx, 0, sizeof fx);
	fx.want = 1;
	return fake_http_begin(&fx.fake, h, NULL) &&
	       !open_text(dialect, options, fx.fake.env, fx.fake.http, fx.fake.base, "the-key");
}

static bool begin(fake_http_h *h)
{
	return begin_as(DIALECT_OPENAI, NULL, h);
}

static void end(void)
{
	engine_text.free(fx.text);
	fake_http_end(&fx.fake);
}

static void answer_two_words(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] = ": ping\n\n" DELTA("It is ") DELTA("late.") STOP;

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(a_model_writes_word_by_word)
{
	CHECK(begin(answer_two_words));
	CHECK_INT(ask(7, "you are", "[Alice]: when"), 0);
	CHECK_STR(fx.events, "");
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "7:It is  7:late. 7. ");
	CHECK_STR(fx.fake.path, "/v1/chat/completions");
	CHECK_STR(fx.fake.auth, "Bearer the-key");
	CHECK_STR(fx.fake.type, "application/json");
	CHECK(strncmp(fx.fake.agent, "Parley/", 7) == 0);
	CHECK(strstr((char *)fx.fake.body, "\"stream\":true"));
	CHECK(strstr((char *)fx.fake.body, "[Alice]: when"));
	/* The room's history, as messages. */
	CHECK(strstr((char *)fx.fake.body, "[{\"role\":\"system\",\"content\":\"you are\"},"
					   "{\"role\":\"user\",\"content\":\"[Bob]: before\"},"
					   "{\"role\":\"assistant\",\"content\":\"indeed\"},"
					   "{\"role\":\"user\",\"content\":\"[Alice]: when\"}]"));
	end();
}

static void answer_without_end(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	if (strstr((const char *)f->body, "hm"))
		fake_http_answer(req, 200, SSE, "", 0);
	else
		fake_http_answer(req, 200, SSE, DELTA("late"), sizeof DELTA("late") - 1);
}

static void call_without_id(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] =
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
		"\"name\":\"look\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}"
		"\n\ndata: [DONE]\n\n";

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(calls_that_have_no_id_get_one_that_no_other_answer_has)
{
	CHECK(begin(call_without_id));
	fx.want = 2;
	CHECK_INT(ask(7, "", "look"), 0);
	CHECK_INT(ask(8, "", "look again"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK(strstr(fx.events, "7(call_7_1{} ") && strstr(fx.events, "8(call_8_1{} "));
	end();
}

TEST(an_end_without_a_word_of_it_is_one_when_words_came)
{
	CHECK(begin(answer_without_end));
	CHECK_INT(ask(1, "", "when"), 0);
	env_run(fx.fake.env);
	fx.want = 2;
	CHECK_INT(ask(2, "", "when"), 0);
	env_run(fx.fake.env);
	end();
	CHECK_STR(fx.events, "1:late 1. 2:late 2. ");
}

static void answer_nothing(struct fake_http *f, struct evhttp_request *req)
{
	(void)f;
	fake_http_answer(req, 200, SSE, "", 0);
}

static void refuse(struct fake_http *f, struct evhttp_request *req)
{
	static const char body[] = "{\"error\":{\"message\":\"no\",\"code\":\"invalid_api_key\"}}";

	(void)f;
	fake_http_answer(req, 401, "application/json", body, sizeof body - 1);
}

static void break_off(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] =
		DELTA("It ") "data: {\"error\":{\"message\":\"overloaded\"}}\n\n" DELTA("no");

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(what_goes_wrong_is_told_once)
{
	static const struct {
		fake_http_h *h;
		const char *events;
	} table[] = {{answer_nothing, "3!the answer was empty "},
		     {refuse, "3!status 401 invalid_api_key: no "},
		     {break_off, "3:It  3!overloaded "}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		CHECK(begin(table[i].h));
		CHECK_INT(ask(3, "", "when"), 0);
		env_run(fx.fake.env);
		CHECK_STR(fx.events, table[i].events);
		end();
	}
}

static void keep_open(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, SSE);
	fake_http_piece(req, DELTA("It "), sizeof DELTA("It ") - 1);
}

TEST(a_cancel_closes_the_connection_and_nothing_more_is_told)
{
	CHECK(begin(keep_open));
	fx.cancel_at_words = true;
	CHECK_INT(ask(3, "", "when"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_INT(fx.fake.gone, 1);
	CHECK_STR(fx.events, "3:It  ");
	/* One that nobody has seen yet. */
	CHECK_INT(ask(4, "", "when"), 0);
	engine_text.cancel(fx.text, 4);
	engine_text.cancel(fx.text, 5);
	end();
}

static void judge(struct fake_http *f, struct evhttp_request *req)
{
	static const char yes[] = "{\"choices\":[{\"message\":{\"content\":\"YES\"}}]}";

	if (strstr((const char *)f->body, "\"max_tokens\":2") &&
	    strstr((const char *)f->body, "for you"))
		fake_http_answer(req, 200, "application/json", yes, sizeof yes - 1);
	else
		fake_http_answer(req, 200, "application/json", "[]", 2);
}

static void never(struct fake_http *f, struct evhttp_request *req)
{
	fake_http_open(f, req, "application/json");
	fake_http_piece(req, "{", 1);
}

TEST(a_judgement_comes_whole_and_in_time)
{
	CHECK(begin(judge));
	CHECK_INT(ask_word(3, "for you?", 5000), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "3:YES 3. ");
	CHECK(strstr((char *)fx.fake.body, "\"stream\":false"));
	fx.ends = 0;
	CHECK_INT(ask_word(4, "for whom?", 5000), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "3:YES 3. 4!malformed ");
	end();
	CHECK(begin(never));
	CHECK_INT(ask_word(5, "for you?", 60), 0);
	while (!fx.ends && !fx.fake.timed_out)
		env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out && strncmp(fx.events, "5!", 2) == 0);
	end();
}

static void answer_messages(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] =
		"data: "
		"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n"
		"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\","
		"\"text\":\"Look.\"}}\n\n"
		"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
		"\"tool_use\",\"id\":\"t\",\"name\":\"look\",\"input\":{\"x\":1}}}\n\n"
		"data: {\"type\":\"message_stop\"}\n\n";

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

TEST(a_provider_gets_its_key_and_version_in_headers_of_its_own)
{
	CHECK(begin_as(DIALECT_ANTHROPIC, "", answer_messages));
	CHECK_INT(ask(7, "be", "[Alice]: when"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "7:Look. 7(t{\"x\":1} 7$ 7. ");
	CHECK_STR(fx.fake.path, "/v1/messages");
	CHECK_STR(fx.fake.key, "the-key");
	CHECK_STR(fx.fake.auth, "");
	CHECK_STR(fx.fake.version, "2026-10-21");
	CHECK_INT(engine_text.rekey(fx.text, "another"), 0);
	fx.want = 2;
	CHECK_INT(ask(8, "be", "[Alice]: when"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.fake.key, "another");
	end();
	CHECK(begin_as(DIALECT_ANTHROPIC, "{\"bearer\":true,\"version\":\"2023-06-01\"}",
		       answer_messages));
	CHECK_INT(ask(7, "be", "[Alice]: when"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.fake.auth, "Bearer the-key");
	CHECK_STR(fx.fake.version, "2023-06-01");
	end();
}

/* ---- a conversation that the provider keeps ---- */

#define RESPONSE(id, text)                                                                         \
	"data: {\"type\":\"response.created\",\"response\":{\"id\":\"" id                          \
	"\",\"status\":\"in_progress\"}"                                                           \
	"}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"" text "\"}\n\n"
#define FIRST "[[TO: Alice]] It is late."

static void answer_responses(struct fake_http *f, struct evhttp_request *req)
{
	static const char first[] = RESPONSE("r1", FIRST), second[] = RESPONSE("r2", "Yes."),
			  gone[] = "{\"error\":{\"code\":\"previous_response_not_found\"}}";

	if (strstr((char *)f->body, "lost") && strstr((char *)f->body, "previous_response_id"))
		fake_http_answer(req, 400, "application/json", gone, sizeof gone - 1);
	else if (strstr((char *)f->body, "when"))
		fake_http_answer(req, 200, SSE, first, sizeof first - 1);
	else
		fake_http_answer(req, 200, SSE, second, sizeof second - 1);
}

/* What was asked before, what was heard of the answer, and the next question. */
static int go_on(uint32_t id, const char *heard, const char *line)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Bob", .text = "before"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "indeed"},
		{.role = ENGINE_USER, .speaker = "Alice", .text = "tell me"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = heard},
		{.role = ENGINE_USER, .speaker = "", .text = line}};

	fx.events[0] = '\0';
	return engine_text.ask(fx.text, &(struct engine_ask){.id = id,
							     .turn = 1,
							     .model = "m",
							     .voice = "",
							     .instructions = "",
							     .messages = messages,
							     .n = 5});
}

static void ask_twice(const char *options, const char *heard, const char *line)
{
	CHECK(begin_as(DIALECT_RESPONSES, options, answer_responses));
	CHECK_INT(ask(1, "when", "[Alice]: tell me"), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "1:" FIRST " 1. ");
	fx.ends = 0;
	CHECK_INT(go_on(2, heard, line), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "2:Yes. 2. ");
}

TEST(a_provider_that_keeps_the_conversation_is_sent_what_is_new)
{
	ask_twice("{\"store\":true}", "It is  late.", "[Alice]: and?");
	CHECK(strstr((char *)fx.fake.body, "\"previous_response_id\":\"r1\""));
	CHECK(strstr((char *)fx.fake.body, "\"input\":[{\"role\":\"user\",\"content\":"
					   "\"[Alice]: and?\"}]"));
	end();
	/* An answer that was cut is not what the provider keeps. */
	ask_twice("{\"store\":true}", "[interrupted] It is", "[Alice]: and?");
	CHECK(!strstr((char *)fx.fake.body, "previous_response_id"));
	CHECK(strstr((char *)fx.fake.body, "[interrupted] It is"));
	end();
	/* Nothing is kept unless requested. */
	ask_twice("", "It is late.", "[Alice]: and?");
	CHECK(!strstr((char *)fx.fake.body, "previous_response_id"));
	CHECK(strstr((char *)fx.fake.body, "\"store\":false"));
	end();
}

TEST(a_conversation_that_the_provider_has_lost_is_sent_again)
{
	ask_twice("{\"store\":true}", "It is late.", "[Alice]: lost?");
	CHECK_INT(fx.fake.requests, 3);
	CHECK(strstr((char *)fx.fake.body, "[Bob]: before"));
	end();
}

static void refuse_all_but_first(struct fake_http *f, struct evhttp_request *req)
{
	static const char first[] = RESPONSE("r1", FIRST);

	if (f->requests == 1)
		fake_http_answer(req, 200, SSE, first, sizeof first - 1);
	else
		fake_http_answer(req, 404, "text/plain", "", 0);
}

TEST(a_provider_that_refuses_everything_is_asked_twice)
{
	CHECK(begin_as(DIALECT_RESPONSES, "{\"store\":true}", refuse_all_but_first));
	CHECK_INT(ask(1, "when", "[Alice]: tell me"), 0);
	env_run(fx.fake.env);
	fx.ends = 0;
	CHECK_INT(go_on(2, "It is late.", "[Alice]: and?"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "2!status 404 ");
	CHECK_INT(fx.fake.requests, 3);
	end();
}

/* ---- cutting ---- */

static void keep_slot_open(struct fake_http *f, struct evhttp_request *req)
{
	if (strstr(f->path, "slots")) {
		fake_http_answer(req, 200, "application/json", "{}", 2);
		env_stop(f->env);
		return;
	}
	fake_http_open(f, req, SSE);
	fake_http_piece(req, DELTA("It "), sizeof DELTA("It ") - 1);
}

TEST(a_cancel_clears_the_slot_of_a_server_that_offers_it)
{
	CHECK(begin_as(DIALECT_CHAT, "{\"server\":\"llama.cpp\",\"slot\":2}", keep_slot_open));
	fx.cancel_at_words = true;
	CHECK_INT(ask(3, "", "when"), 0);
	while (fx.fake.requests < 2 && !fx.fake.timed_out)
		env_run(fx.fake.env);
	CHECK_STR(fx.fake.path, "/slots/2?action=erase");
	CHECK_STR(fx.fake.method, "POST");
	CHECK_INT(fx.fake.gone, 1);
	CHECK_STR(fx.events, "3:It  ");
	end();
}

static void count_open(struct fake_http *f, struct evhttp_request *req)
{
	keep_open(f, req);
	if (f->requests == 3)
		env_stop(f->env);
}

TEST(an_engine_that_goes_cuts_everything_at_the_server)
{
	CHECK(begin(count_open));
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(ask(i + 1, "", "when"), 0);
	env_run(fx.fake.env);
	engine_text.free(fx.text);
	fx.text = NULL;
	while (fx.fake.gone < 3 && !fx.fake.timed_out)
		env_run(fx.fake.env);
	CHECK_INT(fx.fake.gone, 3);
	end();
}

TEST(only_so_many_at_once)
{
	CHECK(begin(keep_open));
	for (unsigned i = 0; i < 16; i++)
		CHECK_INT(ask(i + 1, "", "when"), 0);
	CHECK_INT(ask(99, "", "when"), EBUSY);
	end();
}

static void answer_now(struct fake_http *f, struct evhttp_request *req)
{
	static const char all[] = DELTA("now") STOP;

	(void)f;
	fake_http_answer(req, 200, SSE, all, sizeof all - 1);
}

/* The next question has the place of an answer that ends, already within its handler. */
TEST(the_end_of_an_answer_makes_room)
{
	CHECK(begin(answer_now));
	fx.ask_at_end = true;
	fx.want = 17;
	for (unsigned i = 0; i < 16; i++)
		CHECK_INT(ask(i + 1, "", "when"), 0);
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_INT(fx.asked_at_end, 0);
	CHECK_INT(fx.ends, 17);
	end();
}

TEST_OOM(text_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	memset(&fx, 0, sizeof fx);
	fx.fake.env = env;
	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = open_text(DIALECT_ANTHROPIC, "{}", env, http, "http://127.0.0.1:9/v1", "k");
	if (!err)
		err = ask(1, "a", "b");
	if (!err)
		err = ask_word(2, "a", 100);
	engine_text.free(fx.text);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
