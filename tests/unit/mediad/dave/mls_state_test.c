/* Keyrooms with a voice gateway that signs what it likes. */
#include "tests/unit/mediad/dave/mls_member.h"

/* ---- key packages ---- */

TEST(dave_mls_state_key_package_is_valid_for_the_gateway)
{
	static const uint8_t head[] = {0, 1, 0, 2, 0x40, 0x41, 4};
	static const uint8_t credential[] = {0, 1, 8, 0, 0, 0, 0, 0, 0, 0, ANN, 2,
					     0, 1, 2, 0, 2, 0, 0, 2, 0, 1, 1};
	struct gateway_fixture g;
	struct mls_member a;
	struct slice p;

	gateway_fixture_init(&g);
	CHECK(mls_member_arrive(&a, &g, ANN));
	p = mls_out_view(&a.package);
	CHECK_MEM(p.p, sizeof head, head, sizeof head);
	CHECK_MEM(p.p + 4 + 3 * 67, sizeof credential, credential, sizeof credential);
	CHECK(p.n > 380 && p.n < 396);
	mls_member_go(&a);
	gateway_fixture_free(&g);
}

TEST(dave_mls_state_reset_makes_new_keys)
{
	struct gateway_fixture g;
	struct mls_member a;
	uint8_t init[67], leaf[134];

	gateway_fixture_init(&g);
	CHECK(mls_member_arrive(&a, &g, ANN));
	memcpy(init, a.package.p + 4, sizeof init);
	memcpy(leaf, a.package.p + 71, sizeof leaf);
	CHECK(mls_member_reset(&a, DAVE_JOB_REKEY));
	CHECK(memcmp(a.package.p + 4, init, sizeof init) != 0);
	CHECK(memcmp(a.package.p + 71, leaf, sizeof leaf) == 0);
	memcpy(init, a.package.p + 4, sizeof init);
	CHECK(mls_member_reset(&a, DAVE_JOB_RESET));
	CHECK(memcmp(a.package.p + 4, init, sizeof init) != 0);
	CHECK(memcmp(a.package.p + 71, leaf, 67) != 0);
	CHECK(memcmp(a.package.p + 138, leaf + 67, 67) != 0);
	mls_member_go(&a);
	gateway_fixture_free(&g);
}

/* ---- credentials ---- */

/* Another length would let two credentials name the same user. */
TEST(dave_mls_state_takes_users_of_eight_bytes_only)
{
	static const uint8_t name[] = {0, 0, 0, 0, 0, 0, 0, ANN, ANN};

	for (size_t n = 0; n <= sizeof name; n++) {
		struct mls_leaf l = {.credential_type = MLS_CREDENTIAL_BASIC,
				     .identity = mls_slice(name, n)};
		uint64_t user = 0;

		CHECK(dave_leaf_user(&l, &user) == (n == 8));
		CHECK_INT(user, n == 8 ? ANN : 0);
	}
}

/* ---- op 27 ---- */

TEST(dave_mls_state_refuses_an_unannounced_user)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0}, both = {0};

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	a.n_told = 2;
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_REFUSED) && !mls_member_out_of(&a).n);
	/* The first bad one refuses them all. */
	gateway_fixture_remove(&g, &both, 1, 1);
	gateway_fixture_add(&g, &both, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &both, DAVE_REFUSED) && !mls_member_out_of(&a).n);
	CHECK_INT(mls_group_proposals(a.k->group), 0);
	a.n_told = 4;
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE) && mls_member_out_of(&a).n);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
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
	struct mls_member a, b;
	struct mls_out o = {0};

	CHECK(mls_member_pair(&g, &a, &b));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		gateway_fixture_sign(&g, &o, &bad[i].how, bad[i].body);
		if (!mls_member_proposed(&a, &o, DAVE_REFUSED) || mls_member_out_of(&a).n)
			test_fail(__FILE__, __LINE__, "proposal %zu was not refused", i);
	}
	gateway_fixture_remove(&g, &o, 1, 1);
	o.p[o.n - 3] ^= 1;
	CHECK(mls_member_proposed(&a, &o, DAVE_REFUSED));
	gateway_fixture_remove(&g, &o, 1, 1);
	mls_out_be(&o, 0, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_REFUSED));
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("\2\0", 2), DAVE_REFUSED));
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("", 0), DAVE_REFUSED));
	CHECK(mls_member_came_to(&a, DAVE_JOB_PROPOSALS, mls_slice("\0\5x", 3), DAVE_REFUSED));
	CHECK_INT(mls_group_proposals(a.k->group), 0);
	mls_member_part(&g, &a, &b);
}

