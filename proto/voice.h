/* Names and policy of the voice gateway: see proto/voice.def, the one table. */
#ifndef PROTO_VOICE_H
#define PROTO_VOICE_H

#include <stdint.h>

#include "proto/media.h"
#include "proto/voice.def"

enum voice_op {
#define OP(NAME, name, num) VOICE_OP_##NAME = num,
	VOICE_OPS(OP)
#undef OP
};

enum voice_close_action {
	VOICE_CLOSE_RESUME,
	VOICE_CLOSE_ONCE,
	VOICE_CLOSE_FRESH,
	VOICE_CLOSE_WAIT,
	VOICE_CLOSE_FATAL,
};

struct voice_close {
	uint16_t code;
	const char *name;
	enum voice_close_action action;
	enum media_reason reason;
	uint32_t cool_ms;
	unsigned tries;
	const char *text;
};

/* Returns the row of a close code, never NULL: a code without a row gets the row of its class (see
 * the table). */
const struct voice_close *voice_close_of(uint16_t code);

#endif
