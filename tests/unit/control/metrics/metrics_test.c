#include "control/metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/metrics/counters.h"
#include "control/metrics/otlp.h"
#include "control/room/base/turn.h"
#include "proto/media.h"
#include "tests/test.h"

static struct metrics *m;

static void take(struct bus_event ev)
{
	metrics_take_event(m, &ev);
}

/* Whether the page has this line. */
static bool has(const char *line)
{
	struct counters c = {{0}};
	char *text = metrics_write(m, &c, &(struct metrics_now){.voice_sessions = 2});
	const char *at = text ? strstr(text, line) : NULL;
	bool found = at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';

	free(text);
	return found;
}

TEST(durations_of_turns_are_histograms)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "answered", .first_audio_ms = 450, .lasted_ms = 2001}});
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "answered", .first_audio_ms = 500, .lasted_ms = 40000}});
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "noise", .first_audio_ms = -1, .lasted_ms = -1}});
	CHECK(has("parley_turn_first_audio_seconds_bucket{le=\"0.4\"} 0"));
	CHECK(has("parley_turn_first_audio_seconds_bucket{le=\"0.5\"} 2"));
	CHECK(has("parley_turn_first_audio_seconds_bucket{le=\"+Inf\"} 2"));
	CHECK(has("parley_turn_first_audio_seconds_sum 0.950"));
	CHECK(has("parley_turn_first_audio_seconds_count 2"));
	CHECK(has("parley_turn_seconds_bucket{reason=\"answered\",le=\"30\"} 1"));
	CHECK(has("parley_turn_seconds_bucket{reason=\"answered\",le=\"+Inf\"} 2"));
	CHECK(has("parley_turn_seconds_sum{reason=\"answered\"} 42.001"));
	CHECK(!has("parley_turn_seconds_count{reason=\"noise\"} 1"));
	CHECK(has("# TYPE parley_turn_seconds histogram"));
	metrics_free(m);
}

TEST(transcripts_count_from_the_end_of_speech)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_UTTERANCE, .at_ms = 10250, .utterance = {.ended_ms = 10000}});
	/* The clock was set back. */
	take((struct bus_event){
		.type = EVENT_UTTERANCE, .at_ms = 9000, .utterance = {.ended_ms = 10000}});
	CHECK(has("parley_asr_completion_seconds_sum 0.250"));
	CHECK(has("parley_asr_completion_seconds_count 1"));
	metrics_free(m);
}

TEST(tools_are_told_apart_but_not_those_a_model_invents)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){.type = EVENT_TOOL_CALLED,
				.tool = {.name = "web_search", .code = "ok", .lasted_ms = 900}});
	take((struct bus_event){.type = EVENT_TOOL_CALLED,
				.tool = {.name = "secret", .code = "unknown_tool"}});
	CHECK(has("parley_tool_call_seconds_count{tool=\"web_search\",outcome=\"ok\"} 1"));
	CHECK(has("parley_tool_call_seconds_count{tool=\"unknown\",outcome=\"unknown_tool\"} 1"));
	metrics_free(m);
}

TEST(providers_have_units_and_costs)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_ENGINE_USED,
		.usage = {.provider = "a\"b\\c\n", .text_in = 7, .nano = UINT64_C(1500000001)}});
	CHECK(has("parley_provider_units_total{provider=\"a\\\"b\\\\c\\n\",unit=\"text_in\"} 7"));
	CHECK(has("parley_cost_usd_total{provider=\"a\\\"b\\\\c\\n\",role=\"\"} 1.500000001"));
	metrics_free(m);
}

