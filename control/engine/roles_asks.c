/* The asks that are under way, and what engines say of them (roles.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/hide_key.h"
#include "control/engine/roles_state.h"
#include "control/prompts/prompts.def"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"
#include "proto/media.h"

enum { WHY_MAX = 512 };

/* ---- asks ---- */

static struct live *live_by_id(struct roles *r, uint32_t id)
{
	for (unsigned i = 0; i < ROLES_LIVE; i++)
		if (r->live[i].id == id)
			return &r->live[i];
	return NULL;
}

/* The use that others know it by. */
static enum engine_use use_told(enum engine_use use)
{
	return use == ENGINE_USE_FOLLOWUP	 ? ENGINE_USE_REPLY
	       : use == ENGINE_USE_TEXT_FOLLOWUP ? ENGINE_USE_TEXT
						 : use;
}

struct live *roles_live_by_turn(struct roles *r, enum engine_use use, uint32_t turn)
{
	struct live *found = NULL;

	for (unsigned i = 0; i < ROLES_LIVE; i++) {
		struct live *l = &r->live[i];

		if (l->id && use_told(l->use) == use_told(use) && l->turn == turn &&
		    (!found || l->id > found->id))
			found = l;
	}
	return found;
}

static void end_live(struct live *l)
{
	l->over = true;
	/* Speech and decisions are not retried. */
	if (l->use != ENGINE_USE_SPEECH && l->use != ENGINE_USE_DECISION &&
	    l->use != ENGINE_USE_SUMMARY && l->use != ENGINE_USE_INTERRUPTION &&
	    l->use != ENGINE_USE_EMBED && l->use != ENGINE_USE_SEE)
		return;
	engine_ask_free(l->ask);
	*l = (struct live){0};
}

static void cancel_live(struct live *l)
{
	if (l->over)
		return;
	l->by->caps->ops->cancel(l->by->engine, l->id);
	roles_settle(l, true);
	end_live(l);
}

/* A free place, else that of the oldest ask that is over, else of the oldest one, which is
 * cancelled. */
static struct live *live_place(struct roles *r)
{
	struct live *best = NULL;

	for (unsigned i = 0; i < ROLES_LIVE; i++) {
		struct live *l = &r->live[i];

		if (!l->id)
			return l;
		if (!best || (l->over && !best->over) ||
		    (l->over == best->over && l->id < best->id))
			best = l;
	}
	if (best->id)
		cancel_live(best);
	engine_ask_free(best->ask);
	*best = (struct live){0};
	return best;
}

static struct roles_event event_of(const struct served *s, const struct live *l,
				   const struct engine_event *ev)
{
	struct roles_event out = {.use = use_told(s->use), .engine = ev, .provider = s->record};

	if (l) {
		out.turn = l->turn;
		out.chunk = l->chunk;
	}
	return out;
}

void roles_tell(const struct served *s, const struct live *l, const struct engine_event *ev)
{
	struct roles_event out = event_of(s, l, ev);

	s->r->h(&out, s->r->arg);
}

static void fail_live(struct roles *r, struct live *l, const char *why)
{
	struct live was = *l;

	const struct engine_event ev = {.type = ENGINE_FAILED,
					.ask = was.id,
					.data = slice_str(why),
					.trouble =
						engine_trouble((const uint8_t *)why, strlen(why))};

	end_live(l);
	r->h(&(struct roles_event){.use = use_told(was.use),
				   .turn = was.turn,
				   .chunk = was.chunk,
				   .engine = &ev,
				   .provider = was.by ? was.by->record : NULL},
	     r->arg);
}

static uint64_t silent_at(const struct roles *r, const struct live *l)
{
	uint64_t since = l->by->life_at > l->since ? l->by->life_at : l->since;

	return since + r->settings->not_answering_ms * NS_PER_MS;
}

/* A provider without a session would not notice its own silence. Decisions have a deadline. */
static bool is_watched(const struct live *l)
{
	enum engine_use use = use_told(l->use);

	return l->id && (use == ENGINE_USE_REPLY || use == ENGINE_USE_SPEECH) && !l->over &&
	       (l->life || l->since) && !l->retry_at;
}

