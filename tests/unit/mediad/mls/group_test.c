/* Groups in memory: who comes and goes, and that all agree after each epoch. */
#include "tests/test.h"

#include "mediad/mls/treekem.h"
#include "tests/unit/mediad/mls/tree_fixture.h"
#include "tests/unit/mediad/mls/mls_fixture.h"

/* Guests 0 to n - 1 in one group, let in by the first, each in a commit of its own. */
static int gather(struct mls_fixture *p, const char *seed, unsigned n)
{
	int err = mls_fixture_init(p, seed);

	if (!err)
		err = mls_fixture_create_group(p, 0);
	for (unsigned i = 1; !err && i < n; i++) {
		err = mls_fixture_make_keys(p, i);
		if (!err)
			err = mls_fixture_propose_add(p, 0, i);
		if (!err)
			err = mls_fixture_commit(p, 0);
	}
	return err;
}

TEST(group_of_one_begins_at_epoch_0)
{
	struct mls_fixture p;
	const struct mls_group *g;

	CHECK_INT(gather(&p, "alone", 1), 0);
	g = p.members[0].group;
	CHECK_INT(mls_group_epoch(g), 0);
	CHECK_INT(mls_group_leaf(g), 0);
	CHECK_INT(mls_group_confirmed(g).n, 0);
	CHECK_INT(mls_group_proposals(g), 0);
	CHECK(mls_equal(mls_group_extensions(g), mls_out_view(&p.extensions)));
	CHECK_INT(mls_tree_members(mls_group_tree(g)), 1);
	mls_fixture_free(&p);
}

TEST(group_needs_the_keys_of_its_leaf)
{
	struct mls_fixture p;
	struct mls_group *g = NULL;
	struct mls_identity other;
	struct mls_leaf *updated;
	struct mls_leaf_spec spec = {.encryption_key =
					     mls_slice(p.members[0].me.encryption.pub, MLS_POINT),
				     .signer = &p.members[0].me.signature,
				     .source = MLS_LEAF_UPDATE};

	CHECK_INT(gather(&p, "keys", 1), 0);
	CHECK_INT(mls_leaf_remake(&updated, p.members[0].package->leaf, &spec, &p.rng), 0);
	other = p.members[0].me;
	other.encryption = p.members[0].init;
	CHECK_INT(mls_group_create(&g, mls_slice("x", 1), &other, p.members[0].package->leaf,
				   (struct slice){0}, &p.rng),
		  EBADMSG);
	CHECK_INT(mls_group_create(&g, mls_slice("x", 1), &p.members[0].me, updated,
				   (struct slice){0}, &p.rng),
		  EBADMSG);
	mls_leaf_free(updated);
	other = p.members[0].me;
	other.signature = p.members[0].init;
	CHECK_INT(mls_group_create(&g, mls_slice("x", 1), &other, p.members[0].package->leaf,
				   (struct slice){0}, &p.rng),
		  EBADMSG);
	CHECK(!g);
	mls_fixture_free(&p);
}

TEST(group_two_meet)
{
	struct mls_fixture p;

	CHECK_INT(gather(&p, "two", 2), 0);
	CHECK(mls_fixture_agrees(&p));
	CHECK_INT(mls_fixture_count_inside(&p), 2);
	CHECK_INT(mls_group_epoch(p.members[1].group), 1);
	CHECK_INT(mls_group_leaf(p.members[1].group), 1);
	mls_fixture_free(&p);
}

/* Without a path when there are Adds alone; GroupInfo then holds the tree alone. */
TEST(group_commit_of_adds_has_no_path)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_public m;
	struct mls_welcome w;
	struct rd r;

	CHECK_INT(gather(&p, "no path", 3), 0);
	CHECK_INT(mls_fixture_make_keys(&p, 3), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_group_commit(&c, p.members[1].group, &p.rng), 0);
	r = rd_of(c.message.p, c.message.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK_INT(m.sender_index, 1);
	CHECK_INT(m.epoch, 2);
	CHECK_INT(m.body.n, 1 + 34 + 1);
	CHECK_INT(m.body.p[m.body.n - 1], 0);
	r = rd_of(c.welcome.p, c.welcome.n);
	CHECK_INT(mls_welcome_read(&w, &r), 0);
	CHECK_INT(w.suite, 2);
	mls_commit_free(&c);

	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_group_commit(&c, p.members[1].group, &p.rng), 0);
	r = rd_of(c.message.p, c.message.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	CHECK(m.body.n > 2 * 35 + 200);
	CHECK_INT(m.body.p[2 + 2 * 34], 1);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_of_eight_shrinks_to_one)
{
	struct mls_fixture p;

	CHECK_INT(gather(&p, "eight", 8), 0);
	CHECK(mls_fixture_agrees(&p));
	for (unsigned i = 7; i > 0; i--) {
		CHECK_INT(mls_fixture_propose_remove(&p, 0, i), 0);
		CHECK_INT(mls_fixture_commit(&p, i - 1), 0);
		CHECK_INT(mls_fixture_count_inside(&p), i);
		CHECK(mls_fixture_agrees(&p));
	}
	CHECK_INT(mls_tree_leaves(mls_group_tree(p.members[0].group)), 1);
	mls_fixture_free(&p);
}

