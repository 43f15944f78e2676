/* Proposals: who may send them, the checks of a single one, and the list of remembered ones. */
#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/group_internal.h"

/* Limit of required capabilities of one kind; more would only make checking them costly. */
enum { REQUIRED_MAX = 64, PROPOSALS_FIRST = 8 };

/* ---- capabilities ---- */

enum kind { EXTENSION, PROPOSAL, CREDENTIAL };

/* Capabilities of every client are not listed (section 7.2): extension types 1 to 5, proposal types
 * 1 to 7. */
static bool has_capability(const struct mls_leaf *l, enum kind kind, uint16_t type)
{
	switch (kind) {
	case EXTENSION:
		return (type >= 1 && type <= 5) || mls_u16_listed(l->extension_types, type);
	case PROPOSAL:
		return (type >= 1 && type <= 7) || mls_u16_listed(l->proposal_types, type);
	case CREDENTIAL:
		break;
	}
	return mls_u16_listed(l->credential_types, type);
}

static int all_capable(const struct mls_tree *t, enum kind kind, uint16_t type)
{
	for (uint32_t i = 0; i < mls_tree_leaves(t); i++) {
		const struct mls_leaf *l = mls_tree_leaf(t, i);

		if (l && !has_capability(l, kind, type))
			return EBADMSG;
	}
	return 0;
}

/* The data of a required_capabilities extension (section 11.1): three lists. */
static int check_required(const struct mls_tree *t, struct slice data)
{
	struct rd r = rd_of(data.p, data.n);
	int err = 0;

	for (enum kind kind = EXTENSION; !err && kind <= CREDENTIAL; kind++) {
		struct rd list = mls_rd_sub(&r);

		if (list.n % 2)
			return EBADMSG;
		if (list.n / 2 > REQUIRED_MAX)
			return EOVERFLOW;
		while (!err && rd_left(&list))
			err = all_capable(t, kind, (uint16_t)rd_be(&list, 2));
	}
	if (!err && (!r.ok || rd_left(&r)))
		err = EBADMSG;
	return err;
}

int group_supported(const struct mls_tree *t, struct slice extensions)
{
	struct rd r = rd_of(extensions.p, extensions.n);
	int err = 0;

	while (!err && rd_left(&r)) {
		uint16_t type = (uint16_t)rd_be(&r, 2);
		struct slice data = mls_rd_vec(&r);

		err = all_capable(t, EXTENSION, type);
		if (!err && type == MLS_EXT_REQUIRED_CAPABILITIES)
			err = check_required(t, data);
	}
	return !err && !r.ok ? EBADMSG : err;
}

/* ---- sender ---- */

/* Entry `index` of the external_senders extension (section 12.1.8.1). */
static int external_key(const struct mls_group *g, uint32_t index, struct slice *key)
{
	struct slice data;
	struct rd r, list;

	if (!mls_extension_find(g->context.extensions, MLS_EXT_EXTERNAL_SENDERS, &data))
		return EBADMSG;
	r = rd_of(data.p, data.n);
	list = mls_rd_sub(&r);
	for (uint32_t i = 0; rd_left(&list); i++) {
		struct slice signature_key = mls_rd_vec(&list);

		rd_be(&list, 2); /* credential: type and body */
		mls_rd_vec(&list);
		if (list.ok && i == index) {
			*key = signature_key;
			return 0;
		}
	}
	return EBADMSG;
}

static int sender_key(const struct mls_group *g, const struct mls_public *m, struct slice *key)
{
	const struct mls_leaf *l;

	switch (m->sender) {
	case MLS_SENDER_MEMBER:
		l = mls_tree_leaf(g->tree, m->sender_index);
		if (!l)
			return EBADMSG;
		*key = l->signature_key;
		return 0;
	case MLS_SENDER_EXTERNAL:
		return m->type == MLS_CONTENT_PROPOSAL ? external_key(g, m->sender_index, key)
						       : EBADMSG;
	case MLS_SENDER_NEW_PROPOSAL:
	case MLS_SENDER_NEW_COMMIT:
		break;
	}
	return ENOTSUP;
}

static int check_membership(const struct mls_group *g, const struct mls_public *m, struct slice tbs)
{
	uint8_t tag[MLS_HASH];
	int err;

	if (m->sender != MLS_SENDER_MEMBER)
		return 0;
	err = mls_membership_tag(tag, g->secrets.membership, tbs, m->signature,
				 m->confirmation_tag);
	if (!err &&
	    (m->membership_tag.n != MLS_HASH || !mls_same(tag, m->membership_tag.p, MLS_HASH)))
		err = EACCES;
	return err;
}

int group_authenticate(const struct mls_group *g, const struct mls_public *m)
{
	struct mls_out tbs = {0};
	struct slice key, context = {0};
	int err;

	if (!mls_equal(m->group_id, g->context.group_id) || m->epoch != g->context.epoch)
		return ESTALE;
	err = sender_key(g, m, &key);
	if (err)
		return err;
	if (m->sender == MLS_SENDER_MEMBER)
		context = mls_out_view(&g->context_bytes);
	err = mls_content_tbs(&tbs, m->content, context);
	if (!err)
		err = check_membership(g, m, mls_out_view(&tbs));
	if (!err)
		err = mls_verify(key, "FramedContentTBS", mls_out_view(&tbs), m->signature);
	mls_out_free(&tbs);
	return err;
}

/* ---- content ---- */

