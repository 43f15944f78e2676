#include "tests/unit/guildd/member.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>

static EVP_PKEY *new_key(uint8_t pub[GD_MLS_POINT])
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	size_t n = 0;

	if (key)
		EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, pub, GD_MLS_POINT,
						&n);
	return key;
}

bool member_begin(struct member_key *m, uint64_t user)
{
	m->user = user;
	m->sign = new_key(m->pub);
	return m->sign != NULL;
}

void member_end(struct member_key *m)
{
	EVP_PKEY_free(m->sign);
	m->sign = NULL;
}

static void put_vec(struct wr *w, const void *p, size_t n)
{
	gd_mls_put(w, (struct slice){p, n});
}

static void put_key(struct wr *w, uint8_t pub[GD_MLS_POINT])
{
	EVP_PKEY_free(new_key(pub));
	put_vec(w, pub, GD_MLS_POINT);
}

/* Signs what stands in w from `from` on and then `more`, and writes the signature behind it. */
static void put_signature_with(const struct member_key *m, const char *label, struct wr *w,
			       size_t from, struct slice more)
{
	uint8_t content[4096], sig[GD_MLS_SIGNATURE];
	struct wr c = wr_of(content, sizeof(content));
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = sizeof(sig);

	put_vec(&c, label, strlen(label));
	gd_mls_len(&c, w->pos - from + more.n);
	wr_bytes(&c, w->p + from, w->pos - from);
	wr_bytes(&c, more.p, more.n);
	EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, m->sign);
	EVP_DigestSign(ctx, sig, &n, content, c.pos);
	EVP_MD_CTX_free(ctx);
	put_vec(w, sig, n);
}

static void put_signature(const struct member_key *m, const char *label, struct wr *w, size_t from)
{
	put_signature_with(m, label, w, from, (struct slice){0});
}

static void put_identity(const struct member_key *m, struct wr *w)
{
	put_vec(w, m->pub, sizeof(m->pub));
	wr_be(w, 1, 2);
	wr_be(w, 8, 1);
	wr_be(w, m->user, 8);
	wr_be(w, 0x020001, 3); /* versions */
	wr_be(w, 0x020002, 3); /* suites */
	wr_be(w, 0, 2);	       /* extensions, proposals */
	wr_be(w, 0x020001, 3); /* credentials */
}

void member_key_package(const struct member_key *m, const struct member_odd *odd, struct wr *out)
{
	static const struct member_odd plain = {0};
	const struct member_odd *o = odd ? odd : &plain;
	size_t from = out->pos, leaf;
	uint8_t init[GD_MLS_POINT], enc[GD_MLS_POINT];

	wr_be(out, 1, 2);
	wr_be(out, o->suite ? o->suite : 2, 2);
	put_key(out, init);
	if (o->off_curve)
		out->p[out->pos - 1] ^= 1;
	leaf = out->pos;
	if (o->same_keys)
		put_vec(out, init, sizeof(init));
	else
		put_key(out, enc);
	put_identity(m, out);
	wr_be(out, 1, 1);
	wr_be(out, o->not_before, 8);
	wr_be(out, UINT64_MAX, 8);
	wr_be(out, 0, 1);
	put_signature(m, o->other_signature ? "MLS 1.0 KeyPackageTBS" : "MLS 1.0 LeafNodeTBS", out,
		      leaf);
	wr_be(out, 0, 1);
	put_signature(m, "MLS 1.0 KeyPackageTBS", out, from);
}

static void put_filled(struct wr *w, uint8_t with, size_t n)
{
	uint8_t buf[128];

	memset(buf, with, sizeof(buf));
	put_vec(w, buf, n);
}

