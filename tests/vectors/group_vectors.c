/* Welcomes, and members that only follow. */
#include <errno.h>

#include "mediad/mls/group.h"
#include "mediad/mls/hpke.h"
#include "tests/vectors/runner.h"

/* ---- welcome ---- */

static int read_package(struct mls_key_package **out, struct slice message)
{
	struct rd r = rd_of(message.p, message.n);
	enum mls_wire_format format;
	int err = mls_message_head(&format, &r);

	if (!err && format != MLS_KEY_PACKAGE_MESSAGE)
		err = EBADMSG;
	return err ? err : mls_key_package_read(out, &r);
}

/* The body of an MLSMessage of this kind; empty when it is another. */
static struct slice unwrap(struct slice message, enum mls_wire_format want)
{
	struct rd r = rd_of(message.p, message.n);
	enum mls_wire_format format;

	if (mls_message_head(&format, &r) || format != want)
		return (struct slice){0};
	return mls_slice(message.p + r.pos, message.n - r.pos);
}

static int pair_of(struct p256_pair *out, const json_t *c, const char *key)
{
	struct slice priv = vec_get(c, key);

	return priv.n == MLS_SCALAR ? p256_from_priv(out, priv.p, P256_ANY) : EBADMSG;
}

/* The welcome has no ratchet tree, so it is opened step by step. */
bool vec_welcome(const json_t *c)
{
	struct slice bytes = unwrap(vec_get(c, "welcome"), MLS_WELCOME), enc, sealed;
	struct rd r = rd_of(bytes.p, bytes.n), secrets, info_rd;
	uint8_t ref[MLS_HASH], plain[1024], info_plain[4096], welcome[MLS_HASH], key[MLS_KEY],
		nonce[MLS_NONCE], tag[MLS_HASH];
	struct mls_key_package *k = NULL;
	struct mls_group_info info;
	struct mls_epoch epoch;
	struct mls_welcome w;
	struct p256_pair init;
	struct slice joiner;
	bool good = false;

	VEC(read_package(&k, vec_get(c, "key_package")) == 0 &&
	    mls_key_package_ref_hash(ref, k) == 0);
	VEC(pair_of(&init, c, "init_priv") == 0 &&
	    mls_equal(k->init_key, mls_slice(init.pub, MLS_POINT)));
	VEC(mls_welcome_read(&w, &r) == 0 && w.suite == MLS_SUITE);
	VEC(mls_welcome_secrets(&w, ref, &enc, &sealed) == 0 && sealed.n <= sizeof plain + MLS_TAG);
	VEC(mls_decrypt_label(plain, &init, "Welcome", w.group_info, enc, sealed) == 0);
	secrets = rd_of(plain, sealed.n - MLS_TAG);
	joiner = mls_rd_vec(&secrets);
	VEC(joiner.n == MLS_HASH && mls_welcome_secret(welcome, joiner.p, NULL) == 0);
	VEC(mls_welcome_key(key, nonce, welcome) == 0 &&
	    w.group_info.n <= sizeof info_plain + MLS_TAG);
	VEC(mls_open(info_plain, key, nonce, (struct slice){0}, w.group_info) == 0);
	info_rd = rd_of(info_plain, w.group_info.n - MLS_TAG);
	VEC(mls_group_info_read(&info, &info_rd) == 0 && !rd_left(&info_rd));
	VEC(mls_verify(vec_get(c, "signer_pub"), "GroupInfoTBS", info.tbs, info.signature) == 0);
	VEC(mls_schedule_join(&epoch, joiner.p, NULL, info.context_raw) == 0);
	VEC(mls_confirmation_tag(tag, &epoch, info.context.confirmed) == 0);
	VEC(mls_equal(info.confirmation_tag, mls_slice(tag, MLS_HASH)));
	good = true;
out:
	mls_key_package_free(k);
	return good;
}

/* ---- passive clients ---- */

