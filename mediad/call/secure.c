/* End-to-end encryption of a call: the shell around its DAVE session. */
#include "mediad/call/secure.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/worker.h"
#include "mediad/call/state.h"
#include "mediad/dave/media.h"
#include "proto/base/time.h"

#define USER(x) ((unsigned long long)(x))

/* Keys that are owed are tried again after so long, at most. */
enum { PAY_MIN_MS = 100, PAY_MAX_MS = 5000 };

#define SAME(NAME) _Static_assert((int)DAVE_HEAL_##NAME == (int)MEDIA_HEAL_##NAME, #NAME)
SAME(NONE);
SAME(RECOVER);
SAME(RESUME);
SAME(REJOIN);

/* ---- keys for the audio thread ---- */

/* Epochs of all sessions in one rising order: a session's own begin at 1 again. */
static uint64_t number_of(const struct call *c, uint64_t serial)
{
	return c->secure.number << 32 | serial;
}

static bool later(const struct media_key *a, const struct media_key *b)
{
	return a->serial > b->serial || (a->serial == b->serial && a->generation > b->generation);
}

/* Of one speaker the newest is owed: what it replaces is of no use then. */
static void owe(struct call *c, struct media_key *owed, struct media_key key)
{
	struct secure *s = &c->secure;

	if (!owed->is || later(&key, owed))
		*owed = key;
	if (s->pay_wait_ms)
		return;
	s->pay_wait_ms = PAY_MIN_MS;
	s->pay_at = env_now(c->conf.env) + PAY_MIN_MS * NS_PER_MS;
	log_warn("key_owed", "call=%u", c->id);
}

/* p NULL: the key that we seal with. False: it is owed. */
static bool lend_key(struct call *c, const struct dave_epoch *e, struct person *p,
		     uint32_t generation)
{
	struct media_key *owed = p ? &p->owed : &c->secure.owed,
			 key = {true, e->serial, generation};
	struct cmd cmd = {.type = p ? CMD_DAVE_OPEN : CMD_DAVE_SEND};
	const struct dave_member *m = dave_epoch_find(e, p ? p->user : c->user);

	if (!m)
		return true;
	cmd.dave.slot = p ? p->slot : NULL;
	if (dave_key_alloc(&cmd.dave.key, m->base, number_of(c, e->serial), generation) ||
	    !call_cmd(c, &cmd)) {
		owe(c, owed, key);
		return false;
	}
	owed->is = owed->is && later(owed, &key);
	if (p && (!p->lent.is || later(&key, &p->lent)))
		p->lent = key;
	return true;
}

static void lend_epoch(struct call *c, const struct dave_epoch *e)
{
	for (size_t i = 0; i < c->n_people; i++)
		if (c->people[i].slot)
			lend_key(c, e, &c->people[i], 0);
	log_info("secure_epoch", "call=%u epoch=%llu members=%u", c->id, USER(e->number), e->n);
}

void secure_slot(struct call *c, struct person *p)
{
	const struct dave_epoch *epochs[DAVE_KEYS];
	unsigned n =
		c->secure.session ? dave_session_epochs(c->secure.session, epochs, DAVE_KEYS) : 0;

	/* Who has spoken for long is not where the ratchet begins any more. */
	while (n-- > 0)
		lend_key(c, epochs[n], p,
			 p->lent.is && p->lent.serial == epochs[n]->serial ? p->lent.generation
									   : 0);
}

static void seal_with(struct call *c, const struct dave_epoch *e)
{
	c->secure.owed.is = false;
	if (e)
		lend_key(c, e, NULL, 0);
	else
		call_cmd(c, &(struct cmd){.type = CMD_DAVE_SEND});
	log_info("secure_send", "call=%u epoch=%llu", c->id, USER(e ? e->number : 0));
}

static void allow_clear(struct call *c, bool send, uint64_t until)
{
	struct cmd cmd = {.type = CMD_DAVE_CLEAR};

	cmd.dave.send = send;
	cmd.dave.until = until;
	call_cmd(c, &cmd);
}

/* The generations after those that are in use. */
static void lend_next(struct call *c, uint64_t user, uint64_t epoch, uint32_t generation)
{
	const struct dave_epoch *epochs[DAVE_KEYS + 1];
	struct person *p = user ? hear_find(c, user) : NULL;
	unsigned n = 0;

	if (user && (!p || !p->slot))
		return;
	if (user)
		n = dave_session_epochs(c->secure.session, epochs, DAVE_KEYS);
	else if (dave_session_sending(c->secure.session))
		epochs[n++] = dave_session_sending(c->secure.session);
	for (unsigned i = 0; i < n; i++)
		if (number_of(c, epochs[i]->serial) == epoch)
			lend_key(c, epochs[i], p, generation);
}

