/* Becoming a member by a Welcome (RFC 9420 section 12.4.3.1). */
#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/group_internal.h"

/* GroupSecrets. */
struct secrets {
	uint8_t joiner[MLS_HASH];
	bool has_path;
	uint8_t path[MLS_HASH];
	uint8_t psk[MLS_HASH];
};

/* The keys of a new member. */
struct newcomer {
	const struct mls_key_package *key_package;
	const struct p256_pair *init;
	const struct mls_identity *me;
	struct mls_psk_list psks;
};

/* Decrypted bytes; wiped and freed by opened_free. */
struct opened {
	uint8_t *p;
	size_t n;
};

static void opened_free(struct opened *o)
{
	if (o->p)
		mls_wipe(o->p, o->n);
	free(o->p);
}

static int opened_alloc(struct opened *o, struct slice sealed)
{
	if (sealed.n < MLS_TAG)
		return EBADMSG;
	o->n = sealed.n - MLS_TAG;
	o->p = malloc(o->n ? o->n : 1);
	return o->p ? 0 : ENOMEM;
}

/* ---- secrets ---- */

static bool read_hash(uint8_t out[MLS_HASH], struct rd *r)
{
	struct slice s = mls_rd_vec(r);

	if (s.n != MLS_HASH)
		return false;
	memcpy(out, s.p, MLS_HASH);
	return true;
}

static int read_secrets(struct secrets *s, const struct opened *plain, const struct newcomer *who)
{
	struct rd r = rd_of(plain->p, plain->n);
	struct slice psks;

	if (!read_hash(s->joiner, &r))
		return EBADMSG;
	s->has_path = mls_rd_optional(&r);
	if (s->has_path && !read_hash(s->path, &r))
		return EBADMSG;
	psks = mls_rd_vec(&r);
	if (!r.ok || rd_left(&r))
		return EBADMSG;
	return mls_psk_secret(s->psk, psks, who->psks.psk, who->psks.n);
}

static int open_secrets(struct secrets *out, const struct mls_welcome *w,
			const struct newcomer *who)
{
	struct opened plain = {0};
	struct slice enc = {0}, sealed = {0};
	uint8_t ref[MLS_HASH];
	int err;

	err = mls_key_package_ref_hash(ref, who->key_package);
	if (!err)
		err = mls_welcome_secrets(w, ref, &enc, &sealed);
	if (!err)
		err = opened_alloc(&plain, sealed);
	if (!err)
		err = mls_decrypt_label(plain.p, who->init, "Welcome", w->group_info, enc, sealed);
	if (!err)
		err = read_secrets(out, &plain, who);
	opened_free(&plain);
	return err;
}

/* ---- group info ---- */

static int open_group_info(struct opened *out, struct slice sealed, const struct secrets *s)
{
	uint8_t welcome[MLS_HASH], key[MLS_KEY], nonce[MLS_NONCE];
	int err = opened_alloc(out, sealed);

	if (!err)
		err = mls_welcome_secret(welcome, s->joiner, s->psk);
	if (!err)
		err = mls_welcome_key(key, nonce, welcome);
	if (!err)
		err = mls_open(out->p, key, nonce, (struct slice){0}, sealed);
	mls_wipe(welcome, sizeof welcome);
	mls_wipe(key, sizeof key);
	mls_wipe(nonce, sizeof nonce);
	return err;
}

static int read_group_info(struct mls_group_info *info, const struct opened *plain)
{
	struct rd r = rd_of(plain->p, plain->n);
	int err = mls_group_info_read(info, &r);

	if (!err && rd_left(&r))
		err = EBADMSG;
	if (!err && info->context.suite != MLS_SUITE)
		err = ENOTSUP;
	if (!err)
		err = mls_extensions_check(info->extensions);
	return err ? err : mls_extensions_check(info->context.extensions);
}

/* ---- the group ---- */

static int read_tree(struct mls_group *g, const struct mls_group_info *info, struct slice beside)
{
	struct slice data = beside;

	if (!data.n && !mls_extension_find(info->extensions, MLS_EXT_RATCHET_TREE, &data))
		return EBADMSG;
	return mls_tree_read(&g->tree, data);
}

