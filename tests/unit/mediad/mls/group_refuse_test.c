/* What a group refuses, with which error, and that it goes on as before. */
#include "tests/test.h"

#include "tests/unit/mediad/mls/tree_fixture.h"
#include "tests/unit/mediad/mls/mls_fixture.h"

/* Three members; guest 3 stands at the door with a key package. */
static int three(struct mls_fixture *p)
{
	int err = mls_fixture_init(p, "refuse");

	if (!err)
		err = mls_fixture_create_group(p, 0);
	for (unsigned i = 1; !err && i < 4; i++) {
		err = mls_fixture_make_keys(p, i);
		if (!err && i < 3)
			err = mls_fixture_propose_add(p, 0, i);
		if (!err && i < 3)
			err = mls_fixture_commit(p, 0);
	}
	return err;
}

static bool known_error(int err)
{
	return err == EBADMSG || err == EACCES || err == ESTALE || err == ENOENT ||
	       err == ENOTSUP || err == EOVERFLOW;
}

/* ---- bytes ---- */

TEST(group_refuses_a_proposal_with_any_byte_changed)
{
	struct mls_fixture p;
	struct mls_out o = {0};

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_add(&p, &o, p.members[0].group, 3), 0);
	for (size_t i = 0; i < o.n; i++) {
		o.p[i] ^= 1;
		CHECK(known_error(mls_group_propose(p.members[0].group, mls_out_view(&o), NULL)));
		o.p[i] ^= 1;
		CHECK_INT(mls_group_propose(p.members[0].group, mls_slice(o.p, i), NULL), EBADMSG);
	}
	CHECK_INT(mls_group_proposals(p.members[0].group), 0);
	mls_out_be(&o, 0, 1);
	CHECK_INT(mls_group_propose(p.members[0].group, mls_out_view(&o), NULL), EBADMSG);
	o.n--;
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&o), NULL), 0);
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK(mls_fixture_agrees(&p));
	mls_out_free(&o);
	mls_fixture_free(&p);
}

TEST(group_refuses_a_commit_with_any_byte_changed)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_group *next = NULL;
	bool removed;
	struct slice m;

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), 0);
	m = mls_out_view(&c.message);
	for (size_t i = 0; i < m.n; i++) {
		c.message.p[i] ^= 0x20;
		CHECK(known_error(mls_group_process(&next, p.members[1].group, m, &removed)));
		CHECK(!next && !removed);
		c.message.p[i] ^= 0x20;
		CHECK_INT(mls_group_process(&next, p.members[1].group, mls_slice(m.p, i), &removed),
			  EBADMSG);
	}
	mls_out_be(&c.message, 0, 1);
	CHECK_INT(mls_group_process(&next, p.members[1].group, mls_out_view(&c.message), &removed),
		  EBADMSG);
	CHECK(!next);
	c.message.n--;
	m = mls_out_view(&c.message);
	CHECK_INT(mls_group_process(&next, p.members[1].group, m, &removed), 0);
	CHECK_MEM(mls_group_secrets(next)->authenticator, MLS_HASH,
		  mls_group_secrets(c.next)->authenticator, MLS_HASH);
	mls_group_free(next);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

