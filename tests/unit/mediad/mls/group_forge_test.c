/* What somebody inside, with good keys but bad will, cannot make others take. */
#include "tests/test.h"

#include "mediad/mls/treekem.h"
#include "tests/unit/mediad/mls/tree_fixture.h"
#include "tests/unit/mediad/mls/mls_fixture.h"

#define BODY(...) mls_slice((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

/* Extension type 0xf000, whose data are empty; and the list of a client that knows it. */
static const struct slice odd = {.p = (const uint8_t *)"\xf0\0\0", .n = 3};
static const struct slice odd_known = {.p = (const uint8_t *)"\xf0\0", .n = 2};

/* Three members; guest 3 stands at the door. All are as p->capable says. */
static int three(struct mls_fixture *p)
{
	int err = mls_fixture_create_group(p, 0);

	for (unsigned i = 1; !err && i < 4; i++) {
		err = mls_fixture_make_keys(p, i);
		if (!err && i < 3)
			err = mls_fixture_propose_add(p, 0, i);
		if (!err && i < 3)
			err = mls_fixture_commit(p, 0);
	}
	return err;
}

/* ---- welcomes ---- */

/* Guest 0's state after it let guest 3 in, which guest 3 has not heard of. */
static int door(struct mls_fixture *p, struct mls_commit *c)
{
	int err = mls_fixture_init(p, "door");

	if (!err)
		err = three(p);
	if (!err)
		err = mls_fixture_propose_remove(p, 0, 2);
	if (!err)
		err = mls_fixture_propose_add(p, 0, 3);
	return err ? err : mls_group_commit(c, p->members[0].group, &p->rng);
}

static int forged(struct mls_fixture *p, const struct forgery *f)
{
	const struct mls_fixture_member *g = &p->members[f->to];
	struct mls_out welcome = {0};
	struct mls_group *joined = NULL;
	int err = mls_fixture_forge(p, &welcome, f);

	if (!err)
		err = mls_group_join(&joined, mls_out_view(&welcome), (struct slice){0}, g->package,
				     &g->init, &g->me);
	mls_group_free(joined);
	mls_out_free(&welcome);
	return err;
}

#define FORGED(error, ...)                                                                         \
	do {                                                                                       \
		const struct forgery f_ = {.state = c.next, .to = 3, __VA_ARGS__};                 \
		CHECK_INT(forged(&p, &f_), error);                                                 \
	} while (0)