/* What is owed, unless it is of no use any more: among keys of a speaker the one that comes last
 * counts as the newest. False: there is no memory still. */
static bool pay(struct call *c, struct media_key *owed, struct person *p)
{
	const struct dave_epoch *epochs[DAVE_KEYS];
	unsigned n = 0, i = 0;

	if (!owed->is)
		return true;
	if (!p && dave_session_sending(c->secure.session))
		epochs[n++] = dave_session_sending(c->secure.session);
	if (p && p->slot)
		n = dave_session_epochs(c->secure.session, epochs, DAVE_KEYS);
	while (i < n && epochs[i]->serial != owed->serial)
		i++;
	if (i < n && (i == 0 || owed->generation))
		return lend_key(c, epochs[i], p, owed->generation);
	owed->is = false;
	return true;
}

/* The first that fails is the last that is tried this time. */
static void pay_all(struct call *c)
{
	struct secure *s = &c->secure;
	bool paid = pay(c, &s->owed, NULL);

	for (size_t i = 0; paid && i < c->n_people; i++)
		paid = pay(c, &c->people[i].owed, &c->people[i]);
	if (paid)
		log_info("keys_paid", "call=%u", c->id);
	s->pay_wait_ms = paid				   ? 0
			 : s->pay_wait_ms * 2 < PAY_MAX_MS ? s->pay_wait_ms * 2
							   : PAY_MAX_MS;
	s->pay_at = env_now(c->conf.env) + s->pay_wait_ms * NS_PER_MS;
}

static void forget_keys(struct call *c)
{
	c->secure.owed.is = false;
	c->secure.pay_wait_ms = 0;
	for (size_t i = 0; i < c->n_people; i++)
		c->people[i].owed.is = c->people[i].lent.is = false;
}

/* ---- what the session wants done ---- */

static void run_job(struct call *c, struct dave_job *job)
{
	struct secure *s = &c->secure;
	int err;

	env_random(c->conf.env, job->seed, sizeof job->seed);
	err = worker_put(c->conf.worker, job, s->number);
	if (!err)
		return;
	log_warn("key_work_refused", "call=%u error=\"%s\"", c->id, strerror(err));
	/* It goes back as it is, once the session's step is over. */
	s->unrun[s->n_unrun++] = job;
}

static void tell_code(struct call *c, uint64_t user, const char *code)
{
	struct media_msg msg = {.type = MEDIA_CODE};

	msg.code.user = user;
	msg.code.code = slice_str(code);
	call_out(c, &msg, 0);
}

static void on_dave(const struct dave_action *act, void *arg)
{
	struct call *c = arg;
	int err = 0;

	switch (act->kind) {
	case DAVE_ACT_BINARY:
		err = vgw_dave_binary(c->gw, act->binary.op, act->binary.payload.p,
				      act->binary.payload.n);
		break;
	case DAVE_ACT_TEXT:
		err = vgw_dave_text(c->gw, act->text.op, act->text.transition);
		break;
	case DAVE_ACT_JOB:
		run_job(c, act->job);
		break;
	case DAVE_ACT_EPOCH:
		lend_epoch(c, act->epoch);
		break;
	case DAVE_ACT_SEND:
		seal_with(c, act->epoch);
		break;
	case DAVE_ACT_CLEAR:
		allow_clear(c, act->clear.send, act->clear.receive_until);
		break;
	case DAVE_ACT_STATE:
		c->secure.changed = true;
		break;
	case DAVE_ACT_CODE:
		tell_code(c, act->code.user, act->code.code);
		break;
	case DAVE_ACT_RESUME:
		c->secure.resume = true;
		break;
	case DAVE_ACT_REJOIN:
		c->secure.rejoin = true;
		break;
	}
	if (err) {
		log_warn("secure_unsent", "call=%u error=\"%s\"", c->id, strerror(err));
		c->secure.rejoin = true;
	}
}

/* ---- what control is told ---- */

