/* Shared by the files of the built-in tools (builtins.h). For control/tools/builtin only. */
#ifndef CONTROL_TOOLS_BUILTIN_INSIDE_H
#define CONTROL_TOOLS_BUILTIN_INSIDE_H

#include "control/tools/builtin/builtins.h"
#include "control/tools/registry.h"

struct builtin_web;

struct builtins {
	struct tool_host host;
	struct builtin_web *web;
};

/* The start of one tool, with its arguments read. An errno: it failed. */
typedef int(builtin_start)(struct builtins *b, const struct tool_start *call,
			   const json_t *arguments);

builtin_start builtin_roll, builtin_time, builtin_stay_silent, builtin_voice_status,
	builtin_say_to_text_channel, builtin_soundboard, builtin_voice_leave, builtin_voice_join,
	builtin_note_context;
builtin_start builtin_conversation_search, builtin_memory_search, builtin_memory_write,
	builtin_memory_forget; /* memory.c */
builtin_start builtin_music_search, builtin_music_play, builtin_music_queue_add,
	builtin_music_pause, builtin_music_resume, builtin_music_skip, builtin_music_now_playing,
	builtin_music_change, builtin_play_music_url, builtin_media_pause, builtin_media_resume,
	builtin_media_stop, builtin_media_status, builtin_media_reply_handoff; /* music.c */
builtin_start builtin_start_screen_watch, builtin_stop_screen_watch, builtin_list_screen_shares,
	builtin_see_screenshare_snapshot, builtin_play_video_url, builtin_start_music_visualizer,
	builtin_stop_video_share;		    /* screens.c */
builtin_start builtin_image_lookup;		    /* images.c */
builtin_start builtin_web_search, builtin_web_read; /* web.c */

/* After words of others, which titles of music are as well, an address may carry what the model
 * knows to whoever wants to know it: false unless a search returned it or a person gave it. web.c
 */
bool builtin_web_may_open(const struct builtins *b, const struct tool_start *call, const char *url);

/* Gives the call's output, which is stolen. ENOMEM also when it is NULL. */
int builtin_give(struct builtins *b, uint32_t id, json_t *output);

#endif
