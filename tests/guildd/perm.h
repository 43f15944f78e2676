/* Permissions of a member in a channel, computed as Discord documents it
 * (developers/topics/permissions, "Permission Overwrites"). Pure. */
#ifndef GUILDD_PERM_H
#define GUILDD_PERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_PERM_ADMINISTRATOR  (1ull << 3)
#define GD_PERM_REACT	       (1ull << 6)
#define GD_PERM_STREAM	       (1ull << 9)
#define GD_PERM_VIEW	       (1ull << 10)
#define GD_PERM_SEND	       (1ull << 11)
#define GD_PERM_MESSAGES       (1ull << 13) /* manage messages */
#define GD_PERM_ATTACH	       (1ull << 15)
#define GD_PERM_HISTORY	       (1ull << 16)
#define GD_PERM_CONNECT	       (1ull << 20)
#define GD_PERM_SPEAK	       (1ull << 21)
#define GD_PERM_MUTE	       (1ull << 22)
#define GD_PERM_DEAFEN	       (1ull << 23)
#define GD_PERM_MOVE	       (1ull << 24)
#define GD_PERM_VAD	       (1ull << 25)
#define GD_PERM_MANAGE_THREADS (1ull << 34)
#define GD_PERM_THREADS	       (1ull << 35) /* start public ones */
#define GD_PERM_SEND_THREADS   (1ull << 38)
#define GD_PERM_SOUNDBOARD     (1ull << 42)
#define GD_PERM_SOUNDS_OUT     (1ull << 45) /* sounds of other servers */
#define GD_PERM_STATUS	       (1ull << 48)
#define GD_PERM_ALL	       ((1ull << 53) - 1)
/* What @everyone may in a guild made without further words. */
#define GD_PERM_DEFAULT                                                                            \
	(GD_PERM_STREAM | GD_PERM_VIEW | GD_PERM_SEND | GD_PERM_CONNECT | GD_PERM_SPEAK |          \
	 GD_PERM_VAD | GD_PERM_REACT | 1ull << 14 | GD_PERM_ATTACH | GD_PERM_HISTORY |             \
	 1ull << 31 | GD_PERM_SOUNDBOARD | GD_PERM_STATUS | GD_PERM_THREADS |                      \
	 GD_PERM_SEND_THREADS)

struct gd_overwrite {
	uint64_t id; /* of a role or a member; the guild's id is @everyone */
	bool member;
	uint64_t allow, deny;
};

struct gd_perm_in {
	uint64_t guild, user, owner;
	uint64_t everyone;		       /* permissions of @everyone */
	const uint64_t *role_ids, *role_perms; /* the member's roles, without @everyone */
	size_t n_roles;
	bool channel; /* in a channel, not in the guild */
	const struct gd_overwrite *over;
	size_t n_over;
};

uint64_t gd_perm(const struct gd_perm_in *in);

#endif
