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

static const struct left_source *find_left(const struct call_stream *cs, uint32_t ssrc)
{
	for (unsigned i = 0; i < sizeof cs->left / sizeof cs->left[0]; i++)
		if (cs->left[i].ssrc == ssrc)
			return &cs->left[i];
	return NULL;
}

/* Returns the entry of an SSRC, for which the oldest one makes room. */
static struct left_source *make_left(struct call_stream *cs, uint32_t ssrc)
{
	unsigned at = cs->left_next % (sizeof cs->left / sizeof cs->left[0]);
	const struct left_source *found = find_left(cs, ssrc);

	if (found)
		return &cs->left[found - cs->left];
	cs->left_next++;
	counters_raise(&cs->forgotten.packets, &cs->left[at].packets);
	counters_raise(&cs->forgotten.reports, &cs->left[at].reports);
	cs->left[at] = (struct left_source){.ssrc = ssrc};
	return &cs->left[at];
}

void call_stream_leave_source(struct call_stream *cs, uint32_t ssrc, const struct arrivals *a,
			      const struct nonces *reports)
{
	struct left_source *l = make_left(cs, ssrc);
	struct counters_floor floor;

	if (a) {
		floor = counters_floor(&a->counters);
		counters_raise(&l->packets, &floor);
	}
	if (reports) {
		floor = nonces_floor(reports);
		counters_raise(&l->reports, &floor);
	}
}

void call_stream_begin_source(const struct call_stream *cs, uint32_t ssrc, struct arrivals *a,
			      struct nonces *reports)
{
	const struct left_source *l = ssrc ? find_left(cs, ssrc) : NULL;

	if (!l)
		l = &cs->forgotten;
	if (a) {
		memset(a, 0, sizeof *a);
		counters_restart(&a->counters, &l->packets);
	}
	if (reports)
		nonces_restart(reports, &l->reports);
}

void call_stream_forget_arrivals(struct call_stream *cs)
{
	memset(cs->left, 0, sizeof cs->left);
	cs->left_next = 0;
	memset(&cs->forgotten, 0, sizeof cs->forgotten);
	for (unsigned i = 0; i < cs->n_slots; i++)
		memset(&cs->slots[i]->arrivals, 0, sizeof cs->slots[i]->arrivals);
	for (unsigned i = 0; i < sizeof cs->unmapped / sizeof cs->unmapped[0]; i++)
		memset(&cs->unmapped[i].arrivals, 0, sizeof cs->unmapped[i].arrivals);
}
