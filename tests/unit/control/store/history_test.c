/* What pages read of the history. */
#include "control/store/history.h"

#include <jansson.h>
#include <sqlite3.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/store.h"
#include "tests/unit/ipc/loop.h"

#define T0 UINT64_C(1790000000000)

static char dir[32];
static struct db *db;
static json_t *got;

static bool begin(void)
{
	got = NULL;
	return folder_make(dir) && db_open(&db, dir, DB_OWN) == 0;
}

static void end(void)
{
	json_decref(got);
	db_close(db);
	folder_remove(dir);
}

static bool add(const struct bus_event *ev)
{
	return rows_add(db, ev, true) == 0;
}

static bool add_turn(uint64_t guild, uint64_t turn, const char *reason)
{
	struct bus_event ev = {
		.type = EVENT_TURN, .at_ms = T0 + turn * 10000, .guild = guild, .user = 501};

	ev.turn = (struct event_turn){
		.session = T0,
		.channel = 300,
		.turn = turn,
		.name = "alice",
		.reason = reason,
		.said = "ten past four",
		.first_audio_ms = 650,
		.segments = "[{\"user\":\"501\",\"name\":\"alice\",\"utterance\":9,"
			    "\"text\":\"what time is it\"}]",
		.why = "[{\"rule\":\"direct_address\",\"yes\":true,\"value\":1,\"limit\":2}]"};
	return add(&ev);
}

static int ask(struct job j)
{
	char *text = NULL;
	int err;

	j.text = j.text ? j.text : (char *)"";
	j.until_ms = j.until_ms ? j.until_ms : INT64_MAX;
	err = history_read(db, &j, &text);
	json_decref(got);
	got = err ? NULL : json_loads(text, 0, NULL);
	free(text);
	return err;
}

static const json_t *row(const char *list, size_t i)
{
	return json_array_get(json_object_get(got, list), i);
}

static const char *text_of(const json_t *j, const char *name)
{
	const char *text = json_string_value(json_object_get(j, name));

	return text ? text : "";
}

TEST(turns_are_listed_by_pages_newest_first)
{
	CHECK(begin());
	for (unsigned i = 1; i <= 5; i++)
		CHECK(add_turn(41771983423143937, i, i % 2 ? "answered" : "not_addressed"));
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 2, .any = true}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 2);
	CHECK_STR(text_of(row("turns", 0), "id"), "5");
	CHECK_STR(text_of(row("turns", 0), "guild"), "41771983423143937");
	CHECK_STR(text_of(row("turns", 0), "at"), "2026-09-21T14:14:10.000Z");
	CHECK_STR(text_of(row("turns", 0), "heard"), "what time is it");
	CHECK_STR(text_of(row("turns", 0), "said"), "ten past four");
	CHECK_STR(text_of(got, "next"), "4");
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 3, .until_ms = 4}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 3);
	CHECK(json_is_null(json_object_get(got, "next")));
	/* Without words. */
	CHECK(json_is_null(json_object_get(row("turns", 0), "heard")));
	CHECK(json_is_null(json_object_get(row("turns", 0), "said")));
	end();
}

TEST(turns_are_filtered)
{
	CHECK(begin());
	CHECK(add_turn(1, 1, "answered"));
	CHECK(add_turn(2, 2, "answered"));
	CHECK(add_turn(2, 3, "not_addressed"));
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 9, .guild = 2}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 2);
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 9, .text = (char *)"answered"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 2);
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 9, .user = 502}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 0);
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 9, .now_ms = T0 + 30000}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 1);
	CHECK_INT(ask((struct job){.owner = STORE_TURNS, .version = 9, .words_ms = T0 + 30000}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "turns")), 2);
	CHECK_STR(text_of(row("turns", 0), "id"), "2");
	end();
}

static bool add_speech(void)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = T0 + 5000, .guild = 1, .user = 501};

	ev.utterance = (struct event_utterance){.session = T0,
						.channel = 300,
						.utterance = 9,
						.name = "alice",
						.text = "what time is it",
						.started_ms = T0 + 2000,
						.ended_ms = T0 + 4000};
	return add(&ev);
}

