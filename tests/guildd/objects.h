/* Makes the JSON objects of Discord's API from the world (resources/user, guild, channel, message,
 * voice, application; events/gateway-events). Every maker returns an object that the caller owns,
 * or NULL without memory. Pure. */
#ifndef GUILDD_OBJECTS_H
#define GUILDD_OBJECTS_H

#include "tests/guildd/world.h"

/* A snowflake as a string. */
json_t *gd_id_json(uint64_t id);
/* Reads a snowflake: a string of digits only, as the API demands. 0 when it is something else. */
uint64_t gd_id(const json_t *v);
uint64_t gd_id_text(const char *s);
/* ISO 8601 in UTC. */
json_t *gd_time_json(uint64_t wall_ms);
/* u64 as a decimal string. */
json_t *gd_u64_json(uint64_t v);

json_t *gd_user_json(const struct gd_user *u);
/* with_user false: as in a message, where the author says who it is. */
json_t *gd_member_json(const struct gd_member *m, bool with_user);
json_t *gd_role_json(const struct gd_role *r);
json_t *gd_channel_json(const struct gd_channel *c);
/* Those of a guild without threads, and the active threads that this user sees. Caller owns them.
 */
json_t *gd_channels_json(const struct gd_guild *g);
json_t *gd_threads_json(const struct gd_guild *g, uint64_t user);
/* The sounds of its soundboard, as an array. */
json_t *gd_sounds_json(const struct gd_guild *g);
/* channel_id null when left is true. with_guild false inside GUILD_CREATE. */
json_t *gd_vstate_json(const struct gd_guild *g, const struct gd_vstate *v, bool left,
		       bool with_guild);
/* create: with channels, members and voice states, as in GUILD_CREATE. members: all, or only `self`
 * and who is in voice (what comes without the presence intent). */
json_t *gd_guild_json(const struct gd_guild *g, bool create, uint64_t self, bool all_members);
/* owner: its developer's account; NULL leaves the field out. */
json_t *gd_application_json(const struct gd_bot *b, const struct gd_user *owner);

struct gd_message_in {
	uint64_t id, channel, guild, now_ms;
	const struct gd_user *author;
	const struct gd_member *member; /* NULL for none */
	const char *content;
	int type; /* 0 plain, 19 reply, 20 answer to a command */
	uint32_t flags;
	const json_t *body; /* of the request: embeds, components, nonce, …; may be NULL */
};
/* Mentions are found in the content (<@id>). */
json_t *gd_message_json(const struct gd_world *w, const struct gd_message_in *in);
/* What a session without MESSAGE_CONTENT gets: a copy with content, embeds, attachments and
 * components empty. */
json_t *gd_message_blank(const json_t *message);
/* What this bot gets without the intent: the same unless it wrote the message, is mentioned in it,
 * or it is a direct one; so, too, of the message that it replies to. */
json_t *gd_message_for(const json_t *message, uint64_t bot);
bool gd_message_mentions(const json_t *message, uint64_t user);

#endif
