/* The main gateway, version 10 ("Gateway", "Gateway Events", "Opcodes and Status Codes"): plain ws,
 * JSON, with zlib-stream when asked.
 *
 * A *session* is what a bot gets for an Identify; it outlives its WebSocket for main_resume_ms and
 * keeps what it was sent for a Resume. A new Identify of the same bot takes the place of the older
 * session; when a session ends in any other way than by a Resume, the bot leaves its voice channels
 * and its voice sessions are closed with 4014. */
#ifndef GUILDD_GATEWAY_H
#define GUILDD_GATEWAY_H

#include "tests/guildd/guildd.h"

#define GD_INTENT_GUILDS	 (1u << 0)
#define GD_INTENT_MEMBERS	 (1u << 1)
#define GD_INTENT_EXPRESSIONS	 (1u << 3)
#define GD_INTENT_VOICE_STATES	 (1u << 7)
#define GD_INTENT_PRESENCES	 (1u << 8)
#define GD_INTENT_MESSAGES	 (1u << 9)
#define GD_INTENT_REACTIONS	 (1u << 10)
#define GD_INTENT_MESSAGE_TYPING (1u << 11)
#define GD_INTENT_CONTENT	 (1u << 15)
#define GD_INTENTS_PRIVILEGED	 (GD_INTENT_MEMBERS | GD_INTENT_PRESENCES | GD_INTENT_CONTENT)
/* Bits that exist: 0..16, 20, 21, 24, 25. */
#define GD_INTENTS_ALL 0x331ffffu

struct gd_gateway;

/* Opens the server on guildd's address. Caller owns *out. */
int gd_gateway_alloc(struct gd_gateway **out, struct guildd *g);
struct gd_gateway *gd_gateway_free(struct gd_gateway *gw);
/* "ws://IP:PORT". Borrowed. */
const char *gd_gateway_url(const struct gd_gateway *gw);

/* The session_id of a bot's READY; NULL when the user has no main session. Borrowed. */
const char *gd_gateway_session(const struct gd_gateway *gw, uint64_t user);

/* Dispatches to the bots in the guild whose intents have all bits of `intent` (0 = none is needed).
 * Steals d. */
void gd_gateway_event(struct guildd *g, uint64_t guild, uint64_t intent, const char *name,
		      json_t *d);
/* GUILD_MEMBER_UPDATE of this user: it needs an intent, except for the one it is about. Steals d.
 */
void gd_gateway_member(struct guildd *g, const struct gd_guild *guild, uint64_t user, json_t *d);
/* To one bot, whatever its intents; nothing when the user has no session. Steals d. false when
 * nobody got it. */
bool gd_gateway_event_user(struct guildd *g, uint64_t user, const char *name, json_t *d);
/* MESSAGE_CREATE, MESSAGE_UPDATE: content only for those with the intent, the author, and who is
 * mentioned. message is borrowed. */
void gd_gateway_message(struct guildd *g, const char *name, const json_t *message);
/* What happened to a message, told to the bots that see its channel and have the intent (of
 * servers; for direct messages the one that is theirs). The guild's id is added. Steals d. */
void gd_gateway_about(struct guildd *g, const struct gd_channel *c, uint64_t intent,
		      const char *name, json_t *d);
/* A bot became a member of a guild. */
void gd_gateway_guild(struct guildd *g, uint64_t user, const struct gd_guild *guild);
/* Ends what a bot has: for a changed token or a reset. */
void gd_gateway_forget(struct gd_gateway *gw, uint64_t user);

/* Faults for tests; false when the bot has no connection. */
bool gd_gateway_close(struct gd_gateway *gw, uint64_t user, uint16_t code, const char *reason);
bool gd_gateway_abort(struct gd_gateway *gw, uint64_t user);
/* A message as is, e.g. op 7, or op 9 with d. d is borrowed. */
bool gd_gateway_send(struct gd_gateway *gw, uint64_t user, int op, const json_t *d);
/* Makes a session unknown, as after a long outage: Resume gets op 9. */
bool gd_gateway_invalidate(struct gd_gateway *gw, uint64_t user);
/* For GET /stats; caller owns it. */
json_t *gd_gateway_json(const struct gd_gateway *gw);

#endif
