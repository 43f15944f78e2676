#include "control/report/under_way.h"

#include <string.h>

#include "control/events/events.h"

#define DELEGATED "ask" /* the tool that gives tasks to workers (control/delegate/) */

static void remove_at(struct under_way *u, unsigned i)
{
	memmove(&u->v[i], &u->v[i + 1], (--u->n - i) * sizeof u->v[0]);
}

static struct turn_under_way *find(struct under_way *u, uint64_t guild, uint32_t turn, bool task)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->v[i].guild == guild && u->v[i].turn == turn &&
		    (u->v[i].what != UNDER_WAY_TURN) == task)
			return &u->v[i];
	return NULL;
}

void under_way_add(struct under_way *u, const struct turn_under_way *t)
{
	if (u->n == UNDER_WAY_MAX)
		remove_at(u, 0);
	u->v[u->n++] = *t;
}

static bool end_session(struct under_way *u, uint64_t guild)
{
	bool changed = false;

	for (unsigned i = 0; i < u->n;) {
		if (u->v[i].guild == guild) {
			remove_at(u, i);
			changed = true;
		} else {
			i++;
		}
	}
	return changed;
}

/* The results of this server were told. */
static void end_results(struct under_way *u, uint64_t guild)
{
	for (unsigned i = 0; i < u->n;)
		if (u->v[i].guild == guild && u->v[i].what == UNDER_WAY_RESULT)
			remove_at(u, i);
		else
			i++;
}

/* Its result is told by a turn, unless it was cancelled. */
static bool take_call(struct under_way *u, const struct bus_event *ev)
{
	struct turn_under_way *t = find(u, ev->guild, (uint32_t)ev->tool.call, true);

	if (strcmp(ev->tool.name, DELEGATED) != 0)
		return false;
	if (ev->type == EVENT_TOOL_BEGAN && !t) {
		under_way_add(u, &(struct turn_under_way){.guild = ev->guild,
							  .turn = (uint32_t)ev->tool.call,
							  .what = UNDER_WAY_TASK});
		return true;
	}
	if (ev->type != EVENT_TOOL_CALLED || !t)
		return false;
	if (strcmp(ev->tool.code, "cancelled") == 0)
		remove_at(u, (unsigned)(t - u->v));
	else
		t->what = UNDER_WAY_RESULT;
	return true;
}

bool under_way_take(struct under_way *u, const struct bus_event *ev)
{
	struct turn_under_way *t = NULL;

	/* Turns that a session finds at its start belong to the control before. */
	if (ev->type == EVENT_SESSION_STARTED || ev->type == EVENT_SESSION_OVER)
		return end_session(u, ev->guild);
	if (ev->type == EVENT_TOOL_BEGAN || ev->type == EVENT_TOOL_CALLED)
		return take_call(u, ev);
	t = find(u, ev->guild, (uint32_t)ev->turn.turn, false);
	if (ev->type == EVENT_TURN_ADMITTED && !t) {
		under_way_add(u, &(struct turn_under_way){.guild = ev->guild,
							  .turn = (uint32_t)ev->turn.turn});
		return true;
	}
	if (ev->type == EVENT_TURN_SPEAKING && t && !t->speaking)
		return t->speaking = true;
	if (ev->type != EVENT_TURN || !t)
		return false;
	remove_at(u, (unsigned)(t - u->v));
	if (ev->turn.reason && strcmp(ev->turn.reason, "answered") == 0)
		end_results(u, ev->guild);
	return true;
}

unsigned under_way_count(const struct under_way *u, uint64_t guild, unsigned *speaking)
{
	unsigned n = 0;

	*speaking = 0;
	for (unsigned i = 0; i < u->n; i++) {
		if (u->v[i].guild != guild || u->v[i].what != UNDER_WAY_TURN)
			continue;
		n++;
		*speaking += u->v[i].speaking;
	}
	return n;
}

unsigned under_way_tasks(const struct under_way *u, uint64_t guild)
{
	unsigned n = 0;

	for (unsigned i = 0; i < u->n; i++)
		n += u->v[i].guild == guild && u->v[i].what != UNDER_WAY_TURN;
	return n;
}
