#include "control/vision/core/note_pace.h"

#include <string.h>

#include "proto/base/time.h"

#define HOUR (3600 * NS_PER_S)

void note_pace_want(struct note_pace *p, uint32_t share)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->wanted[i] == share)
			return;
	if (p->n < NOTE_PACE_SHARES)
		p->wanted[p->n++] = share;
}

uint64_t note_pace_due(const struct note_pace *p, const struct note_rules *rules, uint64_t now)
{
	uint64_t due = p->asked_at ? p->asked_at + rules->gap : 0;
	bool spent = p->in_hour >= rules->per_hour && now - p->hour_at < HOUR;

	if (!p->n || p->asking || !rules->per_hour)
		return UINT64_MAX;
	return spent && p->hour_at + HOUR > due ? p->hour_at + HOUR : due;
}

uint32_t note_pace_take(struct note_pace *p)
{
	uint32_t share = p->wanted[0];

	if (!p->n)
		return 0;
	memmove(p->wanted, p->wanted + 1, --p->n * sizeof *p->wanted);
	return share;
}

void note_pace_ask(struct note_pace *p, uint64_t now)
{
	if (!p->in_hour || now - p->hour_at >= HOUR) {
		p->hour_at = now;
		p->in_hour = 0;
	}
	p->in_hour++;
	p->asking = true;
	p->asked_at = now;
}

void note_pace_end(struct note_pace *p)
{
	p->asking = false;
}
