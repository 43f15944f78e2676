#include "mediad/engine/batching.h"

#include <string.h>

#define US UINT64_C(1000)

void batching_init(struct batching *b)
{
	*b = (struct batching){.wake_by = UINT64_MAX};
}

/* ---- sockets ---- */

void batching_read(struct batching *b, unsigned stream, unsigned n)
{
	if (!n || stream >= BATCHING_STREAMS)
		return;
	b->got += n;
	b->read = true;
	b->spoke[stream / 64] |= UINT64_C(1) << stream % 64;
}

static unsigned count_calls(const struct batching *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < BATCHING_STREAMS / 64; i++)
		n += (unsigned)__builtin_popcountll(b->spoke[i]);
	return n;
}

/* Returns how long sockets are left unread when datagrams of so many calls arrive at this distance
 * from each other. */
static uint64_t choose_interval(unsigned calls, uint64_t gap)
{
	uint64_t limit = calls < BATCHING_CALLS ? BATCHING_GAP_SMALL_US : BATCHING_GAP_US;
	uint64_t interval = BATCHING_GROUP * gap;

	if (gap >= limit * US)
		return 0;
	if (interval < BATCHING_MIN_US * US)
		return BATCHING_MIN_US * US;
	return interval < BATCHING_MAX_US * US ? interval : BATCHING_MAX_US * US;
}

void batching_end_turn(struct batching *b, uint64_t now)
{
	uint64_t passed = now - b->since;

	if (passed >= BATCHING_WINDOW_US * US) {
		b->interval = b->got ? choose_interval(count_calls(b), passed / b->got) : 0;
		b->since = now;
		b->got = 0;
		memset(b->spoke, 0, sizeof b->spoke);
	}
	if (b->read)
		b->read_at = now + b->interval;
	b->read = false;
}

/* ---- wakes ---- */

void batching_event(struct batching *b, uint64_t now, bool patient)
{
	uint64_t by = patient ? now + BATCHING_PATIENCE_US * US : 0;

	b->wake_by = by < b->wake_by ? by : b->wake_by;
}

bool batching_wake(struct batching *b, uint64_t now)
{
	if (now < b->wake_by)
		return false;
	b->wake_by = UINT64_MAX;
	return true;
}
