#include "control/voice_session/refused.h"

#include <string.h>

bool refused_remove(struct refused *r, uint64_t channel)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->channels[i] == channel) {
			memmove(r->channels + i, r->channels + i + 1,
				(--r->n - i) * sizeof r->channels[0]);
			return true;
		}
	return false;
}

void refused_add(struct refused *r, uint64_t channel)
{
	refused_remove(r, channel);
	if (r->n == REFUSED_MAX)
		refused_remove(r, r->channels[0]);
	r->channels[r->n++] = channel;
}

bool refused_has(const struct refused *r, uint64_t channel)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->channels[i] == channel)
			return true;
	return false;
}
