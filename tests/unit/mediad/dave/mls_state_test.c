/* Keyrooms with a voice gateway that signs what it likes. */
#include "tests/unit/mediad/dave/gateway_fixture.h"

#include "mediad/dave/mls_state_internal.h"
#include "tests/test.h"
#include "tests/unit/mediad/mls/commit_fixture.h"

enum { CHANNEL = GATEWAY_FIXTURE_CHANNEL, ANN = 10, BOB = 20, CEE = 30, DAN = 40 };

static const uint64_t everybody[] = {ANN, BOB, CEE, DAN};

/* ---- the members ---- */

struct room {
	struct dave_mls_state *k;
	struct dave_job *last;	/* the job that ran last */
	struct mls_out package; /* of op 26 */
	const uint64_t *told;
	size_t n_told;
};

static unsigned seeds;

/* False: the job could not be made. */
static bool run(struct room *r, enum dave_job_type type, struct slice in)
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

static bool came_to(struct room *r, enum dave_job_type type, struct slice in,
		    enum dave_verdict verdict)
{
	return run(r, type, in) && r->last->verdict == verdict;
}

static struct slice out_of(const struct room *r)
{
	return mls_slice(r->last->out.p, r->last->out.n);
}

static bool reset(struct room *r, enum dave_job_type type)
{
	if (!came_to(r, type, mls_slice(NULL, 0), DAVE_DONE))
		return false;
	mls_out_free(&r->package);
	mls_out_slice(&r->package, out_of(r));
	return !r->package.err;
}

static bool arrive(struct room *r, const struct gateway_fixture *g, uint64_t user)
{
	memset(r, 0, sizeof *r);
	r->told = everybody;
	r->n_told = 4;
	return dave_mls_state_alloc(&r->k, user) == 0 &&
	       came_to(r, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g->package), DAVE_DONE) &&
	       reset(r, DAVE_JOB_RESET);
}

static void go(struct room *r)
{
	r->last = dave_job_free(r->last);
	r->k = dave_mls_state_free(r->k);
	mls_out_free(&r->package);
}

/* Op 27 that appends what is in o, which is freed. */
static bool proposed(struct room *r, struct mls_out *o, enum dave_verdict verdict)
{
	struct mls_out in = {0};
	bool fine;

	mls_out_be(&in, 0, 1);
	mls_out_vec(&in, mls_out_view(o));
	fine = !in.err && !o->err && came_to(r, DAVE_JOB_PROPOSALS, mls_out_view(&in), verdict);
	mls_out_free(&in);
	mls_out_free(o);
	return fine;
}

