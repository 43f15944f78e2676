/* Answers that a text model writes, and what models are told: the agent between a toy mediad and a
 * fake provider. */
#include "control/room/inside.h"
#include "tests/unit/control/agent/agent_scene.h"

/* ---- an answer that is written and read out, by a server that may refuse to speak ---- */

static bool heard_and_read_out(struct scene *s)
{
	char base[64];

	return scene_serve_writer(s, base, sizeof base) && scene_waits_for_the_end(s) &&
	       !settings_set(s->settings, "answer_audio", "speech");
}

/* A voice session hears the speaker and writes; another provider's voice speaks. */
TEST(a_voice_session_may_write_what_another_voice_reads_out)
{
	static struct scene s;

	scene_mute = false;
	CHECK(scene_begin(&s, "off", heard_and_read_out));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK(s.text_only);
	CHECK(strstr(s.fake.types, "response.create"));
	CHECK_INT(s.voice_heard, s.rate);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.truncate, "");
	evhttp_free(scene_writer);
	scene_end(&s);
}

TEST(a_spoken_question_gets_an_answer_that_is_written_and_read_out)
{
	static struct scene s;

	scene_mute = false;
	CHECK(scene_begin(&s, "off", scene_written));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.asked, "");
	CHECK(!strstr(s.fake.types, "response.create"));
	/* 1000 tokens in and 10 out, and 20 characters that were read out, in 10^-9 dollars */
	CHECK_INT(ledger_spent(s.ledger, env_wall_ms(s.fake.env)), 150000 + 6000 + 20 * 18000);
	evhttp_free(scene_writer);
	scene_end(&s);
}

/* ---- a model that decides nothing, since all its tokens went into thoughts ---- */

static void decide_nothing(struct evhttp_request *req, void *arg)
{
	static const char nothing[] = "{\"choices\":[{\"message\":{\"content\":\"\"},"
				      "\"finish_reason\":\"length\"}]}";

	(void)arg;
	fake_http_answer(req, 200, "application/json", nothing, sizeof nothing - 1);
}

static bool undecided(struct scene *s)
{
	char base[64];

	scene_writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(scene_writer, decide_nothing, NULL);
	return fake_http_listen(scene_writer, base, sizeof base) && scene_waits_for_the_end(s) &&
	       !settings_set(s->settings, "admission", "classifier") &&
	       !settings_set(s->settings, "classify_ms", "10000") &&
	       !settings_set(s->settings, "text_url", base);
}

TEST(a_decision_without_words_is_not_waited_for)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off", undecided));
	agent_member(s.agent, ALICE + 1, "Bob", false, true);
	s.words = "what time is it";
	CHECK(scene_run(&s, scene_turned));
	evhttp_free(scene_writer);
	scene_end(&s);
}

static char context[4096];

static void take_context(const struct bus_event *ev, void *arg)
{
	(void)arg;
	snprintf(context, sizeof context, "%u %s", (unsigned)ev->context.turn, ev->context.told);
}

TEST(what_the_model_was_told_is_published_where_it_is_kept)
{
	static struct scene s;

	/* The third time somebody listens who is not remembered. */
	for (int kept = 0; kept < 3; kept++) {
		context[0] = '\0';
		scene_mute = false;
		CHECK(scene_begin(&s, "off", scene_written));
		CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_CONTEXT), take_context, NULL), 0);
		CHECK_INT(settings_set(s.settings, "keep_contexts", kept ? "on" : "off"), 0);
		s.words = "parley what time is it";
		if (kept == 2) {
			agent_member(s.agent, ALICE + 1, "Bob", false, true);
			media_call_consent(s.call, ALICE + 1, false);
		}
		CHECK(scene_run(&s, scene_answered));
		CHECK(!strstr(context, "what time is it") == !kept);
		CHECK(!strstr(context, "people in the room") == (kept != 1));
		CHECK(!strstr(context, "[[TO: SPEAKER]]") == !kept);
		evhttp_free(scene_writer);
		scene_end(&s);
	}
}

static uint64_t remembered; /* this person alone */

static bool remembers(uint64_t user, void *arg)
{
	(void)arg;
	return user == remembered;
}

/* What the database keeps of an ask with a prompt that quotes a question in writing of Alice. */
static bool told_private;

static const char *keep_prompt(struct scene *s)
{
	static char said[] = "(Alice wrote to you: where is the barn key? Answer it.)";
	struct room_context *of = &s->agent->room->context;
	struct room_turn *t = room_turn_new_prompted(of, said);

	context[0] = '\0';
	if (!t)
		return "no turn";
	t->quoted_at = 21;
	t->quoted_n = 22;
	t->quoted_user = ALICE;
	t->quoted_since = env_now(s->fake.env);
	room_turn_activate(of, t);
	t->told_private = told_private;
	agent_keep_context(s->agent,
			   &(struct room_effect){.type = ROOM_DO_ASK,
						 .turn = t->id,
						 .text = said,
						 .memory = "the bank of Alice is Triodos"});
	return context;
}

