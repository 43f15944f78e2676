/* The engine of realtime sessions, against a scripted provider. */
#include "tests/test.h"

#include "control/engine/engine.h"
#include "proto/base/utf8.h"
#include "tests/unit/control/engine/fake_realtime.h"

struct seen {
	struct fake fake;
	void *rt;
	char events[4096]; /* "up text:hello audio:480 done:7 …" */
	unsigned asked, cancel_at;
	unsigned unfit;	      /* texts that no line can hold */
	char item_text[1024]; /* of all items created */
	char session[2048], truncate[512], cancelled[128];
	void (*heardh)(struct seen *s, enum engine_event_type ev, uint32_t ask);
};

static void note(struct seen *s, const char *what, unsigned long n)
{
	size_t len = strlen(s->events);

	snprintf(s->events + len, sizeof s->events - len, "%s:%lu ", what, n);
}

static bool is_plain(struct slice text)
{
	char copy[1024], plain[1024];

	snprintf(copy, sizeof copy, "%.*s", (int)text.n, (const char *)text.p);
	strcpy(plain, copy);
	utf8_plain(plain);
	return utf8_valid(copy) && strcmp(plain, copy) == 0;
}

static void heard(const struct engine_event *e, void *arg)
{
	struct seen *s = arg;
	size_t at = strlen(s->events);

	switch (e->type) {
	case ENGINE_AUDIO:
		note(s, "audio", e->data.n);
		break;
	case ENGINE_WORDS:
		snprintf(s->events + at, sizeof s->events - at, "text:%.*s ", (int)e->data.n,
			 (const char *)e->data.p);
		break;
	case ENGINE_DONE:
		note(s, "done", e->ask);
		break;
	case ENGINE_FAILED:
		note(s, "failed", e->ask);
		break;
	case ENGINE_SILENT:
		note(s, "silent", e->ask);
		break;
	case ENGINE_LINK_UP:
		note(s, "up", 0);
		break;
	case ENGINE_LINK_DOWN:
		note(s, "down", 0);
		break;
	default:
		break;
	}
	if (e->type == ENGINE_LINK_DOWN || e->type == ENGINE_FAILED)
		s->unfit += !is_plain(e->data);
	if (s->heardh)
		s->heardh(s, e->type, e->ask);
}

static bool begin(struct seen *s, fake_h *h, const char *key)
{
	memset(s, 0, sizeof *s);
	if (!fake_begin(&s->fake, h, s))
		return false;
	return engine_realtime.alloc(
		       &s->rt,
		       &(struct engine_conf){.env = s->fake.env,
					     .ws = s->fake.ctx,
					     .caps = engine_caps(DIALECT_OPENAI, ROLE_VOICE),
					     .socket_url = s->fake.url,
					     .model = "gpt realtime",
					     .voice = "marin",
					     .silent_ms = 8000,
					     .key = key,
					     .h = heard,
					     .arg = s}) == 0;
}

static int ask_line(struct seen *s, uint32_t id, uint32_t turn, const char *line, bool again)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Alice", .text = "hello"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "hello alice"},
		{.role = ENGINE_USER, .speaker = "", .text = line}};

	return engine_realtime.ask(
		s->rt,
		&(struct engine_ask){
			.id = id, .turn = turn, .again = again, .messages = messages, .n = 3});
}

static int hear(struct seen *s, const char *line)
{
	return engine_realtime.hear(
		s->rt, &(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = line});
}

static void end(struct seen *s)
{
	engine_realtime.free(s->rt);
	fake_end(&s->fake);
}

static void keep(struct seen *s, const char *type, const json_t *root)
{
	const json_t *item = json_object_get(root, "item");
	char *text;
	size_t n;

	if (strcmp(type, "conversation.item.create") == 0) {
		n = strlen(s->item_text);
		snprintf(s->item_text + n, sizeof s->item_text - n, "%s|%s ",
			 json_string_value(json_object_get(item, "role")),
			 json_string_value(json_object_get(
				 json_array_get(json_object_get(item, "content"), 0), "text")));
	}
	text = json_dumps(root, JSON_COMPACT);
	if (strcmp(type, "session.update") == 0)
		snprintf(s->session, sizeof s->session, "%s", text);
	if (strcmp(type, "conversation.item.truncate") == 0)
		snprintf(s->truncate, sizeof s->truncate, "%s", text);
	free(text);
}

