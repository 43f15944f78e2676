#include "mediad/call/unnamed.h"

#include "proto/base/time.h"

void unnamed_begin(struct unnamed *u, uint64_t now)
{
	u->asks = 0;
	if (u->next < now + UNNAMED_SETTLE_MS * NS_PER_MS)
		u->next = now + UNNAMED_SETTLE_MS * NS_PER_MS;
}

bool unnamed_ask(struct unnamed *u, uint32_t ssrc, uint64_t now)
{
	if (now < u->next || u->asks == UNNAMED_ASKS)
		return false;
	u->asks++;
	u->ssrc = ssrc;
	u->next = now + (UNNAMED_WAIT_MS * NS_PER_MS << u->waits);
	u->waits += u->waits < UNNAMED_ASKS;
	return true;
}

void unnamed_named(struct unnamed *u, uint32_t ssrc)
{
	if (ssrc == u->ssrc)
		u->asks = u->waits = 0;
}
