/* Makes our own commit, its welcome and the next state (RFC 9420 sections 12.4.1 and 12.4.3). */
#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/group_internal.h"

struct making {
	const struct mls_group *g;
	struct mls_group *next;
	struct group_plan plan;
	struct mls_path_secrets secrets; /* none without a path */
	uint8_t commit_secret[MLS_HASH];
	uint8_t tag[MLS_HASH];
	struct mls_rng *rng;
};

static struct slice hash_slice(const uint8_t *p)
{
	return mls_slice(p, MLS_HASH);
}

static int sign_with_context(struct mls_out *o, const struct mls_group *g, const char *label,
			     struct slice content, struct mls_rng *rng)
{
	uint8_t sig[MLS_SIG_MAX];
	size_t n = 0;
	int err = mls_sign(sig, &n, g->signature.priv, label, content, rng);

	if (!err)
		mls_out_vec(o, mls_slice(sig, n));
	return err ? err : o->err;
}

/* ---- the next tree ---- */

static int take_proposals(struct making *m)
{
	const struct mls_group *g = m->g;
	int err = g->n_proposals ? 0 : ENOENT;

	for (unsigned i = 0; !err && i < g->n_proposals; i++)
		err = group_plan_put(&m->plan, &g->proposals[i].proposal,
				     g->proposals[i].message.sender_index, false);
	return err ? err : group_plan_check(&m->plan, g, g->keys.leaf);
}

static int grow_tree(struct making *m)
{
	const struct mls_group *g = m->g;
	int err = group_successor(&m->next, g);

	if (!err)
		err = group_plan_apply(&m->plan, g, m->next->tree);
	if (!err && group_plan_needs_path(&m->plan))
		err = mls_path_make(m->next->tree, &m->next->keys, &g->signature,
				    g->context.group_id, &m->secrets, m->commit_secret, m->rng);
	return err ? err : group_provisional(m->next, g, m->plan.extensions);
}

/* ---- the message ---- */

static int write_content(struct mls_out *o, const struct making *m)
{
	const struct mls_group *g = m->g;
	bool path = group_plan_needs_path(&m->plan);
	size_t at;
	int err = 0;

	mls_content_write(o, g->context.group_id, g->context.epoch, MLS_SENDER_MEMBER, g->keys.leaf,
			  MLS_CONTENT_COMMIT);
	at = mls_out_open(o);
	for (unsigned i = 0; i < g->n_proposals; i++) {
		mls_out_be(o, 2, 1); /* by reference */
		mls_out_vec(o, hash_slice(g->proposals[i].ref));
	}
	mls_out_close(o, at);
	mls_out_be(o, path, 1);
	if (path)
		err = mls_path_write(o, m->next->tree, g->keys.leaf, &m->secrets,
				     mls_out_view(&m->next->context_bytes),
				     (struct mls_leaf_set){m->plan.added, m->plan.n_added}, m->rng);
	return err ? err : o->err;
}

/* Appends signature, confirmation tag and membership tag to the content of the message, which also
 * gives the next epoch. */
static int append_authentication(struct mls_out *o, struct making *m, size_t content)
{
	enum { VERSION = 2 };
	const struct mls_group *g = m->g;
	struct mls_out tbs = {0};
	uint8_t membership[MLS_HASH];
	size_t signature = o->n;
	struct rd r;
	int err;

	err = mls_content_tbs(&tbs, mls_slice(o->p + content, o->n - content),
			      mls_out_view(&g->context_bytes));
	if (!err)
		err = sign_with_context(o, g, "FramedContentTBS", mls_out_view(&tbs), m->rng);
	if (!err)
		err = group_enter(m->next, g, m->commit_secret,
				  mls_slice(o->p + VERSION, o->n - VERSION), m->tag);
	if (err)
		goto out;
	r = rd_of(o->p + signature, o->n - signature);
	err = mls_membership_tag(membership, g->secrets.membership, mls_out_view(&tbs),
				 mls_rd_vec(&r), hash_slice(m->tag));
	if (err)
		goto out;
	mls_out_vec(o, hash_slice(m->tag));
	mls_out_vec(o, hash_slice(membership));
	err = o->err;
out:
	mls_out_free(&tbs);
	return err;
}

static int write_message(struct mls_out *o, struct making *m)
{
	size_t content;
	int err;

	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
	content = o->n;
	err = write_content(o, m);
	return err ? err : append_authentication(o, m, content);
}

/* ---- the welcome ---- */

static int write_group_info(struct mls_out *o, const struct making *m)
{
	const struct mls_group *next = m->next;
	size_t extensions, tree;

	mls_out_slice(o, mls_out_view(&next->context_bytes));
	extensions = mls_out_open(o);
	mls_out_be(o, MLS_EXT_RATCHET_TREE, 2);
	tree = mls_out_open(o);
	mls_tree_write(next->tree, o);
	mls_out_close(o, tree);
	mls_out_close(o, extensions);
	mls_out_vec(o, hash_slice(m->tag));
	mls_out_be(o, next->keys.leaf, 4);
	return o->err ? o->err
		      : sign_with_context(o, next, "GroupInfoTBS", mls_out_view(o), m->rng);
}

