#include "mediad/dave/session_internal.h"

#include <stdlib.h>

#include "proto/base/time.h"

/* Healing, in steps, when packets of a speaker arrive and cannot be decrypted:
 *
 * RECOVER: op 31 and a new key package; the gateway removes us from the group and adds us again.
 * Both are sent again when the socket was lost and the session resumed meanwhile.
 *
 * RESUME: only if sequence numbers of the gateway were skipped; it repeats the missing messages. It
 * follows a RECOVER, or takes its place when the budget of re-keys is spent.
 *
 * REJOIN: a new session with fresh credentials.
 *
 * A step waits until the cool-down of the one before has passed, and cool-downs grow. Once an
 * outage has ended, the next one starts with RECOVER, and after a quiet time without waiting. A new
 * session takes its own RECOVER at once, whatever came before it.
 *
 * One member must be no lever on the call, so an outage is judged first:
 *
 *   heard      lost                                      judgement
 *   somebody   any number                                our keys are right
 *   nobody     one speaker among silent members          nothing is known
 *   nobody     several, or the one who is alone with us  our keys are wrong
 *
 * Only if our keys are wrong all steps are taken. Otherwise RECOVERs come from a small budget, and
 * then the speaker is given up until the next epoch. A speaker who was heard in the present epoch
 * makes us rejoin only after a long time in which nobody is heard. Op 31 that answers invalid
 * commits and welcomes, and the rejoin after several of them, come from the same budget as the
 * RECOVERs for single speakers (rekey_budget.h). While an answer waits for it we stop sending if
 * the others have gone on to an epoch without us; an epoch, or a member who leaves, ends the wait.
 */

enum { COOLDOWN_FIRST_MS = 10000, COOLDOWN_SECOND_MS = 60000, COOLDOWN_MAX_MS = 3600000 };

