#include "mediad/video/pacer.h"

#include "proto/base/time.h"

void pacer_start(struct pacer *p, uint64_t rate, size_t packet, uint64_t now)
{
	uint64_t burst = rate * PACER_BURST_MS / MS_PER_S;

	*p = (struct pacer){.rate = rate, .burst = burst < packet ? packet : burst, .at = now};
	p->level = p->burst * NS_PER_S;
}

/* What the bucket holds at `now`, times NS_PER_S. A long pause is cut before it is multiplied. */
static uint64_t level_at(const struct pacer *p, uint64_t now)
{
	uint64_t full = p->burst * NS_PER_S, passed = now > p->at ? now - p->at : 0;

	if (passed > (full - p->level) / p->rate)
		return full;
	return p->level + passed * p->rate;
}

void pacer_set_rate(struct pacer *p, uint64_t rate, size_t packet, uint64_t now)
{
	uint64_t level = level_at(p, now), at = now > p->at ? now : p->at;

	pacer_start(p, rate, packet, at);
	p->level = level < p->level ? level : p->level;
}

bool pacer_take(struct pacer *p, size_t n, uint64_t now)
{
	uint64_t level = level_at(p, now);

	if (level < n * NS_PER_S)
		return false;
	p->level = level - n * NS_PER_S;
	if (now > p->at)
		p->at = now;
	return true;
}

uint64_t pacer_due(const struct pacer *p, size_t n, uint64_t now)
{
	uint64_t level = level_at(p, now), want = n * NS_PER_S;

	if (level >= want)
		return now;
	return (now > p->at ? now : p->at) + (want - level + p->rate - 1) / p->rate;
}
