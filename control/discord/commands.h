/* The slash commands /join, /leave and /status: registering them and answering them.
 *
 * Discord expects an answer within 3 seconds, and joining takes longer. Each command is therefore
 * deferred first (type 5). Once Discord has accepted that, the handler gets the command, and its
 * answer replaces the deferred one. An answer mentions nobody. */
#ifndef CONTROL_DISCORD_COMMANDS_H
#define CONTROL_DISCORD_COMMANDS_H

#include <stdint.h>

#include <jansson.h>

struct commands;
struct rest;
struct words;

/* C(NAME, name, takes a voice channel, its answer is ephemeral); words_command_NAME is its
 * description. */
#define COMMANDS(C)                                                                                \
	C(JOIN, join, true, false)                                                                 \
	C(LEAVE, leave, false, false)                                                              \
	C(STATUS, status, false, true)

enum command_kind {
#define X(NAME, name, channel, alone) COMMAND_##NAME,
	COMMANDS(X)
#undef X
};

/* A command that waits for its answer. Owned by struct commands; the holder ends it with
 * command_reply. */
struct command {
	enum command_kind kind;
	uint64_t guild, user;
	uint64_t channel;     /* option "channel", 0 when not given */
	const json_t *member; /* the user who asks, with roles; borrowed from the interaction */
};
/* The command was deferred and is to be carried out. */
typedef void(command_h)(struct command *cmd, void *arg);

/* rest is borrowed. EINVAL, ENOMEM. Caller owns *out, and frees it after rest. */
int commands_alloc(struct commands **out, struct rest *rest, command_h *h, void *arg);
/* Ends all waiting commands without an answer; their holders must not use them any more. */
struct commands *commands_free(struct commands *c);
/* Overwrites the application's global commands with ours. */
int commands_register(struct commands *c, uint64_t application);
/* Takes an INTERACTION_CREATE: defers it, then calls the handler. Interactions that are not our
 * commands are ignored. */
void commands_interaction(struct commands *c, const json_t *d);
/* Replaces the deferred answer and frees cmd. */
void command_reply(struct command *cmd, const struct words *words);

/* The body of the registration, for tests and docs. New reference. */
json_t *commands_body(void);
/* Parses an interaction: 0, EBADMSG malformed, ENOENT not one of ours. For tests and fuzzing. */
int command_parse(const json_t *d, struct command *out);

#endif