/* session 0: of a written turn. */
static bool add_call_of(uint64_t session, uint64_t at_ms)
{
	struct bus_event ev = {.type = EVENT_TOOL_CALLED, .at_ms = at_ms, .guild = 1, .user = 501};

	ev.tool = (struct event_tool){.session = session,
				      .channel = 300,
				      .turn = 1,
				      .call = 1,
				      .name = "clock",
				      .code = "ok",
				      .lasted_ms = 200,
				      .summary = "16:10"};
	return add(&ev);
}

static bool add_call(void)
{
	return add_call_of(T0, T0 + 4500);
}

static bool add_cost(void)
{
	struct bus_event ev = {.type = EVENT_ENGINE_USED, .at_ms = T0 + 4600, .guild = 1};

	ev.usage = (struct event_usage){.session = T0,
					.channel = 300,
					.turn = 1,
					.provider = "main",
					.model = "mini",
					.role = "text",
					.nano = 1500000,
					.priced = true};
	return add(&ev);
}

static json_int_t number_of(const json_t *j, const char *name)
{
	return json_integer_value(json_object_get(j, name));
}

/* Six seconds of somebody else, and what the transcription of the whole session cost. */
static bool add_session_of_speech(void)
{
	struct bus_event said = {
		.type = EVENT_UTTERANCE, .at_ms = T0 + 20000, .guild = 1, .user = 502};
	struct bus_event used = {.type = EVENT_ENGINE_USED, .at_ms = T0 + 60000, .guild = 1};

	said.utterance = (struct event_utterance){.session = T0,
						  .channel = 300,
						  .utterance = 10,
						  .name = "bob",
						  .text = "it is late",
						  .started_ms = T0 + 12000,
						  .ended_ms = T0 + 18000};
	used.usage = (struct event_usage){.session = T0,
					  .channel = 300,
					  .provider = "scribes",
					  .model = "scribe",
					  .role = "transcribe",
					  .nano = 4000000,
					  .priced = true};
	return add(&said) && add(&used);
}

/* A turn of two of eight seconds of speech is charged a quarter of the transcription. */
TEST(a_turn_costs_its_share_of_the_transcription_of_its_session)
{
	double usd;

	CHECK(begin());
	CHECK(add_speech() && add_turn(1, 1, "answered") && add_cost());
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .any = true}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "costs")), 1);
	CHECK(add_session_of_speech());
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .any = true}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "costs")), 2);
	CHECK(json_is_false(json_object_get(row("costs", 0), "estimated")));
	CHECK_STR(text_of(row("costs", 1), "role"), "transcribe");
	CHECK_STR(text_of(row("costs", 1), "provider"), "scribes");
	CHECK(json_is_true(json_object_get(row("costs", 1), "estimated")));
	usd = json_real_value(json_object_get(row("costs", 1), "usd"));
	CHECK(usd > 0.00099 && usd < 0.00101);
	end();
}

static double transcription_of_turn(void)
{
	if (ask((struct job){.owner = STORE_TURN, .until_ms = 1, .any = true}) ||
	    json_array_size(json_object_get(got, "costs")) != 2)
		return -1;
	return json_real_value(json_object_get(row("costs", 1), "usd"));
}

static bool start_session(void)
{
	return add(&(struct bus_event){.type = EVENT_SESSION_STARTED,
				       .at_ms = T0,
				       .guild = 1,
				       .session = {.session = T0, .channel = 300}});
}

/* What others said is paid, whatever is kept of it. */
TEST(a_turn_costs_the_same_when_another_speaker_is_erased)
{
	const struct bus_event noise = {
		.type = EVENT_SPEECH_DROPPED,
		.guild = 1,
		.user = 503,
		.speech = {.session = T0, .started_ms = T0 + 20000, .ended_ms = T0 + 28000}};
	double usd;

	CHECK(begin());
	CHECK(start_session() && add_speech() && add_turn(1, 1, "answered") && add_cost() &&
	      add_session_of_speech());
	usd = transcription_of_turn();
	CHECK(usd > 0.00099 && usd < 0.00101);
	CHECK_INT(rows_run_erasers(db, 502, NULL, NULL), 0);
	usd = transcription_of_turn();
	CHECK(usd > 0.00099 && usd < 0.00101);
	/* Noise was heard, too. */
	CHECK(add(&noise));
	usd = transcription_of_turn();
	CHECK(usd > 0.00049 && usd < 0.00051);
	end();
}