static const char *ask_of(const json_t *root)
{
	return json_string_value(json_object_get(
		json_object_get(json_object_get(root, "response"), "metadata"), "ask"));
}

static void answer(struct fake *f, unsigned conn, const char *turn)
{
	fake_send(f, conn,
		  "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_%s\","
		  "\"metadata\":{\"ask\":\"%s\"}}}",
		  turn, turn);
	fake_send(f, conn, "{\"type\":\"a.new.event\",\"x\":1}");
	fake_send(
		f, conn,
		"{\"type\":\"response.output_audio_transcript.delta\",\"response_id\":\"resp_%s\","
		"\"item_id\":\"item_%s\",\"delta\":\"ten\",\"obfuscation\":\"x\"}",
		turn, turn);
	fake_audio(f, conn, "resp_other", "item_other", 9, 100);
	{
		char response[32], item[32];

		snprintf(response, sizeof response, "resp_%s", turn);
		snprintf(item, sizeof item, "item_%s", turn);
		fake_audio(f, conn, response, item, -3, 240);
	}
}

static void answer_done(struct fake *f, unsigned conn, const char *turn, const char *status)
{
	fake_send(
		f, conn,
		"{\"type\":\"response.done\",\"response\":{\"id\":\"resp_%s\",\"status\":\"%s\"}}",
		turn, status);
}

/* The history that the first ask of a session carries along. */
#define SEED   "user|[Alice]: hello assistant|hello alice "
#define SEEDED "conversation.item.create conversation.item.create conversation.item.create "

/* ---- a plain answer ---- */

static void plain_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		answer(f, conn, ask_of(root));
		ws_send(f->ws[conn], true, "not json", 8);
		answer_done(f, conn, ask_of(root), "completed");
	}
}

static void stop_at_done(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	(void)ask;
	if (ev == ENGINE_DONE)
		env_stop(s->fake.env);
}

