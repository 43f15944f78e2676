/* Replay protection of a call stream: what each SSRC has sent under the present key. */
#include <string.h>

#include "mediad/engine/call_stream_internal.h"

bool call_stream_may_be_new(const struct arrivals *a, const uint8_t *counter, uint16_t seq)
{
	return counter ? counters_look(&a->counters, counter)
		       : replay_look(&a->numbers, seq) != REPLAY_SEEN;
}

bool call_stream_accept_packet(struct arrivals *a, const uint8_t *counter, uint16_t seq)
{
	return counter ? counters_take(&a->counters, counter)
		       : replay_commit(&a->numbers, seq) == REPLAY_FRESH;
}

static struct left_source *find_left(struct call_stream *cs, uint32_t ssrc)
{
	for (unsigned i = 0; i < sizeof cs->left / sizeof cs->left[0]; i++)
		if (cs->left[i].ssrc == ssrc)
			return &cs->left[i];
	return NULL;
}

void call_stream_leave_arrivals(struct call_stream *cs, uint32_t ssrc, const struct arrivals *a)
{
	struct left_source *l = find_left(cs, ssrc);

	if (!l)
		l = &cs->left[cs->left_next++ % (sizeof cs->left / sizeof cs->left[0])];
	*l = (struct left_source){.ssrc = ssrc, .floor = counters_floor(&a->counters)};
}

void call_stream_begin_arrivals(struct call_stream *cs, uint32_t ssrc, struct arrivals *a)
{
	const struct left_source *l = ssrc ? find_left(cs, ssrc) : NULL;

	memset(a, 0, sizeof *a);
	counters_restart(&a->counters, l ? &l->floor : NULL);
}

void call_stream_forget_arrivals(struct call_stream *cs)
{
	memset(cs->left, 0, sizeof cs->left);
	cs->left_next = 0;
	for (unsigned i = 0; i < cs->n_slots; i++)
		memset(&cs->slots[i]->arrivals, 0, sizeof cs->slots[i]->arrivals);
	for (unsigned i = 0; i < sizeof cs->unmapped / sizeof cs->unmapped[0]; i++)
		memset(&cs->unmapped[i].arrivals, 0, sizeof cs->unmapped[i].arrivals);
}
