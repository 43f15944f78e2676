/* How loud it is around one speaker when they say nothing, learned from what turned out to be no
 * speech.
 *
 *   an utterance ended               the floor
 *   too quiet or without words       rises halfway to its loudness, at most noise_floor_max
 *   with words                       falls to a quarter of its loudness, if it was above
 *   (time)                           halves every noise_floor_half_s
 *
 * Speech must be twice as loud as the floor; the absolute limits hold besides. Because the floor is
 * capped and falls by itself, nobody stays unheard for being taken for noise. */
#ifndef CONTROL_ROOM_HEARING_NOISE_FLOOR_H
#define CONTROL_ROOM_HEARING_NOISE_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct room_noise_floor {
	uint32_t rms; /* as it was at `at` */
	uint64_t at;
};

void room_noise_floor_update(struct room_noise_floor *n, const struct settings *s, uint32_t rms,
			     bool speech, uint64_t now);
/* The least loudness of speech by the floor alone. */
uint32_t room_noise_floor_threshold(const struct room_noise_floor *n, const struct settings *s,
				    uint64_t now);

#endif