TEST(one_turn_tells_its_decisions_times_and_costs)
{
	const json_t *why;

	CHECK(begin());
	CHECK(add_speech() && add_turn(1, 1, "answered") && add_call() && add_cost());
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .any = true}), 0);
	why = json_array_get(json_object_get(got, "why"), 0);
	CHECK_STR(text_of(why, "rule"), "direct_address");
	CHECK_INT(number_of(why, "limit"), 2);
	CHECK(json_is_true(json_object_get(why, "yes")));
	CHECK_INT(json_array_size(json_object_get(got, "timeline")), 3);
	CHECK_STR(text_of(row("timeline", 0), "kind"), "speech");
	CHECK_INT(number_of(row("timeline", 0), "startMs"), -2000);
	CHECK_INT(number_of(row("timeline", 0), "endMs"), 0);
	CHECK_STR(text_of(row("timeline", 1), "name"), "clock");
	CHECK_INT(number_of(row("timeline", 1), "startMs"), 300);
	CHECK_INT(number_of(row("timeline", 1), "endMs"), 500);
	CHECK_STR(text_of(row("timeline", 1), "text"), "16:10");
	CHECK_STR(text_of(row("timeline", 2), "kind"), "answer");
	CHECK_INT(number_of(row("timeline", 2), "startMs"), 650);
	CHECK_INT(number_of(row("timeline", 2), "endMs"), 6000);
	CHECK_INT(json_array_size(json_object_get(got, "utterances")), 1);
	CHECK_STR(text_of(row("utterances", 0), "speakerId"), "501");
	CHECK_STR(text_of(row("utterances", 0), "speakerName"), "alice");
	CHECK_STR(text_of(row("utterances", 0), "text"), "what time is it");
	CHECK_INT(number_of(row("utterances", 0), "startedAtMs"), T0 + 2000);
	CHECK_INT(number_of(row("utterances", 0), "endedAtMs"), T0 + 4000);
	CHECK_STR(text_of(row("costs", 0), "provider"), "main");
	CHECK(json_real_value(json_object_get(row("costs", 0), "usd")) > 0.00149);
	/* Who may not read words gets none of a tool's either. */
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1}), 0);
	CHECK(json_is_null(json_object_get(row("timeline", 0), "text")));
	CHECK(json_is_null(json_object_get(row("utterances", 0), "text")));
	CHECK(json_is_null(json_object_get(row("timeline", 1), "text")));
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 2}), ENOENT);
	end();
}

static bool add_merged(uint64_t turn, const char *rule, uint64_t into)
{
	char why[256];
	struct bus_event ev = {
		.type = EVENT_TURN, .at_ms = T0 + turn * 10000, .guild = 1, .user = 501};

	snprintf(why, sizeof why,
		 "[{\"rule\":\"bot_turn_open\",\"yes\":true,\"value\":1,\"limit\":0},"
		 "{\"rule\":\"%s\",\"yes\":true,\"value\":%u,\"limit\":0}]",
		 rule, (unsigned)into);
	ev.turn = (struct event_turn){.session = T0,
				      .channel = 300,
				      .turn = turn,
				      .name = "alice",
				      .reason = "merged",
				      .first_audio_ms = -1,
				      .lasted_ms = 900,
				      .segments = "[]",
				      .why = why};
	return add(&ev);
}

TEST(a_merged_turn_leads_to_the_one_that_has_its_words_and_is_part_of_it)
{
	const struct bus_event session = {.type = EVENT_SESSION_STARTED,
					  .at_ms = T0,
					  .guild = 1,
					  .session = {.session = T0, .channel = 300}};

	CHECK(begin());
	CHECK(add_turn(1, 1, "not_addressed"));
	CHECK(add_merged(2, "speculative_start", 3));
	CHECK(add_turn(1, 3, "answered"));
	CHECK(add_merged(4, "coalesced", 5)); /* which has not ended */
	CHECK(add(&session));
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 2}), 0);
	CHECK_STR(text_of(got, "mergedInto"), "3");
	CHECK(json_is_true(json_object_get(got, "part")));
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 3}), 0);
	CHECK(json_is_null(json_object_get(got, "mergedInto")));
	CHECK(json_is_false(json_object_get(got, "part")));
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 4}), 0);
	CHECK(json_is_null(json_object_get(got, "mergedInto")));
	CHECK_INT(ask((struct job){.owner = STORE_SESSIONS, .version = 9}), 0);
	CHECK_INT(json_integer_value(json_object_get(row("sessions", 0), "turns")), 2);
	end();
}

