#include "tests/unit/mediad/mls/commit_fixture.h"

#include <errno.h>

#include "mediad/mls/group_internal.h"

enum { VERSION = 2 };

struct forging {
	const struct mls_group *g;
	const struct commit_forgery *f;
	struct mls_group *next;
	struct group_plan plan;
	struct mls_out list;
	struct mls_path_secrets secrets;
	uint8_t commit_secret[MLS_HASH];
	struct mls_rng *rng;
};

/* ---- the proposals ---- */

static int write_list(struct forging *m)
{
	const struct mls_group *g = m->g;

	if (m->f->list.n)
		mls_out_slice(&m->list, m->f->list);
	for (unsigned i = 0; !m->f->list.n && i < g->n_proposals; i++) {
		mls_out_be(&m->list, 2, 1);
		mls_out_vec(&m->list, mls_slice(g->proposals[i].ref, MLS_HASH));
	}
	return m->list.err;
}

static int plan_list(struct forging *m)
{
	struct rd r = rd_of(m->list.p, m->list.n);
	int err = 0;

	while (!err && rd_left(&r)) {
		struct mls_proposal_or_ref p;
		const struct remembered *known;

		err = mls_proposal_or_ref_read(&p, &r);
		if (err)
			break;
		known = p.by_ref ? group_recall(m->g, p.ref) : NULL;
		if (known)
			err = group_plan_put(&m->plan, &known->proposal,
					     known->message.sender_index, false);
		else if (!p.by_ref)
			err = group_plan_put(&m->plan, &p.value, m->g->keys.leaf, true);
		else
			err = ENOENT;
	}
	return err;
}

/* ---- the next tree ---- */

/* Replaces our leaf by one from which the path's leaf is made: with another identity or key. */
static int change_leaf(struct forging *m)
{
	struct mls_leaf like = *mls_tree_leaf(m->next->tree, m->g->keys.leaf), *leaf = NULL;
	struct mls_out o = {0};
	struct rd r;
	int err;

	if (m->f->signer)
		like.signature_key = mls_slice(m->f->signer->pub, MLS_POINT);
	mls_out_vec(&o, like.encryption_key);
	mls_out_vec(&o, like.signature_key);
	if (m->f->identity.n) {
		mls_out_be(&o, MLS_CREDENTIAL_BASIC, 2);
		mls_out_vec(&o, m->f->identity);
	} else {
		mls_out_slice(&o, like.credential);
	}
	mls_out_vec(&o, like.versions);
	mls_out_vec(&o, like.suites);
	mls_out_vec(&o, like.extension_types);
	mls_out_vec(&o, like.proposal_types);
	mls_out_vec(&o, like.credential_types);
	mls_out_be(&o, MLS_LEAF_UPDATE, 1);
	mls_out_be(&o, 0, 2); /* no extensions, no signature */
	r = rd_of(o.p, o.n);
	err = o.err ? o.err : mls_leaf_read(&leaf, &r);
	if (!err)
		err = mls_tree_set_leaf(m->next->tree, m->g->keys.leaf, leaf);
	mls_leaf_free(leaf);
	mls_out_free(&o);
	return err;
}

static bool has_path(const struct forging *m)
{
	return m->f->path || group_plan_needs_path(&m->plan);
}

static int grow_tree(struct forging *m)
{
	const struct p256_pair *signer = m->f->signer ? m->f->signer : &m->g->signature;
	int err = group_successor(&m->next, m->g);

	if (!err)
		err = group_plan_apply(&m->plan, m->g, m->next->tree);
	if (!err && has_path(m))
		err = change_leaf(m);
	if (!err && has_path(m))
		err = mls_path_make(m->next->tree, &m->next->keys, signer, m->g->context.group_id,
				    &m->secrets, m->commit_secret, m->rng);
	return err ? err : group_provisional(m->next, m->g, m->plan.extensions);
}

/* ---- the message ---- */

static int write_content(struct mls_out *o, const struct forging *m)
{
	mls_content_write(o, m->g->context.group_id, m->g->context.epoch, MLS_SENDER_MEMBER,
			  m->g->keys.leaf, MLS_CONTENT_COMMIT);
	mls_out_vec(o, mls_out_view(&m->list));
	mls_out_be(o, has_path(m), 1);
	if (!has_path(m))
		return o->err;
	return mls_path_write(o, m->next->tree, m->g->keys.leaf, &m->secrets,
			      mls_out_view(&m->next->context_bytes),
			      (struct mls_leaf_set){m->plan.added, m->plan.n_added}, m->rng);
}

static int authenticate(struct mls_out *o, struct forging *m)
{
	const struct mls_group *g = m->g;
	uint8_t sig[MLS_SIG_MAX], tag[MLS_HASH], membership[MLS_HASH];
	struct mls_out tbs = {0};
	size_t n = 0;
	int err = mls_content_tbs(&tbs, mls_slice(o->p + 2 * VERSION, o->n - 2 * VERSION),
				  mls_out_view(&g->context_bytes));

	if (!err)
		err = mls_sign(sig, &n, g->signature.priv, "FramedContentTBS", mls_out_view(&tbs),
			       m->rng);
	mls_out_vec(o, mls_slice(sig, n));
	if (!err)
		err = group_enter(m->next, g, m->commit_secret,
				  mls_slice(o->p + VERSION, o->n - VERSION), tag);
	if (!err)
		err = mls_membership_tag(membership, g->secrets.membership, mls_out_view(&tbs),
					 mls_slice(sig, n), mls_slice(tag, sizeof tag));
	mls_out_vec(o, mls_slice(tag, sizeof tag));
	mls_out_vec(o, mls_slice(membership, sizeof membership));
	mls_out_free(&tbs);
	return err ? err : o->err;
}

int commit_forge(struct mls_out *out, const struct mls_group *g, const struct commit_forgery *f,
		 struct mls_rng *rng)
{
	struct forging m = {.g = g, .f = f, .rng = rng};
	int err = write_list(&m);

	if (!err)
		err = plan_list(&m);
	if (!err)
		err = grow_tree(&m);
	if (!err) {
		mls_out_be(out, MLS_VERSION, VERSION);
		mls_out_be(out, MLS_PUBLIC_MESSAGE, 2);
		err = write_content(out, &m);
	}
	if (!err)
		err = authenticate(out, &m);
	mls_group_free(m.next);
	group_plan_free(&m.plan);
	mls_out_free(&m.list);
	return err;
}
