#include "mediad/decoder/lead.h"

enum { US_PER_MS = 1000 };

void lead_wrote(struct lead *l, uint64_t end, uint64_t at_us)
{
	if (!l->n) {
		l->begin_us = l->read_us = at_us;
		l->first_end = end;
	}
	l->newest_us = at_us;
	/* What is so far ahead needs no saving. */
	if (l->n - l->first == LEAD_UNITS)
		l->first++;
	l->units[l->n % LEAD_UNITS].end = end;
	l->units[l->n++ % LEAD_UNITS].at_us = at_us;
}

uint64_t lead_ms(struct lead *l, uint64_t taken)
{
	while (l->first < l->n && l->units[l->first % LEAD_UNITS].end <= taken)
		l->read_us = l->units[l->first++ % LEAD_UNITS].at_us;
	return (l->newest_us - l->read_us) / US_PER_MS;
}

static enum lead_saving find_saving(uint64_t left, uint64_t half, uint64_t third, uint64_t keys)
{
	return left < keys    ? LEAD_KEYS
	       : left < third ? LEAD_THIRD
	       : left < half  ? LEAD_HALF
			      : LEAD_ALL;
}

/* CPU time that may be used in so many ms. */
static uint64_t allow(uint64_t ms)
{
	return LEAD_CPU_MS + ms * LEAD_CPU_PERCENT / 100;
}

bool lead_rests(uint64_t cpu_ms, uint64_t wall_ms)
{
	return cpu_ms > allow(wall_ms);
}

enum lead_saving lead_saving(struct lead *l, uint64_t taken, uint64_t cpu_ms, bool waits)
{
	uint64_t may_ms = allow((l->newest_us - l->begin_us) / US_PER_MS);
	enum lead_saving of_cpu =
		find_saving(may_ms > cpu_ms ? may_ms - cpu_ms : 0, LEAD_CPU_HALF_MS,
			    LEAD_CPU_THIRD_MS, LEAD_CPU_KEYS_MS);
	uint64_t ahead_ms = lead_ms(l, taken);
	/* Nobody watches before the first unit was shown, which is read long before that. */
	enum lead_saving saving =
		taken <= l->first_end || waits
			? LEAD_ALL
			: find_saving(ahead_ms, LEAD_HALF_MS, LEAD_THIRD_MS, LEAD_KEYS_MS);

	if (of_cpu > saving)
		saving = of_cpu;
	if (saving >= l->saving) {
		if (saving > LEAD_ALL)
			l->saves_until_us = l->newest_us + (uint64_t)LEAD_HOLD_MS * US_PER_MS;
	} else if (l->newest_us < l->saves_until_us) {
		return l->saving;
	}
	l->saving = saving;
	return saving;
}
