/* Tools of music (builtins.h): each becomes a request to the host, which gives the output. */
#include <string.h>

#include "control/tools/builtin/inside.h"
#include "proto/media.h"

enum { TRACKS = 5 };

static const char *text_of(const json_t *arguments, const char *key)
{
	const char *text = json_string_value(json_object_get(arguments, key));

	return text ? text : "";
}

static int number_of(const json_t *arguments, const char *key, int otherwise)
{
	const json_t *v = json_object_get(arguments, key);

	return json_is_number(v) ? (int)json_number_value(v) : otherwise;
}

static int ask(const struct builtins *b, const struct tool_start *call, struct tool_music what)
{
	what.user = call->user;
	what.turn = call->turn;
	return b->host.musich(call->id, &what, b->host.arg);
}

int builtin_music_search(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	return ask(
		b, call,
		(struct tool_music){.op = TOOL_MUSIC_SEARCH,
				    .query = text_of(arguments, "query"),
				    .most = (unsigned)number_of(arguments, "max_results", TRACKS)});
}

int builtin_music_play(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	return ask(b, call,
		   (struct tool_music){.op = TOOL_MUSIC_PLAY,
				       .query = text_of(arguments, "query"),
				       .selection = text_of(arguments, "selection_id"),
				       .platform = text_of(arguments, "platform"),
				       .place = number_of(arguments, "index", -1)});
}

int builtin_music_queue_add(struct builtins *b, const struct tool_start *call,
			    const json_t *arguments)
{
	bool next = strcmp(text_of(arguments, "position"), "next") == 0;

	return ask(b, call,
		   (struct tool_music){.op = TOOL_MUSIC_ADD,
				       .query = text_of(arguments, "query"),
				       .selection = text_of(arguments, "selection_id"),
				       .platform = text_of(arguments, "platform"),
				       .tracks = json_object_get(arguments, "tracks"),
				       .place = next ? 1 : number_of(arguments, "position", -1)});
}

int builtin_play_music_url(struct builtins *b, const struct tool_start *call,
			   const json_t *arguments)
{
	static const char why[] = "after words of others only addresses that web_search returned "
				  "or a person gave are played";
	const char *url = text_of(arguments, "url");

	if (call->agreed || builtin_web_may_open(b, call, url))
		return ask(b, call,
			   (struct tool_music){.op = TOOL_MUSIC_PLAY, .url = url, .place = -1});
	b->host.outputh(call->id, false, slice_str(why), b->host.arg);
	return 0;
}

int builtin_media_reply_handoff(struct builtins *b, const struct tool_start *call,
				const json_t *arguments)
{
	return ask(
		b, call,
		(struct tool_music){.op = TOOL_MUSIC_HANDOFF, .mode = text_of(arguments, "mode")});
}

int builtin_music_change(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	return ask(b, call, (struct tool_music){.op = TOOL_MUSIC_CHANGE, .changes = arguments});
}

/* Tools without arguments. */
#define OF_OP(name, OP)                                                                            \
	int builtin_##name(struct builtins *b, const struct tool_start *call,                      \
			   const json_t *arguments)                                                \
	{                                                                                          \
		(void)arguments;                                                                   \
		return ask(b, call, (struct tool_music){.op = TOOL_MUSIC_##OP});                   \
	}
OF_OP(music_pause, PAUSE)
OF_OP(music_resume, RESUME)
OF_OP(music_skip, SKIP)
OF_OP(music_now_playing, STATUS)
OF_OP(media_pause, PAUSE)
OF_OP(media_resume, RESUME)
OF_OP(media_stop, STOP)
OF_OP(media_status, STATUS)
