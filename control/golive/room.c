#include "control/golive/room.h"

#include "proto/media.h"

struct media_want golive_room_want(const struct golive_room *r, uint64_t guild, uint64_t channel,
				   const struct media_want *want)
{
	struct media_want allowed = *want;

	allowed.e2ee = (uint8_t)r->e2eeh(guild, channel, r->arg);
	return allowed;
}

void golive_room_update(const struct golive_room *r, struct media_call *call, uint64_t guild,
			uint64_t channel)
{
	struct media_want want = golive_room_want(r, guild, channel, media_call_want(call));

	if (want.e2ee != media_call_want(call)->e2ee)
		media_call_set(call, &want);
}

void golive_room_secure(const struct golive_room *r, uint64_t guild,
			const struct media_call_secure *m, bool *told)
{
	if (*told || !m->known || m->version || !m->ready)
		return;
	*told = true;
	r->tellh(guild, MEDIA_REASON_NONE, r->arg);
}
