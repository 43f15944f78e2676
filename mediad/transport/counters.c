#include "mediad/transport/counters.h"

#include <string.h>

static void read_counter(const uint8_t p[COUNTERS_BYTES], uint32_t out[2])
{
	out[0] = out[1] = 0;
	for (unsigned i = 0; i < COUNTERS_BYTES; i++) {
		out[0] = out[0] << 8 | p[i];
		out[1] = out[1] << 8 | p[COUNTERS_BYTES - 1 - i];
	}
}

static uint64_t bit_of(uint32_t counter)
{
	return UINT64_C(1) << (counter % 64);
}

static unsigned word_of(uint32_t counter)
{
	return counter / 64 % (COUNTERS_WINDOW / 64);
}

static bool is_new(const struct counters *w, unsigned o, uint32_t counter)
{
	if (counter < w->order[o].floor || w->order[o].floor == UINT32_MAX)
		return false;
	if (!w->order[o].started || counter > w->order[o].top)
		return true;
	return w->order[o].top - counter < COUNTERS_WINDOW &&
	       !(w->order[o].seen[word_of(counter)] & bit_of(counter));
}

bool counters_look(const struct counters *w, const uint8_t counter[COUNTERS_BYTES])
{
	uint32_t read[2];

	read_counter(counter, read);
	return is_new(w, 0, read[0]) || is_new(w, 1, read[1]);
}

/* Moves the window up to `top`; numbers that were not received count as not seen. */
static void move_window(struct counters *w, unsigned o, uint32_t top)
{
	uint32_t was = w->order[o].top;

	if (!w->order[o].started || top - was >= COUNTERS_WINDOW)
		memset(w->order[o].seen, 0, sizeof w->order[o].seen);
	else
		for (uint32_t i = was + 1; i != top + 1; i++)
			w->order[o].seen[word_of(i)] &= ~bit_of(i);
	w->order[o].top = top;
	w->order[o].started = true;
}

static void mark_seen(struct counters *w, unsigned o, uint32_t counter)
{
	if (!w->order[o].started || counter > w->order[o].top)
		move_window(w, o, counter);
	if (w->order[o].top - counter < COUNTERS_WINDOW)
		w->order[o].seen[word_of(counter)] |= bit_of(counter);
}

bool counters_take(struct counters *w, const uint8_t counter[COUNTERS_BYTES])
{
	uint32_t read[2];

	read_counter(counter, read);
	if (!is_new(w, 0, read[0]) && !is_new(w, 1, read[1]))
		return false;
	/* Both windows learn it, so that a counter accepted in one order is known in the other. */
	for (unsigned o = 0; o < 2; o++)
		mark_seen(w, o, read[o]);
	return true;
}

struct counters_floor counters_floor(const struct counters *w)
{
	struct counters_floor f;

	for (unsigned o = 0; o < 2; o++)
		f.next[o] = !w->order[o].started	    ? w->order[o].floor
			    : w->order[o].top == UINT32_MAX ? UINT32_MAX
							    : w->order[o].top + 1;
	return f;
}

void counters_restart(struct counters *w, const struct counters_floor *floor)
{
	memset(w, 0, sizeof *w);
	for (unsigned o = 0; o < 2; o++)
		w->order[o].floor = floor->next[o];
}

void counters_raise(struct counters_floor *f, const struct counters_floor *by)
{
	for (unsigned o = 0; o < 2; o++)
		if (by->next[o] > f->next[o])
			f->next[o] = by->next[o];
}
