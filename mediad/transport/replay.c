#include "mediad/transport/replay.h"

#include <string.h>

#include "proto/base/time.h"

enum { START = 1 << 16 }; /* offset below the first number, so that no index is negative */

static uint64_t bit_of(uint64_t index)
{
	return UINT64_C(1) << (index % 64);
}

static uint64_t *word_of(struct replay *w, uint64_t index)
{
	return &w->seen[index / 64 % (REPLAY_WINDOW / 64)];
}

/* Returns the extended number nearest to the top (RFC 3711 3.3.1). */
static uint64_t extend_sequence(const struct replay *w, uint16_t seq)
{
	int16_t distance = (int16_t)(uint16_t)(seq - (uint16_t)w->top);

	return w->top + (uint64_t)(int64_t)distance;
}

static void start_window(struct replay *w, uint64_t index)
{
	memset(w->seen, 0, sizeof w->seen);
	w->started = true;
	w->top = index;
}

enum replay_verdict replay_look(const struct replay *w, uint16_t seq)
{
	uint64_t index;

	if (!w->started)
		return REPLAY_FRESH;
	index = extend_sequence(w, seq);
	if (index > w->top)
		return REPLAY_FRESH;
	if (w->top - index >= REPLAY_WINDOW)
		return REPLAY_OLD;
	return w->seen[index / 64 % (REPLAY_WINDOW / 64)] & bit_of(index) ? REPLAY_SEEN
									  : REPLAY_FRESH;
}

/* Moves the window up to the index. */
static void move_window(struct replay *w, uint64_t index)
{
	if (index - w->top >= REPLAY_WINDOW)
		memset(w->seen, 0, sizeof w->seen);
	else
		for (uint64_t i = w->top + 1; i <= index; i++)
			*word_of(w, i) &= ~bit_of(i);
	w->top = index;
}

static bool is_jump(const struct replay *w, uint64_t index)
{
	return index > w->top && index - w->top >= REPLAY_WINDOW;
}

enum replay_verdict replay_commit(struct replay *w, uint16_t seq, uint64_t now)
{
	enum replay_verdict v = replay_look(w, seq);
	uint64_t index = w->started ? extend_sequence(w, seq) : (uint64_t)START + seq;

	if (v != REPLAY_FRESH)
		return v;
	if (w->started && is_jump(w, index) && now - w->at < REPLAY_SILENCE_MS * NS_PER_MS)
		return REPLAY_AHEAD;
	if (!w->started)
		start_window(w, index);
	else if (index > w->top)
		move_window(w, index);
	*word_of(w, index) |= bit_of(index);
	w->at = now;
	return v;
}
