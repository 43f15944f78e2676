#include "control/room/answer/output_state.h"

#include "control/room/base/context.h"
#include "control/room/base/turns.h"

static const char *const reasons[] = {
	[ROOM_OUTPUT_IDLE] = "idle",
	[ROOM_OUTPUT_RESPONSE_PENDING] = "pending_response",
	[ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS] = "awaiting_tool_outputs",
	[ROOM_OUTPUT_SPEAKING_LIVE] = "bot_audio_live",
	[ROOM_OUTPUT_SPEAKING_BUFFERED] = "bot_audio_buffered",
};

static enum room_output_phase derive_phase(const struct room_output_input *f)
{
	if (f->answering && f->released)
		return f->started && !f->paused ? ROOM_OUTPUT_SPEAKING_LIVE
						: ROOM_OUTPUT_SPEAKING_BUFFERED;
	if (f->tools)
		return ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS;
	return f->answering ? ROOM_OUTPUT_RESPONSE_PENDING : ROOM_OUTPUT_IDLE;
}

struct room_output_state room_output_state(const struct room_output_input *f)
{
	struct room_output_state s = {.phase = derive_phase(f)};

	s.locked = f->music || s.phase != ROOM_OUTPUT_IDLE;
	s.reason = reasons[s.phase];
	if (s.phase == ROOM_OUTPUT_IDLE && f->inactive)
		s.reason = "session_inactive";
	else if (s.phase == ROOM_OUTPUT_IDLE && f->music)
		s.reason = "music_playback_active";
	return s;
}

struct room_output_state room_output_derive(const struct room_context *context, bool paused,
					    unsigned tools)
{
	const struct room_turn *t = room_turn_active(context);
	struct room_output_input f = {.inactive = context->over || !context->up};

	if (t && t->phase != ROOM_PHASE_CLOSING) {
		f.answering = true;
		f.released = t->released;
		f.started = t->first_audio_at != 0;
		f.paused = paused;
		f.tools = tools;
	}
	return room_output_state(&f);
}
