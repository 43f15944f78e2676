/* Tools of shared screens (builtins.h): each becomes a request to the host, which gives the output.
 */
#include "control/tools/builtin/inside.h"

#include <string.h>

#include "proto/media.h"

static int ask(const struct builtins *b, const struct tool_start *call, enum tool_screen_op op,
	       const json_t *arguments)
{
	const char *target = json_string_value(json_object_get(arguments, "target"));
	const char *question = json_string_value(json_object_get(arguments, "question"));
	const char *mode = json_string_value(json_object_get(arguments, "mode"));
	const char *url = json_string_value(json_object_get(arguments, "url"));

	return b->host.screenh(
		call->id,
		&(struct tool_screen){
			.op = op,
			.user = call->user,
			.turn = call->turn,
			.shared = call->shared,
			.all = json_is_true(json_object_get(arguments, "all")),
			.target = target ? target : "",
			.question = question ? question : "",
			.url = url ? url : "",
			.mode = mode ? mode : "",
			.sound = !json_is_false(json_object_get(arguments, "includeAudio"))},
		b->host.arg);
}

#define OF_OP(name, OP)                                                                            \
	int builtin_##name(struct builtins *b, const struct tool_start *call,                      \
			   const json_t *arguments)                                                \
	{                                                                                          \
		return ask(b, call, TOOL_SCREEN_##OP, arguments);                                  \
	}
OF_OP(start_screen_watch, WATCH)
OF_OP(stop_screen_watch, UNWATCH)
OF_OP(list_screen_shares, LIST)
OF_OP(see_screenshare_snapshot, SEE)
OF_OP(start_music_visualizer, VISUALIZE)
OF_OP(stop_video_share, SHOW_END)

/* The address tells its server what the model puts into it, as that of music does. */
int builtin_play_video_url(struct builtins *b, const struct tool_start *call,
			   const json_t *arguments)
{
	static const char why[] = "after words of others only addresses that web_search returned "
				  "or a person gave are shown";
	const char *url = json_string_value(json_object_get(arguments, "url"));
	bool is_file = url && strncmp(url, "file:", 5) == 0;

	if (is_file || call->agreed || builtin_web_may_open(b, call, url ? url : ""))
		return ask(b, call, TOOL_SCREEN_SHOW, arguments);
	b->host.outputh(call->id, false, slice_str(why), b->host.arg);
	return 0;
}
