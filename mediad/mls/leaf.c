#include "mediad/mls/leaf.h"

#include <errno.h>
#include <stdlib.h>

/* Limit of extensions on one leaf or key package; more would only make checking them costly. */
enum { EXTENSIONS_MAX = 64 };

static uint16_t u16_at(struct slice list, size_t i)
{
	return (uint16_t)(list.p[2 * i] << 8 | list.p[2 * i + 1]);
}

bool mls_u16_listed(struct slice list, uint16_t value)
{
	for (size_t i = 0; i < list.n / 2; i++)
		if (u16_at(list, i) == value)
			return true;
	return false;
}

/* ---- reading ---- */

static struct slice read_u16_list(struct rd *r)
{
	struct slice list = mls_rd_vec(r);

	if (list.n % 2)
		r->ok = false;
	return list;
}

/* Reads the body of an extensions vector and checks its form. */
static struct slice read_extensions(struct rd *r)
{
	struct slice body = mls_rd_vec(r);
	struct rd in = rd_of(body.p, body.n);

	while (rd_left(&in)) {
		rd_be(&in, 2);
		mls_rd_vec(&in);
	}
	if (!in.ok)
		r->ok = false;
	return body;
}

static int read_credential(struct mls_leaf *l, struct rd *r)
{
	size_t start = r->pos;

	l->credential_type = (uint16_t)rd_be(r, 2);
	if (r->ok && l->credential_type != MLS_CREDENTIAL_BASIC &&
	    l->credential_type != MLS_CREDENTIAL_X509)
		return ENOTSUP;
	l->identity = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	l->credential = mls_slice(r->p + start, r->pos - start);
	if (l->credential_type != MLS_CREDENTIAL_BASIC)
		l->identity = mls_slice(l->credential.p + 2, l->credential.n - 2);
	return 0;
}

static int read_source(struct mls_leaf *l, struct rd *r)
{
	unsigned source = (unsigned)rd_be(r, 1);

	switch (source) {
	case MLS_LEAF_KEY_PACKAGE:
		l->not_before = rd_be(r, 8);
		l->not_after = rd_be(r, 8);
		break;
	case MLS_LEAF_UPDATE:
		break;
	case MLS_LEAF_COMMIT:
		l->parent_hash = mls_rd_vec(r);
		break;
	default:
		return EBADMSG;
	}
	l->source = (enum mls_leaf_source)source;
	return 0;
}

/* Every slice points into r's buffer. */
static int parse_leaf(struct mls_leaf *l, struct rd *r)
{
	size_t start = r->pos;
	int err;

	l->encryption_key = mls_rd_vec(r);
	l->signature_key = mls_rd_vec(r);
	err = read_credential(l, r);
	if (err)
		return err;
	l->versions = read_u16_list(r);
	l->suites = read_u16_list(r);
	l->extension_types = read_u16_list(r);
	l->proposal_types = read_u16_list(r);
	l->credential_types = read_u16_list(r);
	err = read_source(l, r);
	if (err)
		return err;
	l->extensions = read_extensions(r);
	if (!r->ok)
		return EBADMSG;
	l->tbs = mls_slice(r->p + start, r->pos - start);
	l->signature = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	l->raw = mls_slice(r->p + start, r->pos - start);
	return l->raw.n > MLS_BYTES_MAX ? EOVERFLOW : 0;
}

int mls_leaf_read(struct mls_leaf **out, struct rd *r)
{
	struct mls_leaf seen = {0}, *l;
	struct rd own;
	int err = parse_leaf(&seen, r);

	if (err)
		return err;
	l = malloc(sizeof *l + seen.raw.n);
	if (!l)
		return ENOMEM;
	memcpy(l + 1, seen.raw.p, seen.raw.n);
	own = rd_of(l + 1, seen.raw.n);
	*l = (struct mls_leaf){.refs = 1};
	err = parse_leaf(l, &own);
	if (err)
		return mls_leaf_free(l), err;
	*out = l;
	return 0;
}

struct mls_leaf *mls_leaf_ref(struct mls_leaf *l)
{
	l->refs++;
	return l;
}

struct mls_leaf *mls_leaf_free(struct mls_leaf *l)
{
	if (l && --l->refs == 0)
		free(l);
	return NULL;
}

/* ---- making ---- */

/* Writes the part of LeafNodeTBS after the leaf itself. */
static void write_place(struct mls_out *o, enum mls_leaf_source source, struct slice group_id,
			uint32_t leaf)
{
	if (source == MLS_LEAF_KEY_PACKAGE)
		return;
	mls_out_vec(o, group_id);
	mls_out_be(o, leaf, 4);
}

