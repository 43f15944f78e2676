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
	out->v[out->n] = (struct conversation_output){.type = type, .session = c->serving};
	return &out->v[out->n++];
}

void conversation_emit_id(struct conversation *c, enum conversation_output_type type,
			  const char *id)
{
	memcpy(conversation_emit(c, type)->id, id, strlen(id) + 1);
}

/* ---- the table ---- */

struct asked *conversation_asked(struct conversation *c, uint32_t id)
{
	for (unsigned i = 0; id && i < CONVERSATION_ASKS; i++)
		if (c->asked[i].state && c->asked[i].id == id)
			return &c->asked[i];
	return NULL;
}

struct asked *conversation_active(struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (asked_outstanding(&c->asked[i]) && !c->asked[i].released)
			return &c->asked[i];
	return NULL;
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

/* ---- questions ---- */

static bool can_erase(const struct conversation *c)
{
	return conversation_serves(c) && c->caps.erase;
}

static void delete_item(struct conversation *c, char *id)
{
	if (*id && can_erase(c))
		conversation_emit_id(c, CONVERSATION_DO_DELETE, id);
	*id = '\0';
}

/* Sound that has no name yet is deleted when it gets one. */
void conversation_delete_question(struct conversation *c, struct asked *a)
{
	if (!a->question)
		return;
	a->question = a->unnamed;
	delete_item(c, a->line);
	delete_item(c, a->sound);
}

static void delete_answer(struct conversation *c, struct asked *a)
{
	for (unsigned i = 0; i < a->items; i++)
		if (can_erase(c))
			conversation_emit_id(c, CONVERSATION_DO_DELETE, a->item[i].id);
	a->items = 0;
}

/* Puts what was heard of the answer in its place. */
static void replace_answer(struct conversation *c, struct asked *a)
{
	struct conversation_output *o;

	a->replaced = false;
	if (!a->items || !can_erase(c))
		return;
	if (!*a->heard) {
		delete_answer(c, a);
		return;
	}
	a->said =
		(struct engine_message){.role = ENGINE_ASSISTANT, .speaker = "", .text = a->heard};
	o = conversation_emit(c, CONVERSATION_DO_ITEM);
	snprintf(o->id, sizeof o->id, CONVERSATION_HEARD, a->id);
	memcpy(o->after, a->item[a->items - 1].id, sizeof o->after);
	o->message = &a->said;
	delete_answer(c, a);
	a->items = 1;
	a->item[0] = (struct asked_item){0};
	snprintf(a->item[0].id, sizeof a->item[0].id, CONVERSATION_HEARD, a->id);
}

static bool has_sound(const struct conversation *c, const struct engine_ask *ask)
{
	size_t n = 0;

	for (size_t i = 0; i < ask->n_sound; i++)
		n += ask->sound[i].n;
	return c->caps.sound && n && n >= c->caps.min_sound;
}

static void emit_images(struct conversation *c, const struct engine_message *m)
{
	for (size_t i = 0; c->caps.images && i < m->n_images && i < ENGINE_IMAGES_MAX; i++)
		conversation_emit(c, CONVERSATION_DO_IMAGE)->image = &m->images[i];
}

/* A message that is no question. */
static void emit_message(struct conversation *c, const struct engine_message *m)
{
	emit_images(c, m);
	conversation_emit(c, CONVERSATION_DO_ITEM)->message = m;
}

static void emit_line(struct conversation *c, struct asked *a, const struct engine_message *m)
{
	struct conversation_output *o;

	emit_images(c, m);
	o = conversation_emit(c, CONVERSATION_DO_ITEM);
	snprintf(a->line, sizeof a->line, CONVERSATION_QUESTION, a->id);
	memcpy(o->id, a->line, sizeof a->line);
	o->message = m;
}

static void emit_sound(struct conversation *c, struct asked *a)
{
	const struct engine_ask *ask = a->request;

	emit_images(c, &ask->messages[ask->n - 1]);
	c->label = (struct engine_message){
		.role = ENGINE_USER, .speaker = "", .text = ask->sound_label};
	if (*ask->sound_label)
		emit_line(c, a, &c->label);
	conversation_emit(c, CONVERSATION_DO_ACTIVITY);
	for (size_t i = 0; i < ask->n_sound; i++)
		conversation_emit(c, CONVERSATION_DO_APPEND)->pcm = ask->sound[i];
	conversation_emit(c, CONVERSATION_DO_COMMIT);
}

/* Puts the question into the provider's conversation, unless it stands there; a new wording
 * replaces the old one. True: it was sound. */
static bool put_question(struct conversation *c, struct asked *a)
{
	bool there = a->question, sound = has_sound(c, a->request);

	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *x = &c->asked[i];

		if (x == a || !x->state || x->turn != a->turn || !x->question)
			continue;
		if (a->request->again)
			there = true;
		else
			conversation_delete_question(c, x);
	}
	if (there)
		return false;
	a->question = true;
	a->unnamed = sound;
	if (sound)
		emit_sound(c, a);
	else
		emit_line(c, a, &a->request->messages[a->request->n - 1]);
	return sound;
}

