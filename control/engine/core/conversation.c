#include "control/engine/core/conversation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"

/* ---- outputs ---- */

struct conversation_output *conversation_emit(struct conversation *c,
					      enum conversation_output_type type)
{
	struct conversation_outputs *out = c->out;

	if (out->n == CONVERSATION_OUTPUTS)
		out->n--; /* cannot happen: an input causes fewer */
	out->v[out->n] = (struct conversation_output){.type = type};
	return &out->v[out->n++];
}

static void emit_id(struct conversation *c, enum conversation_output_type type, const char *id)
{
	memcpy(conversation_emit(c, type)->id, id, strlen(id) + 1);
}

static void emit_text(struct conversation *c, enum conversation_output_type type, const char *text)
{
	conversation_emit(c, type)->text = slice_str(text);
}

/* ---- the table ---- */

static bool outstanding(const struct asked *a)
{
	return a->state == ASKED_SENT || a->state == ASKED_NAMED;
}

static struct asked *by_id(struct conversation *c, uint32_t id)
{
	for (unsigned i = 0; id && i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state && c->asked[i].id == id)
			return &c->asked[i];
	return NULL;
}

static struct asked *by_response(struct conversation *c, const char *response)
{
	for (unsigned i = 0; *response && i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state && strcmp(c->asked[i].response, response) == 0)
			return &c->asked[i];
	return NULL;
}

static struct asked *active(struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (outstanding(&c->asked[i]) && !c->asked[i].released)
			return &c->asked[i];
	return NULL;
}

/* The oldest or newest ask that was sent and has no response yet. */
static struct asked *unnamed(struct conversation *c, bool newest)
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

/* A free place, else that of an ask that is over, else of one that blocks nobody; the oldest. */
static struct asked *place(struct conversation *c)
{
	struct asked *best = NULL;

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state == ASKED_FREE)
			return a;
		if (a->state != ASKED_OVER && !a->released)
			continue;
		if (!best || (best->state != ASKED_OVER && a->state == ASKED_OVER) ||
		    (best->state == a->state && a->id < best->id))
			best = a;
	}
	return best;
}

/* ---- asking ---- */

static void delete_question(struct conversation *c, struct asked *a)
{
	char id[32];

	if (!a->question)
		return;
	a->question = false;
	snprintf(id, sizeof id, CONVERSATION_QUESTION, a->id);
	if (c->link == LINK_UP && c->caps.erase)
		emit_id(c, CONVERSATION_DO_DELETE, id);
}

static void delete_answer(struct conversation *c, struct asked *a)
{
	if (a->item[0] && c->link == LINK_UP && c->caps.erase)
		emit_id(c, CONVERSATION_DO_DELETE, a->item);
	a->item[0] = '\0';
}

/* Puts the question into the provider's conversation, unless it stands there; a new wording
 * replaces the old one. */
static void put_question(struct conversation *c, struct asked *a)
{
	struct conversation_output *o;
	bool there = a->question;

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *x = &c->asked[i];

		if (x == a || !x->state || x->turn != a->turn || !x->question)
			continue;
		if (a->request->again)
			there = true;
		else
			delete_question(c, x);
	}
	if (there)
		return;
	o = conversation_emit(c, CONVERSATION_DO_ITEM);
	snprintf(o->id, sizeof o->id, CONVERSATION_QUESTION, a->id);
	o->message = &a->request->messages[a->request->n - 1];
	a->question = true;
}

static void send_ask(struct conversation *c, struct asked *a)
{
	struct conversation_output *o;

	if (!c->seeded)
		for (size_t i = 0; i + 1 < a->request->n; i++)
			conversation_emit(c, CONVERSATION_DO_ITEM)->message =
				&a->request->messages[i];
	c->seeded = true;
	put_question(c, a);
	o = conversation_emit(c, CONVERSATION_DO_RESPOND);
	o->ask = a->id;
	o->turn = a->turn;
	a->state = ASKED_SENT;
	a->order = ++c->orders;
	a->until = 0;
	if (!a->since)
		a->since = c->now;
}

/* Sends the oldest ask that waits, when nothing hinders. */
static void send_next(struct conversation *c)
{
	struct asked *next = NULL;

	if (c->link != LINK_UP || active(c))
		return;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state == ASKED_WAITING && (!next || a->id < next->id))
			next = a;
	}
	if (next && next->until <= c->now)
		send_ask(c, next);
}

static void end_ask(struct conversation *c, struct asked *a)
{
	a->state = ASKED_OVER;
	a->wanted = false;
	free(a->request);
	a->request = NULL;
	if (a->forgotten)
		delete_answer(c, a);
}

