#include "tests/unit/mediad/dave/script.h"

#include <inttypes.h>
#include <stdarg.h>

#include "proto/base/time.h"
#include "tests/test.h"

static void note(struct script *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct script *t, const char *fmt, ...)
{
	size_t n = strlen(t->log);
	va_list ap;

	if (n && n + 1 < sizeof t->log)
		t->log[n++] = ' ';
	va_start(ap, fmt);
	vsnprintf(t->log + n, sizeof t->log - n, fmt, ap);
	va_end(ap);
}

static const char *job_name(enum dave_job_type type)
{
	static const char *const names[] = {"reset",	 "rekey",  "drop",    "sender",
					    "proposals", "commit", "welcome", "code"};

	return names[type];
}

static void on_clear(struct script *t, const struct dave_action *a)
{
	char until[32] = "ever";

	if (a->clear.receive_until == 0)
		strcpy(until, "never");
	else if (a->clear.receive_until != UINT64_MAX)
		snprintf(until, sizeof until, "%" PRIu64,
			 (a->clear.receive_until - t->now) / NS_PER_MS);
	note(t, "clear:%s,%s", a->clear.send ? "yes" : "no", until);
}

static void on_action(const struct dave_action *a, void *arg)
{
	struct script *t = arg;

	switch (a->kind) {
	case DAVE_ACT_BINARY:
		note(t, "op%u", a->binary.op);
		t->last_n =
			a->binary.payload.n < sizeof t->last ? a->binary.payload.n : sizeof t->last;
		if (t->last_n)
			memcpy(t->last, a->binary.payload.p, t->last_n);
		break;
	case DAVE_ACT_TEXT:
		note(t, "op%u:%u", a->text.op, a->text.transition);
		break;
	case DAVE_ACT_JOB:
		note(t, "job:%s", job_name(a->job->type));
		*(a->job->type == DAVE_JOB_CODE ? &t->code : &t->job) = a->job;
		break;
	case DAVE_ACT_EPOCH:
		note(t, "epoch:%" PRIu64, a->epoch->serial);
		break;
	case DAVE_ACT_SEND:
		if (a->epoch)
			note(t, "send:%" PRIu64, a->epoch->serial);
		else
			note(t, "send:none");
		break;
	case DAVE_ACT_CLEAR:
		on_clear(t, a);
		break;
	case DAVE_ACT_STATE:
		t->states++;
		break;
	case DAVE_ACT_CODE:
		note(t, "code:%" PRIu64 "=%s", a->code.user, a->code.code);
		break;
	case DAVE_ACT_RESUME:
		note(t, "resume");
		break;
	case DAVE_ACT_REJOIN:
		note(t, "rejoin");
		break;
	case DAVE_ACT_LEAVE:
		note(t, "leave");
		break;
	}
}

static int begin(struct script *t)
{
	return dave_session_alloc(
		&t->s,
		&(struct dave_conf){.user = SELF, .acth = on_action, .arg = t, .heal = &t->heal});
}

int script_start(struct script *t)
{
	memset(t, 0, sizeof *t);
	t->now = t->began = 1000 * 1000 * NS_PER_MS;
	t->members[t->n_members++] = SELF;
	return begin(t);
}

int script_again(struct script *t)
{
	t->s = dave_session_free(t->s);
	t->job = dave_job_free(t->job);
	t->code = dave_job_free(t->code);
	return begin(t);
}

void script_end(struct script *t)
{
	t->s = dave_session_free(t->s);
	t->job = dave_job_free(t->job);
	t->code = dave_job_free(t->code);
}

const char *script_said(struct script *t)
{
	static char said[sizeof t->log];

	strcpy(said, t->log);
	t->log[0] = '\0';
	return said;
}

/* By the runner's own allocator or not at all: a failure here is one of the machine's surroundings.
 */
static struct dave_epoch *make_epoch(struct script *t)
{
	static const uint8_t key[65] = {4};
	struct dave_epoch *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->member = calloc(t->n_members, sizeof *e->member);
	if (!e->member)
		return dave_epoch_free(e);
	e->number = 100 + ++t->serial;
	e->serial = t->serial;
	e->n = t->n_members;
	for (unsigned i = 0; i < t->n_members; i++) {
		e->member[i].user = t->members[i];
		e->member[i].signature_key = mls_slice(key, sizeof key);
	}
	memset(e->authenticator, (int)t->serial, sizeof e->authenticator);
	return e;
}

static void give(struct dave_job *j, const char *bytes)
{
	j->out.p = (uint8_t *)strdup(bytes);
	j->out.n = j->out.p ? strlen(bytes) : 0;
	j->verdict = j->out.p ? DAVE_DONE : DAVE_INVALID;
}

