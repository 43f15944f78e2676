/* End-to-end encryption of a call: the shell around its DAVE session. */
#include "mediad/call/secure.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/worker.h"
#include "mediad/call/call_internal.h"
#include "mediad/dave/media.h"
#include "proto/base/time.h"

#define USER(x) ((unsigned long long)(x))

/* Deferred keys are tried again at these intervals, which double. */
enum { KEY_RETRY_MIN_MS = 100, KEY_RETRY_MAX_MS = 5000 };

/* The log names an outage of a speaker at most once in this time: a member can make dozens a
 * second.
 */
enum { OUTAGE_LOG_MS = 10000 };

#define SAME(NAME) _Static_assert((int)DAVE_HEAL_##NAME == (int)MEDIA_HEAL_##NAME, #NAME)
SAME(NONE);
SAME(RECOVER);
SAME(RESUME);
SAME(REJOIN);

/* ---- keys for the audio thread ---- */

/* Returns a number of the epoch that rises across sessions; the serials of a session start at 1. */
static uint64_t global_epoch(const struct call *c, uint64_t serial)
{
	return c->secure.number << 32 | serial;
}

static bool is_later_key(const struct media_key *a, const struct media_key *b)
{
	return a->serial > b->serial || (a->serial == b->serial && a->generation > b->generation);
}

/* Defers a key. Of one speaker only the newest is kept, because older ones are of no use then. */
static void defer_key(struct call *c, struct media_key *deferred, struct media_key key)
{
	struct secure *s = &c->secure;

	if (!deferred->is || is_later_key(&key, deferred))
		*deferred = key;
	if (s->retry_wait_ms)
		return;
	s->retry_wait_ms = KEY_RETRY_MIN_MS;
	s->retry_at = env_now(c->conf.env) + KEY_RETRY_MIN_MS * NS_PER_MS;
	log_warn("key_deferred", "call=%u", c->id);
}

/* Lends a key to p's slot; p NULL: our own sending key. Returns false when it was deferred. */
static bool lend_key(struct call *c, const struct dave_epoch *e, struct person *p,
		     uint32_t generation)
{
	struct media_key *deferred = p ? &p->deferred : &c->secure.deferred,
			 key = {true, e->serial, generation};
	struct cmd cmd = {.type = p ? CMD_DAVE_OPEN : CMD_DAVE_SEND};
	const struct dave_member *m = dave_epoch_find(e, p ? p->user : c->user);

	/* secure_take_slot lends all keys once the nonces that they have used are known. */
	if (!m || (p && p->returning))
		return true;
	cmd.dave.slot = p ? p->slot : NULL;
	if (dave_key_alloc(&cmd.dave.key, m->base, global_epoch(c, e->serial), generation))
		goto later;
	dave_key_start_at(cmd.dave.key, m->next_nonce);
	if (p)
		dave_key_end_at(cmd.dave.key, dave_session_epoch_until(c->secure.session, e));
	if (!call_command(c, &cmd))
		goto later;
	deferred->is = deferred->is && is_later_key(deferred, &key);
	if (p && (!p->lent.is || is_later_key(&key, &p->lent)))
		p->lent = key;
	return true;
later:
	defer_key(c, deferred, key);
	return false;
}

/* If the newest epoch has no key of p, the older ones count for DAVE_GRACE_MS more. Otherwise all
 * who were in a group with p could speak as p after p has left it, if the voice server hides that.
 */
static void expire_keys(struct call *c, struct person *p)
{
	struct cmd cmd = {.type = CMD_DAVE_OPEN};
	const struct dave_epoch *newest;

	if (!p->slot || p->returning || !dave_session_epochs(c->secure.session, &newest, 1) ||
	    dave_epoch_find(newest, p->user))
		return;
	cmd.dave.slot = p->slot;
	p->stale = !call_command(c, &cmd) || p->stale;
}