static void watch_time(struct roles *r)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < ROLES_LIVE; i++) {
		const struct live *l = &r->live[i];

		if (is_watched(l) && silent_at(r, l) < at)
			at = silent_at(r, l);
		if (l->id && !l->over && l->retry_at && l->retry_at < at)
			at = l->retry_at;
	}
	if (at == UINT64_MAX)
		tmr_stop(r->silence);
	else
		tmr_start_at(r->silence, at);
}

/* The others do not hear what this one answers. */
static void renew_others(struct list *list, const struct served *s)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct served *o = &list->v[i];

		if (o != s && o->engine && o->caps->ops->renew)
			o->caps->ops->renew(o->engine);
	}
}

/* When a provider of the list may be asked again. UINT64_MAX: later than a person waits. */
static uint64_t ready_at(const struct roles *r, enum engine_use use)
{
	const struct list *list = &r->list[use];
	uint64_t now = env_now(r->env), soon = now + ROLES_RETRY_MS * NS_PER_MS, at = UINT64_MAX;

	for (unsigned i = 0; i < list->n; i++) {
		uint64_t held = list->v[i].held_until > soon ? list->v[i].held_until : soon;

		at = held < at ? held : at;
	}
	return at > now + RETRY_AFTER_PATIENCE_MS * NS_PER_MS ? UINT64_MAX : at;
}

/* Every provider asked to be left alone, or cannot be asked at all. It is waited for once. False:
 * somebody would wait for too long, or a decision would come too late. */
static bool hold_live(struct roles *r, struct live *l)
{
	const struct list *list = &r->list[l->use];
	uint64_t now = env_now(r->env), at = UINT64_MAX;

	for (unsigned i = 0; i < list->n; i++)
		if (list->v[i].held_until > now && list->v[i].held_until < at)
			at = list->v[i].held_until;
	if (l->held || at > now + RETRY_AFTER_PATIENCE_MS * NS_PER_MS ||
	    l->use == ENGINE_USE_DECISION || l->use == ENGINE_USE_INTERRUPTION)
		return false;
	l->held = true;
	l->retry_at = at;
	return true;
}

/* In place of its images the ask says, before its last message, that there are some; to: room for
 * ENGINE_MESSAGES_MAX messages. */
static void leave_images_out(struct engine_ask *ask, struct engine_message *to)
{
	size_t first = ask->n == ENGINE_MESSAGES_MAX, n = 0;
	bool any = false;

	for (size_t i = 0; i < ask->n; i++)
		any = any || ask->messages[i].n_images;
	if (!any)
		return;
	for (size_t i = first; i < ask->n; i++) {
		if (i + 1 == ask->n)
			to[n++] = (struct engine_message){.role = ENGINE_USER,
							  .speaker = "",
							  .text = PROMPT_IMAGES_NOT_SHOWN};
		to[n] = ask->messages[i];
		to[n++].n_images = 0;
	}
	ask->messages = to;
	ask->n = n;
}

/* Gives the ask to the next provider, with a new id. ENOENT: nobody is left, or its address is not
 * known. EAGAIN: its rate limit has not expired yet. */
static int give(struct roles *r, struct live *l)
{
	struct served *s = roles_pick(r, l->use, l->tried);
	struct engine_message plain[ENGINE_MESSAGES_MAX];
	struct engine_ask ask = *l->ask;
	int err;

	if (!s)
		return ENOENT;
	l->by = s;
	l->tried |= 1u << s->place;
	l->id = ask.id = ++r->asks;
	if (s->held_until > env_now(r->env))
		return EAGAIN;
	err = roles_open(s);
	if (err) {
		s->failed = true;
		return err;
	}
	roles_refresh(s);
	ask.model = settings_model(r->settings, roles_role(l->use), s->record);
	ask.voice = settings_voice(r->settings, roles_role(l->use), s->record);
	ask.instructions_version = r->instructions_version;
	ask.tools_version = r->tools_version;
	if (r->tools && use_told(l->use) == ENGINE_USE_REPLY) {
		ask.tools = r->tools->tools;
		ask.n_tools = r->tools->n_tools;
		ask.search = r->search;
	}
	if (!roles_sent_images(s))
		leave_images_out(&ask, plain);
	log_debug("ask", "ask=%u turn=%u role=%s provider=%s instructions=%u", ask.id, ask.turn,
		  role_name(roles_role(l->use)), s->record->name, ask.instructions_version);
	renew_others(&r->list[l->use], s);
	roles_count_ask(l, &ask);
	return s->caps->ops->ask(s->engine, &ask);
}