static uint64_t max_time(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- speakers in an outage ---- */

/* Returns the index of the user, or where to insert it. */
static size_t find_index(const struct dave_session *s, uint64_t user)
{
	size_t lo = 0, hi = s->n_undecryptable;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->undecryptable[mid].user < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void note_undecryptable(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = find_index(s, user);

	if (i < s->n_undecryptable && s->undecryptable[i].user == user) {
		if (now - s->undecryptable[i].at > 2 * DAVE_EVIDENCE_MS * NS_PER_MS)
			s->undecryptable[i].since = now;
		s->undecryptable[i].at = now;
		return;
	}
	if (s->n_undecryptable == s->cap_undecryptable) {
		size_t cap = s->cap_undecryptable ? 2 * s->cap_undecryptable : 8;
		struct dave_undecryptable *p = cap <= DAVE_USERS_MAX * 2
						       ? realloc(s->undecryptable, cap * sizeof *p)
						       : NULL;

		/* The outage will be reported again. */
		if (!p)
			return;
		s->undecryptable = p;
		s->cap_undecryptable = cap;
	}
	memmove(s->undecryptable + i + 1, s->undecryptable + i,
		(s->n_undecryptable++ - i) * sizeof *s->undecryptable);
	s->undecryptable[i] = (struct dave_undecryptable){user, now, now};
}

/* Outside the group speakers may still be decrypted with earlier keys. */
static bool is_outside_group(const struct dave_session *s)
{
	return s->status.version > 0 && !s->in_group;
}

/* The outage ended: the next one starts with the first step. */
static void note_healed(struct dave_session *s, uint64_t now)
{
	if (s->conf.heal->last == DAVE_HEAL_NONE || is_outside_group(s))
		return;
	s->conf.heal->last = DAVE_HEAL_NONE;
	s->conf.heal->healed_at = now;
	s->recovered = s->resumed = false;
}

void dave_heal_remove_user(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = find_index(s, user);

	if (i == s->n_undecryptable || s->undecryptable[i].user != user)
		return;
	memmove(s->undecryptable + i, s->undecryptable + i + 1,
		(--s->n_undecryptable - i) * sizeof *s->undecryptable);
	if (!s->n_undecryptable)
		note_healed(s, now);
}

/* We are not added again without a new key package, but the gateway may be about to create the
 * group anew and announce it. */
void dave_heal_removed(struct dave_session *s, uint64_t now)
{
	s->epoch_by = DAVE_NEVER;
	s->welcome_by = now + DAVE_JOIN_GRACE_MS * NS_PER_MS;
}

void dave_heal_keep_members(struct dave_session *s, const struct dave_epoch *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_undecryptable; i++)
		if (dave_epoch_find(e, s->undecryptable[i].user))
			s->undecryptable[n++] = s->undecryptable[i];
	s->n_undecryptable = n;
}

static void note_heard(struct dave_session *s, uint64_t now)
{
	if (!s->n_undecryptable)
		note_healed(s, now);
}

/* Keys of earlier epochs decrypt for a while wherever the group is. */
void dave_heal_proof(struct dave_session *s, uint64_t now, uint64_t serial)
{
	if (s->muted && s->n_epochs && serial >= s->epochs[0].epoch->serial) {
		s->muted = false;
		s->owed_at = DAVE_NEVER; /* once, or a member could switch us on and off */
		dave_transition_stayed(s);
	}
	note_heard(s, now);
}

/* Returns what is left of a count n that loses one per `every_ms`. */
static uint32_t decay_count(uint32_t n, uint64_t *at, uint64_t now, uint32_t every_ms)
{
	uint64_t gone = (now - *at) / (every_ms * NS_PER_MS);

	*at += gone * every_ms * NS_PER_MS;
	return gone < n ? n - (uint32_t)gone : 0;
}

/* A quiet time of half the cool-down cancels the cool-down, but not repeatedly: otherwise whoever
 * causes short outages could have the group re-keyed without end. */
static void relax_cooldown(struct dave_session *s, uint64_t now)
{
	struct dave_heal_state *l = s->conf.heal;

	l->steps = decay_count(l->steps, &l->steps_at, now, DAVE_STEP_MS);
	if (!s->n_undecryptable && !is_outside_group(s) && l->steps < DAVE_STEPS_MAX &&
	    l->last == DAVE_HEAL_NONE && l->cooldown_ms &&
	    now - l->healed_at >= l->cooldown_ms * NS_PER_MS / 2) {
		l->cooldown_ms = 0;
		l->not_before = 0;
	}
}

void dave_session_decryption(struct dave_session *s, uint64_t now, uint64_t user, bool ok)
{
	relax_cooldown(s, now);
	if (ok) {
		dave_speakers_heard(s, now, user, 0);
		dave_heal_remove_user(s, now, user);
		note_heard(s, now);
	} else if (s->status.known && s->status.version > 0) {
		dave_speakers_lost(s, now, user);
		if (!dave_session_gave_up(s, user) || dave_speakers_blame_us(s, now))
			note_undecryptable(s, now, user);
	}
	dave_heal_timer(s, now);
	dave_session_finish_step(s, now);
}

void dave_session_forget_outage(struct dave_session *s, uint64_t now, uint64_t user)
{
	relax_cooldown(s, now);
	dave_heal_remove_user(s, now, user);
	dave_heal_timer(s, now);
	dave_session_finish_step(s, now);
}

/* ---- steps ---- */

static void request_new_package(struct dave_session *s, uint16_t id)
{
	dave_send_text(s, DAVE_OP_INVALID, id);
	s->want_rekey = true;
	s->asked = !s->offline;
	s->epoch_by = s->welcome_by = s->ask_again_at = DAVE_NEVER;
}

/* A step that does not lengthen the cool-downs: the first of a session, those for single speakers,
 * and a resume for what no other step but a rejoin can bring. */
static void record_short_step(struct dave_heal_state *l, uint64_t now, enum dave_heal taken)
{
	if (l->cooldown_ms < COOLDOWN_FIRST_MS)
		l->cooldown_ms = COOLDOWN_FIRST_MS;
	l->not_before = max_time(l->not_before, now + COOLDOWN_FIRST_MS * NS_PER_MS);
	l->last = taken;
	l->steps++;
}

static void record_step(struct dave_heal_state *l, uint64_t now, enum dave_heal take_step)
{
	if (l->cooldown_ms == 0)
		l->cooldown_ms = COOLDOWN_FIRST_MS;
	else if (l->cooldown_ms < COOLDOWN_SECOND_MS)
		l->cooldown_ms = COOLDOWN_SECOND_MS;
	else
		l->cooldown_ms = (uint32_t)min_time(2 * (uint64_t)l->cooldown_ms, COOLDOWN_MAX_MS);
	l->not_before = now + l->cooldown_ms * NS_PER_MS;
	l->last = take_step;
	l->steps++;
}

static void take_recover_step(struct dave_session *s, uint64_t now, bool single)
{
	s->recovered = true;
	s->conf.heal->recovers++;
	if (single || !s->stepped)
		record_short_step(s->conf.heal, now, DAVE_HEAL_RECOVER);
	else
		record_step(s->conf.heal, now, DAVE_HEAL_RECOVER);
	s->stepped = true;
	request_new_package(s, s->last_id);
}

static void take_resume_step(struct dave_session *s, uint64_t now, bool no_sender)
{
	s->resumed = s->stepped = true;
	s->gap = false;
	s->conf.heal->resumes++;
	if (no_sender)
		record_short_step(s->conf.heal, now, DAVE_HEAL_RESUME);
	else
		record_step(s->conf.heal, now, DAVE_HEAL_RESUME);
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_RESUME}, s->conf.arg);
}

