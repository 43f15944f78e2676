/* Vectors of the codec, the labelled functions, the key schedule and the secret tree. */
#include <stdio.h>

#include "mediad/mls/hpke.h"
#include "mediad/mls/schedule.h"
#include "mediad/mls/message.h"
#include "mediad/mls/treemath.h"
#include "tests/vectors/vectors.h"

static const char *label(const json_t *o)
{
	return json_string_value(json_object_get(o, "label"));
}

bool vec_deserialization(const json_t *c)
{
	struct slice head = vec_get(c, "vlbytes_header");
	uint64_t length = vec_uint(c, "length");
	struct rd r = rd_of(head.p, head.n);
	uint8_t form[4];

	VEC(head.n && mls_rd_varint(&r) == length && r.ok && !rd_left(&r));
	VEC(mls_varint_put(form, length) == head.n && memcmp(form, head.p, head.n) == 0);
	return true;
out:
	return false;
}

/* ---- crypto-basics ---- */

static bool derivations(const json_t *c)
{
	const json_t *o = json_object_get(c, "ref_hash");
	uint8_t out[255];
	size_t n;

	if (mls_ref_hash(out, label(o), vec_get(o, "value")) || !vec_is(o, "out", out, MLS_HASH))
		return false;
	o = json_object_get(c, "expand_with_label");
	n = vec_uint(o, "length");
	if (n > sizeof out ||
	    mls_expand_label(out, n, vec_get(o, "secret"), label(o), vec_get(o, "context")) ||
	    !vec_is(o, "out", out, n))
		return false;
	o = json_object_get(c, "derive_secret");
	if (mls_derive_secret(out, vec_get(o, "secret"), label(o)) ||
	    !vec_is(o, "out", out, MLS_HASH))
		return false;
	o = json_object_get(c, "derive_tree_secret");
	n = vec_uint(o, "length");
	return n <= sizeof out &&
	       !mls_derive_tree_secret(out, n, vec_get(o, "secret"), label(o),
				       (uint32_t)vec_uint(o, "generation")) &&
	       vec_is(o, "out", out, n);
}

static bool signatures(const json_t *c, struct mls_rng *rng)
{
	const json_t *o = json_object_get(c, "sign_with_label");
	struct slice priv = vec_get(o, "priv"), pub = vec_get(o, "pub"),
		     content = vec_get(o, "content");
	uint8_t sig[MLS_SIG_MAX];
	size_t n;

	return priv.n == MLS_SCALAR &&
	       !mls_verify(pub, label(o), content, vec_get(o, "signature")) &&
	       !mls_sign(sig, &n, priv.p, label(o), content, rng) &&
	       !mls_verify(pub, label(o), content, mls_slice(sig, n));
}

static bool encryption(const json_t *c, struct mls_rng *rng)
{
	const json_t *o = json_object_get(c, "encrypt_with_label");
	struct slice priv = vec_get(o, "priv"), plain = vec_get(o, "plaintext"),
		     context = vec_get(o, "context");
	struct slice sealed = vec_get(o, "ciphertext");
	uint8_t out[128], enc[MLS_POINT], again[128];
	struct p256_pair key;

	return priv.n == MLS_SCALAR && plain.n + MLS_TAG == sealed.n && sealed.n <= sizeof out &&
	       !p256_from_priv(&key, priv.p, P256_ANY) &&
	       vec_is(o, "pub", key.pub, sizeof key.pub) &&
	       !mls_decrypt_label(out, &key, label(o), context, vec_get(o, "kem_output"), sealed) &&
	       memcmp(out, plain.p, plain.n) == 0 &&
	       !mls_encrypt_label(enc, again, mls_slice(key.pub, MLS_POINT), label(o), context,
				  plain, rng) &&
	       !mls_decrypt_label(out, &key, label(o), context, mls_slice(enc, sizeof enc),
				  mls_slice(again, plain.n + MLS_TAG)) &&
	       memcmp(out, plain.p, plain.n) == 0;
}

bool vec_crypto_basics(const json_t *c)
{
	struct mls_rng rng;

	mls_rng_seed(&rng, (const uint8_t[MLS_SEED]){1});
	VEC(derivations(c));
	VEC(signatures(c, &rng));
	VEC(encryption(c, &rng));
	return true;
out:
	return false;
}

/* ---- key-schedule ---- */

