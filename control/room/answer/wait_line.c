#include "control/room/answer/wait_line.h"

#include <string.h>

#include "control/room/answer/reply.h"
#include "control/room/answer/retry_policy.h"
#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/settings/settings.h"

const char *room_wait_line_text(const struct settings *s, enum room_wait_line line)
{
	return line == ROOM_WAIT_LINE_STILL ? s->tool_still_line : s->tool_wait_line;
}

void room_wait_line_say(struct room_retry *l, struct room_context *context, struct room_turn *t,
			enum room_wait_line line)
{
	struct room_effect *e;

	if (l->line || t->brain_done || room_speculative_holds(context, t->id))
		return;
	l->line = line;
	l->line_begun = false;
	t->sinks |= ROOM_SINK_TTS;
	e = room_emit(context, ROOM_DO_SPEAK);
	e->turn = t->id;
	e->chunk = ROOM_LINE_CHUNK;
	e->text = room_wait_line_text(context->settings, line);
}

void room_wait_line_end(struct room_retry *l, struct room_context *context, struct room_turn *t)
{
	if (!l->line)
		return;
	l->line = ROOM_WAIT_LINE_NONE;
	t->sinks &= ~(unsigned)ROOM_SINK_TTS;
	room_emit(context, ROOM_DO_SPEAK_CANCEL)->turn = t->id;
}

bool room_wait_line_on_speech(struct room_retry *l, struct room_context *context,
			      struct room_turn *t, const struct room_event *ev)
{
	if (!l->line)
		return false;
	if (ev->type != ROOM_SPEECH_AUDIO) {
		l->line = ROOM_WAIT_LINE_NONE;
		l->line_begun = false;
		t->sinks &= ~(unsigned)ROOM_SINK_TTS;
		return false;
	}
	/* Too late to be of use, or the answer is complete. */
	if (t->brain_done || (!l->line_begun && !l->tools)) {
		room_wait_line_end(l, context, t);
		return false;
	}
	if (ev->pcm.n < 2)
		return false;
	if (!l->line_begun) {
		const char *text = room_wait_line_text(context->settings, l->line);

		room_reply_add_text(context->reply, context, t,
				    (struct slice){(const uint8_t *)text, strlen(text)});
		room_reply_add_text(context->reply, context, t,
				    (struct slice){(const uint8_t *)" ", 1});
	}
	l->line_begun = true;
	return true;
}
