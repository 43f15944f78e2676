/* Numbers of Discord's main gateway and REST, generated from proto/discord.def. */
#ifndef PROTO_DISCORD_H
#define PROTO_DISCORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/discord.def"

enum discord_opcode {
#define X(NAME, num) DISCORD_OP_##NAME = num,
	DISCORD_OPCODES(X)
#undef X
};
enum discord_intent {
#define X(NAME, bit, privileged) DISCORD_INTENT_##NAME = 1u << bit,
	DISCORD_INTENTS(X)
#undef X
};
#define DISCORD_PERMISSION(bit) (UINT64_C(1) << (bit))
enum discord_permission_bit {
#define X(NAME, bit, text) DISCORD_BIT_##NAME = bit,
	DISCORD_PERMISSIONS(X)
#undef X
};
enum discord_error {
#define X(code, NAME, text) DISCORD_ERROR_##NAME = code,
	DISCORD_ERRORS(X)
#undef X
};
enum discord_channel_type {
#define X(NAME, num) DISCORD_CHANNEL_##NAME = num,
	DISCORD_CHANNEL_TYPES(X)
#undef X
};

/* The reaction to a close code of the main gateway. */
enum discord_close_action {
	DISCORD_CLOSE_RESUME,	/* connect again and resume */
	DISCORD_CLOSE_IDENTIFY, /* connect again with a new session */
	DISCORD_CLOSE_FATAL,	/* never connect again with the same settings */
};
enum discord_close_action discord_close_action(unsigned code);
/* A clause for people; "the connection was lost" for codes that are not in the table. */
const char *discord_close_text(unsigned code);
/* A clause for people, or NULL when the code is not in the table. */
const char *discord_error_text(unsigned code);
/* "connect" …, or NULL when the bit is not in the table. */
const char *discord_permission_text(unsigned bit);

/* A snowflake in decimal, 1..20 digits and nothing else. False (out untouched) otherwise or for 0.
 */
bool discord_snowflake(const char *text, uint64_t *out);
/* True if an account can have this id: 17 digits at least. Snowflakes count milliseconds since 2015
 * in their upper 42 bits, and had 16 digits in its first four weeks alone, before Discord opened.
 */
bool discord_is_account(uint64_t id);
/* A decimal string of 64 bits, as permissions are sent; 0 is allowed. */
bool discord_u64(const char *text, uint64_t *out);

#endif
