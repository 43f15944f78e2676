#include "control/room/answer/output_state.h"

#include "control/room/inside.h"

static const char *const reasons[] = {
	[ROOM_STANDING_IDLE] = "idle",
	[ROOM_STANDING_RESPONSE_PENDING] = "pending_response",
	[ROOM_STANDING_AWAITING_TOOL_OUTPUTS] = "awaiting_tool_outputs",
	[ROOM_STANDING_SPEAKING_LIVE] = "bot_audio_live",
	[ROOM_STANDING_SPEAKING_BUFFERED] = "bot_audio_buffered",
};

static enum room_standing_phase phase(const struct room_standing_facts *f)
{
	if (f->answering && f->let_out)
		return f->started && !f->paused ? ROOM_STANDING_SPEAKING_LIVE
						: ROOM_STANDING_SPEAKING_BUFFERED;
	if (f->tools)
		return ROOM_STANDING_AWAITING_TOOL_OUTPUTS;
	return f->answering ? ROOM_STANDING_RESPONSE_PENDING : ROOM_STANDING_IDLE;
}

struct room_standing room_standing(const struct room_standing_facts *f)
{
	struct room_standing s = {.phase = phase(f)};

	s.locked = f->music || s.phase != ROOM_STANDING_IDLE;
	s.reason = reasons[s.phase];
	if (s.phase == ROOM_STANDING_IDLE && f->inactive)
		s.reason = "session_inactive";
	else if (s.phase == ROOM_STANDING_IDLE && f->music)
		s.reason = "music_playback_active";
	return s;
}

struct room_standing room_stands(const struct room *room)
{
	const struct room_turn *t = room->active;
	struct room_standing_facts f = {.inactive = room->over || !room->up};

	if (t && t->phase != ROOM_PHASE_CLOSING) {
		f.answering = true;
		f.let_out = t->let_out;
		f.started = t->first_audio_at != 0;
		f.paused = room->voice.turn == t->id && room->voice.lowered == ROOM_PAUSE;
		f.tools = room->ladder.tools;
	}
	return room_standing(&f);
}

void room_stood(struct room *room)
{
	enum room_standing_phase phase = room_stands(room).phase;

	if (room->stood.phase == phase)
		return;
	room->stood.phase = phase;
	room->stood.at = room->now;
}
