#include "control/room/floor/barge_in_gate.h"

#include "control/settings/settings.h"

enum room_gate room_gate(const struct settings *s, const struct room_gate_input *in)
{
	if (in->heard_ms < s->echo_guard_ms)
		return ROOM_GATE_ECHO_GUARD_ACTIVE;
	if (in->immune_ms)
		return ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY;
	if (in->finalizing)
		return ROOM_GATE_SPEAKING_END_FINALIZE_PENDING;
	if (!in->allowed)
		return ROOM_GATE_INTERRUPTION_POLICY_DENIED;
	if (in->echo)
		return ROOM_GATE_ECHO_OF_THE_BOT;
	if (in->read_out && in->age_ms < s->barge_in_age_ms)
		return ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK;
	if (in->voice_ms < s->barge_in_ms || !in->promoted)
		return ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES;
	if (in->active <= s->noise_active && in->peak <= s->noise_peak)
		return ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE;
	return ROOM_GATE_ALLOWED;
}
