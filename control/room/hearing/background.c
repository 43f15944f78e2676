#include "control/room/hearing/background.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { BLOCK_MS = 100, GAP_MS = 500, STEADY = 2, VARIED = 4, STOPPED = 3, FALL = 32 };

static void measure_window(const struct room_background *b, uint32_t *least, uint32_t *most)
{
	*least = UINT32_MAX;
	*most = 0;
	for (unsigned i = 0; i < ROOM_BACKGROUND_BLOCKS; i++) {
		if (b->block[i] < *least)
			*least = b->block[i];
		if (b->block[i] > *most)
			*most = b->block[i];
	}
}

static void forget_background(struct room_background *b)
{
	b->least = b->most = 0;
	b->below = 0;
	b->raised = false;
}

static void learn_background(struct room_background *b, const struct settings *s, unsigned factor)
{
	uint32_t least, most;

	measure_window(b, &least, &most);
	if (most < factor * least && least <= s->background_max) {
		b->least = least;
		b->most = most;
		b->raised = false;
	} else if (b->most > most) {
		b->most -= (b->most - most) / FALL;
	}
}

/* One block is full. */
static void add_block(struct room_background *b, const struct settings *s, bool promoted)
{
	uint32_t rms = room_signal_rms(&b->current);

	b->current = (struct room_signal){0};
	b->block[b->next] = (uint16_t)rms;
	b->next = (b->next + 1) % ROOM_BACKGROUND_BLOCKS;
	if (b->blocks < ROOM_BACKGROUND_BLOCKS)
		b->blocks++;
	/* Sound above a known background may be the beginning of speech. */
	if (promoted || (b->most && rms > room_background_threshold(b)))
		b->promoted = ROOM_BACKGROUND_BLOCKS;
	else if (b->promoted)
		b->promoted--;
	b->below = 2 * rms < b->least ? b->below + 1 : 0;
	if (b->below >= STOPPED)
		forget_background(b);
	if (b->blocks == ROOM_BACKGROUND_BLOCKS)
		learn_background(b, s, b->promoted ? STEADY : VARIED);
}

void room_background_add(struct room_background *b, const struct settings *s,
			 const struct room_signal *frame, bool promoted, uint64_t now)
{
	if (now > b->at + GAP_MS * NS_PER_MS) {
		b->blocks = 0;
		b->current = (struct room_signal){0};
		if (b->raised)
			forget_background(b);
	}
	b->at = now;
	room_signal_merge(&b->current, frame);
	if (b->current.samples >= BLOCK_MS * ROOM_RATE / 1000)
		add_block(b, s, promoted);
}

void room_background_on_words(struct room_background *b, uint32_t voice_rms)
{
	if (voice_rms < b->most)
		forget_background(b);
}

void room_background_on_no_words(struct room_background *b, const struct settings *s)
{
	uint32_t least, most;

	if (b->blocks < ROOM_BACKGROUND_BLOCKS)
		return;
	measure_window(b, &least, &most);
	if (!least || least > s->background_max || most <= b->most)
		return;
	b->least = least;
	b->most = most < 2 * s->background_max ? most : 2 * s->background_max;
	b->raised = true;
}
