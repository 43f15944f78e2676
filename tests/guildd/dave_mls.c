#include "tests/guildd/dave_mls.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>

enum {
	MLS10 = 1,
	SUITE = 2,
	PUBLIC_MESSAGE = 1,
	BASIC = 1,
	SENDER_MEMBER = 1,
	SENDER_EXTERNAL = 2,
	CONTENT_PROPOSAL = 2,
	CONTENT_COMMIT = 3,
	PROPOSAL_ADD = 1,
	PROPOSAL_REMOVE = 3,
	BY_REFERENCE = 2,
	REF_ITEM = 34, /* u8 2, the length, the reference */
	LEAF_KEY_PACKAGE = 1,
	LEAF_COMMIT = 3,
	PACKAGE = 71, /* of the sender: key, basic credential of one byte */
};

struct gd_sender {
	EVP_PKEY *key;
	uint8_t package[PACKAGE];
};

/* ---- vectors ---- */

struct slice gd_mls_vec(struct rd *r)
{
	uint64_t first = rd_be(r, 1), n = first & 0x3f;
	const uint8_t *p;

	switch (first >> 6) {
	case 0:
		break;
	case 1:
		n = n << 8 | rd_be(r, 1);
		r->ok = r->ok && n >= 64;
		break;
	case 2:
		n = n << 24 | rd_be(r, 3);
		r->ok = r->ok && n >= 16384;
		break;
	default:
		r->ok = false;
	}
	p = rd_bytes(r, (size_t)n);
	return (struct slice){p, p ? (size_t)n : 0};
}

void gd_mls_len(struct wr *w, size_t n)
{
	if (n < 64)
		wr_be(w, n, 1);
	else if (n < 16384)
		wr_be(w, n | 0x4000, 2);
	else
		wr_be(w, n | 0x80000000, 4);
}

void gd_mls_put(struct wr *w, struct slice v)
{
	gd_mls_len(w, v.n);
	wr_bytes(w, v.p, v.n);
}

static struct slice text(const char *s)
{
	return (struct slice){(const uint8_t *)s, strlen(s)};
}

static bool same(struct slice a, struct slice b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- hashes and signatures (RFC 9420, 5.1.2 and 5.2) ---- */

/* SHA-256 of V(label) V(value). */
static int ref_hash(uint8_t out[GD_MLS_REF], const char *label, struct slice value)
{
	uint8_t *buf = malloc(value.n + 64);
	struct wr w = wr_of(buf, buf ? value.n + 64 : 0);

	if (!buf)
		return ENOMEM;
	gd_mls_put(&w, text(label));
	gd_mls_put(&w, value);
	SHA256(buf, w.pos, out);
	free(buf);
	return 0;
}

/* SignContent: V("MLS 1.0 " + label) V(content); freed by the caller. */
static uint8_t *sign_content(const char *label, struct slice content, size_t *n)
{
	size_t cap = content.n + 64, head = strlen("MLS 1.0 ") + strlen(label);
	uint8_t *buf = malloc(cap);
	struct wr w = wr_of(buf, buf ? cap : 0);

	if (!buf)
		return NULL;
	gd_mls_len(&w, head);
	wr_bytes(&w, "MLS 1.0 ", strlen("MLS 1.0 "));
	wr_bytes(&w, label, strlen(label));
	gd_mls_put(&w, content);
	*n = w.pos;
	return buf;
}

/* A public key of P-256; NULL when the bytes are no point of the curve. */
static EVP_PKEY *point(struct slice at)
{
	char group[] = "P-256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)(uintptr_t)at.p,
						  at.n),
		OSSL_PARAM_construct_end()};
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	EVP_PKEY *key = NULL;

	if (ctx && at.n && EVP_PKEY_fromdata_init(ctx) == 1)
		EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static bool is_point(struct slice at)
{
	EVP_PKEY *key = point(at);

	EVP_PKEY_free(key);
	return key != NULL;
}

static int verify(struct slice by, const char *label, struct slice content, struct slice signature)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY *key = point(by);
	size_t n = 0;
	uint8_t *tbs = sign_content(label, content, &n);
	int err = EACCES;

	if (!ctx || !tbs)
		err = ENOMEM;
	else if (key && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
		 EVP_DigestVerify(ctx, signature.p, signature.n, tbs, n) == 1)
		err = 0;
	free(tbs);
	EVP_PKEY_free(key);
	EVP_MD_CTX_free(ctx);
	return err;
}