TEST(an_ask_is_answered)
{
	static struct seen s;

	CHECK(begin(&s, plain_server, "sk-test-key"));
	s.heardh = stop_at_done;
	CHECK_INT(engine_realtime.instruct(s.rt, "people in the room: Alice"), 0);
	CHECK_INT(ask_line(&s, 7, 7, "[Alice]: what time is it", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:ten audio:480 done:7 ");
	/* The server has decoded it. */
	CHECK_STR(s.fake.path[0], "/v1/realtime?model=gpt realtime");
	CHECK_STR(s.fake.auth[0], "Bearer sk-test-key");
	CHECK_STR(s.item_text, SEED "user|[Alice]: what time is it ");
	CHECK_STR(s.fake.types, "session.update " SEEDED "response.create ");
	/* The room decides when to answer, so the server must not. */
	CHECK(strstr(s.session, "\"turn_detection\":null"));
	CHECK(strstr(s.session, "people in the room: Alice"));
	CHECK(strstr(s.session, "\"voice\":\"marin\""));
	end(&s);
}

static void hear_then_ask(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	if (ev == ENGINE_DONE && ask == 7) {
		hear(s, "[Bob]: it was cassius");
		ask_line(s, 8, 8, "[Alice]: is that so", false);
	} else {
		stop_at_done(s, ev, ask);
	}
}

TEST(what_was_not_for_it_is_told_and_asks_for_nothing)
{
	static struct seen s;

	CHECK(begin(&s, plain_server, "sk-test-key"));
	s.heardh = hear_then_ask;
	CHECK_INT(hear(&s, "[Bob]: too early"), 0);
	CHECK_INT(ask_line(&s, 7, 7, "[Alice]: hi", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.item_text,
		  SEED "user|[Alice]: hi user|[Bob]: it was cassius user|[Alice]: is that so ");
	CHECK_STR(s.fake.types, "session.update " SEEDED "response.create "
				"conversation.item.create conversation.item.create "
				"response.create ");
	end(&s);
}

/* ---- cancelled: what comes late is dropped, the next ask waits for the end ---- */

static void slow_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		answer(f, conn, ask_of(root));
		if (s->asked++)
			answer_done(f, conn, ask_of(root), "completed");
	} else if (strcmp(type, "response.cancel") == 0) {
		snprintf(s->cancelled, sizeof s->cancelled, "%s",
			 json_string_value(json_object_get(root, "response_id")));
		fake_audio(f, conn, "resp_1", "item_1", 5, 240);
		answer_done(f, conn, "1", "cancelled");
	}
}

static void cancel_at_audio(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	if (ev == ENGINE_AUDIO && ask == 1) {
		engine_realtime.cancel(s->rt, 1);
		engine_realtime.cancel(s->rt, 1);
		engine_realtime.truncate(s->rt, 1, 5, "");
		ask_line(s, 2, 2, "[Bob]: and now", false);
	}
	if (ev == ENGINE_DONE)
		env_stop(s->fake.env);
}

TEST(a_cancelled_answer_is_dropped_and_cut)
{
	static struct seen s;

	CHECK(begin(&s, slow_server, ""));
	s.heardh = cancel_at_audio;
	CHECK_INT(ask_line(&s, 1, 1, "[Alice]: what time is it", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:ten audio:480 text:ten audio:480 done:2 ");
	CHECK_STR(s.cancelled, "resp_1");
	CHECK(strstr(s.truncate, "\"item_id\":\"item_1\""));
	CHECK(strstr(s.truncate, "\"audio_end_ms\":5"));
	CHECK_STR(s.fake.types, "session.update " SEEDED "response.create "
				"response.cancel conversation.item.truncate "
				"conversation.item.create response.create ");
	CHECK_STR(s.fake.auth[0], "");
	/* More than came cannot have been heard. */
	engine_realtime.truncate(s.rt, 2, 99999, "");
	end(&s);
}

/* ---- a retry: the line is there already, late output of the first attempt is dropped ---- */

static void silent_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		char name = (char)('a' + s->asked++);

		fake_send(f, conn,
			  "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_%c\","
			  "\"metadata\":{\"ask\":\"%s\"}}}",
			  name, ask_of(root));
		fake_send(f, conn,
			  "{\"type\":\"response.output_audio_transcript.delta\",\"response_id\":"
			  "\"resp_%c\",\"item_id\":\"item_%c\",\"delta\":\"%c\"}",
			  name, name, name);
		if (name == 'a')
			return;
		fake_audio(f, conn, "resp_a", "item_a", 5, 240);
		fake_audio(f, conn, "resp_b", "item_b", 5, 480);
		answer_done(f, conn, "b", "completed");
	} else if (strcmp(type, "response.cancel") == 0) {
		answer_done(f, conn, "a", "cancelled");
	}
}

static void again_at_text(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	if (ev == ENGINE_WORDS && s->asked == 1) {
		engine_realtime.cancel(s->rt, ask);
		ask_line(s, 2, 1, "once", true);
	}
	if (ev == ENGINE_DONE)
		env_stop(s->fake.env);
}

TEST(a_silent_answer_is_asked_for_again)
{
	static struct seen s;

	CHECK(begin(&s, silent_server, ""));
	s.heardh = again_at_text;
	CHECK_INT(ask_line(&s, 1, 1, "once", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:a text:b audio:960 done:2 ");
	CHECK_STR(s.item_text, SEED "user|once ");
	CHECK_STR(s.fake.types, "session.update " SEEDED "response.create "
				"response.cancel response.create ");
	end(&s);
}

/* ---- a voice that the provider does not have ---- */

static unsigned descriptions;

static void choosy_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "session.update") != 0)
		return;
	descriptions++;
	if (strstr(s->session, "\"voice\""))
		fake_send(f, conn,
			  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
			  "\"code\":\"invalid_value\",\"message\":\"Invalid value: 'marin'.\","
			  "\"param\":\"session.audio.output.voice\",\"event_id\":null}}");
	else
		env_stop(f->env);
}

