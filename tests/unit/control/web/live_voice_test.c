#include "control/web/live_voice.h"

#include <string.h>

#include "control/events/events.h"
#include "tests/test.h"

#define T0 UINT64_C(1790000000000)

static struct bus *bus;
static struct live_voice *voice;
static json_t *got;

static bool begin(void)
{
	got = NULL;
	return bus_alloc(&bus) == 0 && live_voice_alloc(&voice, bus) == 0;
}

static void end(void)
{
	json_decref(got);
	bus_free(bus);
	live_voice_free(voice);
}

static void tell_asr(uint64_t guild, uint64_t user, uint64_t at_ms, const char *why)
{
	bus_publish(bus, &(struct bus_event){.type = EVENT_ASR_SESSION,
					     .at_ms = at_ms,
					     .guild = guild,
					     .user = user,
					     .asr = {.session = T0,
						     .name = "alice",
						     .state = *why ? "closed" : "opened",
						     .why = why}});
}

static void tell_call_of(uint64_t guild, enum event_type type, uint64_t call, const char *code)
{
	bus_publish(bus, &(struct bus_event){.type = type,
					     .at_ms = T0 + 500,
					     .guild = guild,
					     .user = 501,
					     .tool = {.session = T0,
						      .turn = 3,
						      .call = call,
						      .name = "docs__read",
						      .code = code,
						      .arguments = "ab12",
						      .lasted_ms = 200,
						      .summary = "secret words"}});
}

static void tell_call(enum event_type type, uint64_t call, const char *code)
{
	tell_call_of(1, type, call, code);
}

static void tell_over(uint64_t guild)
{
	bus_publish(bus, &(struct bus_event){.type = EVENT_SESSION_OVER, .guild = guild});
}

static const char *text_of(size_t i, const char *name)
{
	const char *text = json_string_value(json_object_get(json_array_get(got, i), name));

	return text ? text : "";
}

static bool is_null(size_t i, const char *name)
{
	return json_is_null(json_object_get(json_array_get(got, i), name));
}

static int number_of(size_t i, const char *name)
{
	return (int)json_integer_value(json_object_get(json_array_get(got, i), name));
}

static size_t read_asr(uint64_t guild, const json_t *people)
{
	json_decref(got);
	got = live_voice_asr(voice, guild, people);
	return json_array_size(got);
}

static size_t read_calls(uint64_t guild)
{
	json_decref(got);
	got = live_voice_calls(voice, guild);
	return json_array_size(got);
}

TEST(a_session_of_speech_to_text_is_shown_in_the_form_of_the_seeds)
{
	json_t *people = json_pack("[{s:s,s:s}]", "user", "501", "asrIdleEndsAt",
				   "2026-09-21T14:13:30.000Z");

	CHECK(begin());
	CHECK_INT(read_asr(1, NULL), 0);
	tell_asr(1, 501, T0, "");
	tell_asr(2, 502, T0, "");
	CHECK_INT(read_asr(1, people), 1);
	CHECK_STR(text_of(0, "userId"), "501");
	CHECK_STR(text_of(0, "displayName"), "alice");
	CHECK(json_is_true(json_object_get(json_array_get(got, 0), "connected")));
	CHECK_STR(text_of(0, "createdAt"), "2026-09-21T14:13:20.000Z");
	CHECK(is_null(0, "lastTranscriptAt") && is_null(0, "closedReason"));
	CHECK_STR(text_of(0, "idleTimerEndsAt"), "2026-09-21T14:13:30.000Z");
	CHECK(is_null(0, "lastError"));
	bus_publish(bus, &(struct bus_event){
				 .type = EVENT_UTTERANCE,
				 .at_ms = T0 + 1000,
				 .guild = 1,
				 .user = 501,
				 .utterance = {.started_ms = T0 + 100, .ended_ms = T0 + 800}});
	tell_asr(1, 501, T0 + 5000, "idle_ttl");
	CHECK_INT(read_asr(1, people), 1);
	CHECK_INT(number_of(0, "audioMs"), 700);
	CHECK_INT(number_of(0, "transcripts"), 1);
	CHECK(is_null(0, "lastError"));
	CHECK_STR(text_of(0, "lastTranscriptAt"), "2026-09-21T14:13:21.000Z");
	CHECK_STR(text_of(0, "closedReason"), "idle_ttl");
	CHECK(is_null(0, "idleTimerEndsAt"));
	/* One that found no words is none of the seeds' reasons but an error. */
	tell_asr(1, 501, T0 + 6000, "");
	tell_asr(1, 501, T0 + 7000, "empty");
	CHECK_INT(read_asr(1, people), 1);
	CHECK_STR(text_of(0, "closedReason"), "error");
	CHECK_STR(text_of(0, "lastError"), "empty");
	CHECK_STR(text_of(0, "createdAt"), "2026-09-21T14:13:26.000Z");
	/* The next one has forgotten neither the error nor the words before it. */
	tell_asr(1, 501, T0 + 8000, "");
	CHECK_INT(read_asr(1, people), 1);
	CHECK_STR(text_of(0, "lastError"), "empty");
	CHECK_INT(number_of(0, "audioMs"), 700);
	tell_over(1);
	CHECK_INT(read_asr(1, people), 0);
	CHECK_INT(read_asr(2, people), 1);
	json_decref(people);
	end();
}

