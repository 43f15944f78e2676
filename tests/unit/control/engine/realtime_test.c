#include "tests/test.h"

#include "control/engine/memory.h"
#include "control/engine/realtime.h"
#include "tests/unit/control/engine/fake_realtime.h"

struct seen {
	struct fake fake;
	struct realtime *rt;
	char events[4096]; /* "up text:hello audio:480 done:7 …" */
	unsigned asked, cancel_at;
	char item_text[1024]; /* of all items created */
	char session[2048], truncate[512], cancelled[128];
	void (*heardh)(struct seen *s, enum realtime_event ev, uint32_t turn);
};

static void note(struct seen *s, const char *what, unsigned long n)
{
	size_t len = strlen(s->events);

	snprintf(s->events + len, sizeof s->events - len, "%s:%lu ", what, n);
}

static void heard(enum realtime_event ev, uint32_t turn, const uint8_t *data, size_t len, void *arg)
{
	struct seen *s = arg;
	size_t at = strlen(s->events);

	switch (ev) {
	case REALTIME_AUDIO:
		note(s, "audio", len);
		break;
	case REALTIME_TEXT:
		snprintf(s->events + at, sizeof s->events - at, "text:%.*s ", (int)len,
			 (const char *)data);
		break;
	case REALTIME_DONE:
		note(s, "done", turn);
		break;
	case REALTIME_FAILED_ASK:
		note(s, "failed", turn);
		break;
	case REALTIME_LINK_UP:
		note(s, "up", 0);
		break;
	case REALTIME_LINK_DOWN:
		note(s, "down", 0);
		break;
	}
	if (s->heardh)
		s->heardh(s, ev, turn);
}

static bool begin(struct seen *s, fake_h *h, const char *key)
{
	memset(s, 0, sizeof *s);
	if (!fake_begin(&s->fake, h, s))
		return false;
	return realtime_alloc(&s->rt, &(struct realtime_conf){.env = s->fake.env,
							      .ws = s->fake.ctx,
							      .url = s->fake.url,
							      .model = "gpt realtime",
							      .voice = "marin",
							      .key = key,
							      .h = heard,
							      .arg = s}) == 0;
}

static void end(struct seen *s)
{
	realtime_free(s->rt);
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

static const char *turn_of(const json_t *root)
{
	return json_string_value(json_object_get(
		json_object_get(json_object_get(root, "response"), "metadata"), "turn"));
}

static void answer(struct fake *f, unsigned conn, const char *turn)
{
	fake_send(f, conn,
		  "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_%s\","
		  "\"metadata\":{\"turn\":\"%s\"}}}",
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

/* ---- a plain answer ---- */

static void plain_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		answer(f, conn, turn_of(root));
		ws_send(f->ws[conn], true, "not json", 8);
		answer_done(f, conn, turn_of(root), "completed");
	}
}

static void stop_at_done(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	(void)turn;
	if (ev == REALTIME_DONE)
		env_stop(s->fake.env);
}

TEST(an_ask_is_answered)
{
	static struct seen s;

	CHECK(begin(&s, plain_server, "sk-test-key"));
	s.heardh = stop_at_done;
	CHECK_INT(realtime_instruct(s.rt, "people in the room: Alice"), 0);
	CHECK_INT(realtime_ask(s.rt, 7, "[Alice]: what time is it"), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:ten audio:480 done:7 ");
	/* The server has decoded it. */
	CHECK_STR(s.fake.path[0], "/v1/realtime?model=gpt realtime");
	CHECK_STR(s.fake.auth[0], "Bearer sk-test-key");
	CHECK_STR(s.item_text, "user|[Alice]: what time is it ");
	CHECK_STR(s.fake.types, "session.update conversation.item.create response.create ");
	/* The room decides when to answer, so the server must not. */
	CHECK(strstr(s.session, "\"turn_detection\":null"));
	CHECK(strstr(s.session, "people in the room: Alice"));
	CHECK(strstr(s.session, "\"voice\":\"marin\""));
	CHECK_INT(realtime_malformed(s.rt), 1);
	end(&s);
}

static void hear_then_ask(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	if (ev == REALTIME_LINK_UP) {
		realtime_hear(s->rt, "[Bob]: it was cassius");
		realtime_ask(s->rt, 7, "[Alice]: is that so");
	}
	stop_at_done(s, ev, turn);
}

TEST(what_was_not_for_it_is_told_and_asks_for_nothing)
{
	static struct seen s;

	CHECK(begin(&s, plain_server, "sk-test-key"));
	s.heardh = hear_then_ask;
	CHECK_INT(realtime_hear(s.rt, "[Bob]: too early"), ENOTCONN);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.item_text, "user|[Bob]: it was cassius user|[Alice]: is that so ");
	CHECK_STR(s.fake.types, "session.update conversation.item.create "
				"conversation.item.create response.create ");
	end(&s);
}

/* ---- cancelled: what comes late is dropped, the next ask waits for the end ---- */

static void slow_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		answer(f, conn, turn_of(root));
		if (s->asked++)
			answer_done(f, conn, turn_of(root), "completed");
	} else if (strcmp(type, "response.cancel") == 0) {
		snprintf(s->cancelled, sizeof s->cancelled, "%s",
			 json_string_value(json_object_get(root, "response_id")));
		fake_audio(f, conn, "resp_1", "item_1", 5, 240);
		answer_done(f, conn, "1", "cancelled");
	}
}