static int check_add(const struct mls_group *g, struct mls_key_package *k)
{
	struct mls_tree *alone;
	uint32_t at;
	int err = mls_key_package_validate(k);

	if (!err)
		err = mls_tree_alloc(&alone);
	if (err)
		return err;
	err = mls_tree_add(alone, k->leaf, &at);
	if (!err)
		err = group_supported(alone, g->context.extensions);
	mls_tree_free(alone);
	return err;
}

static int check_update(const struct mls_group *g, struct mls_leaf *l, enum mls_sender_type sender,
			uint32_t index)
{
	const struct mls_leaf *old = mls_tree_leaf(g->tree, index);

	if (sender != MLS_SENDER_MEMBER || !old || l->source != MLS_LEAF_UPDATE ||
	    mls_equal(l->encryption_key, old->encryption_key))
		return EBADMSG;
	/* We never make an Update, so we would lack its private key. */
	if (index == g->keys.leaf)
		return ENOTSUP;
	return mls_leaf_validate(l, g->context.group_id, index);
}

int group_check_proposal(const struct mls_group *g, const struct mls_proposal *p,
			 enum mls_sender_type sender, uint32_t sender_index)
{
	int err;

	switch (p->type) {
	case MLS_PROPOSAL_ADD:
		return check_add(g, p->key_package);
	case MLS_PROPOSAL_UPDATE:
		return check_update(g, p->leaf, sender, sender_index);
	case MLS_PROPOSAL_REMOVE:
		return mls_tree_leaf(g->tree, p->removed) ? 0 : EBADMSG;
	case MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS:
		err = mls_extensions_check(p->extensions);
		return err ? err : group_supported(g->tree, p->extensions);
	case MLS_PROPOSAL_PSK:
	case MLS_PROPOSAL_REINIT:
	case MLS_PROPOSAL_EXTERNAL_INIT:
		break;
	}
	return ENOTSUP;
}

/* ---- remembered proposals ---- */

static struct remembered *find_remembered(const struct mls_group *g, struct slice ref)
{
	for (unsigned i = 0; i < g->n_proposals; i++)
		if (mls_equal(mls_slice(g->proposals[i].ref, MLS_HASH), ref))
			return &g->proposals[i];
	return NULL;
}

const struct remembered *group_recall(const struct mls_group *g, struct slice ref)
{
	return find_remembered(g, ref);
}

static void free_remembered(struct remembered *p)
{
	mls_proposal_free(&p->proposal);
	free(p->bytes);
	*p = (struct remembered){0};
}

/* Takes over p on success. */
static int remember_proposal(struct mls_group *g, const struct remembered *p)
{
	if (g->n_proposals == MLS_PROPOSALS_MAX || p->n > MLS_BYTES_MAX - g->proposal_bytes)
		return EOVERFLOW;
	if (g->n_proposals == g->cap_proposals) {
		unsigned cap = g->cap_proposals ? 2 * g->cap_proposals : PROPOSALS_FIRST;
		struct remembered *more = realloc(g->proposals, cap * sizeof *more);

		if (!more)
			return ENOMEM;
		g->proposals = more;
		g->cap_proposals = cap;
	}
	g->proposals[g->n_proposals++] = *p;
	g->proposal_bytes += p->n;
	return 0;
}

static int keep_bytes(struct remembered *p, struct slice message)
{
	struct rd r;
	int err;

	if (message.n > MLS_BYTES_MAX)
		return EOVERFLOW;
	p->bytes = malloc(message.n ? message.n : 1);
	if (!p->bytes)
		return ENOMEM;
	p->n = message.n;
	if (message.n)
		memcpy(p->bytes, message.p, message.n);
	r = rd_of(p->bytes, p->n);
	err = mls_public_read(&p->message, &r);
	if (!err && (rd_left(&r) || p->message.type != MLS_CONTENT_PROPOSAL))
		err = EBADMSG;
	return err;
}

static int check_remembered(const struct mls_group *g, struct remembered *p)
{
	const struct mls_public *m = &p->message;
	struct rd r = rd_of(m->body.p, m->body.n);
	int err = mls_proposal_read(&p->proposal, &r);

	return err ? err : group_check_proposal(g, &p->proposal, m->sender, m->sender_index);
}

int mls_group_propose(struct mls_group *g, struct slice message, uint8_t ref[MLS_HASH])
{
	struct remembered p = {0};
	int err;

	err = keep_bytes(&p, message);
	if (!err)
		err = group_authenticate(g, &p.message);
	if (!err)
		err = mls_proposal_ref(p.ref, &p.message);
	if (err)
		goto out;
	if (!find_remembered(g, mls_slice(p.ref, MLS_HASH))) {
		err = check_remembered(g, &p);
		if (!err)
			err = remember_proposal(g, &p);
		if (err)
			goto out;
		p.bytes = NULL;
		p.proposal = (struct mls_proposal){0};
	}
	if (ref)
		memcpy(ref, p.ref, MLS_HASH);
out:
	free_remembered(&p);
	return err;
}

int mls_group_revoke(struct mls_group *g, struct slice ref)
{
	struct remembered *p = find_remembered(g, ref), *last;

	if (!p)
		return ENOENT;
	last = &g->proposals[--g->n_proposals];
	g->proposal_bytes -= p->n;
	free_remembered(p);
	memmove(p, p + 1, (size_t)(last - p) * sizeof *p);
	return 0;
}

unsigned mls_group_proposals(const struct mls_group *g)
{
	return g->n_proposals;
}

bool mls_group_removes(const struct mls_group *g, uint32_t leaf)
{
	for (unsigned i = 0; i < g->n_proposals; i++) {
		const struct mls_proposal *p = &g->proposals[i].proposal;

		if (p->type == MLS_PROPOSAL_REMOVE && p->removed == leaf)
			return true;
	}
	return false;
}