void secure_tell(struct call *c)
{
	static const struct dave_status none;
	const struct dave_status *s =
		c->secure.session ? dave_session_status(c->secure.session) : &none;
	const struct dave_ladder *l = &c->secure.ladder;
	struct media_msg msg = {.type = MEDIA_CALL_SECURE};
	struct media_call_secure *m = &msg.call_secure;

	m->version = s->version;
	m->known = s->known;
	m->ready = s->ready;
	m->pending = s->pending;
	m->epoch = s->epoch;
	m->members = s->members;
	m->privacy_code = slice_str(s->privacy_code);
	m->heal = (uint8_t)l->last;
	m->deaf = s->deaf;
	m->recovers = l->recovers;
	m->resumes = l->resumes;
	m->rejoins = l->rejoins;
	m->invalid = l->invalid;
	m->executes = l->executes;
	call_out(c, &msg, 0);
}

/* Each step of the ladder, each message that did not hold, and that nothing is encrypted where it
 * should be. */
static void log_what_is_amiss(struct call *c, const struct dave_status *s)
{
	const struct dave_ladder *l = &c->secure.ladder, *was = &c->secure.told;

	if (l->recovers != was->recovers || l->resumes != was->resumes ||
	    l->rejoins != was->rejoins)
		log_warn("secure_heal", "call=%u step=%s deaf=%u what=\"%s\"", c->id,
			 media_heal_name(l->last), s->deaf, media_heal_text(l->last));
	if (l->invalid != was->invalid)
		log_warn("secure_invalid", "call=%u count=%u", c->id, l->invalid);
	if (l->executes != was->executes)
		log_warn("secure_executed_late", "call=%u count=%u", c->id, l->executes);
	if (was->last != DAVE_HEAL_NONE && l->last == DAVE_HEAL_NONE)
		log_info("secure_healed", "call=%u", c->id);
	if (s->known && s->version == 0 && !c->stage && !c->secure.clear_told) {
		c->secure.clear_told = true;
		log_warn("not_encrypted",
			 "call=%u channel=%llu hint=\"only stages should be without "
			 "end-to-end encryption\"",
			 c->id, USER(c->channel));
	}
}

static void tell_change(struct call *c)
{
	static const struct dave_status none;
	const struct dave_status *s =
		c->secure.session ? dave_session_status(c->secure.session) : &none;

	c->secure.changed = false;
	log_what_is_amiss(c, s);
	c->secure.told = c->secure.ladder;
	log_info("call_secure",
		 "call=%u version=%u known=%d ready=%d pending=%d epoch=%llu members=%u "
		 "privacy_code=%s heal=%s deaf=%u",
		 c->id, s->version, s->known, s->ready, s->pending, USER(s->epoch), s->members,
		 s->privacy_code[0] ? s->privacy_code : "-", media_heal_name(c->secure.ladder.last),
		 s->deaf);
	secure_tell(c);
}

/* ---- from the gateway ---- */

static uint64_t now_of(const struct call *c)
{
	return env_now(c->conf.env);
}

void secure_begin(struct call *c)
{
	struct secure *s = &c->secure;
	struct dave_conf conf = {.user = c->user, .acth = on_dave, .arg = c, .ladder = &s->ladder};

	secure_over(c);
	if (dave_session_alloc(&s->session, &conf)) {
		c->broken = 4006; /* as any session we cannot use */
		return;
	}
	s->number = ++*c->conf.sessions;
	s->channel = c->joined;
}

void secure_over(struct call *c)
{
	struct secure *s = &c->secure;

	for (unsigned i = 0; i < s->n_unrun; i++)
		dave_job_free(s->unrun[i]);
	s->n_unrun = 0;
	s->resume = s->rejoin = false;
	if (!s->session)
		return;
	s->session = dave_session_free(s->session);
	forget_keys(c);
	for (size_t i = 0; i < c->n_people; i++)
		secure_spell_over(c, &c->people[i], "session over");
	/* The line closed itself with the session. */
	s->changed = true;
}

void secure_start(struct call *c, uint16_t version)
{
	if (!c->secure.session)
		return;
	/* From here on what does not open counts. */
	allow_clear(c, false, 0);
	dave_session_start(c->secure.session, now_of(c), c->secure.channel, version);
}

void secure_text(struct call *c, unsigned op, uint16_t transition, uint16_t version, uint64_t epoch)
{
	if (!c->secure.session)
		return;
	log_debug("secure_in", "call=%u op=%u transition=%u version=%u epoch=%llu", c->id, op,
		  transition, version, USER(epoch));
	dave_session_text(c->secure.session, now_of(c), op, transition, version, epoch);
}

void secure_binary(struct call *c, unsigned op, const uint8_t *p, size_t n)
{
	if (!c->secure.session)
		return;
	log_debug("secure_in", "call=%u op=%u bytes=%zu", c->id, op, n);
	dave_session_binary(c->secure.session, now_of(c), op, p, n);
}