/* Behind a good membership tag each part of a commit still stands on its own. */
TEST(group_names_what_is_wrong_with_a_commit)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_group *next = NULL;
	struct mls_public m;
	struct rd r;
	bool removed;
	size_t at;

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), 0);
	r = rd_of(c.message.p, c.message.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
#define WITH(where, error)                                                                         \
	do {                                                                                       \
		at = (size_t)((where)-c.message.p);                                                \
		c.message.p[at] ^= 1;                                                              \
		CHECK_INT(mls_fixture_retag(p.members[1].group, &c.message), 0);                   \
		CHECK_INT(mls_group_process(&next, p.members[1].group, mls_out_view(&c.message),   \
					    &removed),                                             \
			  error);                                                                  \
		c.message.p[at] ^= 1;                                                              \
		CHECK_INT(mls_fixture_retag(p.members[1].group, &c.message), 0);                   \
	} while (0)
	WITH(m.group_id.p, ESTALE);
	WITH(m.group_id.p + m.group_id.n + 7, ESTALE);
	WITH(m.body.p + 20, EACCES); /* signed */
	WITH(m.signature.p + 20, EACCES);
	WITH(m.confirmation_tag.p, EACCES);
#undef WITH
	c.message.p[c.message.n - 1] ^= 1;
	CHECK_INT(mls_group_process(&next, p.members[1].group, mls_out_view(&c.message), &removed),
		  EACCES);
	c.message.p[c.message.n - 1] ^= 1;
	CHECK_INT(mls_group_process(&next, p.members[1].group, mls_out_view(&c.message), &removed),
		  0);
	mls_group_free(next);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_refuses_a_welcome_with_any_byte_changed)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_fixture_member *g = &p.members[3], *other = &p.members[1];
	struct slice none = {0};

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), 0);
	for (size_t i = 0; i < c.welcome.n; i++) {
		c.welcome.p[i] ^= 4;
		CHECK(known_error(mls_group_join(&g->group, mls_out_view(&c.welcome), none,
						 g->package, &g->init, &g->me)));
		c.welcome.p[i] ^= 4;
		CHECK_INT(mls_group_join(&g->group, mls_slice(c.welcome.p, i), none, g->package,
					 &g->init, &g->me),
			  EBADMSG);
		CHECK(!g->group);
	}
	/* for somebody else; with another init key; with another key of the leaf */
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), none, other->package,
				 &other->init, &other->me),
		  ENOENT);
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), none, g->package,
				 &other->init, &g->me),
		  EACCES);
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), none, g->package, &g->init,
				 &other->me),
		  EBADMSG);
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), none, g->package, &g->init,
				 &g->me),
		  0);
	CHECK_MEM(mls_group_secrets(g->group)->authenticator, MLS_HASH,
		  mls_group_secrets(c.next)->authenticator, MLS_HASH);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_joins_by_a_tree_beside_the_welcome)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_fixture_member *g = &p.members[3];
	struct mls_out tree = {0}, other = {0};

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_add(&p, 0, 3), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), 0);
	mls_tree_write(mls_group_tree(c.next), &tree);
	mls_tree_write(mls_group_tree(p.members[0].group), &other);
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), mls_out_view(&other),
				 g->package, &g->init, &g->me),
		  EBADMSG);
	CHECK_INT(mls_group_join(&g->group, mls_out_view(&c.welcome), mls_out_view(&tree),
				 g->package, &g->init, &g->me),
		  0);
	mls_out_free(&tree);
	mls_out_free(&other);
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

/* ---- proposals ---- */

/* A proposal of the external sender to guest 0 with these fields. */
static int external(struct mls_fixture *p, struct slice group_id, uint64_t epoch, uint32_t index,
		    struct slice body)
{
	struct mls_out content = {0}, o = {0};
	int err;

	mls_content_write(&content, group_id, epoch, MLS_SENDER_EXTERNAL, index,
			  MLS_CONTENT_PROPOSAL);
	mls_out_slice(&content, body);
	err = mls_fixture_sign(p, &o, mls_out_view(&content));
	if (!err)
		err = mls_group_propose(p->members[0].group, mls_out_view(&o), NULL);
	mls_out_free(&content);
	mls_out_free(&o);
	return err;
}

#define BODY(...) mls_slice((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

