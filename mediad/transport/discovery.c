#include "mediad/transport/discovery.h"

#include "proto/base/time.h"

#include <string.h>

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

void discovery_repeat(struct discovery *d, uint64_t now)
{
	d->state = DISCOVERY_ASKING;
	d->start = now;
	d->asked = d->others = 0;
}

uint64_t discovery_next(const struct discovery *d)
{
	uint64_t ask;

	if (d->state != DISCOVERY_ASKING)
		return UINT64_MAX;
	ask = time_after(d, d->asked < ASKS ? ask_at_ms[d->asked] : GIVE_UP_MS);
	return d->others && d->judge_at < ask ? d->judge_at : ask;
}

bool discovery_tick(struct discovery *d, uint64_t now, uint8_t buf[DISCOVERY_SIZE])
{
	if (d->state != DISCOVERY_ASKING)
		return false;
	if (d->others && now >= d->judge_at) {
		d->state = d->others > 1 ? DISCOVERY_MOVED : DISCOVERY_FAILED;
		return false;
	}
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

static bool is_at(const char *ip, uint16_t port, const char *other, uint16_t other_port)
{
	return port == other_port && strcmp(ip, other) == 0;
}

static void note_other(struct discovery *d, const char ip[64], uint16_t port, uint64_t now)
{
	if (!d->others) {
		discovery_repeat(d, now);
		d->judge_at = now + DISCOVERY_JUDGE_MS * NS_PER_MS;
	} else if (!is_at(ip, port, d->other_ip, d->other_port)) {
		d->others = 0;
	}
	memcpy(d->other_ip, ip, sizeof d->other_ip);
	d->other_port = port;
	d->others++;
}

bool discovery_input(struct discovery *d, const uint8_t *p, size_t n, uint64_t now)
{
	char ip[64] = "";
	uint16_t port;

	if (d->state != DISCOVERY_ASKING || discovery_parse(p, n, d->ssrc, ip, &port))
		return false;
	if (d->port && !is_at(ip, port, d->ip, d->port)) {
		note_other(d, ip, port, now);
		return false;
	}
	memcpy(d->ip, ip, sizeof d->ip);
	d->port = port;
	d->state = DISCOVERY_DONE;
	return true;
}
