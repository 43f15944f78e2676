/* The present speakers of a call and their levels: those of the packets, or of the samples where a
 * client sends none. Of a person who is not heard it is known only that they speak. A value without
 * I/O.
 */
#ifndef CONTROL_AGENT_LEVELS_H
#define CONTROL_AGENT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/people.h"
#include "proto/base/cursor.h"

enum { LEVEL_UNKNOWN = 1, LEVEL_FRESH_MS = 300 };

struct levels {
	unsigned n;
	struct level {
		uint64_t user, at; /* at: ns, of the last frame */
		bool speaks;
		int db; /* dBov, 0 to -127 */
	} v[ROOM_SPEAKERS];
};

/* The first or the last packet of somebody's speech arrived. */
void levels_speaking(struct levels *l, uint64_t user, bool on);
/* A frame. level: as MEDIA_HEARD has it, -dBov, 127 when absent; pcm: s16le. */
void levels_heard(struct levels *l, uint64_t user, uint8_t level, struct slice pcm, uint64_t now);
/* The next speaker at or after this place; NULL: there is none. Borrowed until the next change. */
const struct level *levels_next(const struct levels *l, unsigned *place);
/* In dBov; LEVEL_UNKNOWN: no frame has come of late. */
int levels_db(const struct level *v, uint64_t now);

#endif
