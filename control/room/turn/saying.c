#include "control/room/turn/saying.h"

#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/turn/history.h"
#include "control/settings/settings.h"

/* The bot's running answer, else its last one; "" if it has said nothing. */
static const char *find_last_answer(const struct room_context *context)
{
	const struct room_turn *active = room_turn_active(context);
	const struct room_history *h = context->history;

	if (active && active->answer[0])
		return active->answer;
	for (unsigned i = room_history_count(h); i-- > 0;)
		if (room_history_at(h, i)->bot)
			return room_history_at(h, i)->text;
	return "";
}

struct room_saying room_saying_of(const struct room_context *context, const char *text)
{
	return (struct room_saying){.text = text,
				    .over = find_last_answer(context),
				    .names = context->names,
				    .language = room_language_by_code(context->settings->language)};
}