/* The first of both adds the second: epoch 1. */
static bool pair(struct gateway_fixture *g, struct room *a, struct room *b)
{
	struct mls_out o = {0}, sent = {0};
	struct slice commit, welcome;
	bool fine;

	gateway_fixture_init(g);
	if (!arrive(a, g, ANN) || !arrive(b, g, BOB))
		return false;
	gateway_fixture_add(g, &o, 0, mls_out_view(&b->package));
	if (!proposed(a, &o, DAVE_DONE))
		return false;
	mls_out_slice(&sent, out_of(a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	fine = came_to(b, DAVE_JOB_COMMIT, commit, DAVE_IGNORED) &&
	       came_to(a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	       came_to(b, DAVE_JOB_WELCOME, welcome, DAVE_DONE);
	mls_out_free(&sent);
	return fine;
}

static void part(struct gateway_fixture *g, struct room *a, struct room *b)
{
	go(a);
	go(b);
	gateway_fixture_free(g);
}

static bool agree(const struct room *a, const struct room *b)
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

/* ---- key packages ---- */

TEST(dave_mls_state_key_package_is_valid_for_the_gateway)
{
	static const uint8_t head[] = {0, 1, 0, 2, 0x40, 0x41, 4};
	static const uint8_t credential[] = {0, 1, 8, 0, 0, 0, 0, 0, 0, 0, ANN, 2,
					     0, 1, 2, 0, 2, 0, 0, 2, 0, 1, 1};
	struct gateway_fixture g;
	struct room a;
	struct slice p;

	gateway_fixture_init(&g);
	CHECK(arrive(&a, &g, ANN));
	p = mls_out_view(&a.package);
	CHECK_MEM(p.p, sizeof head, head, sizeof head);
	CHECK_MEM(p.p + 4 + 3 * 67, sizeof credential, credential, sizeof credential);
	CHECK(p.n > 380 && p.n < 396);
	go(&a);
	gateway_fixture_free(&g);
}

TEST(dave_mls_state_reset_makes_new_keys)
{
	struct gateway_fixture g;
	struct room a;
	uint8_t init[67], leaf[134];

	gateway_fixture_init(&g);
	CHECK(arrive(&a, &g, ANN));
	memcpy(init, a.package.p + 4, sizeof init);
	memcpy(leaf, a.package.p + 71, sizeof leaf);
	CHECK(reset(&a, DAVE_JOB_REKEY));
	CHECK(memcmp(a.package.p + 4, init, sizeof init) != 0);
	CHECK(memcmp(a.package.p + 71, leaf, sizeof leaf) == 0);
	memcpy(init, a.package.p + 4, sizeof init);
	CHECK(reset(&a, DAVE_JOB_RESET));
	CHECK(memcmp(a.package.p + 4, init, sizeof init) != 0);
	CHECK(memcmp(a.package.p + 71, leaf, 67) != 0);
	CHECK(memcmp(a.package.p + 138, leaf + 67, 67) != 0);
	go(&a);
	gateway_fixture_free(&g);
}

/* ---- epochs ---- */

TEST(dave_mls_state_two_members_agree)
{
	struct gateway_fixture g;
	struct room a, b;
	uint8_t base[DAVE_SECRET];
	static const uint8_t bob_little[8] = {BOB};

	CHECK(pair(&g, &a, &b));
	CHECK(agree(&a, &b));
	CHECK(a.last->in_group && b.last->in_group && a.last->epoch->number == 1 &&
	      a.last->epoch->n == 2);
	CHECK(a.last->epoch->serial == 1 && b.last->epoch->serial == 1);
	CHECK(a.last->epoch->member[0].user == ANN && a.last->epoch->member[1].user == BOB);
	CHECK_INT(mls_group_export(a.k->group, base, sizeof base, "Discord Secure Frames v0",
				   mls_slice(bob_little, 8)),
		  0);
	CHECK_MEM(a.last->epoch->member[1].base, DAVE_SECRET, base, sizeof base);
	part(&g, &a, &b);
}

TEST(dave_mls_state_keeps_every_own_commit)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0}, first = {0}, second = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&first, out_of(&a));
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&second, out_of(&a));
	CHECK(a.k->n_own_commits == 2 && first.n != second.n);
	CHECK(came_to(&a, DAVE_JOB_COMMIT,
		      gateway_fixture_split_op28(mls_out_view(&first), &welcome), DAVE_DONE));
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	CHECK(agree(&a, &c) && a.last->epoch->n == 3 && a.last->epoch->serial == 2);
	/* The other one came too late. */
	CHECK(came_to(&a, DAVE_JOB_COMMIT,
		      gateway_fixture_split_op28(mls_out_view(&second), &welcome), DAVE_IGNORED));
	mls_out_free(&first);
	mls_out_free(&second);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_sends_nothing_when_all_is_revoked)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0}, in = {0}, refs = {0};
	uint8_t ref[MLS_HASH];
	struct mls_public m;
	struct rd r;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK_INT(mls_proposal_ref(ref, &m), 0);
	CHECK(proposed(&a, &o, DAVE_DONE) && out_of(&a).n);
	mls_out_vec(&refs, mls_slice(ref, sizeof ref));
	mls_out_be(&in, 1, 1);
	mls_out_vec(&in, mls_out_view(&refs));
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in), DAVE_DONE) && !out_of(&a).n);
	/* A reference that nobody knows changes nothing. */
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in), DAVE_DONE) && !out_of(&a).n);
	mls_out_free(&in);
	mls_out_free(&refs);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_does_not_commit_its_own_removal)
{
	struct gateway_fixture g;
	struct room a, b;
	struct mls_out o = {0}, again = {0}, sent = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_slice(&again, mls_out_view(&o));
	CHECK(proposed(&b, &o, DAVE_DONE) && !out_of(&b).n);
	CHECK(proposed(&a, &again, DAVE_DONE) && out_of(&a).n);
	mls_out_slice(&sent, out_of(&a));
	CHECK(came_to(&b, DAVE_JOB_COMMIT,
		      gateway_fixture_split_op28(mls_out_view(&sent), &welcome), DAVE_IGNORED));
	CHECK(!b.last->in_group && !dave_mls_state_group(b.k));
	/* What is said in that group is nothing to us now. */
	gateway_fixture_remove(&g, &o, 2, 0);
	CHECK(proposed(&b, &o, DAVE_IGNORED));
	mls_out_free(&sent);
	part(&g, &a, &b);
}