static void fail_ask(struct conversation *c, struct asked *a, struct slice why)
{
	struct conversation_output *o;

	if (a->wanted) {
		o = conversation_emit(c, CONVERSATION_SAYS_FAILED);
		o->ask = a->id;
		o->text = why;
	}
	end_ask(c, a);
}

static void cancel_ask(struct conversation *c, struct asked *a)
{
	if (a->state == ASKED_WAITING) {
		end_ask(c, a);
		return;
	}
	if (!outstanding(a) || !a->wanted)
		return;
	a->wanted = false;
	a->until = c->now + CONVERSATION_WIND_DOWN_MS * NS_PER_MS;
	if (a->state == ASKED_NAMED && c->caps.cancel)
		emit_id(c, CONVERSATION_DO_CANCEL, a->response);
}

static int ask(struct conversation *c, const struct engine_ask *request)
{
	struct asked *a = place(c);
	struct engine_ask *copy;
	uint64_t since = 0;
	int err;

	if (!a)
		return EBUSY;
	err = engine_ask_copy(&copy, request);
	if (err)
		return err;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		const struct asked *x = &c->asked[i];

		if (x->state && x->turn == request->turn && !x->life && x->since &&
		    (!since || x->since < since))
			since = x->since;
	}
	free(a->request);
	*a = (struct asked){.state = ASKED_WAITING,
			    .id = request->id,
			    .turn = request->turn,
			    .wanted = true,
			    .since = since,
			    .request = copy};
	send_next(c);
	return 0;
}

static void forget(struct conversation *c, uint32_t turn)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (!a->state || a->turn != turn)
			continue;
		cancel_ask(c, a);
		delete_question(c, a);
		a->forgotten = true;
		if (a->state == ASKED_OVER)
			delete_answer(c, a);
	}
	send_next(c);
}

static void truncate(struct conversation *c, uint32_t id, uint32_t ms)
{
	struct asked *a = by_id(c, id);
	struct conversation_output *o;
	uint64_t came;

	if (!a || !a->item[0] || c->link != LINK_UP || !c->caps.truncate)
		return;
	came = a->bytes * 1000 / (2 * c->caps.rate);
	o = conversation_emit(c, CONVERSATION_DO_TRUNCATE);
	memcpy(o->id, a->item, sizeof a->item);
	o->ms = ms < came ? ms : (uint32_t)came;
}

static int instruct(struct conversation *c, struct slice text)
{
	char *copy;

	if (c->instructions && strlen(c->instructions) == text.n &&
	    memcmp(c->instructions, text.p, text.n) == 0)
		return 0;
	copy = strndup((const char *)text.p, text.n);
	if (!copy)
		return ENOMEM;
	free(c->instructions);
	c->instructions = copy;
	if (c->link == LINK_UP)
		emit_text(c, CONVERSATION_DO_INSTRUCT, copy);
	return 0;
}

/* ---- what the provider says ---- */

static void served(struct conversation *c)
{
	backoff_reset(&c->backoff);
	c->silent = false;
}

static void response_created(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a;

	c->echoes = c->echoes || in->ask;
	a = in->ask ? by_id(c, in->ask) : c->echoes ? NULL : unnamed(c, false);
	if (a && strcmp(a->response, in->response) == 0)
		return;
	if (!a || a->state != ASKED_SENT) {
		/* Nobody waits for it, and it keeps others from being answered. */
		if (c->caps.cancel)
			emit_id(c, CONVERSATION_DO_CANCEL, in->response);
		return;
	}
	snprintf(a->response, sizeof a->response, "%s", in->response);
	a->state = ASKED_NAMED;
	/* It was cancelled before it had a name. */
	if (!a->wanted && c->caps.cancel)
		emit_id(c, CONVERSATION_DO_CANCEL, a->response);
}

static void answer_came(struct conversation *c, const struct conversation_input *in)
{
	bool audio = in->type == CONVERSATION_AUDIO;
	struct asked *a = by_response(c, in->response);
	struct conversation_output *o;

	if (!a || a->state != ASKED_NAMED)
		return;
	if (!a->item[0])
		snprintf(a->item, sizeof a->item, "%s", in->item);
	if (!a->wanted || !(audio ? in->pcm.n : in->text.n))
		return;
	a->life = true;
	a->bytes += in->pcm.n;
	served(c);
	o = conversation_emit(c, audio ? CONVERSATION_SAYS_AUDIO : CONVERSATION_SAYS_TEXT);
	o->ask = a->id;
	o->pcm = in->pcm;
	o->text = in->text;
}