static bool in_epoch(const struct mls_group *g, const json_t *o, const char *key)
{
	return vec_is(o, key, mls_group_secrets(g)->authenticator, MLS_HASH);
}

static unsigned psks_of(struct mls_psk *out, const json_t *list)
{
	unsigned n = 0;
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) if (n < MLS_PSKS_MAX) out[n++] =
		(struct mls_psk){vec_get(o, "psk_id"), vec_get(o, "psk")};
	return n;
}

/* External ones alone. */
bool vec_psk_secret(const json_t *c)
{
	struct mls_psk psks[MLS_PSKS_MAX];
	struct mls_out ids = {0};
	uint8_t secret[MLS_HASH];
	const json_t *list = json_object_get(c, "psks"), *o;
	size_t i;
	bool good = false;

	json_array_foreach(list, i, o)
	{
		mls_out_be(&ids, 1, 1);
		mls_out_vec(&ids, vec_get(o, "psk_id"));
		mls_out_vec(&ids, vec_get(o, "psk_nonce"));
	}
	VEC(mls_psk_secret(secret, mls_out_view(&ids), psks, psks_of(psks, list)) == 0);
	VEC(vec_is(c, "psk_secret", secret, MLS_HASH));
	good = true;
out:
	mls_out_free(&ids);
	return good;
}

static int join(struct mls_group **out, const json_t *c)
{
	struct mls_psk psks[MLS_PSKS_MAX];
	unsigned n = psks_of(psks, json_object_get(c, "external_psks"));
	struct mls_identity me;
	struct p256_pair init;
	struct mls_key_package *k = NULL;
	int err = read_package(&k, vec_get(c, "key_package"));

	if (!err)
		err = pair_of(&me.signature, c, "signature_priv");
	if (!err)
		err = pair_of(&me.encryption, c, "encryption_priv");
	if (!err)
		err = pair_of(&init, c, "init_priv");
	if (!err)
		err = mls_group_join_with(out, unwrap(vec_get(c, "welcome"), MLS_WELCOME),
					  vec_get(c, "ratchet_tree"), k, &init, &me,
					  (struct mls_psk_list){psks, n});
	mls_key_package_free(k);
	return err;
}

static int follow(struct mls_group **g, const json_t *epoch)
{
	struct mls_group *next;
	const json_t *proposal;
	bool removed;
	size_t i;
	int err = 0;

	json_array_foreach(json_object_get(epoch, "proposals"), i, proposal)
	{
		err = mls_group_propose(*g, vec_hex(proposal), NULL);
		if (err)
			return err;
	}
	err = mls_group_process(&next, *g, vec_get(epoch, "commit"), &removed);
	if (err)
		return err;
	mls_group_free(*g);
	*g = next;
	return 0;
}

static void judge(struct vec_tally *t, int err, const char *step, size_t i)
{
	if (err == ENOTSUP)
		vec_skip(t,
			 "%s needs what is left out (pre-shared key in a commit, resumption, "
			 "external commit, PrivateMessage)",
			 step);
	else
		vec_fail(t, "%s %zu: %d", step, i, err);
}

void vec_passive_client(const json_t *c, struct vec_tally *t)
{
	struct mls_group *g = NULL;
	const json_t *epoch;
	size_t i;
	int err = join(&g, c);

	if (err) {
		judge(t, err, "welcome", 0);
		return;
	}
	if (!in_epoch(g, c, "initial_epoch_authenticator")) {
		vec_fail(t, "another first epoch");
		goto out;
	}
	json_array_foreach(json_object_get(c, "epochs"), i, epoch)
	{
		err = follow(&g, epoch);
		if (err) {
			judge(t, err, "commit", i);
			goto out;
		}
		if (!in_epoch(g, epoch, "epoch_authenticator")) {
			vec_fail(t, "another epoch after commit %zu", i);
			goto out;
		}
	}
	vec_pass(t);
out:
	mls_group_free(g);
}
