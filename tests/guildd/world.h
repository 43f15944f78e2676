/* The state of this Discord: users, bots, guilds, roles, channels, members, voice states. Plain
 * data with search; the code that changes it notifies the gateways (calls.h, api.h). Pure. The
 * world owns every object until it is removed or the world is freed. Ids are snowflakes: u64 here,
 * decimal strings in JSON. */
#ifndef GUILDD_WORLD_H
#define GUILDD_WORLD_H

#include "tests/guildd/perm.h"
#include "tests/guildd/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	GD_CHANNEL_TEXT = 0,
	GD_CHANNEL_DM = 1,
	GD_CHANNEL_VOICE = 2,
	GD_CHANNEL_CATEGORY = 4,
	GD_CHANNEL_THREAD = 11,
	GD_CHANNEL_PRIVATE_THREAD = 12,
	GD_CHANNEL_STAGE = 13,
	GD_CHANNEL_FORUM = 15,
	GD_JOINED = 32, /* members of a thread */
	GD_NAME = 101,
	GD_SECRET = 65,		/* session ids and tokens with their NUL */
	GD_MAX_MESSAGES = 5000, /* kept per channel */
};

#define GD_DEFAULT_GUILD 41771983423143937ull
#define GD_DEFAULT_TEXT	 127121515262115841ull
#define GD_DEFAULT_VOICE 127121515262115840ull
#define GD_DEFAULT_BOT	 900ull
#define GD_DEFAULT_TOKEN "guildd.bot.token"

struct gd_user {
	uint64_t id;
	char name[GD_NAME], global_name[GD_NAME];
	bool bot;
};

/* An application and its bot user; the two share one id. */
struct gd_bot {
	struct gd_user *user;
	char token[128];
	uint64_t privileged; /* intents that were enabled in the developer portal */
	json_t *commands;    /* global ones, array */
	json_t *application; /* fields of its application that a test set; NULL */
};

struct gd_role {
	uint64_t id, permissions;
	uint64_t bot; /* whose own role it is; 0: nobody's */
	char name[GD_NAME];
};

struct gd_member {
	struct gd_user *user;
	struct gd_vec roles; /* of struct gd_role, borrowed from the guild */
	bool mute, deaf;     /* by the server */
	char nick[GD_NAME];  /* "": none */
	char timeout[40];    /* communication_disabled_until; "": none */
};

struct gd_channel {
	uint64_t id, guild;
	int type;
	char name[GD_NAME], status[501], region[32];
	unsigned position, bitrate, user_limit;
	uint64_t category; /* 0: it is in none */
	struct gd_overwrite *over;
	size_t n_over;
	struct gd_vec messages; /* json_t, oldest first */
	uint64_t last_message;
	/* of threads: */
	uint64_t parent, owner;
	bool archived, locked;
	uint64_t joined[GD_JOINED];
	size_t n_joined;
	uint64_t person, bot; /* of direct messages, whose guild is 0 */
	bool closed;	      /* the person takes none of the bot */
};

/* One user's presence in a voice channel, with the lease for its voice server: session and token
 * are good for one Identify. */
struct gd_vstate {
	uint64_t guild, user, channel;
	char session[GD_SECRET], token[GD_SECRET];
	bool used; /* the pair was shown to the voice gateway */
	bool self_mute, self_deaf, self_stream, suppress;
	uint64_t requested_ms; /* to speak; wall time, 0 = no */
};

struct gd_guild {
	uint64_t id, owner;
	char name[GD_NAME];
	struct gd_vec channels, members, roles, vstates;
	json_t *commands; /* of this guild by application id: object of arrays */
	json_t *sounds;	  /* of its soundboard: array of Discord's objects; NULL for none */
};

struct gd_world {
	struct gd_vec users, bots, guilds, dms;
	uint64_t next_id;
	uint64_t last_at; /* of gd_world_id_at */
};

int gd_world_alloc(struct gd_world **out);
struct gd_world *gd_world_free(struct gd_world *w);
/* The guild, channels, bot and users that a start without configuration has. */
int gd_world_defaults(struct gd_world *w, bool long_ids);

/* A new id that nothing has. */
uint64_t gd_world_id(struct gd_world *w);
/* The same as a snowflake of that time (ms since 1970), greater than all before. */
uint64_t gd_world_id_at(struct gd_world *w, uint64_t now_ms);
/* The time of a snowflake. */
uint64_t gd_id_ms(uint64_t id);

/* Makers: id 0 = choose one. EEXIST when taken, ENOMEM. *out (may be NULL) is borrowed. */
int gd_user_add(struct gd_world *w, struct gd_user **out, uint64_t id, const char *name);
/* Makes the user when there is none. privileged: see struct gd_bot. EEXIST also for a token in use.
 */
int gd_bot_add(struct gd_world *w, struct gd_bot **out, uint64_t id, const char *name,
	       const char *token, uint64_t privileged);
int gd_guild_add(struct gd_world *w, struct gd_guild **out, uint64_t id, const char *name,
		 uint64_t owner);
int gd_channel_add(struct gd_world *w, struct gd_channel **out, struct gd_guild *g, uint64_t id,
		   int type, const char *name);
/* The channel of their direct messages, made when there is none. ENOMEM. */
int gd_dm_open(struct gd_world *w, struct gd_channel **out, uint64_t person, uint64_t bot);
int gd_role_add(struct gd_world *w, struct gd_role **out, struct gd_guild *g, uint64_t id,
		const char *name, uint64_t permissions);
/* EEXIST when already a member. */
int gd_member_add(struct gd_member **out, struct gd_guild *g, struct gd_user *u);
/* ENOENT; EBUSY: in a voice channel. */
int gd_member_remove(struct gd_guild *g, uint64_t user);
/* Sets, replaces or (allow = deny = 0) takes away an overwrite. */
int gd_overwrite_set(struct gd_channel *c, const struct gd_overwrite *o);
void gd_channel_remove(struct gd_world *w, struct gd_channel *c);
int gd_vstate_add(struct gd_vstate **out, struct gd_guild *g, uint64_t user, uint64_t channel);
void gd_vstate_remove(struct gd_guild *g, struct gd_vstate *v);
/* Keeps a message (reference taken), drops the oldest past the cap. */
int gd_message_keep(struct gd_channel *c, json_t *message);

/* Finders: NULL when there is none. */
struct gd_user *gd_user_find(const struct gd_world *w, uint64_t id);
/* The first user who is no bot. */
struct gd_user *gd_user_person(const struct gd_world *w);
struct gd_bot *gd_bot_find(const struct gd_world *w, uint64_t id);
struct gd_bot *gd_bot_by_token(const struct gd_world *w, const char *token);
struct gd_guild *gd_guild_find(const struct gd_world *w, uint64_t id);
struct gd_channel *gd_channel_find(const struct gd_world *w, uint64_t id);
struct gd_member *gd_member_find(const struct gd_guild *g, uint64_t user);
struct gd_role *gd_role_find(const struct gd_guild *g, uint64_t id);
struct gd_vstate *gd_vstate_find(const struct gd_guild *g, uint64_t user);
json_t *gd_message_find(const struct gd_channel *c, uint64_t id, size_t *at);

bool gd_channel_is_voice(const struct gd_channel *c);
bool gd_channel_is_thread(const struct gd_channel *c);
unsigned gd_channel_count(const struct gd_guild *g, uint64_t channel);
/* Permissions in the channel (c may be NULL: in the guild). 0 for who is no member. */
uint64_t gd_permissions(const struct gd_guild *g, uint64_t user, const struct gd_channel *c);

#endif