/* Until somebody takes it. */
static void give_to_any(struct roles *r, struct live *l)
{
	unsigned all = (1u << r->list[l->use].n) - 1;
	int err = ENOENT;

	do
		err = give(r, l);
	while (err && (l->tried & all) != all);
	if (err && !(err == EAGAIN && hold_live(r, l)))
		fail_live(r, l,
			  err == ENOENT	  ? "no provider serves this"
			  : err == EAGAIN ? "rate_limit: the provider asked for a longer wait"
					  : strerror(err));
	watch_time(r);
}

static void ask_live(struct roles *r, enum engine_use use, uint32_t chunk,
		     const struct engine_ask *ask)
{
	const struct live *before = roles_live_by_turn(r, use, ask->turn);
	uint64_t since = before && !before->life ? before->since : 0;
	struct live *l;
	struct engine_ask *copy;

	if (engine_ask_copy(&copy, ask)) {
		struct live none = {.turn = ask->turn, .chunk = chunk, .use = use};

		fail_live(r, &none, strerror(ENOMEM));
		return;
	}
	l = live_place(r);
	*l = (struct live){.id = r->asks + 1,
			   .turn = ask->turn,
			   .chunk = chunk,
			   .use = use,
			   .since = since ? since : env_now(r->env),
			   .ask = copy};
	give_to_any(r, l);
}

void roles_ask(struct roles *r, enum engine_use use, uint32_t chunk, const struct engine_ask *ask)
{
	ask_live(r, use, chunk, ask);
}

/* The use of an answer that goes on: FOLLOWUP once results of tools have come, if that purpose
 * names providers. */
static enum engine_use use_to_go_on(const struct roles *r, const struct live *l, size_t results)
{
	bool own = r->settings->records.purpose[PURPOSE_FOLLOWUP].n > 0;

	if (!results || !own)
		return l->use;
	return l->use == ENGINE_USE_REPLY  ? ENGINE_USE_FOLLOWUP
	       : l->use == ENGINE_USE_TEXT ? ENGINE_USE_TEXT_FOLLOWUP
					   : l->use;
}

void roles_go_on(struct roles *r, enum engine_use use, uint32_t turn,
		 const struct engine_message *messages, size_t n)
{
	static const char why[] = "there is nothing to ask again";
	struct live *l = roles_live_by_turn(r, use, turn), none = {.turn = turn, .use = use};
	struct engine_message all[ENGINE_MESSAGES_MAX];
	struct engine_ask longer, *ask;
	enum engine_use next;
	size_t skip;

	if (!l || n >= ENGINE_MESSAGES_MAX) {
		fail_live(r, &none, why);
		return;
	}
	longer = *l->ask;
	skip = longer.n + n > ENGINE_MESSAGES_MAX ? longer.n + n - ENGINE_MESSAGES_MAX : 0;
	memcpy(all, longer.messages + skip, (longer.n - skip) * sizeof all[0]);
	if (n)
		memcpy(all + longer.n - skip, messages, n * sizeof all[0]);
	longer.messages = all;
	longer.n += n - skip;
	if (engine_ask_copy(&ask, &longer)) {
		fail_live(r, &none, why);
		return;
	}
	next = use_to_go_on(r, l, n);
	cancel_live(l);
	ask->again = true;
	ask_live(r, next, l->chunk, ask);
	engine_ask_free(ask);
}

void roles_ask_again(struct roles *r, enum engine_use use, uint32_t turn)
{
	roles_go_on(r, use, turn, NULL, 0);
}

void roles_over(struct roles *r, uint32_t turn)
{
	for (unsigned i = 0; i < ROLES_LIVE; i++)
		if (r->live[i].turn == turn)
			engine_ask_drop_images(r->live[i].ask);
}

void roles_cancel(struct roles *r, enum engine_use use, uint32_t turn)
{
	for (unsigned i = 0; i < ROLES_LIVE; i++)
		if (r->live[i].id && use_told(r->live[i].use) == use_told(use) &&
		    r->live[i].turn == turn)
			cancel_live(&r->live[i]);
	watch_time(r);
}