static void lend_epoch(struct call *c, const struct dave_epoch *e)
{
	for (size_t i = 0; i < c->n_people; i++) {
		if (c->people[i]->slot)
			lend_key(c, e, c->people[i], 0);
		expire_keys(c, c->people[i]);
	}
	if (call_may_log(c))
		log_info("secure_epoch", "call=%u epoch=%llu members=%u", c->id, USER(e->number),
			 e->n);
}

void secure_slot(struct call *c, struct person *p)
{
	const struct dave_epoch *epochs[DAVE_KEYS];
	unsigned n =
		c->secure.session ? dave_session_epochs(c->secure.session, epochs, DAVE_KEYS) : 0;

	/* A speaker who has sent for long is past the first generation of the ratchet. */
	while (n-- > 0)
		lend_key(c, epochs[n], p,
			 p->lent.is && p->lent.serial == epochs[n]->serial ? p->lent.generation
									   : 0);
}

struct returned {
	struct call *c;
	uint64_t user;
};

static void take_key(struct dave_key *key, void *arg)
{
	const struct returned *r = arg;
	const struct secure *s = &r->c->secure;
	uint64_t epoch = dave_key_epoch(key);

	if (s->session && epoch >> 32 == s->number)
		dave_session_note_nonces(s->session, r->user, epoch & UINT32_MAX,
					 dave_key_next_nonce(key));
	dave_key_free(key);
}

void secure_take_slot(struct call *c, struct slot *slot, struct person *p)
{
	struct returned r = {c, slot->user};

	dave_opener_clear(slot->opener, take_key, &r);
	if (p && p->slot)
		secure_slot(c, p);
}

static void set_sending_key(struct call *c, const struct dave_epoch *e)
{
	c->secure.deferred.is = false;
	if (e)
		lend_key(c, e, NULL, 0);
	else
		call_command(c, &(struct cmd){.type = CMD_DAVE_SEND});
	if (call_may_log(c))
		log_info("secure_send", "call=%u epoch=%llu", c->id, USER(e ? e->number : 0));
}

static void allow_clear(struct call *c, bool send, uint64_t until)
{
	struct cmd cmd = {.type = CMD_DAVE_CLEAR};

	cmd.dave.send = send;
	cmd.dave.until = until;
	call_command(c, &cmd);
}

/* Lends the generations after those in use. */
static void lend_next_generation(struct call *c, uint64_t user, uint64_t epoch, uint32_t generation)
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
		if (global_epoch(c, epochs[i]->serial) == epoch)
			lend_key(c, epochs[i], p, generation);
}

/* Lends a deferred key, unless its epoch is over. No later key was lent meanwhile, or it would not
 * be deferred any more: of several keys of a speaker the one lent last counts as the newest.
 * Returns false when there still is no memory. */
static bool lend_deferred_key(struct call *c, struct media_key *deferred, struct person *p)
{
	const struct dave_epoch *epochs[DAVE_KEYS];
	unsigned n = 0, i = 0;

	if (!deferred->is)
		return true;
	if (!p && dave_session_sending(c->secure.session))
		epochs[n++] = dave_session_sending(c->secure.session);
	if (p && p->slot)
		n = dave_session_epochs(c->secure.session, epochs, DAVE_KEYS);
	while (i < n && epochs[i]->serial != deferred->serial)
		i++;
	if (i < n)
		return lend_key(c, epochs[i], p, deferred->generation);
	deferred->is = false;
	return true;
}

/* Lends all deferred keys, up to the first failure. */
static void lend_deferred_keys(struct call *c)
{
	struct secure *s = &c->secure;
	bool lent = lend_deferred_key(c, &s->deferred, NULL);

	/* Keys that are lent late carry their end with them. */
	for (size_t i = 0; lent && i < c->n_people; i++)
		lent = lend_deferred_key(c, &c->people[i]->deferred, c->people[i]);
	if (lent)
		log_info("deferred_keys_lent", "call=%u", c->id);
	s->retry_wait_ms = lent					     ? 0
			   : s->retry_wait_ms * 2 < KEY_RETRY_MAX_MS ? s->retry_wait_ms * 2
								     : KEY_RETRY_MAX_MS;
	s->retry_at = env_now(c->conf.env) + s->retry_wait_ms * NS_PER_MS;
}

