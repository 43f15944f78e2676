#include "control/events/turn_stages.h"

#include <string.h>

/* Stages before the question, the last one first; the rules whose value is their duration. */
static const struct {
	const char *stage, *rules[2];
} before[] = {{"memory", {"memory"}},
	      {"floor", {"room_quiet", "defer_wait"}},
	      {"classifier", {"classifier_allow"}}};
enum { BEFORE = sizeof before / sizeof before[0] };

static const json_t *part(const json_t *decision, size_t i, const char *name)
{
	return json_is_array(decision) ? json_array_get(decision, i)
				       : json_object_get(decision, name);
}

/* The last value of this rule; below 0: it was not decided. */
static int64_t value_of(const json_t *why, const char *rule)
{
	const json_t *d;
	int64_t value = -1;
	size_t i;

	json_array_foreach(why, i, d)
	{
		const char *name = json_string_value(part(d, 0, "rule"));

		if (name && strcmp(name, rule) == 0)
			value = json_integer_value(part(d, 2, "value"));
	}
	return value;
}

static int64_t longest_of(const json_t *why, const char *const rules[2])
{
	int64_t most = 0;

	for (unsigned i = 0; i < 2 && rules[i]; i++) {
		int64_t ms = value_of(why, rules[i]);

		most = ms > most ? ms : most;
	}
	return most;
}

/* At the front of the list, where it takes time. */
static void put_stage(json_t *list, const char *name, int64_t start, int64_t end)
{
	if (end > start)
		json_array_insert_new(list, 0,
				      json_pack("{s:s,s:I,s:I}", "name", name, "startMs",
						(json_int_t)start, "endMs", (json_int_t)end));
}

json_t *turn_stages(const char *why, int64_t first_ms, int64_t end_ms)
{
	json_t *rules = json_loads(why ? why : "", 0, NULL), *list = json_array();
	int64_t asked = value_of(rules, "asked"), silence = value_of(rules, "endpointing");
	int64_t at = asked < 0 ? end_ms : asked;

	if (first_ms >= 0 && end_ms >= 0)
		put_stage(list, "playback", first_ms, end_ms);
	if (asked >= 0)
		put_stage(list, "model", asked, first_ms >= 0 ? first_ms : end_ms);
	for (unsigned i = 0; i < BEFORE && asked >= 0; i++) {
		int64_t ms = longest_of(rules, before[i].rules), from = at > ms ? at - ms : 0;

		put_stage(list, before[i].stage, from, at);
		at = from;
	}
	/* An answer may begin before the silence has lasted. */
	silence = silence < 0 ? 0 : silence < at ? silence : at;
	if (at >= 0) {
		put_stage(list, "transcription", silence, at);
		put_stage(list, "endpointing", 0, silence);
	}
	json_decref(rules);
	return list;
}