static void take_rejoin_step(struct dave_session *s, uint64_t now)
{
	s->rejoining = true;
	s->conf.heal->rejoins++;
	record_step(s->conf.heal, now, DAVE_HEAL_REJOIN);
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_REJOIN}, s->conf.arg);
}

/* No new keys help these speakers, and our own are not to blame. */
static void give_up_speakers(struct dave_session *s, uint64_t now)
{
	while (s->n_undecryptable) {
		uint64_t user = s->undecryptable[0].user;

		dave_speakers_give_up(s, now, user);
		dave_heal_remove_user(s, now, user);
	}
}

/* True if missing messages may be repeated, which costs the group nothing. */
static bool may_resume(const struct dave_session *s)
{
	return s->gap && !s->resumed;
}

/* Some speakers cannot be decrypted, and our own keys are not to blame as far as is known. */
static void take_single_step(struct dave_session *s, uint64_t now)
{
	if (s->recovered && may_resume(s))
		take_resume_step(s, now, false);
	else if (dave_speakers_charge(s, now))
		take_recover_step(s, now, true);
	else if (may_resume(s))
		take_resume_step(s, now, false);
	else
		give_up_speakers(s, now);
}

/* Returns since when somebody could not be decrypted without a break. */
static uint64_t outage_since(const struct dave_session *s)
{
	uint64_t since = DAVE_NEVER;

	for (size_t i = 0; i < s->n_undecryptable; i++)
		since = min_time(since, s->undecryptable[i].since);
	return since;
}

/* Nobody is heard, but our keys of this epoch decrypted something before. */
static bool was_heard_in_epoch(const struct dave_session *s)
{
	return s->n_undecryptable && s->n_epochs && s->proved >= s->epochs[0].epoch->serial;
}

static void take_first_step(struct dave_session *s, uint64_t now)
{
	uint64_t alone_at = outage_since(s);

	if (!was_heard_in_epoch(s) || dave_speakers_charge(s, now)) {
		take_recover_step(s, now, was_heard_in_epoch(s));
		return;
	}
	s->stepped = true;
	alone_at += DAVE_ALONE_MS * NS_PER_MS;
	if (alone_at <= now)
		take_rejoin_step(s, now);
	else
		s->conf.heal->not_before = max_time(s->conf.heal->not_before, alone_at);
}

static void send_answer(struct dave_session *s)
{
	s->answers++;
	s->answer_owed = false;
	request_new_package(s, s->last_id);
}

/* When no epoch follows the answers, only another session helps. */
static void answer_or_rejoin(struct dave_session *s)
{
	s->answer_owed = false;
	if (s->answers >= DAVE_ANSWERS_MAX)
		s->needs_rejoin = true;
	else
		send_answer(s);
}

/* The others are in an epoch to which we cannot follow them: we stop sending when they forget our
 * key. Returns false if we do already, or have. */
static bool end_sending(struct dave_session *s, uint64_t now)
{
	if (!s->in_group || !s->sending || s->send_until != DAVE_NEVER)
		return false;
	dave_transition_left(s, now);
	return true;
}

/* Waits for more of the budget. `moved` says that the others may be in the next epoch. */
static void owe_answer(struct dave_session *s, uint64_t now, bool moved)
{
	s->owed_at = now;
	s->answer_owed = true;
	s->welcome_by = DAVE_NEVER;
	if (moved) {
		s->muted = false;
		end_sending(s, now);
	}
}

/* Outside the group steps follow one another without end while a member makes every welcome
 * invalid, so then they come from the budget, too. A session's first step waits for no gap. */