TEST(group_first_member_leaves_and_comes_back_into_its_place)
{
	struct mls_fixture p;

	CHECK_INT(gather(&p, "back", 4), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 1, 0), 0);
	CHECK_INT(mls_fixture_commit(&p, 2), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 3);
	CHECK(!p.members[0].group);
	CHECK(mls_fixture_agrees(&p));
	CHECK_INT(mls_fixture_make_keys(&p, 0), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 1, 0), 0);
	CHECK_INT(mls_fixture_commit(&p, 3), 0);
	CHECK(mls_fixture_agrees(&p));
	CHECK_INT(mls_group_leaf(p.members[0].group), 0);
	/* and can act there */
	CHECK_INT(mls_fixture_propose_remove(&p, 1, 3), 0);
	CHECK_INT(mls_fixture_commit(&p, 0), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 3);
	CHECK(mls_fixture_agrees(&p));
	mls_fixture_free(&p);
}

TEST(group_remove_and_add_in_one_commit_take_the_same_slot)
{
	struct mls_fixture p;
	struct mls_out remove = {0};

	CHECK_INT(gather(&p, "slot", 4), 0);
	CHECK_INT(mls_fixture_remove(&p, &remove, p.members[0].group, 2), 0);
	mls_group_free(p.members[2].group);
	p.members[2].group = NULL;
	CHECK_INT(mls_fixture_make_keys(&p, 2), 0);
	/* the order of the list does not matter: removes come first */
	CHECK_INT(mls_fixture_propose_add(&p, 0, 2), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&remove), NULL), 0);
	CHECK_INT(mls_fixture_commit(&p, 3), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 4);
	CHECK(mls_fixture_agrees(&p));
	CHECK_INT(mls_group_leaf(p.members[2].group), 2);
	mls_out_free(&remove);
	mls_fixture_free(&p);
}

TEST(group_several_come_in_one_path_commit)
{
	struct mls_fixture p;

	CHECK_INT(gather(&p, "several", 5), 0);
	for (unsigned i = 5; i < 8; i++) {
		CHECK_INT(mls_fixture_make_keys(&p, i), 0);
		CHECK_INT(mls_fixture_propose_add(&p, 0, i), 0);
	}
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 1), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 3), 0);
	CHECK_INT(mls_fixture_commit(&p, 4), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 6);
	CHECK(mls_fixture_agrees(&p));
	/* the newcomers know the keys above them */
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 5), 0);
	CHECK_INT(mls_fixture_commit(&p, 7), 0);
	CHECK(mls_fixture_agrees(&p));
	mls_fixture_free(&p);
}

TEST(group_revoked_proposals_are_not_committed)
{
	struct mls_fixture p;
	struct mls_out o = {0};
	uint8_t ref[MLS_HASH];

	CHECK_INT(gather(&p, "revoke", 4), 0);
	CHECK_INT(mls_fixture_remove(&p, &o, p.members[0].group, 2), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), ref), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 3), 0);
	CHECK_INT(mls_group_proposals(p.members[0].group), 2);
	CHECK(mls_group_removes(p.members[0].group, 2));
	CHECK(mls_group_removes(p.members[0].group, 3));
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(mls_group_revoke(p.members[i].group, mls_slice(ref, MLS_HASH)), 0);
	CHECK_INT(mls_group_revoke(p.members[0].group, mls_slice(ref, MLS_HASH)), ENOENT);
	CHECK_INT(mls_group_proposals(p.members[0].group), 1);
	CHECK(!mls_group_removes(p.members[0].group, 2));
	CHECK(mls_group_removes(p.members[0].group, 3));
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 3);
	CHECK(p.members[2].group && !p.members[3].group);
	CHECK(mls_fixture_agrees(&p));
	mls_out_free(&o);
	mls_fixture_free(&p);
}

