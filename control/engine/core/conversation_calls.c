/* The calls of tools in a conversation (conversation.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"
#include "proto/base/fnv.h"

static void clear_call(struct call *call)
{
	free(call->text);
	*call = (struct call){0};
}

/* True: no call of this session had this id before. */
static bool mark_seen(struct conversation *c, const char *id)
{
	uint64_t hash = fnv_text(fnv_value(FNV_BEGIN, conversation_serving(c)->epoch), id);

	for (unsigned i = 0; i < CALLS_SEEN && i < c->seen_n; i++)
		if (c->seen[i] == hash)
			return false;
	c->seen[c->seen_n++ % CALLS_SEEN] = hash;
	return true;
}

/* Fragments may name the item alone. */
static struct call *find_call(struct conversation *c, const struct conversation_input *in)
{
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++) {
		struct call *call = &c->call[i];

		if (call->state && (*in->call ? strcmp(call->id, in->call) == 0
					      : *in->item && strcmp(call->item, in->item) == 0))
			return call;
	}
	return NULL;
}

/* NULL: too many are open. None gives way, because each waits for its result. */
static struct call *add_call(struct conversation *c, const struct asked *a,
			     const struct conversation_input *in)
{
	struct call *best = &c->call[0];

	for (unsigned i = 0; i < CONVERSATION_CALLS && best->state; i++)
		best = &c->call[i];
	if (best->state)
		return NULL;
	clear_call(best);
	best->state = CALL_OPEN;
	best->ask = a->id;
	snprintf(best->id, sizeof best->id, "%s", in->call);
	snprintf(best->item, sizeof best->item, "%s", in->item);
	snprintf(best->name, sizeof best->name, "%s", in->name);
	return best;
}

static void append_text(struct call *call, struct slice text)
{
	char *grown;

	call->broken = call->broken || call->n + text.n > CONVERSATION_ARGUMENTS_MAX;
	if (call->broken || !text.n)
		return;
	grown = realloc(call->text, call->n + text.n);
	if (!grown) {
		call->broken = true;
		return;
	}
	memcpy(grown + call->n, text.p, text.n);
	call->text = grown;
	call->n += text.n;
}

/* All of its arguments are there. */
static void tell_call(struct conversation *c, struct asked *a, struct call *call)
{
	struct conversation_output *o;

	if (!*call->name || !mark_seen(c, call->id)) {
		clear_call(call);
		return;
	}
	call->state = CALL_TOLD;
	call->told_at = c->now;
	a->calls++;
	o = conversation_emit(c, CONVERSATION_SAYS_CALL);
	o->ask = a->id;
	o->name = call->name;
	o->epoch = conversation_serving(c)->epoch;
	o->too_large = call->broken;
	if (!call->broken)
		o->text = (struct slice){(const uint8_t *)call->text, call->n};
	memcpy(o->id, call->id, sizeof call->id);
}

/* The provider gets its one result; the owner never hears of the call. */
static void refuse_call(struct conversation *c, const struct conversation_input *in)
{
	static const char busy[] = "{\"error\":\"too many calls at once\"}";
	struct conversation_output *o;

	if (!*in->call || !mark_seen(c, in->call))
		return;
	o = conversation_emit(c, CONVERSATION_DO_RESULT);
	snprintf(o->id, sizeof o->id, "%s", in->call);
	o->name = in->name;
	o->text = slice_str(busy);
	o->failed = true;
}

static void finish_call(struct conversation *c, struct asked *a, struct call *call,
			const struct conversation_input *in)
{
	call = call ? call : add_call(c, a, in);
	if (!call)
		refuse_call(c, in);
	if (!call || call->state != CALL_OPEN)
		return;
	if (*in->name)
		snprintf(call->name, sizeof call->name, "%s", in->name);
	if (in->text.n) {
		call->n = 0;
		append_text(call, in->text);
	}
	tell_call(c, a, call);
}

static void revoke_call(struct conversation *c, struct call *call)
{
	struct conversation_output *o;

	if (call->state == CALL_TOLD) {
		o = conversation_emit(c, CONVERSATION_SAYS_REVOKED);
		o->epoch = conversation_serving(c)->epoch;
		memcpy(o->id, call->id, sizeof call->id);
	}
	clear_call(call);
}

void conversation_call(struct conversation *c, const struct conversation_input *in)
{
	struct call *call = find_call(c, in);
	struct asked *a;

	if (in->type == CONVERSATION_CALL_REVOKED) {
		if (call)
			revoke_call(c, call);
		return;
	}
	a = conversation_by_response(c, in->response);
	/* A voice that reads out calls nothing. */
	if (!a || a->state != ASKED_NAMED || !a->wanted || c->caps.lines)
		return;
	conversation_lives(c, a);
	if (in->type == CONVERSATION_CALL)
		finish_call(c, a, call, in);
	else if (in->type == CONVERSATION_CALL_BEGUN && !call)
		add_call(c, a, in);
	else if (in->type == CONVERSATION_CALL_FRAGMENT && call && call->state == CALL_OPEN)
		append_text(call, in->text);
}

void conversation_calls_end(struct conversation *c, struct asked *a, bool whole)
{
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++) {
		struct call *call = &c->call[i];

		if (call->state != CALL_OPEN || call->ask != a->id)
			continue;
		if (whole && (call->n || call->broken))
			tell_call(c, a, call);
		else
			clear_call(call);
	}
}

/* ---- results ---- */

struct call *conversation_open_call(struct conversation *c, const char *id)
{
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++)
		if (c->call[i].state == CALL_TOLD && strcmp(c->call[i].id, id) == 0)
			return &c->call[i];
	return NULL;
}

void conversation_give_result(struct conversation *c, struct call *call, struct slice text,
			      bool failed)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_DO_RESULT);

	memcpy(o->id, call->id, sizeof call->id);
	o->text = text;
	o->failed = failed;
	/* Its name is needed until the step is over; its place is taken later. */
	o->name = call->name;
	call->state = CALL_FREE;
}

void conversation_cancel_calls(struct conversation *c)
{
	static const char cancelled[] = "{\"error\":\"cancelled\"}";

	for (unsigned i = 0; i < CONVERSATION_CALLS; i++)
		if (c->call[i].state == CALL_TOLD)
			conversation_give_result(c, &c->call[i], slice_str(cancelled), true);
}

void conversation_drop_calls(struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++)
		if (c->call[i].state)
			clear_call(&c->call[i]);
}

void conversation_free_calls(struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_CALLS; i++)
		clear_call(&c->call[i]);
}
