/* A room's journal: no bytes may crash, leak or hang its reader or the room that is run from it,
 * and what was read is written the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/journal.h"
#include "control/again/rerun.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct room_journal_record *r)
{
	static uint8_t buf[ROOM_JOURNAL_RECORD_MAX + 64];
	struct room_journal_record back;
	struct wr w = wr_of(buf, sizeof buf);
	struct rd in;

	room_journal_write(&w, r);
	if (!w.ok)
		abort();
	in = rd_of(buf, w.pos);
	if (room_journal_read(&in, &back) || back.what != r->what || back.now != r->now ||
	    back.sum != r->sum || back.event.type != r->event.type ||
	    back.event.user != r->event.user || back.event.text.n != r->event.text.n ||
	    back.event.pcm.n != r->event.pcm.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd in = rd_of(data, size);
	struct room_journal_record rec;
	const struct rerun_conf conf = {.data = data, .n = size};
	struct rerun run;

	while (room_journal_read(&in, &rec) == 0)
		again(&rec);
	if (size < 200000 && rerun_bytes(&run, &conf) == 0)
		rerun_clear(&run);
	return 0;
}
