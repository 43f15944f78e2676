#include "tests/unit/mediad/dave/mls_member.h"

static unsigned seeds;

bool mls_member_run(struct mls_member *r, enum dave_job_type type, struct slice in)
{
	struct dave_job *j = NULL;

	r->last = dave_job_free(r->last);
	if (dave_job_alloc(&j, type))
		return false;
	j->in.p = malloc(in.n + 1);
	j->recognized = malloc(sizeof everybody);
	if (!j->in.p || !j->recognized) {
		dave_job_free(j);
		return false;
	}
	if (in.n)
		memcpy(j->in.p, in.p, in.n);
	j->in.n = in.n;
	memcpy(j->recognized, r->told, r->n_told * sizeof *r->told);
	j->n_recognized = r->n_told;
	j->channel = CHANNEL;
	seeds++;
	memcpy(j->seed, &seeds, sizeof seeds);
	j->mls_state = r->k;
	dave_job_run(j);
	j->mls_state = NULL;
	r->last = j;
	return true;
}

bool mls_member_came_to(struct mls_member *r, enum dave_job_type type, struct slice in,
			enum dave_verdict verdict)
{
	return mls_member_run(r, type, in) && r->last->verdict == verdict;
}

struct slice mls_member_out_of(const struct mls_member *r)
{
	return mls_slice(r->last->out.p, r->last->out.n);
}

bool mls_member_reset(struct mls_member *r, enum dave_job_type type)
{
	if (!mls_member_came_to(r, type, mls_slice(NULL, 0), DAVE_DONE))
		return false;
	mls_out_free(&r->package);
	mls_out_slice(&r->package, mls_member_out_of(r));
	return !r->package.err;
}

bool mls_member_arrive(struct mls_member *r, const struct gateway_fixture *g, uint64_t user)
{
	memset(r, 0, sizeof *r);
	r->told = everybody;
	r->n_told = 4;
	return dave_mls_state_alloc(&r->k, user) == 0 &&
	       mls_member_came_to(r, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g->package),
				  DAVE_DONE) &&
	       mls_member_reset(r, DAVE_JOB_RESET);
}

void mls_member_go(struct mls_member *r)
{
	r->last = dave_job_free(r->last);
	r->k = dave_mls_state_free(r->k);
	mls_out_free(&r->package);
}

bool mls_member_proposed(struct mls_member *r, struct mls_out *o, enum dave_verdict verdict)
{
	struct mls_out in = {0};
	bool fine;

	mls_out_be(&in, 0, 1);
	mls_out_vec(&in, mls_out_view(o));
	fine = !in.err && !o->err &&
	       mls_member_came_to(r, DAVE_JOB_PROPOSALS, mls_out_view(&in), verdict);
	mls_out_free(&in);
	mls_out_free(o);
	return fine;
}

bool mls_member_pair(struct gateway_fixture *g, struct mls_member *a, struct mls_member *b)
{
	struct mls_out o = {0}, sent = {0};
	struct slice commit, welcome;
	bool fine;

	gateway_fixture_init(g);
	if (!mls_member_arrive(a, g, ANN) || !mls_member_arrive(b, g, BOB))
		return false;
	gateway_fixture_add(g, &o, 0, mls_out_view(&b->package));
	if (!mls_member_proposed(a, &o, DAVE_DONE))
		return false;
	mls_out_slice(&sent, mls_member_out_of(a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	fine = mls_member_came_to(b, DAVE_JOB_COMMIT, commit, DAVE_IGNORED) &&
	       mls_member_came_to(a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	       mls_member_came_to(b, DAVE_JOB_WELCOME, welcome, DAVE_DONE);
	mls_out_free(&sent);
	return fine;
}

void mls_member_part(struct gateway_fixture *g, struct mls_member *a, struct mls_member *b)
{
	mls_member_go(a);
	mls_member_go(b);
	gateway_fixture_free(g);
}

bool mls_member_agree(const struct mls_member *a, const struct mls_member *b)
{
	const struct dave_epoch *x = a->last->epoch, *y = b->last->epoch;

	if (!x || !y || x->n != y->n || x->number != y->number ||
	    memcmp(x->authenticator, y->authenticator, 32) != 0)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->member[i].user != y->member[i].user ||
		    memcmp(x->member[i].base, y->member[i].base, DAVE_SECRET) != 0 ||
		    !mls_equal(x->member[i].signature_key, y->member[i].signature_key))
			return false;
	return true;
}
