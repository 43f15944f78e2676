/* Messages: read, written again, and protected. */
#include <errno.h>

#include "mediad/mls/group.h"
#include "mediad/mls/treekem.h"
#include "tests/vectors/runner.h"

/* ---- messages.json ---- */

/* Each reads `in` and writes the parsed message into o. Parts kept as received count as written.
 */
typedef int again_fn(struct slice in, struct mls_out *o);

static int again_public(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n);
	struct mls_public m;
	int err = mls_public_read(&m, &r);

	if (err || rd_left(&r))
		return err ? err : EBADMSG;
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, MLS_PUBLIC_MESSAGE, 2);
	mls_out_vec(o, m.group_id);
	mls_out_be(o, m.epoch, 8);
	mls_out_be(o, m.sender, 1);
	if (m.sender == MLS_SENDER_MEMBER || m.sender == MLS_SENDER_EXTERNAL)
		mls_out_be(o, m.sender_index, 4);
	mls_out_vec(o, m.aad);
	mls_out_be(o, m.type, 1);
	mls_out_slice(o, m.body);
	mls_out_vec(o, m.signature);
	if (m.type == MLS_CONTENT_COMMIT)
		mls_out_vec(o, m.confirmation_tag);
	if (m.sender == MLS_SENDER_MEMBER)
		mls_out_vec(o, m.membership_tag);
	return o->err;
}

static int head(enum mls_wire_format want, struct rd *r, struct mls_out *o)
{
	enum mls_wire_format format;
	int err = mls_message_head(&format, r);

	if (err || format != want)
		return err ? err : EBADMSG;
	mls_out_be(o, MLS_VERSION, 2);
	mls_out_be(o, want, 2);
	return 0;
}

static int again_welcome(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n);
	struct mls_welcome w;
	int err = head(MLS_WELCOME, &r, o);

	if (!err)
		err = mls_welcome_read(&w, &r);
	if (err)
		return err;
	mls_out_be(o, w.suite, 2);
	mls_out_vec(o, w.secrets);
	mls_out_vec(o, w.group_info);
	return o->err;
}

static int again_group_info(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n);
	struct mls_group_info g;
	int err = head(MLS_GROUP_INFO, &r, o);

	if (!err)
		err = mls_group_info_read(&g, &r);
	if (err || rd_left(&r))
		return err ? err : EBADMSG;
	mls_group_context_write(o, &g.context);
	mls_out_vec(o, g.extensions);
	mls_out_vec(o, g.confirmation_tag);
	mls_out_be(o, g.signer, 4);
	mls_out_vec(o, g.signature);
	return o->err;
}

static int again_key_package(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n);
	struct mls_key_package *k = NULL;
	int err = head(MLS_KEY_PACKAGE_MESSAGE, &r, o);

	if (!err)
		err = mls_key_package_read(&k, &r);
	if (err || rd_left(&r)) {
		mls_key_package_free(k);
		return err ? err : EBADMSG;
	}
	mls_out_be(o, k->version, 2);
	mls_out_be(o, k->suite, 2);
	mls_out_vec(o, k->init_key);
	mls_out_slice(o, k->leaf->raw);
	mls_out_vec(o, k->extensions);
	mls_out_vec(o, k->signature);
	mls_key_package_free(k);
	return o->err;
}

static int again_tree(struct slice in, struct mls_out *o)
{
	struct mls_tree *t;
	int err = mls_tree_read(&t, in);

	if (err)
		return err;
	mls_tree_write(t, o);
	mls_tree_free(t);
	return o->err;
}

/* Bodies come without the type before them. */
static int again_proposal(enum mls_proposal_type type, struct slice in, struct mls_out *o)
{
	struct mls_out typed = {0};
	struct mls_proposal p = {0};
	struct rd r;
	int err;

	mls_out_be(&typed, type, 2);
	mls_out_slice(&typed, in);
	r = rd_of(typed.p, typed.n);
	err = mls_proposal_read(&p, &r);
	if (err)
		goto out;
	err = rd_left(&r) || p.type != type ? EBADMSG : 0;
	switch (p.type) {
	case MLS_PROPOSAL_ADD:
		mls_out_slice(o, p.key_package->raw);
		break;
	case MLS_PROPOSAL_UPDATE:
		mls_out_slice(o, p.leaf->raw);
		break;
	case MLS_PROPOSAL_REMOVE:
		mls_out_be(o, p.removed, 4);
		break;
	case MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS:
		mls_out_vec(o, p.extensions);
		break;
	default:
		mls_out_slice(o, p.body);
		break;
	}
out:
	mls_proposal_free(&p);
	mls_out_free(&typed);
	return err ? err : o->err;
}