static int sign(EVP_PKEY *key, const char *label, struct slice content,
		uint8_t out[GD_MLS_SIGNATURE], size_t *out_n)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = 0, sig_n = GD_MLS_SIGNATURE;
	uint8_t *tbs = sign_content(label, content, &n);
	int err = ENOMEM;

	if (ctx && tbs && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
	    EVP_DigestSign(ctx, out, &sig_n, tbs, n) == 1) {
		*out_n = sig_n;
		err = 0;
	}
	free(tbs);
	EVP_MD_CTX_free(ctx);
	return err;
}

/* ---- leaf nodes and key packages (RFC 9420, 7.2 and 10) ---- */

struct leaf {
	struct slice encryption_key, signature_key, identity, signature;
	struct slice versions, suites, extensions, proposals, credentials; /* capabilities */
	struct slice lifetime, own_extensions;
	uint32_t credential, source;
	size_t signed_to; /* where the signature begins */
};

static struct leaf read_leaf(struct rd *r)
{
	struct leaf l = {0};

	l.encryption_key = gd_mls_vec(r);
	l.signature_key = gd_mls_vec(r);
	l.credential = (uint32_t)rd_be(r, 2);
	l.identity = gd_mls_vec(r);
	l.versions = gd_mls_vec(r);
	l.suites = gd_mls_vec(r);
	l.extensions = gd_mls_vec(r);
	l.proposals = gd_mls_vec(r);
	l.credentials = gd_mls_vec(r);
	l.source = (uint32_t)rd_be(r, 1);
	if (l.source == LEAF_KEY_PACKAGE)
		l.lifetime = (struct slice){rd_bytes(r, 16), 16};
	else if (l.source == LEAF_COMMIT)
		gd_mls_vec(r); /* parent_hash */
	else
		r->ok = false;
	l.own_extensions = gd_mls_vec(r);
	l.signed_to = r->pos;
	l.signature = gd_mls_vec(r);
	return l;
}

/* True if a list of u16 holds a value. */
static bool lists(struct slice list, uint16_t want)
{
	struct rd r = rd_of(list.p, list.n);
	bool found = false;

	while (rd_left(&r))
		found |= rd_be(&r, 2) == want;
	return r.ok && found;
}

static bool leaf_fits(const struct leaf *l)
{
	return l->credential == BASIC && l->identity.n == 8 && lists(l->versions, MLS10) &&
	       lists(l->suites, SUITE) && lists(l->credentials, BASIC) && !l->own_extensions.n &&
	       is_point(l->encryption_key) && is_point(l->signature_key);
}

static uint64_t leaf_user(const struct leaf *l)
{
	struct rd r = rd_of(l->identity.p, l->identity.n);

	return rd_be(&r, 8);
}

int gd_key_package_read(struct gd_key_package *out, struct slice kp)
{
	static const uint8_t for_ever[16] = {0,	  0,   0,   0,	 0,   0,   0,	0,
					     255, 255, 255, 255, 255, 255, 255, 255};
	struct gd_key_package k = {0};
	struct rd r = rd_of(kp.p, kp.n);
	uint64_t version = rd_be(&r, 2), suite = rd_be(&r, 2);
	struct slice init = gd_mls_vec(&r), extensions, signature;
	size_t leaf_from = r.pos, signed_to;
	struct leaf l = read_leaf(&r);
	int err;

	extensions = gd_mls_vec(&r);
	signed_to = r.pos;
	signature = gd_mls_vec(&r);
	if (!r.ok || rd_left(&r))
		return EBADMSG;
	if (version != MLS10 || suite != SUITE || !is_point(init) || same(init, l.encryption_key) ||
	    extensions.n || l.source != LEAF_KEY_PACKAGE || !l.lifetime.p ||
	    memcmp(l.lifetime.p, for_ever, sizeof(for_ever)) != 0 || !leaf_fits(&l))
		return EINVAL;
	err = verify(l.signature_key, "LeafNodeTBS",
		     (struct slice){kp.p + leaf_from, l.signed_to - leaf_from}, l.signature);
	if (!err)
		err = verify(l.signature_key, "KeyPackageTBS", (struct slice){kp.p, signed_to},
			     signature);
	if (!err)
		err = ref_hash(k.ref, "MLS 1.0 KeyPackage Reference", kp);
	if (err)
		return err;
	k.user = leaf_user(&l);
	k.signature_key = l.signature_key;
	*out = k;
	return 0;
}

