/* The noise floor of one speaker, learned from captures that turned out not to be speech.
 *
 *   capture ended                 noise floor
 *   as noise, or without words    rises halfway to the capture's loudness, at most noise_floor_max
 *   with words                    falls to a quarter of the capture's loudness, if it was above
 *   (time passes)                 halves every noise_floor_half_s
 *
 * Speech must be twice as loud as the noise floor and pass the absolute thresholds as well. The
 * floor is capped and decays, so that nobody stays unheard because their speech was once taken for
 * noise. */
#ifndef CONTROL_ROOM_HEARING_NOISE_FLOOR_H
#define CONTROL_ROOM_HEARING_NOISE_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct room_noise_floor {
	uint32_t rms; /* value at the time `at` */
	uint64_t at;
};

void room_noise_floor_update(struct room_noise_floor *n, const struct settings *s, uint32_t rms,
			     bool speech, uint64_t now);
/* The least loudness of speech, by the noise floor alone. */
uint32_t room_noise_floor_threshold(const struct room_noise_floor *n, const struct settings *s,
				    uint64_t now);

#endif