TEST(an_event_of_speech_to_text_has_what_came_before)
{
	const struct bus_event closed = {
		.type = EVENT_ASR_SESSION,
		.at_ms = T0 + 9000,
		.guild = 1,
		.user = 501,
		.asr = {.session = T0, .name = "alice", .state = "closed", .why = "failed"}};
	const struct bus_event said = {
		.type = EVENT_UTTERANCE,
		.at_ms = T0 + 5000,
		.guild = 1,
		.user = 501,
		.utterance = {.started_ms = T0 + 1000, .ended_ms = T0 + 4000}};
	json_t *one;

	CHECK(begin());
	CHECK(!live_voice_asr_json(voice, &closed));
	tell_asr(1, 501, T0, "");
	bus_publish(bus, &said);
	bus_publish(bus, &closed);
	one = live_voice_asr_json(voice, &closed);
	CHECK_INT(json_integer_value(json_object_get(one, "audioMs")), 3000);
	CHECK_INT(json_integer_value(json_object_get(one, "transcripts")), 1);
	CHECK_STR(json_string_value(json_object_get(one, "createdAt")), "2026-09-21T14:13:20.000Z");
	CHECK_STR(json_string_value(json_object_get(one, "lastError")), "failed");
	json_decref(one);
	end();
}

TEST(a_call_of_a_tool_is_shown_from_its_beginning_and_without_words)
{
	CHECK(begin());
	tell_call(EVENT_TOOL_BEGAN, 1, "");
	CHECK_INT(read_calls(1), 1);
	CHECK_STR(text_of(0, "state"), "running");
	CHECK(is_null(0, "completedAt") && is_null(0, "runtimeMs"));
	CHECK_STR(text_of(0, "startedAt"), "2026-09-21T14:13:20.500Z");
	tell_call(EVENT_TOOL_CALLED, 1, "ok");
	tell_call(EVENT_TOOL_CALLED, 2, "timeout");
	CHECK_INT(read_calls(1), 2);
	CHECK_STR(text_of(0, "callId"), "1790000000000-1");
	CHECK_STR(text_of(0, "toolType"), "mcp");
	CHECK_STR(text_of(0, "serverName"), "docs");
	CHECK_STR(text_of(0, "startedAt"), "2026-09-21T14:13:20.300Z");
	CHECK(json_is_true(json_object_get(json_array_get(got, 0), "success")));
	CHECK(is_null(0, "outputSummary") && is_null(0, "error") && is_null(0, "argumentsHash"));
	CHECK_INT(json_object_size(json_object_get(json_array_get(got, 0), "arguments")), 0);
	CHECK_STR(text_of(1, "error"), "timeout");
	live_voice_forget(voice);
	CHECK_INT(read_calls(1), 0);
	end();
}

TEST(no_more_than_so_many_are_kept_and_the_oldest_go)
{
	CHECK(begin());
	for (unsigned i = 0; i < LIVE_ASR_MAX + 5; i++)
		tell_asr(1, 1000 + i, T0, "");
	for (unsigned i = 0; i < LIVE_CALLS_EACH + 5; i++)
		tell_call(EVENT_TOOL_CALLED, i, "ok");
	CHECK_INT(read_asr(1, NULL), LIVE_ASR_MAX);
	CHECK_STR(text_of(0, "userId"), "1005");
	CHECK_INT(read_calls(1), LIVE_CALLS_EACH);
	CHECK_STR(text_of(0, "callId"), "1790000000000-5");
	end();
}

/* What goes on is seen however much has ended since. */
TEST(what_goes_on_is_dropped_last)
{
	CHECK(begin());
	tell_asr(1, 7, T0, "");
	for (unsigned i = 0; i < LIVE_ASR_MAX + 5; i++)
		tell_asr(2, 1000 + i, T0, "idle_ttl");
	CHECK_INT(read_asr(1, NULL), 1);
	tell_call(EVENT_TOOL_BEGAN, 1, "");
	for (unsigned i = 2; i < LIVE_CALLS_EACH + 5; i++)
		tell_call(EVENT_TOOL_CALLED, i, "ok");
	CHECK_INT(read_calls(1), LIVE_CALLS_EACH);
	CHECK_STR(text_of(0, "callId"), "1790000000000-1");
	CHECK_STR(text_of(1, "callId"), "1790000000000-6");
	end();
}

/* Ten servers call all that they may, and hide no call of another. */
TEST(calls_of_busy_servers_hide_none_of_others)
{
	CHECK(begin());
	tell_call(EVENT_TOOL_CALLED, 1, "ok");
	for (unsigned guild = 2; guild < 12; guild++)
		for (unsigned i = 0; i < LIVE_CALLS_EACH; i++)
			tell_call_of(guild, EVENT_TOOL_CALLED, i, "ok");
	CHECK_INT(read_calls(1), 1);
	CHECK(read_calls(11) > LIVE_CALLS_EACH / 2);
	end();
}

TEST_OOM(live_voice_survives_without_memory)
{
	bus = NULL;
	voice = NULL;
	CHECK_OOM(bus_alloc(&bus), (void)0);
	CHECK_OOM(live_voice_alloc(&voice, bus), bus_free(bus));
	tell_call(EVENT_TOOL_CALLED, 1, "ok");
	json_decref(live_voice_calls(voice, 1));
	bus_free(bus);
	live_voice_free(voice);
}
