#include "mediad/dave/session_inside.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/base/time.h"

int dave_session_alloc(struct dave_session **out, const struct dave_conf *conf)
{
	struct dave_session *s;
	int err = ENOMEM;

	if (!out || !conf || !conf->acth || !conf->ladder)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->conf = *conf;
	s->tail = &s->first;
	s->welcome_by = s->epoch_by = s->seal_until = DAVE_NEVER;
	s->user = malloc(16 * sizeof *s->user);
	if (!s->user)
		goto out;
	s->cap_user = 16;
	s->user[s->n_user++] = conf->user;
	err = dave_keyroom_alloc(&s->keyroom, conf->user);
	if (err)
		goto out;
	*out = s;
	s = NULL;
out:
	dave_session_free(s);
	return err;
}

static void waiting_free(struct dave_waiting *w)
{
	if (w)
		free(w->in.p);
	free(w);
}

static struct dave_waiting *take(struct dave_session *s)
{
	struct dave_waiting *w = s->first;

	if (!w)
		return NULL;
	s->first = w->next;
	if (!s->first)
		s->tail = &s->first;
	if (w->op == DAVE_OP_CONNECT || w->op == DAVE_OP_DISCONNECT)
		s->n_members--;
	else
		s->n_messages--;
	s->waiting_bytes -= w->in.n;
	return w;
}

static void forget_waiting(struct dave_session *s)
{
	while (s->first)
		waiting_free(take(s));
}

struct dave_session *dave_session_free(struct dave_session *s)
{
	if (!s)
		return NULL;
	forget_waiting(s);
	dave_transition_free(s);
	dave_keyroom_free(s->keyroom);
	free(s->user);
	free(s->deaf);
	free(s->held_package.p);
	free(s->held_commit.p);
	explicit_bzero(s, sizeof *s);
	free(s);
	return NULL;
}

const struct dave_status *dave_session_status(const struct dave_session *s)
{
	return &s->status;
}

bool dave_session_busy(const struct dave_session *s)
{
	return !s->keyroom || s->first || s->want_drop || s->want_rekey;
}

/* ---- who is here ---- */

static size_t user_place(const struct dave_session *s, uint64_t user)
{
	size_t lo = 0, hi = s->n_user;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->user[mid] < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void connected(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = user_place(s, user);

	if (i < s->n_user && s->user[i] == user)
		return;
	if (s->n_user == s->cap_user) {
		size_t cap = s->cap_user ? 2 * s->cap_user : 16;
		uint64_t *p = cap <= DAVE_USERS_MAX * 2 ? realloc(s->user, cap * sizeof *p) : NULL;

		/* Without encryption nobody needs to be known. */
		if (!p) {
			s->crowded = true;
			if (s->status.version > 0)
				dave_heal_lost(s);
			return;
		}
		s->user = p;
		s->cap_user = cap;
	}
	memmove(s->user + i + 1, s->user + i, (s->n_user++ - i) * sizeof *s->user);
	s->user[i] = user;
	if (s->offered && !s->in_group && s->welcome_by == DAVE_NEVER)
		s->welcome_by = now + DAVE_WELCOME_MS * NS_PER_MS;
}

static void disconnected(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = user_place(s, user);

	dave_heal_gone(s, now, user);
	if (user == s->conf.user || i == s->n_user || s->user[i] != user)
		return;
	memmove(s->user + i, s->user + i + 1, (--s->n_user - i) * sizeof *s->user);
}

/* ---- jobs ---- */

static int recognized(const struct dave_session *s, struct dave_job *j)
{
	j->recognized = malloc(s->n_user * sizeof *j->recognized);
	if (!j->recognized)
		return ENOMEM;
	memcpy(j->recognized, s->user, s->n_user * sizeof *j->recognized);
	j->n_recognized = s->n_user;
	return 0;
}

/* Takes `in` over when there is one. What cannot be done is lost, and healed as such. */
static void start(struct dave_session *s, enum dave_job_type type, uint16_t transition,
		  struct dave_bytes *in)
{
	struct dave_job *j = NULL;
	int err = s->crowded && type == DAVE_JOB_RESET ? EOVERFLOW : dave_job_alloc(&j, type);

	if (!err && (type == DAVE_JOB_PROPOSALS || type == DAVE_JOB_WELCOME))
		err = recognized(s, j);
	if (err) {
		dave_job_free(j);
		dave_heal_lost(s);
		return;
	}
	j->channel = s->channel;
	j->transition = transition;
	if (in) {
		j->in = *in;
		*in = (struct dave_bytes){0};
	}
	j->keyroom = s->keyroom;
	s->keyroom = NULL;
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_JOB, .job = j}, s->conf.arg);
}

