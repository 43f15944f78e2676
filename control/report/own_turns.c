#include "control/report/own_turns.h"

#include <stdbool.h>
#include <string.h>

#include "control/events/events.h"
#include "proto/base/utf8.h"

static void remove_at(struct own_turns *t, unsigned i)
{
	memmove(&t->v[i], &t->v[i + 1], (--t->n - i) * sizeof t->v[0]);
}

static bool is_of(const struct own_turn *own, uint64_t guild, uint64_t user)
{
	return own->guild == guild && own->user == user;
}

/* Makes room for one more of this person. */
static void drop_oldest(struct own_turns *t, uint64_t guild, uint64_t user)
{
	unsigned n = 0, oldest = 0;

	for (unsigned i = t->n; i-- > 0;)
		if (is_of(&t->v[i], guild, user)) {
			oldest = i;
			n++;
		}
	if (n == OWN_TURNS_EACH)
		remove_at(t, oldest);
	else if (t->n == OWN_TURNS)
		remove_at(t, 0);
}

void own_turns_take_event(const struct bus_event *ev, void *arg)
{
	struct own_turns *t = arg;
	struct own_turn *own;

	/* To its speaker a part of another turn is no turn. */
	if (ev->type != EVENT_TURN || !ev->user || bus_turn_is_part(ev->turn.reason))
		return;
	drop_oldest(t, ev->guild, ev->user);
	own = &t->v[t->n++];
	own->guild = ev->guild;
	own->user = ev->user;
	own->at_ms = ev->at_ms;
	own->turn = (uint32_t)ev->turn.turn;
	utf8_copy(own->reason, sizeof own->reason, ev->turn.text);
}

const char *own_turns_reason(const struct own_turns *t, uint64_t guild, uint64_t user)
{
	for (unsigned i = t->n; i-- > 0;)
		if (is_of(&t->v[i], guild, user))
			return t->v[i].reason;
	return NULL;
}

const struct own_turn *own_turns_find(const struct own_turns *t, uint64_t guild, uint64_t user,
				      uint32_t turn)
{
	for (unsigned i = t->n; i-- > 0;)
		if (is_of(&t->v[i], guild, user) && t->v[i].turn == turn)
			return &t->v[i];
	return NULL;
}

/* The numbers of turns begin anew with each voice session. */
unsigned own_turns_list(const struct own_turns *t, uint64_t guild, uint64_t user,
			const struct own_turn *out[OWN_TURNS_EACH])
{
	unsigned n = 0;

	for (unsigned i = t->n; i-- > 0 && n < OWN_TURNS_EACH;)
		if (is_of(&t->v[i], guild, user) &&
		    own_turns_find(t, guild, user, t->v[i].turn) == &t->v[i])
			out[n++] = &t->v[i];
	return n;
}

void own_turns_forget(struct own_turns *t, uint64_t user)
{
	for (unsigned i = t->n; i-- > 0;)
		if (t->v[i].user == user)
			remove_at(t, i);
}
