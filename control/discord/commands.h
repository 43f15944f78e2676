/* The commands and menus of the application: registering them and answering them.
 *
 * Discord expects an answer within 3 seconds, and joining takes longer. A command is therefore
 * deferred first (type 5). Once Discord has accepted that, the handler gets the command, and its
 * answer replaces the deferred one. What commands.def has as AT_ONCE is answered without that
 * (type 4). An answer mentions nobody. */
#ifndef CONTROL_DISCORD_COMMANDS_H
#define CONTROL_DISCORD_COMMANDS_H

#include <stdint.h>

#include <jansson.h>

#include "control/discord/command_table.h"

struct commands;
struct env;
struct rest;
struct words;

/* The command was deferred and is to be carried out. */
typedef void(command_h)(struct command *cmd, void *arg);
/* commands_waiting gives another list. May be NULL. */
typedef void(commands_changed_h)(void *arg);

/* Discord accepts the answer to an interaction for 15 minutes; a little of that is for the way. */
enum { COMMAND_ANSWER_MS = 14 * 60 * 1000, COMMANDS_WAITING_MAX = 256 };
/* A command whose deferral takes longer than this no longer holds up later ones of its server. */
enum { COMMAND_ORDER_MS = 2000 };
/* A reply that Discord could not take is sent again after this, as long as it accepts one. */
enum { COMMAND_REPLY_AGAIN_MS = 2000 };

/* env and rest are borrowed. EINVAL, ENOMEM. Caller owns *out, and frees it after rest. */
int commands_alloc(struct commands **out, struct env *env, struct rest *rest, command_h *h,
		   commands_changed_h *changedh, void *arg);
/* Until then everything is deferred. readyh: whether the handler would answer a command AT_ONCE
 * before it returns. */
typedef bool(command_ready_h)(void *arg);
void commands_answer_at_once(struct commands *c, command_ready_h *readyh);
/* Called with each command that is refused because too many wait. */
typedef void(command_refused_h)(void *arg);
void commands_tell_refused(struct commands *c, command_refused_h *refusedh);
/* Ends all waiting commands without an answer; their holders must not use them any more. */
struct commands *commands_free(struct commands *c);
/* Overwrites the application's global commands with ours. */
int commands_register(struct commands *c, uint64_t application);
/* Takes an INTERACTION_CREATE, which came at this wall time: defers it, then calls the handler.
 * When COMMANDS_WAITING_MAX wait already, its user reads that they should try again. Interactions
 * that are not our commands are ignored. The deferred answer may be the previous control's: a
 * command is carried out again only if its message shows that it has no answer yet. /join and
 * /leave of one server are carried out in the order in which they came; one that the next had to
 * overtake is not carried out any more. When the first 3 s have passed without one, Discord takes
 * no answer any more, and the channel is told instead. */
void commands_interaction(struct commands *c, const json_t *d, uint64_t wall_ms);
/* The commands that wait for their answers, as interactions that the next control can take; those
 * that were carried out have the member "reply", which Discord does not have yet, and those that a
 * later command was carried out before have "overtaken". A secret: they hold tokens. New reference,
 * NULL without memory. */
json_t *commands_waiting(const struct commands *c);
/* Takes over such a list; what has become too old by now is dropped. Nothing is sent before
 * commands_resume. */
void commands_inherit(struct commands *c, json_t *list, uint64_t wall_ms);
/* Carries out what was taken over for this server; 0: for every one. */
void commands_resume(struct commands *c, uint64_t guild);
/* Replaces the deferred answer; the holder must not use cmd any more. */
void command_reply(struct command *cmd, const struct words *words);
/* The same with components (control/discord/components.h), which are stolen. */
void command_reply_with(struct command *cmd, const struct words *words, json_t *components);
/* A text of any length: what a message cannot hold is a file beside its beginning. */
void command_reply_text(struct command *cmd, const char *text);
/* Called once: the message that the reply is, once Discord has it; 0: it gets none, or the commands
 * are freed. */
typedef void(command_shown_h)(uint64_t message, void *arg);
void command_reply_shown(struct command *cmd, const char *text, command_shown_h *h, void *arg);

#endif