TEST(group_refuses_proposals_that_break_a_rule)
{
	struct mls_fixture p;
	struct slice id, good = BODY(0, 3, 0, 0, 0, 2);
	struct p256_pair sender;

	CHECK_INT(three(&p), 0);
	id = mls_group_id(p.members[0].group);
	CHECK_INT(external(&p, id, 1, 0, good), ESTALE);
	CHECK_INT(external(&p, id, 3, 0, good), ESTALE);
	CHECK_INT(external(&p, mls_slice("elsewhere", 9), 2, 0, good), ESTALE);
	CHECK_INT(external(&p, id, 2, 1, good), EBADMSG);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 3, 0, 0, 0, 3)), EBADMSG); /* blank leaf */
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 3, 0, 0, 0, 4)),
		  EBADMSG); /* outside of the tree */
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 3, 0xff, 0xff, 0xff, 0xff)), EBADMSG);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 4, 1, 1, 'x', 1, 'y')),
		  ENOTSUP); /* pre-shared key */
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 5, 1, 'g', 0, 1, 0, 2, 0)), ENOTSUP);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 6, 1, 'k')), ENOTSUP);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 8, 1, 'k')), ENOTSUP);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 3, 0xf0, 0, 0)),
		  EBADMSG); /* an extension nobody knows */
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 6, 0, 2, 0, 0, 2, 0)), EBADMSG); /* one twice */
	/* required: an extension type nobody has; then what everybody has */
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 8, 0, 3, 5, 2, 0xf0, 0, 0, 0)), EBADMSG);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 8, 0, 3, 5, 0, 2, 0xf0, 0, 0)), EBADMSG);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 8, 0, 3, 5, 0, 0, 2, 0, 2)), EBADMSG);
	CHECK_INT(mls_group_proposals(p.members[0].group), 0);
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 7, 12, 0, 3, 9, 2, 0, 5, 2, 0, 1, 2, 0, 1)), 0);
	CHECK_INT(external(&p, id, 2, 0, good), 0);
	CHECK_INT(mls_group_proposals(p.members[0].group), 2);
	sender = p.sender;
	p.sender = p.members[0].me.signature;
	CHECK_INT(external(&p, id, 2, 0, BODY(0, 3, 0, 0, 0, 1)), EACCES);
	p.sender = sender;
	CHECK_INT(mls_group_proposals(p.members[0].group), 2);
	mls_fixture_free(&p);
}

TEST(group_refuses_key_packages_that_are_no_good)
{
	struct mls_fixture p;
	struct mls_out body = {0};
	struct slice id, raw;
	size_t at;

	CHECK_INT(three(&p), 0);
	id = mls_group_id(p.members[0].group);
	raw = p.members[3].package->raw;
	mls_out_be(&body, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&body, raw);
	at = body.n - 1; /* the end of the package's own signature */
	body.p[at] ^= 1;
	CHECK_INT(external(&p, id, 2, 0, mls_out_view(&body)), EACCES);
	body.p[at] ^= 1;
	body.p[5] ^= 1; /* the suite */
	CHECK_INT(external(&p, id, 2, 0, mls_out_view(&body)), ENOTSUP);
	body.p[5] ^= 1;
	body.p[9] ^= 1; /* the init key is no point */
	CHECK_INT(external(&p, id, 2, 0, mls_out_view(&body)), EBADMSG);
	body.p[9] ^= 1;
	CHECK_INT(external(&p, id, 2, 0, mls_out_view(&body)), 0);
	/* as an MLSMessage it is no key package */
	body.n = 2;
	mls_out_be(&body, UINT64_C(0x00010005), 4);
	mls_out_slice(&body, raw);
	CHECK(known_error(external(&p, id, 2, 0, mls_out_view(&body))));
	mls_out_free(&body);
	mls_fixture_free(&p);
}

TEST(group_remembers_no_more_proposals_than_the_cap)
{
	struct mls_fixture p;
	struct slice id;
	int err = 0;
	uint32_t n;

	CHECK_INT(three(&p), 0);
	id = mls_group_id(p.members[0].group);
	for (n = 0; !err && n <= MLS_PROPOSALS_MAX; n++) {
		struct mls_out content = {0}, o = {0};

		mls_out_vec(&content, id);
		mls_out_be(&content, 2, 8);
		mls_out_be(&content, MLS_SENDER_EXTERNAL, 1);
		mls_out_be(&content, 0, 4);
		mls_out_be(&content, 4, 1); /* authenticated data make them differ */
		mls_out_be(&content, n, 4);
		mls_out_be(&content, MLS_CONTENT_PROPOSAL, 1);
		mls_out_slice(&content, BODY(0, 3, 0, 0, 0, 1));
		CHECK_INT(mls_fixture_sign(&p, &o, mls_out_view(&content)), 0);
		err = mls_group_propose(p.members[0].group, mls_out_view(&o), NULL);
		mls_out_free(&content);
		mls_out_free(&o);
	}
	CHECK_INT(err, EOVERFLOW);
	CHECK_INT(n - 1, MLS_PROPOSALS_MAX);
	CHECK_INT(mls_group_proposals(p.members[0].group), MLS_PROPOSALS_MAX);
	mls_fixture_free(&p);
}

