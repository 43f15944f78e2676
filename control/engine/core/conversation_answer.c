/* Events of the provider about its answers (conversation.h). */
#include <stdio.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"

/* A server may use an id again. */
struct asked *conversation_by_response(struct conversation *c, const char *response)
{
	struct asked *found = NULL;

	for (unsigned i = 0; *response && i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state && strcmp(a->response, response) == 0 &&
		    (!found || asked_outstanding(a)))
			found = a;
	}
	return found;
}

/* The oldest or newest ask that was sent and has no response yet. */
static struct asked *find_unnamed(struct conversation *c, bool newest)
{
	struct asked *found = NULL;

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state == ASKED_SENT &&
		    (!found || (newest ? a->order > found->order : a->order < found->order)))
			found = a;
	}
	return found;
}

static void note_service(struct conversation *c)
{
	backoff_reset(&c->backoff);
	c->roll_from = 0;
	conversation_serving(c)->used_at = c->now;
	c->silent = false;
}

void conversation_lives(struct conversation *c, struct asked *a)
{
	if (!a->life)
		a->life_from = c->now;
	a->life = true;
	a->life_at = c->now;
	note_service(c);
}

static void take_response(struct conversation *c, const struct conversation_input *in)
{
	struct session *s = conversation_serving(c);
	struct asked *a;

	s->echoes = s->echoes || in->ask;
	a = in->ask ? conversation_asked(c, in->ask) : s->echoes ? NULL : find_unnamed(c, false);
	if (a && strcmp(a->response, in->response) == 0)
		return;
	if (!a || a->state != ASKED_SENT) {
		/* Nobody waits for it, and it keeps others from being answered. */
		if (c->caps.cancel)
			conversation_emit_id(c, CONVERSATION_DO_CANCEL, in->response);
		return;
	}
	snprintf(a->response, sizeof a->response, "%s", in->response);
	a->state = ASKED_NAMED;
	/* It was cancelled before it had a name. */
	if (!a->wanted && c->caps.cancel)
		conversation_emit_id(c, CONVERSATION_DO_CANCEL, a->response);
}

/* The item that more of the answer belongs to; NULL: it has more than there is room for. */
static struct asked_item *item_of(struct asked *a, const char *id)
{
	struct asked_item *item;

	for (unsigned i = 0; i < a->items; i++)
		if (strcmp(a->item[i].id, id) == 0)
			return &a->item[i];
	if (a->items == CONVERSATION_ITEMS)
		return NULL;
	item = &a->item[a->items++];
	*item = (struct asked_item){0};
	snprintf(item->id, sizeof item->id, "%s", id);
	return item;
}

static void take_delta(struct conversation *c, const struct conversation_input *in)
{
	bool audio = in->type == CONVERSATION_AUDIO;
	struct asked *a = conversation_by_response(c, in->response);
	struct conversation_output *o;
	struct asked_item *item;

	if (!a || a->state != ASKED_NAMED)
		return;
	item = item_of(a, in->item);
	if (!a->wanted || !(audio ? in->pcm.n : in->text.n))
		return;
	if (item)
		item->bytes += in->pcm.n;
	conversation_lives(c, a);
	o = conversation_emit(c, audio ? CONVERSATION_SAYS_AUDIO : CONVERSATION_SAYS_TEXT);
	o->ask = a->id;
	o->pcm = in->pcm;
	o->text = in->text;
}

/* ---- the end of an answer ---- */

static void tell_done(struct conversation *c, struct asked *a, bool cut)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_SAYS_DONE);

	note_service(c);
	conversation_serving(c)->fails = false;
	o->ask = a->id;
	o->calls = a->calls > 0;
	o->cut = cut;
	conversation_end_ask(c, a);
}

static void end_answer(struct conversation *c, struct asked *a, const struct conversation_input *in)
{
	bool whole = in->ok || a->cut;

	snprintf(a->response, sizeof a->response, "%s", in->response);
	conversation_calls_end(c, a, in->ok && a->wanted);
	if (whole && a->wanted)
		tell_done(c, a, in->cut || a->cut);
	else
		conversation_fail_ask(c, a, in->text);
}

static void take_done(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a = conversation_by_response(c, in->response);
	struct conversation_output *o;

	if (!a && in->ask)
		a = conversation_asked(c, in->ask);
	if (in->usage) {
		o = conversation_emit(c, CONVERSATION_SAYS_USAGE);
		o->ask = a ? a->id : 0;
		o->usage = in->usage;
	}
	/* Whichever was active is not any more. */
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state == ASKED_WAITING)
			c->asked[i].until = 0;
	if (a && asked_outstanding(a))
		end_answer(c, a, in);
}

/* ---- errors ---- */

static void wait_for_active(struct conversation *c, struct asked *a)
{
	if (!a->wanted) {
		conversation_end_ask(c, a);
		return;
	}
	a->state = ASKED_WAITING;
	a->until = c->now + CONVERSATION_REFUSED_MS * NS_PER_MS;
	/* Nothing that is wanted is active, since this ask went out. */
	if (!a->refused && c->caps.cancel)
		conversation_emit_id(c, CONVERSATION_DO_CANCEL, "");
	a->refused = true;
}

static void take_error(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a = conversation_asked(c, in->ask);

	switch (in->error) {
	case CONVERSATION_ERROR_NOT_ACTIVE:
		/* Cancelling a response that has just ended is a race, not a fault. */
		a = conversation_active(c);
		if (a && !a->wanted)
			conversation_end_ask(c, a);
		break;
	case CONVERSATION_ERROR_FATAL:
		conversation_lose(c, in->session, in->text, true);
		break;
	case CONVERSATION_ERROR_ACTIVE:
		a = in->ask ? a : find_unnamed(c, true);
		if (a && a->state == ASKED_SENT)
			wait_for_active(c, a);
		break;
	case CONVERSATION_ERROR_OTHER:
		if (a && a->state == ASKED_SENT)
			conversation_fail_ask(c, a, in->text);
		break;
	}
}

/* ---- questions that were sound ---- */

/* The provider names the sound in the order in which it was committed. */
static void name_question(struct conversation *c, const char *item)
{
	struct asked *first = NULL;

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state && a->unnamed && (!first || a->order < first->order))
			first = a;
	}
	if (!first)
		return;
	first->unnamed = false;
	snprintf(first->sound, sizeof first->sound, "%s", item);
	if (first->forgotten)
		conversation_delete_question(c, first);
}

void conversation_answer(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a;

	switch (in->type) {
	case CONVERSATION_RESPONSE:
		take_response(c, in);
		break;
	case CONVERSATION_AUDIO:
	case CONVERSATION_TEXT:
		take_delta(c, in);
		break;
	case CONVERSATION_DONE:
		take_done(c, in);
		break;
	case CONVERSATION_ERROR:
		take_error(c, in);
		break;
	case CONVERSATION_ITEM:
		name_question(c, in->item);
		break;
	default: /* INTERRUPTED */
		a = conversation_by_response(c, in->response);
		if (a)
			a->cut = true;
		break;
	}
}