TEST(group_refuses_group_infos_that_are_not_right)
{
	struct mls_fixture p;
	struct mls_commit c;

	CHECK_INT(door(&p, &c), 0);
	FORGED(0, .signer = 0);
	FORGED(0, .more = odd);
	FORGED(EBADMSG, .wrong_hash = true);
	FORGED(EACCES, .wrong_tag = true);
	FORGED(EACCES, .cut_tag = true);
	FORGED(EACCES, .wrong_signature = true);
	FORGED(EBADMSG, .trailing = true);
	FORGED(ENOTSUP, .suite = 3);
	FORGED(EACCES, .signer = 1);
	FORGED(EBADMSG, .signer = 3);
	FORGED(EBADMSG, .signer = UINT32_MAX);
	FORGED(EBADMSG, .more = mls_slice("\0\2\0", 3)); /* a second tree */
	FORGED(EBADMSG, .more = mls_slice("\0\4\7", 3));
	FORGED(EBADMSG, .extended = true, .extensions = odd); /* which nobody knows */
	FORGED(EBADMSG, .extended = true, .extensions = mls_slice("\0\5\0\0\5\0", 6));
	FORGED(EBADMSG, .extended = true, .extensions = mls_slice("\0\3\1\0", 4));
	FORGED(0, .extended = true, .extensions = mls_slice("", 0));
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_refuses_trees_that_are_not_right)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_out tree = {0};
	const struct mls_leaf *l;
	struct mls_tree *t;
	size_t at = 0;

	CHECK_INT(door(&p, &c), 0);
	mls_tree_write(mls_group_tree(c.next), &tree);
	FORGED(0, .tree = mls_out_view(&tree));
	/* guest 1's signature, which the hash in the node above covers too */
	l = mls_tree_leaf(mls_group_tree(c.next), 1);
	while (memcmp(tree.p + at, l->raw.p, l->raw.n) != 0)
		at++;
	tree.p[at + l->raw.n - 1] ^= 1;
	FORGED(EBADMSG, .tree = mls_out_view(&tree));
	tree.p[at + l->raw.n - 1] ^= 1;
	FORGED(EBADMSG, .tree = mls_slice(tree.p, tree.n - 1));
	mls_out_free(&tree);
	/* one without the newcomer */
	CHECK_INT(mls_tree_copy(&t, mls_group_tree(c.next)), 0);
	CHECK_INT(mls_tree_remove(t, 2), 0);
	mls_tree_write(t, &tree);
	FORGED(EBADMSG, .tree = mls_out_view(&tree));
	mls_tree_free(t);
	mls_out_free(&tree);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_refuses_secrets_that_are_not_right)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_out s = {0};

	CHECK_INT(door(&p, &c), 0);
	mls_fixture_joiner_secrets(&s);
	mls_out_be(&s, 0, 2);
	FORGED(0, .secrets = mls_out_view(&s));
	mls_out_be(&s, 0, 1);
	FORGED(EBADMSG, .secrets = mls_out_view(&s));
	FORGED(EBADMSG, .secrets = mls_slice(s.p, s.n - 2));
	FORGED(EBADMSG, .secrets = mls_slice(s.p, 1));
	s.n = 33;
	mls_out_be(&s, 2, 1);
	FORGED(EBADMSG, .secrets = mls_out_view(&s));
	s.n = 33;
	mls_out_be(&s, 1, 1);
	mls_out_vec(&s, mls_slice("short", 5));
	mls_out_be(&s, 0, 1);
	FORGED(EBADMSG, .secrets = mls_out_view(&s));
	/* a path secret that makes other keys than the tree's */
	s.n = 33;
	mls_out_be(&s, 1, 1);
	mls_out_vec(&s, mls_slice((uint8_t[MLS_HASH]){0}, MLS_HASH));
	mls_out_be(&s, 0, 1);
	FORGED(EBADMSG, .secrets = mls_out_view(&s));
	s.n = 33;
	mls_out_be(&s, 0, 1);
	mls_out_vec(&s, mls_slice("\1\3one\1n", 7));
	FORGED(ENOTSUP, .secrets = mls_out_view(&s));
	mls_out_free(&s);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

/* ---- capabilities ---- */

TEST(group_lets_in_only_who_can_what_it_asks_for)
{
	struct mls_fixture p;

	CHECK_INT(mls_fixture_init(&p, "capable"), 0);
	mls_out_slice(&p.extensions, odd);
	CHECK_INT(mls_fixture_create_group(&p, 0), EBADMSG);
	p.capable = odd_known;
	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK(mls_fixture_agrees(&p));
	p.capable = (struct slice){0};
	CHECK_INT(mls_fixture_make_keys(&p, 4), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 4), EBADMSG);
	CHECK_INT(mls_group_proposals(p.members[0].group), 0);
	mls_fixture_free(&p);
}

/* Each may stand alone, but not both. */
TEST(group_does_not_take_extensions_that_a_newcomer_cannot)
{
	struct mls_fixture p;
	struct mls_out o = {0};
	struct mls_commit c = {0};

	CHECK_INT(mls_fixture_init(&p, "both"), 0);
	p.capable = odd_known;
	CHECK_INT(three(&p), 0);
	p.capable = (struct slice){0};
	CHECK_INT(mls_fixture_make_keys(&p, 3), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_fixture_member_message(&p, &o, 1, MLS_CONTENT_PROPOSAL,
					     BODY(0, 7, 3, 0xf0, 0, 0), NULL),
		  0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), NULL), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), EBADMSG);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

/* ---- Updates ---- */

/* The leaf of guest 1 as an Update of this source and key, its signature good when `good`. */
static int update(struct mls_fixture *p, struct mls_out *body, enum mls_leaf_source source,
		  struct slice key, bool good)
{
	const struct mls_fixture_member *g = &p->members[1];
	struct mls_leaf_spec spec = {.encryption_key = key,
				     .signer = good ? &g->me.signature : &g->me.encryption,
				     .source = source,
				     .group_id = mls_group_id(g->group),
				     .leaf = mls_group_leaf(g->group)};
	struct mls_leaf *leaf;
	int err = mls_leaf_remake(&leaf, mls_tree_leaf(mls_group_tree(g->group), spec.leaf), &spec,
				  &p->rng);

	if (err)
		return err;
	mls_out_be(body, MLS_PROPOSAL_UPDATE, 2);
	mls_out_slice(body, leaf->raw);
	mls_leaf_free(leaf);
	return body->err;
}

