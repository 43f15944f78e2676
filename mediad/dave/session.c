#include "mediad/dave/session_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/base/time.h"

int dave_session_alloc(struct dave_session **out, const struct dave_conf *conf)
{
	struct dave_session *s;
	int err = ENOMEM;

	if (!out || !conf || !conf->acth || !conf->heal)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	s->conf = *conf;
	s->tail = &s->first;
	s->welcome_by = s->epoch_by = s->change_by = s->ask_again_at = s->send_until = DAVE_NEVER;
	s->users = malloc(16 * sizeof *s->users);
	if (!s->users)
		goto out;
	s->cap_users = 16;
	s->users[s->n_users++] = conf->user;
	dave_speakers_begin(s);
	err = dave_mls_state_alloc(&s->mls_state, conf->user);
	if (err)
		goto out;
	*out = s;
	s = NULL;
out:
	dave_session_free(s);
	return err;
}

static void free_input(struct dave_input *w)
{
	if (w)
		free(w->in.p);
	free(w);
}

static struct dave_input *dequeue(struct dave_session *s)
{
	struct dave_input *w = s->first;

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

static void clear_queue(struct dave_session *s)
{
	while (s->first)
		free_input(dequeue(s));
}

struct dave_session *dave_session_free(struct dave_session *s)
{
	if (!s)
		return NULL;
	clear_queue(s);
	dave_transition_free(s);
	dave_mls_state_free(s->mls_state);
	free(s->users);
	free(s->undecryptable);
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
	return !s->mls_state || s->first || s->want_drop || s->want_rekey;
}

/* ---- users ---- */

static size_t find_user_index(const struct dave_session *s, uint64_t user)
{
	size_t lo = 0, hi = s->n_users;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->users[mid] < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool dave_session_has_user(const struct dave_session *s, uint64_t user)
{
	size_t i = find_user_index(s, user);

	return i < s->n_users && s->users[i] == user;
}

/* There was no room for who came or left. Without encryption the users need not be known. */
static void lose_user(struct dave_session *s)
{
	s->users_full = true;
	if (s->status.version > 0)
		dave_heal_input_lost(s);
}

static void add_user(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = find_user_index(s, user);

	if (i < s->n_users && s->users[i] == user)
		return;
	if (s->n_users == s->cap_users) {
		size_t cap = s->cap_users ? 2 * s->cap_users : 16;
		uint64_t *p = cap <= DAVE_USERS_MAX * 2 ? realloc(s->users, cap * sizeof *p) : NULL;

		if (!p) {
			lose_user(s);
			return;
		}
		s->users = p;
		s->cap_users = cap;
	}
	memmove(s->users + i + 1, s->users + i, (s->n_users++ - i) * sizeof *s->users);
	s->users[i] = user;
	if ((s->package_sent || s->status.version > 0) && !s->in_group &&
	    s->welcome_by == DAVE_NEVER)
		s->welcome_by = now + DAVE_WELCOME_MS * NS_PER_MS;
	dave_heal_changed(s, now, user);
}

static void remove_user(struct dave_session *s, uint64_t now, uint64_t user)
{
	size_t i = find_user_index(s, user);

	dave_heal_remove_user(s, now, user);
	dave_speakers_left(s, user);
	if (user == s->conf.user || i == s->n_users || s->users[i] != user)
		return;
	dave_heal_left(s, now, user);
	memmove(s->users + i, s->users + i + 1, (--s->n_users - i) * sizeof *s->users);
	dave_heal_changed(s, now, user);
	if (s->n_users == 1 && !s->in_group)
		dave_transition_expire(s, now);
}

/* ---- jobs ---- */

static int copy_recognized(const struct dave_session *s, struct dave_job *j)
{
	j->recognized = malloc(s->n_users * sizeof *j->recognized);
	if (!j->recognized)
		return ENOMEM;
	memcpy(j->recognized, s->users, s->n_users * sizeof *j->recognized);
	j->n_recognized = s->n_users;
	return 0;
}

/* Starts a job and takes over `in`, if given. A job that cannot be started is a lost input and
 * heals as such. */
static void start_job(struct dave_session *s, enum dave_job_type type, uint16_t transition,
		      struct dave_bytes *in)
{
	struct dave_job *j = NULL;
	int err = s->users_full && type == DAVE_JOB_RESET ? EOVERFLOW : dave_job_alloc(&j, type);

	if (!err && (type == DAVE_JOB_PROPOSALS || type == DAVE_JOB_WELCOME))
		err = copy_recognized(s, j);
	if (err) {
		dave_job_free(j);
		dave_heal_input_lost(s);
		return;
	}
	j->channel = s->channel;
	j->transition = transition;
	if (in) {
		j->in = *in;
		*in = (struct dave_bytes){0};
	}
	j->mls_state = s->mls_state;
	s->mls_state = NULL;
	s->conf.acth(&(struct dave_action){.kind = DAVE_ACT_JOB, .job = j}, s->conf.arg);
}

static int copy_bytes(struct dave_bytes *out, struct slice in)
{
	out->p = malloc(in.n ? in.n : 1);
	if (!out->p)
		return ENOMEM;
	if (in.n)
		memcpy(out->p, in.p, in.n);
	out->n = in.n;
	return 0;
}

/* Starts a verification code; these run one at a time while no other work waits. */
static void start_verification(struct dave_session *s)
{
	const struct dave_epoch *e = s->in_group && s->n_epochs ? s->epochs[0].epoch : NULL;
	const struct dave_member *theirs, *mine;
	struct dave_job *j = NULL;
	uint64_t user = s->verify[0];

	memmove(s->verify, s->verify + 1, --s->n_verify * sizeof s->verify[0]);
	theirs = e ? dave_epoch_find(e, user) : NULL;
	mine = e ? dave_epoch_find(e, s->conf.user) : NULL;
	if (!theirs || !mine || theirs == mine || dave_job_alloc(&j, DAVE_JOB_CODE) ||
	    copy_bytes(&j->theirs, theirs->signature_key) ||
	    copy_bytes(&j->mine, mine->signature_key)) {
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
	dave_session_finish_step(s, now);
}

/* ---- queued inputs ---- */

static void on_description(struct dave_session *s, struct dave_input *w)
{
	s->channel = w->number;
	s->status.known = true;
	s->status.version = w->version;
	if (w->version == 0) {
		dave_send_clear(s, true, DAVE_NEVER);
		return;
	}
	dave_send_clear(s, false, 0);
	start_job(s, DAVE_JOB_RESET, 0, NULL);
}

static void on_prepare_epoch(struct dave_session *s, uint64_t now, const struct dave_input *w)
{
	/* A later epoch would only change the version, and there is only one. */
	if (w->number != 1 || w->version == 0 || w->version > DAVE_VERSION)
		return;
	if (s->n_users == 1)
		dave_transition_alone(s, now);
	start_job(s, DAVE_JOB_RESET, 0, NULL);
}

/* The gateway describes the session (op 4) before it can change it. A transition executed earlier
 * would leave the version of op 4 without effect. */
static bool is_too_early(const struct dave_session *s, unsigned op)
{
	return !s->status.known &&
	       (op == DAVE_OP_PREPARE_TRANSITION || op == DAVE_OP_EXECUTE_TRANSITION ||
		op == DAVE_OP_PREPARE_EPOCH);
}

static void run_input(struct dave_session *s, uint64_t now, struct dave_input *w)
{
	if (is_too_early(s, w->op))
		return;
	switch (w->op) {
	case DAVE_OP_DESCRIPTION:
		on_description(s, w);
		break;
	case DAVE_OP_CONNECT:
		add_user(s, now, w->number);
		break;
	case DAVE_OP_DISCONNECT:
		remove_user(s, now, w->number);
		break;
	case DAVE_OP_PREPARE_TRANSITION:
		dave_transition_text(s, now, w->transition, w->version);
		break;
	case DAVE_OP_EXECUTE_TRANSITION:
		dave_transition_execute(s, now, w->transition);
		break;
	case DAVE_OP_PREPARE_EPOCH:
		on_prepare_epoch(s, now, w);
		break;
	case DAVE_OP_EXTERNAL_SENDER:
		start_job(s, DAVE_JOB_EXTERNAL_SENDER, 0, &w->in);
		break;
	case DAVE_OP_PROPOSALS:
		start_job(s, DAVE_JOB_PROPOSALS, 0, &w->in);
		break;
	case DAVE_OP_ANNOUNCE_COMMIT:
		start_job(s, DAVE_JOB_COMMIT, w->cut ? s->last_id : w->transition, &w->in);
		break;
	case DAVE_OP_WELCOME:
		start_job(s, DAVE_JOB_WELCOME, w->cut ? s->last_id : w->transition, &w->in);
		break;
	}
}

/* Takes over w and queues it; it runs at once when the queue is empty. */
static void enqueue(struct dave_session *s, uint64_t now, struct dave_input *w)
{
	bool member = w->op == DAVE_OP_CONNECT || w->op == DAVE_OP_DISCONNECT;

	if (member && s->n_members >= DAVE_MEMBERS_WAITING_MAX) {
		free_input(w);
		lose_user(s);
	} else if (s->input_lost || (!member && s->n_messages >= DAVE_WAITING_MAX) ||
		   w->in.n > DAVE_WAITING_BYTES_MAX - s->waiting_bytes) {
		free_input(w);
		dave_heal_input_lost(s);
	} else {
		*s->tail = w;
		s->tail = &w->next;
		*(member ? &s->n_members : &s->n_messages) += 1;
		s->waiting_bytes += w->in.n;
	}
	dave_session_finish_step(s, now);
}

/* Queues a copy and takes over what->in. */
static void queue_input(struct dave_session *s, uint64_t now, const struct dave_input *what)
{
	struct dave_input *w = malloc(sizeof *w);

	if (!w) {
		free(what->in.p);
		dave_heal_input_lost(s);
		dave_session_finish_step(s, now);
		return;
	}
	*w = *what;
	enqueue(s, now, w);
}

void dave_session_start(struct dave_session *s, uint64_t now, uint64_t channel, uint16_t version)
{
	queue_input(s, now,
		    &(struct dave_input){
			    .op = DAVE_OP_DESCRIPTION, .number = channel, .version = version});
}

void dave_session_require(struct dave_session *s, bool required)
{
	s->conf.required = required;
	/* Neither a prepared downgrade nor the grace after a clear spell counts any longer. */
	if (required && s->status.version > 0 && s->clear_until)
		dave_send_clear(s, false, 0);
}

void dave_session_member(struct dave_session *s, uint64_t now, uint64_t user, bool present)
{
	queue_input(s, now,
		    &(struct dave_input){.op = present ? DAVE_OP_CONNECT : DAVE_OP_DISCONNECT,
					 .number = user});
}

void dave_session_text(struct dave_session *s, uint64_t now, unsigned op, uint16_t transition,
		       uint16_t version, uint64_t on_epoch_result)
{
	if (op != DAVE_OP_PREPARE_TRANSITION && op != DAVE_OP_EXECUTE_TRANSITION &&
	    op != DAVE_OP_PREPARE_EPOCH)
		return;
	queue_input(s, now,
		    &(struct dave_input){.op = op,
					 .transition = transition,
					 .version = version,
					 .number = on_epoch_result});
}

void dave_session_binary(struct dave_session *s, uint64_t now, unsigned op, const uint8_t *p,
			 size_t n)
{
	struct dave_input w = {.op = op};
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
	/* A message over the limit is refused like an unreadable one. */
	if (in.n > MLS_BYTES_MAX)
		in.n = 0;
	if (copy_bytes(&w.in, in)) {
		dave_heal_input_lost(s);
		dave_session_finish_step(s, now);
		return;
	}
	queue_input(s, now, &w);
}

/* ---- results of jobs ---- */

static void send_key_package(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	if (job->verdict != DAVE_DONE) {
		dave_heal_input_lost(s);
		return;
	}
	s->package_sent = true;
	s->answer_owed = false;
	s->epoch_by = DAVE_NEVER;
	s->join_grace_until = now + DAVE_JOIN_GRACE_MS * NS_PER_MS;
	s->welcome_by = s->n_users > 1 ? now + DAVE_WELCOME_MS * NS_PER_MS : DAVE_NEVER;
	dave_send_forget_commit(s);
	dave_send_binary(s, DAVE_OP_KEY_PACKAGE, &job->out);
}

static void on_epoch_result(struct dave_session *s, uint64_t now, struct dave_job *job, bool was_in)
{
	if (job->verdict == DAVE_NO_SENDER) {
		dave_heal_no_sender(s, now);
	} else if (job->verdict == DAVE_INVALID) {
		dave_heal_invalid(s, now, job->transition);
	} else if (was_in && !s->in_group) {
		dave_heal_removed(s, now);
	} else if (job->epoch) {
		dave_transition_prepare(s, now, job->transition, job->epoch);
		job->epoch = NULL;
	}
}

static void on_proposals_result(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	if (job->verdict == DAVE_INVALID)
		dave_heal_invalid(s, now, s->last_id);
	else if (job->verdict != DAVE_IGNORED)
		dave_heal_proposed(s, now, job->verdict == DAVE_REFUSED, job->out.n > 0);
	if (job->verdict == DAVE_DONE && job->out.n)
		dave_send_binary(s, DAVE_OP_COMMIT_WELCOME, &job->out);
}

static void on_job_result(struct dave_session *s, uint64_t now, struct dave_job *job)
{
	bool was_in = s->in_group;

	s->mls_state = job->mls_state;
	job->mls_state = NULL;
	if (job->verdict == DAVE_NOT_RUN) {
		dave_heal_input_lost(s);
		return;
	}
	s->in_group = job->in_group;
	if (was_in && !s->in_group)
		dave_transition_left(s, now);
	if (was_in && !s->in_group && s->n_users == 1)
		dave_transition_expire(s, now);
	switch (job->type) {
	case DAVE_JOB_RESET:
	case DAVE_JOB_REKEY:
		send_key_package(s, now, job);
		break;
	case DAVE_JOB_DROP:
		s->package_sent = false;
		s->join_grace_until = 0;
		s->welcome_by = s->epoch_by = DAVE_NEVER;
		break;
	case DAVE_JOB_PROPOSALS:
		on_proposals_result(s, now, job);
		break;
	case DAVE_JOB_COMMIT:
	case DAVE_JOB_WELCOME:
		on_epoch_result(s, now, job, was_in);
		break;
	case DAVE_JOB_EXTERNAL_SENDER:
		/* Op 25 is not repeated in this session, and without it there is no group. */
		s->needs_rejoin |= job->verdict == DAVE_INVALID && !s->in_group;
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
		on_job_result(s, now, job);
	}
	dave_job_free(job);
	dave_session_finish_step(s, now);
}

/* ---- end of a step, timer ---- */

void dave_session_finish_step(struct dave_session *s, uint64_t now)
{
	if (s->input_lost)
		clear_queue(s);
	dave_heal_await_rejoin(s, now);
	while (s->mls_state && !s->input_lost) {
		struct dave_input *w;

		if (s->want_drop) {
			s->want_drop = false;
			start_job(s, DAVE_JOB_DROP, 0, NULL);
		} else if (s->want_rekey) {
			s->want_rekey = false;
			start_job(s, DAVE_JOB_REKEY, 0, NULL);
		} else if ((w = dequeue(s))) {
			run_input(s, now, w);
			free_input(w);
		} else if (s->n_verify && !s->verifying) {
			start_verification(s);
		} else {
			break;
		}
	}
	dave_send_state(s);
}

void dave_session_offline(struct dave_session *s, uint64_t now)
{
	s->offline = true;
	dave_session_finish_step(s, now);
}

void dave_session_resumed(struct dave_session *s, uint64_t now)
{
	s->gap = false;
	if (s->epoch_by != DAVE_NEVER)
		s->epoch_by = now + DAVE_ANNOUNCE_MS * NS_PER_MS;
	dave_heal_resumed(s, now);
	dave_send_held(s);
	dave_session_finish_step(s, now);
}

void dave_session_timer(struct dave_session *s, uint64_t now)
{
	dave_transition_timer(s, now);
	dave_heal_timer(s, now);
	dave_session_finish_step(s, now);
}

uint64_t dave_session_deadline(const struct dave_session *s)
{
	uint64_t a = dave_transition_deadline(s), b = dave_heal_deadline(s);

	return a < b ? a : b;
}