TEST(group_the_same_proposal_twice_is_one)
{
	struct mls_fixture p;
	struct mls_out o = {0};
	uint8_t first[MLS_HASH], second[MLS_HASH];

	CHECK_INT(gather(&p, "twice", 2), 0);
	CHECK_INT(mls_fixture_remove(&p, &o, p.members[0].group, 1), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), first), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), second), 0);
	CHECK_MEM(first, MLS_HASH, second, MLS_HASH);
	CHECK_INT(mls_group_proposals(p.members[0].group), 1);
	CHECK_INT(mls_fixture_commit(&p, 0), 0);
	CHECK_INT(mls_fixture_count_inside(&p), 1);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

/* Everybody commits; whichever the gateway takes, the others follow from the state that they kept.
 */
TEST(group_any_of_several_commits_may_win)
{
	struct mls_fixture p;
	struct mls_commit c[3];
	struct mls_group *from_0, *from_1, *again;
	bool removed;

	CHECK_INT(gather(&p, "race", 4), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 3), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(mls_group_commit(&c[i], p.members[i].group, &p.rng), 0);
	CHECK_INT(mls_group_process(&from_0, p.members[2].group, mls_out_view(&c[0].message),
				    &removed),
		  0);
	CHECK(!removed);
	CHECK_INT(mls_group_process(&from_1, p.members[2].group, mls_out_view(&c[1].message),
				    &removed),
		  0);
	CHECK_MEM(mls_group_secrets(from_0)->authenticator, MLS_HASH,
		  mls_group_secrets(c[0].next)->authenticator, MLS_HASH);
	CHECK_MEM(mls_group_secrets(from_1)->authenticator, MLS_HASH,
		  mls_group_secrets(c[1].next)->authenticator, MLS_HASH);
	CHECK(memcmp(mls_group_secrets(from_0)->authenticator,
		     mls_group_secrets(from_1)->authenticator, MLS_HASH) != 0);
	CHECK_INT(mls_group_process(&again, from_0, mls_out_view(&c[1].message), &removed), ESTALE);
	CHECK_INT(mls_group_process(&again, p.members[2].group, mls_out_view(&c[2].message),
				    &removed),
		  EINVAL);
	mls_group_free(from_0);
	mls_group_free(from_1);
	for (unsigned i = 0; i < 3; i++)
		mls_commit_free(&c[i]);
	CHECK_INT(mls_fixture_commit(&p, 2), 0);
	CHECK(mls_fixture_agrees(&p));
	mls_fixture_free(&p);
}

TEST(group_tells_the_removed)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_group *next = NULL;
	bool removed = false;

	CHECK_INT(gather(&p, "removed", 3), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_group_commit(&c, p.members[2].group, &p.rng), EBADMSG);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), 0);
	CHECK_INT(mls_group_process(&next, p.members[2].group, mls_out_view(&c.message), &removed),
		  ENOENT);
	CHECK(removed && !next);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

/* ---- what other members may propose ---- */

static int update_of(struct mls_fixture *p, struct mls_out *out, unsigned who,
		     const struct p256_pair *fresh)
{
	const struct mls_fixture_member *g = &p->members[who];
	struct mls_leaf_spec spec = {.encryption_key = mls_slice(fresh->pub, MLS_POINT),
				     .signer = &g->me.signature,
				     .source = MLS_LEAF_UPDATE,
				     .group_id = mls_group_id(g->group),
				     .leaf = mls_group_leaf(g->group)};
	struct mls_out body = {0};
	struct mls_leaf *leaf;
	int err = mls_leaf_remake(&leaf, mls_tree_leaf(mls_group_tree(g->group), spec.leaf), &spec,
				  &p->rng);

	if (err)
		return err;
	mls_out_be(&body, MLS_PROPOSAL_UPDATE, 2);
	mls_out_slice(&body, leaf->raw);
	err = body.err ? body.err
		       : mls_fixture_member_message(p, out, who, MLS_CONTENT_PROPOSAL,
						    mls_out_view(&body), NULL);
	mls_out_free(&body);
	mls_leaf_free(leaf);
	return err;
}

TEST(group_follows_an_update_of_another_member)
{
	struct mls_fixture p;
	struct mls_out o = {0};
	struct p256_pair fresh;

	CHECK_INT(gather(&p, "update", 4), 0);
	CHECK_INT(p256_generate(&fresh, &p.rng), 0);
	CHECK_INT(update_of(&p, &o, 2, &fresh), 0);
	/* one that would be ours has no private key here */
	CHECK_INT(mls_group_propose(p.members[2].group, mls_out_view(&o), NULL), ENOTSUP);
	mls_group_free(p.members[2].group);
	p.members[2].group = NULL;
	mls_key_package_free(p.members[2].package);
	p.members[2].package = NULL;
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), NULL), 0);
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK(mls_equal(mls_tree_key(mls_group_tree(p.members[0].group), 4),
			mls_slice(fresh.pub, MLS_POINT)));
	CHECK_MEM(mls_group_secrets(p.members[0].group)->authenticator, MLS_HASH,
		  mls_group_secrets(p.members[3].group)->authenticator, MLS_HASH);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

