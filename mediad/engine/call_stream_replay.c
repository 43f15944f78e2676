/* Replay protection of a call stream: what each SSRC has sent under the present key. */
#include <string.h>

#include "mediad/engine/call_stream_internal.h"
#include "mediad/engine/ssrc_hash.h"

bool call_stream_may_be_new(const struct arrivals *a, const uint8_t *counter, uint16_t seq)
{
	return counter ? counters_look(&a->counters, counter)
		       : replay_look(&a->numbers, seq) == REPLAY_FRESH;
}

bool call_stream_accept_packet(struct arrivals *a, const uint8_t *counter, uint16_t seq,
			       uint64_t now)
{
	return counter ? counters_take(&a->counters, counter)
		       : replay_commit(&a->numbers, seq, now) == REPLAY_FRESH;
}

/* Returns the entry of an SSRC, or a free one, which is all zero. */
static struct left_source *find_left(const struct call_stream *cs, uint32_t ssrc)
{
	unsigned i = ssrc_hash(ssrc) % CALL_STREAM_LEFT;

	while (cs->left[i].ssrc && cs->left[i].ssrc != ssrc)
		i = (i + 1) % CALL_STREAM_LEFT;
	return &cs->left[i];
}

static bool is_empty(const struct counters_floor *f)
{
	return !f->next[0] && !f->next[1];
}

void call_stream_leave_source(struct call_stream *cs, uint32_t ssrc, const struct arrivals *a,
			      const struct nonces *reports)
{
	struct left_source used = {0}, *l = find_left(cs, ssrc);

	if (a)
		used.packets = counters_floor(&a->counters);
	if (reports)
		used.reports = nonces_floor(reports);
	if (!ssrc || (is_empty(&used.packets) && is_empty(&used.reports)) ||
	    (!l->ssrc && cs->n_left == CALL_STREAM_LEFT_MAX))
		return;
	cs->n_left += !l->ssrc;
	l->ssrc = ssrc;
	counters_raise(&l->packets, &used.packets);
	counters_raise(&l->reports, &used.reports);
}

void call_stream_begin_source(const struct call_stream *cs, uint32_t ssrc, struct arrivals *a,
			      struct nonces *reports)
{
	const struct left_source *l = find_left(cs, ssrc);

	if (a) {
		memset(a, 0, sizeof *a);
		counters_restart(&a->counters, &l->packets);
	}
	if (reports)
		nonces_restart(reports, &l->reports);
}

void call_stream_forget_arrivals(struct call_stream *cs)
{
	if (cs->n_left)
		memset(cs->left, 0, CALL_STREAM_LEFT * sizeof *cs->left);
	cs->n_left = 0;
	for (unsigned i = 0; i < cs->n_slots; i++)
		memset(&cs->slots[i]->arrivals, 0, sizeof cs->slots[i]->arrivals);
	for (unsigned i = 0; i < sizeof cs->unmapped / sizeof cs->unmapped[0]; i++)
		memset(&cs->unmapped[i].arrivals, 0, sizeof cs->unmapped[i].arrivals);
}