/* ---- op 27 ---- */

TEST(dave_mls_state_refuses_an_unannounced_user)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0}, both = {0};

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	a.n_told = 2;
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_REFUSED) && !out_of(&a).n);
	/* The first bad one refuses them all. */
	gateway_fixture_remove(&g, &both, 1, 1);
	gateway_fixture_add(&g, &both, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &both, DAVE_REFUSED) && !out_of(&a).n);
	CHECK_INT(mls_group_proposals(a.k->group), 0);
	a.n_told = 4;
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_DONE) && out_of(&a).n);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_other_proposals_than_add_and_remove)
{
	static const uint8_t psk[] = {0, 4, 1, 1, 'x', 32, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5,
				      6, 7, 8, 1, 2,   3,  4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
	static const uint8_t extensions[] = {0, 7, 0}, removal[] = {0, 3, 0, 0, 0, 1},
			     nobody[] = {0, 3, 0, 0, 0, 9};
	const struct {
		struct gateway_fixture_framing how;
		struct slice body;
	} bad[] = {
		{{.epoch = 1}, mls_slice(psk, sizeof psk)},
		{{.epoch = 1}, mls_slice(extensions, sizeof extensions)},
		{{.epoch = 1}, mls_slice(nobody, sizeof nobody)},
		{{.epoch = 1}, mls_slice(removal, sizeof removal - 1)},
		{{.epoch = 1, .index = 1}, mls_slice(removal, sizeof removal)},
		{{.epoch = 1, .sender = MLS_SENDER_NEW_PROPOSAL},
		 mls_slice(removal, sizeof removal)},
	};
	struct gateway_fixture g;
	struct room a, b;
	struct mls_out o = {0};

	CHECK(pair(&g, &a, &b));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		gateway_fixture_sign(&g, &o, &bad[i].how, bad[i].body);
		if (!proposed(&a, &o, DAVE_REFUSED) || out_of(&a).n)
			test_fail(__FILE__, __LINE__, "proposal %zu was not refused", i);
	}
	gateway_fixture_remove(&g, &o, 1, 1);
	o.p[o.n - 3] ^= 1;
	CHECK(proposed(&a, &o, DAVE_REFUSED));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_be(&o, 0, 1);
	CHECK(proposed(&a, &o, DAVE_REFUSED));
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("\2\0", 2), DAVE_REFUSED));
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("", 0), DAVE_REFUSED));
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("\0\5x", 3), DAVE_REFUSED));
	CHECK_INT(mls_group_proposals(a.k->group), 0);
	part(&g, &a, &b);
}

