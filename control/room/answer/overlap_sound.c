#include "control/room/answer/overlap_sound.h"

#include <stddef.h>

#include "control/settings/settings.h"

enum { TENTH_DB = 10, TOLERANCE = 40, LOUDER_MAX = 50, SOFTER_MAX = 40, LEVEL_MAX = 200 };

/* The ratios of amplitude of 0.1, 0.2, ... 1 dB, in 2^-16: a sum of decibels is their product. */
static const uint32_t by_tenth[] = {65536, 66295, 67063, 67839, 68625,
				    69419, 70223, 71036, 71859, 72691};
enum { ONE_DB = 73533, UNIT = 16 };

int room_overlap_level(uint32_t rms, uint32_t own)
{
	uint64_t more = rms > own ? rms : own, less = rms > own ? own : rms, at = less;
	int level = 0;

	if (!less)
		return 0;
	more <<= UNIT;
	at <<= UNIT;
	while (level < LEVEL_MAX && (at * ONE_DB >> UNIT) <= more) {
		at = at * ONE_DB >> UNIT;
		level += TENTH_DB;
	}
	for (size_t i = sizeof by_tenth / sizeof by_tenth[0] - 1; i && level < LEVEL_MAX; i--)
		if ((at * by_tenth[i] >> UNIT) <= more) {
			level += (int)i;
			break;
		}
	return rms > own ? level : -level;
}

int room_overlap_credit(const struct settings *s, const struct room_overlap_sound *in)
{
	int credit = 0, whole = (int)s->barge_in_credit_ms;

	if (in->own) {
		int level = room_overlap_level(in->rms, in->own);

		credit = whole / 4;
		if (level > 0)
			credit += whole * (level < LOUDER_MAX ? level : LOUDER_MAX) / LOUDER_MAX;
		else if (level < -TOLERANCE - SOFTER_MAX)
			credit -= whole * SOFTER_MAX / TENTH_DB;
		else if (level < -TOLERANCE)
			credit += whole * (level + TOLERANCE) / TENTH_DB;
	}
	if (in->again)
		credit += whole / 2;
	if (in->exchange)
		credit -= 2 * whole;
	return credit;
}
