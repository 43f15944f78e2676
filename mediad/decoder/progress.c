#include "mediad/decoder/progress.h"

#include "proto/base/time.h"

void progress_start(struct progress *p, uint64_t now)
{
	*p = (struct progress){.moved = now};
}

void progress_open(struct progress *p, uint64_t now)
{
	p->opened = true;
	p->moved = now;
}

void progress_wait(struct progress *p, uint64_t now)
{
	if (p->opened)
		p->moved = now;
}

bool progress_stalls(struct progress *p, uint64_t written, bool rests, uint64_t now)
{
	if (written != p->written || (p->opened && rests))
		p->moved = now;
	p->written = written;
	return now - p->moved > (p->opened ? PROGRESS_STALL_S : PROGRESS_OPEN_S) * NS_PER_S;
}