/* What MLS allows to members, and DAVE does not. */
static void member_removes(struct mls_out *o, const struct room *by, uint32_t leaf,
			   struct mls_rng *rng)
{
	const struct mls_group *g = by->k->group;
	struct mls_out content = {0}, tbs = {0};
	uint8_t sig[MLS_SIG_MAX], tag[MLS_HASH] = {0};
	size_t n = 0;

	mls_content_write(&content, mls_group_id(g), mls_group_epoch(g), MLS_SENDER_MEMBER,
			  mls_group_leaf(g), MLS_CONTENT_PROPOSAL);
	mls_out_be(&content, MLS_PROPOSAL_REMOVE, 2);
	mls_out_be(&content, leaf, 4);
	(void)mls_content_tbs(&tbs, mls_out_view(&content), mls_group_context_bytes(g));
	(void)mls_sign(sig, &n, by->k->me.signature.priv, "FramedContentTBS", mls_out_view(&tbs),
		       rng);
	(void)mls_membership_tag(tag, mls_group_secrets(g)->membership, mls_out_view(&tbs),
				 mls_slice(sig, n), mls_slice(NULL, 0));
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
	mls_out_slice(o, mls_out_view(&content));
	mls_out_vec(o, mls_slice(sig, n));
	mls_out_vec(o, mls_slice(tag, sizeof tag));
	mls_out_free(&content);
	mls_out_free(&tbs);
}

TEST(dave_mls_state_refuses_a_proposal_of_a_member)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0}, sent = {0};
	struct slice commit, welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	CHECK(came_to(&a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	      came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	member_removes(&o, &a, 1, &g.rng);
	/* MLS has nothing against it. */
	CHECK_INT(mls_group_propose(a.k->group, mls_out_view(&o), NULL), 0);
	CHECK(proposed(&c, &o, DAVE_REFUSED));
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_tells_old_epochs_from_new_ones)
{
	static const uint8_t removal[] = {0, 3, 0, 0, 0, 1};
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0};

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	gateway_fixture_remove(&g, &o, 0, 1);
	CHECK(proposed(&a, &o, DAVE_IGNORED));
	/* We missed an epoch. */
	gateway_fixture_remove(&g, &o, 2, 1);
	CHECK(proposed(&a, &o, DAVE_INVALID));
	gateway_fixture_sign(&g, &o, &(struct gateway_fixture_framing){.epoch = 1, .channel = 1},
			     mls_slice(removal, sizeof removal));
	CHECK(proposed(&a, &o, DAVE_IGNORED));
	/* Who waits for a welcome is not concerned. */
	gateway_fixture_remove(&g, &o, 2, 1);
	CHECK(proposed(&c, &o, DAVE_IGNORED));
	gateway_fixture_add(&g, &o, 0, mls_out_view(&c.package));
	CHECK(proposed(&c, &o, DAVE_IGNORED));
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_does_not_commit_a_duplicate_user)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0};
	struct mls_commit twice = {0};
	struct mls_public m;
	struct rd r;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, BOB));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK_INT(mls_group_propose(b.k->group, m.raw, NULL), 0);
	CHECK(proposed(&a, &o, DAVE_DONE) && !out_of(&a).n);
	/* Who commits it all the same makes a roster that we refuse. */
	CHECK_INT(mls_group_commit(&twice, b.k->group, &g.rng), 0);
	CHECK(came_to(&a, DAVE_JOB_COMMIT, mls_out_view(&twice.message), DAVE_INVALID));
	CHECK(came_to(&c, DAVE_JOB_WELCOME, mls_out_view(&twice.welcome), DAVE_INVALID));
	mls_commit_free(&twice);
	/* With the old one removed it is a return. */
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(proposed(&a, &o, DAVE_DONE) && out_of(&a).n);
	go(&c);
	part(&g, &a, &b);
}

/* ---- op 29 and 30 ---- */

