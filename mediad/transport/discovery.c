#include "mediad/transport/discovery.h"

#include "proto/base/time.h"

static const unsigned ask_at_ms[] = {0, 250, 500, 1000, 2000, 3000, 4000};
enum { ASKS = sizeof ask_at_ms / sizeof ask_at_ms[0], GIVE_UP_MS = 5000 };

static uint64_t time_after(const struct discovery *d, unsigned ms)
{
	return d->start + ms * NS_PER_MS;
}

void discovery_start(struct discovery *d, uint32_t ssrc, uint64_t now)
{
	*d = (struct discovery){.state = DISCOVERY_ASKING, .ssrc = ssrc, .start = now};
}

uint64_t discovery_next(const struct discovery *d)
{
	if (d->state != DISCOVERY_ASKING)
		return UINT64_MAX;
	return time_after(d, d->asked < ASKS ? ask_at_ms[d->asked] : GIVE_UP_MS);
}

bool discovery_tick(struct discovery *d, uint64_t now, uint8_t buf[DISCOVERY_SIZE])
{
	if (d->state != DISCOVERY_ASKING)
		return false;
	if (now >= time_after(d, GIVE_UP_MS)) {
		d->state = DISCOVERY_FAILED;
		return false;
	}
	if (now < discovery_next(d))
		return false;
	/* A late tick sends one request, not one per interval that passed. */
	while (d->asked < ASKS && now >= time_after(d, ask_at_ms[d->asked]))
		d->asked++;
	discovery_build(buf, d->ssrc);
	return true;
}

bool discovery_input(struct discovery *d, const uint8_t *p, size_t n)
{
	if (d->state != DISCOVERY_ASKING || discovery_parse(p, n, d->ssrc, d->ip, &d->port))
		return false;
	d->state = DISCOVERY_DONE;
	return true;
}
