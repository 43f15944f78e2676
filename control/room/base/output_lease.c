#include "control/room/base/output_lease.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"

bool room_output_lease_grant(struct room_output_lease *l, enum room_output_lease_mode mode,
			     uint64_t spoken_at, uint64_t now)
{
	if (spoken_at || mode == ROOM_OUTPUT_LEASE_NONE || l->mode != ROOM_OUTPUT_LEASE_NONE)
		return false;
	*l = (struct room_output_lease){mode, now};
	return true;
}

bool room_output_lease_held(const struct room_output_lease *l, const struct settings *s,
			    uint64_t spoken_at, uint64_t now)
{
	uint64_t ms =
		l->mode == ROOM_OUTPUT_LEASE_ATOMIC ? s->lease_atomic_ms : s->lease_assertive_ms;

	return l->mode != ROOM_OUTPUT_LEASE_NONE && !spoken_at &&
	       now < l->granted_at + ms * NS_PER_MS;
}

uint64_t room_output_lease_immune_ms(const struct room_output_lease *l, const struct settings *s,
				     uint64_t spoken_at, uint64_t now)
{
	uint64_t ms = l->mode == ROOM_OUTPUT_LEASE_ATOMIC ? s->lease_atomic_immune_ms
							  : s->lease_assertive_immune_ms;
	uint64_t until = spoken_at + ms * NS_PER_MS;

	if (l->mode == ROOM_OUTPUT_LEASE_NONE || !spoken_at || now >= until)
		return 0;
	return (until - now + NS_PER_MS - 1) / NS_PER_MS;
}
