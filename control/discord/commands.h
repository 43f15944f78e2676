/* The slash commands /join, /leave and /status: registering, answering.
 *
 * Discord wants an answer within 3 seconds, and joining takes longer: so the very first thing is to
 * defer (type 5); only when that was accepted is the command handed to its handler, and what comes
 * of it is edited into the deferred answer. The text of an answer never mentions anyone. */
#ifndef CONTROL_DISCORD_COMMANDS_H
#define CONTROL_DISCORD_COMMANDS_H

#include <stdint.h>

#include <jansson.h>

struct commands;
struct rest;
struct words;

/* C(NAME, name, takes a voice channel, its answer is for who asks alone); words_command_NAME
 * describes it */
#define COMMANDS(C)                                                                                \
	C(JOIN, join, true, false)                                                                 \
	C(LEAVE, leave, false, false)                                                              \
	C(STATUS, status, false, true)

enum command_kind {
#define X(NAME, name, channel, alone) COMMAND_##NAME,
	COMMANDS(X)
#undef X
};

/* One command that waits for its answer. Owned by struct commands; its holder ends it with
 * command_reply. */
struct command {
	enum command_kind kind;
	uint64_t guild, user;
	uint64_t channel;     /* option "channel", 0 when not given */
	const json_t *member; /* who asks, with their roles; borrowed from the interaction */
};
/* Deferred and to be carried out. */
typedef void(command_h)(struct command *cmd, void *arg);

/* rest is borrowed. EINVAL, ENOMEM. Caller owns *out, and frees it after rest. */
int commands_alloc(struct commands **out, struct rest *rest, command_h *h, void *arg);
/* Ends all that wait without an answer; holders must not use them any more. */
struct commands *commands_free(struct commands *c);
/* Overwrites the application's global commands with ours. */
int commands_register(struct commands *c, uint64_t application);
/* INTERACTION_CREATE: defers, then calls the handler. Others than our commands are ignored. */
void commands_interaction(struct commands *c, const json_t *d);
/* Edits the deferred answer; cmd is gone afterwards. */
void command_reply(struct command *cmd, const struct words *words);

/* The body of the registration, for tests and docs. New reference. */
json_t *commands_body(void);
/* Parses an interaction: 0, EBADMSG malformed, ENOENT not one of ours. For tests and fuzzing. */
int command_parse(const json_t *d, struct command *out);

#endif