TEST(faults_costs_and_the_audit_are_listed)
{
	struct bus_event fault = {.type = EVENT_FAULT, .at_ms = T0, .guild = 1};
	struct bus_event failover = {.type = EVENT_FAILOVER, .at_ms = T0 + 1};
	struct bus_event action = {.type = EVENT_OPERATOR_ACTION, .at_ms = T0 + 2};

	fault.fault = (struct event_fault){.fault = "brain", .there = true, .count = 1};
	failover.failover = (struct event_failover){.role = "text", .from = "a", .to = "b"};
	action.action = (struct event_action){.actor = "token",
					      .via = "http",
					      .kind = "sign_in",
					      .target = "",
					      .result = "refused"};
	CHECK(begin());
	CHECK(add(&fault) && add(&failover) && add(&action) && add_cost());
	CHECK_INT(ask((struct job){.owner = STORE_ERRORS, .version = 9}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "errors")), 1);
	CHECK_STR(text_of(json_object_get(row("errors", 0), "event"), "fault"), "brain");
	CHECK_INT(ask((struct job){.owner = STORE_ERRORS, .version = 9, .grants = true}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "errors")), 2);
	CHECK_STR(text_of(row("errors", 0), "kind"), "failover");
	CHECK_INT(ask((struct job){.owner = STORE_AUDIT, .version = 9}), 0);
	CHECK_STR(text_of(row("audit", 0), "actor"), "token");
	CHECK_STR(text_of(row("audit", 0), "result"), "refused");
	CHECK_INT(ask((struct job){.owner = STORE_COSTS}), 0);
	CHECK_STR(text_of(row("costs", 0), "day"), "2026-09-21");
	CHECK(json_is_false(json_object_get(row("costs", 0), "written")));
	/* By what they are of, all rows together. */
	CHECK_INT(json_array_size(json_object_get(got, "servers")), 1);
	CHECK_STR(text_of(row("servers", 0), "guild"), "1");
	CHECK(json_equal(json_object_get(row("servers", 0), "usd"), json_object_get(got, "usd")));
	CHECK(json_array_size(json_object_get(got, "speakers")) >= 1);
	CHECK(*text_of(row("providers", 0), "provider") && *text_of(row("providers", 0), "role"));
	CHECK(json_is_false(json_object_get(got, "truncated")));
	CHECK_INT(ask((struct job){.owner = STORE_COSTS, .guild = 7}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "costs")), 0);
	end();
}

static bool add_said(uint64_t user, uint32_t id, uint64_t ms)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = T0 + 9000, .guild = 1, .user = user};

	ev.utterance = (struct event_utterance){.session = T0,
						.channel = 300,
						.utterance = id,
						.started_ms = T0 + 1000,
						.ended_ms = T0 + 1000 + ms,
						.name = "",
						.text = "words"};
	return add(&ev);
}

static double spent_by(const char *user)
{
	const json_t *list = json_object_get(got, "speakers"), *one;
	size_t i;

	json_array_foreach(list, i,
			   one) if (strcmp(text_of(one, "user"), user) ==
				    0) return json_number_value(json_object_get(one, "usd"));
	return 0;
}

/* A session of speech-to-text is one person's, but its provider bills those of all rooms together.
 */