static int copy(struct dave_bytes *out, struct slice in)
{
	out->p = malloc(in.n ? in.n : 1);
	if (!out->p)
		return ENOMEM;
	if (in.n)
		memcpy(out->p, in.p, in.n);
	out->n = in.n;
	return 0;
}

/* Codes are nobody's hurry: one at a time, while nothing else is to be done. */
static void verify_next(struct dave_session *s)
{
	const struct dave_epoch *e = s->in_group && s->n_kept ? s->kept[0].epoch : NULL;
	const struct dave_member *theirs, *mine;
	struct dave_job *j = NULL;
	uint64_t user = s->verify[0];

	memmove(s->verify, s->verify + 1, --s->n_verify * sizeof s->verify[0]);
	theirs = e ? dave_epoch_find(e, user) : NULL;
	mine = e ? dave_epoch_find(e, s->conf.user) : NULL;
	if (!theirs || !mine || theirs == mine || dave_job_alloc(&j, DAVE_JOB_CODE) ||
	    copy(&j->theirs, theirs->signature_key) || copy(&j->mine, mine->signature_key)) {
		dave_job_free(j);
		dave_send_code(s, user, "");
		return;
	}
	j->user = user;
	j->self = s->conf.user;
	s->verifying = true;
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_JOB, .job = j}, s->conf.arg);
}

void dave_session_verify(struct dave_session *s, uint64_t now, uint64_t user)
{
	for (unsigned i = 0; i < s->n_verify; i++)
		if (s->verify[i] == user)
			return;
	if (s->n_verify == DAVE_VERIFY_MAX) {
		dave_send_code(s, user, "");
		return;
	}
	s->verify[s->n_verify++] = user;
	dave_session_settle(s, now);
}

/* ---- inputs in their order ---- */

static void description(struct dave_session *s, struct dave_waiting *w)
{
	s->channel = w->number;
	s->status.known = true;
	s->status.version = w->version;
	if (w->version == 0) {
		dave_send_clear(s, true, DAVE_NEVER);
		return;
	}
	dave_send_clear(s, false, 0);
	start(s, DAVE_JOB_RESET, 0, NULL);
}

static void prepare_epoch(struct dave_session *s, const struct dave_waiting *w)
{
	/* A later epoch would only change the version, of which there is one. */
	if (w->number != 1 || w->version == 0 || w->version > DAVE_VERSION)
		return;
	if (s->n_user == 1)
		dave_transition_alone(s);
	start(s, DAVE_JOB_RESET, 0, NULL);
}

static void input(struct dave_session *s, uint64_t now, struct dave_waiting *w)
{
	switch (w->op) {
	case DAVE_OP_DESCRIPTION:
		description(s, w);
		break;
	case DAVE_OP_CONNECT:
		connected(s, now, w->number);
		break;
	case DAVE_OP_DISCONNECT:
		disconnected(s, now, w->number);
		break;
	case DAVE_OP_PREPARE_TRANSITION:
		dave_transition_text(s, now, w->transition, w->version);
		break;
	case DAVE_OP_EXECUTE_TRANSITION:
		dave_transition_execute(s, now, w->transition);
		break;
	case DAVE_OP_PREPARE_EPOCH:
		prepare_epoch(s, w);
		break;
	case DAVE_OP_EXTERNAL_SENDER:
		start(s, DAVE_JOB_SENDER, 0, &w->in);
		break;
	case DAVE_OP_PROPOSALS:
		start(s, DAVE_JOB_PROPOSALS, 0, &w->in);
		break;
	case DAVE_OP_ANNOUNCE_COMMIT:
		start(s, DAVE_JOB_COMMIT, w->cut ? s->last_id : w->transition, &w->in);
		break;
	case DAVE_OP_WELCOME:
		start(s, DAVE_JOB_WELCOME, w->cut ? s->last_id : w->transition, &w->in);
		break;
	}
}