TEST(dave_mls_state_refuses_an_altered_commit)
{
	struct gateway_fixture g;
	struct room a, b;
	struct mls_out o = {0}, same = {0}, sent = {0};
	struct slice welcome, commit;

	CHECK(pair(&g, &a, &b));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_slice(&same, mls_out_view(&o));
	CHECK(proposed(&b, &o, DAVE_DONE) && proposed(&a, &same, DAVE_DONE));
	mls_out_slice(&sent, out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	for (size_t i = 0; i < commit.n; i += 61) {
		sent.p[i] ^= 1;
		CHECK(run(&b, DAVE_JOB_COMMIT, commit));
		CHECK(b.last->verdict == DAVE_INVALID || b.last->verdict == DAVE_IGNORED);
		CHECK(b.last->in_group && !b.last->epoch);
		sent.p[i] ^= 1;
	}
	CHECK(came_to(&b, DAVE_JOB_COMMIT, mls_slice(commit.p, commit.n - 1), DAVE_INVALID));
	CHECK(came_to(&b, DAVE_JOB_COMMIT, mls_slice(NULL, 0), DAVE_INVALID));
	CHECK(came_to(&b, DAVE_JOB_COMMIT, commit, DAVE_IGNORED)); /* it removes us */
	mls_out_free(&sent);
	part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_commit_of_unknown_proposals)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out o = {0}, sent = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, out_of(&a));
	CHECK(came_to(&b, DAVE_JOB_COMMIT,
		      gateway_fixture_split_op28(mls_out_view(&sent), &welcome), DAVE_INVALID));
	CHECK_INT(b.last->err, ENOENT);
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}

/* A welcome for c, from the pair. */
static bool welcomed(struct gateway_fixture *g, struct room *a, struct room *c,
		     struct mls_out *sent, struct slice *welcome)
{
	struct mls_out o = {0};

	gateway_fixture_add(g, &o, 1, mls_out_view(&c->package));
	if (!proposed(a, &o, DAVE_DONE))
		return false;
	mls_out_slice(sent, out_of(a));
	return gateway_fixture_split_op28(mls_out_view(sent), welcome).n > 0;
}

/* ---- commits that MLS allows, and DAVE does not ---- */

/* What a makes of b's commit. The proposal of b's list, if any, is known to both. */
static bool forged(struct gateway_fixture *g, struct room *a, const struct room *b,
		   const struct commit_forgery *f, enum dave_verdict verdict)
{
	struct mls_out o = {0};
	bool fine = commit_forge(&o, b->k->group, f, &g->rng) == 0 &&
		    came_to(a, DAVE_JOB_COMMIT, mls_out_view(&o), verdict);
	/* MLS has nothing against it. */
	if (fine && verdict == DAVE_INVALID) {
		struct mls_group *next = NULL;
		bool removed;

		fine = mls_group_process(&next, a->k->group, mls_out_view(&o), &removed) == 0;
		mls_group_free(next);
	}
	mls_out_free(&o);
	return fine;
}

/* A third member whose removal is proposed to the first two, so that a commit needs a path. */
static bool removal_proposed(struct gateway_fixture *g, struct room *a, struct room *b,
			     struct room *c)
{
	struct mls_out o = {0}, same = {0}, sent = {0};
	struct slice commit, welcome;
	bool fine;

