/* What a provider's own session does (statements 1 to 10), through the engine, its dialect and a
 * socket. */
#include "tests/test.h"

#include "control/engine/engine.h"
#include "proto/media.h"
#include "tests/unit/control/engine/fake_realtime.h"

static struct rules {
	struct fake fake;
	void *engine;
	char events[1024]; /* "up words audio done:1 …" */
	char wire[8192];   /* of each message what a test wants to know */
	unsigned asked;	   /* responses that were requested */
	void (*note)(const char *type, const json_t *root);
	void (*answer)(unsigned conn, const char *ask);
	void (*heard)(const struct engine_event *ev);
} rx;

static void add(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *to, size_t size, const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + n, size - n, fmt, ap);
	va_end(ap);
}

static void take_event(const struct engine_event *ev, void *arg)
{
	static const char *const names[] = {
		[ENGINE_AUDIO] = "audio",   [ENGINE_WORDS] = "words", [ENGINE_DONE] = "done",
		[ENGINE_FAILED] = "failed", [ENGINE_LINK_UP] = "up",  [ENGINE_LINK_DOWN] = "down"};
	const char *name = ev->type < sizeof names / sizeof names[0] ? names[ev->type] : NULL;

	(void)arg;
	if (name)
		add(rx.events, sizeof rx.events, ev->ask ? "%s:%u " : "%s ", name, ev->ask);
	if (rx.heard)
		rx.heard(ev);
	if (ev->type == ENGINE_DONE || ev->type == ENGINE_FAILED)
		env_stop(rx.fake.env);
}

static const char *ask_of(const json_t *root)
{
	const char *ask = json_string_value(json_object_get(
		json_object_get(json_object_get(root, "response"), "metadata"), "ask"));

	return ask ? ask : "0";
}

static void take_message(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)f;
	if (rx.note)
		rx.note(type, root);
	if (strcmp(type, "response.create") == 0) {
		rx.asked++;
		rx.answer(conn, ask_of(root));
	}
}

static void begin_as(enum dialect dialect, enum role role, const char *url)
{
	const struct engine_conf conf = {.env = rx.fake.env,
					 .ws = rx.fake.ctx,
					 .caps = engine_caps(dialect, role),
					 .socket_url = url ? url : rx.fake.url,
					 .model = "m",
					 .voice = "v",
					 .silent_ms = 8000,
					 .key = "sk-test-key",
					 .h = take_event};

	CHECK_INT(engine_realtime.alloc(&rx.engine, &conf), 0);
}

static void begin(void)
{
	memset(&rx, 0, sizeof rx);
	CHECK(fake_begin(&rx.fake, take_message, NULL));
}

static void end(void)
{
	engine_realtime.free(rx.engine);
	fake_end(&rx.fake);
}

static void ask(uint32_t id, const void *pcm, size_t bytes)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "Alice", .text = "hello"};
	const struct slice sound = {pcm, bytes};
	const struct engine_ask a = {.id = id,
				     .turn = id,
				     .messages = &m,
				     .n = 1,
				     .sound = &sound,
				     .n_sound = bytes ? 1 : 0,
				     .sound_label = ""};

	CHECK_INT(engine_realtime.ask(rx.engine, &a), 0);
}

static void run(void)
{
	env_run(rx.fake.env);
	CHECK(!rx.fake.timed_out);
}

static void begin_response(unsigned conn, const char *ask)
{
	fake_send(&rx.fake, conn,
		  "{\"type\":\"response.created\",\"response\":{\"id\":\"r%s\","
		  "\"metadata\":{\"ask\":\"%s\"}}}",
		  ask, ask);
}

static void end_response(unsigned conn, const char *ask)
{
	char response[32], item[32];

	snprintf(response, sizeof response, "r%s", ask);
	snprintf(item, sizeof item, "i%s", ask);
	fake_audio(&rx.fake, conn, response, item, 3, 240);
	fake_send(&rx.fake, conn,
		  "{\"type\":\"response.done\",\"response\":{\"id\":\"r%s\","
		  "\"status\":\"completed\"}}",
		  ask);
}

/* ---- 1, 2: errors ---- */

static struct {
	const char *code, *text;
} error;

static void send_error(unsigned conn, const char *about)
{
	fake_send(&rx.fake, conn,
		  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":"
		  "\"%s\",\"message\":\"%s\",\"event_id\":\"%s\"}}",
		  error.code, error.text, about);
}