/* ---- the external sender ---- */

int gd_sender_alloc(struct gd_sender **out)
{
	struct gd_sender *s = calloc(1, sizeof(*s));
	struct wr w = wr_of(s ? s->package : NULL, s ? sizeof(s->package) : 0);
	uint8_t *pub;
	size_t n = 0;

	if (!s)
		return ENOMEM;
	gd_mls_len(&w, GD_MLS_POINT);
	pub = wr_room(&w, GD_MLS_POINT);
	wr_be(&w, BASIC, 2);
	wr_be(&w, 1, 1);
	wr_be(&w, 0, 1);
	s->key = EVP_EC_gen("P-256");
	if (!s->key || !w.ok ||
	    EVP_PKEY_get_octet_string_param(s->key, OSSL_PKEY_PARAM_PUB_KEY, pub, GD_MLS_POINT,
					    &n) != 1 ||
	    n != GD_MLS_POINT) {
		gd_sender_free(s);
		return ENOMEM;
	}
	*out = s;
	return 0;
}

struct gd_sender *gd_sender_free(struct gd_sender *s)
{
	if (!s)
		return NULL;
	EVP_PKEY_free(s->key);
	free(s);
	return NULL;
}

struct slice gd_sender_package(const struct gd_sender *s)
{
	return (struct slice){s->package, sizeof(s->package)};
}

/* FramedContent of an external sender (RFC 9420, 6). */
static void put_content(struct wr *w, uint64_t group, uint64_t epoch, struct slice kp,
			uint32_t leaf)
{
	gd_mls_len(w, 8);
	wr_be(w, group, 8);
	wr_be(w, epoch, 8);
	wr_be(w, SENDER_EXTERNAL, 1);
	wr_be(w, 0, 4);
	gd_mls_len(w, 0); /* authenticated_data */
	wr_be(w, CONTENT_PROPOSAL, 1);
	wr_be(w, kp.n ? PROPOSAL_ADD : PROPOSAL_REMOVE, 2);
	if (kp.n)
		wr_bytes(w, kp.p, kp.n);
	else
		wr_be(w, leaf, 4);
}

int gd_sender_propose(const struct gd_sender *s, struct gd_proposal **out, uint64_t group,
		      uint64_t epoch, struct slice kp, uint32_t leaf)
{
	size_t cap = kp.n + GD_MLS_SIGNATURE + 64, sig_n = 0;
	struct gd_proposal *p = calloc(1, sizeof(*p) + cap);
	struct wr w = wr_of(p ? p->message : NULL, p ? cap : 0);
	uint8_t sig[GD_MLS_SIGNATURE];
	int err;

	if (!p)
		return ENOMEM;
	wr_be(&w, MLS10, 2);
	wr_be(&w, PUBLIC_MESSAGE, 2);
	put_content(&w, group, epoch, kp, leaf);
	/* For an external sender what is signed holds no GroupContext (6.1): it is the message so
	 * far. */
	err = sign(s->key, "FramedContentTBS", (struct slice){p->message, w.pos}, sig, &sig_n);
	gd_mls_put(&w, (struct slice){sig, sig_n});
	if (!err && !w.ok)
		err = ENOBUFS;
	/* AuthenticatedContent is the same without the version in front. */
	if (!err)
		err = ref_hash(p->ref, "MLS 1.0 Proposal Reference",
			       (struct slice){p->message + 2, w.pos - 2});
	if (!err && kp.n)
		err = ref_hash(p->key_package, "MLS 1.0 KeyPackage Reference", kp);
	if (err) {
		free(p);
		return err;
	}
	p->add = kp.n > 0;
	p->leaf = leaf;
	p->n = w.pos;
	*out = p;
	return 0;
}

/* ---- commits and welcomes (RFC 9420, 12.4) ---- */

static bool refs_only(struct slice list)
{
	if (list.n % REF_ITEM)
		return false;
	for (size_t i = 0; i < list.n; i += REF_ITEM) {
		if (list.p[i] != BY_REFERENCE || list.p[i + 1] != GD_MLS_REF)
			return false;
	}
	return true;
}

