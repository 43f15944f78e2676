/* Epochs: commits and welcomes that a member takes, and those it refuses. */
#include "tests/unit/mediad/dave/mls_member.h"

/* ---- epochs ---- */

TEST(dave_mls_state_two_members_agree)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	uint8_t base[DAVE_SECRET];
	static const uint8_t bob_little[8] = {BOB};

	CHECK(mls_member_pair(&g, &a, &b));
	CHECK(mls_member_agree(&a, &b));
	CHECK(a.last->in_group && b.last->in_group && a.last->epoch->number == 1 &&
	      a.last->epoch->n == 2);
	CHECK(a.last->epoch->serial == 1 && b.last->epoch->serial == 1);
	CHECK(a.last->epoch->member[0].user == ANN && a.last->epoch->member[1].user == BOB);
	CHECK_INT(mls_group_export(a.k->group, base, sizeof base, "Discord Secure Frames v0",
				   mls_slice(bob_little, 8)),
		  0);
	CHECK_MEM(a.last->epoch->member[1].base, DAVE_SECRET, base, sizeof base);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_keeps_every_own_commit)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0}, first = {0}, second = {0};
	struct slice welcome;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&first, mls_member_out_of(&a));
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&second, mls_member_out_of(&a));
	CHECK(a.k->n_own_commits == 2 && first.n != second.n);
	CHECK(mls_member_came_to(&a, DAVE_JOB_COMMIT,
				 gateway_fixture_split_op28(mls_out_view(&first), &welcome),
				 DAVE_DONE));
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	CHECK(mls_member_agree(&a, &c) && a.last->epoch->n == 3 && a.last->epoch->serial == 2);
	/* The other one came too late. */
	CHECK(mls_member_came_to(&a, DAVE_JOB_COMMIT,
				 gateway_fixture_split_op28(mls_out_view(&second), &welcome),
				 DAVE_IGNORED));
	mls_out_free(&first);
	mls_out_free(&second);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_sends_nothing_when_all_is_revoked)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0}, in = {0}, refs = {0};
	uint8_t ref[MLS_HASH];
	struct mls_public m;
	struct rd r;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK_INT(mls_proposal_ref(ref, &m), 0);
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE) && mls_member_out_of(&a).n);
	mls_out_vec(&refs, mls_slice(ref, sizeof ref));
	mls_out_be(&in, 1, 1);
	mls_out_vec(&in, mls_out_view(&refs));
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in), DAVE_DONE) &&
	      !mls_member_out_of(&a).n);
	/* A reference that nobody knows changes nothing. */
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in), DAVE_DONE) &&
	      !mls_member_out_of(&a).n);
	mls_out_free(&in);
	mls_out_free(&refs);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_does_not_commit_its_own_removal)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	struct mls_out o = {0}, again = {0}, sent = {0};
	struct slice welcome;

	CHECK(mls_member_pair(&g, &a, &b));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_slice(&again, mls_out_view(&o));
	CHECK(mls_member_proposed(&b, &o, DAVE_DONE) && !mls_member_out_of(&b).n);
	CHECK(mls_member_proposed(&a, &again, DAVE_DONE) && mls_member_out_of(&a).n);
	mls_out_slice(&sent, mls_member_out_of(&a));
	CHECK(mls_member_came_to(&b, DAVE_JOB_COMMIT,
				 gateway_fixture_split_op28(mls_out_view(&sent), &welcome),
				 DAVE_IGNORED));
	CHECK(!b.last->in_group && !dave_mls_state_group(b.k));
	/* What is said in that group is nothing to us now. */
	gateway_fixture_remove(&g, &o, 2, 0);
	CHECK(mls_member_proposed(&b, &o, DAVE_IGNORED));
	mls_out_free(&sent);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_tells_old_epochs_from_new_ones)
{
	static const uint8_t removal[] = {0, 3, 0, 0, 0, 1};
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0};

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_remove(&g, &o, 0, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_IGNORED));
	/* We missed an epoch. */
	gateway_fixture_remove(&g, &o, 2, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_INVALID));
	gateway_fixture_sign(&g, &o, &(struct gateway_fixture_framing){.epoch = 1, .channel = 1},
			     mls_slice(removal, sizeof removal));
	CHECK(mls_member_proposed(&a, &o, DAVE_IGNORED));
	/* Who waits for a welcome is not concerned. */
	gateway_fixture_remove(&g, &o, 2, 1);
	CHECK(mls_member_proposed(&c, &o, DAVE_IGNORED));
	gateway_fixture_add(&g, &o, 0, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&c, &o, DAVE_IGNORED));
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_does_not_commit_a_duplicate_user)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0};
	struct mls_commit twice = {0};
	struct mls_public m;
	struct rd r;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, BOB));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK_INT(mls_group_propose(b.k->group, m.raw, NULL), 0);
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE) && !mls_member_out_of(&a).n);
	/* Who commits it all the same makes a roster that we refuse. */
	CHECK_INT(mls_group_commit(&twice, b.k->group, &g.rng), 0);
	CHECK(mls_member_came_to(&a, DAVE_JOB_COMMIT, mls_out_view(&twice.message), DAVE_INVALID));
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, mls_out_view(&twice.welcome), DAVE_INVALID));
	mls_commit_free(&twice);
	/* With the old one removed it is a return. */
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE) && mls_member_out_of(&a).n);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