/* Nothing of an update is taken when a part of it is refused. */
TEST(a_refused_voice_costs_no_instructions)
{
	static struct seen s;

	descriptions = 0;
	CHECK(begin(&s, choosy_server, ""));
	CHECK_INT(engine_realtime.instruct(s.rt, "be brief"), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(descriptions, 2);
	CHECK(strstr(s.session, "be brief") && strstr(s.session, "\"turn_detection\":null"));
	end(&s);
}

/* ---- a refused ask, a failed answer ---- */

static void refusing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") != 0)
		return;
	if (s->asked++ == 0) {
		fake_send(f, conn,
			  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
			  "\"code\":\"x\","
			  "\"message\":\"no\",\"event_id\":\"ask-1\"}}");
		return;
	}
	answer(f, conn, ask_of(root));
	fake_send(
		f, conn,
		"{\"type\":\"response.done\",\"response\":{\"id\":\"resp_2\",\"status\":\"failed\","
		"\"status_details\":{\"error\":{\"code\":\"broken\"}}}}");
}

static void ask_again(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	if (ev == ENGINE_FAILED && ask == 1)
		ask_line(s, 2, 2, "again", false);
	else if (ev == ENGINE_FAILED)
		env_stop(s->fake.env);
}

TEST(a_refused_ask_fails_and_the_next_is_asked)
{
	static struct seen s;

	CHECK(begin(&s, refusing_server, ""));
	s.heardh = ask_again;
	CHECK_INT(ask_line(&s, 1, 1, "once", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 failed:1 text:ten audio:480 failed:2 ");
	end(&s);
}

/* ---- words of strangers ---- */

/* A fatal error with as many words as there is room for, and more: bytes before characters of two.
 */
static void wordy_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	char words[600] = "\\u001b[2J", *to = words + strlen(words);

	(void)root;
	if (strcmp(type, "response.create") != 0)
		return;
	if (f->conns == 1)
		*to++ = 'a';
	for (; to < words + sizeof words - 3; to += 2)
		memcpy(to, "\xc3\xa9", 3);
	fake_send(
		f, conn,
		"{\"type\":\"error\",\"error\":{\"code\":\"session_expired\",\"message\":\"%s\"}}",
		words);
}

static void close_wordily(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	char words[124] = "";

	(void)root;
	if (strcmp(type, "response.create") != 0)
		return;
	if (f->conns == 1)
		words[0] = 'a';
	for (size_t at = strlen(words); at < 120; at += 2)
		memcpy(words + at, "\xc3\xa9", 3);
	ws_close(f->ws[conn], 4000, words);
}

static void stop_at_second_loss(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	(void)ask;
	if (ev == ENGINE_LINK_DOWN && s->fake.conns == 2)
		env_stop(s->fake.env);
}

/* A text that JSON cannot hold would make its event one that nobody gets. */
TEST(the_words_of_a_failure_are_a_line_of_whole_characters)
{
	static struct seen s;
	fake_h *const servers[] = {wordy_server, close_wordily};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(begin(&s, servers[i], ""));
		s.heardh = stop_at_second_loss;
		CHECK_INT(ask_line(&s, 1, 1, "what", false), 0);
		env_run(s.fake.env);
		CHECK(!s.fake.timed_out);
		CHECK_INT(s.fake.conns, 2);
		CHECK_INT(s.unfit, 0);
		end(&s);
	}
}

/* ---- lost and found ---- */

static void dropping_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") != 0)
		return;
	if (conn == 0) {
		ws_abort(f->ws[conn]);
		return;
	}
	answer(f, conn, ask_of(root));
	answer_done(f, conn, ask_of(root), "completed");
}

static void clear_at_loss(struct seen *s, enum engine_event_type ev, uint32_t ask)
{
	(void)ask;
	if (ev == ENGINE_LINK_DOWN)
		s->item_text[0] = '\0';
	if (ev == ENGINE_DONE)
		env_stop(s->fake.env);
}

TEST(a_lost_session_is_opened_anew_and_told_what_was_said)
{
	static struct seen s;

	CHECK(begin(&s, dropping_server, ""));
	s.heardh = clear_at_loss;
	CHECK_INT(ask_line(&s, 1, 1, "[Alice]: what", false), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 down:0 up:0 text:ten audio:480 done:1 ");
	CHECK_STR(s.item_text, SEED "user|[Alice]: what ");
	CHECK_INT(s.fake.conns, 2);
	end(&s);
}