void script_finish(struct script *t)
{
	struct dave_job *j = t->job;

	t->job = NULL;
	dave_session_done(t->s, t->now, j);
}

void script_done(struct script *t)
{
	struct dave_job *j = t->job;

	j->verdict = DAVE_DONE;
	switch (j->type) {
	case DAVE_JOB_RESET:
	case DAVE_JOB_REKEY:
		give(j, "package");
		break;
	case DAVE_JOB_COMMIT:
	case DAVE_JOB_WELCOME:
		j->epoch = make_epoch(t);
		j->verdict = j->epoch ? DAVE_DONE : DAVE_INVALID;
		j->in_group = true;
		break;
	case DAVE_JOB_PROPOSALS:
	case DAVE_JOB_EXTERNAL_SENDER:
		j->in_group = dave_session_status(t->s)->epoch != 0;
		break;
	case DAVE_JOB_DROP:
	case DAVE_JOB_CODE:
		break;
	}
	script_finish(t);
}

void script_verdict(struct script *t, enum dave_verdict verdict)
{
	t->job->verdict = verdict;
	t->job->in_group = dave_session_status(t->s)->epoch != 0;
	script_finish(t);
}

void script_commits(struct script *t, const char *bytes)
{
	t->job->in_group = dave_session_status(t->s)->epoch != 0;
	give(t->job, bytes);
	script_finish(t);
}

void script_code(struct script *t, const char *code)
{
	struct dave_job *j = t->code;

	t->code = NULL;
	j->verdict = *code ? DAVE_DONE : DAVE_INVALID;
	snprintf(j->code, sizeof j->code, "%s", code);
	dave_session_done(t->s, t->now, j);
}

void script_op(struct script *t, unsigned op, uint16_t id, uint16_t version, uint64_t epoch)
{
	dave_session_text(t->s, t->now, op, id, version, epoch);
}

void script_bin(struct script *t, unsigned op, const char *payload)
{
	dave_session_binary(t->s, t->now, op, (const uint8_t *)payload, strlen(payload));
}

void script_mls(struct script *t, unsigned op, uint16_t id)
{
	uint8_t p[] = {(uint8_t)(id >> 8), (uint8_t)id, 'm'};

	dave_session_binary(t->s, t->now, op, p, sizeof p);
}

static void note_member(struct script *t, uint64_t user, bool present)
{
	unsigned i = 0;

	while (i < t->n_members && t->members[i] < user)
		i++;
	if (i < t->n_members && t->members[i] == user) {
		if (!present)
			memmove(t->members + i, t->members + i + 1,
				(--t->n_members - i) * sizeof t->members[0]);
	} else if (present && user != t->stranger && t->n_members < SCRIPT_MEMBERS) {
		memmove(t->members + i + 1, t->members + i,
			(t->n_members++ - i) * sizeof t->members[0]);
		t->members[i] = user;
	}
}

void script_member(struct script *t, uint64_t user, bool present)
{
	note_member(t, user, present);
	dave_session_member(t->s, t->now, user, present);
}

void script_wait(struct script *t, uint64_t ms)
{
	uint64_t until = t->now + ms * NS_PER_MS;

	for (unsigned i = 0; i < 10000 && dave_session_deadline(t->s) <= until; i++) {
		if (dave_session_deadline(t->s) > t->now)
			t->now = dave_session_deadline(t->s);
		dave_session_timer(t->s, t->now);
	}
	t->now = until;
}

void script_undecryptable(struct script *t, uint64_t user)
{
	dave_session_decryption(t->s, t->now, user, false);
}

void script_deaf_for(struct script *t, uint64_t user, uint64_t ms)
{
	for (uint64_t i = SCRIPT_RUN; i <= ms; i += SCRIPT_RUN) {
		script_wait(t, SCRIPT_RUN);
		script_undecryptable(t, user);
	}
}

void script_join(struct script *t)
{
	dave_session_start(t->s, t->now, CHANNEL, 1);
	script_done(t);
	script_bin(t, 25, "sender");
	script_done(t);
	script_member(t, 1, true);
	script_member(t, 2, true);
	script_said(t);
}

void script_settled(struct script *t)
{
	script_join(t);
	script_mls(t, 30, 9);
	script_done(t);
	script_op(t, 22, 9, 0, 0);
	script_wait(t, 100);
	script_said(t);
}

void script_epoch(struct script *t, uint16_t id)
{
	script_mls(t, 29, id);
	script_done(t);
}
