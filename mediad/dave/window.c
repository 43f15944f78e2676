#include "mediad/dave/window.h"

#include <string.h>

static uint64_t bit_of(uint64_t nonce)
{
	return UINT64_C(1) << (nonce % 64);
}

static uint64_t *word_of(struct dave_window *w, uint64_t nonce)
{
	return &w->missing[nonce % DAVE_WINDOW / 64];
}

static bool is_missing(const struct dave_window *w, uint64_t nonce)
{
	return w->missing[nonce % DAVE_WINDOW / 64] & bit_of(nonce);
}

static void set_missing(struct dave_window *w, uint64_t nonce)
{
	*word_of(w, nonce) |= bit_of(nonce);
	w->n_missing++;
}

static void clear_missing(struct dave_window *w, uint64_t nonce)
{
	if (!is_missing(w, nonce))
		return;
	*word_of(w, nonce) &= ~bit_of(nonce);
	w->n_missing--;
}

bool dave_window_fresh(const struct dave_window *w, uint64_t nonce)
{
	if (!w->any || nonce > w->newest)
		return true;
	return nonce >= w->floor && is_missing(w, nonce);
}

/* Starts with no missing nonce from `floor` on. */
static void start_window(struct dave_window *w, uint64_t floor)
{
	memset(w->missing, 0, sizeof w->missing);
	w->n_missing = 0;
	w->floor = floor;
}

/* Drops nonces that leave the ring when `newest` arrives, then the oldest beyond the limit. */
static void raise_floor(struct dave_window *w, uint64_t newest)
{
	while (w->floor + DAVE_WINDOW <= newest)
		clear_missing(w, w->floor++);
}

static void advance_window(struct dave_window *w, uint64_t nonce)
{
	if (nonce - w->newest > DAVE_MISSING_MAX) {
		start_window(w, nonce - DAVE_MISSING_MAX);
		w->newest = w->floor - 1;
	}
	raise_floor(w, nonce);
	for (uint64_t i = w->newest + 1; i < nonce; i++)
		set_missing(w, i);
	while (w->n_missing > DAVE_MISSING_MAX)
		clear_missing(w, w->floor++);
	w->newest = nonce;
}

void dave_window_mark(struct dave_window *w, uint64_t nonce)
{
	if (!w->any) {
		start_window(w, nonce);
		w->any = true;
		w->newest = nonce;
	} else if (nonce > w->newest) {
		advance_window(w, nonce);
	} else if (nonce >= w->floor) {
		clear_missing(w, nonce);
	}
}

uint64_t dave_window_next(const struct dave_window *w)
{
	return w->any ? w->newest + 1 : 0;
}

void dave_window_restart(struct dave_window *w, uint64_t next)
{
	if (!next)
		return;
	start_window(w, next);
	w->any = true;
	w->newest = next - 1;
}

uint32_t dave_generation(uint32_t oldest, uint8_t low)
{
	return (oldest / 256 + (low < oldest % 256)) * 256 + low;
}

uint64_t dave_nonce(uint32_t generation, uint32_t counter)
{
	return (uint64_t)generation << 24 | (counter & 0xffffff);
}
