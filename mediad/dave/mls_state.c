#include "mediad/dave/mls_state_internal.h"

#include <errno.h>
#include <stdlib.h>

int dave_mls_state_alloc(struct dave_mls_state **out, uint64_t user)
{
	struct dave_mls_state *k = calloc(1, sizeof *k);

	if (!k)
		return ENOMEM;
	k->user = user;
	*out = k;
	return 0;
}

void dave_mls_state_forget_commits(struct dave_mls_state *k)
{
	for (unsigned i = 0; i < k->n_own_commits; i++) {
		free(k->own_commits[i].message.p);
		mls_group_free(k->own_commits[i].next);
	}
	k->n_own_commits = 0;
	free(k->last_op28.p);
	k->last_op28 = (struct dave_bytes){0};
}

static void wipe_package(struct dave_sent_package *o)
{
	mls_key_package_free(o->package);
	p256_wipe(&o->init);
	*o = (struct dave_sent_package){0};
}

void dave_mls_state_forget_packages(struct dave_mls_state *k)
{
	for (unsigned i = 0; i < DAVE_SENT_PACKAGES; i++)
		wipe_package(&k->packages[i]);
}

void dave_mls_state_set_group(struct dave_mls_state *k, struct mls_group *g, bool established)
{
	dave_mls_state_forget_commits(k);
	if (k->group != g)
		mls_group_free(k->group);
	k->group = g;
	k->established = established;
}

void dave_mls_state_drop(struct dave_mls_state *k)
{
	dave_mls_state_set_group(k, NULL, false);
	dave_mls_state_forget_packages(k);
	k->leaf = mls_leaf_free(k->leaf);
	mls_wipe(&k->me, sizeof k->me);
}

struct dave_mls_state *dave_mls_state_free(struct dave_mls_state *k)
{
	if (!k)
		return NULL;
	dave_mls_state_drop(k);
	free(k->sender.p);
	mls_wipe(k, sizeof *k);
	free(k);
	return NULL;
}

const struct mls_group *dave_mls_state_group(const struct dave_mls_state *k)
{
	return k->group;
}

void dave_write_be64(uint8_t out[DAVE_USER_BYTES], uint64_t v)
{
	for (unsigned i = 0; i < DAVE_USER_BYTES; i++)
		out[i] = (uint8_t)(v >> 8 * (DAVE_USER_BYTES - 1 - i));
}

/* Makes the group of which we are the only member, epoch 0; others are added to it when our commit
 * is the first. NULL while the external sender is not known. */
static int make_local_group(struct mls_group **out, const struct dave_mls_state *k,
			    uint64_t channel, const struct mls_identity *me, struct mls_leaf *leaf,
			    struct mls_rng *rng)
{
	uint8_t id[DAVE_USER_BYTES];
	struct mls_out extensions = {0};
	size_t data;
	int err;

	*out = NULL;
	if (!k->sender.n)
		return 0;
	dave_write_be64(id, channel);
	mls_out_be(&extensions, MLS_EXT_EXTERNAL_SENDERS, 2);
	data = mls_out_open(&extensions);
	mls_out_vec(&extensions, mls_slice(k->sender.p, k->sender.n));
	mls_out_close(&extensions, data);
	err = extensions.err;
	if (!err)
		err = mls_group_create(out, mls_slice(id, sizeof id), me, leaf,
				       mls_out_view(&extensions), rng);
	mls_out_free(&extensions);
	return err;
}

/* New keys, which a reset makes before it drops the old ones. */
struct new_keys {
	struct mls_identity me;
	struct mls_leaf *leaf;
	struct dave_sent_package packages;
	struct mls_group *local;
};

static int make_leaf(struct new_keys *f, const struct dave_mls_state *k, struct mls_rng *rng)
{
	uint8_t user[DAVE_USER_BYTES];
	int err = p256_generate(&f->me.signature, rng);

	if (!err)
		err = p256_generate(&f->me.encryption, rng);
	if (err)
		return err;
	dave_write_be64(user, k->user);
	return mls_leaf_make(&f->leaf,
			     &(struct mls_leaf_spec){
				     .identity = mls_slice(user, sizeof user),
				     .encryption_key = mls_slice(f->me.encryption.pub, MLS_POINT),
				     .signer = &f->me.signature,
				     .source = MLS_LEAF_KEY_PACKAGE},
			     rng);
}

