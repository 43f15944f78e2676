#include "tests/unit/mediad/mls/mls_fixture.h"

#include <errno.h>

#include "tests/unit/mediad/mls/tree_fixture.h"

static const struct slice room = {.p = (const uint8_t *)"\x12\x34\x56\x78\x9a\xbc\xde\xf0", .n = 8};

/* ---- life ---- */

/* One sender, its credential a single zero byte, as Discord's. */
static int write_senders(struct mls_fixture *p)
{
	struct mls_out *o = &p->extensions;
	size_t data, senders;

	mls_out_be(o, MLS_EXT_EXTERNAL_SENDERS, 2);
	data = mls_out_open(o);
	senders = mls_out_open(o);
	mls_out_vec(o, mls_slice(p->sender.pub, MLS_POINT));
	mls_out_be(o, MLS_CREDENTIAL_BASIC, 2);
	mls_out_vec(o, mls_slice("", 1));
	mls_out_close(o, senders);
	mls_out_close(o, data);
	return o->err;
}

int mls_fixture_init(struct mls_fixture *p, const char *seed)
{
	int err;

	*p = (struct mls_fixture){.rng = tree_fixture_rng(seed)};
	err = p256_generate(&p->sender, &p->rng);
	return err ? err : write_senders(p);
}

static void leave(struct mls_fixture_member *g)
{
	mls_key_package_free(g->package);
	mls_group_free(g->group);
	*g = (struct mls_fixture_member){0};
}

void mls_fixture_free(struct mls_fixture *p)
{
	for (unsigned i = 0; i < MLS_FIXTURE_MAX; i++)
		leave(&p->members[i]);
	mls_out_free(&p->extensions);
}

static int make_leaf(struct mls_leaf **out, struct mls_fixture *p, const struct mls_leaf_spec *spec)
{
	struct mls_leaf *plain = NULL, like;
	int err = mls_leaf_make(&plain, spec, &p->rng);

	if (err || !p->capable.n) {
		*out = plain;
		return err;
	}
	like = *plain;
	like.extension_types = p->capable;
	err = mls_leaf_remake(out, &like, spec, &p->rng);
	mls_leaf_free(plain);
	return err;
}

int mls_fixture_make_keys(struct mls_fixture *p, unsigned who)
{
	struct mls_fixture_member *g = &p->members[who];
	uint8_t id[8] = {[7] = (uint8_t)(who + 1)};
	struct mls_leaf_spec spec = {.identity = mls_slice(id, sizeof id),
				     .encryption_key = mls_slice(g->me.encryption.pub, MLS_POINT),
				     .signer = &g->me.signature,
				     .source = MLS_LEAF_KEY_PACKAGE};
	struct mls_leaf *leaf = NULL;
	int err;

	leave(g);
	err = p256_generate(&g->me.signature, &p->rng);
	if (!err)
		err = p256_generate(&g->me.encryption, &p->rng);
	if (!err)
		err = p256_generate(&g->init, &p->rng);
	if (!err)
		err = make_leaf(&leaf, p, &spec);
	if (!err)
		err = mls_key_package_make(&g->package, leaf, mls_slice(g->init.pub, MLS_POINT),
					   &g->me.signature, &p->rng);
	mls_leaf_free(leaf);
	return err;
}

int mls_fixture_create_group(struct mls_fixture *p, unsigned who)
{
	struct mls_fixture_member *g = &p->members[who];
	int err = mls_fixture_make_keys(p, who);

	return err ? err
		   : mls_group_create(&g->group, room, &g->me, g->package->leaf,
				      mls_out_view(&p->extensions), &p->rng);
}

/* ---- messages ---- */

static void write_head(struct mls_out *o)
{
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
}

int mls_fixture_sign(struct mls_fixture *p, struct mls_out *out, struct slice content)
{
	uint8_t sig[MLS_SIG_MAX];
	size_t n;
	int err;

	write_head(out);
	mls_out_slice(out, content);
	err = out->err;
	if (!err)
		err = mls_sign(sig, &n, p->sender.priv, "FramedContentTBS", mls_out_view(out),
			       &p->rng);
	if (!err)
		mls_out_vec(out, mls_slice(sig, n));
	return err ? err : out->err;
}

