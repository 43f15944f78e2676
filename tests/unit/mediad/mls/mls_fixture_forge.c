/* Welcomes as only somebody inside can make them. */
#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/hpke.h"
#include "tests/unit/mediad/mls/mls_fixture.h"

static const uint8_t joiner[MLS_HASH] = "secret of all who come together";

void mls_fixture_joiner_secrets(struct mls_out *out)
{
	mls_out_vec(out, mls_slice(joiner, sizeof joiner));
}

/* ---- group info ---- */

static int write_context(struct mls_out *o, const struct forgery *f, struct slice tree)
{
	uint8_t hash[MLS_HASH] = {0};
	struct mls_group_context c = {.suite = f->suite ? f->suite : MLS_SUITE,
				      .group_id = mls_group_id(f->state),
				      .epoch = mls_group_epoch(f->state),
				      .tree_hash = mls_slice(hash, sizeof hash),
				      .confirmed = mls_group_confirmed(f->state),
				      .extensions = f->extended ? f->extensions
								: mls_group_extensions(f->state)};
	struct mls_tree *read;
	int err = mls_tree_read(&read, tree);

	if (!err) {
		err = mls_tree_root_hash(read, hash);
		mls_tree_free(read);
	}
	if (err == ENOMEM)
		return err;
	hash[0] ^= f->wrong_hash;
	mls_group_context_write(o, &c);
	return o->err;
}

static int tag_of(uint8_t tag[MLS_HASH], const struct forgery *f, struct slice context)
{
	struct mls_epoch epoch;
	int err = mls_schedule_join(&epoch, joiner, NULL, context);

	if (!err)
		err = mls_confirmation_tag(tag, &epoch, mls_group_confirmed(f->state));
	tag[0] ^= f->wrong_tag;
	return err;
}

static int write_info(struct mls_fixture *p, struct mls_out *o, const struct forgery *f,
		      struct slice tree)
{
	uint8_t tag[MLS_HASH], sig[MLS_SIG_MAX];
	struct mls_out info = {0};
	size_t n = 0, list, data;
	int err = write_context(&info, f, tree);

	if (!err)
		err = tag_of(tag, f, mls_out_view(&info));
	if (err)
		goto out;
	list = mls_out_open(&info);
	mls_out_be(&info, MLS_EXT_RATCHET_TREE, 2);
	data = mls_out_open(&info);
	mls_out_slice(&info, tree);
	mls_out_close(&info, data);
	mls_out_slice(&info, f->more);
	mls_out_close(&info, list);
	mls_out_vec(&info, mls_slice(tag, f->cut_tag ? 16 : sizeof tag));
	mls_out_be(&info, f->signer, 4);
	err = info.err;
	if (!err)
		err = mls_sign(sig, &n, p->members[f->wrong_signature].me.signature.priv,
			       "GroupInfoTBS", mls_out_view(&info), &p->rng);
	if (err)
		goto out;
	mls_out_vec(&info, mls_slice(sig, n));
	mls_out_be(&info, 0, f->trailing);
	mls_out_slice(o, mls_out_view(&info));
	err = info.err ? info.err : o->err;
out:
	mls_out_free(&info);
	return err;
}

int mls_fixture_forge_info(struct mls_fixture *p, struct mls_out *out, const struct forgery *f)
{
	struct mls_out tree = {0};
	int err;

	mls_tree_write(mls_group_tree(f->state), &tree);
	err = tree.err;
	if (!err)
		err = write_info(p, out, f, f->tree.n ? f->tree : mls_out_view(&tree));
	mls_out_free(&tree);
	return err;
}

/* ---- the welcome ---- */

static int seal_info(uint8_t *out, struct slice info)
{
	uint8_t welcome[MLS_HASH], key[MLS_KEY], nonce[MLS_NONCE];
	int err = mls_welcome_secret(welcome, joiner, NULL);

	if (!err)
		err = mls_welcome_key(key, nonce, welcome);
	return err ? err : mls_seal(out, key, nonce, (struct slice){0}, info);
}

static int wrap(struct mls_fixture *p, struct mls_out *out, const struct mls_fixture_member *g,
		struct slice secrets, struct slice info)
{
	uint8_t ref[MLS_HASH], enc[MLS_POINT];
	uint8_t *sealed = malloc(info.n + MLS_TAG), *text = malloc(secrets.n + MLS_TAG);
	struct slice group_info = mls_slice(sealed, info.n + MLS_TAG);
	size_t at;
	int err = sealed && text ? seal_info(sealed, info) : ENOMEM;

	if (!err)
		err = mls_key_package_ref_hash(ref, g->package);
	if (!err)
		err = mls_encrypt_label(enc, text, g->package->init_key, "Welcome", group_info,
					secrets, &p->rng);
	if (!err) {
		mls_out_be(out, MLS_SUITE, 2);
		at = mls_out_open(out);
		mls_out_vec(out, mls_slice(ref, sizeof ref));
		mls_out_vec(out, mls_slice(enc, sizeof enc));
		mls_out_vec(out, mls_slice(text, secrets.n + MLS_TAG));
		mls_out_close(out, at);
		mls_out_vec(out, group_info);
		err = out->err;
	}
	free(sealed);
	free(text);
	return err;
}

int mls_fixture_forge(struct mls_fixture *p, struct mls_out *out, const struct forgery *f)
{
	struct mls_out secrets = {0}, info = {0};
	int err = 0;

	mls_fixture_joiner_secrets(&secrets);
	mls_out_be(&secrets, 0, 2); /* no path secret, no pre-shared keys */
	if (!f->info.n)
		err = mls_fixture_forge_info(p, &info, f);
	if (!err)
		err = secrets.err;
	if (!err)
		err = wrap(p, out, &p->members[f->to],
			   f->secrets.n ? f->secrets : mls_out_view(&secrets),
			   f->info.n ? f->info : mls_out_view(&info));
	mls_out_free(&secrets);
	mls_out_free(&info);
	return err;
}
