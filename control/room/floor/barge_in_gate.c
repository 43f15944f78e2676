#include "control/room/floor/barge_in_gate.h"

#include "control/settings/settings.h"

static const char *const names[] = {
#define X(NAME, name, text) #name,
	ROOM_GATES(X)
#undef X
};

const char *room_gate_name(unsigned gate)
{
	return gate < ROOM_GATE_COUNT ? names[gate] : "?";
}

/* Whether there is an answer that can be stopped. */
static enum room_gate check_output(const struct settings *s, const struct room_gate_input *in)
{
	if (in->ending)
		return ROOM_GATE_SESSION_ENDING;
	if (in->stopping)
		return ROOM_GATE_BARGE_IN_SUPPRESSED;
	if (!in->locked)
		return ROOM_GATE_OUTPUT_UNLOCKED;
	if (!in->answering)
		return ROOM_GATE_MUSIC_ONLY_PLAYBACK;
	if (!in->heard)
		return ROOM_GATE_PENDING_RESPONSE_PRE_AUDIO;
	if (in->heard_ms < s->echo_guard_ms)
		return ROOM_GATE_ECHO_GUARD_ACTIVE;
	if (in->immune_ms)
		return ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY;
	if (in->over)
		return ROOM_GATE_NO_ACTIVE_BOT_SPEECH;
	return ROOM_GATE_ALLOWED;
}

enum room_gate room_gate(const struct settings *s, const struct room_gate_input *in)
{
	enum room_gate gate = check_output(s, in);

	if (gate != ROOM_GATE_ALLOWED)
		return gate;
	if (!in->user)
		return ROOM_GATE_MISSING_USER_ID;
	if (in->finalizing)
		return ROOM_GATE_SPEAKING_END_FINALIZE_PENDING;
	if (!in->allowed)
		return ROOM_GATE_INTERRUPTION_POLICY_DENIED;
	if (in->read_out && in->age_ms < s->barge_in_age_ms)
		return ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK;
	if (in->voice_ms < s->barge_in_ms || !in->promoted)
		return ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES;
	if (in->active <= s->noise_active && in->peak <= s->noise_peak)
		return ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE;
	if (in->voice_active < s->barge_in_active || in->voice_peak < s->barge_in_peak)
		return ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE_DURING_BOT_SPEECH;
	return ROOM_GATE_ALLOWED;
}