static bool may_take_step(struct dave_session *s, uint64_t now)
{
	struct dave_heal_state *l = s->conf.heal;

	return s->input_lost || s->needs_rejoin || !is_outside_group(s) || !l->doubted ||
	       rekey_budget_take(&l->rekeys, now) ||
	       (!s->stepped && rekey_budget_take_early(&l->rekeys, now));
}

static void take_step(struct dave_session *s, uint64_t now)
{
	if (!may_take_step(s, now))
		owe_answer(s, now, false);
	else if (s->input_lost || s->needs_rejoin)
		take_rejoin_step(s, now);
	else if (!is_outside_group(s) && s->n_undecryptable && !dave_speakers_blame_us(s, now))
		take_single_step(s, now);
	else if (!s->recovered)
		take_first_step(s, now);
	else if (may_resume(s))
		take_resume_step(s, now, false);
	else
		take_rejoin_step(s, now);
}

/* A member can cause answers without end, so they come from a budget, as does the rejoin that ends
 * them. */
static void answer_invalid(struct dave_session *s, uint64_t now, uint16_t id, bool moved)
{
	s->last_id = id;
	s->epoch_by = DAVE_NEVER;
	s->conf.heal->doubted = true;
	if (s->needs_rejoin)
		return;
	if (rekey_budget_take(&s->conf.heal->rekeys, now))
		answer_or_rejoin(s);
	else
		owe_answer(s, now, moved);
}

void dave_heal_left(struct dave_session *s, uint64_t now, uint64_t user)
{
	const struct dave_epoch *e = s->n_epochs ? s->epochs[0].epoch : NULL;

	if (!s->answer_owed || (e && !dave_epoch_find(e, user)))
		return;
	if (rekey_budget_take_early(&s->conf.heal->rekeys, now) || e)
		answer_or_rejoin(s);
}

/* ---- members without an epoch ---- */

/* Each member who comes or goes makes an epoch. When none follows, the gateway may have started the
 * group again (op 24) without our notice: then those who missed it hear one another and notice
 * nothing, and whoever joins is alone in another group. A broken member can cause this by joining,
 * so the requests share the budget of those for single speakers. The members ask one after the
 * other, in the order of their ids, and the first epoch spares the rest of them the question. */

static const struct dave_epoch *own_epoch(const struct dave_session *s)
{
	return s->in_group && s->n_epochs ? s->epochs[0].epoch : NULL;
}

/* Returns a user who is not in the epoch, and for whom none was asked yet; 0: there is none. */
static uint64_t find_newcomer(const struct dave_session *s, const struct dave_epoch *e)
{
	for (size_t i = 0; i < s->n_users; i++)
		if (!dave_epoch_find(e, s->users[i]) && !dave_speakers_asked(s, s->users[i]))
			return s->users[i];
	return 0;
}

/* True if the epoch agrees with the call on whether this user is there. */
static bool is_settled(const struct dave_session *s, const struct dave_epoch *e, uint64_t user)
{
	bool member = dave_epoch_find(e, user);

	return member == dave_session_has_user(s, user);
}

static uint64_t turn_to_ask(const struct dave_session *s, const struct dave_epoch *e)
{
	const struct dave_member *m = dave_epoch_find(e, s->conf.user);

	uint64_t before = m ? (uint64_t)(m - e->member) : 0;

	return min_time(before, DAVE_CHANGE_TURNS) * DAVE_CHANGE_STEP_MS * NS_PER_MS;
}

static uint64_t change_wait(const struct dave_session *s, const struct dave_epoch *e)
{
	return DAVE_CHANGE_MS * NS_PER_MS + turn_to_ask(s, e);
}

void dave_heal_changed(struct dave_session *s, uint64_t now, uint64_t user)
{
	const struct dave_epoch *e = own_epoch(s);
	bool member = e && dave_epoch_find(e, user), present = dave_session_has_user(s, user);

	if (member && !present)
		s->left_user = user;
	if (!e || member == present || s->change_by != DAVE_NEVER)
		return;
	s->change_user = user;
	s->change_by = now + change_wait(s, e);
}

/* Whoever is not in this epoch either, or has left and still is, is awaited: not longer than
 * before, unless it was for another one whom this epoch settled. When people come one after the
 * other each epoch lacks the newest. */