void roles_cancel_all(struct roles *r)
{
	for (unsigned i = 0; i < ROLES_LIVE; i++)
		if (r->live[i].id)
			cancel_live(&r->live[i]);
	watch_time(r);
}

/* ---- what the engines say ---- */

static void tell_failover(const struct served *from, const struct served *to)
{
	const struct engine_event ev = {.type = ENGINE_FAILOVER};
	struct roles_event out = event_of(from, NULL, &ev);

	if (!to)
		return;
	out.next = to->record;
	from->r->h(&out, from->r->arg);
}

/* True: another provider took the ask over. from: whose failover is to be told; NULL: it was. */
static bool take_over(struct roles *r, struct live *l, const struct served *from)
{
	unsigned all = (1u << r->list[l->use].n) - 1;

	if (l->life || (l->tried & all) == all)
		return false;
	if (from)
		tell_failover(from, roles_pick(r, l->use, l->tried));
	l->since = env_now(r->env);
	give_to_any(r, l);
	return true;
}

/* Asks that wait for a session which may not come. */
static void move_asks(struct served *from)
{
	struct roles *r = from->r;

	for (unsigned i = 0; i < ROLES_LIVE; i++) {
		struct live *l = &r->live[i];

		if (!l->id || l->use != from->use || l->over || l->by != from || l->life)
			continue;
		from->caps->ops->cancel(from->engine, l->id);
		take_over(r, l, NULL);
	}
}

static void take_link(struct served *s, const struct engine_event *ev)
{
	struct roles_event out = event_of(s, NULL, ev);
	struct served *next;
	/* One that rests has given way already, and a spare one gives way to nobody. */
	bool served = roles_pick(s->r, s->use, 0) == s && !s->down;

	s->down = ev->type == ENGINE_LINK_DOWN;
	if (!s->down) {
		s->rests_until = 0;
		s->r->h(&out, s->r->arg);
		return;
	}
	next = roles_pick(s->r, s->use, 0);
	out.taken_over = next != s && !next->down && !roles_open(next);
	s->r->h(&out, s->r->arg);
	if (out.taken_over && served)
		tell_failover(s, next);
	if (out.taken_over)
		move_asks(s);
}

static void take_silence(struct served *s, struct live *l, const struct engine_event *ev)
{
	struct roles *r = s->r;
	unsigned all = (1u << r->list[s->use].n) - 1;

	if (!l->life && (l->tried & all) != all) {
		s->rests_until = env_now(r->env) + ROLES_REST_S * NS_PER_S;
		s->caps->ops->cancel(s->engine, l->id);
		roles_settle(l, true);
		take_over(r, l, s);
		return;
	}
	l->since = 0;
	s->silent = true;
	roles_tell(s, l, ev);
}

/* False: it was tried, would be of no use, or has begun to be heard. */
static bool retry_later(struct roles *r, struct live *l, enum trouble trouble)
{
	bool answers = l->use == ENGINE_USE_VOICE || use_told(l->use) == ENGINE_USE_REPLY;
	bool held = l->use == ENGINE_USE_SPEECH && l->by->held_until > env_now(r->env);
	uint64_t at = ready_at(r, l->use);

	if ((!answers && !held) || at == UINT64_MAX || l->life || l->retried ||
	    trouble == TROUBLE_KEY || trouble == TROUBLE_CREDIT)
		return false;
	l->retried = true;
	l->retry_at = at;
	return true;
}

static void retry_live(struct roles *r, struct live *l)
{
	log_info("retry", "turn=%u role=%s", l->turn, role_name(roles_role(l->use)));
	l->retry_at = 0;
	l->tried = 0;
	l->since = env_now(r->env);
	/* The question may stand in the provider's conversation. */
	l->ask->again = true;
	give_to_any(r, l);
}

/* A session that fails a line stays the voice: another one within it would be another speaker. */
static bool keeps_voice(const struct served *s)
{
	return s->use == ENGINE_USE_SPEECH && s->caps->ops->up && s->caps->ops->up(s->engine);
}

static void take_failure(struct served *s, struct live *l, const struct engine_event *ev)
{
	struct live was = *l;

	s->failed = true;
	if (l->life || ev->lost)
		roles_settle(l, false);
	if (!keeps_voice(s)) {
		roles_rest(s, ev->data);
		if (take_over(s->r, l, s) || retry_later(s->r, l, ev->trouble))
			return;
	}
	end_live(l);
	roles_tell(s, &was, ev);
}