/* A group context with one long list of external senders: this many bytes. */
static int extends(struct mls_fixture *p, size_t size)
{
	struct mls_out body = {0};
	size_t list, data;
	uint8_t *zeros = calloc(1, size);
	int err;

	mls_out_be(&body, MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS, 2);
	list = mls_out_open(&body);
	mls_out_be(&body, MLS_EXT_EXTERNAL_SENDERS, 2);
	data = mls_out_open(&body);
	mls_out_bytes(&body, zeros, size);
	mls_out_close(&body, data);
	mls_out_close(&body, list);
	err = body.err ? body.err
		       : external(p, mls_group_id(p->members[0].group), 2, 0, mls_out_view(&body));
	mls_out_free(&body);
	free(zeros);
	return err;
}

TEST(group_remembers_no_more_bytes_than_the_cap)
{
	enum { HALF = MLS_BYTES_MAX / 2 };
	struct mls_fixture p;
	struct mls_out o = {0};
	uint8_t ref[MLS_HASH];

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_remove(&p, &o, p.members[0].group, 2), 0);
	CHECK_INT(extends(&p, HALF), 0);
	CHECK_INT(extends(&p, HALF + 1), EOVERFLOW);
	CHECK_INT(extends(&p, HALF - 2000), 0);
	CHECK_INT(extends(&p, 2000), EOVERFLOW);
	/* what was taken back makes room again */
	for (unsigned i = 0; i < 50; i++) {
		CHECK_INT(mls_group_propose(p.members[0].group, mls_out_view(&o), ref), 0);
		CHECK_INT(mls_group_revoke(p.members[0].group, mls_slice(ref, MLS_HASH)), 0);
	}
	CHECK_INT(mls_group_proposals(p.members[0].group), 2);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

TEST(group_reads_no_more_capabilities_than_the_cap)
{
	struct mls_fixture p;
	struct mls_out body = {0};
	size_t list, data, types;

	CHECK_INT(three(&p), 0);
	mls_out_be(&body, MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS, 2);
	list = mls_out_open(&body);
	mls_out_be(&body, MLS_EXT_REQUIRED_CAPABILITIES, 2);
	data = mls_out_open(&body);
	types = mls_out_open(&body);
	for (unsigned i = 0; i < 65; i++)
		mls_out_be(&body, 1, 2);
	mls_out_close(&body, types);
	mls_out_be(&body, 0, 2);
	mls_out_close(&body, data);
	mls_out_close(&body, list);
	CHECK_INT(external(&p, mls_group_id(p.members[0].group), 2, 0, mls_out_view(&body)),
		  EOVERFLOW);
	mls_out_free(&body);
	mls_fixture_free(&p);
}

/* ---- commits ---- */

/* A commit of guest 1 with this body, signed and tagged well, that guest 0 processes. */
static int says(struct mls_fixture *p, struct slice body, bool *removed)
{
	static const uint8_t tag[MLS_HASH];
	struct mls_out o = {0};
	struct mls_group *next = NULL;
	int err = mls_fixture_member_message(p, &o, 1, MLS_CONTENT_COMMIT, body, tag);

	if (!err)
		err = mls_group_process(&next, p->members[0].group, mls_out_view(&o), removed);
	mls_group_free(next);
	mls_out_free(&o);
	return err;
}