static void forget_keys(struct call *c)
{
	c->secure.deferred.is = false;
	c->secure.retry_wait_ms = 0;
	for (size_t i = 0; i < c->n_people; i++)
		c->people[i]->deferred.is = c->people[i]->lent.is = false;
}

/* ---- policy ---- */

/* Stages have no end-to-end encryption. A call that was encrypted in its channel is in none,
 * whatever the channel is called meanwhile. */
static bool requires_encryption(const struct call *c)
{
	return (!c->stage || c->secure.encrypted) && c->e2ee != MEDIA_E2EE_PREFER;
}

/* A call that was never encrypted may go on without, unless control forbids that. */
static bool may_be_clear(const struct call *c)
{
	return !requires_encryption(c) || (c->e2ee != MEDIA_E2EE_ALWAYS && !c->secure.encrypted);
}

/* The policy may have changed since the gateway agreed to a clear session, so it counts again when
 * the stream would begin to send in the clear. */
static void change_clear(struct call *c, bool send, uint64_t until)
{
	if (send && !may_be_clear(c))
		c->secure.leave = true;
	else
		allow_clear(c, send, until);
}

/* ---- actions of the session ---- */

static void submit_job(struct call *c, struct dave_job *job)
{
	struct secure *s = &c->secure;
	int err;

	env_random(c->conf.env, job->seed, sizeof job->seed);
	err = worker_put(c->conf.worker, job, s->number);
	if (!err)
		return;
	if (call_may_log(c))
		log_warn("key_work_refused", "call=%u error=\"%s\"", c->id, strerror(err));
	/* It is returned unrun once the session's step is over. */
	s->refused_jobs[s->n_refused_jobs++] = job;
}

static void send_code(struct call *c, uint64_t user, const char *code)
{
	struct media_msg msg = {.type = MEDIA_CODE};

	msg.code.user = user;
	msg.code.code = slice_str(code);
	call_send(c, &msg, 0);
}

static void perform_dave_action(const struct dave_action *act, void *arg)
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
		submit_job(c, act->job);
		break;
	case DAVE_ACT_EPOCH:
		lend_epoch(c, act->epoch);
		break;
	case DAVE_ACT_SEND:
		set_sending_key(c, act->epoch);
		break;
	case DAVE_ACT_CLEAR:
		change_clear(c, act->clear.send, act->clear.receive_until);
		break;
	case DAVE_ACT_STATE:
		c->secure.changed = true;
		break;
	case DAVE_ACT_CODE:
		send_code(c, act->code.user, act->code.code);
		break;
	case DAVE_ACT_RESUME:
		c->secure.resume = true;
		break;
	case DAVE_ACT_REJOIN:
		c->secure.rejoin = true;
		break;
	case DAVE_ACT_LEAVE:
		c->secure.leave = true;
		break;
	}
	if (err) {
		log_warn("secure_unsent", "call=%u error=\"%s\"", c->id, strerror(err));
		c->secure.rejoin = true;
	}
}

/* ---- reports to control ---- */

void secure_send_state(struct call *c)
{
	static const struct dave_status none;
	const struct dave_status *s =
		c->secure.session ? dave_session_status(c->secure.session) : &none;
	const struct dave_heal_state *l = &c->secure.heal;
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
	m->undecryptable = s->undecryptable;
	m->recovers = l->recovers;
	m->resumes = l->resumes;
	m->rejoins = l->rejoins;
	m->invalid = l->invalid;
	m->executes = l->executes;
	call_send(c, &msg, 0);
}

/* Logs each healing step, each invalid message, and a call without encryption where encryption is
 * expected. */