static int make_new_keys(struct new_keys *f, const struct dave_mls_state *k, uint64_t channel,
			 bool new_leaf, struct mls_rng *rng)
{
	int err = 0;

	if (new_leaf || !k->leaf) {
		err = make_leaf(f, k, rng);
	} else {
		f->me = k->me;
		f->leaf = mls_leaf_ref(k->leaf);
	}
	if (!err)
		err = p256_generate(&f->packages.init, rng);
	if (!err)
		err = mls_key_package_make(&f->packages.package, f->leaf,
					   mls_slice(f->packages.init.pub, MLS_POINT),
					   &f->me.signature, rng);
	if (!err)
		err = make_local_group(&f->local, k, channel, &f->me, f->leaf, rng);
	return err;
}

int dave_mls_state_reset(struct dave_mls_state *k, struct dave_job *j, bool new_leaf)
{
	struct new_keys f = {0};
	struct mls_rng rng;
	struct slice package;
	int err;

	mls_rng_seed(&rng, j->seed);
	err = make_new_keys(&f, k, j->channel, new_leaf, &rng);
	mls_rng_wipe(&rng);
	if (err)
		goto out;
	package = f.packages.package->raw;
	j->out.p = malloc(package.n);
	if (!j->out.p) {
		err = ENOMEM;
		goto out;
	}
	memcpy(j->out.p, package.p, package.n);
	j->out.n = package.n;

	if (f.leaf != k->leaf)
		dave_mls_state_drop(k);
	mls_leaf_free(k->leaf);
	k->leaf = f.leaf;
	k->me = f.me;
	k->channel = j->channel;
	wipe_package(&k->packages[DAVE_SENT_PACKAGES - 1]);
	memmove(k->packages + 1, k->packages, (DAVE_SENT_PACKAGES - 1) * sizeof k->packages[0]);
	k->packages[0] = f.packages;
	dave_mls_state_set_group(k, f.local, false);
	mls_wipe(&f, sizeof f);
	return 0;
out:
	mls_group_free(f.local);
	wipe_package(&f.packages);
	mls_leaf_free(f.leaf);
	mls_wipe(&f, sizeof f);
	return err;
}

/* ---- op 25 ---- */

/* Checks an ExternalSender: signature key and credential. Its identity is not judged. */
static int check_external_sender(struct slice in)
{
	struct rd r = rd_of(in.p, in.n);
	struct slice key = mls_rd_vec(&r);

	rd_be(&r, 2);
	mls_rd_vec(&r);
	if (!r.ok || rd_left(&r) || in.n > DAVE_EXTERNAL_SENDER_MAX)
		return EBADMSG;
	return p256_check(key, P256_ANY);
}

int dave_mls_state_set_external_sender(struct dave_mls_state *k, struct dave_job *j)
{
	struct dave_bytes before = k->sender;
	struct mls_group *local = NULL;
	struct mls_rng rng;
	int err = check_external_sender(mls_slice(j->in.p, j->in.n));

	if (err)
		return err;
	if (before.n == j->in.n && memcmp(before.p, j->in.p, before.n) == 0)
		return 0;
	k->sender = j->in;
	/* An established group keeps its external sender; the next group uses the new one. */
	if (k->leaf && !k->established) {
		mls_rng_seed(&rng, j->seed);
		err = make_local_group(&local, k, k->channel, &k->me, k->leaf, &rng);
		mls_rng_wipe(&rng);
		if (err) {
			k->sender = before;
			return err;
		}
		dave_mls_state_set_group(k, local, false);
	}
	j->in = (struct dave_bytes){0};
	free(before.p);
	return 0;
}

/* ---- recorded groups ---- */

static bool package_has_keys(const struct mls_key_package *p, const struct mls_identity *me,
			     const struct p256_pair *init)
{
	return mls_equal(p->init_key, mls_slice(init->pub, MLS_POINT)) &&
	       mls_equal(p->leaf->encryption_key, mls_slice(me->encryption.pub, MLS_POINT)) &&
	       mls_equal(p->leaf->signature_key, mls_slice(me->signature.pub, MLS_POINT));
}

int dave_mls_state_import(struct dave_mls_state *k, uint64_t channel, const struct mls_identity *me,
			  const struct p256_pair *init, struct slice key_package)
{
	struct rd r = rd_of(key_package.p, key_package.n);
	struct mls_key_package *p;
	uint64_t user;
	int err = mls_key_package_read(&p, &r);

	if (err)
		return err;
	if (rd_left(&r) || !dave_leaf_user(p->leaf, &user) || user != k->user ||
	    !package_has_keys(p, me, init)) {
		mls_key_package_free(p);
		return EBADMSG;
	}
	dave_mls_state_drop(k);
	k->channel = channel;
	k->me = *me;
	k->leaf = mls_leaf_ref(p->leaf);
	k->packages[0] = (struct dave_sent_package){.package = p, .init = *init};
	return 0;
}
