/* Tools of music (builtins.h). */
#include "control/tools/builtin/inside.h"

enum { TRACKS = 5 };

int builtin_music_search(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	const json_t *most = json_object_get(arguments, "max_results");

	return b->host.musich(call->id, json_string_value(json_object_get(arguments, "query")),
			      json_is_number(most) ? (unsigned)json_number_value(most) : TRACKS,
			      b->host.arg);
}