static int again_add(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_ADD, in, o);
}

static int again_update(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_UPDATE, in, o);
}

static int again_remove(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_REMOVE, in, o);
}

static int again_extensions(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS, in, o);
}

static int again_psk(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_PSK, in, o);
}

static int again_re_init(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_REINIT, in, o);
}

static int again_external_init(struct slice in, struct mls_out *o)
{
	return again_proposal(MLS_PROPOSAL_EXTERNAL_INIT, in, o);
}

static void write_path(struct mls_out *o, const struct mls_path *path)
{
	size_t at;

	mls_out_slice(o, path->leaf->raw);
	at = mls_out_open(o);
	for (uint32_t i = 0; i < path->n; i++) {
		mls_out_vec(o, path->node[i].key);
		mls_out_vec(o, path->node[i].ciphertexts);
	}
	mls_out_close(o, at);
}

static int again_list(struct rd *list, struct mls_out *o)
{
	size_t at = mls_out_open(o);

	while (rd_left(list)) {
		struct mls_proposal_or_ref p;
		int err = mls_proposal_or_ref_read(&p, list);

		if (err)
			return err;
		mls_out_be(o, p.by_ref ? 2 : 1, 1);
		if (p.by_ref)
			mls_out_vec(o, p.ref);
		else
			mls_out_slice(o, p.value.raw);
		mls_proposal_free(&p.value);
	}
	mls_out_close(o, at);
	return o->err;
}

static int again_commit(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n), list = mls_rd_sub(&r);
	struct mls_path path;
	bool has_path;
	int err = again_list(&list, o);

	if (err)
		return err;
	has_path = mls_rd_optional(&r);
	mls_out_be(o, has_path, 1);
	if (has_path) {
		err = mls_path_read(&path, &r);
		if (err)
			return err;
		write_path(o, &path);
		mls_path_free(&path);
	}
	return !r.ok || rd_left(&r) ? EBADMSG : o->err;
}

/* GroupSecrets are read inside of a join alone; here by the fields. */
static int again_secrets(struct slice in, struct mls_out *o)
{
	struct rd r = rd_of(in.p, in.n);
	bool path;

	mls_out_vec(o, mls_rd_vec(&r));
	path = mls_rd_optional(&r);
	mls_out_be(o, path, 1);
	if (path)
		mls_out_vec(o, mls_rd_vec(&r));
	mls_out_vec(o, mls_rd_vec(&r));
	return !r.ok || rd_left(&r) ? EBADMSG : o->err;
}

static const struct {
	const char *name;
	again_fn *again; /* NULL: not part of DAVE */
} types[] = {
	{"mls_welcome", again_welcome},
	{"mls_group_info", again_group_info},
	{"mls_key_package", again_key_package},
	{"ratchet_tree", again_tree},
	{"group_secrets", again_secrets},
	{"add_proposal", again_add},
	{"update_proposal", again_update},
	{"remove_proposal", again_remove},
	{"group_context_extensions_proposal", again_extensions},
	{"commit", again_commit},
	{"public_message_proposal", again_public},
	{"public_message_commit", again_public},
	{"pre_shared_key_proposal", again_psk},
	{"re_init_proposal", again_re_init},
	{"external_init_proposal", again_external_init},
	{"public_message_application", NULL},
	{"private_message", NULL},
};

void vec_messages(const json_t *c, struct vec_tally *t)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct slice in = vec_get(c, types[i].name);
		struct mls_out o = {0};
		int err;

		if (!in.n)
			continue;
		if (!types[i].again) {
			vec_leave_out(t, "%s is not part of DAVE", types[i].name);
			continue;
		}
		err = types[i].again(in, &o);
		if (err == ENOTSUP)
			vec_skip(t, "%s holds what is left out", types[i].name);
		else if (err)
			vec_fail(t, "%s is not read (%d)", types[i].name, err);
		else if (!mls_equal(mls_out_view(&o), in))
			vec_fail(t, "%s is written as something else", types[i].name);
		else
			vec_pass(t);
		mls_out_free(&o);
	}
}

/* ---- message-protection ---- */

struct protection {
	struct slice context, membership, pub;
};

static bool same_body(const json_t *c, const char *name, const struct mls_public *m)
{
	struct slice want = vec_get(c, name);

	return mls_equal(m->body, want);
}