static void answer_after_an_error(unsigned conn, const char *ask)
{
	begin_response(conn, ask);
	if (rx.asked == 1)
		send_error(conn, "other-1");
	end_response(conn, ask);
}

TEST(rule_001_the_next_session_answers_after_a_fatal_error)
{
	static const char *const codes[] = {"session_expired", "invalid_api_key",
					    "insufficient_quota", "model_not_found"};

	for (unsigned i = 0; i < sizeof codes / sizeof codes[0]; i++) {
		begin();
		error.code = codes[i];
		error.text = "no";
		rx.answer = answer_after_an_error;
		begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
		ask(1, NULL, 0);
		run();
		/* Nothing of the old one is heard behind the error. */
		CHECK_STR(rx.events, "up down up audio:1 done:1 ");
		CHECK_INT(rx.fake.conns, 2);
		end();
	}
}

static const struct {
	const char *code, *text;
} recoverable[] = {
	{"conversation_already_has_active_response", "no"},
	{"x", "Conversation already has an active response in progress: r0"},
	{"input_audio_buffer_commit_empty", "the buffer is empty"},
	{"response_cancel_not_active", "no"},
	{"x", "Cancellation failed: no active response found"},
	{"x", "Error committing input audio buffer: buffer too small"},
};

TEST(rule_002_the_same_session_answers_after_a_recoverable_error)
{
	for (unsigned i = 0; i < sizeof recoverable / sizeof recoverable[0]; i++) {
		begin();
		error.code = recoverable[i].code;
		error.text = recoverable[i].text;
		rx.answer = answer_after_an_error;
		begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
		ask(1, NULL, 0);
		run();
		CHECK_STR(rx.events, "up audio:1 done:1 ");
		CHECK_INT(rx.fake.conns, 1);
		end();
	}
}

static void refuse_once(unsigned conn, const char *ask)
{
	if (rx.asked == 1) {
		send_error(conn, "ask-1");
		return;
	}
	begin_response(conn, ask);
	end_response(conn, ask);
}

TEST(rule_002_an_unrelated_error_is_not_taken_for_a_recoverable_one)
{
	/* Of these only the first is asked again. */
	static const char *const codes[] = {"conversation_already_has_active_response",
					    "rate_limit_exceeded"};
	static const char *const events[] = {"up audio:1 done:1 ", "up failed:1 "};

	for (unsigned i = 0; i < 2; i++) {
		begin();
		error.code = codes[i];
		error.text = "no";
		rx.answer = refuse_once;
		begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
		ask(1, NULL, 0);
		run();
		CHECK_STR(rx.events, events[i]);
		CHECK_INT(rx.fake.conns, 1);
		end();
	}
}

/* ---- 4: a response that hangs ---- */

static void answer_the_second(unsigned conn, const char *ask)
{
	begin_response(conn, ask);
	if (rx.asked == 1) {
		fake_send(&rx.fake, conn,
			  "{\"type\":\"response.output_audio_transcript.delta\",\"response_id\":"
			  "\"r1\",\"item_id\":\"i1\",\"delta\":\"ten\"}");
		return;
	}
	/* What comes late of the first one is not the second's, nor is its end. */
	fake_audio(&rx.fake, conn, "r1", "i1", 3, 240);
	fake_send(&rx.fake, conn,
		  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\","
		  "\"status\":\"cancelled\"}}");
	end_response(conn, ask);
}

static void cancel_the_first(const struct engine_event *ev)
{
	if (ev->type != ENGINE_WORDS || ev->ask != 1)
		return;
	engine_realtime.cancel(rx.engine, 1);
	ask(2, NULL, 0);
}

TEST(rule_004_a_response_that_hangs_is_passed_over)
{
	begin();
	rx.answer = answer_the_second;
	rx.heard = cancel_the_first;
	begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
	ask(1, NULL, 0);
	run();
	CHECK_STR(rx.events, "up words:1 audio:2 done:2 ");
	CHECK_INT(rx.fake.conns, 1);
	CHECK(strstr(rx.fake.types, "response.cancel conversation.item.create response.create "));
	end();
}

/* ---- 6: tools ---- */

