/* Guild state from the main gateway: voice channels, roles, voice states, and the permissions that
 * follow from them.
 *
 * Pure. The state is one JSON document, so that it can be saved for the next control, which resumes
 * the session and receives only later changes. */
#ifndef CONTROL_DISCORD_GUILDS_H
#define CONTROL_DISCORD_GUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct guilds;

/* ENOMEM. Caller owns *out. */
int guilds_alloc(struct guilds **out);
struct guilds *guilds_free(struct guilds *g);
/* The bot's own user id. */
void guilds_set_self(struct guilds *g, uint64_t user);
uint64_t guilds_self(const struct guilds *g);

/* Applies one gateway event; false when it does not concern us or is malformed. */
bool guilds_event(struct guilds *g, const char *name, const json_t *d);
/* A new session begins, with READY's list of guilds: forgets the others, and keeps these as they
 * were last, as in an outage, until each one's GUILD_CREATE. */
void guilds_begin(struct guilds *g, const json_t *list);

/* The state of one guild as JSON (borrowed; voice session ids are not in it); NULL when nothing
 * is. */
const json_t *guilds_snapshot(const struct guilds *g, uint64_t guild);
/* Restores {guild: such a document, …}. EINVAL when it has another shape, as those of controls
 * that did not know of categories; then nothing changes. */
int guilds_restore(struct guilds *g, const json_t *snapshot);

/* The same of a session that is not resumed: keeps the names, and the threads, of which a new
 * session tells the active ones alone. Each guild is as in an outage until its GUILD_CREATE. */
void guilds_remember(struct guilds *g, const json_t *snapshot);

/* GUILD_CREATE arrived and the guild is not in an outage. During an outage its last state can still
 * be asked for: members who come and leave are not told. */
bool guilds_known(const struct guilds *g, uint64_t guild);
unsigned guilds_count(const struct guilds *g);
/* Name of a guild, "" when unknown. Borrowed. */
const char *guilds_name(const struct guilds *g, uint64_t guild);

/* [{"id", "name"}] of all guilds, and [{"id", "name", "type": "voice" or "stage"}] of a guild's
 * voice channels. NULL without memory; the caller owns them. */
json_t *guilds_list(const struct guilds *g);
json_t *guilds_channels(const struct guilds *g, uint64_t guild);

struct guild_channel {
	int type; /* enum discord_channel_type */
	uint32_t bitrate;
	uint32_t user_limit; /* 0: none */
	const char *name;    /* borrowed until the next event */
};
/* Voice and stage channels only. */
bool guilds_channel(const struct guilds *g, uint64_t guild, uint64_t channel,
		    struct guild_channel *out);

/* The channel in which this thread was started, or the forum of this post; *name: its title,
 * borrowed until the next event, "" of one that is archived. 0: it is no thread that is known. */
uint64_t guilds_thread(const struct guilds *g, uint64_t guild, uint64_t thread, const char **name);

/* The name of a channel or thread of whatever kind, "" when unknown. Borrowed until the next event.
 */
const char *guilds_channel_name(const struct guilds *g, uint64_t guild, uint64_t channel);
/* True if this channel or thread of whatever kind is known. */
bool guilds_has_channel(const struct guilds *g, uint64_t guild, uint64_t channel);
/* The guild of such a channel; 0: it is known in none. */
uint64_t guilds_of_channel(const struct guilds *g, uint64_t channel);
/* The category in which this channel is, or the channel or forum of this thread; 0: none is known.
 */
uint64_t guilds_category(const struct guilds *g, uint64_t guild, uint64_t channel);
/* The known threads of this channel or forum, archived ones, too, up to most. Returns how many. */
size_t guilds_threads(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t *to,
		      size_t most);

/* Those of the server that were archived last, up to most, the last first. Returns how many. */
size_t guilds_archived(const struct guilds *g, uint64_t guild, uint64_t *to, size_t most);

/* The voice or stage channel with this name, in any case; 0: there is none, or several. */
uint64_t guilds_channel_named(const struct guilds *g, uint64_t guild, const char *name);