/* In the receiver's order: tag, signature, body. */
static bool opens(const json_t *c, const char *name, const struct protection *with,
		  enum mls_content_type type)
{
	char field[32];
	struct mls_out tbs = {0};
	uint8_t tag[MLS_HASH];
	struct mls_public m;
	struct slice in;
	struct rd r;
	bool good = false;

	snprintf(field, sizeof field, "%s_pub", name);
	in = vec_get(c, field);
	r = rd_of(in.p, in.n);
	VEC(mls_public_read(&m, &r) == 0 && !rd_left(&r) && m.type == type &&
	    m.sender == MLS_SENDER_MEMBER);
	VEC(mls_equal(m.group_id, vec_get(c, "group_id")) && m.epoch == vec_uint(c, "epoch") &&
	    same_body(c, name, &m));
	VEC(mls_content_tbs(&tbs, m.content, with->context) == 0);
	VEC(mls_membership_tag(tag, with->membership.p, mls_out_view(&tbs), m.signature,
			       m.confirmation_tag) == 0);
	VEC(mls_equal(mls_slice(tag, MLS_HASH), m.membership_tag));
	VEC(mls_verify(with->pub, "FramedContentTBS", mls_out_view(&tbs), m.signature) == 0);
	good = true;
out:
	mls_out_free(&tbs);
	return good;
}

/* Protects the body as the sender does, then decrypts it with the same keys. */
static bool seals(const json_t *c, const char *name, const struct protection *with,
		  enum mls_content_type type)
{
	struct slice body = vec_get(c, name), priv = vec_get(c, "signature_priv");
	struct mls_out content = {0}, tbs = {0}, other = {0};
	uint8_t sig[MLS_SIG_MAX];
	struct mls_rng rng;
	size_t n;
	bool good = false;

	mls_rng_seed(&rng, (const uint8_t[MLS_SEED]){2});
	mls_content_write(&content, vec_get(c, "group_id"), vec_uint(c, "epoch"), MLS_SENDER_MEMBER,
			  1, type);
	mls_out_slice(&content, body);
	VEC(priv.n == MLS_SCALAR &&
	    mls_content_tbs(&tbs, mls_out_view(&content), with->context) == 0);
	VEC(mls_sign(sig, &n, priv.p, "FramedContentTBS", mls_out_view(&tbs), &rng) == 0);
	VEC(mls_verify(with->pub, "FramedContentTBS", mls_out_view(&tbs), mls_slice(sig, n)) == 0);
	/* what is signed is bound to the epoch's context */
	VEC(mls_content_tbs(&other, mls_out_view(&content),
			    mls_slice(with->context.p, with->context.n - 1)) == 0);
	VEC(mls_verify(with->pub, "FramedContentTBS", mls_out_view(&other), mls_slice(sig, n)) ==
	    EACCES);
	good = true;
out:
	mls_out_free(&content);
	mls_out_free(&tbs);
	mls_out_free(&other);
	return good;
}

static void protect(const json_t *c, const char *name, const struct protection *with,
		    enum mls_content_type type, struct vec_tally *t)
{
	if (opens(c, name, with, type) && seals(c, name, with, type))
		vec_pass(t);
	else
		vec_fail(t, "%s_pub", name);
}

void vec_message_protection(const json_t *c, struct vec_tally *t)
{
	struct mls_group_context context = {.suite = MLS_SUITE,
					    .group_id = vec_get(c, "group_id"),
					    .epoch = vec_uint(c, "epoch"),
					    .tree_hash = vec_get(c, "tree_hash"),
					    .confirmed = vec_get(c, "confirmed_transcript_hash")};
	struct protection with = {.membership = vec_get(c, "membership_key"),
				  .pub = vec_get(c, "signature_pub")};
	struct mls_out bytes = {0};

	mls_group_context_write(&bytes, &context);
	with.context = mls_out_view(&bytes);
	if (with.context.n && with.membership.n == MLS_HASH) {
		protect(c, "proposal", &with, MLS_CONTENT_PROPOSAL, t);
		protect(c, "commit", &with, MLS_CONTENT_COMMIT, t);
	} else {
		vec_fail(t, "no keys");
	}
	mls_out_free(&bytes);
	for (size_t i = 0; i < 3; i++)
		vec_leave_out(t, "%s: PrivateMessage is not part of DAVE",
			      (const char *const[]){"proposal_priv", "commit_priv",
						    "application_priv"}[i]);
}