static void write_leaf(struct mls_out *o, const struct mls_leaf *like,
		       const struct mls_leaf_spec *spec)
{
	mls_out_vec(o, spec->encryption_key);
	mls_out_vec(o, like->signature_key);
	mls_out_slice(o, like->credential);
	mls_out_vec(o, like->versions);
	mls_out_vec(o, like->suites);
	mls_out_vec(o, like->extension_types);
	mls_out_vec(o, like->proposal_types);
	mls_out_vec(o, like->credential_types);
	mls_out_be(o, spec->source, 1);
	if (spec->source == MLS_LEAF_KEY_PACKAGE) {
		mls_out_be(o, 0, 8);
		mls_out_be(o, UINT64_MAX, 8);
	} else if (spec->source == MLS_LEAF_COMMIT) {
		mls_out_vec(o, spec->parent_hash);
	}
	mls_out_vec(o, like->extensions);
}

/* Signs the contents of o, drops the bytes after `keep`, and appends the signature. */
static int sign_end(struct mls_out *o, size_t keep, const char *label,
		    const struct p256_pair *signer, struct mls_rng *rng)
{
	uint8_t sig[MLS_SIG_MAX];
	size_t n = 0;
	int err = o->err;

	if (!err)
		err = mls_sign(sig, &n, signer->priv, label, mls_out_view(o), rng);
	if (err)
		return err;
	o->n = keep;
	mls_out_vec(o, mls_slice(sig, n));
	return o->err;
}

static int remember_verified(struct mls_leaf *l, struct slice group_id, uint32_t leaf)
{
	int err = mls_hash(l->verified_group, &group_id, 1);

	if (err)
		return err;
	l->verified = true;
	l->verified_leaf = leaf;
	return 0;
}

int mls_leaf_remake(struct mls_leaf **out, const struct mls_leaf *old,
		    const struct mls_leaf_spec *spec, struct mls_rng *rng)
{
	struct mls_out o = {0};
	struct mls_leaf *l = NULL;
	struct rd r;
	size_t keep;
	int err;

	write_leaf(&o, old, spec);
	keep = o.n;
	write_place(&o, spec->source, spec->group_id, spec->leaf);
	err = sign_end(&o, keep, "LeafNodeTBS", spec->signer, rng);
	if (err)
		goto out;
	r = rd_of(o.p, o.n);
	err = mls_leaf_read(&l, &r);
	if (err)
		goto out;
	err = remember_verified(l, spec->group_id, spec->leaf);
	if (err)
		goto out;
	*out = l;
	l = NULL;
out:
	mls_leaf_free(l);
	mls_out_free(&o);
	return err;
}

int mls_leaf_make(struct mls_leaf **out, const struct mls_leaf_spec *spec, struct mls_rng *rng)
{
	static const uint8_t version[] = {0, MLS_VERSION}, suite[] = {0, MLS_SUITE},
			     basic[] = {0, MLS_CREDENTIAL_BASIC};
	struct mls_out credential = {0};
	struct mls_leaf like = {.signature_key = mls_slice(spec->signer->pub, MLS_POINT),
				.versions = mls_slice(version, sizeof version),
				.suites = mls_slice(suite, sizeof suite),
				.credential_types = mls_slice(basic, sizeof basic)};
	int err;

	mls_out_be(&credential, MLS_CREDENTIAL_BASIC, 2);
	mls_out_vec(&credential, spec->identity);
	like.credential = mls_out_view(&credential);
	err = credential.err;
	if (!err)
		err = mls_leaf_remake(out, &like, spec, rng);
	mls_out_free(&credential);
	return err;
}

/* ---- validation ---- */

/* Every client supports types 1 to 5 (RFC 9420 section 7.2); they are not listed. */
static bool extension_known(struct slice listed, uint16_t type)
{
	return (type >= 1 && type <= 5) || mls_u16_listed(listed, type);
}

/* Checks that no type occurs twice and the client supports all. */
static int check_extensions(struct slice body, struct slice listed)
{
	struct rd r = rd_of(body.p, body.n);
	uint16_t seen[EXTENSIONS_MAX];
	size_t n = 0;

	for (; rd_left(&r); n++) {
		uint16_t type = (uint16_t)rd_be(&r, 2);

		mls_rd_vec(&r);
		if (n == EXTENSIONS_MAX || !extension_known(listed, type))
			return EBADMSG;
		for (size_t i = 0; i < n; i++)
			if (seen[i] == type)
				return EBADMSG;
		seen[n] = type;
	}
	return 0;
}

static int check_capabilities(const struct mls_leaf *l)
{
	if (!mls_u16_listed(l->versions, MLS_VERSION) || !mls_u16_listed(l->suites, MLS_SUITE) ||
	    !mls_u16_listed(l->credential_types, l->credential_type))
		return EBADMSG;
	return check_extensions(l->extensions, l->extension_types);
}

static bool verified_here(const struct mls_leaf *l, struct slice group_id, uint32_t leaf)
{
	uint8_t group[MLS_HASH];

	if (!l->verified || l->source == MLS_LEAF_KEY_PACKAGE)
		return l->verified;
	return l->verified_leaf == leaf && mls_hash(group, &group_id, 1) == 0 &&
	       memcmp(group, l->verified_group, MLS_HASH) == 0;
}

