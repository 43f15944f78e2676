#include "mediad/call/unmapped.h"
#include "proto/base/time.h"

void unmapped_begin(struct unmapped *u, uint64_t now)
{
	u->asks = 0;
	if (u->next < now + UNMAPPED_SETTLE_MS * NS_PER_MS)
		u->next = now + UNMAPPED_SETTLE_MS * NS_PER_MS;
}

bool unmapped_should_ask(struct unmapped *u, uint32_t ssrc, uint64_t now)
{
	if (now < u->next || u->asks == UNMAPPED_ASKS ||
	    !rate_limit_take(&u->resumes, UNMAPPED_BURST, UNMAPPED_ONE_MS * NS_PER_MS, now))
		return false;
	u->asks++;
	u->ssrc = ssrc;
	u->next = now + (UNMAPPED_WAIT_MS * NS_PER_MS << u->waits);
	u->waits += u->waits < UNMAPPED_ASKS;
	return true;
}

void unmapped_resolved(struct unmapped *u, uint32_t ssrc)
{
	if (ssrc == u->ssrc)
		u->asks = u->waits = 0;
}
