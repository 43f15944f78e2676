/* May a voice over the bot's own stop it? The first row that fits answers; reasons.def has the
 * table (ROOM_GATES), in its order. Words are not asked here: see arbiter.h. */
#ifndef CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H
#define CONTROL_ROOM_FLOOR_BARGE_IN_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/reasons.def"

struct settings;

enum room_gate {
#define X(NAME, name, text) ROOM_GATE_##NAME,
	ROOM_GATES(X)
#undef X
		ROOM_GATE_COUNT
};

struct room_gate_input {
	bool ending;	    /* the bot leaves */
	bool stopping;	    /* its voice was cut and fades */
	bool locked;	    /* an answer is under way, or music plays */
	bool answering;	    /* of that: an answer */
	bool heard;	    /* its first sound left ... */
	uint64_t heard_ms;  /* ... so long ago */
	uint64_t immune_ms; /* a lease protects it for so long yet */
	bool over;	    /* nothing of it is left to be heard */
	uint64_t user;
	bool finalizing;		   /* this utterance was told to be over */
	bool allowed;			   /* by the policy */
	bool read_out;			   /* the answer is text read out, not a live voice */
	uint64_t age_ms;		   /* of the utterance */
	uint64_t voice_ms;		   /* voiced and over the answer */
	bool promoted;			   /* it counts as speech */
	uint32_t active, peak;		   /* of the utterance */
	uint32_t voice_active, voice_peak; /* of what is voiced over the answer */
};

enum room_gate room_gate(const struct settings *s, const struct room_gate_input *in);
const char *room_gate_name(unsigned gate);

#endif