static int check_tree(const struct mls_group *g, const struct mls_group_info *info)
{
	const struct mls_leaf *signer = mls_tree_leaf(g->tree, info->signer);
	uint8_t hash[MLS_HASH];
	int err;

	if (!signer)
		return EBADMSG;
	err = mls_verify(signer->signature_key, "GroupInfoTBS", info->tbs, info->signature);
	if (!err)
		err = mls_tree_root_hash(g->tree, hash);
	if (!err && !mls_equal(g->context.tree_hash, mls_slice(hash, MLS_HASH)))
		err = EBADMSG;
	if (!err)
		err = mls_tree_validate(g->tree, g->context.group_id);
	return err ? err : group_supported(g->tree, g->context.extensions);
}

/* Runs the key schedule and checks the confirmation tag. */
static int enter_epoch(struct mls_group *g, const struct mls_group_info *info,
		       const struct secrets *s)
{
	uint8_t tag[MLS_HASH];
	int err;

	err = group_set_context(g, &info->context);
	if (!err)
		err = mls_schedule_join(&g->secrets, s->joiner, s->psk,
					mls_out_view(&g->context_bytes));
	if (!err)
		err = mls_confirmation_tag(tag, &g->secrets, g->context.confirmed);
	if (!err && (info->confirmation_tag.n != MLS_HASH ||
		     !mls_same(tag, info->confirmation_tag.p, MLS_HASH)))
		err = EACCES;
	return err ? err : mls_interim(g->interim, g->context.confirmed, tag);
}

static int take_place(struct mls_group *g, const struct mls_group_info *info,
		      const struct secrets *s, const struct newcomer *who)
{
	if (mls_tree_find(g->tree, who->key_package->leaf, &g->keys.leaf))
		return EBADMSG;
	g->keys.known[0] = true;
	g->keys.key[0] = who->me->encryption;
	g->signature = who->me->signature;
	return s->has_path ? mls_private_implant(&g->keys, g->tree, info->signer, s->path) : 0;
}

static int join_group(struct mls_group *g, const struct mls_welcome *w, struct slice tree,
		      const struct secrets *s, const struct newcomer *who)
{
	struct opened plain = {0};
	struct mls_group_info info;
	int err;

	err = open_group_info(&plain, w->group_info, s);
	if (!err)
		err = read_group_info(&info, &plain);
	if (!err)
		err = enter_epoch(g, &info, s);
	if (!err)
		err = read_tree(g, &info, tree);
	if (!err)
		err = check_tree(g, &info);
	if (!err)
		err = take_place(g, &info, s, who);
	opened_free(&plain);
	return err;
}

static bool own_leaf(const struct mls_leaf *l, const struct mls_identity *me)
{
	return mls_equal(l->encryption_key, mls_slice(me->encryption.pub, MLS_POINT)) &&
	       mls_equal(l->signature_key, mls_slice(me->signature.pub, MLS_POINT));
}

int mls_group_join_with(struct mls_group **out, struct slice welcome, struct slice tree,
			const struct mls_key_package *key_package, const struct p256_pair *init,
			const struct mls_identity *me, struct mls_psk_list psks)
{
	const struct newcomer who = {key_package, init, me, psks};
	struct rd r = rd_of(welcome.p, welcome.n);
	struct secrets s = {0};
	struct mls_welcome w;
	struct mls_group *g = NULL;
	int err = mls_welcome_read(&w, &r);

	if (err)
		return err;
	if (w.suite != MLS_SUITE)
		return ENOTSUP;
	err = own_leaf(key_package->leaf, me) ? open_secrets(&s, &w, &who) : EBADMSG;
	if (!err)
		err = group_alloc(&g);
	if (!err)
		err = join_group(g, &w, tree, &s, &who);
	if (!err) {
		*out = g;
		g = NULL;
	}
	mls_group_free(g);
	mls_wipe(&s, sizeof s);
	return err;
}

int mls_group_join(struct mls_group **out, struct slice welcome, struct slice tree,
		   const struct mls_key_package *key_package, const struct p256_pair *init,
		   const struct mls_identity *me)
{
	return mls_group_join_with(out, welcome, tree, key_package, init, me,
				   (struct mls_psk_list){0});
}