TEST(group_takes_extensions_of_a_member)
{
	struct mls_fixture p, other;
	struct mls_out body = {0}, o = {0}, remove = {0};

	CHECK_INT(gather(&p, "extensions", 3), 0);
	CHECK_INT(mls_fixture_init(&other, "another sender"), 0);
	mls_out_be(&body, MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS, 2);
	mls_out_vec(&body, mls_out_view(&other.extensions));
	CHECK_INT(mls_fixture_member_message(&p, &o, 1, MLS_CONTENT_PROPOSAL, mls_out_view(&body),
					     NULL),
		  0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), NULL), 0);
	CHECK_INT(mls_fixture_commit(&p, 0), 0);
	CHECK(mls_fixture_agrees(&p));
	CHECK(mls_equal(mls_group_extensions(p.members[2].group), mls_out_view(&other.extensions)));
	/* from now on the other one proposes */
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), EACCES);
	CHECK_INT(mls_fixture_remove(&other, &remove, p.members[0].group, 2), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&remove), NULL), 0);
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK(mls_fixture_agrees(&p));
	mls_out_free(&body);
	mls_out_free(&o);
	mls_out_free(&remove);
	mls_fixture_free(&other);
	mls_fixture_free(&p);
}

/* ---- any order ---- */

/* Some guests leave and some come, some proposals are taken back, somebody who stays commits. */
static int churn(struct mls_fixture *p, struct mls_rng *dice)
{
	bool leaves[MLS_FIXTURE_MAX] = {false};
	unsigned by, stay = 0, changes = 0;
	int err = 0;

	do {
		by = tree_fixture_random(dice, MLS_FIXTURE_MAX);
	} while (!p->members[by].group);
	for (unsigned i = 0; !err && i < MLS_FIXTURE_MAX; i++) {
		if (i == by || tree_fixture_random(dice, 3))
			continue;
		leaves[i] = p->members[i].group != NULL;
		if (!leaves[i])
			err = mls_fixture_make_keys(p, i);
		if (!err)
			err = leaves[i] ? mls_fixture_propose_remove(p, by, i)
					: mls_fixture_propose_add(p, by, i);
		changes++;
	}
	for (unsigned i = 0; i < MLS_FIXTURE_MAX; i++)
		stay += p->members[i].group && !leaves[i];
	if (err || !changes || !stay)
		return err;
	return mls_fixture_commit(p, by);
}

TEST(group_agrees_in_any_order_of_joins_and_leaves)
{
	struct mls_fixture p;
	struct mls_rng dice = tree_fixture_rng("dice");
	unsigned most = 0;

	CHECK_INT(gather(&p, "churn", 1), 0);
	for (unsigned i = 0; i < 60; i++) {
		CHECK_INT(churn(&p, &dice), 0);
		CHECK(mls_fixture_agrees(&p));
		most = mls_fixture_count_inside(&p) > most ? mls_fixture_count_inside(&p) : most;
	}
	CHECK(most > 5);
	for (unsigned i = 0; i < MLS_FIXTURE_MAX; i++)
		CHECK(!p.members[i].group || mls_group_epoch(p.members[i].group) > 40);
	mls_fixture_free(&p);
}

/* ---- out of memory ---- */

TEST_OOM(group_survives_a_lack_of_memory)
{
	struct mls_fixture p;
	struct mls_commit c = {0};
	struct mls_group *next = NULL;
	unsigned before;
	bool removed;
	int err;

	CHECK_OOM(gather(&p, "memory", 3), mls_fixture_free(&p));
	CHECK_OOM(mls_fixture_propose_remove(&p, 0, 2), mls_fixture_free(&p));
	before = mls_group_proposals(p.members[0].group);
	CHECK_OOM(mls_group_commit(&c, p.members[0].group, &p.rng), mls_fixture_free(&p));
	err = mls_group_process(&next, p.members[1].group, mls_out_view(&c.message), &removed);
	if (err) {
		/* what failed for want of memory works later, from the state that was kept */
		CHECK_INT(err, ENOMEM);
		CHECK(test_oom_hit() && !next);
		CHECK_INT(mls_group_process(&next, p.members[1].group, mls_out_view(&c.message),
					    &removed),
			  0);
	}
	CHECK_INT(mls_group_proposals(p.members[0].group), before);
	CHECK_MEM(mls_group_secrets(next)->authenticator, MLS_HASH,
		  mls_group_secrets(c.next)->authenticator, MLS_HASH);
	mls_group_free(next);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}