/* ---- results ---- */

/* The messages at the end that are calls of tools and their results. */
static size_t count_results(const struct engine_ask *ask)
{
	size_t n = 0;

	while (n < ask->n && ask->messages[ask->n - 1 - n].role >= ENGINE_CALL)
		n++;
	return n;
}

static bool is_result(const struct engine_message *m)
{
	return m->role == ENGINE_RESULT;
}

/* Gives the results that this session still waits for. True: there were some. */
static bool put_results(struct conversation *c, const struct engine_ask *ask, size_t n)
{
	bool given = false;

	for (size_t i = ask->n - n; i < ask->n; i++) {
		const struct engine_message *m = &ask->messages[i];
		struct call *call = is_result(m) ? conversation_open_call(c, m->call) : NULL;

		if (!call)
			continue;
		conversation_give_result(c, call, slice_str(m->text), m->failed);
		given = true;
	}
	return given;
}

/* ---- asking ---- */

/* Tells a new session what was said before. */
static void seed_session(struct conversation *c, const struct engine_ask *ask, size_t n)
{
	struct session *s = conversation_serving(c);

	if (!s->seeded)
		for (size_t i = 0; i < n; i++)
			emit_message(c, &ask->messages[i]);
	s->seeded = true;
}

static void emit_respond(struct conversation *c, const struct asked *a)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_DO_RESPOND);

	o->ask = a->id;
	o->turn = a->turn;
	o->limit = a->request->output_tokens;
}

static void emit_say(struct conversation *c, const struct asked *a)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_DO_SAY);

	o->ask = a->id;
	o->turn = a->turn;
	o->text = slice_str(a->request->messages[a->request->n - 1].text);
}

/* A new item may make the provider answer by itself. */
static void emit_question(struct conversation *c, struct asked *a)
{
	const struct engine_ask *ask = a->request;
	size_t results = count_results(ask);
	bool known = conversation_serving(c)->seeded, answers;

	if (results) {
		seed_session(c, ask, ask->n);
		answers = known && put_results(c, ask, results) && c->caps.answers_results;
	} else {
		if (!ask->again)
			conversation_cancel_calls(c);
		seed_session(c, ask, ask->n - 1);
		answers = put_question(c, a) && c->caps.commit_answers;
	}
	if (!answers)
		emit_respond(c, a);
}

static void send_ask(struct conversation *c, struct asked *a)
{
	if (c->caps.lines)
		emit_say(c, a);
	else
		emit_question(c, a);
	conversation_serving(c)->used_at = c->now;
	a->state = ASKED_SENT;
	a->order = ++c->orders;
	a->until = 0;
	if (!a->since)
		a->since = c->now;
}

void conversation_send_next(struct conversation *c)
{
	struct asked *next = NULL;

	if (!conversation_serves(c) || conversation_active(c))
		return;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (a->state == ASKED_WAITING && (!next || a->id < next->id))
			next = a;
	}
	if (next && next->until <= c->now)
		send_ask(c, next);
}

void conversation_end_ask(struct conversation *c, struct asked *a)
{
	a->state = ASKED_OVER;
	a->wanted = false;
	engine_ask_free(a->request);
	a->request = NULL;
	if (a->forgotten)
		delete_answer(c, a);
	else if (a->replaced)
		replace_answer(c, a);
}

void conversation_fail_ask(struct conversation *c, struct asked *a, struct slice why)
{
	struct conversation_output *o;

	if (a->wanted) {
		conversation_serving(c)->fails = true;
		o = conversation_emit(c, CONVERSATION_SAYS_FAILED);
		o->ask = a->id;
		o->text = why;
	}
	conversation_end_ask(c, a);
}

