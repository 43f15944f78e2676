/* The sessions of a conversation, and everything that a deadline decides (conversation.h). */
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"
#include "proto/http/retry_after.h"

static struct session *next_session(struct conversation *c)
{
	return &c->session[!c->serving];
}

static void emit_close(struct conversation *c, unsigned session)
{
	conversation_emit(c, CONVERSATION_DO_CLOSE)->session = session;
}

static void end_asked(struct asked *a)
{
	a->state = ASKED_OVER;
	a->wanted = false;
	free(a->request);
	a->request = NULL;
}

/* Items, responses and calls of a session that is gone are not there any more. */
static void forget_items(struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		a->question = a->unnamed = false;
		a->response[0] = a->line[0] = a->sound[0] = '\0';
		a->items = 0;
		if (asked_outstanding(a) && !a->wanted)
			end_asked(a);
	}
	c->aside = (struct aside){0};
	c->asides_refused = false;
	conversation_drop_calls(c);
}

/* The serving session is gone. The next one takes over if there is one. */
static void leave_session(struct conversation *c, uint64_t due)
{
	struct session *s = conversation_serving(c);

	forget_items(c);
	if (next_session(c)->link != SESSION_NONE) {
		*s = (struct session){.link = SESSION_NONE};
		c->serving = !c->serving;
		return;
	}
	*s = (struct session){.link = SESSION_DOWN, .due = due};
}

static void wait_again(struct asked *a)
{
	a->state = ASKED_WAITING;
	a->since = a->until = 0;
	a->refused = false;
}

/* The next session repeats the questions that the lost one left unanswered. */
static void keep_asks(struct conversation *c, struct slice why)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		if (!asked_outstanding(a) || !a->wanted)
			continue;
		if (a->life || ++a->losses > CONVERSATION_LOSSES)
			conversation_fail_ask(c, a, why);
		else
			wait_again(a);
	}
}

/* When a session may be opened again: after a backoff, or the wait that the provider asks for. */
static uint64_t reconnect_at(struct conversation *c, struct slice why)
{
	uint64_t wait = backoff_next(&c->backoff, 0);
	uint64_t told = retry_after_told((const char *)why.p, why.n) * NS_PER_MS;

	return c->now + (told > wait ? told : wait);
}

void conversation_lose(struct conversation *c, unsigned session, struct slice why, bool close)
{
	struct session *s = &c->session[session];

	if (s->link <= SESSION_ASLEEP)
		return;
	if (close)
		emit_close(c, session);
	if (session != c->serving) {
		*s = (struct session){.link = SESSION_DOWN,
				      .due = c->now + CONVERSATION_RETRY_MS * NS_PER_MS};
		return;
	}
	s->link = SESSION_DOWN;
	keep_asks(c, why);
	leave_session(c, reconnect_at(c, why));
	if (c->told_down || conversation_serves(c))
		return;
	c->told_down = true;
	conversation_emit(c, CONVERSATION_SAYS_LINK_DOWN)->text = why;
}

/* ---- coming up ---- */

static void describe(struct conversation *c, unsigned session)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_DO_DESCRIBE);

	o->session = session;
	o->text = slice_str(c->instructions ? c->instructions : "");
	o->tools = c->tools;
}

/* A tenth of its time before its end, but not long before. */
static uint64_t roll_at(const struct conversation *c)
{
	uint64_t ms = c->caps.session_ms, early = ms / 10;

	if (!ms)
		return UINT64_MAX;
	early = early < CONVERSATION_ROLL_MS ? early : CONVERSATION_ROLL_MS;
	return c->now + (ms - early) * NS_PER_MS;
}

static void come_up(struct conversation *c, unsigned session)
{
	struct session *s = &c->session[session];

	if (s->link != SESSION_OPEN)
		return;
	s->link = SESSION_UP;
	s->epoch = ++c->epochs;
	s->up_at = s->used_at = c->now;
	s->roll_at = roll_at(c);
	if (!c->caps.describes_first)
		describe(c, session);
	if (session != c->serving)
		return;
	c->told_down = false;
	conversation_emit(c, CONVERSATION_SAYS_LINK_UP);
}

