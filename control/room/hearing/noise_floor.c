#include "control/room/hearing/noise_floor.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"

static uint32_t current_level(const struct room_noise_floor *n, const struct settings *s,
			      uint64_t now)
{
	uint64_t halves = now > n->at ? (now - n->at) / (s->noise_floor_half_s * NS_PER_S) : 0;

	return halves < 32 ? n->rms >> halves : 0;
}

void room_noise_floor_update(struct room_noise_floor *n, const struct settings *s, uint32_t rms,
			     bool speech, uint64_t now)
{
	uint32_t floor = current_level(n, s, now);

	if (!speech && rms > floor)
		floor += (rms - floor) / 2;
	else if (speech && rms / 4 < floor)
		floor = rms / 4;
	n->rms = floor < s->noise_floor_max ? floor : s->noise_floor_max;
	n->at = now;
}

uint32_t room_noise_floor_threshold(const struct room_noise_floor *n, const struct settings *s,
				    uint64_t now)
{
	return 2 * current_level(n, s, now);
}