static void log_faults(struct call *c, const struct dave_status *s)
{
	const struct dave_heal_state *l = &c->secure.heal, *was = &c->secure.reported;

	if (l->recovers != was->recovers || l->resumes != was->resumes ||
	    l->rejoins != was->rejoins)
		log_warn("secure_heal", "call=%u step=%s undecryptable=%u what=\"%s\"", c->id,
			 media_heal_name(l->last), s->undecryptable, media_heal_text(l->last));
	if (l->invalid != was->invalid && call_may_log(c))
		log_warn("secure_invalid", "call=%u count=%u", c->id, l->invalid);
	if (l->executes != was->executes && call_may_log(c))
		log_warn("secure_executed_late", "call=%u count=%u", c->id, l->executes);
	if (was->last != DAVE_HEAL_NONE && l->last == DAVE_HEAL_NONE)
		log_info("secure_healed", "call=%u", c->id);
	if (s->known && s->version == 0 && !c->stage && !c->secure.clear_logged) {
		c->secure.clear_logged = true;
		log_warn("not_encrypted",
			 "call=%u channel=%llu hint=\"only stages should be without "
			 "end-to-end encryption\"",
			 c->id, USER(c->channel));
	}
}

/* Outages alone are no news for the log, which has lines of their own. */
static bool is_news(const struct dave_status *a, const struct dave_status *b, bool heals)
{
	return heals || a->version != b->version || a->known != b->known || a->ready != b->ready ||
	       a->pending != b->pending || a->epoch != b->epoch || a->members != b->members;
}

static void report_change(struct call *c)
{
	bool heals = c->secure.reported.last != c->secure.heal.last;
	static const struct dave_status none;
	const struct dave_status *s =
		c->secure.session ? dave_session_status(c->secure.session) : &none;

	c->secure.changed = false;
	if (s->known && s->version > 0 && !c->secure.encrypted) {
		c->secure.encrypted = true;
		secure_check_policy(c);
	}
	log_faults(c, s);
	c->secure.reported = c->secure.heal;
	if (is_news(s, &c->secure.logged, heals) && call_may_log(c))
		log_info("call_secure",
			 "call=%u version=%u known=%d ready=%d pending=%d epoch=%llu members=%u "
			 "privacy_code=%s heal=%s undecryptable=%u",
			 c->id, s->version, s->known, s->ready, s->pending, USER(s->epoch),
			 s->members, s->privacy_code[0] ? s->privacy_code : "-",
			 media_heal_name(c->secure.heal.last), s->undecryptable);
	c->secure.logged = *s;
	secure_send_state(c);
}

/* ---- inputs from the gateway ---- */

static uint64_t call_now(const struct call *c)
{
	return env_now(c->conf.env);
}

void secure_check_policy(struct call *c)
{
	struct dave_session *s = c->secure.session;
	const struct dave_status *status = s ? dave_session_status(s) : NULL;

	vgw_require_encryption(c->gw, !may_be_clear(c));
	if (s)
		dave_session_require(s, requires_encryption(c));
	if (status && status->known && status->version == 0 && !may_be_clear(c))
		c->secure.leave = true;
}

void secure_begin(struct call *c)
{
	struct secure *s = &c->secure;
	struct dave_conf conf = {
		.user = c->user, .acth = perform_dave_action, .arg = c, .heal = &s->heal};

	secure_end(c);
	s->encrypted = s->encrypted && s->channel == c->joined;
	s->channel = c->joined;
	conf.required = requires_encryption(c);
	vgw_require_encryption(c->gw, !may_be_clear(c));
	if (dave_session_alloc(&s->session, &conf)) {
		c->pending_close = 4006; /* as for any session that cannot be used */
		return;
	}
	s->number = ++*c->conf.sessions;
}

void secure_end(struct call *c)
{
	struct secure *s = &c->secure;

	for (unsigned i = 0; i < s->n_refused_jobs; i++)
		dave_job_free(s->refused_jobs[i]);
	s->n_refused_jobs = 0;
	s->resume = s->rejoin = s->leave = false;
	if (!s->session)
		return;
	s->session = dave_session_free(s->session);
	forget_keys(c);
	for (size_t i = 0; i < c->n_people; i++)
		secure_end_outage(c, c->people[i], "session over");
	/* The stream has closed its DAVE state with the session. */
	s->changed = true;
}