static int propose(struct mls_fixture *p, struct mls_out *out, const struct mls_group *g,
		   struct slice body)
{
	struct mls_out content = {0};
	int err;

	mls_content_write(&content, mls_group_id(g), mls_group_epoch(g), MLS_SENDER_EXTERNAL, 0,
			  MLS_CONTENT_PROPOSAL);
	mls_out_slice(&content, body);
	err = content.err;
	if (!err)
		err = mls_fixture_sign(p, out, mls_out_view(&content));
	mls_out_free(&content);
	return err;
}

int mls_fixture_add(struct mls_fixture *p, struct mls_out *out, const struct mls_group *g,
		    unsigned who)
{
	struct mls_out body = {0};
	int err;

	mls_out_be(&body, MLS_PROPOSAL_ADD, 2);
	mls_out_slice(&body, p->members[who].package->raw);
	err = body.err ? body.err : propose(p, out, g, mls_out_view(&body));
	mls_out_free(&body);
	return err;
}

int mls_fixture_remove(struct mls_fixture *p, struct mls_out *out, const struct mls_group *g,
		       uint32_t leaf)
{
	uint8_t body[6];
	struct wr w = wr_of(body, sizeof body);

	wr_be(&w, MLS_PROPOSAL_REMOVE, 2);
	wr_be(&w, leaf, 4);
	return propose(p, out, g, mls_slice(body, sizeof body));
}

/* What stands in o is version, wire format and content. */
static int seal_member(struct mls_fixture *p, struct mls_out *o, const struct mls_fixture_member *g,
		       const uint8_t *confirmation_tag)
{
	struct mls_out tbs = {0};
	uint8_t sig[MLS_SIG_MAX], tag[MLS_HASH];
	size_t n = 0;
	int err;

	mls_out_slice(&tbs, mls_out_view(o));
	mls_out_slice(&tbs, mls_group_context_bytes(g->group));
	err = tbs.err;
	if (!err)
		err = mls_sign(sig, &n, g->me.signature.priv, "FramedContentTBS",
			       mls_out_view(&tbs), &p->rng);
	if (!err)
		err = mls_membership_tag(
			tag, mls_group_secrets(g->group)->membership, mls_out_view(&tbs),
			mls_slice(sig, n),
			mls_slice(confirmation_tag, confirmation_tag ? MLS_HASH : 0));
	mls_out_free(&tbs);
	if (err)
		return err;
	mls_out_vec(o, mls_slice(sig, n));
	if (confirmation_tag)
		mls_out_vec(o, mls_slice(confirmation_tag, MLS_HASH));
	mls_out_vec(o, mls_slice(tag, MLS_HASH));
	return o->err;
}

int mls_fixture_member_message(struct mls_fixture *p, struct mls_out *out, unsigned who,
			       enum mls_content_type type, struct slice body,
			       const uint8_t confirmation_tag[MLS_HASH])
{
	const struct mls_fixture_member *g = &p->members[who];

	write_head(out);
	mls_content_write(out, mls_group_id(g->group), mls_group_epoch(g->group), MLS_SENDER_MEMBER,
			  mls_group_leaf(g->group), type);
	mls_out_slice(out, body);
	return out->err ? out->err : seal_member(p, out, g, confirmation_tag);
}

int mls_fixture_retag(const struct mls_group *g, struct mls_out *message)
{
	struct rd r = rd_of(message->p, message->n);
	struct mls_out tbs = {0};
	struct mls_public m;
	uint8_t tag[MLS_HASH];
	int err = mls_public_read(&m, &r);

	if (!err)
		err = mls_content_tbs(&tbs, m.content, mls_group_context_bytes(g));
	if (!err)
		err = mls_membership_tag(tag, mls_group_secrets(g)->membership, mls_out_view(&tbs),
					 m.signature, m.confirmation_tag);
	if (!err)
		memcpy(message->p + message->n - MLS_HASH, tag, MLS_HASH);
	mls_out_free(&tbs);
	return err;
}

