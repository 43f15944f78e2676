#include "mediad/dave/session_internal.h"
#include "proto/base/time.h"

static uint64_t min_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- epochs ---- */

static const struct dave_epoch *newest_epoch(const struct dave_session *s)
{
	return s->in_group && s->n_epochs ? s->epochs[0].epoch : NULL;
}

static const struct dave_epoch *find_epoch(const struct dave_session *s, uint64_t serial)
{
	for (unsigned i = 0; i < s->n_epochs; i++)
		if (s->epochs[i].epoch->serial == serial)
			return s->epochs[i].epoch;
	return NULL;
}

static bool is_epoch_in_use(const struct dave_session *s, const struct dave_epoch *e)
{
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].serial == e->serial)
			return true;
	return s->sending == e;
}

static void drop_epoch(struct dave_session *s, unsigned i)
{
	dave_epoch_free(s->epochs[i].epoch);
	memmove(s->epochs + i, s->epochs + i + 1, (--s->n_epochs - i) * sizeof s->epochs[0]);
}

/* Drops expired epochs, except those that we encrypt with or may yet. */
static void drop_expired_epochs(struct dave_session *s, uint64_t now)
{
	for (unsigned i = s->n_epochs; i-- > 0;) {
		if (s->epochs[i].until > now)
			continue;
		s->epochs[i].until = 0;
		if (!is_epoch_in_use(s, s->epochs[i].epoch))
			drop_epoch(s, i);
	}
}

static void expire_epochs(struct dave_session *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_epochs; i++)
		s->epochs[i].until = min_time(s->epochs[i].until, now + DAVE_GRACE_MS * NS_PER_MS);
}

static void keep_epoch(struct dave_session *s, uint64_t now, struct dave_epoch *e)
{
	expire_epochs(s, now);
	drop_expired_epochs(s, now);
	if (s->n_epochs == DAVE_KEYS)
		drop_epoch(s, s->epochs[DAVE_KEYS - 1].epoch == s->sending ? DAVE_KEYS - 2
									   : DAVE_KEYS - 1);
	memmove(s->epochs + 1, s->epochs, s->n_epochs++ * sizeof s->epochs[0]);
	s->epochs[0] = (struct dave_kept_epoch){e, DAVE_NEVER};
	s->changed_at = now;
}

void dave_session_note_nonces(struct dave_session *s, uint64_t user, uint64_t serial, uint64_t next)
{
	for (unsigned i = 0; i < s->n_epochs; i++) {
		struct dave_epoch *e = s->epochs[i].epoch;
		const struct dave_member *m = e->serial == serial ? dave_epoch_find(e, user) : NULL;

		if (m && next > m->next_nonce)
			e->member[m - e->member].next_nonce = next;
	}
}

unsigned dave_session_epochs(const struct dave_session *s, const struct dave_epoch **out,
			     unsigned n)
{
	unsigned found = 0;

	for (unsigned i = 0; i < s->n_epochs && found < n; i++)
		if (s->epochs[i].until)
			out[found++] = s->epochs[i].epoch;
	return found;
}

uint64_t dave_session_epoch_until(const struct dave_session *s, const struct dave_epoch *e)
{
	uint64_t until = DAVE_NEVER;

	for (unsigned i = 0; i < s->n_epochs; i++)
		if (s->epochs[i].epoch == e)
			until = s->epochs[i].until;
	return until;
}

const struct dave_epoch *dave_session_sending(const struct dave_session *s)
{
	return s->sending;
}

void dave_transition_free(struct dave_session *s)
{
	while (s->n_epochs)
		drop_epoch(s, s->n_epochs - 1);
}

/* ---- transitions ---- */

/* Drops the first n waiting transitions. */
static void drop_transitions(struct dave_session *s, unsigned n)
{
	s->n_pending -= n;
	memmove(s->pending, s->pending + n, s->n_pending * sizeof s->pending[0]);
}

