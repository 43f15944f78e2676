/* Tools of shared screens (builtins.h): each becomes a request to the host, which gives the output.
 */
#include "control/tools/builtin/inside.h"

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
OF_OP(play_video_url, SHOW)
OF_OP(start_music_visualizer, VISUALIZE)
OF_OP(stop_video_share, SHOW_END)