void conversation_cancel_ask(struct conversation *c, struct asked *a)
{
	if (a->state == ASKED_WAITING) {
		conversation_end_ask(c, a);
		return;
	}
	if (!asked_outstanding(a) || !a->wanted)
		return;
	a->wanted = false;
	if (!c->caps.cancel && c->caps.interrupts) {
		a->released = true;
		return;
	}
	a->until = c->now + CONVERSATION_WIND_DOWN_MS * NS_PER_MS;
	if (!c->caps.cancel)
		return;
	/* Without a name, it is whichever is active. A late response would be taken for that of the
	 * next ask where the server does not say whose it is. */
	if (a->state == ASKED_NAMED)
		conversation_emit_id(c, CONVERSATION_DO_CANCEL, a->response);
	else if (conversation_serving(c)->echoes)
		conversation_emit_id(c, CONVERSATION_DO_CANCEL, "");
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
	engine_ask_free(a->request);
	free(a->heard);
	*a = (struct asked){.state = ASKED_WAITING,
			    .id = request->id,
			    .turn = request->turn,
			    .wanted = true,
			    .since = since,
			    .request = copy};
	return 0;
}

static void forget(struct conversation *c, uint32_t turn)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (!a->state || a->turn != turn)
			continue;
		conversation_cancel_ask(c, a);
		a->forgotten = true;
		conversation_delete_question(c, a);
		if (a->state == ASKED_OVER)
			delete_answer(c, a);
	}
}

/* Cuts the item that played last, and deletes those that were not played at all. */
static void truncate_sound(struct conversation *c, struct asked *a, uint64_t left)
{
	struct conversation_output *o;

	for (unsigned i = 0; i < a->items; i++) {
		uint64_t came = a->item[i].bytes * 1000 / (2 * c->caps.rate);
		uint64_t kept = left < came ? left : came;

		if (!kept && i && c->caps.erase) {
			conversation_emit_id(c, CONVERSATION_DO_DELETE, a->item[i].id);
		} else if (kept < came || i + 1 == a->items) {
			o = conversation_emit(c, CONVERSATION_DO_TRUNCATE);
			memcpy(o->id, a->item[i].id, sizeof a->item[i].id);
			o->ms = (uint32_t)kept;
		}
		left -= kept;
	}
}

/* ENOMEM. */
static int truncate(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a = conversation_asked(c, in->ask);
	char *heard;

	if (!a || !conversation_serves(c))
		return 0;
	if (c->caps.truncate) {
		truncate_sound(c, a, in->ms);
		return 0;
	}
	if (a->heard)
		return 0; /* once */
	heard = strndup((const char *)in->text.p, in->text.n);
	if (!heard)
		return ENOMEM;
	a->heard = heard;
	a->replaced = !a->forgotten;
	if (a->replaced && a->state == ASKED_OVER)
		replace_answer(c, a);
	return 0;
}

/* ---- what a session is told ---- */

/* 0, or ENOMEM; EALREADY: nothing changes. */
static int keep_text(char **kept, struct slice text)
{
	char *copy;

	if (*kept && strlen(*kept) == text.n && memcmp(*kept, text.p, text.n) == 0)
		return EALREADY;
	copy = strndup((const char *)text.p, text.n);
	if (!copy)
		return ENOMEM;
	free(*kept);
	*kept = copy;
	return 0;
}

static int instruct(struct conversation *c, struct slice text)
{
	int err = keep_text(&c->instructions, text);

	if (err)
		return err == EALREADY ? 0 : err;
	if (!c->caps.live_instructions)
		conversation_outdated(c);
	for (unsigned i = 0; c->caps.live_instructions && i < 2; i++) {
		if (c->session[i].link == SESSION_UP) {
			struct conversation_output *o =
				conversation_emit(c, CONVERSATION_DO_INSTRUCT);

			o->session = i;
			o->text = slice_str(c->instructions);
		}
	}
	return 0;
}

static bool is_empty_list(struct slice text)
{
	return text.n == 2 && memcmp(text.p, "[]", 2) == 0;
}

