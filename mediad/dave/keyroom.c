#include "mediad/dave/keyroom_inside.h"

#include <errno.h>
#include <stdlib.h>

int dave_keyroom_alloc(struct dave_keyroom **out, uint64_t user)
{
	struct dave_keyroom *k = calloc(1, sizeof *k);

	if (!k)
		return ENOMEM;
	k->user = user;
	*out = k;
	return 0;
}

void dave_keyroom_forget_commits(struct dave_keyroom *k)
{
	for (unsigned i = 0; i < k->n_own; i++) {
		free(k->own[i].message.p);
		mls_group_free(k->own[i].next);
	}
	k->n_own = 0;
	free(k->said.p);
	k->said = (struct dave_bytes){0};
}

static void offer_free(struct dave_offer *o)
{
	mls_key_package_free(o->package);
	p256_wipe(&o->init);
	*o = (struct dave_offer){0};
}

void dave_keyroom_forget_offers(struct dave_keyroom *k)
{
	for (unsigned i = 0; i < DAVE_OFFERS; i++)
		offer_free(&k->offer[i]);
}

void dave_keyroom_enter(struct dave_keyroom *k, struct mls_group *g, bool established)
{
	dave_keyroom_forget_commits(k);
	if (k->group != g)
		mls_group_free(k->group);
	k->group = g;
	k->established = established;
}

void dave_keyroom_drop(struct dave_keyroom *k)
{
	dave_keyroom_enter(k, NULL, false);
	dave_keyroom_forget_offers(k);
	k->leaf = mls_leaf_free(k->leaf);
	mls_wipe(&k->me, sizeof k->me);
}

struct dave_keyroom *dave_keyroom_free(struct dave_keyroom *k)
{
	if (!k)
		return NULL;
	dave_keyroom_drop(k);
	free(k->sender.p);
	mls_wipe(k, sizeof *k);
	free(k);
	return NULL;
}

const struct mls_group *dave_keyroom_group(const struct dave_keyroom *k)
{
	return k->group;
}

void dave_be64(uint8_t out[DAVE_USER_BYTES], uint64_t v)
{
	for (unsigned i = 0; i < DAVE_USER_BYTES; i++)
		out[i] = (uint8_t)(v >> 8 * (DAVE_USER_BYTES - 1 - i));
}

/* The group of which we are the only member, epoch 0: what others are added to when our commit is
 * the first. NULL as long as the external sender is not known. */