static void response_done(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a = by_response(c, in->response);

	if (!a && in->ask)
		a = by_id(c, in->ask);
	/* Whichever was active is not any more. */
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state == ASKED_WAITING)
			c->asked[i].until = 0;
	if (a && outstanding(a)) {
		snprintf(a->response, sizeof a->response, "%s", in->response);
		if (in->ok && a->wanted) {
			served(c);
			conversation_emit(c, CONVERSATION_SAYS_DONE)->ask = a->id;
			end_ask(c, a);
		} else {
			fail_ask(c, a, in->text);
		}
	}
	send_next(c);
}

static void wait_for_active(struct conversation *c, struct asked *a)
{
	if (!a->wanted) {
		end_ask(c, a);
		return;
	}
	a->state = ASKED_WAITING;
	a->until = c->now + CONVERSATION_REFUSED_MS * NS_PER_MS;
	/* Nothing that is wanted is active, since this ask went out. */
	if (!a->refused && c->caps.cancel)
		emit_id(c, CONVERSATION_DO_CANCEL, "");
	a->refused = true;
}

static void error_came(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a = by_id(c, in->ask);

	switch (in->error) {
	case CONVERSATION_ERROR_NOT_ACTIVE:
		/* Cancelling a response that has just ended is a race, not a fault. */
		a = active(c);
		if (a && !a->wanted)
			end_ask(c, a);
		break;
	case CONVERSATION_ERROR_FATAL:
		conversation_lose(c, in->text, true);
		break;
	case CONVERSATION_ERROR_ACTIVE:
		a = in->ask ? a : unnamed(c, true);
		if (a && a->state == ASKED_SENT)
			wait_for_active(c, a);
		break;
	case CONVERSATION_ERROR_OTHER:
		if (a && a->state == ASKED_SENT)
			fail_ask(c, a, in->text);
		break;
	}
	send_next(c);
}

/* ---- the door ---- */

static int step_owner(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a;

	switch (in->type) {
	case CONVERSATION_ASK:
		return ask(c, in->request);
	case CONVERSATION_CANCEL:
		a = by_id(c, in->ask);
		if (a)
			cancel_ask(c, a);
		send_next(c);
		break;
	case CONVERSATION_TRUNCATE:
		truncate(c, in->ask, in->ms);
		break;
	case CONVERSATION_FORGET:
		forget(c, in->turn);
		break;
	case CONVERSATION_HEAR:
		/* Before the first ask of a session: the history that comes with that holds it. */
		if (c->link == LINK_UP && c->seeded)
			conversation_emit(c, CONVERSATION_DO_ITEM)->message = in->message;
		break;
	case CONVERSATION_INSTRUCT:
		return instruct(c, in->text);
	case CONVERSATION_RENEW:
		c->stale = c->seeded;
		break;
	default:
		break;
	}
	return 0;
}

static int step_any(struct conversation *c, const struct conversation_input *in)
{
	switch (in->type) {
	case CONVERSATION_OPENED:
	case CONVERSATION_CREATED:
	case CONVERSATION_CLOSED:
		conversation_link(c, in);
		send_next(c);
		break;
	case CONVERSATION_RESPONSE:
		response_created(c, in);
		break;
	case CONVERSATION_AUDIO:
	case CONVERSATION_TEXT:
		answer_came(c, in);
		break;
	case CONVERSATION_DONE:
		response_done(c, in);
		break;
	case CONVERSATION_ERROR:
		error_came(c, in);
		break;
	case CONVERSATION_TIME:
		conversation_time(c);
		send_next(c);
		break;
	default:
		return step_owner(c, in);
	}
	return 0;
}

int conversation_step(struct conversation *c, const struct conversation_input *in, uint64_t now,
		      struct conversation_outputs *outputs)
{
	int err;

	c->now = now;
	c->out = outputs;
	outputs->n = 0;
	err = step_any(c, in);
	conversation_renew(c);
	return err;
}

bool conversation_up(const struct conversation *c)
{
	return c->link == LINK_UP;
}

bool conversation_silent(const struct conversation *c)
{
	return c->silent;
}

int conversation_alloc(struct conversation **out, const struct conversation_caps *caps)
{
	static const struct backoff_conf waits = {.first_ms = 500, .max_ms = 30000};
	struct conversation *c = calloc(1, sizeof *c);

	if (!c)
		return ENOMEM;
	c->caps = *caps;
	c->backoff = backoff_of(&waits);
	*out = c;
	return 0;
}

struct conversation *conversation_free(struct conversation *c)
{
	if (!c)
		return NULL;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		free(c->asked[i].request);
	free(c->instructions);
	free(c);
	return NULL;
}
