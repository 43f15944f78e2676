/* A brain may hold the floor for what it is about to say: [[LEASE:ASSERTIVE]], [[LEASE:ATOMIC]].
 *
 *   phase     input                                              next
 *   NONE      granted, while nothing of the answer is out         HELD
 *   HELD      first sound left                                    SPOKEN
 *   HELD      lease_*_ms passed                                   LATE
 *   LATE      first sound left                                    SPOKEN
 *   SPOKEN    lease_*_immune_ms passed                            NONE
 *
 * HELD: no newer turn takes the answer's place, nothing cuts it before its sound. LATE: that is
 * over. SPOKEN: no voice stops it. All is derived from the times of the answer; nothing is kept but
 * when it was granted. */
#ifndef CONTROL_ROOM_FLOOR_OUTPUT_LEASE_H
#define CONTROL_ROOM_FLOOR_OUTPUT_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum room_output_lease_mode {
	ROOM_OUTPUT_LEASE_NONE,
	ROOM_OUTPUT_LEASE_ASSERTIVE,
	ROOM_OUTPUT_LEASE_ATOMIC
};

struct room_output_lease {
	enum room_output_lease_mode mode;
	uint64_t granted_at;
};

/* spoken_at: the first sound of the answer left, 0 = not yet. False: not granted, the bot is
 * speaking. */
bool room_output_lease_grant(struct room_output_lease *l, enum room_output_lease_mode mode,
			     uint64_t spoken_at, uint64_t now);
/* Nothing may take the place of the answer that is being made. */
bool room_output_lease_held(const struct room_output_lease *l, const struct settings *s,
			    uint64_t spoken_at, uint64_t now);
/* No voice may stop it: ms that this lasts yet. */
uint64_t room_output_lease_immune_ms(const struct room_output_lease *l, const struct settings *s,
				     uint64_t spoken_at, uint64_t now);

#endif