/* Takes w over; runs it at once when nothing is before it. */
static void enqueue(struct dave_session *s, uint64_t now, struct dave_waiting *w)
{
	bool member = w->op == DAVE_OP_CONNECT || w->op == DAVE_OP_DISCONNECT;

	if (s->lost ||
	    (member ? s->n_members >= DAVE_MEMBERS_WAITING_MAX
		    : s->n_messages >= DAVE_WAITING_MAX) ||
	    w->in.n > DAVE_WAITING_BYTES_MAX - s->waiting_bytes) {
		waiting_free(w);
		dave_heal_lost(s);
	} else {
		*s->tail = w;
		s->tail = &w->next;
		*(member ? &s->n_members : &s->n_messages) += 1;
		s->waiting_bytes += w->in.n;
	}
	dave_session_settle(s, now);
}

/* Takes what->in over. */
static void say(struct dave_session *s, uint64_t now, const struct dave_waiting *what)
{
	struct dave_waiting *w = malloc(sizeof *w);

	if (!w) {
		free(what->in.p);
		dave_heal_lost(s);
		dave_session_settle(s, now);
		return;
	}
	*w = *what;
	enqueue(s, now, w);
}

void dave_session_start(struct dave_session *s, uint64_t now, uint64_t channel, uint16_t version)
{
	say(s, now,
	    &(struct dave_waiting){
		    .op = DAVE_OP_DESCRIPTION, .number = channel, .version = version});
}

void dave_session_member(struct dave_session *s, uint64_t now, uint64_t user, bool present)
{
	say(s, now,
	    &(struct dave_waiting){.op = present ? DAVE_OP_CONNECT : DAVE_OP_DISCONNECT,
				   .number = user});
}

void dave_session_text(struct dave_session *s, uint64_t now, unsigned op, uint16_t transition,
		       uint16_t version, uint64_t epoch)
{
	if (op != DAVE_OP_PREPARE_TRANSITION && op != DAVE_OP_EXECUTE_TRANSITION &&
	    op != DAVE_OP_PREPARE_EPOCH)
		return;
	say(s, now,
	    &(struct dave_waiting){
		    .op = op, .transition = transition, .version = version, .number = epoch});
}

void dave_session_binary(struct dave_session *s, uint64_t now, unsigned op, const uint8_t *p,
			 size_t n)
{
	struct dave_waiting w = {.op = op};
	struct slice in = {p, n};

	switch (op) {
	case DAVE_OP_EXTERNAL_SENDER:
	case DAVE_OP_PROPOSALS:
		break;
	case DAVE_OP_ANNOUNCE_COMMIT:
	case DAVE_OP_WELCOME:
		w.cut = n < 2;
		in = (struct slice){w.cut ? p : p + 2, w.cut ? 0 : n - 2};
		if (!w.cut)
			w.transition = (uint16_t)(p[0] << 8 | p[1]);
		break;
	default:
		return;
	}
	/* Longer than any message can be: refused like one that cannot be read. */
	if (in.n > MLS_BYTES_MAX)
		in.n = 0;
	if (copy(&w.in, in)) {
		dave_heal_lost(s);
		dave_session_settle(s, now);
		return;
	}
	say(s, now, &w);
}

/* ---- results ---- */

static void offer(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	if (job->verdict != DAVE_DONE) {
		dave_heal_lost(s);
		return;
	}
	s->offered = true;
	s->epoch_by = DAVE_NEVER;
	s->join_until = now + DAVE_JOIN_GRACE_MS * NS_PER_MS;
	s->welcome_by = s->n_user > 1 ? now + DAVE_WELCOME_MS * NS_PER_MS : DAVE_NEVER;
	dave_send_forget_commit(s);
	dave_send_binary(s, DAVE_OP_KEY_PACKAGE, &job->out);
}

