#include "control/report/under_way.h"

#include <string.h>

#include "control/events/events.h"

static void remove_at(struct under_way *u, unsigned i)
{
	memmove(&u->v[i], &u->v[i + 1], (--u->n - i) * sizeof u->v[0]);
}

static struct turn_under_way *find(struct under_way *u, uint64_t guild, uint32_t turn)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->v[i].guild == guild && u->v[i].turn == turn)
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

bool under_way_take(struct under_way *u, const struct bus_event *ev)
{
	struct turn_under_way *t = NULL;

	/* What a session finds at its start is of the control before. */
	if (ev->type == EVENT_SESSION_STARTED || ev->type == EVENT_SESSION_OVER)
		return end_session(u, ev->guild);
	t = find(u, ev->guild, (uint32_t)ev->turn.turn);
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
	return true;
}

unsigned under_way_count(const struct under_way *u, uint64_t guild, unsigned *speaking)
{
	unsigned n = 0;

	*speaking = 0;
	for (unsigned i = 0; i < u->n; i++) {
		if (u->v[i].guild != guild)
			continue;
		n++;
		*speaking += u->v[i].speaking;
	}
	return n;
}
