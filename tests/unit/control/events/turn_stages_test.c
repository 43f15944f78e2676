#include "control/events/turn_stages.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* "name start-end name start-end" */
static const char *stages(const char *why, int64_t first_ms, int64_t end_ms)
{
	static char text[400];
	json_t *list = turn_stages(why, first_ms, end_ms), *s;
	size_t i, n = 0;

	*text = '\0';
	json_array_foreach(list, i, s)
	{
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %d-%d", i ? " " : "",
				      json_string_value(json_object_get(s, "name")),
				      (int)json_integer_value(json_object_get(s, "startMs")),
				      (int)json_integer_value(json_object_get(s, "endMs")));
	}
	json_decref(list);
	return text;
}

TEST(the_stages_of_a_turn_follow_from_its_decisions)
{
	CHECK_STR(stages("[[\"endpointing\",1,200,200],[\"classifier_allow\",1,150,0],"
			 "[\"room_quiet\",1,50,0],[\"memory\",1,40,60],[\"asked\",1,700,0]]",
			 1500, 4000),
		  "endpointing 0-200 transcription 200-460 classifier 460-610 floor 610-660 "
		  "memory 660-700 model 700-1500 playback 1500-4000");
	/* Nobody was asked. */
	CHECK_STR(stages("[[\"endpointing\",1,200,200],[\"not_addressed\",1,0,0]]", -1, 600),
		  "endpointing 0-200 transcription 200-600");
	/* The model said nothing. */
	CHECK_STR(stages("[[\"asked\",1,300,0]]", -1, 900), "transcription 0-300 model 300-900");
	/* An answer that began before the silence had lasted. */
	CHECK_STR(stages("[[\"endpointing\",1,500,500],[\"asked\",1,100,0]]", 400, 900),
		  "endpointing 0-100 model 100-400 playback 400-900");
	/* As an event has it. */
	CHECK_STR(stages("[{\"rule\":\"endpointing\",\"yes\":true,\"value\":200},"
			 "{\"rule\":\"asked\",\"yes\":true,\"value\":700}]",
			 1500, 1500),
		  "endpointing 0-200 transcription 200-700 model 700-1500");
	CHECK_STR(stages("", -1, -1), "");
	CHECK_STR(stages("[1, [2], {\"a\": 1}]", -1, 10), "transcription 0-10");
}
