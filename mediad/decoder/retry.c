#include "mediad/decoder/retry.h"

#include "proto/base/backoff.h"

static const struct backoff_conf pauses = {.first_ms = RETRY_FIRST_MS, .max_ms = RETRY_MAX_MS};

bool retry_idle(struct retry *r, uint64_t now)
{
	if (!r->since)
		r->since = now;
	return now - r->since < RETRY_S * NS_PER_S;
}

bool retry_later(struct retry *r, uint64_t now)
{
	struct backoff b = {.conf = &pauses, .tries = r->tries};

	r->at = now + backoff_next(&b, 0);
	r->tries = b.tries;
	return retry_idle(r, now);
}

bool retry_due(struct retry *r, uint64_t now)
{
	if (!r->at || now < r->at)
		return false;
	r->at = 0;
	return true;
}

void retry_end(struct retry *r)
{
	*r = (struct retry){0};
}