void secure_start(struct call *c, uint16_t version)
{
	if (!c->secure.session)
		return;
	if (version > 0) {
		c->secure.encrypted = true;
		secure_check_policy(c);
	}
	/* From here on undecryptable packets count. */
	allow_clear(c, false, 0);
	dave_session_start(c->secure.session, call_now(c), c->secure.channel, version);
}

void secure_text(struct call *c, unsigned op, uint16_t transition, uint16_t version, uint64_t epoch)
{
	if (!c->secure.session)
		return;
	log_debug("secure_in", "call=%u op=%u transition=%u version=%u epoch=%llu", c->id, op,
		  transition, version, USER(epoch));
	dave_session_text(c->secure.session, call_now(c), op, transition, version, epoch);
}

void secure_binary(struct call *c, unsigned op, const uint8_t *p, size_t n)
{
	if (!c->secure.session)
		return;
	log_debug("secure_in", "call=%u op=%u bytes=%zu", c->id, op, n);
	dave_session_binary(c->secure.session, call_now(c), op, p, n);
}

void secure_member(struct call *c, uint64_t user, bool present)
{
	if (c->secure.session)
		dave_session_member(c->secure.session, call_now(c), user, present);
}

void secure_gap(struct call *c)
{
	if (!c->secure.session)
		return;
	if (call_may_log(c))
		log_warn("gateway_gap", "call=%u", c->id);
	dave_session_gap(c->secure.session, call_now(c));
}

void secure_offline(struct call *c)
{
	if (c->secure.session)
		dave_session_offline(c->secure.session, call_now(c));
}

void secure_resumed(struct call *c)
{
	if (c->secure.session)
		dave_session_resumed(c->secure.session, call_now(c));
}

/* ---- inputs from the audio thread ---- */

void secure_end_outage(struct call *c, struct person *p, const char *how)
{
	if (p->outage_in_log)
		log_info("decrypt_outage_over", "call=%u user=%llu ms=%llu how=\"%s\"", c->id,
			 USER(p->user), USER((call_now(c) - p->outage_since) / NS_PER_MS), how);
	p->outage_since = 0;
	p->outage_in_log = false;
}

void secure_forget_outage(struct call *c, struct person *p)
{
	if (!p->outage_since)
		return;
	secure_end_outage(c, p, "no longer received");
	if (c->secure.session)
		dave_session_forget_outage(c->secure.session, call_now(c), p->user);
}

static void begin_outage(struct call *c, struct person *p, uint64_t at)
{
	uint64_t now = call_now(c);

	p->outage_since = at;
	if (p->outage_logged && now - p->outage_logged < OUTAGE_LOG_MS * NS_PER_MS)
		return;
	p->outage_logged = now;
	p->outage_in_log = true;
	log_warn("decrypt_outage", "call=%u user=%llu", c->id, USER(p->user));
}

static void on_outage(struct call *c, const struct ev *ev)
{
	struct person *p = hear_find(c, ev->dave.user);

	if (!p)
		return;
	if (ev->dave.unknown) {
		secure_forget_outage(c, p);
		return;
	}
	if (!ev->dave.undecryptable) {
		secure_end_outage(c, p, "heard again");
	} else {
		if (!p->outage_since)
			begin_outage(c, p, ev->dave.at);
		/* Until the others have switched, a key that does not fit says nothing of the SSRC.
		 */
		if (!ev->dave.video && !dave_session_switches(c->secure.session, call_now(c)))
			hear_doubt_ssrc(c, p->user);
	}
	dave_session_decryption(c->secure.session, call_now(c), p->user, !ev->dave.undecryptable);
	if (!p->given_up && secure_gave_up(c, p->user) && call_may_log(c))
		log_warn("speaker_given_up",
			 "call=%u user=%llu hint=\"our keys are not to blame, so no more are "
			 "requested in this epoch\"",
			 c->id, USER(p->user));
	p->given_up = secure_gave_up(c, p->user);
}