	if (!pair(g, a, b) || !arrive(c, g, CEE))
		return false;
	gateway_fixture_add(g, &o, 1, mls_out_view(&c->package));
	mls_out_slice(&same, mls_out_view(&o));
	fine = proposed(a, &o, DAVE_DONE);
	mls_out_slice(&sent, out_of(a));
	fine = proposed(b, &same, DAVE_DONE) && fine;
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	fine = fine && came_to(a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	       came_to(b, DAVE_JOB_COMMIT, commit, DAVE_DONE);
	mls_out_free(&sent);
	gateway_fixture_remove(g, &o, 2, 2);
	mls_out_slice(&same, mls_out_view(&o));
	fine = fine && proposed(a, &o, DAVE_DONE);
	return proposed(b, &same, DAVE_DONE) && fine;
}

TEST(dave_mls_state_refuses_proposals_by_value)
{
	struct gateway_fixture g;
	struct room a, b, c, d;
	struct mls_out value = {0};

	CHECK(removal_proposed(&g, &a, &b, &c) && arrive(&d, &g, DAN));
	/* An Add of somebody whom the gateway announced, but did not propose. */
	mls_out_be(&value, 1, 1);
	mls_out_be(&value, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&value, mls_out_view(&d.package));
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){.list = mls_out_view(&value)},
		     DAVE_INVALID));
	CHECK_INT(a.last->err, ENOTSUP);
	/* A Remove of the third member. */
	mls_out_free(&value);
	mls_out_slice(&value, mls_slice("\1\0\3\0\0\0\2", 7));
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){.list = mls_out_view(&value)},
		     DAVE_INVALID));
	CHECK(a.last->in_group && !a.last->epoch);
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){0}, DAVE_DONE) && a.last->epoch->n == 2);
	mls_out_free(&value);
	go(&c);
	go(&d);
	part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_committer_that_changes_who_it_is)
{
	static const uint8_t dan[8] = {[7] = DAN};
	struct gateway_fixture g;
	struct room a, b, c;
	struct p256_pair fresh;

	CHECK(removal_proposed(&g, &a, &b, &c));
	CHECK_INT(p256_generate(&fresh, &g.rng), 0);
	/* In somebody else's name, who is not in the group. */
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){.identity = mls_slice(dan, sizeof dan)},
		     DAVE_INVALID));
	/* With another key, which would change the code that members compare. */
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){.signer = &fresh}, DAVE_INVALID));
	CHECK(a.last->in_group && !a.last->epoch);
	CHECK(forged(&g, &a, &b, &(struct commit_forgery){0}, DAVE_DONE));
	CHECK(a.last->epoch->n == 2 && a.last->epoch->member[1].user == BOB);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_accepts_a_welcome_for_the_previous_key_package)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out sent = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	CHECK(welcomed(&g, &a, &c, &sent, &welcome));
	CHECK(reset(&c, DAVE_JOB_REKEY));
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE) && c.last->epoch->n == 3);
	/* Once more: it is in the group already. */
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_IGNORED) && c.last->in_group);
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_welcome_from_before_a_reset)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out sent = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	CHECK(welcomed(&g, &a, &c, &sent, &welcome));
	CHECK(reset(&c, DAVE_JOB_RESET));
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_rejoins_by_a_new_welcome)
{
	struct gateway_fixture g;
	struct room a, b;
	struct mls_out o = {0}, sent = {0};
	struct slice welcome, commit;

	CHECK(pair(&g, &a, &b) && reset(&b, DAVE_JOB_REKEY));
	CHECK(!b.last->in_group);
	gateway_fixture_remove(&g, &o, 1, 1);
	gateway_fixture_add(&g, &o, 1, mls_out_view(&b.package));
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	CHECK(came_to(&b, DAVE_JOB_WELCOME, welcome, DAVE_DONE) &&
	      came_to(&a, DAVE_JOB_COMMIT, commit, DAVE_DONE));
	CHECK(agree(&a, &b) && b.last->epoch->serial == 2 && b.last->epoch->n == 2);
	mls_out_free(&sent);
	part(&g, &a, &b);
}