void dave_heal_epoch(struct dave_session *s, uint64_t now)
{
	const struct dave_epoch *e = s->epochs[0].epoch;
	uint64_t newcomer = find_newcomer(s, e);

	/* The epoch may have been under way when somebody left. */
	if (!dave_epoch_find(e, s->left_user) || dave_session_has_user(s, s->left_user))
		s->left_user = 0;
	if (!newcomer && !s->left_user)
		s->change_by = DAVE_NEVER;
	if (!is_settled(s, e, s->change_user))
		return;
	s->change_user = newcomer ? newcomer : s->left_user;
	/* Before the first epoch nothing was awaited. */
	if (s->change_by != DAVE_NEVER || (newcomer && s->n_epochs == 1))
		s->change_by = now + change_wait(s, e);
}

static void ask_for_change(struct dave_session *s, uint64_t now)
{
	const struct dave_epoch *e = own_epoch(s);

	s->change_by = DAVE_NEVER;
	if (!e || s->status.version == 0 || s->n_users == 1 ||
	    (!s->left_user && !find_newcomer(s, e)))
		return;
	s->left_user = 0; /* once for each who leaves */
	if (dave_speakers_charge_one(s, now, s->change_user))
		take_recover_step(s, now, true);
	else if (may_resume(s))
		take_resume_step(s, now, false);
}

/* ---- deadlines ---- */

static bool is_long_outage(const struct dave_undecryptable *d)
{
	return d->at - d->since >= DAVE_LONG_OUTAGE_MS * NS_PER_MS;
}

/* Returns the latest report of an outage that no change of keys explains; 0: none. */
static uint64_t latest_evidence(const struct dave_session *s)
{
	uint64_t at = 0;

	for (size_t i = 0; i < s->n_undecryptable; i++)
		if (s->undecryptable[i].at > s->changed_at || is_long_outage(&s->undecryptable[i]))
			at = max_time(at, s->undecryptable[i].at);
	return at;
}

/* Returns until when a waiting transition explains an outage. */
static uint64_t pending_grace_until(const struct dave_session *s)
{
	for (size_t i = 0; i < s->n_undecryptable; i++)
		if (is_long_outage(&s->undecryptable[i]))
			return 0;
	return s->n_pending ? s->pending[s->n_pending - 1].at + DAVE_PENDING_MS * NS_PER_MS : 0;
}

/* Returns when an outage that no change of keys explains counts; NEVER: there is none. */
static uint64_t outage_counts_at(const struct dave_session *s)
{
	uint64_t noticed_at = latest_evidence(s);

	if (!noticed_at || s->status.version == 0)
		return DAVE_NEVER;
	return max_time(noticed_at, max_time(s->join_grace_until, pending_grace_until(s)));
}

/* Returns when a step may be taken: a session's first one at once, unless it is a rejoin. */
static uint64_t step_not_before(const struct dave_session *s)
{
	return s->stepped || s->input_lost || s->needs_rejoin || s->recovered
		       ? s->conf.heal->not_before
		       : 0;
}

/* Returns when the next step is due, as far as is known now. */
static uint64_t next_step_at(const struct dave_session *s)
{
	uint64_t not_before = step_not_before(s), at;

	if (s->rejoining)
		return DAVE_NEVER;
	if (s->input_lost || (s->needs_rejoin && !s->offline))
		return not_before;
	if (s->answer_owed || s->offline || dave_session_busy(s))
		return DAVE_NEVER;
	at = max_time(outage_counts_at(s), not_before);
	return at <= latest_evidence(s) + DAVE_EVIDENCE_MS * NS_PER_MS ? at : DAVE_NEVER;
}

/* Returns when the awaited epoch is overdue. Work under way may bring it. */
static uint64_t epoch_deadline(const struct dave_session *s)
{
	return s->offline || dave_session_busy(s) ? DAVE_NEVER : s->epoch_by;
}

/* Returns when the awaited welcome is overdue. This is a healing step, so its cool-down applies.
 * Nobody need have spoken: a client outside any group is not heard either. */
static uint64_t welcome_deadline(const struct dave_session *s)
{
	if (s->welcome_by == DAVE_NEVER || s->offline || s->rejoining || dave_session_busy(s))
		return DAVE_NEVER;
	return max_time(s->welcome_by, step_not_before(s));
}

static uint64_t change_deadline(const struct dave_session *s)
{
	return s->offline || s->rejoining || s->answer_owed || dave_session_busy(s) ? DAVE_NEVER
										    : s->change_by;
}

/* Returns when op 31 is sent again. */
static uint64_t ask_again_deadline(const struct dave_session *s)
{
	return s->offline || s->rejoining || s->input_lost || dave_session_busy(s)
		       ? DAVE_NEVER
		       : s->ask_again_at;
}

