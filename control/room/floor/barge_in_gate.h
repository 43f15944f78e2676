/* The barge-in gate: decides whether a voice over the bot's speech may stop it, by duration, level
 * and state. The first row of ROOM_GATES (reasons.def) that fits decides. Words are not examined
 * here; see answer/barge_in.h. */
#ifndef CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H
#define CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/reasons.def"

struct settings;

enum room_gate {
#define X(NAME, name, text) ROOM_GATE_##NAME,
	ROOM_GATES(X)
#undef X
		ROOM_GATE_COUNT
};

struct room_gate_input {
	bool ending;	    /* the bot leaves */
	bool stopping;	    /* an interrupted answer fades */
	bool locked;	    /* an answer is under way, or music plays */
	bool answering;	    /* an answer is under way */
	bool heard;	    /* its first sample was played ... */
	uint64_t heard_ms;  /* ... this long ago */
	uint64_t immune_ms; /* remaining protection by an output lease */
	bool over;	    /* all of it was played */
	uint64_t user;
	bool finalizing;		   /* the end of speaking was reported */
	bool allowed;			   /* by the policy */
	bool read_out;			   /* the answer is synthesised text, not a voice model */
	uint64_t age_ms;		   /* of the utterance */
	uint64_t voice_ms;		   /* voiced and over the answer */
	bool promoted;			   /* it counts as speech */
	uint32_t active, peak;		   /* of the utterance */
	uint32_t voice_active, voice_peak; /* of the voiced overlap */
};

enum room_gate room_gate(const struct settings *s, const struct room_gate_input *in);
const char *room_gate_name(unsigned gate);

#endif