static void execute_transition(struct dave_session *s, uint64_t now,
			       const struct dave_transition *t)
{
	const struct dave_epoch *e = t->serial ? find_epoch(s, t->serial) : NULL;
	uint64_t grace = now + DAVE_GRACE_MS * NS_PER_MS;

	if (t->version == 0 && s->conf.required && s->status.version > 0) {
		s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_LEAVE}, s->conf.arg);
		return;
	}
	s->last_id = t->id;
	s->changed_at = now;
	s->status.version = t->version;
	if (t->version == 0) {
		s->clear_offered = false;
		expire_epochs(s, now);
		dave_send_sealing(s, NULL);
		dave_send_clear(s, true, DAVE_NEVER);
		s->want_drop = true;
		s->want_rekey = false;
		dave_heal_clear(s);
		/* The group ends, and with it the keys of the transitions that still wait. */
		for (unsigned i = 0; i < s->n_pending; i++)
			s->pending[i].serial = 0;
	} else {
		dave_send_clear(s, false, min_time(s->clear_until, grace));
		/* Never returns to an older epoch: transitions prepared before are void. */
		dave_send_sealing(s, e ? e : newest_epoch(s));
		if (!s->in_group && s->welcome_by == DAVE_NEVER)
			s->welcome_by = now + DAVE_WELCOME_MS * NS_PER_MS;
	}
	drop_expired_epochs(s, now);
}

/* Executes the i-th transition and drops the older ones, which are outdated. */
static void execute_pending(struct dave_session *s, uint64_t now, unsigned i)
{
	struct dave_transition t = s->pending[i];

	drop_transitions(s, i + 1);
	execute_transition(s, now, &t);
}

/* The gateway alone announces a downgrade, so only its op 22 can end encryption, also when the id
 * is 0. */
static void begin_transition(struct dave_session *s, uint64_t now, const struct dave_transition *t)
{
	s->last_id = t->id;
	if (t->id == 0 && t->version > 0) {
		drop_transitions(s, s->n_pending);
		execute_transition(s, now, t);
		return;
	}
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].id == t->id) {
			memmove(s->pending + i, s->pending + i + 1,
				(--s->n_pending - i) * sizeof *t);
			break;
		}
	if (s->n_pending == DAVE_PENDING_MAX)
		drop_transitions(s, 1);
	s->pending[s->n_pending++] = *t;
	if (t->id && (t->version > 0 || !s->conf.required))
		dave_send_text(s, DAVE_OP_READY, t->id);
}

void dave_transition_prepare(struct dave_session *s, uint64_t now, uint16_t id,
			     struct dave_epoch *e)
{
	keep_epoch(s, now, e);
	dave_send_forget_commit(s);
	dave_send_epoch(s, e);
	dave_heal_keep_members(s, e);
	dave_heal_epoch(s, now);
	s->epoch_by = s->welcome_by = s->ask_again_at = DAVE_NEVER;
	s->asked = false;
	s->join_grace_until = 0;
	s->send_until = DAVE_NEVER;
	s->needs_rejoin = false;
	s->answers = 0;
	s->answer_owed = s->muted = s->conf.heal->doubted = false;
	dave_speakers_retry(s);
	begin_transition(s, now,
			 &(struct dave_transition){.id = id,
						   .version = DAVE_VERSION,
						   .serial = e->serial,
						   .at = now,
						   .proved = DAVE_NEVER});
}

bool dave_session_switches(const struct dave_session *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].version > 0 &&
		    now < s->pending[i].at + DAVE_PENDING_MS * NS_PER_MS)
			return true;
	return false;
}

/* Other clients may send in the clear before op 22, but not for long before. Nothing but a
 * downgrade that is executed, of which the room is told, allows another such window. */