TEST(tokens_have_opentelemetrys_names)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){.type = EVENT_ENGINE_USED,
				.usage = {.role = "text",
					  .provider = "openai",
					  .model = "m",
					  .text_in = 300,
					  .text_cached = 100,
					  .text_out = 20}});
	CHECK(has("# TYPE gen_ai_client_token_usage histogram"));
	CHECK(has("gen_ai_client_token_usage_bucket{gen_ai_operation_name=\"chat\",gen_ai_provider_"
		  "name="
		  "\"openai\",gen_ai_request_model=\"m\",gen_ai_token_type=\"input\",le=\"1024\"} "
		  "1"));
	CHECK(has(
		"gen_ai_client_token_usage_sum{gen_ai_operation_name=\"chat\",gen_ai_provider_name="
		"\"openai\",gen_ai_request_model=\"m\",gen_ai_token_type=\"input\"} 400"));
	CHECK(has(
		"gen_ai_client_token_usage_sum{gen_ai_operation_name=\"chat\",gen_ai_provider_name="
		"\"openai\",gen_ai_request_model=\"m\",gen_ai_token_type=\"output\"} 20"));
	metrics_free(m);
}

TEST(servers_tools_count_under_their_server)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_TOOL_CALLED,
		.tool = {.name = "docs__read_1234", .code = "ok", .lasted_ms = 250}});
	CHECK(has("parley_mcp_call_seconds_sum{server=\"docs\",outcome=\"ok\"} 0.250"));
	CHECK(!has("parley_tool_call_seconds_count{tool=\"docs__read_1234\",outcome=\"ok\"} 1"));
	metrics_free(m);
}

TEST(writes_to_the_memory_count_by_their_result)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){.type = EVENT_MEMORY_WRITTEN,
				.memory = {.source = "asked", .inserted = 2, .duplicate = 1}});
	CHECK(has("parley_memory_writes_total{result=\"inserted\",source=\"asked\"} 2"));
	CHECK(has("parley_memory_writes_total{result=\"duplicate\",source=\"asked\"} 1"));
	CHECK(!has("parley_memory_writes_total{result=\"refused\",source=\"asked\"} 0"));
	metrics_free(m);
}

TEST(sessions_of_speech_to_text_count_when_they_open_and_why_they_close)
{
	CHECK_INT(metrics_alloc(&m), 0);
	for (unsigned i = 0; i < 2; i++)
		take((struct bus_event){.type = EVENT_ASR_SESSION,
					.asr = {.state = "opened", .why = ""}});
	take((struct bus_event){.type = EVENT_ASR_SESSION,
				.asr = {.state = "closed", .why = "idle_ttl"}});
	CHECK(has("parley_asr_sessions_opened_total 2"));
	CHECK(has("parley_asr_sessions_closed_total{reason=\"idle_ttl\"} 1"));
	metrics_free(m);
}

/* They are end to end: their sum is the delay of the first sound, and none of them is a time since
 * the end of speech. */
TEST(the_chain_of_decisions_gives_the_stages)
{
	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "answered",
			 .first_audio_ms = 1700,
			 .lasted_ms = -1,
			 .why = "[{\"rule\":\"endpointing\",\"yes\":true,\"value\":400},"
				"{\"rule\":\"memory\",\"yes\":false,\"value\":300},"
				"{\"rule\":\"asked\",\"yes\":true,\"value\":1000},"
				"{\"rule\":\"first_audio\",\"yes\":true,\"value\":700},"
				"{\"rule\":\"interrupt_classifier\",\"yes\":true,\"value\":90},"
				"{\"rule\":\"barge_in\",\"yes\":true,\"value\":1}]"}});
	/* The first sound did not come: the value is the limit. */
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "brain_failed",
			 .first_audio_ms = -1,
			 .lasted_ms = -1,
			 .why = "[{\"rule\":\"asked\",\"yes\":true,\"value\":100},"
				"{\"rule\":\"first_audio\",\"yes\":false,\"value\":9000}]"}});
	CHECK(has("parley_turn_stage_seconds_sum{stage=\"endpointing\"} 0.400"));
	CHECK(has("parley_turn_stage_seconds_sum{stage=\"transcription\"} 0.300"));
	CHECK(has("parley_turn_stage_seconds_sum{stage=\"memory\"} 0.300"));
	CHECK(has("parley_turn_stage_seconds_sum{stage=\"model\"} 0.700"));
	CHECK(has("parley_turn_stage_seconds_count{stage=\"model\"} 1"));
	CHECK(has("parley_turn_stage_seconds_count{stage=\"floor\"} 0"));
	CHECK(has("parley_interrupt_classifier_seconds_count 1"));
	CHECK(has("parley_interruptions_total{kind=\"barge_in\"} 1"));
	metrics_free(m);
}

