#include "control/consent/erasures.h"

#include <stddef.h>

#include "proto/base/time.h"

/* NULL: none. */
static struct erasure *find_erasure(struct erasures *e, uint64_t user)
{
	for (unsigned i = 0; i < ERASURES_KEPT; i++)
		if (e->of[i].at && e->of[i].user == user)
			return &e->of[i];
	return NULL;
}

static bool is_recent(const struct erasure *one, uint64_t now)
{
	return one && now < one->at + ERASURE_PAUSE_S * NS_PER_S;
}

bool erasures_allow(struct erasures *e, uint64_t user, uint64_t now)
{
	const struct erasure *one = find_erasure(e, user);

	return !is_recent(one, now) || one->failed;
}

bool erasures_allow_stranger(struct erasures *e, uint64_t now)
{
	if (e->stranger_at && now < e->stranger_at + ERASURE_STRANGER_S * NS_PER_S)
		return false;
	e->stranger_at = now;
	return true;
}

void erasures_begin(struct erasures *e, uint64_t user, uint64_t now)
{
	struct erasure *one = find_erasure(e, user);

	if (is_recent(one, now)) {
		one->failed = false;
		return;
	}
	if (!one)
		one = &e->of[e->next++ % ERASURES_KEPT];
	*one = (struct erasure){.user = user, .at = now};
}

bool erasures_renew(struct erasures *e, uint64_t user, bool by_member)
{
	struct erasure *one = by_member ? find_erasure(e, user) : NULL;
	bool renewed = one && one->renewed;

	if (one)
		one->renewed = true;
	return !renewed;
}

void erasures_fail(struct erasures *e, uint64_t user)
{
	struct erasure *one = find_erasure(e, user);

	/* What was said since may stand in the conversations, and its rows are still there. */
	if (one) {
		one->failed = true;
		one->renewed = false;
	}
}