static bool same_epoch(const json_t *o, const struct mls_epoch *e)
{
	const json_t *x = json_object_get(o, "exporter");
	struct slice context = vec_get(x, "context");
	uint64_t n = vec_uint(x, "length");
	struct p256_pair external;
	uint8_t out[255];

	return vec_is(o, "joiner_secret", e->joiner, MLS_HASH) &&
	       vec_is(o, "welcome_secret", e->welcome, MLS_HASH) &&
	       vec_is(o, "sender_data_secret", e->sender_data, MLS_HASH) &&
	       vec_is(o, "encryption_secret", e->encryption, MLS_HASH) &&
	       vec_is(o, "exporter_secret", e->exporter, MLS_HASH) &&
	       vec_is(o, "external_secret", e->external, MLS_HASH) &&
	       vec_is(o, "confirmation_key", e->confirm, MLS_HASH) &&
	       vec_is(o, "membership_key", e->membership, MLS_HASH) &&
	       vec_is(o, "resumption_psk", e->resumption, MLS_HASH) &&
	       vec_is(o, "epoch_authenticator", e->authenticator, MLS_HASH) &&
	       vec_is(o, "init_secret", e->init, MLS_HASH) &&
	       !hpke_derive_pair(&external, mls_slice(e->external, MLS_HASH)) &&
	       vec_is(o, "external_pub", external.pub, MLS_POINT) && n <= sizeof out &&
	       !mls_export(out, n, e->exporter, label(x), context) && vec_is(x, "secret", out, n);
}

bool vec_key_schedule(const json_t *c)
{
	struct slice group_id = vec_get(c, "group_id"), init = vec_get(c, "initial_init_secret");
	struct mls_epoch e = {0}, joined;
	const json_t *o;
	size_t i;

	VEC(init.n == MLS_HASH);
	memcpy(e.init, init.p, MLS_HASH);
	json_array_foreach(json_object_get(c, "epochs"), i, o)
	{
		struct slice secret = vec_get(o, "commit_secret"), psk = vec_get(o, "psk_secret");
		struct mls_group_context context = {
			.suite = MLS_SUITE,
			.group_id = group_id,
			.epoch = i,
			.tree_hash = vec_get(o, "tree_hash"),
			.confirmed = vec_get(o, "confirmed_transcript_hash")};
		struct mls_out bytes = {0};
		bool same;

		mls_group_context_write(&bytes, &context);
		same = vec_is(o, "group_context", bytes.p, bytes.n);
		mls_out_free(&bytes);
		VEC(same && secret.n == MLS_HASH && psk.n == MLS_HASH);
		VEC(!mls_schedule(&e, e.init, secret.p, psk.p, vec_get(o, "group_context")));
		VEC(same_epoch(o, &e));
		VEC(!mls_schedule_join(&joined, e.joiner, psk.p, vec_get(o, "group_context")));
		VEC(memcmp(&joined, &e, sizeof e) == 0);
	}
	return true;
out:
	return false;
}

/* ---- transcript-hashes ---- */

/* The vector gives the message as AuthenticatedContent: without the version before it, and without
 * a membership tag. */
bool vec_transcript_hashes(const json_t *c)
{
	struct slice content = vec_get(c, "authenticated_content"),
		     key = vec_get(c, "confirmation_key");
	uint8_t confirmed[MLS_HASH], interim[MLS_HASH], tag[MLS_HASH];
	struct mls_epoch e = {0};
	struct mls_out o = {0};
	struct mls_public m;
	struct rd r;
	int err;

	VEC(key.n == MLS_HASH && content.n);
	memcpy(e.confirm, key.p, MLS_HASH);
	mls_out_be(&o, MLS_VERSION, 2);
	mls_out_slice(&o, content);
	mls_out_vec(&o, (struct slice){0});
	r = rd_of(o.p, o.n);
	err = mls_public_read(&m, &r);
	if (!err &&
	    (m.type != MLS_CONTENT_COMMIT || m.confirmation_tag.n != MLS_HASH || rd_left(&r)))
		err = 1;
	if (!err)
		err = mls_confirmed(confirmed, vec_get(c, "interim_transcript_hash_before"),
				    mls_transcript_input(&m));
	if (!err)
		err = mls_confirmation_tag(tag, &e, mls_slice(confirmed, MLS_HASH));
	if (!err && !mls_same(tag, m.confirmation_tag.p, MLS_HASH))
		err = 1;
	if (!err)
		err = mls_interim(interim, mls_slice(confirmed, MLS_HASH), tag);
	mls_out_free(&o);
	VEC(!err);
	VEC(vec_is(c, "confirmed_transcript_hash_after", confirmed, MLS_HASH));
	VEC(vec_is(c, "interim_transcript_hash_after", interim, MLS_HASH));
	return true;
out:
	return false;
}

