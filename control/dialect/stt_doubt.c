#include "control/dialect/stt_doubt.h"

enum { DOUBT_MAX = 1000000 };

void stt_doubt_add(struct stt_doubt *d, const json_t *logprob)
{
	double v = json_number_value(logprob);

	if (!json_is_number(logprob) || !(v <= 0))
		return;
	d->sum -= v;
	d->n++;
}

uint32_t stt_doubt_of(const struct stt_doubt *d)
{
	double v = d->n ? d->sum * 1000 / (double)d->n : 0;

	return !d->n ? 0 : v >= DOUBT_MAX ? DOUBT_MAX + 1 : (uint32_t)v + 1;
}