void secure_member(struct call *c, uint64_t user, bool present)
{
	if (c->secure.session)
		dave_session_member(c->secure.session, now_of(c), user, present);
}

void secure_gap(struct call *c)
{
	if (!c->secure.session)
		return;
	log_warn("gateway_gap", "call=%u", c->id);
	dave_session_gap(c->secure.session, now_of(c));
}

void secure_offline(struct call *c)
{
	if (c->secure.session)
		dave_session_offline(c->secure.session, now_of(c));
}

void secure_resumed(struct call *c)
{
	if (c->secure.session)
		dave_session_resumed(c->secure.session, now_of(c));
}

/* ---- from the audio thread ---- */

void secure_spell_over(struct call *c, struct person *p, const char *how)
{
	if (p->deaf_since)
		log_info("deaf_over", "call=%u user=%llu ms=%llu how=\"%s\"", c->id, USER(p->user),
			 USER((now_of(c) - p->deaf_since) / NS_PER_MS), how);
	p->deaf_since = 0;
}

static void on_deaf(struct call *c, const struct ev *ev)
{
	struct person *p = hear_find(c, ev->dave.user);

	if (!p)
		return;
	if (!ev->dave.deaf) {
		secure_spell_over(c, p, "heard again");
	} else if (!p->deaf_since) {
		p->deaf_since = ev->dave.at;
		log_warn("deaf", "call=%u user=%llu", c->id, USER(p->user));
	}
	dave_session_hears(c->secure.session, now_of(c), p->user, !ev->dave.deaf);
}

void secure_event(struct call *c, const struct ev *ev)
{
	if (!c->secure.session)
		return;
	if (ev->type == EV_DAVE_DEAF)
		on_deaf(c, ev);
	else if (ev->type == EV_DAVE_NEXT)
		lend_next(c, ev->dave.user, ev->dave.epoch, ev->dave.generation);
	else if (ev->dave.epoch >> 32 == c->secure.number)
		dave_session_proof(c->secure.session, now_of(c), ev->dave.epoch & UINT32_MAX);
}

/* ---- from the worker and from control ---- */

bool secure_done(struct call *c, struct dave_job *job, uint64_t owner)
{
	if (!c->secure.session || owner != c->secure.number)
		return false;
	if (job->verdict == DAVE_INVALID || job->verdict == DAVE_REFUSED)
		log_warn("key_work_failed", "call=%u job=%d error=\"%s\"", c->id, job->type,
			 strerror(job->err));
	dave_session_done(c->secure.session, now_of(c), job);
	return true;
}

void secure_verify(struct call *c, uint64_t user)
{
	if (c->secure.session)
		dave_session_verify(c->secure.session, now_of(c), user);
	else
		tell_code(c, user, "");
}

/* ---- after each step ---- */

bool secure_due(const struct call *c)
{
	return c->secure.n_unrun || c->secure.resume || c->secure.rejoin;
}

void secure_do(struct call *c)
{
	struct secure *s = &c->secure;
	bool resume = s->resume, rejoin = s->rejoin;

	if (s->n_unrun) {
		dave_session_done(s->session, now_of(c), s->unrun[--s->n_unrun]);
		return;
	}
	s->resume = s->rejoin = false;
	if (rejoin)
		vgw_rejoin(c->gw, now_of(c), MEDIA_REASON_NOT_DECRYPTED);
	else if (resume)
		vgw_refresh(c->gw, now_of(c), MEDIA_REASON_NOT_DECRYPTED);
}

void secure_settle(struct call *c)
{
	uint64_t at = c->secure.session ? dave_session_deadline(c->secure.session) : UINT64_MAX;

	if (c->secure.changed)
		tell_change(c);
	if (c->secure.pay_wait_ms && c->secure.pay_at < at)
		at = c->secure.pay_at;
	if (at == UINT64_MAX)
		tmr_stop(c->secure.timer);
	else
		tmr_start_at(c->secure.timer, at);
}

static void on_timer(void *arg)
{
	struct call *c = arg;

	if (c->secure.session)
		dave_session_timer(c->secure.session, now_of(c));
	if (c->secure.pay_wait_ms && now_of(c) >= c->secure.pay_at)
		pay_all(c);
	call_stepped(c);
}

int secure_init(struct call *c)
{
	return tmr_alloc(&c->secure.timer, c->conf.env, on_timer, c);
}

void secure_free(struct call *c)
{
	for (unsigned i = 0; i < c->secure.n_unrun; i++)
		dave_job_free(c->secure.unrun[i]);
	dave_session_free(c->secure.session);
	tmr_free(c->secure.timer);
}