/* ---- together ---- */

int mls_fixture_deliver(struct mls_fixture *p, struct slice message, uint8_t ref[MLS_HASH])
{
	int err = 0;

	for (unsigned i = 0; !err && i < MLS_FIXTURE_MAX; i++)
		if (p->members[i].group)
			err = mls_group_propose(p->members[i].group, message, ref);
	return err;
}

int mls_fixture_propose_add(struct mls_fixture *p, unsigned by, unsigned who)
{
	struct mls_out o = {0};
	int err = mls_fixture_add(p, &o, p->members[by].group, who);

	if (!err)
		err = mls_fixture_deliver(p, mls_out_view(&o), NULL);
	mls_out_free(&o);
	return err;
}

int mls_fixture_propose_remove(struct mls_fixture *p, unsigned by, unsigned who)
{
	struct mls_out o = {0};
	int err = mls_fixture_remove(p, &o, p->members[by].group,
				     mls_group_leaf(p->members[who].group));

	if (!err)
		err = mls_fixture_deliver(p, mls_out_view(&o), NULL);
	mls_out_free(&o);
	return err;
}

/* A guest inside takes the commit in. */
static int follow(struct mls_fixture_member *g, struct slice commit)
{
	struct mls_group *next = NULL;
	bool removed;
	int err = mls_group_process(&next, g->group, commit, &removed);

	if (err && !(err == ENOENT && removed))
		return err;
	mls_group_free(g->group);
	g->group = next;
	return 0;
}

static int enter(struct mls_fixture_member *g, struct slice welcome)
{
	int err =
		mls_group_join(&g->group, welcome, (struct slice){0}, g->package, &g->init, &g->me);

	return err == ENOENT ? 0 : err;
}

int mls_fixture_commit(struct mls_fixture *p, unsigned by)
{
	struct mls_commit c;
	int err = mls_group_commit(&c, p->members[by].group, &p->rng);

	if (err)
		return err;
	for (unsigned i = 0; !err && i < MLS_FIXTURE_MAX; i++) {
		struct mls_fixture_member *g = &p->members[i];

		if (i == by)
			continue;
		if (g->group)
			err = follow(g, mls_out_view(&c.message));
		else if (g->package && c.welcome.n)
			err = enter(g, mls_out_view(&c.welcome));
	}
	if (!err) {
		mls_group_free(p->members[by].group);
		p->members[by].group = c.next;
		c.next = NULL;
	}
	mls_commit_free(&c);
	return err;
}

static bool same(const struct mls_group *a, const struct mls_group *b)
{
	uint8_t x[24], y[24];

	return mls_equal(mls_group_context_bytes(a), mls_group_context_bytes(b)) &&
	       memcmp(mls_group_secrets(a)->authenticator, mls_group_secrets(b)->authenticator,
		      MLS_HASH) == 0 &&
	       memcmp(mls_group_secrets(a)->init, mls_group_secrets(b)->init, MLS_HASH) == 0 &&
	       !mls_group_export(a, x, sizeof x, "a label", mls_slice("context", 7)) &&
	       !mls_group_export(b, y, sizeof y, "a label", mls_slice("context", 7)) &&
	       memcmp(x, y, sizeof x) == 0;
}

bool mls_fixture_agrees(const struct mls_fixture *p)
{
	const struct mls_group *first = NULL;

	for (unsigned i = 0; i < MLS_FIXTURE_MAX; i++) {
		const struct mls_group *g = p->members[i].group;

		if (!g)
			continue;
		if (!first)
			first = g;
		if (!same(first, g) ||
		    mls_tree_members(mls_group_tree(g)) != mls_fixture_count_inside(p) ||
		    (g != first && mls_group_leaf(g) == mls_group_leaf(first)))
			return false;
	}
	return first != NULL;
}

unsigned mls_fixture_count_inside(const struct mls_fixture *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MLS_FIXTURE_MAX; i++)
		n += p->members[i].group != NULL;
	return n;
}