/* What MLS allows to members, and DAVE does not. */
static void member_removes(struct mls_out *o, const struct mls_member *by, uint32_t leaf,
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
	struct mls_member a, b, c;
	struct mls_out o = {0}, sent = {0};
	struct slice commit, welcome;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 1, mls_out_view(&c.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	CHECK(mls_member_came_to(&a, DAVE_JOB_COMMIT, commit, DAVE_DONE) &&
	      mls_member_came_to(&c, DAVE_JOB_WELCOME, welcome, DAVE_DONE));
	member_removes(&o, &a, 1, &g.rng);
	/* MLS has nothing against it. */
	CHECK_INT(mls_group_propose(a.k->group, mls_out_view(&o), NULL), 0);
	CHECK(mls_member_proposed(&c, &o, DAVE_REFUSED));
	mls_out_free(&sent);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

/* ---- op 30 ---- */

/* Its own commit made Ann a member; Cee, who has Ann's package and the gateway's help, adds her to
 * another group. */
TEST(dave_mls_state_takes_no_welcome_once_it_is_a_member)
{
	struct gateway_fixture g;
	struct mls_member a, b, c;
	struct mls_out o = {0}, sent = {0};
	struct slice welcome;

	CHECK(mls_member_pair(&g, &a, &b) && mls_member_arrive(&c, &g, CEE));
	gateway_fixture_add(&g, &o, 0, mls_out_view(&a.package));
	CHECK(mls_member_proposed(&c, &o, DAVE_DONE));
	mls_out_slice(&sent, mls_member_out_of(&c));
	(void)gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	CHECK(welcome.n && mls_member_came_to(&a, DAVE_JOB_WELCOME, welcome, DAVE_IGNORED));
	CHECK_INT(mls_group_epoch(dave_mls_state_group(a.k)), 1);
	CHECK(memcmp(mls_group_secrets(a.k->group)->membership,
		     mls_group_secrets(b.k->group)->membership, MLS_HASH) == 0);
	mls_out_free(&sent);
	mls_member_go(&c);
	mls_member_part(&g, &a, &b);
}

/* ---- op 25 ---- */

TEST(dave_mls_state_has_a_local_group_in_either_order)
{
	struct gateway_fixture g;
	struct mls_member a = {.told = everybody, .n_told = 4};

	gateway_fixture_init(&g);
	CHECK_INT(dave_mls_state_alloc(&a.k, ANN), 0);
	CHECK(mls_member_reset(&a, DAVE_JOB_RESET) && !dave_mls_state_group(a.k));
	CHECK(mls_member_came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package),
				 DAVE_DONE));
	CHECK(dave_mls_state_group(a.k) && mls_group_epoch(dave_mls_state_group(a.k)) == 0 &&
	      !a.last->in_group);
	/* It outlives resets, and a version 0 in between. */
	CHECK(mls_member_reset(&a, DAVE_JOB_RESET) && dave_mls_state_group(a.k));
	CHECK(mls_member_came_to(&a, DAVE_JOB_DROP, mls_slice(NULL, 0), DAVE_DONE) &&
	      !dave_mls_state_group(a.k));
	CHECK(mls_member_reset(&a, DAVE_JOB_RESET) && dave_mls_state_group(a.k));
	CHECK(mls_member_came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_slice("\1x\0\1\0", 5),
				 DAVE_INVALID));
	CHECK(mls_member_came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_slice(NULL, 0), DAVE_INVALID));
	CHECK(dave_mls_state_group(a.k));
	mls_member_go(&a);
	gateway_fixture_free(&g);
}

TEST(dave_mls_state_drops_a_group_when_the_external_sender_changed)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	struct mls_out o = {0};

	CHECK(mls_member_pair(&g, &a, &b));
	gateway_fixture_new_key(&g);
	CHECK(mls_member_came_to(&a, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g.package),
				 DAVE_DONE) &&
	      a.last->in_group);
	gateway_fixture_remove(&g, &o, 1, 1);
	CHECK(mls_member_proposed(&a, &o, DAVE_INVALID));
	/* Who was not told of it can only wait. */
	gateway_fixture_remove(&g, &o, 1, 0);
	CHECK(mls_member_proposed(&b, &o, DAVE_REFUSED));
	CHECK(mls_member_reset(&a, DAVE_JOB_REKEY) && mls_member_reset(&b, DAVE_JOB_REKEY));
	gateway_fixture_add(&g, &o, 0, mls_out_view(&b.package));
	CHECK(mls_member_proposed(&a, &o, DAVE_DONE) && mls_member_out_of(&a).n);
	mls_member_part(&g, &a, &b);
}

/* ---- codes ---- */

TEST(dave_mls_state_codes_are_equal_on_both_sides)
{
	struct gateway_fixture g;
	struct mls_member a, b;
	struct dave_job *j[2] = {0};

	CHECK(mls_member_pair(&g, &a, &b));
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
	mls_member_part(&g, &a, &b);
}

/* ---- allocation ---- */

/* Until it goes well: one failure is injected, so the second try must. */
static bool tried(struct mls_member *r, enum dave_job_type type, struct slice in)
{
	return mls_member_came_to(r, type, in, DAVE_DONE) ||
	       (test_oom_hit() && mls_member_came_to(r, type, in, DAVE_DONE));
}

static bool tried_reset(struct mls_member *r)
{
	return mls_member_reset(r, DAVE_JOB_RESET) ||
	       (test_oom_hit() && mls_member_reset(r, DAVE_JOB_RESET));
}

/* Whatever fails, the mls_state is as it was: the same job goes well when there is memory again. */
TEST_OOM(dave_mls_state_survives_a_lack_of_memory)
{
	struct gateway_fixture g;
	struct mls_member a = {.told = everybody, .n_told = 4},
			  b = {.told = everybody, .n_told = 4};
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
	if (!tried(&a, DAVE_JOB_PROPOSALS, mls_out_view(&in)) || !mls_member_out_of(&a).n) {
		wrong = "proposals";
		goto out;
	}
	mls_out_slice(&sent, mls_member_out_of(&a));
	commit = gateway_fixture_split_op28(mls_out_view(&sent), &welcome);
	if (!commit.n)
		goto out;
	if (!tried(&a, DAVE_JOB_COMMIT, commit))
		wrong = "commit";
	else if (!tried(&b, DAVE_JOB_WELCOME, welcome))
		wrong = "welcome";
	else if (!mls_member_agree(&a, &b))
		wrong = "the epoch";
out:
	if (wrong)
		test_fail(__FILE__, __LINE__, "%s did not recover", wrong);
	mls_out_free(&o);
	mls_out_free(&in);
	mls_out_free(&sent);
	mls_member_part(&g, &a, &b);
}