static bool is_rule(const char *name)
{
	for (unsigned i = 0; i < ROOM_RULE_COUNT; i++)
		if (strcmp(room_rule_name(i), name) == 0)
			return true;
	return false;
}

/* A rule that is renamed would leave its stage empty. */
TEST(stages_and_interruptions_are_rules_of_the_room)
{
	static const char *const timed[] = {"endpointing",	   "classifier_allow", "room_quiet",
					    "defer_wait",	   "memory",	       "asked",
					    "interrupt_classifier"};

	for (unsigned i = 0; i < sizeof timed / sizeof timed[0]; i++)
		CHECK(is_rule(timed[i]));
#define I(rule) CHECK(is_rule(#rule));
	METRIC_INTERRUPTIONS(I)
#undef I
}

static void tell_call(uint64_t guild, uint64_t received, uint64_t late)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATS,
				.call_stats = {.received = received, .late_frames = late}};

	metrics_take_media(m, guild, &msg);
}

TEST(drops_of_the_kernel_add_up_over_calls)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATS, .call_stats = {.kernel_dropped = 3}};

	CHECK_INT(metrics_alloc(&m), 0);
	metrics_take_media(m, 1, &msg);
	metrics_take_media(m, 2, &msg);
	msg.call_stats.kernel_dropped = 5;
	metrics_take_media(m, 1, &msg);
	msg.call_stats.kernel_dropped = 6;
	metrics_take_media(m, 2, &msg);
	CHECK(has("parley_packets_kernel_dropped_total 5"));
	metrics_free(m);
}

static void tell_user(uint64_t guild, uint64_t user, uint64_t lost, uint64_t outage_ms)
{
	struct media_msg msg = {.type = MEDIA_USER_STATS,
				.user_stats = {.user = user, .lost = lost, .outage_ms = outage_ms}};

	metrics_take_media(m, guild, &msg);
}

TEST(statistics_of_mediad_add_up_over_calls_and_speakers)
{
	struct media_msg other = {.type = MEDIA_CALL_STATE};

	CHECK_INT(metrics_alloc(&m), 0);
	metrics_take_media(m, 1, &other);
	tell_call(1, 0, 0);
	tell_call(1, 100, 2);
	tell_call(1, 150, 2);
	tell_call(2, 0, 0);
	tell_call(2, 1000, 0);
	/* The call began anew. */
	tell_call(1, 30, 1);
	tell_user(1, 7, 5, 0);
	tell_user(1, 8, 1, 1500);
	tell_user(1, 7, 6, 250);
	CHECK(has("parley_packets_received_total 1180"));
	CHECK(has("parley_tick_overruns_total 3"));
	CHECK(has("parley_frames_lost_total 7"));
	CHECK(has("parley_deaf_seconds_total 1.750"));
	metrics_free(m);
}

/* Control was started again, and the call had its trouble hours ago. */
TEST(a_call_that_is_older_than_control_counts_from_now_on)
{
	CHECK_INT(metrics_alloc(&m), 0);
	tell_call(1, 100000, 200);
	tell_user(1, 7, 500, 40000);
	CHECK(has("parley_tick_overruns_total 0") && has("parley_deaf_seconds_total 0.000"));
	tell_call(1, 100250, 201);
	tell_user(1, 7, 502, 40500);
	tell_user(1, 8, 3, 0); /* a new speaker */
	CHECK(has("parley_packets_received_total 250") && has("parley_tick_overruns_total 1"));
	CHECK(has("parley_frames_lost_total 5") && has("parley_deaf_seconds_total 0.500"));
	metrics_free(m);
}

/* A hundred guilds with 60 speakers each are more than it follows: what it forgets counts again,
 * but nothing breaks. */
