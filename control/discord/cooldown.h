/* How often one member of a server may use commands that cost money. A value in memory, without
 * pointers or I/O; all zero at first. */
#ifndef CONTROL_DISCORD_COOLDOWN_H
#define CONTROL_DISCORD_COOLDOWN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	COOLDOWN_MEMBERS = 256, /* the one who used none for the longest time gives way */
	COOLDOWN_MOST = 60,
};

struct cooldown {
	struct cooldown_member {
		uint64_t guild, user;
		uint64_t at[COOLDOWN_MOST]; /* ns: a ring of their last uses */
		unsigned n;		    /* ever */
	} of[COOLDOWN_MEMBERS];
};

/* Counts a use at `now` (ns, never decreasing). False: the member used `most` (at most
 * COOLDOWN_MOST) within the last minute, and this one does not count. */
bool cooldown_take(struct cooldown *c, uint64_t guild, uint64_t user, unsigned most, uint64_t now);

#endif