/* A commit of a list, without a path. */
static int says_list(struct mls_fixture *p, struct slice list, bool *removed)
{
	struct mls_out body = {0};
	int err;

	mls_out_vec(&body, list);
	mls_out_be(&body, 0, 1);
	err = says(p, mls_out_view(&body), removed);
	mls_out_free(&body);
	return err;
}

TEST(group_refuses_commits_that_break_a_rule)
{
	struct mls_fixture p;
	struct mls_out add = {0}, list = {0};
	uint8_t ref[MLS_HASH], unknown[35] = {2, 32};
	bool removed;

	CHECK_INT(three(&p), 0);
	CHECK_INT(says_list(&p, (struct slice){0}, &removed),
		  EBADMSG); /* neither proposals nor a path */
	CHECK_INT(says_list(&p, mls_slice(unknown, 34), &removed), ENOENT);
	CHECK(!removed);
	CHECK_INT(says_list(&p, mls_slice(unknown, 33), &removed), EBADMSG);
	CHECK_INT(says_list(&p, BODY(2, 3, 1, 2, 3), &removed), EBADMSG);
	CHECK_INT(says_list(&p, BODY(3, 0, 3, 0, 0, 0, 2), &removed), EBADMSG);
	CHECK_INT(says_list(&p, BODY(1, 0, 3, 0, 0, 0, 2), &removed), EBADMSG); /* needs a path */
	CHECK_INT(says_list(&p, BODY(1, 0, 4, 1, 1, 'x', 1, 'y'), &removed),
		  ENOTSUP); /* pre-shared key */
	CHECK_INT(says_list(&p, BODY(1, 0, 9, 0), &removed), ENOTSUP);

	/* an Add by reference: by itself good but for the tag; not twice */
	CHECK_INT(mls_fixture_add(&p, &add, p.members[0].group, 3), 0);
	CHECK_INT(mls_fixture_deliver(&p, mls_out_view(&add), ref), 0);
	mls_out_be(&list, 2, 1);
	mls_out_vec(&list, mls_slice(ref, MLS_HASH));
	CHECK_INT(says_list(&p, mls_out_view(&list), &removed), EACCES);
	mls_out_be(&list, 2, 1);
	mls_out_vec(&list, mls_slice(ref, MLS_HASH));
	CHECK_INT(says_list(&p, mls_out_view(&list), &removed), EBADMSG);
	mls_out_free(&list);
	/* by value, then the same client twice */
	mls_out_be(&list, 1, 1);
	mls_out_be(&list, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&list, p.members[3].package->raw);
	CHECK_INT(says_list(&p, mls_out_view(&list), &removed), EACCES);
	mls_out_be(&list, 1, 1);
	mls_out_be(&list, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&list, p.members[3].package->raw);
	CHECK_INT(says_list(&p, mls_out_view(&list), &removed), EBADMSG);
	mls_out_free(&list);
	/* somebody who is a member already */
	mls_out_be(&list, 1, 1);
	mls_out_be(&list, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&list, p.members[2].package->raw);
	CHECK_INT(says_list(&p, mls_out_view(&list), &removed), EBADMSG);
	mls_out_free(&list);
	mls_out_free(&add);
	mls_fixture_free(&p);
}

/* The path of a good commit, under lists that may not be. */
TEST(group_refuses_lists_that_do_not_go_together)
{
	struct mls_fixture p;
	struct mls_commit c;
	struct mls_out body = {0};
	struct mls_public m;
	struct slice path;
	struct rd r;
	bool removed;

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 2), 0);
	CHECK_INT(mls_group_commit(&c, p.members[1].group, &p.rng), 0);
	r = rd_of(c.message.p, c.message.n);
	CHECK_INT(mls_public_read(&m, &r), 0);
	path = mls_slice(m.body.p + 1 + 34, m.body.n - 1 - 34);
