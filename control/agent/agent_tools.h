/* The tools of one room: performs what control/tools/run.h decides. Calls come from the engine that
 * answers, outputs go to its next ask, and the room gets an event for each (ROOM_TOOL). */
#ifndef CONTROL_AGENT_AGENT_TOOLS_H
#define CONTROL_AGENT_AGENT_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "proto/base/cursor.h"

struct agent;
struct agent_tools;
struct http;
struct roles_event;
struct room_effect;
struct room_turn;

/* Tells the roles which tools there are. http, borrowed, is for requests to services of the
 * settings. ENOMEM. *out stays NULL where the settings want none; all
 * functions accept that. The agent owns it. */
int agent_tools_alloc(struct agent_tools **out, struct agent *a, struct http *http);
struct agent_tools *agent_tools_free(struct agent_tools *t);

/* ENGINE_TOOL_CALL of an answer. */
void agent_tools_call(struct agent_tools *t, const struct roles_event *ev);
/* ENGINE_TOOL_REVOKED. */
void agent_tools_revoke(struct agent_tools *t, const struct roles_event *ev);
/* SEARCH_BEGAN, SEARCHED and SOURCE of an answer, whose provider searches the web by itself. */
void agent_tools_search(struct agent_tools *t, const struct roles_event *ev);
/* An event of ENGINE_USE_WORKER; cost: of USAGE, millionths of a dollar. */
void agent_tools_worker(struct agent_tools *t, const struct roles_event *ev, uint64_t cost);
/* Words of the answer, which stand before its calls. */
void agent_tools_words(struct agent_tools *t, const struct roles_event *ev);
/* Goes on with the turn's answer and the outputs that it waits for, or asks again. */
void agent_tools_ask_again(struct agent_tools *t, uint32_t turn);
/* TOOL_CANCEL, RECORD and ASK of the room; ASK before the question goes to the engine. */
void agent_tools_effect(struct agent_tools *t, const struct room_effect *e);
/* The tool of the call that the room makes because the turn's words agreed to it. NULL: none. */
const char *agent_tools_agreed(const struct agent_tools *t, uint32_t turn);
/* True if text of strangers was read in this voice session. t may be NULL. */
bool agent_tools_tainted(const struct agent_tools *t);
/* True if an answer of this turn may play the sound, by the policy of the tool soundboard. t may be
 * NULL. */
bool agent_tools_may_play(struct agent_tools *t, const struct agent *a, uint32_t turn);
/* The bot is heard from now on, or not any more. */
void agent_tools_audible(struct agent_tools *t, bool audible);
/* The sound of a tool plays, or cannot be played. False: it is none of a tool's. */
bool agent_tools_sounded(struct agent_tools *t, uint32_t turn, uint32_t chunk, int err);
/* [{"name", "toolType", "serverName"}]: the tools that models may call. t may be NULL. The
 * caller owns it. */
json_t *agent_tools_shown(const struct agent_tools *t);
/* The settings changed: other tools may be switched off. NULL accepted. */
void agent_tools_settings(struct agent_tools *t);
/* The turn's model is shown a screen, whose text is that of strangers: calls with effects need a
 * yes from now on. t may be NULL. */
void agent_tools_show(struct agent_tools *t, uint32_t turn);
/* The room goes on with a conversation of the control before, in which text of strangers was read.
 */
void agent_tools_recalled(struct agent_tools *t);
/* Words of this user are not told any more; heard: their calls go on. */
void agent_tools_forget(struct agent_tools *t, uint64_t user, bool heard);
void agent_tools_left(struct agent_tools *t, uint64_t user);
/* The output of a call: a tool_host's outputh, arg is the struct agent_tools or NULL. */
void agent_tools_output(uint32_t id, bool ok, struct slice text, void *arg);
/* A step of the room is over. */
void agent_tools_settle(struct agent_tools *t);

#endif