static int verify_leaf(const struct mls_leaf *l, struct slice group_id, uint32_t leaf)
{
	struct mls_out o = {0};
	int err;

	if (l->source == MLS_LEAF_KEY_PACKAGE)
		return mls_verify(l->signature_key, "LeafNodeTBS", l->tbs, l->signature);
	mls_out_slice(&o, l->tbs);
	write_place(&o, l->source, group_id, leaf);
	err = o.err;
	if (!err)
		err = mls_verify(l->signature_key, "LeafNodeTBS", mls_out_view(&o), l->signature);
	mls_out_free(&o);
	return err;
}

int mls_leaf_validate(struct mls_leaf *l, struct slice group_id, uint32_t leaf)
{
	int err;

	if (verified_here(l, group_id, leaf))
		return 0;
	err = check_capabilities(l);
	/* This subset cannot check certificates. */
	if (!err && l->credential_type != MLS_CREDENTIAL_BASIC)
		err = ENOTSUP;
	if (!err)
		err = p256_check(l->encryption_key, P256_ANY);
	/* The signature key is checked by the verification itself. */
	if (!err)
		err = verify_leaf(l, group_id, leaf);
	if (!err)
		err = remember_verified(l, group_id, leaf);
	return err;
}

/* ---- key packages ---- */

static int parse_key_package(struct mls_key_package *k, struct rd *r)
{
	size_t start = r->pos;
	int err;

	k->version = (uint16_t)rd_be(r, 2);
	k->suite = (uint16_t)rd_be(r, 2);
	k->init_key = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	if (!k->leaf) {
		err = mls_leaf_read(&k->leaf, r);
		if (err)
			return err;
	} else {
		rd_bytes(r, k->leaf->raw.n);
	}
	k->extensions = read_extensions(r);
	if (!r->ok)
		return EBADMSG;
	k->tbs = mls_slice(r->p + start, r->pos - start);
	k->signature = mls_rd_vec(r);
	if (!r->ok)
		return EBADMSG;
	k->raw = mls_slice(r->p + start, r->pos - start);
	return k->raw.n > MLS_BYTES_MAX ? EOVERFLOW : 0;
}

int mls_key_package_read(struct mls_key_package **out, struct rd *r)
{
	struct mls_key_package seen = {0}, *k = NULL;
	struct rd own;
	int err = parse_key_package(&seen, r);

	if (err)
		goto out;
	err = ENOMEM;
	k = malloc(sizeof *k + seen.raw.n);
	if (!k)
		goto out;
	memcpy(k + 1, seen.raw.p, seen.raw.n);
	own = rd_of(k + 1, seen.raw.n);
	*k = (struct mls_key_package){.refs = 1, .leaf = mls_leaf_ref(seen.leaf)};
	err = parse_key_package(k, &own);
	if (err)
		goto out;
	*out = k;
	k = NULL;
out:
	mls_key_package_free(k);
	mls_leaf_free(seen.leaf);
	return err;
}

struct mls_key_package *mls_key_package_ref(struct mls_key_package *k)
{
	k->refs++;
	return k;
}

struct mls_key_package *mls_key_package_free(struct mls_key_package *k)
{
	if (k && --k->refs == 0) {
		mls_leaf_free(k->leaf);
		free(k);
	}
	return NULL;
}

int mls_key_package_make(struct mls_key_package **out, struct mls_leaf *leaf, struct slice init_key,
			 const struct p256_pair *signer, struct mls_rng *rng)
{
	struct mls_out o = {0};
	struct mls_key_package *k = NULL;
	struct rd r;
	int err;

	mls_out_be(&o, MLS_VERSION, 2);
	mls_out_be(&o, MLS_SUITE, 2);
	mls_out_vec(&o, init_key);
	mls_out_slice(&o, leaf->raw);
	mls_out_vec(&o, (struct slice){0});
	err = sign_end(&o, o.n, "KeyPackageTBS", signer, rng);
	if (err)
		goto out;
	r = rd_of(o.p, o.n);
	err = mls_key_package_read(&k, &r);
	if (err)
		goto out;
	mls_leaf_free(k->leaf);
	k->leaf = mls_leaf_ref(leaf);
	*out = k;
out:
	mls_out_free(&o);
	return err;
}

int mls_key_package_validate(struct mls_key_package *k)
{
	int err;

	if (k->verified)
		return 0;
	if (k->version != MLS_VERSION || k->suite != MLS_SUITE)
		return ENOTSUP;
	if (k->leaf->source != MLS_LEAF_KEY_PACKAGE ||
	    mls_equal(k->init_key, k->leaf->encryption_key))
		return EBADMSG;
	err = check_extensions(k->extensions, k->leaf->extension_types);
	if (!err)
		err = p256_check(k->init_key, P256_ANY);
	if (!err)
		err = mls_leaf_validate(k->leaf, (struct slice){0}, 0);
	if (!err)
		err = mls_verify(k->leaf->signature_key, "KeyPackageTBS", k->tbs, k->signature);
	k->verified = err == 0;
	return err;
}

int mls_key_package_ref_hash(uint8_t out[MLS_HASH], const struct mls_key_package *k)
{
	return mls_ref_hash(out, "MLS 1.0 KeyPackage Reference", k->raw);
}
