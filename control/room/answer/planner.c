#include "control/room/answer/planner.h"

#include <string.h>

#include "control/room/hearing/hallucination_filter.h"
#include "proto/base/utf8.h"

static struct room_plan_step *step_at(struct room_plan *plan, unsigned i)
{
	return &plan->step[(plan->first + i) % ROOM_PLAN_STEPS];
}

static struct room_plan_step *push_step(struct room_plan *plan, const char *text, size_t n,
					size_t max)
{
	struct room_plan_step *s;

	if (plan->n == ROOM_PLAN_STEPS) {
		plan->cut = true;
		return NULL;
	}
	s = step_at(plan, plan->n++);
	if (n > max) {
		n = utf8_whole(text, max);
		plan->cut = true;
	}
	s->chunk = ++plan->last;
	s->sound = s->beat = false;
	s->n = n;
	memcpy(s->text, text, n);
	s->text[n] = '\0';
	return s;
}

/* Returns false if both together are too long. */
static bool join_step(struct room_plan_step *to, const char *text, size_t n)
{
	if (to->n + 1 + n > ROOM_EXACT_LINE_MAX)
		return false;
	to->text[to->n++] = ' ';
	memcpy(to->text + to->n, text, n);
	to->n += n;
	to->text[to->n] = '\0';
	return true;
}

void room_plan_speech(struct room_plan *plan, const char *text, size_t n)
{
	struct room_plan_step *last = plan->n ? step_at(plan, plan->n - 1) : NULL, *s;

	if (plan->whole || !room_has_words(text))
		return;
	if (plan->n == ROOM_PLAN_STEPS && !last->sound && join_step(last, text, n))
		return;
	s = push_step(plan, text, n, ROOM_EXACT_LINE_MAX);
	if (s)
		s->beat = last && last->sound;
}

void room_plan_sound(struct room_plan *plan, const char *ref, size_t n)
{
	struct room_plan_step *last = plan->n ? step_at(plan, plan->n - 1) : NULL, *s;

	if (plan->whole)
		return;
	s = push_step(plan, ref, n, ROOM_EXACT_LINE_MAX);
	if (!s)
		return;
	s->sound = true;
	if (last)
		last->beat = true;
}

void room_plan_complete(struct room_plan *plan)
{
	unsigned k = 0;

	plan->whole = true;
	for (unsigned i = 1; i < plan->n; i++) {
		struct room_plan_step *to = step_at(plan, k), *s = step_at(plan, i);

		if (!to->sound && !to->beat && !s->sound && !s->beat &&
		    join_step(to, s->text, s->n))
			plan->collapsed++;
		else if (++k != i)
			*step_at(plan, k) = *s;
	}
	if (plan->n)
		plan->n = k + 1;
}

void room_plan_abandon(struct room_plan *plan)
{
	plan->n = 0;
	plan->whole = true;
	plan->running = 0;
	if (plan->phase == ROOM_PLAN_SPEAKING || plan->phase == ROOM_PLAN_SOUNDING)
		plan->phase = ROOM_PLAN_READY;
}

static struct room_plan_do end_playback(struct room_plan *plan)
{
	plan->phase = ROOM_PLAN_DRAINING;
	return (struct room_plan_do){.what = ROOM_PLAN_END};
}

static struct room_plan_do take_step(struct room_plan *plan)
{
	struct room_plan_step *s = step_at(plan, 0);
	struct room_plan_do out = {ROOM_PLAN_SPEAK, s->chunk, s->text};

	if (s->sound)
		out.what = ROOM_PLAN_SOUND;
	plan->phase = s->sound ? ROOM_PLAN_SOUNDING : ROOM_PLAN_SPEAKING;
	plan->running = s->chunk;
	plan->first = (plan->first + 1) % ROOM_PLAN_STEPS;
	plan->n--;
	return out;
}

struct room_plan_do room_plan_next(struct room_plan *plan, uint64_t backlog, uint64_t pause,
				   uint64_t resume)
{
	struct room_plan_do wait = {.what = ROOM_PLAN_WAIT};

	if (backlog >= pause)
		plan->paused = true;
	else if (backlog <= resume)
		plan->paused = false;
	if (plan->phase == ROOM_PLAN_OVER)
		return (struct room_plan_do){.what = ROOM_PLAN_DONE};
	if (plan->phase != ROOM_PLAN_READY)
		return wait;
	if (!plan->n && !plan->whole)
		return wait;
	if (plan->n && !step_at(plan, 0)->sound)
		return plan->paused ? wait : take_step(plan);
	if (plan->held)
		return wait;
	if (plan->playing)
		return end_playback(plan);
	if (plan->n)
		return take_step(plan);
	plan->phase = ROOM_PLAN_OVER;
	return (struct room_plan_do){.what = ROOM_PLAN_DONE};
}

bool room_plan_sounds(struct room_plan *plan, uint32_t chunk)
{
	if (plan->phase != ROOM_PLAN_SPEAKING || chunk != plan->running)
		return false;
	plan->playing = true;
	return true;
}

static bool finish_step(struct room_plan *plan, enum room_plan_phase phase, uint32_t chunk)
{
	if (plan->phase != phase || chunk != plan->running)
		return false;
	plan->phase = ROOM_PLAN_READY;
	plan->running = 0;
	return true;
}

bool room_plan_spoken(struct room_plan *plan, uint32_t chunk)
{
	return finish_step(plan, ROOM_PLAN_SPEAKING, chunk);
}

bool room_plan_sounded(struct room_plan *plan, uint32_t chunk)
{
	return finish_step(plan, ROOM_PLAN_SOUNDING, chunk);
}

void room_plan_drained(struct room_plan *plan)
{
	plan->playing = false;
	if (plan->phase == ROOM_PLAN_DRAINING)
		plan->phase = ROOM_PLAN_READY;
}