static void cancel_at_audio(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	if (ev == REALTIME_AUDIO && turn == 1) {
		realtime_cancel(s->rt, 1);
		realtime_cancel(s->rt, 1);
		realtime_truncate(s->rt, 1, 5);
		realtime_ask(s->rt, 2, "[Bob]: and now");
	}
	if (ev == REALTIME_DONE)
		env_stop(s->fake.env);
}

TEST(a_cancelled_answer_is_dropped_and_cut)
{
	static struct seen s;

	CHECK(begin(&s, slow_server, ""));
	s.heardh = cancel_at_audio;
	CHECK_INT(realtime_ask(s.rt, 1, "[Alice]: what time is it"), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:ten audio:480 text:ten audio:480 done:2 ");
	CHECK_STR(s.cancelled, "resp_1");
	CHECK(strstr(s.truncate, "\"item_id\":\"item_1\""));
	CHECK(strstr(s.truncate, "\"audio_end_ms\":5"));
	CHECK_STR(s.fake.types, "session.update conversation.item.create response.create "
				"response.cancel conversation.item.truncate "
				"conversation.item.create response.create ");
	CHECK_STR(s.fake.auth[0], "");
	/* More than came cannot have been heard. */
	realtime_truncate(s.rt, 2, 99999);
	end(&s);
}

/* ---- asked for again: the line is there already, what the first try says late is dropped ---- */

static void silent_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	keep(s, type, root);
	if (strcmp(type, "response.create") == 0) {
		char name = (char)('a' + s->asked++);

		fake_send(f, conn,
			  "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_%c\","
			  "\"metadata\":{\"turn\":\"%s\"}}}",
			  name, turn_of(root));
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

static void again_at_text(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	if (ev == REALTIME_TEXT && s->asked == 1)
		realtime_again(s->rt, turn);
	if (ev == REALTIME_DONE)
		env_stop(s->fake.env);
}

TEST(a_silent_answer_is_asked_for_again)
{
	static struct seen s;

	CHECK(begin(&s, silent_server, ""));
	s.heardh = again_at_text;
	CHECK_INT(realtime_ask(s.rt, 1, "once"), 0);
	realtime_again(s.rt, 1); /* it was not sent yet: nothing */
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 text:a text:b audio:960 done:1 ");
	CHECK_STR(s.item_text, "user|once ");
	CHECK_STR(s.fake.types, "session.update conversation.item.create response.create "
				"response.cancel response.create ");
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
			  "\"message\":\"no\",\"event_id\":\"turn-1\"}}");
		return;
	}
	answer(f, conn, turn_of(root));
	fake_send(
		f, conn,
		"{\"type\":\"response.done\",\"response\":{\"id\":\"resp_2\",\"status\":\"failed\","
		"\"status_details\":{\"error\":{\"code\":\"broken\"}}}}");
}

static void ask_again(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	if (ev == REALTIME_FAILED_ASK && turn == 1)
		realtime_ask(s->rt, 2, "again");
	else if (ev == REALTIME_FAILED_ASK)
		env_stop(s->fake.env);
}

TEST(a_refused_ask_fails_and_the_next_is_asked)
{
	static struct seen s;

	CHECK(begin(&s, refusing_server, ""));
	s.heardh = ask_again;
	CHECK_INT(realtime_ask(s.rt, 1, "once"), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 failed:1 text:ten audio:480 failed:2 ");
	end(&s);
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
	answer(f, conn, turn_of(root));
	answer_done(f, conn, turn_of(root), "completed");
}

static void ask_after_loss(struct seen *s, enum realtime_event ev, uint32_t turn)
{
	(void)turn;
	if (ev == REALTIME_FAILED_ASK) {
		s->item_text[0] = '\0';
		realtime_ask(s->rt, 2, "[Alice]: again");
	}
	if (ev == REALTIME_DONE)
		env_stop(s->fake.env);
}

TEST(a_lost_session_is_opened_anew_and_told_what_was_said)
{
	static struct seen s;

	CHECK(begin(&s, dropping_server, ""));
	s.heardh = ask_after_loss;
	CHECK_INT(realtime_remember(s.rt, "[Alice]: hello", "hello alice"), 0);
	CHECK_INT(realtime_ask(s.rt, 1, "[Alice]: what"), 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "up:0 failed:1 down:0 up:0 text:ten audio:480 done:2 ");
	CHECK_STR(s.item_text, "user|[Alice]: hello assistant|hello alice user|[Alice]: again ");
	CHECK_INT(s.fake.conns, 2);
	end(&s);
}

/* ---- memory ---- */

static void join(const char *line, const char *said, void *arg)
{
	char *to = arg;

	sprintf(to + strlen(to), "%s=%s ", line, said);
}

TEST(the_oldest_exchange_is_forgotten)
{
	struct brain_memory *m = NULL;
	char all[1024] = "", line[16];

	CHECK_INT(brain_memory_alloc(&m), 0);
	for (int i = 0; i < BRAIN_MEMORY_EXCHANGES + 2; i++) {
		snprintf(line, sizeof line, "q%d", i);
		CHECK_INT(brain_memory_add(m, line, "a"), 0);
	}
	brain_memory_each(m, join, all);
	CHECK_STR(all, "q2=a q3=a q4=a q5=a q6=a q7=a q8=a q9=a q10=a q11=a ");
	brain_memory_free(m);
}

TEST_OOM(memory_survives_no_memory)
{
	struct brain_memory *m = NULL;

	CHECK_OOM(brain_memory_alloc(&m), m = brain_memory_free(m));
	CHECK_OOM(brain_memory_add(m, "q", "a"), m = brain_memory_free(m));
	brain_memory_free(m);
}