static int local_group(struct mls_group **out, const struct dave_keyroom *k, uint64_t channel,
		       const struct mls_identity *me, struct mls_leaf *leaf, struct mls_rng *rng)
{
	uint8_t id[DAVE_USER_BYTES];
	struct mls_out extensions = {0};
	size_t data;
	int err;

	*out = NULL;
	if (!k->sender.n)
		return 0;
	dave_be64(id, channel);
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

/* What a reset makes before anything of before is given up. */
struct fresh {
	struct mls_identity me;
	struct mls_leaf *leaf;
	struct dave_offer offer;
	struct mls_group *local;
};

static int make_leaf(struct fresh *f, const struct dave_keyroom *k, struct mls_rng *rng)
{
	uint8_t user[DAVE_USER_BYTES];
	int err = p256_generate(&f->me.signature, rng);

	if (!err)
		err = p256_generate(&f->me.encryption, rng);
	if (err)
		return err;
	dave_be64(user, k->user);
	return mls_leaf_make(&f->leaf,
			     &(struct mls_leaf_spec){
				     .identity = mls_slice(user, sizeof user),
				     .encryption_key = mls_slice(f->me.encryption.pub, MLS_POINT),
				     .signer = &f->me.signature,
				     .source = MLS_LEAF_KEY_PACKAGE},
			     rng);
}

static int make_fresh(struct fresh *f, const struct dave_keyroom *k, uint64_t channel,
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
		err = p256_generate(&f->offer.init, rng);
	if (!err)
		err = mls_key_package_make(&f->offer.package, f->leaf,
					   mls_slice(f->offer.init.pub, MLS_POINT),
					   &f->me.signature, rng);
	if (!err)
		err = local_group(&f->local, k, channel, &f->me, f->leaf, rng);
	return err;
}

int dave_keyroom_reset(struct dave_keyroom *k, struct dave_job *j, bool new_leaf)
{
	struct fresh f = {0};
	struct mls_rng rng;
	struct slice package;
	int err;

	mls_rng_seed(&rng, j->seed);
	err = make_fresh(&f, k, j->channel, new_leaf, &rng);
	mls_rng_wipe(&rng);
	if (err)
		goto out;
	package = f.offer.package->raw;
	j->out.p = malloc(package.n);
	if (!j->out.p) {
		err = ENOMEM;
		goto out;
	}
	memcpy(j->out.p, package.p, package.n);
	j->out.n = package.n;

	if (f.leaf != k->leaf)
		dave_keyroom_drop(k);
	mls_leaf_free(k->leaf);
	k->leaf = f.leaf;
	k->me = f.me;
	k->channel = j->channel;
	offer_free(&k->offer[DAVE_OFFERS - 1]);
	memmove(k->offer + 1, k->offer, (DAVE_OFFERS - 1) * sizeof k->offer[0]);
	k->offer[0] = f.offer;
	dave_keyroom_enter(k, f.local, false);
	mls_wipe(&f, sizeof f);
	return 0;
out:
	mls_group_free(f.local);
	offer_free(&f.offer);
	mls_leaf_free(f.leaf);
	mls_wipe(&f, sizeof f);
	return err;
}

/* ---- op 25 ---- */

/* ExternalSender: signature key, credential. Its identity is nothing that we judge. */
static int check_sender(struct slice in)
{
	struct rd r = rd_of(in.p, in.n);
	struct slice key = mls_rd_vec(&r);

	rd_be(&r, 2);
	mls_rd_vec(&r);
	if (!r.ok || rd_left(&r) || in.n > DAVE_EXTERNAL_SENDER_MAX)
		return EBADMSG;
	return p256_check(key, P256_ANY);
}

int dave_keyroom_sender(struct dave_keyroom *k, struct dave_job *j)
{
	struct dave_bytes before = k->sender;
	struct mls_group *local = NULL;
	struct mls_rng rng;
	int err = check_sender(mls_slice(j->in.p, j->in.n));

	if (err)
		return err;
	if (before.n == j->in.n && memcmp(before.p, j->in.p, before.n) == 0)
		return 0;
	k->sender = j->in;
	/* A group that is established keeps its own; the next one takes this. */
	if (k->leaf && !k->established) {
		mls_rng_seed(&rng, j->seed);
		err = local_group(&local, k, k->channel, &k->me, k->leaf, &rng);
		mls_rng_wipe(&rng);
		if (err) {
			k->sender = before;
			return err;
		}
		dave_keyroom_enter(k, local, false);
	}
	j->in = (struct dave_bytes){0};
	free(before.p);
	return 0;
}

/* ---- a recorded member ---- */

static bool same_keys(const struct mls_key_package *p, const struct mls_identity *me,
		      const struct p256_pair *init)
{
	return mls_equal(p->init_key, mls_slice(init->pub, MLS_POINT)) &&
	       mls_equal(p->leaf->encryption_key, mls_slice(me->encryption.pub, MLS_POINT)) &&
	       mls_equal(p->leaf->signature_key, mls_slice(me->signature.pub, MLS_POINT));
}

int dave_keyroom_take(struct dave_keyroom *k, uint64_t channel, const struct mls_identity *me,
		      const struct p256_pair *init, struct slice key_package)
{
	struct rd r = rd_of(key_package.p, key_package.n);
	struct mls_key_package *p;
	uint64_t user;
	int err = mls_key_package_read(&p, &r);

	if (err)
		return err;
	if (rd_left(&r) || !dave_leaf_user(p->leaf, &user) || user != k->user ||
	    !same_keys(p, me, init)) {
		mls_key_package_free(p);
		return EBADMSG;
	}
	dave_keyroom_drop(k);
	k->channel = channel;
	k->me = *me;
	k->leaf = mls_leaf_ref(p->leaf);
	k->offer[0] = (struct dave_offer){.package = p, .init = *init};
	return 0;
}