/* A leaf with a parent hash, and one node above it with one ciphertext. */
static void put_path(const struct member_key *m, const struct member_commit *c, struct wr *out)
{
	uint8_t nodes[512], texts[256], key[GD_MLS_POINT], place[16];
	struct wr n = wr_of(nodes, sizeof(nodes)), t = wr_of(texts, sizeof(texts)),
		  w = wr_of(place, sizeof(place));
	size_t from = out->pos;

	wr_be(&w, 8, 1);
	wr_be(&w, c->group, 8);
	wr_be(&w, c->other_leaf_signature ? c->leaf + 1 : c->leaf, 4);
	put_key(out, key);
	put_identity(m, out);
	wr_be(out, 3, 1);
	put_filled(out, 7, 32);
	wr_be(out, 0, 1);
	put_signature_with(m, "MLS 1.0 LeafNodeTBS", out, from, (struct slice){place, w.pos});
	put_filled(&t, 4, 65);
	put_filled(&t, 5, 48);
	put_key(&n, key);
	put_vec(&n, texts, t.pos);
	put_vec(out, nodes, n.pos);
}

static void put_welcome(const struct member_commit *c, struct wr *out)
{
	uint8_t secrets[8192];
	struct wr s = wr_of(secrets, sizeof(secrets));

	for (size_t i = 0; i < c->n_welcomes; i++) {
		put_vec(&s, c->welcomes[i], GD_MLS_REF);
		put_filled(&s, (uint8_t)i, 65);
		put_filled(&s, (uint8_t)(i + 100), 88);
	}
	wr_be(out, 2, 2);
	put_vec(out, secrets, s.pos);
	put_filled(out, 9, 120);
}

/* The GroupContext of epoch 0, byte by byte (RFC 9420, 8.1). */
static void put_context(const struct member_commit *c, struct wr *w)
{
	uint8_t leaf[4096], hash[32];
	struct wr l = wr_of(leaf, sizeof(leaf));
	/* Before the leaf: version, suite, init key with its length. Behind it: no extensions, and
	 * the package's signature with its length. */
	size_t from = 4 + 2 + GD_MLS_POINT, end = c->kp.n;
	struct rd r = rd_of(c->kp.p, c->kp.n);

	rd_bytes(&r, from);
	for (unsigned i = 0; i < 2; i++)
		gd_mls_vec(&r); /* encryption key, signature key */
	rd_bytes(&r, 2 + 9 + 3 + 3 + 2 + 3 + 1 + 16 + 1);
	gd_mls_vec(&r);
	end = r.pos;
	wr_be(&l, 0x0100000000, 5); /* a leaf, the first */
	wr_be(&l, 1, 1);
	wr_bytes(&l, c->kp.p + from, end - from);
	SHA256(leaf, l.pos, hash);
	wr_be(w, 0x00010002, 4);
	wr_be(w, 8, 1);
	wr_be(w, c->group, 8);
	wr_be(w, c->epoch, 8);
	put_vec(w, hash, sizeof(hash));
	wr_be(w, 0, 1);
	gd_mls_len(w, 2 + 4 + c->sender.n);
	wr_be(w, 5, 2);
	gd_mls_len(w, 2 + c->sender.n);
	put_vec(w, c->sender.p, c->sender.n);
}

void member_commit(const struct member_key *m, const struct member_commit *c, struct wr *out)
{
	uint8_t context[512];
	struct wr w = wr_of(context, sizeof(context));
	size_t from = out->pos;

	wr_be(out, 0x00010001, 4);
	wr_be(out, 8, 1);
	wr_be(out, c->group, 8);
	wr_be(out, c->epoch, 8);
	wr_be(out, 1, 1);
	wr_be(out, c->leaf, 4);
	wr_be(out, 0, 1);
	wr_be(out, 3, 1);
	gd_mls_len(out, c->n_refs * 34);
	for (size_t i = 0; i < c->n_refs; i++) {
		wr_be(out, 2, 1);
		put_vec(out, c->refs[i], GD_MLS_REF);
	}
	wr_be(out, c->path, 1);
	if (c->path)
		put_path(m, c, out);
	if (c->kp.n)
		put_context(c, &w);
	if (c->other_signature)
		context[w.pos - 1] ^= 1;
	if (c->kp.n)
		put_signature_with(m, "MLS 1.0 FramedContentTBS", out, from,
				   (struct slice){context, w.pos});
	else
		put_filled(out, 1, 71);
	put_filled(out, 2, 32);
	put_filled(out, 3, 32);
	if (c->n_welcomes)
		put_welcome(c, out);
}
