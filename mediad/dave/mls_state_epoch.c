#include "mediad/dave/mls_state_internal.h"

#include <errno.h>
#include <stdlib.h>

bool dave_leaf_user(const struct mls_leaf *l, uint64_t *user)
{
	struct rd r = rd_of(l->identity.p, l->identity.n);

	if (l->credential_type != MLS_CREDENTIAL_BASIC || l->identity.n != DAVE_USER_BYTES)
		return false;
	*user = rd_be(&r, DAVE_USER_BYTES);
	return true;
}

static int compare_users(const void *a, const void *b)
{
	const struct dave_member *x = a, *y = b;

	return (x->user > y->user) - (x->user < y->user);
}

/* Reads the members, sorted by user id; member[] has room for them, and their keys point into the
 * tree. */
static int read_roster(const struct mls_tree *t, struct dave_member *member, uint32_t *n)
{
	uint32_t leaves = mls_tree_leaves(t), found = 0;

	for (uint32_t i = 0; i < leaves; i++) {
		const struct mls_leaf *l = mls_tree_leaf(t, i);

		if (!l)
			continue;
		if (!dave_leaf_user(l, &member[found].user))
			return EBADMSG;
		member[found++].signature_key = l->signature_key;
	}
	qsort(member, found, sizeof *member, compare_users);
	for (uint32_t i = 1; i < found; i++)
		if (member[i].user == member[i - 1].user)
			return EBADMSG;
	*n = found;
	return 0;
}

int dave_check_roster(const struct mls_tree *t)
{
	struct dave_member *member = calloc(mls_tree_members(t) + 1, sizeof *member);
	uint32_t n;
	int err = member ? read_roster(t, member, &n) : ENOMEM;

	free(member);
	return err;
}

static int export_secret(const struct mls_group *g, struct dave_member *m)
{
	uint8_t user[DAVE_USER_BYTES];

	/* The user id is little-endian here and nowhere else. */
	for (unsigned i = 0; i < DAVE_USER_BYTES; i++)
		user[i] = (uint8_t)(m->user >> 8 * i);
	return mls_group_export(g, m->base, DAVE_SECRET, "Discord Secure Frames v0",
				mls_slice(user, sizeof user));
}

/* Copies the members and, after them in one block, their keys. */
static int read_members(struct dave_epoch *e, const struct mls_tree *t)
{
	uint32_t most = mls_tree_members(t) + 1;
	size_t bytes = 0, keys_at = most * sizeof *e->member;
	uint8_t *keys;
	int err;

	for (uint32_t i = 0; i < mls_tree_leaves(t); i++)
		bytes += mls_tree_leaf(t, i) ? mls_tree_leaf(t, i)->signature_key.n : 0;
	e->member = calloc(1, keys_at + bytes);
	if (!e->member)
		return ENOMEM;
	err = read_roster(t, e->member, &e->n);
	if (err)
		return err;
	keys = (uint8_t *)e->member + keys_at;
	for (uint32_t i = 0; i < e->n; i++) {
		struct slice *key = &e->member[i].signature_key;

		if (key->n)
			memcpy(keys, key->p, key->n);
		key->p = keys;
		keys += key->n;
	}
	return 0;
}

int dave_epoch_alloc(struct dave_epoch **out, const struct mls_group *g)
{
	struct dave_epoch *e = calloc(1, sizeof *e);
	int err;

	if (!e)
		return ENOMEM;
	e->number = mls_group_epoch(g);
	memcpy(e->authenticator, mls_group_secrets(g)->authenticator, sizeof e->authenticator);
	err = read_members(e, mls_group_tree(g));
	for (uint32_t i = 0; !err && i < e->n; i++)
		err = export_secret(g, &e->member[i]);
	if (err) {
		dave_epoch_free(e);
		return err;
	}
	*out = e;
	return 0;
}