TEST(a_question_in_writing_is_kept_with_what_the_model_was_told_if_its_writer_is_remembered)
{
	static struct scene s;

	scene_mute = false;
	CHECK(scene_begin(&s, "off", scene_written));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_CONTEXT), take_context, NULL), 0);
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	CHECK_INT(settings_set(s.settings, "keep_contexts", "on"), 0);
	s.agent->remembersh = remembers;
	remembered = ALICE;
	CHECK(strstr(keep_prompt(&s), "barn key"));
	CHECK(strstr(context, "Triodos"));
	/* Alice's own memory is nothing for operators. */
	told_private = true;
	CHECK(!strstr(keep_prompt(&s), "Triodos") && *context);
	told_private = false;
	/* Nobody's words are those of the prompt, whom the default of the server is of. */
	remembered = 0;
	CHECK(!strstr(keep_prompt(&s), "barn key"));
	CHECK(*context);
	s.agent->remembersh = NULL;
	evhttp_free(scene_writer);
	scene_end(&s);
}

/* What is typed in the chat of the voice channel. */
TEST(a_model_is_told_what_was_typed_by_people_who_may_be_remembered)
{
	const struct agent_typed alice = {1,	ALICE, false, "Alice", "the barn key is plum",
					  NULL, false};
	const struct agent_typed stranger = {2,	   99,	 false, "Eve", "the shed key is fig",
					     NULL, false};
	const struct agent_typed bot = {3,    ALICE, true, "Parley", "I wrote about plums",
					NULL, false};
	static struct scene s;

	context[0] = '\0';
	scene_mute = false;
	CHECK(scene_begin(&s, "off", scene_written));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_CONTEXT), take_context, NULL), 0);
	CHECK_INT(settings_set(s.settings, "keep_contexts", "on"), 0);
	s.words = "parley what time is it";
	media_call_consent(s.call, 99, false);
	agent_typed(s.agent, &alice);
	agent_typed(s.agent, &stranger);
	agent_typed(s.agent, &bot);
	CHECK(scene_run(&s, scene_answered));
	CHECK(strstr(context, "the barn key is plum"));
	CHECK(strstr(context, "I wrote about plums"));
	CHECK(!strstr(context, "shed key"));
	evhttp_free(scene_writer);
	scene_end(&s);
}

TEST(who_types_without_end_is_told_in_part)
{
	struct agent_typed alice = {1, ALICE, false, "Alice", "the barn key is plum", NULL, false};
	const struct agent_typed bob = {100, 600, false, "Bob", "the shed key is fig", NULL, false};
	static struct scene s;

	CHECK(scene_begin(&s, "off", scene_written));
	for (; alice.message <= 30; alice.message++)
		agent_typed(s.agent, &alice);
	CHECK_INT(room_history_count_recalled(&s.agent->room->history), 20);
	agent_typed(s.agent, &bob);
	CHECK_INT(room_history_count_recalled(&s.agent->room->history), 21);
	evhttp_free(scene_writer);
	scene_end(&s);
}

TEST(a_model_is_told_what_stands_in_the_chat_now)
{
	const struct agent_typed barn = {1,    ALICE, false, "Alice", "the barn key is plum",
					 NULL, false};
	const struct agent_typed shed = {2,    ALICE, false, "Alice", "the shed key is fig",
					 NULL, false};
	const struct agent_typed bot = {3,    ALICE, true, "Parley", "I wrote about plums",
					NULL, false};
	static struct scene s;

	context[0] = '\0';
	scene_mute = false;
	CHECK(scene_begin(&s, "off", scene_written));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_CONTEXT), take_context, NULL), 0);
	CHECK_INT(settings_set(s.settings, "keep_contexts", "on"), 0);
	s.words = "parley what time is it";
	/* Before it is told there is nothing to change. */
	agent_edited(s.agent, 2, "the shed key is apple");
	agent_typed(s.agent, &barn);
	agent_typed(s.agent, &shed);
	agent_typed(s.agent, &bot);
	agent_edited(s.agent, 1, "the barn key is pear");
	agent_edited(s.agent, 2, "");
	agent_edited(s.agent, 3, "I wrote about pears");
	CHECK(scene_run(&s, scene_answered));
	CHECK(strstr(context, "the barn key is pear"));
	CHECK(strstr(context, "I wrote about pears"));
	CHECK(!strstr(context, "plum"));
	CHECK(!strstr(context, "shed key"));
	evhttp_free(scene_writer);
	scene_end(&s);
}

static char ended_orders[256];

