/* Turns as traces: ids, parents, times, and nobody's words. */
#include "control/otlp/trace.h"

#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "tests/test.h"

static const char *text_of(const json_t *span, const char *name)
{
	const char *text = json_string_value(json_object_get(span, name));

	return text ? text : "";
}

static const json_t *find(const json_t *list, const char *name)
{
	const json_t *span;
	size_t i;

	json_array_foreach(list, i, span)
	{
		if (strcmp(text_of(span, "name"), name) == 0)
			return span;
	}
	return NULL;
}

static struct bus_event turn(const char *reason)
{
	return (struct bus_event){
		.type = EVENT_TURN,
		.at_ms = 1790000010000,
		.guild = 42,
		.user = 501,
		.turn = {.session = 1789999000000,
			 .turn = 3,
			 .reason = reason,
			 .name = "alice",
			 .heard = "marzipan",
			 .said = "nougat",
			 .first_audio_ms = 900,
			 .lasted_ms = 6000,
			 .segments = "[{\"utterance\":7,\"text\":\"marzipan\",\"user\":\"501\"}]",
			 .why = "[{\"rule\":\"asked\",\"yes\":true,\"value\":200},"
				"{\"rule\":\"first_audio\",\"yes\":true,\"value\":700}]"}};
}

static void speak(json_t *list, struct otlp_speech *speech)
{
	otlp_add_spans(list, speech,
		       &(struct bus_event){.type = EVENT_UTTERANCE,
					   .at_ms = 1790000006150,
					   .guild = 42,
					   .utterance = {.session = 1789999000000,
							 .utterance = 7,
							 .text = "marzipan",
							 .started_ms = 1790000004000,
							 .ended_ms = 1790000006000}});
}

TEST(a_turn_is_a_trace_with_its_stages)
{
	struct otlp_speech speech = {0};
	struct bus_event ev = turn("answered");
	json_t *list = json_array();
	const json_t *root, *child;
	char *text;

	speak(list, &speech);
	otlp_add_spans(list, &speech, &ev);
	CHECK_INT(json_array_size(list), 5);
	root = find(list, "invoke_agent parley");
	CHECK(root != NULL && !json_object_get(root, "parentSpanId"));
	CHECK_STR(text_of(root, "startTimeUnixNano"), "1790000004000000000");
	CHECK_STR(text_of(root, "endTimeUnixNano"), "1790000010000000000");
	CHECK_INT(json_integer_value(json_object_get(json_object_get(root, "status"), "code")), 1);
	child = find(list, "model");
	CHECK_STR(text_of(child, "parentSpanId"), text_of(root, "spanId"));
	CHECK_STR(text_of(child, "traceId"), text_of(root, "traceId"));
	CHECK_STR(text_of(child, "startTimeUnixNano"), "1790000006200000000");
	CHECK_STR(text_of(child, "endTimeUnixNano"), "1790000006900000000");
	CHECK_STR(text_of(find(list, "speech_to_text"), "endTimeUnixNano"), "1790000006150000000");
	CHECK_STR(text_of(find(list, "playback"), "startTimeUnixNano"), "1790000006900000000");
	text = json_dumps(list, JSON_COMPACT);
	CHECK(!strstr(text, "marzipan") && !strstr(text, "nougat") && !strstr(text, "alice") &&
	      !strstr(text, "501"));
	free(text);
	json_decref(list);
}

TEST(what_comes_later_finds_its_trace)
{
	struct otlp_speech speech = {0};
	struct bus_event ev = turn("brain_failed");
	json_t *list = json_array();
	const json_t *root;

	otlp_add_spans(list, &speech, &ev);
	otlp_add_spans(list, &speech,
		       &(struct bus_event){.type = EVENT_TOOL_CALLED,
					   .at_ms = 1790000012000,
					   .guild = 42,
					   .tool = {.session = 1789999000000,
						    .turn = 3,
						    .call = 1,
						    .name = "clock",
						    .code = "timeout",
						    .lasted_ms = 500}});
	otlp_add_spans(list, &speech,
		       &(struct bus_event){.type = EVENT_ENGINE_USED,
					   .at_ms = 1790000012000,
					   .guild = 42,
					   .usage = {.session = 1789999000000,
						     .turn = 3,
						     .role = "text",
						     .provider = "p",
						     .model = "m"}});
	CHECK_INT(json_array_size(list), 3);
	root = find(list, "invoke_agent parley");
	/* Nobody knows when it was said: no stages. */
	CHECK_INT(json_integer_value(json_object_get(json_object_get(root, "status"), "code")), 2);
	CHECK_STR(text_of(find(list, "execute_tool clock"), "traceId"), text_of(root, "traceId"));
	CHECK_STR(text_of(find(list, "chat m"), "parentSpanId"), text_of(root, "spanId"));
	json_decref(list);
}

TEST(other_turns_are_other_traces)
{
	struct otlp_speech speech = {0};
	struct bus_event a = turn("answered"), b = turn("answered"), c = turn("answered");
	json_t *list = json_array();

	b.turn.turn = 4;
	c.guild = 43;
	otlp_add_spans(list, &speech, &a);
	otlp_add_spans(list, &speech, &b);
	otlp_add_spans(list, &speech, &c);
	CHECK_INT(json_array_size(list), 3);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(text_of(json_array_get(list, i), "traceId"),
				     text_of(json_array_get(list, k), "traceId")) != 0);
	/* An event beside any turn is no span. */
	otlp_add_spans(list, &speech, &(struct bus_event){.type = EVENT_TOOL_CALLED});
	otlp_add_spans(list, &speech, &(struct bus_event){.type = EVENT_FAULT});
	CHECK_INT(json_array_size(list), 3);
	json_decref(list);
}