TEST(dave_mls_state_accepts_unannounced_users_in_a_welcome)
{
	struct gateway_fixture g;
	struct room a, b, c;
	struct mls_out sent = {0};
	struct slice welcome;

	CHECK(pair(&g, &a, &b) && arrive(&c, &g, CEE));
	CHECK(welcomed(&g, &a, &c, &sent, &welcome));
	c.n_told = 0;
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE) && c.last->epoch->n == 3);
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_welcome_to_another_group)
{
	struct gateway_fixture g, other;
	struct room a, b, c, d;
	struct mls_out sent = {0};
	struct slice welcome;

	gateway_fixture_init(&other);
	gateway_fixture_new_key(&other);
	CHECK(pair(&g, &a, &b) && arrive(&c, &other, CEE));
	CHECK(welcomed(&g, &a, &c, &sent, &welcome));
	/* Another external sender than op 25 told. */
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_INVALID) && !c.last->in_group);
	CHECK(came_to(&c, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package), DAVE_DONE));
	/* Another channel. */
	c.k->channel++;
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	c.k->channel--;
	CHECK(came_to(&c, DAVE_JOB_WELCOME, mls_slice(welcome.p, welcome.n - 1), DAVE_INVALID));
	/* None for us; no external sender at all. */
	CHECK(arrive(&d, &g, DAN) && came_to(&d, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	free(d.k->sender.p);
	d.k->sender = (struct dave_bytes){0};
	CHECK(came_to(&d, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	CHECK(came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	mls_out_free(&sent);
	gateway_fixture_free(&other);
	go(&c);
	go(&d);
	part(&g, &a, &b);
}

/* ---- op 25 ---- */

TEST(dave_mls_state_has_a_local_group_in_either_order)
{
	struct gateway_fixture g;
	struct room a = {.told = everybody, .n_told = 4};

	gateway_fixture_init(&g);
	CHECK_INT(dave_mls_state_alloc(&a.k, ANN), 0);
	CHECK(reset(&a, DAVE_JOB_RESET) && !dave_mls_state_group(a.k));
	CHECK(came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package), DAVE_DONE));
	CHECK(dave_mls_state_group(a.k) && mls_group_epoch(dave_mls_state_group(a.k)) == 0 &&
	      !a.last->in_group);
	/* It outlives resets, and a version 0 in between. */
	CHECK(reset(&a, DAVE_JOB_RESET) && dave_mls_state_group(a.k));
	CHECK(came_to(&a, DAVE_JOB_DROP, mls_slice(NULL, 0), DAVE_DONE) &&
	      !dave_mls_state_group(a.k));
	CHECK(reset(&a, DAVE_JOB_RESET) && dave_mls_state_group(a.k));
	CHECK(came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_slice("\1x\0\1\0", 5), DAVE_INVALID));
	CHECK(came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_slice(NULL, 0), DAVE_INVALID));
	CHECK(dave_mls_state_group(a.k));
	go(&a);
	gateway_fixture_free(&g);
}

TEST(dave_mls_state_drops_a_group_when_the_external_sender_changed)
{
	struct gateway_fixture g;
	struct room a, b;
	struct mls_out o = {0};

	CHECK(pair(&g, &a, &b));
	gateway_fixture_new_key(&g);
	CHECK(came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package), DAVE_DONE) &&
	      a.last->in_group);
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(proposed(&a, &o, DAVE_INVALID));
	/* Who was not told of it can only wait. */
	gateway_fixture_remove(&g, &o, 1, 0);
	CHECK(proposed(&b, &o, DAVE_REFUSED));
	CHECK(reset(&a, DAVE_JOB_REKEY) && reset(&b, DAVE_JOB_REKEY));
	gateway_fixture_add(&g, &o, 0, mls_out_view(&b.package));
	CHECK(proposed(&a, &o, DAVE_DONE) && out_of(&a).n);
	part(&g, &a, &b);
}

/* ---- codes ---- */

TEST(dave_mls_state_codes_are_equal_on_both_sides)
{
	struct gateway_fixture g;
	struct room a, b;
	struct dave_job *j[2] = {0};

	CHECK(pair(&g, &a, &b));
	for (unsigned i = 0; i < 2; i++) {
		const struct dave_epoch *e = a.last->epoch;
		const struct dave_member *theirs = &e->member[i], *mine = &e->member[1 - i];

		CHECK_INT(dave_job_alloc(&j[i], DAVE_JOB_CODE), 0);
		j[i]->user = theirs->user;
		j[i]->self = mine->user;
		j[i]->theirs.p = malloc(theirs->signature_key.n);
		j[i]->mine.p = malloc(mine->signature_key.n);
		j[i]->theirs.n = theirs->signature_key.n;
		j[i]->mine.n = mine->signature_key.n;
		memcpy(j[i]->theirs.p, theirs->signature_key.p, j[i]->theirs.n);
		memcpy(j[i]->mine.p, mine->signature_key.p, j[i]->mine.n);
		dave_job_run(j[i]);
		CHECK_INT(j[i]->verdict, DAVE_DONE);
		CHECK_INT(strlen(j[i]->code), 45);
	}
	CHECK_STR(j[0]->code, j[1]->code);
	dave_job_free(j[0]);
	dave_job_free(j[1]);
	part(&g, &a, &b);
}

