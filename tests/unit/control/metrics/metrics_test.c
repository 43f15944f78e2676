#include "control/metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/metrics/counters.h"
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
	CHECK(has("parley_cost_usd_total{provider=\"a\\\"b\\\\c\\n\"} 1.500000001"));
	metrics_free(m);
}

TEST(labels_are_limited)
{
	char name[24];

	CHECK_INT(metrics_alloc(&m), 0);
	for (unsigned i = 0; i < METRIC_VALUES + 5; i++) {
		snprintf(name, sizeof name, "fault-%u", i);
		take((struct bus_event){.type = EVENT_FAULT, .fault = {.fault = name}});
	}
	take((struct bus_event){.type = EVENT_FAULT, .fault = {.fault = "fault-0"}});
	CHECK(has("parley_call_faults_total{fault=\"fault-0\"} 2"));
	CHECK(has("parley_call_faults_total{fault=\"fault-63\"} 1"));
	CHECK(!has("parley_call_faults_total{fault=\"fault-64\"} 1"));
	CHECK(has("parley_call_faults_total{fault=\"other\"} 5"));
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
