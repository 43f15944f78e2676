/* The barge-in gate: decides whether a voice over the bot's speech may stop it, by duration, level
 * and state. The first row of enum room_gate that fits decides. Only audible answers are spoken
 * over, and only frames above barge_in_active and barge_in_peak count as voice. Words are not
 * examined here; see answer/barge_in.h. */
#ifndef CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H
#define CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum room_gate {
	ROOM_GATE_ECHO_GUARD_ACTIVE,		 /* the bot has only just begun to speak */
	ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY,	 /* the answer holds the floor by a lease */
	ROOM_GATE_SPEAKING_END_FINALIZE_PENDING, /* the utterance is over */
	ROOM_GATE_INTERRUPTION_POLICY_DENIED,	 /* this speaker may not interrupt */
	ROOM_GATE_ECHO_OF_THE_BOT,		 /* it can be the bot's own voice */
	/* the capture is too young to stop synthesised text */
	ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK,
	ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES,	/* too little voiced audio */
	ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE, /* the capture is hardly louder than noise */
	ROOM_GATE_ALLOWED,			/* the voice stops the bot */
};

struct room_gate_input {
	uint64_t heard_ms;     /* since the answer's first sample was played */
	uint64_t immune_ms;    /* remaining protection by an output lease */
	bool finalizing;       /* the end of speaking was reported */
	bool allowed;	       /* by the policy */
	bool echo;	       /* no words, from a microphone that returns the bot's voice */
	bool read_out;	       /* the answer is synthesised text, not a voice model */
	uint64_t age_ms;       /* of the utterance */
	uint64_t voice_ms;     /* voiced and over the answer */
	bool promoted;	       /* it counts as speech */
	uint32_t active, peak; /* of the utterance */
};

enum room_gate room_gate(const struct settings *s, const struct room_gate_input *in);

#endif
