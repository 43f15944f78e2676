/* A room's journal: every event with its time, so that the same steps can run again, with the same
 * settings or others. Handles bytes only; the caller reads and writes files.
 *
 * ROOM_JOURNAL_FIRST, then records: u32 length | u8 type | body, numbers big-endian.
 *
 *   type     body
 *   NAME     the bot's name
 *   SETTING  name, NUL, value; secrets are left out
 *   EVENT    u64 now | u8 type | the fields that are not zero: u8 row of ROOM_EVENT_FIELDS, then
 *            u64, or u32 length and bytes
 *   SUM      u64 steps | u64 sum of all effects so far; the last record of a complete journal
 *
 * A journal is a secret: it holds voices and transcripts. */
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
	/* The most that an event takes, without its text and audio. */
	ROOM_JOURNAL_EVENT_MAX = 17 * 9 + 32,
};

struct room_journal_record {
	enum room_journal_what what;
	struct slice text;  /* NAME, or the setting's name */
	struct slice value; /* of a setting */
	struct room_event event;
	uint64_t now; /* of an event */
	uint64_t steps, sum;
};

/* Appends one record; w->ok tells whether it fitted. */
void room_journal_write(struct wr *w, const struct room_journal_record *r);
/* Reads the next record, which borrows from r. 0; ENODATA at the end (an incomplete last record
 * is ignored); EBADMSG. */
int room_journal_read(struct rd *r, struct room_journal_record *out);

/* Adds the effects of a step to the sum, which begins as 0. */
uint64_t room_journal_sum(uint64_t sum, const struct room_effects *fx);

#endif