static void take_ended(const struct bus_event *ev, void *arg)
{
	size_t n = strlen(ended_orders);
	const char *order = strstr(ev->action.target, "order ");

	(void)arg;
	snprintf(ended_orders + n, sizeof ended_orders - n, "%s %s %s. ", ev->action.kind,
		 order ? order : "?", ev->action.result);
}

/* The operator has an answer before the room does. */
TEST(what_became_of_an_order_is_told)
{
	static struct room_turn turn = {.id = 7, .order = 17};
	static struct scene s;

	ended_orders[0] = '\0';
	CHECK(scene_begin(&s, "off", scene_written));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_ORDER_ENDED), take_ended, NULL), 0);
	agent_orders_add(s.agent, 17);
	/* Somebody spoke before it was heard: it waits again. */
	turn.reason = ROOM_REASON_THOUGHT_WITHDRAWN;
	agent_record_turn(s.agent, &turn);
	CHECK_STR(ended_orders, "");
	turn.reason = ROOM_REASON_ANSWERED;
	agent_record_turn(s.agent, &turn);
	CHECK_STR(ended_orders, "order_ended order 17 answered. ");
	agent_record_turn(s.agent, &turn);
	ended_orders[0] = '\0';
	agent_say(s.agent, "supper is ready", 18);
	agent_say(s.agent, "nobody asks after it", 0);
	agent_stop(s.agent);
	CHECK_STR(ended_orders, "order_ended order 18 dropped. ");
	ended_orders[0] = '\0';
	agent_say(s.agent, "the call ends", 19);
	evhttp_free(scene_writer);
	scene_end(&s);
}

/* A voice model's conversation holds the line. It begins anew, with the history alone. */
static unsigned conns_before, looks_after;

static bool looked_on(const struct scene *s)
{
	(void)s;
	return ++looks_after > 20;
}

static bool renewed(const struct scene *s)
{
	return s->fake.conns > conns_before;
}

TEST(a_voice_that_was_told_what_is_gone_begins_anew)
{
	const struct agent_typed barn = {1,    ALICE, false, "Alice", "the barn key is plum",
					 NULL, false};
	static struct scene s;

	CHECK(scene_begin(&s, "off", NULL));
	s.words = "parley what time is it";
	CHECK(scene_run(&s, scene_answered));
	conns_before = s.fake.conns;
	looks_after = 0;
	agent_typed(s.agent, &barn);
	/* Discord adds a preview. */
	agent_edited(s.agent, 1, "the barn key is plum");
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, looked_on));
	CHECK_INT(s.fake.conns, conns_before);
	agent_edited(s.agent, 1, "");
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, renewed));
	scene_end(&s);
}

/* ---- a summary that arrives after the next request ---- */

static struct evhttp_request *slow, *dropped;
static unsigned summaries;

static void forget_slow(struct evhttp_connection *conn, void *arg)
{
	(void)conn;
	(void)arg;
	dropped = slow;
	slow = NULL;
}

static void write_chunk(struct evhttp_request *req, const char *words)
{
	struct evbuffer *buf = evbuffer_new();

	evbuffer_add_printf(buf, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n",
			    words);
	evhttp_send_reply_chunk(req, buf);
	evbuffer_free(buf);
}

static void write_summary(struct evhttp_request *req, void *arg)
{
	(void)arg;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "text/event-stream");
	evhttp_send_reply_start(req, 200, "OK");
	if (!summaries++) {
		slow = req;
		evhttp_connection_set_closecb(evhttp_request_get_connection(req), forget_slow,
					      NULL);
		write_chunk(req, "old");
		return;
	}
	if (slow)
		write_chunk(slow, "late");
	write_chunk(req, "new");
	evhttp_send_reply_end(req);
}

static bool summarised(struct scene *s)
{
	char base[64];

	summaries = 0;
	scene_writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(scene_writer, write_summary, NULL);
	return fake_http_listen(scene_writer, base, sizeof base) &&
	       !settings_set(s->settings, "reply_path", "brain") &&
	       !settings_set(s->settings, "text_url", base);
}

static bool summary_begun(const struct scene *s)
{
	return *s->agent->summary;
}

static bool summary_ended(const struct scene *s)
{
	static unsigned looks;

	return strstr(s->agent->summary, "new") && ++looks > 5;
}

TEST(a_late_summary_is_no_part_of_the_next_one)
{
	static const struct room_effect compact = {.type = ROOM_DO_COMPACT, .text = "Summarise."};
	static struct scene s;

	CHECK(scene_begin(&s, "off", summarised));
	s.words = "";
	agent_perform(s.agent, &compact);
	CHECK(scene_run(&s, summary_begun));
	CHECK_STR(s.agent->summary, "old");
	agent_perform(s.agent, &compact);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, summary_ended));
	CHECK_STR(s.agent->summary, "new");
	CHECK(dropped);
	evhttp_send_reply_end(dropped); /* frees it: its connection is gone */
	evhttp_free(scene_writer);
	scene_end(&s);
}