/* ---- op 29 and 30 ---- */

TEST(dave_mls_state_refuses_an_altered_commit)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	struct mls_out o = {0}, same = {0}, sent = {0};
	struct slice welcome, commit;

	CHECK(mls_member_pair(&g, &a, &b));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_slice(&same, mls_out_view(&o));
	CHECK(mls_member_proposed(&b, &o, DAVE_DONE) && mls_member_proposed(&a, &same, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	for (size_t i = 0; i < commit.n; i += 61) {
		sent.p[i] ^= 1;
		CHECK(mls_member_run(&b, DAVE_JOB_COMMIT, commit));
		CHECK(b.last->verdict == DAVE_INVALID || b.last->verdict == DAVE_IGNORED);
		CHECK(b.last->in_group && !b.last->epoch);
		sent.p[i] ^= 1;
	}
	CHECK(mls_member_came_to(&b, DAVE_JOB_COMMIT, mls_slice(commit.p, commit.n - 1),
				 DAVE_INVALID));
	CHECK(mls_member_came_to(&b, DAVE_JOB_COMMIT, mls_slice(NULL, 0), DAVE_INVALID));
	CHECK(mls_member_came_to(&b, DAVE_JOB_COMMIT, commit, DAVE_IGNORED)); /* it removes us */
	mls_out_free(&sent);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_commit_of_unknown_proposals)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0}, sent = {0};
	struct slice welcome;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&a));
	CHECK(mls_member_came_to(&b, DAVE_JOB_COMMIT,
				 gateway_fixture_split_op28(mls_out_view(&sent), &welcome),
				 DAVE_INVALID));
	CHECK_INT(b.last->err, ENOENT);
	mls_out_free(&sent);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

/* A welcome for c, from the pair. */
static bool welcomed(struct gateway_fixture *g, struct mls_member *a, struct mls_member *c,
		     struct mls_out *sent, struct slice *welcome)
{
	struct mls_out o = {0};

	gateway_fixture_add(g, &o, 1, mls_out_view(&c->package));
	if (!mls_member_proposed(a, &o, DAVE_DONE))
		return false;
	mls_out_slice(sent, mls_member_out_of(a));
	return gateway_fixture_split_op28(mls_out_view(sent), welcome).n > 0;
}

/* A pair, and a third member whose welcome it has not received yet. */
struct welcome_scene {
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out sent;
	struct slice welcome; /* within sent */
};

static bool begin_welcome(struct welcome_scene *w)
{
	w->sent = (struct mls_out){0};
	return mls_member_pair(&w->g, &w->a, &w->b) && mls_member_arrive(&w->c, &w->g, CEE) &&
	       welcomed(&w->g, &w->a, &w->c, &w->sent, &w->welcome);
}

static void end_welcome(struct welcome_scene *w)
{
	mls_out_free(&w->sent);
	mls_member_go(&w->c);
	mls_member_part(&w->g, &w->a, &w->b);
}

/* ---- commits that MLS allows, and DAVE does not ---- */