/* Returns when the budget allows an answer that is owed. */
static uint64_t owed_answer_deadline(const struct dave_session *s)
{
	if (!s->answer_owed || s->offline || s->rejoining || dave_session_busy(s))
		return DAVE_NEVER;
	return rekey_budget_next(&s->conf.heal->rekeys);
}

/* True if the others have gone on: there is an outage that no change of keys explains, and our own
 * keys are to blame. A step would follow, but none is taken while an answer is owed. */
static bool have_others_moved(const struct dave_session *s, uint64_t now)
{
	return s->answer_owed && latest_evidence(s) > s->owed_at && outage_counts_at(s) <= now &&
	       dave_speakers_blame_us(s, now);
}

/* The gateway repeats what it sent on the lost socket; what we sent is lost if the gateway had
 * given the socket up. Asking again belongs to the step that asked, so it has no cool-down of its
 * own; it is done once. */
void dave_heal_resumed(struct dave_session *s, uint64_t now)
{
	if (s->asked && !s->in_group)
		s->ask_again_at = now + DAVE_ASK_AGAIN_MS * NS_PER_MS;
}

/* Without encryption op 31 has no answer, so it is neither owed nor sent again. */
void dave_heal_clear(struct dave_session *s)
{
	s->answer_owed = s->asked = false;
	s->ask_again_at = DAVE_NEVER;
}

static void ask_again(struct dave_session *s)
{
	request_new_package(s, s->last_id);
	s->asked = false;
}

void dave_heal_timer(struct dave_session *s, uint64_t now)
{
	relax_cooldown(s, now);
	if (ask_again_deadline(s) <= now)
		ask_again(s);
	if (owed_answer_deadline(s) <= now && rekey_budget_take(&s->conf.heal->rekeys, now))
		answer_or_rejoin(s);
	if (next_step_at(s) <= now)
		take_step(s, now);
	if (epoch_deadline(s) <= now)
		answer_invalid(s, now, s->last_id, s->committed);
	if (have_others_moved(s, now) && end_sending(s, now))
		s->muted = true;
	if (change_deadline(s) <= now)
		ask_for_change(s, now);
	if (welcome_deadline(s) <= now) {
		s->welcome_by = DAVE_NEVER;
		if (s->n_users > 1)
			take_step(s, now);
	}
}

uint64_t dave_heal_deadline(const struct dave_session *s)
{
	uint64_t at = min_time(owed_answer_deadline(s), ask_again_deadline(s));

	at = min_time(at, change_deadline(s));
	return min_time(min_time(next_step_at(s), at),
			min_time(epoch_deadline(s), welcome_deadline(s)));
}

/* ---- messages ---- */

void dave_heal_invalid(struct dave_session *s, uint64_t now, uint16_t id)
{
	s->conf.heal->invalid++;
	answer_invalid(s, now, id, true);
}

/* Op 25 was lost. The gateway sends it again in a resume that repeats what is missing, or in
 * another session, and never for op 31. */
void dave_heal_no_sender(struct dave_session *s, uint64_t now)
{
	if (may_resume(s))
		take_resume_step(s, now, true);
	else
		s->input_lost = true;
}

/* The gateway announces the first valid commit at once, whoever made it. So when none follows ours
 * the announcement is what was lost, and the others have gone on. Proposals that we refuse may be
 * refused by everybody. */
void dave_heal_proposed(struct dave_session *s, uint64_t now, bool refused, bool committed)
{
	uint64_t by = now + (refused ? DAVE_REFUSED_MS : DAVE_ANNOUNCE_MS) * NS_PER_MS;
	bool before = refused && s->epoch_by != DAVE_NEVER && s->committed;

	s->conf.heal->invalid += refused;
	s->committed = committed || before;
	s->epoch_by = refused || committed ? min_time(s->epoch_by, by) : DAVE_NEVER;
}

void dave_heal_input_lost(struct dave_session *s)
{
	s->input_lost = true;
}

void dave_heal_await_rejoin(struct dave_session *s, uint64_t now)
{
	if (s->input_lost && !s->rejoining && s->conf.heal->not_before > now && s->sending &&
	    s->send_until == DAVE_NEVER)
		dave_transition_left(s, now);
}

void dave_session_gap(struct dave_session *s, uint64_t now)
{
	s->gap = true;
	dave_session_finish_step(s, now);
}
