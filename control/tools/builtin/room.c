/* Tools that act in the room, or look at what was said in it (builtins.h). */
#include <errno.h>

#include "control/tools/builtin/inside.h"
#include "proto/media.h"

static const char *text_of(const json_t *arguments, const char *key)
{
	const char *text = json_string_value(json_object_get(arguments, key));

	return text ? text : "";
}

int builtin_say_to_text_channel(struct builtins *b, const struct tool_start *call,
				const json_t *arguments)
{
	int err = b->host.writeh(text_of(arguments, "text"), b->host.arg);

	return err ? err : builtin_give(b, call->id, json_pack("{s:b}", "written", 1));
}

int builtin_soundboard(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	return b->host.soundh(call->id, text_of(arguments, "name"), b->host.arg);
}

int builtin_voice_leave(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	int err = b->host.leaveh(call->turn, call->user, b->host.arg);

	(void)arguments;
	return err ? err
		   : builtin_give(
			     b, call->id,
			     json_pack("{s:s}", "note", "you leave when you have said goodbye"));
}

int builtin_voice_join(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	int err = b->host.joinh(call->turn, call->user, text_of(arguments, "channel"), b->host.arg);

	return err ? err
		   : builtin_give(b, call->id,
				  json_pack("{s:s}", "note", "you go there when you have said so"));
}

/* The summary of the call is the note: the room keeps it for the next questions. Strangers' text
 * could dictate a note that later turns take for the model's own. */
int builtin_note_context(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	if (call->tainted) {
		b->host.outputh(call->id, false,
				slice_str("no notes are kept after text of strangers was read"),
				b->host.arg);
		return 0;
	}
	return builtin_give(b, call->id, json_pack("{s:s}", "noted", text_of(arguments, "text")));
}