void conversation_link(struct conversation *c, const struct conversation_input *in)
{
	struct session *s = &c->session[in->session];

	switch (in->type) {
	case CONVERSATION_OPENED:
		s->link = SESSION_OPEN;
		s->due = c->now + CONVERSATION_SESSION_MS * NS_PER_MS;
		if (c->caps.describes_first)
			describe(c, in->session);
		break;
	case CONVERSATION_CREATED:
		come_up(c, in->session);
		break;
	case CONVERSATION_REFUSED:
		if (s->link == SESSION_UP)
			describe(c, in->session);
		break;
	default:
		conversation_lose(c, in->session, in->text, false);
		break;
	}
}

/* ---- replacing ---- */

static bool runs(const struct conversation *c)
{
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (asked_outstanding(&c->asked[i]) && c->asked[i].wanted)
			return true;
	return false;
}

/* Calls wait for results in the session that made them, but not for ever. 0: none does. */
static uint64_t calls_wait_until(const struct conversation *c)
{
	uint64_t until = 0;

	for (unsigned i = 0; i < CONVERSATION_CALLS; i++) {
		uint64_t at = c->call[i].told_at + CONVERSATION_RESULT_MS * NS_PER_MS;

		if (c->call[i].state == CALL_TOLD && at > until)
			until = at;
	}
	return until;
}

void conversation_renew(struct conversation *c)
{
	struct session *s = conversation_serving(c);

	if (runs(c))
		return;
	if (next_session(c)->link == SESSION_UP && c->now >= calls_wait_until(c)) {
		if (s->link != SESSION_DOWN)
			emit_close(c, c->serving);
		leave_session(c, 0);
		conversation_emit(c, CONVERSATION_SAYS_ROLLED);
		s = conversation_serving(c);
	}
	if (!s->stale || s->link != SESSION_UP)
		return;
	emit_close(c, c->serving);
	leave_session(c, c->now + backoff_next(&c->backoff, 0));
}

void conversation_outdated(struct conversation *c)
{
	struct session *s = conversation_serving(c), *next = next_session(c);
	uint64_t earliest = s->up_at + CONVERSATION_RENEW_MS * NS_PER_MS;

	/* One that was described already was told what is out of date. */
	if (next->link == SESSION_OPEN || next->link == SESSION_UP) {
		emit_close(c, !c->serving);
		*next = (struct session){.link = SESSION_DOWN, .due = c->now};
	}
	if (s->link == SESSION_UP && earliest < s->roll_at)
		s->roll_at = earliest > c->now ? earliest : c->now;
}

/* ---- sleeping ---- */

/* When a session that nobody uses is closed. */
static uint64_t sleep_at(const struct conversation *c)
{
	const struct session *s = &c->session[c->serving];
	uint64_t calls = calls_wait_until(c), at = s->used_at + c->caps.idle_ms * NS_PER_MS;

	if (!c->caps.idle_ms || !conversation_serves(c) ||
	    c->session[!c->serving].link != SESSION_NONE)
		return UINT64_MAX;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		if (c->asked[i].request)
			return UINT64_MAX;
	return calls > at ? calls : at;
}

/* The room keeps the history, and the first ask of the next session carries it along. */
static void fall_asleep(struct conversation *c)
{
	emit_close(c, c->serving);
	forget_items(c);
	*conversation_serving(c) = (struct session){.link = SESSION_ASLEEP};
}

void conversation_wake(struct conversation *c)
{
	struct session *s = conversation_serving(c);

	if (s->link != SESSION_ASLEEP)
		return;
	s->link = SESSION_CONNECTING;
	conversation_emit(c, CONVERSATION_DO_CONNECT);
}

/* ---- another key ---- */

void conversation_rekey(struct conversation *c)
{
	backoff_reset(&c->backoff);
	c->roll_from = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct session *s = &c->session[i];

		if (s->link == SESSION_UP && s->fails)
			s->stale = true;
		if (s->link == SESSION_CONNECTING || s->link == SESSION_OPEN) {
			emit_close(c, i);
			s->link = SESSION_DOWN;
		}
		if (s->link == SESSION_DOWN)
			s->due = c->now;
	}
}

/* ---- time ---- */

/* The provider accepts and does not answer: its session is replaced, and the ask goes to the next
 * one. */
static void replace_session(struct conversation *c, struct asked *silent)
{
	struct conversation_output *o;

	emit_close(c, c->serving);
	o = conversation_emit(c, CONVERSATION_SAYS_SILENT);
	o->ask = silent->id;
	c->silent = true;
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		struct asked *a = &c->asked[i];

		a->since = 0;
		if (asked_outstanding(a) && a->wanted)
			wait_again(a);
	}
	leave_session(c, c->now + backoff_next(&c->backoff, 0));
}