/* ---- secret-tree ---- */

/* A leaf's secret: down from the root, "left" or "right" at each step (section 9). */
static int leaf_secret(uint8_t out[MLS_HASH], struct slice root, uint32_t leaf, uint32_t leaves)
{
	uint32_t node = tree_root(leaves);
	int err = 0;

	memcpy(out, root.p, MLS_HASH);
	while (!err && node != 2 * leaf) {
		bool right = 2 * leaf > node;
		uint8_t next[MLS_HASH];

		err = mls_expand_label(next, MLS_HASH, mls_slice(out, MLS_HASH), "tree",
				       right ? mls_slice("right", 5) : mls_slice("left", 4));
		memcpy(out, next, MLS_HASH);
		node = right ? tree_right(node) : tree_left(node);
	}
	return err;
}

static bool ratchet(const json_t *o, const uint8_t leaf[MLS_HASH], const char *name)
{
	uint32_t generation = (uint32_t)vec_uint(o, "generation");
	uint8_t secret[MLS_HASH], next[MLS_HASH], key[MLS_KEY], nonce[MLS_NONCE];
	struct slice at = mls_slice(secret, MLS_HASH);
	char field[40];

	if (mls_expand_label(secret, MLS_HASH, mls_slice(leaf, MLS_HASH), name, (struct slice){0}))
		return false;
	for (uint32_t g = 0; g < generation; g++) {
		if (mls_derive_tree_secret(next, MLS_HASH, at, "secret", g))
			return false;
		memcpy(secret, next, MLS_HASH);
	}
	if (mls_derive_tree_secret(key, MLS_KEY, at, "key", generation) ||
	    mls_derive_tree_secret(nonce, MLS_NONCE, at, "nonce", generation))
		return false;
	snprintf(field, sizeof field, "%s_key", name);
	if (!vec_is(o, field, key, MLS_KEY))
		return false;
	snprintf(field, sizeof field, "%s_nonce", name);
	return vec_is(o, field, nonce, MLS_NONCE);
}

static bool sender_data(const json_t *o)
{
	struct slice secret = vec_get(o, "sender_data_secret"), sample = vec_get(o, "ciphertext");
	uint8_t key[MLS_KEY], nonce[MLS_NONCE];

	sample.n = sample.n > MLS_HASH ? MLS_HASH : sample.n;
	return !mls_expand_label(key, MLS_KEY, secret, "key", sample) &&
	       vec_is(o, "key", key, MLS_KEY) &&
	       !mls_expand_label(nonce, MLS_NONCE, secret, "nonce", sample) &&
	       vec_is(o, "nonce", nonce, MLS_NONCE);
}

bool vec_secret_tree(const json_t *c)
{
	struct slice root = vec_get(c, "encryption_secret");
	const json_t *all = json_object_get(c, "leaves"), *list, *o;
	uint32_t leaves = 1;
	size_t i, k;

	VEC(root.n == MLS_HASH && json_array_size(all) && json_array_size(all) <= MLS_LEAVES_MAX);
	VEC(sender_data(json_object_get(c, "sender_data")));
	while (leaves < json_array_size(all))
		leaves *= 2;
	json_array_foreach(all, i, list)
	{
		uint8_t secret[MLS_HASH];

		VEC(!leaf_secret(secret, root, (uint32_t)i, leaves));
		json_array_foreach(list, k, o)
			VEC(ratchet(o, secret, "handshake") && ratchet(o, secret, "application"));
	}
	return true;
out:
	return false;
}

/* ---- tree-math ---- */

static bool node_is(const json_t *list, uint32_t node, uint32_t got)
{
	const json_t *want = json_array_get(list, node);

	return json_is_null(want) ? got == TREE_NONE
				  : json_is_integer(want) && json_integer_value(want) == got;
}

bool vec_tree_math(const json_t *c)
{
	uint32_t leaves = (uint32_t)vec_uint(c, "n_leaves"),
		 nodes = (uint32_t)vec_uint(c, "n_nodes");

	VEC(tree_width(leaves) == nodes && tree_root(leaves) == vec_uint(c, "root"));
	for (uint32_t x = 0; x < nodes; x++) {
		VEC(node_is(json_object_get(c, "left"), x, tree_left(x)));
		VEC(node_is(json_object_get(c, "right"), x, tree_right(x)));
		VEC(node_is(json_object_get(c, "parent"), x, tree_parent(x, leaves)));
		VEC(node_is(json_object_get(c, "sibling"), x, tree_sibling(x, leaves)));
	}
	return true;
out:
	return false;
}