#define LIST(error, ...)                                                                           \
	do {                                                                                       \
		mls_out_vec(&body, BODY(__VA_ARGS__));                                             \
		mls_out_slice(&body, path);                                                        \
		CHECK_INT(says(&p, mls_out_view(&body), &removed), error);                         \
		mls_out_free(&body);                                                               \
	} while (0)
	LIST(EACCES, 1, 0, 3, 0, 0, 0,
	     2); /* good but for the secrets, which are bound to another transcript */
	CHECK(!removed);
	LIST(EBADMSG, 1, 0, 3, 0, 0, 0, 1); /* the committer itself */
	LIST(EBADMSG, 1, 0, 3, 0, 0, 0, 2, 1, 0, 3, 0, 0, 0, 2);
	LIST(EBADMSG, 1, 0, 7, 0, 1, 0, 7, 0); /* extensions twice */
	LIST(EBADMSG, 1, 0, 3, 0, 0, 0, 3);
	LIST(EBADMSG, 1, 0, 7, 0); /* a path for another tree */
	CHECK(!removed);
	LIST(ENOENT, 1, 0, 3, 0, 0, 0, 0);
	CHECK(removed);
#undef LIST
	mls_commit_free(&c);
	mls_fixture_free(&p);
}

TEST(group_refuses_senders_that_may_not_commit)
{
	struct mls_fixture p;
	struct mls_out content = {0}, o = {0};
	struct mls_group *next = NULL;
	bool removed;

	CHECK_INT(three(&p), 0);
	mls_content_write(&content, mls_group_id(p.members[0].group), 2, MLS_SENDER_EXTERNAL, 0,
			  MLS_CONTENT_COMMIT);
	mls_out_slice(&content, BODY(0, 0));
	CHECK_INT(mls_fixture_sign(&p, &o, mls_out_view(&content)), 0);
	mls_out_vec(&o, mls_slice((uint8_t[MLS_HASH]){0}, MLS_HASH));
	CHECK_INT(mls_group_process(&next, p.members[0].group, mls_out_view(&o), &removed),
		  EBADMSG);
	mls_out_free(&content);
	mls_out_free(&o);
	mls_content_write(&content, mls_group_id(p.members[0].group), 2, MLS_SENDER_NEW_COMMIT, 0,
			  MLS_CONTENT_COMMIT);
	mls_out_slice(&content, BODY(0, 0));
	CHECK_INT(mls_fixture_sign(&p, &o, mls_out_view(&content)), 0);
	mls_out_vec(&o, mls_slice((uint8_t[MLS_HASH]){0}, MLS_HASH));
	CHECK_INT(mls_group_process(&next, p.members[0].group, mls_out_view(&o), &removed),
		  ENOTSUP);
	mls_out_free(&content);
	mls_out_free(&o);
	/* a proposal is no commit, and a commit no proposal */
	CHECK_INT(mls_fixture_remove(&p, &o, p.members[0].group, 2), 0);
	CHECK_INT(mls_group_process(&next, p.members[0].group, mls_out_view(&o), &removed),
		  EBADMSG);
	mls_out_free(&o);
	CHECK_INT(mls_fixture_member_message(&p, &o, 1, MLS_CONTENT_COMMIT, BODY(0, 0),
					     (uint8_t[MLS_HASH]){0}),
		  0);
	CHECK_INT(mls_group_propose(p.members[0].group, mls_out_view(&o), NULL), EBADMSG);
	mls_out_free(&o);
	mls_fixture_free(&p);
}

TEST(group_does_not_commit_what_cannot_stand)
{
	struct mls_fixture p;
	struct mls_commit c = {0};

	CHECK_INT(three(&p), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), ENOENT);
	CHECK_INT(mls_fixture_propose_remove(&p, 0, 0), 0);
	CHECK_INT(mls_group_commit(&c, p.members[0].group, &p.rng), EBADMSG);
	CHECK(!c.next && !c.message.p);
	CHECK_INT(mls_fixture_commit(&p, 1), 0);
	CHECK(mls_fixture_agrees(&p));
	CHECK_INT(mls_fixture_propose_add(&p, 1, 2), 0); /* a member already */
	CHECK_INT(mls_group_commit(&c, p.members[1].group, &p.rng), EBADMSG);
	mls_fixture_free(&p);
}
