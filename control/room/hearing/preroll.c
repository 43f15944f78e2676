#include "control/room/hearing/preroll.h"

#include <string.h>

void room_preroll_clear(struct room_preroll *p)
{
	p->at = p->n = 0;
}

void room_preroll_add(struct room_preroll *p, struct slice pcm)
{
	size_t n = pcm.n & ~(size_t)1, first;

	if (n > ROOM_PREROLL_BYTES) {
		pcm.p += n - ROOM_PREROLL_BYTES;
		n = ROOM_PREROLL_BYTES;
	}
	first = ROOM_PREROLL_BYTES - p->at < n ? ROOM_PREROLL_BYTES - p->at : n;
	memcpy(p->pcm + p->at, pcm.p, first);
	memcpy(p->pcm, pcm.p + first, n - first);
	p->at = (p->at + n) % ROOM_PREROLL_BYTES;
	p->n = p->n + n < ROOM_PREROLL_BYTES ? p->n + n : ROOM_PREROLL_BYTES;
}

void room_preroll_read(const struct room_preroll *p, struct slice part[2])
{
	size_t from = (p->at + ROOM_PREROLL_BYTES - p->n) % ROOM_PREROLL_BYTES;
	size_t first = ROOM_PREROLL_BYTES - from < p->n ? ROOM_PREROLL_BYTES - from : p->n;

	part[0] = (struct slice){p->pcm + from, first};
	part[1] = (struct slice){p->pcm, p->n - first};
}
