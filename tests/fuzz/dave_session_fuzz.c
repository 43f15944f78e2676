/* What a voice gateway sends to a DAVE session in a live group: as it is, bent, in any order,
 * signed by it with anything inside, with time passing, jobs coming back at once or later, and
 * speakers heard or not. Another member, a mls_state alone, commits and welcomes.
 *
 * Whatever comes: one job at a time, epochs that rise, no plain sound where sound is sealed, no
 * deadline that is never met.
 *
 * Input: steps of one byte of choice and its operands; see step(). */
#include <stdlib.h>

#include "mediad/dave/mls_state_internal.h"
#include "mediad/dave/session.h"
#include "tests/unit/mediad/dave/gateway_fixture.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SELF = 7, PEER = 9, STEPS = 40, JOBS = 20 };

struct world {
	struct dave_session *s;
	struct dave_heal_state heal;
	struct dave_job *job, *code;
	struct gateway_fixture gate;
	struct dave_mls_state *peer;
	struct mls_out mine, theirs, sent, kept; /* key packages; our last op 28; the peer's */
	uint64_t now, serial, seeds;
	unsigned jobs;
	bool clear;
};

static void must(bool fine)
{
	if (!fine)
		abort();
}

static void store(struct mls_out *o, struct slice s)
{
	mls_out_free(o);
	mls_out_slice(o, s);
}

static void on_action(const struct dave_action *a, void *arg)
{
	struct world *w = arg;

	switch (a->kind) {
	case DAVE_ACT_BINARY:
		must(a->binary.op == 26 || a->binary.op == 28);
		store(a->binary.op == 26 ? &w->mine : &w->sent, a->binary.payload);
		break;
	case DAVE_ACT_TEXT:
		must(a->text.op == 23 || a->text.op == 31);
		must(a->text.op == 31 || a->text.transition);
		break;
	case DAVE_ACT_JOB:
		if (a->job->type == DAVE_JOB_CODE) {
			must(!w->code);
			w->code = a->job;
		} else {
			must(!w->job);
			w->job = a->job;
		}
		break;
	case DAVE_ACT_EPOCH:
		must(a->epoch->serial > w->serial);
		w->serial = a->epoch->serial;
		break;
	case DAVE_ACT_SEND:
		must(!a->epoch || dave_epoch_find(a->epoch, SELF));
		break;
	case DAVE_ACT_CLEAR:
		w->clear = a->clear.send;
		break;
	case DAVE_ACT_STATE:
	case DAVE_ACT_CODE:
	case DAVE_ACT_RESUME:
	case DAVE_ACT_LEAVE:
	case DAVE_ACT_REJOIN:
		break;
	}
}

static void seed(struct world *w, struct dave_job *j)
{
	w->seeds++;
	memcpy(j->seed, &w->seeds, sizeof w->seeds);
}

/* n jobs of the session, at most. */
static void work(struct world *w, unsigned n)
{
	for (; w->job && n; n--) {
		struct dave_job *j = w->job;

		w->job = NULL;
		seed(w, j);
		if (w->jobs++ < JOBS)
			dave_job_run(j);
		dave_session_done(w->s, w->now, j);
	}
}

static void peer_job(struct world *w, enum dave_job_type type, struct slice in)
{
	static const uint64_t known[] = {SELF, PEER};
	struct dave_job *j = NULL;

	if (w->jobs++ >= JOBS)
		return;
	must(!dave_job_alloc(&j, type));
	j->mls_state = w->peer;
	j->channel = GATEWAY_FIXTURE_CHANNEL;
	j->in.p = malloc(in.n + 1);
	j->recognized = malloc(sizeof known);
	must(j->in.p && j->recognized);
	if (in.n)
		memcpy(j->in.p, in.p, in.n);
	j->in.n = in.n;
	memcpy(j->recognized, known, sizeof known);
	j->n_recognized = 2;
	seed(w, j);
	dave_job_run(j);
	if (j->out.n)
		store(type == DAVE_JOB_PROPOSALS ? &w->kept : &w->theirs,
		      mls_slice(j->out.p, j->out.n));
	j->mls_state = NULL;
	dave_job_free(j);
}

/* Op 27 to us, or to the peer. */
static void propose(struct world *w, struct mls_out *messages, bool peer)
{
	struct mls_out in = {0};

	mls_out_be(&in, 0, 1);
	mls_out_vec(&in, mls_out_view(messages));
	if (peer)
		peer_job(w, DAVE_JOB_PROPOSALS, mls_out_view(&in));
	else
		dave_session_binary(w->s, w->now, 27, in.p, in.n);
	mls_out_free(&in);
	mls_out_free(messages);
}

/* Ops 29 and 30, with a byte bent at `at` when `by` is not 0. */
static void deliver(struct world *w, unsigned op, uint16_t id, struct slice what, uint16_t at,
		    uint8_t by)
{
	struct mls_out in = {0};

	mls_out_be(&in, id, 2);
	mls_out_slice(&in, what);
	if (what.n)
		in.p[2 + at % what.n] ^= by;
	dave_session_binary(w->s, w->now, op, in.p, in.n);
	mls_out_free(&in);
}

static void timers(struct world *w)
{
	for (unsigned i = 0; dave_session_deadline(w->s) <= w->now; i++) {
		must(i < 100);
		dave_session_timer(w->s, w->now);
	}
}

static struct slice operand(struct rd *r)
{
	size_t n = (size_t)rd_be(r, 2);