static void epoch(struct dave_session *s, uint64_t now, struct dave_job *job, bool was_in)
{
	if (job->verdict == DAVE_INVALID) {
		dave_heal_invalid(s, now, job->transition);
	} else if (was_in && !s->in_group) {
		dave_heal_removed(s, now);
	} else if (job->epoch) {
		dave_transition_prepare(s, now, job->transition, job->epoch);
		job->epoch = NULL;
	}
}

static void proposals(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	if (job->verdict == DAVE_INVALID)
		dave_heal_invalid(s, now, s->last_id);
	else if (job->verdict != DAVE_IGNORED)
		dave_heal_proposed(s, now, job->verdict == DAVE_REFUSED, job->out.n > 0);
	if (job->verdict == DAVE_DONE && job->out.n)
		dave_send_binary(s, DAVE_OP_COMMIT_WELCOME, &job->out);
}

static void result(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	bool was_in = s->in_group;

	s->keyroom = job->keyroom;
	job->keyroom = NULL;
	if (job->verdict == DAVE_NOT_RUN) {
		dave_heal_lost(s);
		return;
	}
	s->in_group = job->in_group;
	if (was_in && !s->in_group)
		dave_transition_left(s, now);
	switch (job->type) {
	case DAVE_JOB_RESET:
	case DAVE_JOB_REKEY:
		offer(s, now, job);
		break;
	case DAVE_JOB_DROP:
		s->offered = false;
		s->join_until = 0;
		s->welcome_by = s->epoch_by = DAVE_NEVER;
		break;
	case DAVE_JOB_PROPOSALS:
		proposals(s, now, job);
		break;
	case DAVE_JOB_COMMIT:
	case DAVE_JOB_WELCOME:
		epoch(s, now, job, was_in);
		break;
	case DAVE_JOB_SENDER:
		/* It is not said again in this session, and without it there is no group. */
		s->hopeless = job->verdict == DAVE_INVALID && !s->in_group;
		break;
	case DAVE_JOB_CODE:
		break;
	}
}

void dave_session_done(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	if (job->type == DAVE_JOB_CODE) {
		s->verifying = false;
		dave_send_code(s, job->user, job->verdict == DAVE_DONE ? job->code : "");
	} else {
		result(s, now, job);
	}
	dave_job_free(job);
	dave_session_settle(s, now);
}

/* ---- the rest ---- */

void dave_session_settle(struct dave_session *s, uint64_t now)
{
	if (s->lost)
		forget_waiting(s);
	while (s->keyroom && !s->lost) {
		struct dave_waiting *w;

		if (s->want_drop) {
			s->want_drop = false;
			start(s, DAVE_JOB_DROP, 0, NULL);
		} else if (s->want_rekey) {
			s->want_rekey = false;
			start(s, DAVE_JOB_REKEY, 0, NULL);
		} else if ((w = take(s))) {
			input(s, now, w);
			waiting_free(w);
		} else if (s->n_verify && !s->verifying) {
			verify_next(s);
		} else {
			break;
		}
	}
	dave_send_state(s);
}

void dave_session_offline(struct dave_session *s, uint64_t now)
{
	s->offline = true;
	dave_session_settle(s, now);
}

void dave_session_resumed(struct dave_session *s, uint64_t now)
{
	s->gap = false;
	if (s->epoch_by != DAVE_NEVER)
		s->epoch_by = now + DAVE_ANNOUNCE_MS * NS_PER_MS;
	dave_send_held(s);
	dave_session_settle(s, now);
}

void dave_session_timer(struct dave_session *s, uint64_t now)
{
	dave_transition_timer(s, now);
	dave_heal_timer(s, now);
	dave_session_settle(s, now);
}

uint64_t dave_session_deadline(const struct dave_session *s)
{
	uint64_t a = dave_transition_deadline(s), b = dave_heal_deadline(s);

	return a < b ? a : b;
}