TEST(transcription_is_divided_by_how_long_each_person_spoke)
{
	struct bus_event ev = {.type = EVENT_ENGINE_USED, .at_ms = T0 + 4600, .guild = 1};

	ev.usage = (struct event_usage){.session = T0,
					.channel = 300,
					.role = "transcribe",
					.provider = "scribe",
					.model = "m",
					.nano = 3000000000,
					.priced = true};
	CHECK(begin());
	CHECK(add_said(501, 1, 2000) && add_said(502, 2, 1000) && add(&ev));
	CHECK_INT(ask((struct job){.owner = STORE_COSTS}), 0);
	CHECK(spent_by("501") == 2 && spent_by("502") == 1 && spent_by("") == 0);
	/* Of a session of which no utterance is kept it is nobody's. */
	ev.guild = 2;
	CHECK(add(&ev));
	CHECK_INT(ask((struct job){.owner = STORE_COSTS}), 0);
	CHECK(spent_by("501") == 2 && spent_by("") == 3);
	CHECK_INT(ask((struct job){.owner = STORE_COSTS, .guild = 2}), 0);
	CHECK(spent_by("501") == 0 && spent_by("") == 3);
	end();
}

TEST(calls_sessions_and_what_a_model_was_told_are_read)
{
	struct bus_event context = {.type = EVENT_CONTEXT, .at_ms = T0 + 5000, .guild = 1};
	struct bus_event session = {.type = EVENT_SESSION_STARTED, .at_ms = T0, .guild = 1};

	context.context =
		(struct event_context){.session = T0,
				       .channel = 300,
				       .turn = 1,
				       .prompts = 18,
				       .told = "{\"instructions\":\"be brief\",\"messages\":[]}"};
	session.session = (struct event_session){.session = T0, .channel = 300};
	CHECK(begin());
	CHECK(add(&session) && add_turn(1, 1, "answered") && add_call() && add(&context));
	CHECK_INT(ask((struct job){.owner = STORE_CALLS, .version = 9, .any = true}), 0);
	CHECK_STR(text_of(row("events", 0), "toolName"), "clock");
	CHECK_STR(text_of(row("events", 0), "toolType"), "function");
	CHECK_STR(text_of(row("events", 0), "turnId"), "1");
	CHECK_STR(text_of(row("events", 0), "outputSummary"), "16:10");
	CHECK(json_is_true(json_object_get(row("events", 0), "success")));
	CHECK_INT(number_of(row("events", 0), "runtimeMs"), 200);
	CHECK_INT(ask((struct job){.owner = STORE_CALLS, .version = 9}), 0);
	CHECK(json_is_null(json_object_get(row("events", 0), "outputSummary")));
	CHECK(json_is_string(json_object_get(row("events", 0), "sessionId")));
	CHECK(add_call_of(0, T0 + 9000));
	CHECK_INT(ask((struct job){.owner = STORE_CALLS, .version = 9}), 0);
	CHECK(json_is_null(json_object_get(row("events", 0), "sessionId")));
	CHECK_INT(ask((struct job){.owner = STORE_SESSIONS, .version = 9}), 0);
	CHECK_INT(number_of(row("sessions", 0), "turns"), 1);
	CHECK(json_is_null(json_object_get(row("sessions", 0), "endedAt")));
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .any = true}), 0);
	CHECK_STR(text_of(json_object_get(got, "context"), "instructions"), "be brief");
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1}), 0);
	CHECK(json_is_null(json_object_get(got, "context")));
	end();
}

static bool add_session(enum event_type type, uint64_t at_ms, uint64_t start)
{
	struct bus_event ev = {.type = type, .at_ms = at_ms, .guild = 1};

	ev.session = (struct event_session){.session = start, .channel = 300, .why = "left"};
	return add(&ev);
}

static bool add_message(uint64_t message, uint64_t channel, const char *reason)
{
	struct bus_event ev = {
		.type = EVENT_TEXT_MESSAGE, .at_ms = T0 + message, .guild = 1, .user = 501};

	ev.text = (struct event_text){.channel = channel,
				      .message = message,
				      .signal = "direct",
				      .attention = "direct_address",
				      .rule = "force_respond",
				      .reply = message,
				      .reason = reason,
				      .reaction = ""};
	return add(&ev);
}