struct guild_voice {
	uint64_t channel;
	bool mute, deaf, suppress; /* by the server */
	bool stream;		   /* the member streams ("Go Live") */
};
/* The voice state of a member; false when in no voice channel. */
bool guilds_voice(const struct guilds *g, uint64_t guild, uint64_t user, struct guild_voice *out);
/* This user is no member to anybody here: guilds_each and guilds_occupants leave it out. 0: nobody.
 */
void guilds_hide(struct guilds *g, uint64_t user);
/* Called for each guild in which the bot is in a voice channel. */
typedef void(guilds_call_h)(uint64_t guild, uint64_t channel, void *arg);
void guilds_each_call(const struct guilds *g, guilds_call_h *h, void *arg);
/* Number of members in a channel without the bot. */
unsigned guilds_occupants(const struct guilds *g, uint64_t guild, uint64_t channel);
/* Called for each member in a channel except the bot. name is borrowed during the call. */
typedef void(guilds_member_h)(uint64_t user, const char *name, bool is_bot, void *arg);
void guilds_each(const struct guilds *g, uint64_t guild, uint64_t channel, guilds_member_h *h,
		 void *arg);
/* Display name; NULL when unknown. Borrowed until the next event. */
const char *guilds_known_name(const struct guilds *g, uint64_t guild, uint64_t user);
/* The same; "someone" when unknown. */
const char *guilds_member_name(const struct guilds *g, uint64_t guild, uint64_t user);

/* True if the member holds the role. Everybody holds the one that has the guild's own id. */
bool guilds_has_role(const struct guilds *g, uint64_t guild, uint64_t user, uint64_t role);
/* The same for a member object that came with an event. NULL accepted. */
bool guilds_member_has_role(const json_t *member, uint64_t guild, uint64_t role);
/* True if Discord made the role for this bot, which alone holds it. */
bool guilds_is_own_role(const struct guilds *g, uint64_t guild, uint64_t role);
/* Permission bits of a member in a channel (Discord documentation, "Permission overwrites"). False
 * when the roles or the member are unknown. */
bool guilds_permissions(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t user,
			uint64_t *out);
/* The same for a member object that came with an event and holds the roles. */
bool guilds_permissions_as(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t user,
			   const json_t *member, uint64_t *out);
/* The bot's own in a channel of whatever kind, or in the channel of a thread; those of the server
 * in one that is not known. */
bool guilds_own_permissions(const struct guilds *g, uint64_t guild, uint64_t channel,
			    uint64_t *out);
/* True if the bot may write in this channel or thread, or nothing tells that it may not. */
bool guilds_may_write(const struct guilds *g, uint64_t guild, uint64_t channel);
/* The same of what needs all of these permissions. */
bool guilds_may(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t needed);
/* True if a moderator has the bot in a timeout now (ms since 1970), in which it may see and read
 * there and nothing else. Discord lets the owner and administrators go on. */
bool guilds_timed_out(const struct guilds *g, uint64_t guild, uint64_t now_ms);
/* ---- who may know what is said in a channel (guild_audience.c) ---- */
/* True if every member may see the channel and enter it. */
bool guilds_everybody_may_enter(const struct guilds *g, uint64_t guild, uint64_t channel);
/* True if every member may know what is said in this channel: one that they may enter, or a text
 * channel or public thread that they may read from its beginning. */
bool guilds_everybody_may_follow(const struct guilds *g, uint64_t guild, uint64_t channel);
/* True if everybody who reads the text channel or thread `read` may enter this one; judged by roles
 * alone, so that a channel that lets in single members is closed. */
bool guilds_readers_may_enter(const struct guilds *g, uint64_t guild, uint64_t read,
			      uint64_t channel);
/* The same of what guilds_everybody_may_follow tells. */
bool guilds_readers_may_follow(const struct guilds *g, uint64_t guild, uint64_t read,
			       uint64_t channel);
/* The server-wide ones of a member object, without overwrites of a channel: of a text channel,
 * which is not known here. */
bool guilds_member_permissions(const struct guilds *g, uint64_t guild, uint64_t user,
			       const json_t *member, uint64_t *out);
/* True if the member may manage the guild: its owner, an administrator, or by a role. member: as
 * above. */
bool guilds_manages(const struct guilds *g, uint64_t guild, uint64_t user, const json_t *member);
/* True if the member may bring others into the channel, which they see and may enter. */
bool guilds_may_move_to(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t user);

#endif