static void note_tools(const char *type, const json_t *root)
{
	const json_t *tools = json_object_get(json_object_get(root, "session"), "tools");

	if (strcmp(type, "session.update") == 0)
		add(rx.wire, sizeof rx.wire, "%s ",
		    !tools ? "-"
		    : json_array_size(tools)
			    ? json_string_value(json_object_get(json_array_get(tools, 0), "name"))
			    : "none");
}

static void answer_at_once(unsigned conn, const char *ask)
{
	begin_response(conn, ask);
	end_response(conn, ask);
}

static void set_tool(const char *name)
{
	const struct engine_tool tool = {.name = name, .description = "", .schema = "{}"};

	CHECK_INT(engine_realtime.tools(rx.engine, &tool, name ? 1 : 0), 0);
}

static void change_tools(const struct engine_event *ev)
{
	static const char *const names[] = {NULL, "look", "look", "find", NULL, NULL};

	for (unsigned i = 0; ev->type == ENGINE_LINK_UP && i < 6; i++)
		set_tool(names[i]);
}

TEST(rule_006_a_session_is_told_of_tools_that_change_alone)
{
	begin();
	rx.answer = answer_at_once;
	rx.note = note_tools;
	rx.heard = change_tools;
	begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
	set_tool(NULL);
	ask(1, NULL, 0);
	run();
	CHECK_STR(rx.wire, "- look find none ");
	end();
}

/* ---- 7: what was played ---- */

static void note_cut(const char *type, const json_t *root)
{
	if (strcmp(type, "response.cancel") == 0)
		add(rx.wire, sizeof rx.wire, "cancel:%s ",
		    json_string_value(json_object_get(root, "response_id")));
	if (strcmp(type, "conversation.item.truncate") == 0)
		add(rx.wire, sizeof rx.wire, "truncate:%s:%lld ",
		    json_string_value(json_object_get(root, "item_id")),
		    (long long)json_integer_value(json_object_get(root, "audio_end_ms")));
}

static void sound_the_first(unsigned conn, const char *ask)
{
	begin_response(conn, ask);
	if (rx.asked == 1)
		fake_audio(&rx.fake, conn, "r1", "i1", 3, 240);
	else
		end_response(conn, ask);
}

/* More than came of it cannot have been played. */
static void cut_the_first(const struct engine_event *ev)
{
	if (ev->type != ENGINE_AUDIO || ev->ask != 1)
		return;
	engine_realtime.cancel(rx.engine, 1);
	engine_realtime.truncate(rx.engine, 1, 7, "");
	engine_realtime.truncate(rx.engine, 1, 5000, "");
	ask(2, NULL, 0);
}

TEST(rule_007_a_cut_answer_is_cancelled_and_truncated_at_what_was_played)
{
	begin();
	rx.answer = sound_the_first;
	rx.note = note_cut;
	rx.heard = cut_the_first;
	begin_as(DIALECT_OPENAI, ROLE_VOICE, NULL);
	ask(1, NULL, 0);
	run();
	CHECK_STR(rx.wire, "cancel:r1 truncate:i1:7 truncate:i1:10 ");
	end();
}

/* ---- 9: the least that is committed ---- */

static void note_question(const char *type, const json_t *root)
{
	(void)root;
	if (strncmp(type, "input_audio_buffer.", 19) == 0)
		add(rx.wire, sizeof rx.wire, "%s ", type + 19);
	else if (strcmp(type, "conversation.item.create") == 0)
		add(rx.wire, sizeof rx.wire, "words ");
}

TEST(rule_009_openai_alone_has_a_least_commit)
{
	static const uint8_t pcm[4800];
	static const struct {
		enum dialect dialect;
		size_t bytes;
		const char *wire;
	} table[] = {{DIALECT_OPENAI, 4798, "words "},
		     {DIALECT_OPENAI, 4800, "append commit "},
		     {DIALECT_OPENAI_BETA, 4798, "words "},
		     {DIALECT_XAI, 2, "append commit "},
		     {DIALECT_LOCALAI, 2, "append commit "}};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
		begin();
		rx.answer = answer_at_once;
		rx.note = note_question;
		begin_as(table[i].dialect, ROLE_VOICE, NULL);
		ask(1, pcm, table[i].bytes);
		run();
		CHECK_STR(rx.wire, table[i].wire);
		end();
	}
}
