#include "mediad/dave/session_inside.h"

#include "proto/base/time.h"

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- epochs ---- */

static const struct dave_epoch *newest(const struct dave_session *s)
{
	return s->in_group && s->n_kept ? s->kept[0].epoch : NULL;
}

static const struct dave_epoch *find(const struct dave_session *s, uint64_t serial)
{
	for (unsigned i = 0; i < s->n_kept; i++)
		if (s->kept[i].epoch->serial == serial)
			return s->kept[i].epoch;
	return NULL;
}

static bool wanted(const struct dave_session *s, const struct dave_epoch *e)
{
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].serial == e->serial)
			return true;
	return s->sending == e;
}

static void forget(struct dave_session *s, unsigned i)
{
	dave_epoch_free(s->kept[i].epoch);
	memmove(s->kept + i, s->kept + i + 1, (--s->n_kept - i) * sizeof s->kept[0]);
}

/* Epochs whose time is over, but those that we seal with or still wait to. */
static void sweep(struct dave_session *s, uint64_t now)
{
	for (unsigned i = s->n_kept; i-- > 0;) {
		if (s->kept[i].until > now)
			continue;
		s->kept[i].until = 0;
		if (!wanted(s, s->kept[i].epoch))
			forget(s, i);
	}
}

static void supersede(struct dave_session *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_kept; i++)
		s->kept[i].until = sooner(s->kept[i].until, now + DAVE_GRACE_MS * NS_PER_MS);
}

static void keep(struct dave_session *s, uint64_t now, struct dave_epoch *e)
{
	supersede(s, now);
	sweep(s, now);
	if (s->n_kept == DAVE_KEYS)
		forget(s,
		       s->kept[DAVE_KEYS - 1].epoch == s->sending ? DAVE_KEYS - 2 : DAVE_KEYS - 1);
	memmove(s->kept + 1, s->kept, s->n_kept++ * sizeof s->kept[0]);
	s->kept[0] = (struct dave_kept){e, DAVE_NEVER};
	s->changed_at = now;
}

unsigned dave_session_epochs(const struct dave_session *s, const struct dave_epoch **out,
			     unsigned n)
{
	unsigned found = 0;

	for (unsigned i = 0; i < s->n_kept && found < n; i++)
		if (s->kept[i].until)
			out[found++] = s->kept[i].epoch;
	return found;
}

const struct dave_epoch *dave_session_sending(const struct dave_session *s)
{
	return s->sending;
}

void dave_transition_free(struct dave_session *s)
{
	while (s->n_kept)
		forget(s, s->n_kept - 1);
}

/* ---- transitions ---- */

/* The first n of those that wait are over. */
static void settle(struct dave_session *s, unsigned n)
{
	s->n_pending -= n;
	memmove(s->pending, s->pending + n, s->n_pending * sizeof s->pending[0]);
}

static void execute(struct dave_session *s, uint64_t now, const struct dave_transition *t)
{
	const struct dave_epoch *e = t->serial ? find(s, t->serial) : NULL;
	uint64_t grace = now + DAVE_GRACE_MS * NS_PER_MS;

	s->last_id = t->id;
	s->changed_at = now;
	s->status.version = t->version;
	if (t->version == 0) {
		supersede(s, now);
		dave_send_sealing(s, NULL);
		dave_send_clear(s, true, DAVE_NEVER);
		s->want_drop = true;
		s->want_rekey = false;
	} else {
		dave_send_clear(s, false, sooner(s->clear_until, grace));
		/* Never older than what we seal with: what was prepared before is void. */
		dave_send_sealing(s, e ? e : newest(s));
	}
	sweep(s, now);
}

/* Executes the i-th; those before it can only be out of date. */
static void execute_pending(struct dave_session *s, uint64_t now, unsigned i)
{
	struct dave_transition t = s->pending[i];

	settle(s, i + 1);
	execute(s, now, &t);
}