bool secure_gave_up(const struct call *c, uint64_t user)
{
	return c->secure.session && dave_session_gave_up(c->secure.session, user);
}

static void on_proof(struct call *c, const struct ev *ev)
{
	if (!ev->dave.video)
		hear_prove_ssrc(c, ev->dave.user);
	dave_session_proof(c->secure.session, call_now(c), ev->dave.user,
			   ev->dave.epoch & UINT32_MAX);
}

void secure_event(struct call *c, const struct ev *ev)
{
	if (!c->secure.session)
		return;
	if (ev->type == EV_DAVE_OUTAGE)
		on_outage(c, ev);
	else if (ev->type == EV_DAVE_NEXT)
		lend_next_generation(c, ev->dave.user, ev->dave.epoch, ev->dave.generation);
	else if (ev->dave.epoch >> 32 == c->secure.number)
		on_proof(c, ev);
}

/* ---- inputs from the worker and from control ---- */

bool secure_job_done(struct call *c, struct dave_job *job, uint64_t owner)
{
	if (!c->secure.session || owner != c->secure.number)
		return false;
	if ((job->verdict == DAVE_INVALID || job->verdict == DAVE_REFUSED ||
	     job->verdict == DAVE_NO_SENDER) &&
	    call_may_log(c))
		log_warn("key_work_failed", "call=%u job=%d error=\"%s\"", c->id, job->type,
			 strerror(job->err));
	dave_session_done(c->secure.session, call_now(c), job);
	return true;
}

void secure_verify(struct call *c, uint64_t user)
{
	if (c->secure.session)
		dave_session_verify(c->secure.session, call_now(c), user);
	else
		send_code(c, user, "");
}

/* ---- after each step ---- */

bool secure_has_deferred(const struct call *c)
{
	return c->secure.n_refused_jobs || c->secure.resume || c->secure.rejoin || c->secure.leave;
}

void secure_run_deferred(struct call *c)
{
	struct secure *s = &c->secure;
	bool resume = s->resume, rejoin = s->rejoin, leave = s->leave;

	if (s->n_refused_jobs) {
		dave_session_done(s->session, call_now(c), s->refused_jobs[--s->n_refused_jobs]);
		return;
	}
	s->resume = s->rejoin = s->leave = false;
	if (leave)
		vgw_refuse_clear(c->gw);
	else if (rejoin)
		vgw_rejoin(c->gw, call_now(c), MEDIA_REASON_NOT_DECRYPTED);
	else if (resume)
		vgw_resume_now(c->gw, call_now(c), MEDIA_REASON_NOT_DECRYPTED);
}

void secure_finish_step(struct call *c)
{
	uint64_t at = c->secure.session ? dave_session_deadline(c->secure.session) : UINT64_MAX;

	if (c->secure.changed)
		report_change(c);
	if (c->secure.retry_wait_ms && c->secure.retry_at < at)
		at = c->secure.retry_at;
	if (at == UINT64_MAX)
		tmr_stop(c->secure.timer);
	else
		tmr_start_at(c->secure.timer, at);
}

static void on_timer(void *arg)
{
	struct call *c = arg;

	if (c->secure.session)
		dave_session_timer(c->secure.session, call_now(c));
	if (c->secure.retry_wait_ms && call_now(c) >= c->secure.retry_at)
		lend_deferred_keys(c);
	call_finish_step(c);
}

int secure_init(struct call *c)
{
	return tmr_alloc(&c->secure.timer, c->conf.env, on_timer, c);
}

void secure_free(struct call *c)
{
	for (unsigned i = 0; i < c->secure.n_refused_jobs; i++)
		dave_job_free(c->secure.refused_jobs[i]);
	dave_session_free(c->secure.session);
	tmr_free(c->secure.timer);
}
