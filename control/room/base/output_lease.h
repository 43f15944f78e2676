/* An output lease: the brain reserves the floor for its next answer, by [[LEASE:ASSERTIVE]] or
 * [[LEASE:ATOMIC]].
 *
 *   phase     input                                              next
 *   NONE      granted, before any audio of the answer             HELD
 *   HELD      the first sample was played                         SPOKEN
 *   HELD      lease_*_ms passed                                   LATE
 *   LATE      the first sample was played                         SPOKEN
 *   SPOKEN    lease_*_immune_ms passed                            NONE
 *
 * HELD: no newer turn supersedes the answer, and nothing stops it before its audio. LATE: that
 * protection is over. SPOKEN: no voice stops the answer. The phase is derived from the times of
 * the answer; only the time of the grant is stored. */
#ifndef CONTROL_ROOM_BASE_OUTPUT_LEASE_H
#define CONTROL_ROOM_BASE_OUTPUT_LEASE_H

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

/* spoken_at: when the first sample was played, 0 = not yet. Returns false if the lease is not
 * granted, because the bot is speaking. */
bool room_output_lease_grant(struct room_output_lease *l, enum room_output_lease_mode mode,
			     uint64_t spoken_at, uint64_t now);
/* True if no newer turn may supersede the answer. */
bool room_output_lease_held(const struct room_output_lease *l, const struct settings *s,
			    uint64_t spoken_at, uint64_t now);
/* Remaining ms in which no voice stops the answer. */
uint64_t room_output_lease_immune_ms(const struct room_output_lease *l, const struct settings *s,
				     uint64_t spoken_at, uint64_t now);

#endif