TEST(statistics_of_more_speakers_than_are_followed)
{
	CHECK_INT(metrics_alloc(&m), 0);
	for (unsigned round = 1; round <= 2; round++)
		for (uint64_t guild = 1; guild <= 100; guild++)
			for (uint64_t user = 1; user <= 60; user++)
				tell_user(guild << 22, user << 22, round, 0);
	CHECK(!has("parley_frames_lost_total 0"));
	metrics_free(m);
}

/* Whatever happens, a scrape has no more series than this (docs/operations.md). */
TEST(a_scrape_is_limited)
{
	struct counters c = {{0}};
	unsigned lines = 0;
	char *text, *at;

	CHECK_INT(metrics_alloc(&m), 0);
	for (unsigned i = 0; i < 200; i++) {
		char x[24], tool[32];

		snprintf(x, sizeof x, "x-%u", i);
		snprintf(tool, sizeof tool, "x%u__tool", i);
		take((struct bus_event){
			.type = EVENT_TURN,
			.turn = {.reason = room_reason_name(i % ROOM_REASON_COUNT)}});
		take((struct bus_event){.type = EVENT_TOOL_CALLED,
					.tool = {.name = x, .code = "ok"}});
		take((struct bus_event){.type = EVENT_TOOL_CALLED,
					.tool = {.name = tool, .code = "ok"}});
		take((struct bus_event){.type = EVENT_FAULT, .fault = {.fault = x}});
		take((struct bus_event){.type = EVENT_SPEECH_DROPPED, .speech = {.reason = x}});
		take((struct bus_event){.type = EVENT_ENGINE_DOWN,
					.engine = {.role = "text", .provider = x}});
		take((struct bus_event){
			.type = EVENT_ENGINE_USED,
			.usage = {.role = "text", .provider = x, .model = x, .text_in = 1}});
	}
	tell_call(1, 1, 1);
	tell_user(1, 1, 1, 1);
	text = metrics_write(m, &c, &(struct metrics_now){0});
	for (at = text; at && (at = strchr(at, '\n')); at++)
		lines += at[1] && at[1] != '#';
	CHECK(lines > 3000);
	CHECK(lines <= 5000);
	free(text);
	metrics_free(m);
}

/* A rule that looks for an increase sees the first one, too. */
TEST(what_may_happen_is_counted_from_nothing)
{
	CHECK_INT(metrics_alloc(&m), 0);
	metrics_expect_fault(m, "KEYLESS");
	CHECK(has("parley_call_faults_total{fault=\"KEYLESS\"} 0"));
	CHECK(has("parley_interruptions_total{kind=\"barge_in\"} 0"));
	take((struct bus_event){.type = EVENT_ENGINE_UP,
				.engine = {.role = "voice", .provider = "openai"}});
	CHECK(has("parley_engine_down_total{role=\"voice\",provider=\"openai\"} 0"));
	take((struct bus_event){.type = EVENT_FAULT, .fault = {.fault = "KEYLESS"}});
	CHECK(has("parley_call_faults_total{fault=\"KEYLESS\"} 1"));
	metrics_free(m);
}

TEST(labels_are_limited)
{
	char name[24];

	CHECK_INT(metrics_alloc(&m), 0);
	for (unsigned i = 0; i < METRIC_VALUES + 5; i++) {
		snprintf(name, sizeof name, "reason-%u", i);
		take((struct bus_event){.type = EVENT_SPEECH_DROPPED, .speech = {.reason = name}});
	}
	take((struct bus_event){.type = EVENT_SPEECH_DROPPED, .speech = {.reason = "reason-0"}});
	CHECK(has("parley_speech_dropped_total{reason=\"reason-0\"} 2"));
	CHECK(has("parley_speech_dropped_total{reason=\"reason-63\"} 1"));
	CHECK(!has("parley_speech_dropped_total{reason=\"reason-64\"} 1"));
	CHECK(has("parley_speech_dropped_total{reason=\"other\"} 5"));
	CHECK(has("parley_voice_sessions 2"));
	metrics_free(m);
}

