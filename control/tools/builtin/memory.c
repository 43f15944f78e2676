/* Tools that look into what is remembered, or change it (builtins.h). */
#include <errno.h>

#include "control/memory/time_cue.h"
#include "control/tools/builtin/inside.h"
#include "ipc/env.h"

enum { HOURS = 168, MOST = 3 };
#define HOUR_MS UINT64_C(3600000)

static const char *text_of(const json_t *arguments, const char *key)
{
	const char *text = json_string_value(json_object_get(arguments, key));

	return text ? text : "";
}

static unsigned number_of(const json_t *arguments, const char *key, unsigned otherwise)
{
	const json_t *v = json_object_get(arguments, key);

	return json_is_number(v) ? (unsigned)json_number_value(v) : otherwise;
}

/* A time in the question is the window; code resolves it, because models count days badly. */
int builtin_conversation_search(struct builtins *b, const struct tool_start *call,
				const json_t *arguments)
{
	uint64_t now = env_wall_ms(b->host.env);
	uint64_t hours = number_of(arguments, "max_age_hours", HOURS);
	struct tool_said said = {.speaker = text_of(arguments, "speaker"),
				 .query = text_of(arguments, "query"),
				 .since_ms = now > hours * HOUR_MS ? now - hours * HOUR_MS : 0,
				 .most = number_of(arguments, "top_k", MOST)};
	struct time_window window;

	if (time_cue_find(said.query, now, (int32_t)builtin_utc_offset(b), &window)) {
		said.since_ms = window.since_ms;
		said.until_ms = window.until_ms;
	}
	return b->host.searchh(call->id, &said, b->host.arg);
}