/* The leaf of a commit is signed with its group and its place (RFC 9420, 7.2). */
static int verify_leaf(const struct gd_commit *c, const struct leaf *l, struct slice fields)
{
	uint8_t *tbs = malloc(fields.n + 16);
	struct wr w = wr_of(tbs, tbs ? fields.n + 16 : 0);
	int err;

	wr_bytes(&w, fields.p, fields.n);
	gd_mls_len(&w, 8);
	wr_be(&w, c->group, 8);
	wr_be(&w, c->leaf, 4);
	err = w.ok ? verify(l->signature_key, "LeafNodeTBS", (struct slice){tbs, w.pos},
			    l->signature)
		   : ENOMEM;
	free(tbs);
	return err;
}

/* UpdatePath: a leaf, then keys with ciphertexts for the copath. */
static bool read_path(struct rd *r, struct gd_commit *c)
{
	size_t from = r->pos;
	struct leaf l = read_leaf(r);
	struct slice nodes = gd_mls_vec(r);
	struct rd n = rd_of(nodes.p, nodes.n);

	while (rd_left(&n)) {
		struct slice key = gd_mls_vec(&n), texts = gd_mls_vec(&n);
		struct rd t = rd_of(texts.p, texts.n);

		while (rd_left(&t)) {
			gd_mls_vec(&t); /* kem_output */
			gd_mls_vec(&t); /* ciphertext */
		}
		r->ok = r->ok && n.ok && t.ok && is_point(key);
	}
	if (!r->ok || !n.ok)
		return false;
	c->path = true;
	c->path_user = leaf_user(&l);
	c->path_key = l.signature_key;
	c->path_signed = verify_leaf(c, &l, (struct slice){r->p + from, l.signed_to - from}) == 0;
	return l.source == LEAF_COMMIT && leaf_fits(&l);
}

static int read_welcome(struct gd_commit *c)
{
	struct rd r = rd_of(c->welcome.p, c->welcome.n);
	uint64_t suite = rd_be(&r, 2);
	struct rd s;

	c->secrets = gd_mls_vec(&r);
	c->info = gd_mls_vec(&r);
	s = rd_of(c->secrets.p, c->secrets.n);
	while (rd_left(&s)) {
		struct slice ref = gd_mls_vec(&s);

		gd_mls_vec(&s); /* kem_output */
		gd_mls_vec(&s); /* ciphertext */
		s.ok = s.ok && ref.n == GD_MLS_REF;
		c->n_secrets++;
	}
	if (!r.ok || !s.ok || rd_left(&r))
		return EBADMSG;
	return suite == SUITE && c->n_secrets && c->info.n ? 0 : EINVAL;
}

int gd_commit_read(struct gd_commit *out, struct slice op28)
{
	struct gd_commit c = {0};
	struct rd r = rd_of(op28.p, op28.n), id;
	uint64_t version = rd_be(&r, 2), wire = rd_be(&r, 2), sender, content;
	struct slice group = gd_mls_vec(&r), tag;
	bool fits = version == MLS10 && wire == PUBLIC_MESSAGE && group.n == 8;

	id = rd_of(group.p, group.n);
	c.group = rd_be(&id, 8);
	c.epoch = rd_be(&r, 8);
	sender = rd_be(&r, 1);
	c.leaf = (uint32_t)rd_be(&r, 4);
	fits = fits && gd_mls_vec(&r).n == 0; /* authenticated_data */
	content = rd_be(&r, 1);
	if (!r.ok)
		return EBADMSG;
	if (!fits || sender != SENDER_MEMBER || content != CONTENT_COMMIT)
		return EINVAL;
	c.refs = gd_mls_vec(&r);
	if (r.ok && !refs_only(c.refs))
		return EINVAL;
	c.n_refs = c.refs.n / REF_ITEM;
	switch (rd_be(&r, 1)) {
	case 0:
		break;
	case 1:
		fits = read_path(&r, &c);
		break;
	default:
		return EBADMSG;
	}
	c.content = (struct slice){op28.p, r.pos};
	c.signature = gd_mls_vec(&r);
	fits = fits && c.signature.n;
	tag = gd_mls_vec(&r);
	fits = fits && tag.n == 32 && gd_mls_vec(&r).n == 32; /* confirmation and membership tags */
	if (!r.ok)
		return EBADMSG;
	if (!fits)
		return EINVAL;
	c.message = (struct slice){op28.p, r.pos};
	c.welcome = (struct slice){op28.p + r.pos, op28.n - r.pos};
	if (c.welcome.n) {
		int err = read_welcome(&c);

		if (err)
			return err;
	}
	*out = c;
	return 0;
}

