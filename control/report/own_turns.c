#include "control/report/own_turns.h"

#include <stdbool.h>
#include <string.h>

#include "control/events/events.h"
#include "proto/base/utf8.h"

static void remove_at(struct own_turns *t, unsigned i)
{
	memmove(&t->v[i], &t->v[i + 1], (--t->n - i) * sizeof t->v[0]);
}

/* One that its speaker would not know of. */
static bool is_inner(const char *reason)
{
	static const char *const names[] = {"merged", "eot_revoked", "speculation_unused",
					    "speculation_failed"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(reason, names[i]) == 0)
			return true;
	return false;
}

void own_turns_take_event(const struct bus_event *ev, void *arg)
{
	struct own_turns *t = arg;
	struct own_turn *own;

	if (ev->type != EVENT_TURN || !ev->user || is_inner(ev->turn.reason))
		return;
	for (unsigned i = 0; i < t->n; i++)
		if (t->v[i].guild == ev->guild && t->v[i].user == ev->user)
			remove_at(t, i);
	if (t->n == OWN_TURNS)
		remove_at(t, 0);
	own = &t->v[t->n++];
	own->guild = ev->guild;
	own->user = ev->user;
	utf8_copy(own->reason, sizeof own->reason, ev->turn.text);
}

const char *own_turns_reason(const struct own_turns *t, uint64_t guild, uint64_t user)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->v[i].guild == guild && t->v[i].user == user)
			return t->v[i].reason;
	return NULL;
}

void own_turns_forget(struct own_turns *t, uint64_t user)
{
	for (unsigned i = t->n; i-- > 0;)
		if (t->v[i].user == user)
			remove_at(t, i);
}