TEST_OOM(metrics_without_memory)
{
	struct counters c = {{0}};
	char *text;

	if (metrics_alloc(&m))
		return;
	take((struct bus_event){.type = EVENT_FAULT, .fault = {.fault = "a"}});
	text = metrics_write(m, &c, &(struct metrics_now){0});
	CHECK(!text || strstr(text, "parley_faults_total 0\n"));
	free(text);
	metrics_free(m);
}

/* The metric of this name in an export. */
static const json_t *exported(const json_t *root, const char *name)
{
	const json_t *r = json_array_get(json_object_get(root, "resourceMetrics"), 0);
	const json_t *s = json_array_get(json_object_get(r, "scopeMetrics"), 0), *metric;
	size_t i;

	json_array_foreach(json_object_get(s, "metrics"), i, metric)
	{
		if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0)
			return metric;
	}
	return NULL;
}

static const json_t *first_point(const json_t *metric, const char *kind)
{
	return json_array_get(json_object_get(json_object_get(metric, kind), "dataPoints"), 0);
}

TEST(calls_without_a_brain_are_told)
{
	struct counters c = {{0}};
	char *text;

	CHECK_INT(metrics_alloc(&m), 0);
	text = metrics_write(m, &c, &(struct metrics_now){.brains = 3, .brains_up = 1});
	CHECK(strstr(text, "\nparley_brains 3\n") && strstr(text, "\nparley_brains_up 1\n"));
	free(text);
	metrics_free(m);
}

static json_t *export(const struct metrics_now *now)
{
	struct counters c = {{0}};
	char *text = metrics_write_otlp(m, &c, now, 1790000060000);
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	return root;
}

TEST(an_export_has_the_same_figures_in_the_form_of_opentelemetry)
{
	const json_t *point, *counts;
	json_t *root;

	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){
		.type = EVENT_TURN,
		.turn = {.reason = "answered", .first_audio_ms = 450, .lasted_ms = 40000}});
	root = export(&(struct metrics_now){.started_ms = 1790000000000, .spent_nano = 1500000000});
	point = first_point(exported(root, "parley.turn_first_audio"), "histogram");
	CHECK_STR(json_string_value(json_object_get(point, "count")), "1");
	CHECK_STR(json_string_value(json_object_get(point, "timeUnixNano")), "1790000060000000000");
	counts = json_object_get(point, "bucketCounts");
	CHECK_INT(json_array_size(counts),
		  json_array_size(json_object_get(point, "explicitBounds")) + 1);
	CHECK_STR(json_string_value(json_array_get(counts, 4)), "1");
	point = first_point(exported(root, "parley.turn"), "histogram");
	counts = json_object_get(point, "bucketCounts");
	/* 40 s are above every bound. */
	CHECK_STR(json_string_value(json_array_get(counts, json_array_size(counts) - 1)), "1");
	point = first_point(exported(root, "parley.cost_today"), "gauge");
	CHECK(json_real_value(json_object_get(point, "asDouble")) > 1.49);
	CHECK(exported(root, "parley.calls_up") != NULL);
	CHECK(exported(root, "parley.tool_call") == NULL);
	json_decref(root);
	metrics_free(m);
}

TEST(tokens_keep_opentelemetry_s_own_names)
{
	const json_t *point, *attribute;
	json_t *root;

	CHECK_INT(metrics_alloc(&m), 0);
	take((struct bus_event){.type = EVENT_ENGINE_USED,
				.usage = {.role = "text",
					  .provider = "main",
					  .model = "mini",
					  .text_in = 20,
					  .text_out = 5}});
	root = export(&(struct metrics_now){0});
	point = first_point(exported(root, "gen_ai.client.token.usage"), "histogram");
	attribute = json_array_get(json_object_get(point, "attributes"), 0);
	CHECK_STR(json_string_value(json_object_get(attribute, "key")), "gen_ai.operation.name");
	json_decref(root);
	metrics_free(m);
}

TEST_OOM(an_export_survives_without_memory)
{
	if (metrics_alloc(&m))
		return;
	take((struct bus_event){.type = EVENT_TURN, .turn = {.reason = "answered"}});
	json_decref(export(&(struct metrics_now){0}));
	metrics_free(m);
}