/* The tree hash of a group of one (RFC 9420, 7.8): its leaf is the key package's. */
static int hash_lone_leaf(uint8_t out[GD_MLS_REF], struct slice kp)
{
	enum { VERSION_AND_SUITE = 4, LEAF_NODE = 1, PRESENT = 1 };
	struct rd r = rd_of(kp.p, kp.n);
	uint8_t *buf = malloc(kp.n + 8);
	struct wr w = wr_of(buf, buf ? kp.n + 8 : 0);
	size_t from;

	rd_bytes(&r, VERSION_AND_SUITE);
	gd_mls_vec(&r);
	from = r.pos;
	read_leaf(&r);
	wr_be(&w, LEAF_NODE, 1);
	wr_be(&w, 0, 4);
	wr_be(&w, PRESENT, 1);
	wr_bytes(&w, kp.p + from, r.ok ? r.pos - from : 0);
	if (w.ok)
		SHA256(buf, w.pos, out);
	free(buf);
	return !w.ok ? ENOMEM : r.ok ? 0 : EBADMSG;
}

/* GroupContext of epoch 0 (RFC 9420, 8.1), whose transcript is empty. */
static void put_first_context(struct wr *w, uint64_t group, const uint8_t tree_hash[GD_MLS_REF],
			      struct slice sender)
{
	enum { EXTERNAL_SENDERS = 5, TYPE = 2, LENGTHS = 4 };

	wr_be(w, MLS10, 2);
	wr_be(w, SUITE, 2);
	gd_mls_len(w, 8);
	wr_be(w, group, 8);
	wr_be(w, 0, 8); /* epoch */
	gd_mls_put(w, (struct slice){tree_hash, GD_MLS_REF});
	gd_mls_len(w, 0);
	gd_mls_len(w, TYPE + LENGTHS + sender.n);
	wr_be(w, EXTERNAL_SENDERS, TYPE);
	gd_mls_len(w, 2 + sender.n);
	gd_mls_put(w, sender);
}

int gd_commit_verify_first(const struct gd_commit *c, struct slice kp, struct slice sender)
{
	uint8_t hash[GD_MLS_REF];
	struct gd_key_package k;
	size_t cap = c->content.n + sender.n + 128;
	uint8_t *tbs = malloc(cap);
	struct wr w = wr_of(tbs, tbs ? cap : 0);
	int err = gd_key_package_read(&k, kp);

	if (!err)
		err = hash_lone_leaf(hash, kp);
	if (err)
		goto out;
	wr_bytes(&w, c->content.p, c->content.n);
	put_first_context(&w, c->group, hash, sender);
	err = w.ok ? verify(k.signature_key, "FramedContentTBS", (struct slice){tbs, w.pos},
			    c->signature)
		   : ENOMEM;
out:
	free(tbs);
	return err;
}

const uint8_t *gd_commit_ref(const struct gd_commit *c, size_t i)
{
	return c->refs.p + i * REF_ITEM + 2;
}

int gd_commit_welcome(const struct gd_commit *c, const uint8_t key_package[GD_MLS_REF],
		      struct wr *out)
{
	struct rd r = rd_of(c->secrets.p, c->secrets.n);

	while (rd_left(&r)) {
		size_t from = r.pos;
		struct slice ref = gd_mls_vec(&r);

		gd_mls_vec(&r);
		gd_mls_vec(&r);
		if (ref.n != GD_MLS_REF || memcmp(ref.p, key_package, GD_MLS_REF) != 0)
			continue;
		wr_be(out, SUITE, 2);
		gd_mls_put(out, (struct slice){c->secrets.p + from, r.pos - from});
		gd_mls_put(out, c->info);
		return out->ok ? 0 : ENOBUFS;
	}
	return ENOENT;
}
