/* Joining by a Welcome: as it comes, and with good seals around any secrets, group info or tree, so that what happens after
 * authentication is reached too.
 *
 * Input: one byte of choices, then bytes. 0: the Welcome; 1: GroupSecrets; 2: GroupInfo; 3: the ratchet tree, in a group
 * info that is right for it; 4: group context extensions, the same. The group is always the same one. */
#include <stdlib.h>

#include "mediad/mls/hpke.h"
#include "tests/unit/mediad/mls/party.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct party party;
static const uint8_t joiner[MLS_HASH] = "secret of all who come together";

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* Guests 0 to 2 are inside, guest 3 is the newcomer, whose leaf the tree has already: `state` is guest 0's. */
static const struct mls_group *begin(void)
{
	static struct mls_commit c;

	must(!party_begin(&party, "welcome") && !party_found(&party, 0));
	for (unsigned i = 1; i < 4; i++) {
		must(!party_arrive(&party, i) && !party_tell_add(&party, 0, i));
		if (i < 3)
			must(!party_commit(&party, i - 1));
	}
	must(!mls_group_commit(&c, party.guests[0].group, &party.rng));
	return c.next;
}

/* The welcome that gives guest 3 these secrets and this group info. */
static void wrap(struct mls_out *out, struct slice secrets, struct slice info)
{
	const struct guest *g = &party.guests[3];
	uint8_t welcome[MLS_HASH], key[MLS_KEY], nonce[MLS_NONCE], ref[MLS_HASH], enc[MLS_POINT];
	uint8_t *sealed = malloc(info.n + MLS_TAG), *text = malloc(secrets.n + MLS_TAG);
	struct slice group_info = mls_slice(sealed, info.n + MLS_TAG);
	size_t at;

	must(sealed && text && !mls_welcome_secret(welcome, joiner, NULL) && !mls_welcome_key(key, nonce, welcome));
	must(!mls_seal(sealed, key, nonce, (struct slice){0}, info) && !mls_key_package_ref_hash(ref, g->package));
	must(!mls_encrypt_label(enc, text, g->package->init_key, "Welcome", group_info, secrets, &party.rng));
	mls_out_be(out, MLS_SUITE, 2);
	at = mls_out_open(out);
	mls_out_vec(out, mls_slice(ref, sizeof ref));
	mls_out_vec(out, mls_slice(enc, sizeof enc));
	mls_out_vec(out, mls_slice(text, secrets.n + MLS_TAG));
	mls_out_close(out, at);
	mls_out_vec(out, group_info);
	free(sealed);
	free(text);
}

/* Signed by guest 0, tagged by the joiner secret, with the hash of the tree as far as it is one. */
static void write_info(struct mls_out *o, const struct mls_group *state, struct slice tree, struct slice extensions)
{
	uint8_t hash[MLS_HASH] = {0}, tag[MLS_HASH], sig[MLS_SIG_MAX];
	struct mls_group_context c = {.suite = MLS_SUITE,
				      .group_id = mls_group_id(state),
				      .epoch = mls_group_epoch(state),
				      .tree_hash = mls_slice(hash, sizeof hash),
				      .confirmed = mls_group_confirmed(state),
				      .extensions = extensions};
	struct mls_tree *read;
	struct mls_epoch epoch;
	size_t n, list, data;

	if (mls_tree_read(&read, tree) == 0) {
		(void)mls_tree_root_hash(read, hash);
		mls_tree_free(read);
	}
	mls_group_context_write(o, &c);
	if (o->err)
		return;
	must(!mls_schedule_join(&epoch, joiner, NULL, mls_out_view(o)) && !mls_confirmation_tag(tag, &epoch, c.confirmed));
	list = mls_out_open(o);
	mls_out_be(o, MLS_EXT_RATCHET_TREE, 2);
	data = mls_out_open(o);
	mls_out_slice(o, tree);
	mls_out_close(o, data);
	mls_out_close(o, list);
	mls_out_vec(o, mls_slice(tag, sizeof tag));
	mls_out_be(o, 0, 4);
	if (o->err)
		return;
	must(!mls_sign(sig, &n, party.guests[0].me.signature.priv, "GroupInfoTBS", mls_out_view(o), &party.rng));
	mls_out_vec(o, mls_slice(sig, n));
}

static void join(const struct mls_group *state, uint8_t how, struct slice in)
{
	const struct guest *g = &party.guests[3];
	struct mls_out welcome = {0}, secrets = {0}, tree = {0}, info = {0};
	struct mls_group *joined;

	mls_out_vec(&secrets, mls_slice(joiner, sizeof joiner));
	mls_out_be(&secrets, 0, 2); /* no path secret, no pre-shared keys */
	mls_tree_write(mls_group_tree(state), &tree);
	write_info(&info, state, how == 3 ? in : mls_out_view(&tree), how == 4 ? in : mls_group_extensions(state));
	if (how == 0)
		mls_out_slice(&welcome, in);
	else
		wrap(&welcome, how == 1 ? in : mls_out_view(&secrets), how == 2 ? in : mls_out_view(&info));
	if (!welcome.err &&
	    mls_group_join(&joined, mls_out_view(&welcome), (struct slice){0}, g->package, &g->init, &g->me) == 0) {
		must(mls_tree_leaf(mls_group_tree(joined), mls_group_leaf(joined)) != NULL);
		must(mls_equal(mls_tree_key(mls_group_tree(joined), 2 * mls_group_leaf(joined)),
			       mls_slice(g->me.encryption.pub, MLS_POINT)));
		mls_group_free(joined);
	}
	mls_out_free(&welcome);
	mls_out_free(&secrets);
	mls_out_free(&tree);
	mls_out_free(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mls_group *state;

	if (!state)
		state = begin();
	if (size)
		join(state, data[0] % 5, mls_slice(data + 1, size - 1));
	return 0;
}