static void begin(struct dave_session *s, uint64_t now, const struct dave_transition *t)
{
	s->last_id = t->id;
	if (t->id == 0) {
		settle(s, s->n_pending);
		execute(s, now, t);
		return;
	}
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].id == t->id) {
			memmove(s->pending + i, s->pending + i + 1,
				(--s->n_pending - i) * sizeof *t);
			break;
		}
	if (s->n_pending == DAVE_PENDING_MAX)
		settle(s, 1);
	s->pending[s->n_pending++] = *t;
	dave_send_text(s, DAVE_OP_READY, t->id);
}

void dave_transition_prepare(struct dave_session *s, uint64_t now, uint16_t id,
			     struct dave_epoch *e)
{
	keep(s, now, e);
	dave_send_forget_commit(s);
	dave_send_epoch(s, e);
	dave_heal_group(s, e);
	s->epoch_by = s->welcome_by = DAVE_NEVER;
	s->join_until = 0;
	s->seal_until = DAVE_NEVER;
	s->hopeless = false;
	s->answers = 0;
	begin(s, now,
	      &(struct dave_transition){.id = id,
					.version = DAVE_VERSION,
					.serial = e->serial,
					.at = now,
					.proved = DAVE_NEVER});
}

void dave_transition_text(struct dave_session *s, uint64_t now, uint16_t id, uint16_t version)
{
	const struct dave_epoch *e = newest(s);
	struct dave_transition t = {.id = id, .version = version, .at = now, .proved = DAVE_NEVER};

	if (version > DAVE_VERSION)
		return;
	if (version == 0)
		dave_send_clear(s, s->send_clear, DAVE_NEVER);
	else if (e)
		t.serial = e->serial;
	begin(s, now, &t);
}

void dave_transition_execute(struct dave_session *s, uint64_t now, uint16_t id)
{
	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].id == id) {
			execute_pending(s, now, i);
			return;
		}
}

/* The others accept our key until theirs is so old; behind that we would speak to nobody. */
void dave_transition_left(struct dave_session *s, uint64_t now)
{
	s->seal_until = now + DAVE_GRACE_MS * NS_PER_MS;
}

void dave_transition_alone(struct dave_session *s)
{
	settle(s, s->n_pending);
	dave_send_sealing(s, NULL);
}

/* ---- without op 22 ---- */

void dave_session_proof(struct dave_session *s, uint64_t now, uint64_t serial)
{
	for (unsigned i = 0; i < s->n_pending; i++) {
		struct dave_transition *t = &s->pending[i];

		if (t->serial && t->serial <= serial && t->proved == DAVE_NEVER)
			t->proved = now;
	}
	dave_heal_proof(s, now);
	dave_session_settle(s, now);
}

static uint64_t due(const struct dave_transition *t)
{
	if (t->version == 0)
		return t->at + DAVE_DOWNGRADE_MS * NS_PER_MS;
	if (t->proved == DAVE_NEVER)
		return t->at + DAVE_EXECUTE_LATE_MS * NS_PER_MS;
	return sooner(t->proved + DAVE_EXECUTE_GRACE_MS * NS_PER_MS,
		      t->at + DAVE_EXECUTE_LATE_MS * NS_PER_MS);
}

void dave_transition_timer(struct dave_session *s, uint64_t now)
{
	for (unsigned i = s->n_pending; i-- > 0;)
		if (due(&s->pending[i]) <= now) {
			s->conf.ladder->executes++;
			execute_pending(s, now, i);
			break;
		}
	if (s->seal_until <= now) {
		s->seal_until = DAVE_NEVER;
		dave_send_sealing(s, NULL);
	}
	sweep(s, now);
}

uint64_t dave_transition_deadline(const struct dave_session *s)
{
	uint64_t at = s->seal_until;

	for (unsigned i = 0; i < s->n_pending; i++)
		at = sooner(at, due(&s->pending[i]));
	for (unsigned i = 0; i < s->n_kept; i++)
		if (s->kept[i].until)
			at = sooner(at, s->kept[i].until);
	return at;
}