/* Encrypts the GroupInfo, to which every new member's secrets are bound. */
static int seal_group_info(uint8_t **out, size_t *n, const struct making *m)
{
	uint8_t key[MLS_KEY], nonce[MLS_NONCE], *sealed = NULL;
	struct mls_out info = {0};
	int err;

	err = write_group_info(&info, m);
	if (!err)
		err = mls_welcome_key(key, nonce, m->next->secrets.welcome);
	if (err)
		goto out;
	sealed = malloc(info.n + MLS_TAG);
	err = sealed ? mls_seal(sealed, key, nonce, (struct slice){0}, mls_out_view(&info))
		     : ENOMEM;
	if (err)
		goto out;
	*n = info.n + MLS_TAG;
	*out = sealed;
	sealed = NULL;
out:
	mls_wipe(key, sizeof key);
	mls_wipe(nonce, sizeof nonce);
	free(sealed);
	mls_out_free(&info);
	return err;
}

/* Writes GroupSecrets with the path secret of the lowest node above both of us. */
static void write_secrets(struct mls_out *o, const struct making *m, uint32_t leaf)
{
	uint32_t i = 0;

	mls_out_vec(o, hash_slice(m->next->secrets.joiner));
	while (i < m->secrets.n && !tree_covers(m->secrets.node[i], 2 * leaf))
		i++;
	mls_out_be(o, i < m->secrets.n, 1);
	if (i < m->secrets.n)
		mls_out_vec(o, hash_slice(m->secrets.secret[i]));
	mls_out_vec(o, (struct slice){0}); /* pre-shared keys */
}

static int write_newcomer(struct mls_out *o, const struct making *m,
			  const struct mls_key_package *k, uint32_t leaf, struct slice group_info)
{
	enum { SECRETS_MAX = 128 };
	uint8_t ref[MLS_HASH], enc[MLS_POINT], sealed[SECRETS_MAX + MLS_TAG];
	struct mls_out plain = {0};
	int err;

	write_secrets(&plain, m, leaf);
	err = plain.err;
	if (!err && plain.n > SECRETS_MAX)
		err = EOVERFLOW;
	if (!err)
		err = mls_key_package_ref_hash(ref, k);
	if (!err)
		err = mls_encrypt_label(enc, sealed, k->init_key, "Welcome", group_info,
					mls_out_view(&plain), m->rng);
	if (!err) {
		mls_out_vec(o, hash_slice(ref));
		mls_out_vec(o, mls_slice(enc, sizeof enc));
		mls_out_vec(o, mls_slice(sealed, plain.n + MLS_TAG));
		err = o->err;
	}
	mls_out_free(&plain);
	return err;
}

static int write_welcome(struct mls_out *o, const struct making *m)
{
	uint8_t *sealed = NULL;
	size_t n = 0, at;
	unsigned nth = 0;
	int err;

	if (!m->plan.n_added)
		return 0;
	err = seal_group_info(&sealed, &n, m);
	if (err)
		return err;
	mls_out_be(o, MLS_SUITE, 2);
	at = mls_out_open(o);
	for (unsigned i = 0; !err && i < m->plan.n; i++) {
		const struct mls_proposal *p = &m->plan.changes[i].proposal;

		if (p->type == MLS_PROPOSAL_ADD)
			err = write_newcomer(o, m, p->key_package, m->plan.added[nth++],
					     mls_slice(sealed, n));
	}
	mls_out_close(o, at);
	mls_out_vec(o, mls_slice(sealed, n));
	free(sealed);
	return err ? err : o->err;
}

/* ---- commit ---- */

int mls_group_commit(struct mls_commit *out, const struct mls_group *g, struct mls_rng *rng)
{
	struct making m = {.g = g, .rng = rng};
	struct mls_commit c = {0};
	int err;

	err = take_proposals(&m);
	if (!err)
		err = grow_tree(&m);
	if (!err)
		err = write_message(&c.message, &m);
	if (!err)
		err = write_welcome(&c.welcome, &m);
	if (!err) {
		c.next = m.next;
		m.next = NULL;
		*out = c;
		c = (struct mls_commit){0};
	}
	mls_commit_free(&c);
	mls_group_free(m.next);
	group_plan_free(&m.plan);
	mls_wipe(&m, sizeof m);
	return err;
}

void mls_commit_free(struct mls_commit *c)
{
	mls_out_free(&c->message);
	mls_out_free(&c->welcome);
	c->next = mls_group_free(c->next);
}