/* Its connection is half-open, or it will never end. */
static void take_stall(struct served *s, struct live *l)
{
	static const char why[] = "the answer stopped halfway";

	log_warn("answer_stalled", "ask=%u provider=%s", l->id, s->record->name);
	s->caps->ops->cancel(s->engine, l->id);
	take_failure(s, l,
		     &(struct engine_event){
			     .type = ENGINE_FAILED, .ask = l->id, .data = slice_str(why)});
}

/* True: the silence of one of them was told, which is over now. */
static bool end_silence(struct list *list)
{
	bool told = false;

	for (unsigned i = 0; i < list->n; i++) {
		told = told || list->v[i].silent;
		list->v[i].silent = false;
	}
	return told;
}

static void take_answer(struct served *s, struct live *l, const struct engine_event *ev)
{
	bool answers = end_silence(&s->r->list[s->use]);
	struct live was = *l;
	struct roles_event out;

	s->failed = false;
	s->rests_until = 0;
	s->life_at = env_now(s->r->env);
	l->life = true;
	roles_count_event(l, ev);
	if (ev->type == ENGINE_DONE) {
		roles_settle(l, false);
		end_live(l);
	}
	out = event_of(s, &was, ev);
	out.answers = answers;
	s->r->h(&out, s->r->arg);
}

/* Texts of these types are why something failed, in the words of the provider. */
static bool tells_why(const struct engine_event *ev)
{
	return ev->type == ENGINE_LINK_DOWN || ev->type == ENGINE_FAILED ||
	       ev->type == ENGINE_NO_TRANSCRIPT || ev->type == ENGINE_REFUSED;
}

static void take_event(struct served *s, const struct engine_event *ev)
{
	struct live *l = ev->ask ? live_by_id(s->r, ev->ask) : NULL;

	switch (ev->type) {
	case ENGINE_LINK_UP:
	case ENGINE_LINK_DOWN:
		take_link(s, ev);
		return;
	case ENGINE_NO_TRANSCRIPT:
		roles_transcribed(s->r, ev->utterance);
		roles_rest(s, ev->data);
		roles_tell(s, NULL, ev);
		return;
	case ENGINE_TRANSCRIPT:
		roles_transcribed(s->r, ev->utterance);
		roles_tell(s, NULL, ev);
		return;
	case ENGINE_USAGE:
		roles_take_usage(s, l, ev->usage);
		return;
	case ENGINE_ASIDE:
		if (l && l->by == s)
			roles_tell(s, l, ev);
		return;
	case ENGINE_TOOL_REVOKED:
	case ENGINE_PARTIAL:
		roles_tell(s, NULL, ev);
		return;
	case ENGINE_REFUSED:
		roles_tell(s, NULL, ev);
		return;
	default:
		break;
	}
	if (!l || l->over || l->by != s)
		return;
	if (ev->type == ENGINE_SILENT)
		take_silence(s, l, ev);
	else if (ev->type == ENGINE_FAILED)
		take_failure(s, l, ev);
	else
		take_answer(s, l, ev);
	watch_time(s->r);
}

void roles_take_event(const struct engine_event *ev, void *arg)
{
	struct served *s = arg;
	struct engine_event hidden = *ev;
	char why[WHY_MAX];

	if (!tells_why(ev) || !ev->data.n) {
		take_event(s, ev);
		return;
	}
	snprintf(why, sizeof why, "%.*s", (int)ev->data.n, (const char *)ev->data.p);
	hide_key(s->record->key, why);
	hidden.data = slice_str(why);
	take_event(s, &hidden);
}

void roles_time(void *arg)
{
	struct roles *r = arg;
	uint64_t now = env_now(r->env);

	for (unsigned i = 0; i < ROLES_LIVE; i++) {
		struct live *l = &r->live[i];

		if (is_watched(l) && l->life && silent_at(r, l) <= now)
			take_stall(l->by, l);
		else if (is_watched(l) && silent_at(r, l) <= now)
			take_silence(l->by, l,
				     &(struct engine_event){.type = ENGINE_SILENT, .ask = l->id});
		else if (l->id && !l->over && l->retry_at && l->retry_at <= now)
			retry_live(r, l);
	}
	watch_time(r);
}