/* When its answer counts as stuck: no sign of life since it was asked, or within it. */
static uint64_t stuck_at(const struct conversation *c, const struct asked *a)
{
	uint64_t from = a->life ? a->life_at : a->since, at, most;

	if (!asked_outstanding(a) || !a->wanted || !from || !conversation_serves(c))
		return UINT64_MAX;
	at = from + c->caps.silent_ms * NS_PER_MS;
	most = a->life_from + CONVERSATION_ANSWER_MS * NS_PER_MS;
	return a->life && most < at ? most : at;
}

/* When this ask wants to be looked at. */
static uint64_t due(const struct conversation *c, const struct asked *a)
{
	uint64_t at = UINT64_MAX, stuck = stuck_at(c, a);

	if (a->state == ASKED_FREE || a->state == ASKED_OVER)
		return at;
	if (a->until && !a->released)
		at = a->until;
	if (a->wanted && a->request->deadline && a->request->deadline < at)
		at = a->request->deadline;
	return stuck < at ? stuck : at;
}

static void expire(struct conversation *c, struct asked *a, const char *why)
{
	struct conversation_output *o = conversation_emit(c, CONVERSATION_SAYS_FAILED);

	o->ask = a->id;
	o->text = slice_str(why);
	conversation_cancel_ask(c, a);
}

static void check_ask(struct conversation *c, struct asked *a)
{
	if (c->now < due(c, a))
		return;
	if (a->wanted && a->request->deadline && c->now >= a->request->deadline) {
		expire(c, a, "the deadline of the ask has passed");
	} else if (a->until && c->now >= a->until) {
		a->released = !a->wanted;
		a->until = 0;
	} else if (a->life) {
		expire(c, a, "the provider stopped within its answer");
	} else {
		replace_session(c, a);
	}
}

static void check_session(struct conversation *c, unsigned i)
{
	static const char none[] = "the connection is open, but no session was created";
	struct session *s = &c->session[i];

	if (s->link == SESSION_DOWN && c->now >= s->due) {
		s->link = SESSION_CONNECTING;
		conversation_emit(c, CONVERSATION_DO_CONNECT)->session = i;
	} else if (s->link == SESSION_OPEN && c->now >= s->due) {
		conversation_lose(c, i, slice_str(none), true);
	} else if (s->link == SESSION_UP && c->caps.keepalive_ms && c->now >= s->quiet_at) {
		conversation_emit(c, CONVERSATION_DO_KEEPALIVE)->session = i;
	}
}

static bool rolls(const struct conversation *c)
{
	return conversation_serves(c) && c->session[!c->serving].link == SESSION_NONE;
}

void conversation_time(struct conversation *c)
{
	if (rolls(c) && c->now >= conversation_serving(c)->roll_at) {
		uint64_t at = c->now > c->roll_from ? c->now : c->roll_from;

		*next_session(c) = (struct session){.link = SESSION_DOWN, .due = at};
		c->roll_from = at + CONVERSATION_RETRY_MS * NS_PER_MS;
	}
	if (c->now >= sleep_at(c))
		fall_asleep(c);
	check_session(c, 0);
	check_session(c, 1);
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++)
		check_ask(c, &c->asked[i]);
}

static uint64_t session_due(const struct conversation *c, const struct session *s)
{
	if (s->link == SESSION_DOWN || s->link == SESSION_OPEN)
		return s->due;
	return s->link == SESSION_UP && c->caps.keepalive_ms ? s->quiet_at : UINT64_MAX;
}

uint64_t conversation_deadline(const struct conversation *c)
{
	uint64_t at = rolls(c) ? c->session[c->serving].roll_at : UINT64_MAX;
	uint64_t calls = calls_wait_until(c);

	if (calls && c->session[!c->serving].link == SESSION_UP && !runs(c) && calls < at)
		at = calls;
	if (sleep_at(c) < at)
		at = sleep_at(c);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t one = session_due(c, &c->session[i]);

		at = one < at ? one : at;
	}
	for (unsigned i = 0; i < CONVERSATION_ASKS; i++) {
		uint64_t one = due(c, &c->asked[i]);

		at = one < at ? one : at;
	}
	return at;
}