/* What a makes of b's commit. The proposal of b's list, if any, is known to both. */
static bool forged(struct gateway_fixture *g, struct mls_member *a, const struct mls_member *b,
		   const struct commit_forgery *f, enum dave_verdict verdict)
{
	struct mls_out o = {0};
	bool fine = commit_forge(&o, b->k->group, f, &g->rng) == 0 &&
		    mls_member_came_to(a, DAVE_JOB_COMMIT, mls_out_view(&o), verdict);
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
static bool removal_proposed(struct gateway_fixture *g, struct mls_member *a, struct mls_member *b,
			     struct mls_member *c)
{
	struct mls_out o = {0}, same = {0}, sent = {0};
	struct slice commit, welcome;
	bool fine;

	if (!mls_member_pair(g, a, b) || !mls_member_arrive(c, g, CEE))
		return false;
	gateway_fixture_add(g, &o, 1, mls_out_view(&c->package));
	mls_out_slice(&same, mls_out_view(&o));
	fine = mls_member_proposed(a, &o, DAVE_DONE);
	mls_out_slice(&sent, mls_member_out_of(a));
	fine = mls_member_proposed(b, &same, DAVE_DONE) && fine;
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	fine = fine && mls_member_came_to(a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	       mls_member_came_to(b, DAVE_JOB_COMMIT, commit, DAVE_DONE);
	mls_out_free(&sent);
	gateway_fixture_remove(g, &o, 2, 2);
	mls_out_slice(&same, mls_out_view(&o));
	fine = fine && mls_member_proposed(a, &o, DAVE_DONE);
	return mls_member_proposed(b, &same, DAVE_DONE) && fine;
}

TEST(dave_mls_state_refuses_proposals_by_value)
{
	struct gateway_fixture g;
	struct mls_member a, b, c, d;
	struct mls_out value = {0};

	CHECK(removal_proposed(&g, &a, &b, &c) && mls_member_arrive(&d, &g, DAN));
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
	mls_member_go(&c);
	mls_member_go(&d);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_refuses_a_committer_that_changes_who_it_is)
{
	static const uint8_t dan[8] = {[7] = DAN};
	struct gateway_fixture g;
	struct mls_member a, b, c;
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
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_accepts_a_welcome_for_the_previous_key_package)
{
	struct welcome_scene w;

	CHECK(begin_welcome(&w));
	CHECK(mls_member_reset(&w.c, DAVE_JOB_REKEY));
	CHECK(mls_member_came_to(&w.c, DAVE_JOB_WELCOME, w.welcome, DAVE_DONE) &&
	      w.c.last->epoch->n == 3);
	/* Once more: it is in the group already. */
	CHECK(mls_member_came_to(&w.c, DAVE_JOB_WELCOME, w.welcome, DAVE_IGNORED) &&
	      w.c.last->in_group);
	end_welcome(&w);
}

TEST(dave_mls_state_refuses_a_welcome_from_before_a_reset)
{
	struct welcome_scene w;

	CHECK(begin_welcome(&w));
	CHECK(mls_member_reset(&w.c, DAVE_JOB_RESET));
	CHECK(mls_member_came_to(&w.c, DAVE_JOB_WELCOME, w.welcome, DAVE_INVALID));
	end_welcome(&w);
}

TEST(dave_mls_state_rejoins_by_a_new_welcome)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	struct mls_out o = {0}, sent = {0};
	struct slice welcome, commit;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_reset(&b, DAVE_JOB_REKEY));
	CHECK(!b.last->in_group);
	gateway_fixture_remove(&g, &o, 1, 1);
	gateway_fixture_add(&g, &o, 1, mls_out_view(&b.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	CHECK(mls_member_came_to(&b, DAVE_JOB_WELCOME, welcome, DAVE_DONE) &&
	      mls_member_came_to(&a, DAVE_JOB_COMMIT, commit, DAVE_DONE));
	CHECK(mls_member_agree(&a, &b) && b.last->epoch->serial == 2 && b.last->epoch->n == 2);
	mls_out_free(&sent);
	mls_member_part(&g, &a, &b);
}

TEST(dave_mls_state_accepts_unannounced_users_in_a_welcome)
{
	struct welcome_scene w;

	CHECK(begin_welcome(&w));
	w.c.n_told = 0;
	CHECK(mls_member_came_to(&w.c, DAVE_JOB_WELCOME, w.welcome, DAVE_DONE) &&
	      w.c.last->epoch->n == 3);
	end_welcome(&w);
}

TEST(dave_mls_state_refuses_a_welcome_to_another_group)
{
	struct gateway_fixture g, other;
	struct mls_member a, b, c, d;
	struct mls_out sent = {0};
	struct slice welcome;

	gateway_fixture_init(&other);
	gateway_fixture_new_key(&other);
	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &other, CEE));
	CHECK(welcomed(&g, &a, &c, &sent, &welcome));
	/* Another external sender than op 25 told. */
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_INVALID) && !c.last->in_group);
	CHECK(mls_member_came_to(&c, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package),
				 DAVE_DONE));
	/* Another channel. */
	c.k->channel++;
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	c.k->channel--;
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, mls_slice(welcome.p, welcome.n - 1),
				 DAVE_INVALID));
	/* None for us; no external sender at all. */
	CHECK(mls_member_arrive(&d, &g, DAN) &&
	      mls_member_came_to(&d, DAVE_JOB_WELCOME, welcome, DAVE_INVALID));
	free(d.k->sender.p);
	d.k->sender = (struct dave_bytes){0};
	CHECK(mls_member_came_to(&d, DAVE_JOB_WELCOME, welcome, DAVE_NO_SENDER));
	CHECK(mls_member_came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	mls_out_free(&sent);
	gateway_fixture_free(&other);
	mls_member_go(&c);
	mls_member_go(&d);
	mls_member_part(&g, &a, &b);
}

/* A welcome for a hundred people takes tens of milliseconds: no message of two bytes has it made
 * again. */
TEST(dave_mls_state_makes_a_commit_once)
{
	static const uint8_t revokes_nothing[] = {1, 0};
	struct mls_out o = {0}, sent = {0};
	struct mls_member a, b, c;
	struct gateway_fixture g;

	CHECK(mls_member_pair(&g, &a, &b));
	CHECK(mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&a));
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_slice(revokes_nothing, 2), DAVE_DONE));
	CHECK(mls_equal(mls_member_out_of(&a), mls_out_view(&sent)));
	/* Another proposal, another commit. */
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	CHECK(mls_member_out_of(&a).n && !mls_equal(mls_member_out_of(&a), mls_out_view(&sent)));
	mls_out_free(&sent);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}
