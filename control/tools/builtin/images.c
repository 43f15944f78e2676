/* The tool image_lookup (builtins.h): a picture that somebody showed earlier is looked at again,
 * for what somebody wants to know now. The host finds and describes it. */
#include <errno.h>

#include "control/tools/builtin/inside.h"

static const char *text_of(const json_t *arguments, const char *key)
{
	const char *text = json_string_value(json_object_get(arguments, key));

	return text ? text : "";
}

int builtin_image_lookup(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	const struct tool_look what = {.user = call->user,
				       .turn = call->turn,
				       .query = text_of(arguments, "query"),
				       .question = text_of(arguments, "question"),
				       .url = text_of(arguments, "url")};

	return b->host.lookh ? b->host.lookh(call->id, &what, b->host.arg) : ENOTSUP;
}
