/* A room's journal: every event it was given, with its time, so that the same steps can be run
 * again, under the same settings or others. Bytes only; whoever has files writes and reads them.
 *
 * ROOM_JOURNAL_FIRST, then records: u32 length | u8 what | body, numbers big-endian.
 *
 *   what        body
 *   NAME        the bot's name
 *   SETTING     name, NUL, value; secrets are left out
 *   EVENT       u64 now | u8 type | fields that are not zero: u8 row of ROOM_EVENT_FIELDS, then
 * u64, or u32 length and bytes SUM         u64 steps | u64 sum of all effects so far; the last
 * record of a journal that came to its end
 *
 * Such a file is a secret: it holds voices and what was said. */
#ifndef CONTROL_ROOM_JOURNAL_H
#define CONTROL_ROOM_JOURNAL_H

#include "control/room/room.h"

#define ROOM_JOURNAL_FIRST "PARLEY-ROOM 1 secret: holds voices and what was said\n"

enum room_journal_what {
	ROOM_JOURNAL_NAME = 1,
	ROOM_JOURNAL_SETTING = 2,
	ROOM_JOURNAL_EVENT = 3,
	ROOM_JOURNAL_SUM = 4,
};

enum {
	ROOM_JOURNAL_RECORD_MAX = 1 << 20,
	/* What an event takes at most, without its text and sound. */
	ROOM_JOURNAL_EVENT_MAX = 16 * 9 + 32,
};

struct room_journal_record {
	enum room_journal_what what;
	struct slice text;  /* NAME, or the setting's name */
	struct slice value; /* of a setting */
	struct room_event event;
	uint64_t now; /* of an event */
	uint64_t steps, sum;
};

/* Appends one record; w->ok tells whether there was room. */
void room_journal_write(struct wr *w, const struct room_journal_record *r);
/* Takes the next record; what it holds is borrowed from r. 0, ENODATA at the end (also in the
 * middle of a record: what was cut off is left out), EBADMSG. */
int room_journal_read(struct rd *r, struct room_journal_record *out);

/* Adds the effects of a step. The sum begins as 0. */
uint64_t room_journal_sum(uint64_t sum, const struct room_effects *fx);

#endif
