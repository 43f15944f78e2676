/* How the newest music of a call ended, for a control that was away when it did. */
#include "mediad/call/call_internal.h"

bool music_is_fault_of_machine(enum decoder_reason reason)
{
	return reason == DECODER_REASON_LOST || reason == DECODER_REASON_NO_DECODER ||
	       reason == DECODER_REASON_NO_PROCESS || reason == DECODER_REASON_NO_JAIL;
}

void music_remember_end(struct call *c, const struct music_track *t, uint64_t position)
{
	unsigned place = c->n_music_over++ % MUSIC_OVER;

	c->music_over[place].music = t->music;
	c->music_over[place].position = position;
	c->music_over[place].duration = t->opened.duration;
	c->music_over[place].phase = t->phase;
	c->music_over[place].why = t->why;
	c->music_over[place].failure = t->failure;
}

static void send_past_end(struct call *c, unsigned place)
{
	struct music_track t = {.music = c->music_over[place].music,
				.start = c->music_over[place].position,
				.phase = c->music_over[place].phase,
				.why = c->music_over[place].why,
				.failure = c->music_over[place].failure};

	t.opened.duration = c->music_over[place].duration;
	music_send_state(c, &t);
}

void music_send_past_ends(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_OVER; i++)
		send_past_end(c, (c->n_music_over + i) % MUSIC_OVER);
}

bool music_repeat_end(struct call *c, uint32_t music)
{
	for (unsigned i = 1; i <= MUSIC_OVER; i++) {
		unsigned place = (c->n_music_over + MUSIC_OVER - i) % MUSIC_OVER;

		if (!music || c->music_over[place].music != music)
			continue;
		send_past_end(c, place);
		return true;
	}
	return false;
}

bool music_was_stopped(const struct call *c, uint32_t music)
{
	for (unsigned i = 0; music && i < MUSIC_OVER; i++)
		if (c->music_over[i].music == music)
			return c->music_over[i].why == MEDIA_REASON_STOPPED;
	return false;
}

void music_forget_end(struct call *c, uint32_t music)
{
	for (unsigned i = 0; i < MUSIC_OVER; i++)
		if (c->music_over[i].music == music)
			c->music_over[i].music = 0;
}