TEST(written_messages_are_actions_for_operators)
{
	static const char *const reasons[] = {"skipped", "reacted", "sent_in_part", "sent_message",
					      "sent_reply"};
	static const char *const kinds[] = {"reply_skipped", "reacted", "sent_message",
					    "sent_message", "sent_reply"};

	CHECK(begin());
	CHECK(add_session(EVENT_SESSION_STARTED, T0, T0));
	for (unsigned i = 0; i < 5; i++)
		CHECK(add_message(11 + i, i ? 300 : 301, reasons[4 - i]));
	CHECK_INT(ask((struct job){
			  .owner = STORE_ACTIONS, .version = 9, .any = true, .grants = true}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 6);
	for (unsigned i = 0; i < 5; i++)
		CHECK_STR(text_of(row("actions", i), "kind"), kinds[i]);
	CHECK_STR(text_of(row("actions", 4), "messageId"), "11");
	CHECK_STR(text_of(row("actions", 4), "channelId"), "301");
	CHECK_STR(text_of(row("actions", 4), "id"), "sent_reply-1790000000011-1-11");
	/* Those of the session are those of its chat. */
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS,
				   .version = 9,
				   .any = true,
				   .grants = true,
				   .channel = T0}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 5);
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS, .version = 9}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 1);
	end();
}

/* Of whoever does not see every channel (control/web/web.c, web_open_channels). */
TEST(what_is_of_other_channels_is_not_read)
{
	static const enum store_reading lists[] = {STORE_TURNS, STORE_CALLS, STORE_SESSIONS,
						   STORE_ACTIONS};
	static const char *const names[] = {"turns", "events", "sessions", "actions"};
	static const size_t all[] = {1, 1, 1, 3};
	struct bus_event fault = {.type = EVENT_FAULT, .at_ms = T0 + 4600, .guild = 1};

	fault.fault = (struct event_fault){.fault = "brain", .there = true, .count = 1};
	CHECK(begin());
	CHECK(add_session(EVENT_SESSION_STARTED, T0, T0) && add_turn(1, 1, "answered") &&
	      add_call() && add(&fault));
	for (unsigned i = 0; i < 4; i++) {
		CHECK_INT(ask((struct job){.owner = lists[i],
					   .version = 9,
					   .guild = 1,
					   .author = (char *)"[7,300]"}),
			  0);
		CHECK_INT(json_array_size(json_object_get(got, names[i])), all[i]);
		CHECK_INT(ask((struct job){.owner = lists[i],
					   .version = 9,
					   .guild = 1,
					   .author = (char *)"[7]"}),
			  0);
		CHECK_INT(json_array_size(json_object_get(got, names[i])), 0);
	}
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .author = (char *)"[300]"}),
		  0);
	CHECK_INT(ask((struct job){.owner = STORE_TURN, .until_ms = 1, .author = (char *)"[]"}),
		  ENOENT);
	end();
}

