#include "mediad/call/numbering.h"

#include <string.h>

void numbering_reset(struct numbering *n)
{
	memset(n, 0, sizeof *n);
	n->last = -1;
}

/* A list that is full grows its newest range over what lies between: some may then be taken twice,
 * none is lost. */
static void add(struct numbering *n, uint16_t from, uint16_t to)
{
	if (n->ranges == NUMBERING_RANGES) {
		n->missing[n->ranges - 1].to = to;
		return;
	}
	n->missing[n->ranges].from = from;
	n->missing[n->ranges].to = to;
	n->ranges++;
}

static void drop(struct numbering *n, unsigned i)
{
	n->ranges--;
	memmove(&n->missing[i], &n->missing[i + 1], (n->ranges - i) * sizeof n->missing[0]);
}

/* Takes one number out of a range. What is told again comes in order, so that a range shrinks from
 * its beginning; one out of its middle leaves what came before it among the missing. */
static bool take_missing(struct numbering *n, uint16_t seq)
{
	for (unsigned i = 0; i < n->ranges; i++) {
		uint16_t from = n->missing[i].from, to = n->missing[i].to;

		if ((uint16_t)(seq - from) > (uint16_t)(to - from))
			continue;
		if (from == to)
			drop(n, i);
		else if (seq == from)
			n->missing[i].from++;
		else if (seq == to)
			n->missing[i].to--;
		else if (n->ranges < NUMBERING_RANGES) {
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

enum numbered numbering_take(struct numbering *n, uint16_t seq)
{
	uint16_t ahead = (uint16_t)(seq - n->last);

	if (n->last < 0) {
		n->last = seq;
		return NUMBERED_NEXT;
	}
	if (ahead == 0 || ahead >= 0x8000)
		return take_missing(n, seq) || !n->resumed ? NUMBERED_MISSED : NUMBERED_AGAIN;
	if (n->asked)
		n->ranges = 0;
	n->asked = false;
	if (ahead > 1)
		add(n, (uint16_t)(n->last + 1), (uint16_t)(seq - 1));
	n->last = seq;
	return ahead > 1 ? NUMBERED_GAP : NUMBERED_NEXT;
}

int numbering_whole(const struct numbering *n)
{
	return n->ranges ? (uint16_t)(n->missing[0].from - 1) : n->last;
}

bool numbering_missing(const struct numbering *n)
{
	return n->ranges && !n->asked;
}

void numbering_ask(struct numbering *n)
{
	n->resumed = n->asked = true;
}
