#include "mediad/mls/group_internal.h"

#include <errno.h>
#include <stdlib.h>

static struct slice hash_slice(const uint8_t *p)
{
	return mls_slice(p, MLS_HASH);
}

/* ---- alloc, free ---- */

int group_alloc(struct mls_group **out)
{
	struct mls_group *g = calloc(1, sizeof *g);

	if (!g)
		return ENOMEM;
	*out = g;
	return 0;
}

int group_successor(struct mls_group **out, const struct mls_group *g)
{
	struct mls_group *next;
	int err = group_alloc(&next);

	if (err)
		return err;
	next->keys = g->keys;
	next->signature = g->signature;
	err = mls_tree_copy(&next->tree, g->tree);
	if (err)
		return mls_group_free(next), err;
	*out = next;
	return 0;
}

struct mls_group *mls_group_free(struct mls_group *g)
{
	if (!g)
		return NULL;
	for (unsigned i = 0; i < g->n_proposals; i++) {
		mls_proposal_free(&g->proposals[i].proposal);
		free(g->proposals[i].bytes);
	}
	free(g->proposals);
	mls_tree_free(g->tree);
	mls_out_free(&g->context_bytes);
	mls_wipe(g, sizeof *g);
	free(g);
	return NULL;
}

static int init_group(struct mls_group *g, struct slice group_id, struct mls_leaf *leaf,
		      struct slice extensions, struct mls_rng *rng)
{
	uint8_t tree_hash[MLS_HASH], epoch_secret[MLS_HASH], tag[MLS_HASH];
	struct mls_group_context c = {.suite = MLS_SUITE,
				      .group_id = group_id,
				      .tree_hash = hash_slice(tree_hash),
				      .extensions = extensions};
	int err;

	err = mls_tree_alloc(&g->tree);
	if (!err)
		err = mls_tree_add(g->tree, leaf, &g->keys.leaf);
	if (!err)
		err = group_supported(g->tree, extensions);
	if (!err)
		err = mls_tree_root_hash(g->tree, tree_hash);
	if (!err)
		err = group_set_context(g, &c);
	if (err)
		return err;
	mls_rng_fill(rng, epoch_secret, sizeof epoch_secret);
	err = mls_schedule_first(&g->secrets, epoch_secret);
	mls_wipe(epoch_secret, sizeof epoch_secret);
	if (!err)
		err = mls_confirmation_tag(tag, &g->secrets, g->context.confirmed);
	if (!err)
		err = mls_interim(g->interim, g->context.confirmed, tag);
	return err;
}

int mls_group_create(struct mls_group **out, struct slice group_id, const struct mls_identity *me,
		     struct mls_leaf *leaf, struct slice extensions, struct mls_rng *rng)
{
	struct mls_group *g = NULL;
	int err = mls_extensions_check(extensions);

	if (!err && (leaf->source != MLS_LEAF_KEY_PACKAGE ||
		     !mls_equal(leaf->encryption_key, mls_slice(me->encryption.pub, MLS_POINT)) ||
		     !mls_equal(leaf->signature_key, mls_slice(me->signature.pub, MLS_POINT))))
		err = EBADMSG;
	if (!err)
		err = group_alloc(&g);
	if (err)
		return err;
	g->keys.known[0] = true;
	g->keys.key[0] = me->encryption;
	g->signature = me->signature;
	err = init_group(g, group_id, leaf, extensions, rng);
	if (err)
		return mls_group_free(g), err;
	*out = g;
	return 0;
}

/* ---- from epoch to epoch ---- */

int group_set_context(struct mls_group *g, const struct mls_group_context *c)
{
	struct mls_out bytes = {0};
	struct rd r;
	int err;

	mls_group_context_write(&bytes, c);
	err = bytes.err;
	if (!err) {
		r = rd_of(bytes.p, bytes.n);
		err = mls_group_context_read(&g->context, &r);
	}
	if (err)
		return mls_out_free(&bytes), err;
	mls_out_free(&g->context_bytes);
	g->context_bytes = bytes;
	return 0;
}

int group_provisional(struct mls_group *next, const struct mls_group *g, struct slice extensions)
{
	struct mls_group_context c = g->context;
	uint8_t tree_hash[MLS_HASH];
	int err;

	if (c.epoch == UINT64_MAX)
		return EOVERFLOW;
	err = mls_tree_root_hash(next->tree, tree_hash);
	if (err)
		return err;
	c.epoch++;
	c.tree_hash = hash_slice(tree_hash);
	c.extensions = extensions;
	return group_set_context(next, &c);
}

int group_enter(struct mls_group *next, const struct mls_group *g,
		const uint8_t commit_secret[MLS_HASH], struct slice transcript_input,
		uint8_t tag[MLS_HASH])
{
	struct mls_group_context c = next->context;
	uint8_t confirmed[MLS_HASH];
	int err;

	err = mls_confirmed(confirmed, hash_slice(g->interim), transcript_input);
	if (err)
		return err;
	c.confirmed = hash_slice(confirmed);
	err = group_set_context(next, &c);
	if (!err)
		err = mls_schedule(&next->secrets, g->secrets.init, commit_secret, NULL,
				   mls_out_view(&next->context_bytes));
	if (!err)
		err = mls_confirmation_tag(tag, &next->secrets, next->context.confirmed);
	if (!err)
		err = mls_interim(next->interim, next->context.confirmed, tag);
	return err;
}

/* ---- getters ---- */

uint64_t mls_group_epoch(const struct mls_group *g)
{
	return g->context.epoch;
}

struct slice mls_group_id(const struct mls_group *g)
{
	return g->context.group_id;
}

uint32_t mls_group_leaf(const struct mls_group *g)
{
	return g->keys.leaf;
}

const struct mls_tree *mls_group_tree(const struct mls_group *g)
{
	return g->tree;
}

const struct mls_epoch *mls_group_secrets(const struct mls_group *g)
{
	return &g->secrets;
}

struct slice mls_group_extensions(const struct mls_group *g)
{
	return g->context.extensions;
}

struct slice mls_group_context_bytes(const struct mls_group *g)
{
	return mls_out_view(&g->context_bytes);
}

struct slice mls_group_confirmed(const struct mls_group *g)
{
	return g->context.confirmed;
}

int mls_group_export(const struct mls_group *g, uint8_t *out, size_t n, const char *label,
		     struct slice context)
{
	return mls_export(out, n, g->secrets.exporter, label, context);
}