	n = n < rd_left(r) ? n : rd_left(r);
	return mls_slice(rd_bytes(r, n), n);
}

static void from_gateway(struct world *w, unsigned choice, struct rd *r)
{
	static const unsigned ops[] = {25, 27, 29, 30};
	uint16_t id = (uint16_t)rd_be(r, 1), at;
	struct mls_out o = {0};
	struct slice commit, welcome = {0}, body;

	switch (choice) {
	case 0: /* anything */
		body = operand(r);
		dave_session_binary(w->s, w->now, ops[id & 3], body.p, body.n);
		return;
	case 1: /* signed, with anything inside */
		body = operand(r);
		gateway_fixture_sign(
			&w->gate, &o,
			&(struct gateway_fixture_framing){.epoch = id, .index = id >> 6}, body);
		propose(w, &o, false);
		return;
	case 2: /* the peer is added to our group, or we to the peer's */
		gateway_fixture_add(&w->gate, &o, id & 0x7f,
				    mls_out_view(id & 0x80 ? &w->mine : &w->theirs));
		propose(w, &o, id & 0x80);
		return;
	case 3:
		gateway_fixture_remove(&w->gate, &o, id & 0x1f, id >> 5 & 3);
		propose(w, &o, id >> 7);
		return;
	case 4: /* our commit is announced, and the peer welcomed */
		commit = gateway_fixture_split_op28(mls_out_view(&w->sent), &welcome);
		at = (uint16_t)rd_be(r, 2);
		deliver(w, 29, id, commit, at, (uint8_t)rd_be(r, 1));
		if (welcome.n)
			peer_job(w, DAVE_JOB_WELCOME, welcome);
		return;
	case 5: /* the peer's */
		commit = gateway_fixture_split_op28(mls_out_view(&w->kept), &welcome);
		at = (uint16_t)rd_be(r, 2);
		deliver(w, 29, id, commit, at, (uint8_t)rd_be(r, 1));
		peer_job(w, DAVE_JOB_COMMIT, commit);
		return;
	case 6:
		(void)gateway_fixture_split_op28(mls_out_view(&w->kept), &welcome);
		at = (uint16_t)rd_be(r, 2);
		deliver(w, 30, id, welcome, at, (uint8_t)rd_be(r, 1));
		return;
	default:
		at = (uint16_t)rd_be(r, 2);
		dave_session_text(w->s, w->now, 21 + (at & 3), id, at >> 2 & 3, at >> 4 & 3);
	}
}

static void from_elsewhere(struct world *w, unsigned choice, struct rd *r)
{
	uint8_t b = (uint8_t)rd_be(r, 1);

	switch (choice) {
	case 0:
		w->now += b * b * NS_PER_MS;
		timers(w);
		return;
	case 1:
		dave_session_decryption(w->s, w->now, b >> 2, b & 1);
		return;
	case 2:
		dave_session_proof(w->s, w->now, b >> 2, b);
		return;
	case 3:
		dave_session_member(w->s, w->now, b >> 1, b & 1);
		return;
	case 4:
		work(w, b);
		return;
	case 5:
		if (b & 1)
			dave_session_offline(w->s, w->now);
		else if (b & 2)
			dave_session_resumed(w->s, w->now);
		else
			dave_session_gap(w->s, w->now);
		return;
	case 6:
		dave_session_verify(w->s, w->now, b);
		return;
	default:
		peer_job(w, b & 1 ? DAVE_JOB_REKEY : DAVE_JOB_RESET, mls_slice(NULL, 0));
	}
}

/* 0-7: what the gateway sends; 8-15: what else happens; with 16 the jobs behind it run at once. */
static void step(struct world *w, struct rd *r)
{
	uint8_t b = (uint8_t)rd_be(r, 1);
	const struct dave_status *st = dave_session_status(w->s);

	if (b & 8)
		from_elsewhere(w, b & 7, r);
	else
		from_gateway(w, b & 7, r);
	if (b & 16)
		work(w, 4);
	must(!w->clear || st->version == 0);
	must(!st->ready || st->version == 0 || dave_session_sending(w->s));
}

static void begin(struct world *w)
{
	gateway_fixture_init(&w->gate);
	must(!dave_session_alloc(
		&w->s,
		&(struct dave_conf){.user = SELF, .acth = on_action, .arg = w, .heal = &w->heal}));
	must(!dave_mls_state_alloc(&w->peer, PEER));
	dave_session_start(w->s, w->now, GATEWAY_FIXTURE_CHANNEL, 1);
	dave_session_member(w->s, w->now, PEER, true);
	dave_session_binary(w->s, w->now, 25, w->gate.package.p, w->gate.package.n);
	work(w, 2);
	peer_job(w, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&w->gate.package));
	peer_job(w, DAVE_JOB_RESET, mls_slice(NULL, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	struct rd r = rd_of(data, size);

	memset(&w, 0, sizeof w);
	w.now = 1000 * 1000 * NS_PER_MS;
	begin(&w);
	for (unsigned n = 0; rd_left(&r) && n < STEPS; n++)
		step(&w, &r);
	work(&w, UINT32_MAX);
	timers(&w);
	dave_job_free(w.code);
	dave_job_free(w.job);
	dave_session_free(w.s);
	dave_mls_state_free(w.peer);
	gateway_fixture_free(&w.gate);
	mls_out_free(&w.mine);
	mls_out_free(&w.theirs);
	mls_out_free(&w.sent);
	mls_out_free(&w.kept);
	return 0;
}
