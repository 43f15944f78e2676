#include "mediad/call/seq_tracker.h"

#include <string.h>

void seq_tracker_reset(struct seq_tracker *n)
{
	memset(n, 0, sizeof *n);
	n->last = -1;
}

/* A full list extends its newest range over the numbers in between. Some messages may then be
 * processed twice; none is lost. */
static void add_range(struct seq_tracker *n, uint16_t from, uint16_t to)
{
	if (n->ranges == SEQ_TRACKER_RANGES) {
		n->missing[n->ranges - 1].to = to;
		return;
	}
	n->missing[n->ranges].from = from;
	n->missing[n->ranges].to = to;
	n->ranges++;
}

static void drop_range(struct seq_tracker *n, unsigned i)
{
	n->ranges--;
	memmove(&n->missing[i], &n->missing[i + 1], (n->ranges - i) * sizeof n->missing[0]);
}

/* Takes one number out of a range. Repeated messages come in order, so a range shrinks from its
 * start. A number from its middle splits the range. */
static bool take_missing(struct seq_tracker *n, uint16_t seq)
{
	for (unsigned i = 0; i < n->ranges; i++) {
		uint16_t from = n->missing[i].from, to = n->missing[i].to;

		if ((uint16_t)(seq - from) > (uint16_t)(to - from))
			continue;
		if (from == to)
			drop_range(n, i);
		else if (seq == from)
			n->missing[i].from++;
		else if (seq == to)
			n->missing[i].to--;
		else if (n->ranges < SEQ_TRACKER_RANGES) {
			memmove(&n->missing[i + 1], &n->missing[i],
				(n->ranges - i) * sizeof n->missing[0]);
			n->ranges++;
			n->missing[i].to = (uint16_t)(seq - 1);
			n->missing[i + 1].from = (uint16_t)(seq + 1);
		}
		return true;
	}
	return false;
}

enum seq_class seq_tracker_take(struct seq_tracker *n, uint16_t seq)
{
	uint16_t ahead = (uint16_t)(seq - n->last);

	if (n->last < 0) {
		n->last = seq;
		return SEQ_NEXT;
	}
	if (ahead == 0 || ahead >= 0x8000)
		return take_missing(n, seq) || !n->resumed ? SEQ_RECOVERED : SEQ_DUPLICATE;
	if (n->requested)
		n->ranges = 0;
	n->requested = false;
	if (ahead > 1)
		add_range(n, (uint16_t)(n->last + 1), (uint16_t)(seq - 1));
	n->last = seq;
	return ahead > 1 ? SEQ_GAP : SEQ_NEXT;
}

int seq_tracker_ack(const struct seq_tracker *n)
{
	return n->ranges ? (uint16_t)(n->missing[0].from - 1) : n->last;
}

bool seq_tracker_has_missing(const struct seq_tracker *n)
{
	return n->ranges && !n->requested;
}

void seq_tracker_request(struct seq_tracker *n)
{
	n->resumed = n->requested = true;
}
