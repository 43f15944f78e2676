/* The table of the application's commands (commands.def): their registration, and interactions that
 * use them, checked against it. Pure.
 *
 * Discord checks what a user gives against the registration, but an older one may be in use while a
 * new one spreads. An option that the table does not have, or has with another type, is passed
 * over; a text that is too long is none. */
#ifndef CONTROL_DISCORD_COMMAND_TABLE_H
#define CONTROL_DISCORD_COMMAND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/commands.def"

enum {
	COMMAND_SAY_CHARACTERS = 150, /* of up to four bytes */
	COMMAND_QUESTION_CHARACTERS = 600,
	COMMAND_URL_CHARACTERS = 2000,
	COMMAND_NAME_CHARACTERS = 100,
	COMMAND_VALUE_CHARACTERS = 500,
	COMMAND_TASK_CHARACTERS = 2000,
	COMMAND_NUMBER_MOST = 1000000,
	COMMAND_FACT_CHARACTERS = 400, /* MEMORY_TEXT_MAX bytes hold most languages' words */
};

enum command_kind {
#define X(NAME, ...) COMMAND_##NAME,
	COMMANDS(X)
#undef X
		COMMAND_COUNT
};

/* A command that waits for its answer. Owned by struct commands; its holder gives it back with
 * command_reply. */
enum { COMMAND_USER_NAME = 64 };

struct command {
	enum command_kind kind;
	uint64_t id;	       /* of the interaction */
	uint64_t guild, user;  /* guild 0: it was used in a direct message */
	uint64_t in;	       /* the channel where it was used */
	uint64_t parent;       /* of a thread its channel or forum; 0: it is none */
	const json_t *options; /* those of the interaction; borrowed as member is */
	const json_t *member;  /* the user who asks, with roles; borrowed from the interaction;
				  NULL in a direct message */
	char name[COMMAND_USER_NAME]; /* of the user, as others see it in the server; "": not told
				       */
	const char *locale; /* of their client ("de", "pt-BR"), "" if not told; borrowed */
	/* Of a menu: the message or user, and who wrote the message (0: nobody knows). */
	uint64_t target, target_user;
};

/* For logs and events: "join", "why_message". */
const char *command_name(enum command_kind kind);
/* True if the answer is shown to its user alone. */
bool command_is_private(const struct command *cmd);
/* True if its handler answers before it returns, and changes nothing. */
bool command_is_quick(const struct command *cmd);
/* "" without one. Borrowed. */
const char *command_subcommand(const struct command *cmd);
/* The value of an option: NULL, 0 or false without it. Borrowed. */
const char *command_text(const struct command *cmd, const char *name);
uint64_t command_channel(const struct command *cmd, const char *name);
bool command_flag(const struct command *cmd, const char *name);
uint64_t command_number(const struct command *cmd, const char *name);

/* Reads an interaction: 0, EBADMSG malformed, ENOENT not one of ours. *out borrows from it. */
int command_parse(const json_t *d, struct command *out);
/* What command_parse needs of it, without anything else: of the member their roles, of a message
 * its author. New reference, NULL without memory. */
json_t *command_extract(const json_t *d);

/* The body of the registration. New reference. */
json_t *commands_body(void);

#endif
