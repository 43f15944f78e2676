#include "ipc/reaper.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ipc/child.h"
#include "ipc/tmr.h"

enum { END_MS = 3000 }; /* for all children together */

struct ending {
	struct reaper *reaper;
	struct child *child;
	bool ended;
	struct ending *next;
};

struct reaper {
	struct env *env;
	struct tmr *sweep; /* a child must not be freed in its own handler; made when needed */
	struct ending *first;
};

static void free_children(struct reaper *r, bool all)
{
	unsigned left_ms = END_MS;
	struct ending **at = &r->first;

	while (*at) {
		struct ending *e = *at;

		if (!e->ended && !all) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		child_free_within(e->child, &left_ms);
		free(e);
	}
}

static void free_ended(void *arg)
{
	free_children(arg, false);
}

static void on_state(bool up, int status, void *arg)
{
	struct ending *e = arg;

	(void)status;
	if (up)
		return;
	e->ended = true;
	tmr_start(e->reaper->sweep, 0);
}

int reaper_alloc(struct reaper **out, struct env *env)
{
	struct reaper *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->env = env;
	*out = r;
	return 0;
}

struct reaper *reaper_free(struct reaper *r)
{
	if (!r)
		return NULL;
	free_children(r, true);
	tmr_free(r->sweep);
	free(r);
	return NULL;
}

void reaper_take(struct reaper *r, struct child *child)
{
	struct ending *e = r && child ? calloc(1, sizeof *e) : NULL;

	if (!e || (!r->sweep && tmr_alloc(&r->sweep, r->env, free_ended, r))) {
		free(e);
		child_free(child);
		return;
	}
	*e = (struct ending){.reaper = r, .child = child, .next = r->first};
	r->first = e;
	child_hand_over(child, on_state, e);
	child_cut(child);
	if (!child_runs(child))
		on_state(false, 0, e);
}

unsigned reaper_count(const struct reaper *r)
{
	unsigned n = 0;

	for (const struct ending *e = r->first; e; e = e->next)
		n++;
	return n;
}
