/* The link of a conversation, and everything that a deadline decides (conversation.h). */
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"

static void drop_session(struct conversation *c)
{
	c->link = LINK_DOWN;
	c->seeded = c->stale = false;
	c->echoes = false;
	c->due = c->now + backoff_next(&c->backoff, 0);
	/* Items and responses of a lost session are not there any more. */
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		c->asked[i].question = false;
		c->asked[i].response[0] = c->asked[i].item[0] = '\0';
	}
}

static void end_asked(struct asked *a)
{
	a->state = ASKED_OVER;
	a->wanted = false;
	free(a->request);
	a->request = NULL;
}

void conversation_lose(struct conversation *c, struct slice why, bool close)
{
	struct conversation_output *o;

	if (c->link == LINK_DOWN)
		return;
	if (close)
		conversation_emit(c, CONVERSATION_DO_CLOSE);
	drop_session(c);
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state != ASKED_SENT && a->state != ASKED_NAMED)
			continue;
		if (a->wanted) {
			o = conversation_emit(c, CONVERSATION_SAYS_FAILED);
			o->ask = a->id;
			o->text = why;
		}
		end_asked(a);
	}
	if (c->told_down)
		return;
	c->told_down = true;
	conversation_emit(c, CONVERSATION_SAYS_LINK_DOWN)->text = why;
}

void conversation_renew(struct conversation *c)
{
	if (!c->stale || c->link != LINK_UP)
		return;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (c->asked[i].wanted)
			return;
	conversation_emit(c, CONVERSATION_DO_CLOSE);
	drop_session(c);
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state)
			end_asked(&c->asked[i]);
}

void conversation_link(struct conversation *c, const struct conversation_input *in)
{
	switch (in->type) {
	case CONVERSATION_OPENED:
		c->link = LINK_OPEN;
		c->due = c->now + CONVERSATION_SESSION_MS * NS_PER_MS;
		break;
	case CONVERSATION_CREATED:
		if (c->link != LINK_OPEN)
			return;
		c->link = LINK_UP;
		c->told_down = false;
		conversation_emit(c, CONVERSATION_DO_DESCRIBE)->text =
			slice_str(c->instructions ? c->instructions : "");
		conversation_emit(c, CONVERSATION_SAYS_LINK_UP);
		break;
	default:
		conversation_lose(c, in->text, false);
		break;
	}
}

/* ---- time ---- */

/* The provider accepts and does not answer: its session is replaced, and the ask goes to the next
 * one. */
static void replace_session(struct conversation *c, struct asked *silent)
{
	struct conversation_output *o;

	conversation_emit(c, CONVERSATION_DO_CLOSE);
	o = conversation_emit(c, CONVERSATION_SAYS_SILENT);
	o->ask = silent->id;
	c->silent = true;
	drop_session(c);
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		a->since = 0;
		if (a->state != ASKED_SENT && a->state != ASKED_NAMED)
			continue;
		if (!a->wanted) {
			end_asked(a);
			continue;
		}
		a->state = ASKED_WAITING;
		a->until = 0;
		a->refused = false;
	}
}

/* When this ask wants to be looked at. */
static uint64_t due(const struct conversation *c, const struct asked *a)
{
	uint64_t at = UINT64_MAX, silent;

	if (a->state == ASKED_FREE || a->state == ASKED_OVER)
		return at;
	if (a->until && !a->released)
		at = a->until;
	if (a->wanted && a->request->deadline && a->request->deadline < at)
		at = a->request->deadline;
	silent = a->since + c->caps.silent_ms * NS_PER_MS;
	if (c->link == LINK_UP && a->wanted && a->since && !a->life && silent < at &&
	    a->state != ASKED_WAITING)
		at = silent;
	return at;
}

static void expire(struct conversation *c, struct asked *a)
{
	static const char why[] = "the deadline of the ask has passed";
	struct conversation_output *o = conversation_emit(c, CONVERSATION_SAYS_FAILED);

	o->ask = a->id;
	o->text = slice_str(why);
	if (a->state == ASKED_WAITING) {
		end_asked(a);
		return;
	}
	a->wanted = false;
	a->until = c->now + CONVERSATION_WIND_DOWN_MS * NS_PER_MS;
	if (a->state == ASKED_NAMED && c->caps.cancel)
		memcpy(conversation_emit(c, CONVERSATION_DO_CANCEL)->id, a->response,
		       sizeof a->response);
}

static void time_of_ask(struct conversation *c, struct asked *a)
{
	if (c->now < due(c, a))
		return;
	if (a->wanted && a->request->deadline && c->now >= a->request->deadline) {
		expire(c, a);
	} else if (a->until && c->now >= a->until) {
		a->released = !a->wanted;
		a->until = 0;
	} else {
		replace_session(c, a);
	}
}

void conversation_time(struct conversation *c)
{
	static const char none[] = "the connection is open, but no session was created";

	if (c->link == LINK_DOWN && c->now >= c->due) {
		c->link = LINK_CONNECTING;
		conversation_emit(c, CONVERSATION_DO_CONNECT);
	} else if (c->link == LINK_OPEN && c->now >= c->due) {
		conversation_lose(c, slice_str(none), true);
	}
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		time_of_ask(c, &c->asked[i]);
}

uint64_t conversation_deadline(const struct conversation *c)
{
	uint64_t at = c->link == LINK_DOWN || c->link == LINK_OPEN ? c->due : UINT64_MAX;

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		uint64_t one = due(c, &c->asked[i]);

		at = one < at ? one : at;
	}
	return at;
}