TEST(actions_are_those_of_all_tables_by_time)
{
	struct bus_event fault = {.type = EVENT_FAULT, .at_ms = T0 + 4600, .guild = 1};
	struct bus_event failover = {.type = EVENT_FAILOVER, .at_ms = T0 + 4700, .guild = 1};
	struct bus_event command = {
		.type = EVENT_COMMAND, .at_ms = T0 + 4800, .guild = 1, .user = 502};
	char next[24];

	command.command = (struct event_command){.kind = "privacy"};
	fault.fault = (struct event_fault){.fault = "brain", .there = true, .count = 1};
	failover.failover = (struct event_failover){.role = "text", .from = "a", .to = "b"};
	CHECK(begin());
	CHECK(add_session(EVENT_SESSION_STARTED, T0, T0) && add_turn(1, 1, "answered") &&
	      add_call() && add_cost() && add(&fault) && add(&failover) && add(&command) &&
	      add_session(EVENT_SESSION_OVER, T0 + 60000, T0) && add_turn(2, 9, "expired"));
	CHECK_INT(ask((struct job){
			  .owner = STORE_ACTIONS, .version = 9, .any = true, .grants = true}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 8);
	CHECK_STR(text_of(row("actions", 0), "kind"), "reply_skipped");
	CHECK_STR(text_of(row("actions", 1), "kind"), "voice_session_end");
	CHECK_STR(text_of(json_object_get(row("actions", 1), "metadata"), "why"), "left");
	CHECK_STR(text_of(row("actions", 2), "kind"), "voice_turn_out");
	CHECK_STR(text_of(row("actions", 2), "content"), "ten past four");
	CHECK_STR(text_of(row("actions", 2), "userId"), "501");
	CHECK(json_number_value(json_object_get(row("actions", 2), "usdCost")) == 0.0015);
	CHECK(json_is_null(json_object_get(row("actions", 0), "usdCost")));
	CHECK_STR(text_of(row("actions", 3), "kind"), "command");
	CHECK_STR(text_of(row("actions", 4), "kind"), "failover");
	CHECK_STR(text_of(row("actions", 5), "kind"), "fault");
	CHECK_STR(text_of(row("actions", 6), "kind"), "llm_tool_call");
	CHECK(json_is_null(json_object_get(row("actions", 6), "messageId")));
	CHECK_STR(text_of(json_object_get(row("actions", 6), "metadata"), "tool"), "clock");
	CHECK_STR(text_of(row("actions", 7), "kind"), "voice_session_start");
	CHECK_STR(text_of(row("actions", 7), "createdAt"), "2026-09-21T14:13:20.000Z");
	/* As the stream of actions names them (activity_api.c). */
	CHECK_STR(text_of(row("actions", 5), "id"), "fault-1790000004600-1-brain");
	CHECK_STR(text_of(row("actions", 3), "id"), "command-1790000004800-1-502");
	CHECK_STR(text_of(row("actions", 7), "id"), "voice_session_start-1790000000000-1-0");
	CHECK_INT(number_of(json_object_get(row("actions", 6), "metadata"), "call"), 1);
	/* Viewers: no words, and nothing that is for operators. */
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS, .version = 2, .guild = 1}), 0);
	CHECK(json_is_null(json_object_get(row("actions", 1), "content")));
	snprintf(next, sizeof next, "%s", text_of(got, "next"));
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS,
				   .version = 9,
				   .guild = 1,
				   .until_ms = strtoull(next, NULL, 10)}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 3);
	CHECK_STR(text_of(row("actions", 0), "kind"), "fault");
	/* By kind, and of one session. */
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS,
				   .version = 9,
				   .text = (char *)",fault,llm_tool_call,"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 2);
	CHECK_INT(
		ask((struct job){.owner = STORE_ACTIONS, .version = 9, .guild = 1, .channel = T0}),
		0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 5);
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS, .version = 9, .user = 501}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 3);
	/* Nor which commands somebody used. */
	CHECK_INT(ask((struct job){.owner = STORE_ACTIONS, .version = 9, .user = 502}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "actions")), 0);
	end();
}

static bool add_fact(uint64_t owner, const char *text)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_FACT);

	db_bind_uint(s, 1, 1);
	db_bind_uint(s, 2, owner);
	db_bind_uint(s, 3, 501);
	db_bind_text(s, 4, "alice");
	db_bind_text(s, 5, "fact");
	db_bind_text(s, 6, "[\"home\"]");
	db_bind_text(s, 7, text);
	db_bind_uint(s, 8, T0);
	db_bind_uint(s, 9, T0);
	return db_run(db, s) == 0;
}

TEST(a_fact_that_was_said_again_keeps_when_it_was_first_written)
{
	sqlite3 *sql;

	CHECK(begin());
	CHECK(add_fact(0, "The server is blue") && add_fact(0, "The door is green"));
	sql = sqlite3_db_handle(db_use(db, DB_BEGIN));
	CHECK_INT(sqlite3_exec(sql,
			       "UPDATE facts SET written_ms = written_ms + 60000,"
			       " said_ms = written_ms + 60000 WHERE id = 1",
			       NULL, NULL, NULL),
		  SQLITE_OK);
	CHECK_INT(ask((struct job){.owner = STORE_FACTS, .version = 9}), 0);
	CHECK_STR(text_of(row("facts", 1), "createdAt"), text_of(row("facts", 0), "createdAt"));
	CHECK(json_is_null(json_object_get(row("facts", 0), "saidAgainAt")));
	CHECK_STR(text_of(row("facts", 1), "saidAgainAt"), "2026-09-21T14:14:20.000Z");
	end();
}