static int set_tools(struct conversation *c, struct slice text)
{
	int err;

	/* A session that never had tools is not told that it has none. */
	if (!c->tools && is_empty_list(text))
		return 0;
	err = keep_text(&c->tools, text);

	if (err)
		return err == EALREADY ? 0 : err;
	if (!c->caps.live_tools)
		conversation_outdated(c);
	for (unsigned i = 0; c->caps.live_tools && i < 2; i++) {
		if (c->session[i].link == SESSION_UP) {
			struct conversation_output *o = conversation_emit(c, CONVERSATION_DO_TOOLS);

			o->session = i;
			o->tools = c->tools;
		}
	}
	return 0;
}

static int give_result(struct conversation *c, const struct conversation_input *in)
{
	struct call *call = conversation_open_call(c, in->call);

	if (!call || !conversation_serves(c))
		return ENOENT;
	conversation_give_result(c, call, in->text, in->failed);
	return 0;
}

/* ---- the door ---- */

static int step_owner(struct conversation *c, const struct conversation_input *in)
{
	struct asked *a;

	switch (in->type) {
	case CONVERSATION_ASK:
		conversation_wake(c);
		return ask(c, in->request);
	case CONVERSATION_WAKE:
		conversation_wake(c);
		break;
	case CONVERSATION_REKEY:
		conversation_rekey(c);
		break;
	case CONVERSATION_CANCEL:
		a = conversation_asked(c, in->ask);
		if (a)
			conversation_cancel_ask(c, a);
		break;
	case CONVERSATION_TRUNCATE:
		return truncate(c, in);
	case CONVERSATION_FORGET:
		forget(c, in->turn);
		break;
	case CONVERSATION_HEAR:
		/* Before the first ask of a session: the history that comes with that holds it. */
		if (conversation_serves(c) && conversation_serving(c)->seeded)
			emit_message(c, in->message);
		break;
	case CONVERSATION_INSTRUCT:
		return instruct(c, in->text);
	case CONVERSATION_TOOLS:
		return set_tools(c, in->text);
	case CONVERSATION_RESULT:
		return give_result(c, in);
	case CONVERSATION_ASIDE:
		return conversation_aside(c, in);
	case CONVERSATION_RENEW:
		conversation_serving(c)->stale = conversation_serving(c)->seeded;
		break;
	default:
		break;
	}
	return 0;
}

/* A session that does not serve has no answers. */
static bool is_foreign(const struct conversation *c, const struct conversation_input *in)
{
	return in->session != c->serving &&
	       !(in->type == CONVERSATION_ERROR && in->error == CONVERSATION_ERROR_FATAL);
}

static int step_any(struct conversation *c, const struct conversation_input *in)
{
	switch (in->type) {
	case CONVERSATION_OPENED:
	case CONVERSATION_CREATED:
	case CONVERSATION_CLOSED:
	case CONVERSATION_REFUSED:
		conversation_link(c, in);
		break;
	case CONVERSATION_GO_AWAY:
		c->session[in->session].roll_at = c->now;
		break;
	case CONVERSATION_RESPONSE:
	case CONVERSATION_AUDIO:
	case CONVERSATION_TEXT:
	case CONVERSATION_DONE:
	case CONVERSATION_ERROR:
	case CONVERSATION_ITEM:
	case CONVERSATION_INTERRUPTED:
		if (!is_foreign(c, in) && !conversation_take_aside(c, in))
			conversation_answer(c, in);
		break;
	case CONVERSATION_CALL_BEGUN:
	case CONVERSATION_CALL_FRAGMENT:
	case CONVERSATION_CALL:
	case CONVERSATION_CALL_REVOKED:
		if (!is_foreign(c, in))
			conversation_call(c, in);
		break;
	case CONVERSATION_TIME:
		conversation_time(c);
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
	if (!err)
		conversation_send_next(c);
	for (size_t i = 0; i < outputs->n; i++)
		if (outputs->v[i].type < CONVERSATION_SAYS_AUDIO)
			c->session[outputs->v[i].session].quiet_at =
				now + c->caps.keepalive_ms * NS_PER_MS;
	return err;
}

bool conversation_up(const struct conversation *c)
{
	return conversation_serves(c) || c->session[c->serving].link == SESSION_ASLEEP;
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
	c->session[0].link = SESSION_DOWN;
	*out = c;
	return 0;
}

struct conversation *conversation_free(struct conversation *c)
{
	if (!c)
		return NULL;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		engine_ask_free(c->asked[i].request);
		free(c->asked[i].heard);
	}
	conversation_free_calls(c);
	free(c->instructions);
	free(c->tools);
	free(c);
	return NULL;
}