/* ---- allocation ---- */

/* Until it goes well: one failure is injected, so the second try must. */
static bool tried(struct room *r, enum dave_job_type type, struct slice in)
{
	return came_to(r, type, in, DAVE_DONE) ||
	       (test_oom_hit() && came_to(r, type, in, DAVE_DONE));
}

static bool tried_reset(struct room *r)
{
	return reset(r, DAVE_JOB_RESET) || (test_oom_hit() && reset(r, DAVE_JOB_RESET));
}

/* Whatever fails, the mls_state is as it was: the same job goes well when there is memory again. */
TEST_OOM(dave_mls_state_survives_a_lack_of_memory)
{
	struct gateway_fixture g;
	struct room a = {.told = everybody, .n_told = 4}, b = {.told = everybody, .n_told = 4};
	struct mls_out o = {0}, in = {0}, sent = {0};
	struct slice commit = {0}, welcome = {0};
	const char *wrong = NULL;

	gateway_fixture_init(&g);
	if (g.package.err || dave_mls_state_alloc(&a.k, ANN) || dave_mls_state_alloc(&b.k, BOB))
		goto out;
	if (!tried(&a, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package)) || !tried_reset(&a))
		wrong = "the first";
	if (!wrong &&
	    (!tried(&b, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package)) || !tried_reset(&b)))
		wrong = "the second";
	if (a.package.err || b.package.err || wrong)
		goto out;
	gateway_fixture_add(&g, &o, 0, mls_out_view(&b.package));
	mls_out_be(&in, 0, 1);
	mls_out_vec(&in, mls_out_view(&o));
	if (o.err || in.err)
		goto out;
	if (!tried(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in)) || !out_of(&a).n) {
		wrong = "proposals";
		goto out;
	}
	mls_out_slice(&sent, out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	if (!commit.n)
		goto out;
	if (!tried(&a, DAVE_JOB_COMMIT, commit))
		wrong = "commit";
	else if (!tried(&b, DAVE_JOB_WELCOME, welcome))
		wrong = "welcome";
	else if (!agree(&a, &b))
		wrong = "the epoch";
out:
	if (wrong)
		test_fail(__FILE__, __LINE__, "%s did not recover", wrong);
	mls_out_free(&o);
	mls_out_free(&in);
	mls_out_free(&sent);
	part(&g, &a, &b);
}

/* A welcome for a hundred people takes tens of milliseconds: no message of two bytes has it made
 * again. */
TEST(dave_mls_state_makes_a_commit_once)
{
	static const uint8_t revokes_nothing[] = {1, 0};
	struct mls_out o = {0}, sent = {0};
	struct room a, b, c;
	struct gateway_fixture g;

	CHECK(pair(&g, &a, &b));
	CHECK(arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, out_of(&a));
	CHECK(came_to(&a, DAVE_JOB_PROPOSALS, mls_slice(revokes_nothing, 2), DAVE_DONE));
	CHECK(mls_equal(out_of(&a), mls_out_view(&sent)));
	/* Another proposal, another commit. */
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(proposed(&a, &o, DAVE_DONE));
	CHECK(out_of(&a).n && !mls_equal(out_of(&a), mls_out_view(&sent)));
	mls_out_free(&sent);
	go(&c);
	part(&g, &a, &b);
}