/* The text of a private fact is shown only to its owner. */
TEST(facts_are_browsed_without_what_is_private)
{
	CHECK(begin());
	CHECK(add_fact(0, "The server is blue") && add_fact(501, "My name day is in May"));
	CHECK_INT(ask((struct job){.owner = STORE_FACTS, .version = 9}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "facts")), 2);
	CHECK_STR(text_of(row("facts", 0), "namespace"), "user:501");
	CHECK(json_is_null(json_object_get(row("facts", 0), "text")));
	CHECK_INT(json_array_size(json_object_get(row("facts", 0), "tags")), 0);
	CHECK_INT(json_array_size(json_object_get(row("facts", 1), "tags")), 1);
	CHECK_STR(text_of(row("facts", 1), "text"), "The server is blue");
	CHECK_INT(ask((struct job){.owner = STORE_FACTS, .version = 9, .text = (char *)"BLUE"}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "facts")), 1);
	CHECK_INT(ask((struct job){.owner = STORE_FACTS, .version = 9, .text = (char *)"May"}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "facts")), 0);
	end();
}

TEST(subjects_and_writes_of_the_memory_are_counted)
{
	struct bus_event written = {.type = EVENT_MEMORY_WRITTEN, .at_ms = T0, .guild = 1};
	sqlite3 *sql;

	written.memory = (struct event_memory){.source = "asked", .inserted = 2, .duplicate = 1};
	CHECK(begin());
	CHECK(add_fact(0, "The server is blue") && add_fact(0, "The server is old") &&
	      add_fact(501, "My name day is in May") && add(&written));
	CHECK_INT(ask((struct job){.owner = STORE_SUBJECTS, .version = 9}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "subjects")), 2);
	CHECK(json_is_true(json_object_get(row("subjects", 0), "private")));
	CHECK_INT(number_of(row("subjects", 1), "facts"), 2);
	CHECK_STR(text_of(row("subjects", 1), "name"), "alice");
	/* A person by letters of their name, or by their id. */
	CHECK_INT(ask((struct job){.owner = STORE_SUBJECTS, .version = 9, .text = (char *)"LIC"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "subjects")), 2);
	CHECK_INT(number_of(row("subjects", 1), "facts"), 2);
	CHECK_INT(ask((struct job){.owner = STORE_SUBJECTS, .version = 9, .text = (char *)"501"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "subjects")), 2);
	CHECK_INT(ask((struct job){.owner = STORE_SUBJECTS, .version = 9, .text = (char *)"50"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "subjects")), 0);
	/* Of a person who has another name since. */
	sql = sqlite3_db_handle(db_use(db, DB_BEGIN));
	CHECK_INT(sqlite3_exec(sql,
			       "UPDATE facts SET name = 'ÖMER' WHERE id = 1;"
			       "UPDATE facts SET name = 'ÄSOP' WHERE id = 2",
			       NULL, NULL, NULL),
		  SQLITE_OK);
	CHECK_INT(ask((struct job){.owner = STORE_SUBJECTS, .version = 9, .text = (char *)"äsop"}),
		  0);
	CHECK_INT(json_array_size(json_object_get(got, "subjects")), 1);
	CHECK_STR(text_of(row("subjects", 0), "name"), "ÄSOP");
	CHECK_INT(ask((struct job){.owner = STORE_WRITES, .version = 9}), 0);
	CHECK_STR(text_of(row("writes", 0), "source"), "asked");
	CHECK_INT(number_of(row("writes", 0), "inserted"), 2);
	CHECK_INT(number_of(row("writes", 0), "duplicate"), 1);
	CHECK_INT(ask((struct job){.owner = STORE_REFLECTIONS, .version = 9}), 0);
	CHECK_INT(json_array_size(json_object_get(got, "reflections")), 0);
	end();
}

TEST_OOM(history_survives_without_memory)
{
	struct job j = {.owner = STORE_TURNS,
			.version = 9,
			.any = true,
			.until_ms = INT64_MAX,
			.text = (char *)""};
	char *text = NULL;

	CHECK(folder_make(dir));
	CHECK_OOM(db_open(&db, dir, DB_OWN), folder_remove(dir));
	if (add_turn(1, 1, "answered") && history_read(db, &j, &text) == 0)
		free(text);
	db_close(db);
	folder_remove(dir);
}