/* As a proposal of guest 1, told to guest 0. */
static int updates(struct mls_fixture *p, enum mls_leaf_source source, struct slice key, bool good)
{
	struct mls_out body = {0}, o = {0};
	int err = update(p, &body, source, key, good);

	if (!err)
		err = mls_fixture_member_message(p, &o, 1, MLS_CONTENT_PROPOSAL,
						 mls_out_view(&body), NULL);
	if (!err)
		err = mls_group_propose(p->members[0].group, mls_out_view(&o), NULL);
	mls_out_free(&body);
	mls_out_free(&o);
	return err;
}

TEST(group_refuses_updates_that_break_a_rule)
{
	struct mls_fixture p;
	struct p256_pair fresh;
	struct slice key, old;
	struct mls_out body = {0}, content = {0}, o = {0};

	CHECK_INT(mls_fixture_init(&p, "updates"), 0);
	CHECK_INT(three(&p), 0);
	CHECK_INT(p256_generate(&fresh, &p.rng), 0);
	key = mls_slice(fresh.pub, MLS_POINT);
	old = mls_slice(p.members[1].me.encryption.pub, MLS_POINT);
	CHECK_INT(updates(&p, MLS_LEAF_UPDATE, old, true), EBADMSG);
	CHECK_INT(updates(&p, MLS_LEAF_COMMIT, key, true), EBADMSG);
	CHECK_INT(updates(&p, MLS_LEAF_KEY_PACKAGE, key, true), EBADMSG);
	CHECK_INT(updates(&p, MLS_LEAF_UPDATE, key, false), EACCES);
	/* the external sender has no leaf to update, whatever its index */
	CHECK_INT(update(&p, &body, MLS_LEAF_UPDATE, key, true), 0);
	mls_content_write(&content, mls_group_id(p.members[0].group), 2, MLS_SENDER_EXTERNAL, 0,
			  MLS_CONTENT_PROPOSAL);
	mls_out_slice(&content, mls_out_view(&body));
	CHECK_INT(mls_fixture_sign(&p, &o, mls_out_view(&content)), 0);
	CHECK_INT(mls_group_propose(p.members[2].group, mls_out_view(&o), NULL), EBADMSG);
	CHECK_INT(updates(&p, MLS_LEAF_UPDATE, key, true), 0);
	mls_out_free(&body);
	mls_out_free(&content);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

/* ---- paths ---- */

/* What guest 1 commits: a list by value, and a path made on this tree, in which its leaf may have
 * been replaced. */
static int says(struct mls_fixture *p, struct slice list, struct mls_tree *t,
		const struct p256_pair *signer)
{
	static const uint8_t tag[MLS_HASH];
	struct mls_private keys = {.leaf = 1};
	struct mls_path_secrets secrets;
	struct mls_out body = {0}, o = {0};
	struct mls_group *next = NULL;
	uint8_t after[MLS_HASH];
	bool removed;
	int err = mls_path_make(t, &keys, signer, mls_group_id(p->members[1].group), &secrets,
				after, &p->rng);

	mls_out_vec(&body, list);
	mls_out_be(&body, 1, 1);
	if (!err)
		err = mls_path_write(&body, t, 1, &secrets, (struct slice){0},
				     (struct mls_leaf_set){0}, &p->rng);
	if (!err)
		err = mls_fixture_member_message(p, &o, 1, MLS_CONTENT_COMMIT, mls_out_view(&body),
						 tag);
	if (!err)
		err = mls_group_process(&next, p->members[0].group, mls_out_view(&o), &removed);
	mls_group_free(next);
	mls_out_free(&body);
	mls_out_free(&o);
	return err;
}

/* Puts another leaf of guest 1 into the tree, from which the path's leaf will be made. */
static int disguise(struct mls_tree *t, struct slice signature_key, struct slice extension_types,
		    struct slice versions)
{
	struct mls_leaf like = *mls_tree_leaf(t, 1), *l = NULL;
	struct mls_out o = {0};
	struct rd r;
	int err;

	if (signature_key.n)
		like.signature_key = signature_key;
	if (versions.n)
		like.versions = versions;
	like.extension_types = extension_types;
	mls_out_vec(&o, like.encryption_key);
	mls_out_vec(&o, like.signature_key);
	mls_out_slice(&o, like.credential);
	mls_out_vec(&o, like.versions);
	mls_out_vec(&o, like.suites);
	mls_out_vec(&o, like.extension_types);
	mls_out_vec(&o, like.proposal_types);
	mls_out_vec(&o, like.credential_types);
	mls_out_be(&o, MLS_LEAF_UPDATE, 1);
	mls_out_be(&o, 0, 2); /* no extensions, no signature */
	r = rd_of(o.p, o.n);
	err = o.err ? o.err : mls_leaf_read(&l, &r);
	if (!err)
		err = mls_tree_set_leaf(t, 1, l);
	mls_leaf_free(l);
	mls_out_free(&o);
	return err;
}

static int removed_copy(struct mls_tree **out, const struct mls_fixture *p)
{
	int err = mls_tree_copy(out, mls_group_tree(p->members[0].group));

	return err ? err : mls_tree_remove(*out, 2);
}

/* Where all else is right, the secrets, which are sealed for another context, are found out last.
 */
TEST(group_refuses_paths_whose_leaf_breaks_a_rule)
{
	struct slice remove = BODY(1, 0, 3, 0, 0, 0, 2), none = {0};
	struct mls_fixture p;
	struct mls_tree *t;

	CHECK_INT(mls_fixture_init(&p, "paths"), 0);
	mls_out_slice(&p.extensions, odd);
	p.capable = odd_known;
	CHECK_INT(three(&p), 0);

	CHECK_INT(removed_copy(&t, &p), 0);
	CHECK_INT(says(&p, remove, t, &p.members[1].me.signature), EACCES);
	mls_tree_free(t);
	CHECK_INT(removed_copy(&t, &p), 0);
	CHECK_INT(disguise(t, none, odd_known, mls_slice("\0\2", 2)),
		  0); /* speaks another version alone */
	CHECK_INT(says(&p, remove, t, &p.members[1].me.signature), EBADMSG);
	mls_tree_free(t);
	CHECK_INT(removed_copy(&t, &p), 0);
	CHECK_INT(disguise(t, none, none, none), 0); /* no longer knows what the group uses */
	CHECK_INT(says(&p, remove, t, &p.members[1].me.signature), EBADMSG);
	mls_tree_free(t);
	CHECK_INT(removed_copy(&t, &p), 0);
	CHECK_INT(disguise(t, mls_slice(p.members[0].me.signature.pub, MLS_POINT), odd_known, none),
		  0);
	CHECK_INT(says(&p, remove, t, &p.members[0].me.signature),
		  EBADMSG); /* another member's signature key */
	mls_tree_free(t);
	mls_fixture_free(&p);
}

TEST(group_refuses_lists_even_with_a_good_path)
{
	struct mls_fixture p;
	struct mls_tree *t;
	struct mls_out body = {0}, value = {0};
	struct p256_pair fresh;
	struct slice extensions = BODY(1, 0, 7, 0), twice = BODY(1, 0, 7, 0, 1, 0, 7, 0);

	CHECK_INT(mls_fixture_init(&p, "lists"), 0);
	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_tree_copy(&t, mls_group_tree(p.members[0].group)), 0);
	CHECK_INT(says(&p, extensions, t, &p.members[1].me.signature), EACCES);
	mls_tree_free(t);
	CHECK_INT(mls_tree_copy(&t, mls_group_tree(p.members[0].group)), 0);
	CHECK_INT(says(&p, twice, t, &p.members[1].me.signature), EBADMSG);
	mls_tree_free(t);
	/* neither proposals nor need of any */
	CHECK_INT(mls_tree_copy(&t, mls_group_tree(p.members[0].group)), 0);
	CHECK_INT(says(&p, (struct slice){0}, t, &p.members[1].me.signature), EACCES);
	mls_tree_free(t);
	/* a committer's Update of itself */
	CHECK_INT(p256_generate(&fresh, &p.rng), 0);
	CHECK_INT(update(&p, &body, MLS_LEAF_UPDATE, mls_slice(fresh.pub, MLS_POINT), true), 0);
	mls_out_be(&value, 1, 1);
	mls_out_slice(&value, mls_out_view(&body));
	CHECK_INT(mls_tree_copy(&t, mls_group_tree(p.members[0].group)), 0);
	CHECK_INT(says(&p, mls_out_view(&value), t, &p.members[1].me.signature), EBADMSG);
	mls_tree_free(t);
	mls_out_free(&body);
	mls_out_free(&value);
	mls_fixture_free(&p);
}