static void accept_clear(struct dave_session *s, uint64_t now)
{
	uint64_t until = now + DAVE_EXECUTE_LATE_MS * NS_PER_MS;

	if (s->clear_offered || until <= s->clear_until)
		return;
	s->clear_offered = true;
	dave_send_clear(s, s->send_clear, until);
}

void dave_transition_text(struct dave_session *s, uint64_t now, uint16_t id, uint16_t version)
{
	const struct dave_epoch *e = newest_epoch(s);
	struct dave_transition t = {.id = id, .version = version, .at = now, .proved = DAVE_NEVER};

	if (version > DAVE_VERSION)
		return;
	if (version == 0 && !s->conf.required)
		accept_clear(s, now);
	else if (version && e)
		t.serial = e->serial;
	begin_transition(s, now, &t);
}

void dave_transition_execute(struct dave_session *s, uint64_t now, uint16_t id)
{
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].id == id) {
			execute_pending(s, now, i);
			return;
		}
}

/* Other members accept our key for this long after they have the next one; later frames would reach
 * nobody. */
void dave_transition_left(struct dave_session *s, uint64_t now)
{
	s->muted = false;
	s->send_until = now + DAVE_GRACE_MS * NS_PER_MS;
}

void dave_transition_stayed(struct dave_session *s)
{
	const struct dave_epoch *e = newest_epoch(s);

	s->send_until = DAVE_NEVER;
	if (!s->sending && e && s->status.version > 0)
		dave_send_sealing(s, e);
}

/* Nobody is there whom the end of these keys leaves deaf, and no epoch follows that would end them.
 */
void dave_transition_expire(struct dave_session *s, uint64_t now)
{
	expire_epochs(s, now);
}

void dave_transition_alone(struct dave_session *s, uint64_t now)
{
	drop_transitions(s, s->n_pending);
	s->muted = false;
	dave_send_sealing(s, NULL);
	expire_epochs(s, now);
}

/* ---- without op 22 ---- */

void dave_session_proof(struct dave_session *s, uint64_t now, uint64_t user, uint64_t serial)
{
	dave_speakers_heard(s, now, user, serial);
	s->proved = serial > s->proved ? serial : s->proved;
	for (unsigned i = 0; i < s->n_pending; i++) {
		struct dave_transition *t = &s->pending[i];

		if (t->serial && t->serial <= serial && t->proved == DAVE_NEVER)
			t->proved = now;
	}
	dave_heal_proof(s, now, serial);
	dave_session_finish_step(s, now);
}

/* A downgrade without op 22 is never executed: we go on to encrypt. Nor is a transition to keys
 * that we lack, which would end the version in use. */
static uint64_t execute_deadline(const struct dave_transition *t)
{
	if (t->version == 0 || !t->serial)
		return DAVE_NEVER;
	if (t->proved == DAVE_NEVER)
		return t->at + DAVE_EXECUTE_LATE_MS * NS_PER_MS;
	return min_time(t->proved + DAVE_EXECUTE_GRACE_MS * NS_PER_MS,
			t->at + DAVE_EXECUTE_LATE_MS * NS_PER_MS);
}

void dave_transition_timer(struct dave_session *s, uint64_t now)
{
	for (unsigned i = s->n_pending; i-- > 0;)
		if (execute_deadline(&s->pending[i]) <= now) {
			s->conf.heal->executes++;
			execute_pending(s, now, i);
			break;
		}
	if (s->send_until <= now) {
		s->send_until = DAVE_NEVER;
		dave_send_sealing(s, NULL);
	}
	drop_expired_epochs(s, now);
}

uint64_t dave_transition_deadline(const struct dave_session *s)
{
	uint64_t at = s->send_until;

	for (unsigned i = 0; i < s->n_pending; i++)
		at = min_time(at, execute_deadline(&s->pending[i]));
	for (unsigned i = 0; i < s->n_epochs; i++)
		if (s->epochs[i].until)
			at = min_time(at, s->epochs[i].until);
	return at;
}
