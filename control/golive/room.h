/* The voice channel that a stream is in: which encryption its call needs, and what is told there.
 * The call of a stream is new to mediad each time, so only control knows what the channel's own
 * call was. */
#ifndef CONTROL_GOLIVE_ROOM_H
#define CONTROL_GOLIVE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "control/media/media.h"

/* Borrowed for as long as streams live. */
struct golive_room {
	/* enum media_e2ee of a stream in this channel now. */
	unsigned (*e2eeh)(uint64_t guild, uint64_t channel, void *arg);
	/* Tells the room that a stream is not encrypted (MEDIA_REASON_NONE), or that it has ended
	 * for this reason. */
	void (*tellh)(uint64_t guild, unsigned media_reason, void *arg);
	void *arg;
};

/* want with the policy of this channel. */
struct media_want golive_room_want(const struct golive_room *r, uint64_t guild, uint64_t channel,
				   const struct media_want *want);
/* Gives the call the policy that holds now, if it has another one. */
void golive_room_update(const struct golive_room *r, struct media_call *call, uint64_t guild,
			uint64_t channel);
/* Tells the room once that a stream is in the clear. *told: it was; kept by the caller. */
void golive_room_secure(const struct golive_room *r, uint64_t guild,
			const struct media_call_secure *m, bool *told);

#endif
