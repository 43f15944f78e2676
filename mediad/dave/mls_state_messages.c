#include "mediad/dave/mls_state_internal.h"

#include <errno.h>
#include <stdlib.h>

static void set_verdict(struct dave_job *j, enum dave_verdict verdict, int err)
{
	j->verdict = verdict;
	j->err = err;
}

/* True if the only external sender in the group's context is the one of op 25. */
static bool has_our_external_sender(const struct dave_mls_state *k, const struct mls_group *g)
{
	struct slice data;
	struct rd r;

	if (!mls_extension_find(mls_group_extensions(g), MLS_EXT_EXTERNAL_SENDERS, &data))
		return false;
	r = rd_of(data.p, data.n);
	data = mls_rd_vec(&r);
	return r.ok && rd_left(&r) == 0 && mls_equal(data, mls_slice(k->sender.p, k->sender.n));
}

/* Compares the message's group and epoch with ours. Only a member can be behind a message. */
static enum dave_verdict compare_epoch(const struct dave_mls_state *k, const struct mls_public *m,
				       int *err)
{
	uint64_t epoch = mls_group_epoch(k->group);

	if (!mls_equal(m->group_id, mls_group_id(k->group)) || m->epoch < epoch ||
	    (m->epoch > epoch && !k->established)) {
		*err = ESTALE;
		return DAVE_IGNORED;
	}
	if (m->epoch > epoch) {
		*err = ESTALE;
		return DAVE_INVALID;
	}
	return DAVE_DONE;
}

/* ---- op 27 ---- */

static bool is_recognized(const struct dave_job *j, uint64_t user)
{
	size_t lo = 0, hi = j->n_recognized;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->recognized[mid] == user)
			return true;
		if (j->recognized[mid] < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* Checks the rules of DAVE: the gateway adds users that it announced, and removes; RFC 9420 judges
 * the rest. Returns EALREADY when the proposal adds us, so that it is for a group we are to join
 * and not for our local one. */
static int check_proposal(const struct dave_mls_state *k, const struct dave_job *j,
			  const struct mls_public *m)
{
	struct rd r = rd_of(m->body.p, m->body.n);
	struct mls_proposal p;
	uint64_t user;
	int err;

	if (m->type != MLS_CONTENT_PROPOSAL || m->sender != MLS_SENDER_EXTERNAL ||
	    m->sender_index != 0)
		return EBADMSG;
	err = mls_proposal_read(&p, &r);
	if (err)
		return err;
	if (p.type == MLS_PROPOSAL_ADD) {
		if (!dave_leaf_user(p.key_package->leaf, &user) || !is_recognized(j, user))
			err = EBADMSG;
		else if (user == k->user && !k->established)
			err = EALREADY;
	} else if (p.type != MLS_PROPOSAL_REMOVE) {
		err = ENOTSUP;
	}
	mls_proposal_free(&p);
	return err;
}

/* Adds one proposal message. added: collects the references of new ones. */
static int add_proposal(struct dave_mls_state *k, const struct dave_job *j,
			const struct mls_public *m, struct mls_out *added)
{
	unsigned before = mls_group_proposals(k->group);
	uint8_t ref[MLS_HASH];
	int err = check_proposal(k, j, m);

	if (!err)
		err = mls_group_propose(k->group, m->raw, ref);
	if (err)
		return err;
	if (mls_group_proposals(k->group) == before)
		return 0;
	k->proposals_changed = true;
	mls_out_bytes(added, ref, sizeof ref);
	if (added->err)
		(void)mls_group_revoke(k->group, mls_slice(ref, sizeof ref));
	return added->err;
}

/* Adds all proposals or, after the first refused one, none. */
static void add_proposals(struct dave_mls_state *k, struct dave_job *j, struct rd *r)
{
	struct mls_out added = {0};
	int err = 0;

	while (!err && rd_left(r)) {
		struct mls_public m;

		err = mls_public_read(&m, r);
		if (err)
			break;
		j->verdict = compare_epoch(k, &m, &err);
		if (j->verdict == DAVE_DONE)
			err = add_proposal(k, j, &m, &added);
	}
	if (err) {
		struct slice refs = mls_out_view(&added);

		for (size_t i = 0; i < refs.n; i += MLS_HASH)
			(void)mls_group_revoke(k->group, mls_slice(refs.p + i, MLS_HASH));
		/* Under a new external sender this group has no future. */
		if (j->verdict == DAVE_DONE && err == EALREADY)
			j->verdict = DAVE_IGNORED;
		else if (j->verdict == DAVE_DONE)
			j->verdict = k->established && !has_our_external_sender(k, k->group)
					     ? DAVE_INVALID
					     : DAVE_REFUSED;
		j->err = err;
	}
	mls_out_free(&added);
}

static void revoke_proposals(struct dave_mls_state *k, struct dave_job *j, struct rd *r)
{
	while (rd_left(r)) {
		struct slice ref = mls_rd_vec(r);

		if (r->ok && !mls_group_revoke(k->group, ref))
			k->proposals_changed = true;
	}
	if (!r->ok)
		set_verdict(j, DAVE_REFUSED, EBADMSG);
}

/* Builds op 28: the commit, followed by the welcome. */
static int build_op28(struct dave_bytes *out, const struct mls_commit *c)
{
	struct slice commit_proposals = mls_out_view(&c->message),
		     welcome = mls_out_view(&c->welcome);

	out->p = malloc(commit_proposals.n + welcome.n);
	if (!out->p)
		return ENOMEM;
	memcpy(out->p, commit_proposals.p, commit_proposals.n);
	if (welcome.n)
		memcpy(out->p + commit_proposals.n, welcome.p, welcome.n);
	out->n = commit_proposals.n + welcome.n;
	return 0;
}

/* Keeps our own commit, in case it is the one announced. */
static int keep_own_commit(struct dave_mls_state *k, struct mls_commit *c)
{
	struct slice commit_proposals = mls_out_view(&c->message);
	struct dave_own_commit own = {.message = {malloc(commit_proposals.n), commit_proposals.n},
				      .next = c->next};

	if (!own.message.p)
		return ENOMEM;
	memcpy(own.message.p, commit_proposals.p, commit_proposals.n);
	if (k->n_own_commits == DAVE_COMMITS_MAX) {
		free(k->own_commits[0].message.p);
		mls_group_free(k->own_commits[0].next);
		memmove(k->own_commits, k->own_commits + 1, --k->n_own_commits * sizeof own);
	}
	k->own_commits[k->n_own_commits++] = own;
	c->next = NULL;
	return 0;
}

static int copy_bytes(struct dave_bytes *out, const struct dave_bytes *in)
{
	out->p = malloc(in->n);
	if (!out->p)
		return ENOMEM;
	memcpy(out->p, in->p, in->n);
	out->n = in->n;
	return 0;
}

/* Without memory for it the commit is made again the next time. */
static void keep_op28(struct dave_mls_state *k, const struct dave_job *j)
{
	free(k->last_op28.p);
	k->last_op28 = (struct dave_bytes){0};
	k->proposals_changed = copy_bytes(&k->last_op28, &j->out) != 0;
}

/* Commits the proposals, or repeats the commit made before. Does not commit a duplicate member or
 * our own removal; another member may, or we may later. */
static void commit_proposals(struct dave_mls_state *k, struct dave_job *j)
{
	struct mls_commit c = {0};
	struct mls_rng rng;
	int err;

	if (!mls_group_proposals(k->group) || mls_group_removes(k->group, mls_group_leaf(k->group)))
		return;
	if (k->last_op28.n && !k->proposals_changed) {
		err = copy_bytes(&j->out, &k->last_op28);
		if (err)
			set_verdict(j, DAVE_REFUSED, err);
		return;
	}
	mls_rng_seed(&rng, j->seed);
	err = mls_group_commit(&c, k->group, &rng);
	mls_rng_wipe(&rng);
	if (err) {
		set_verdict(j, DAVE_REFUSED, err);
		return;
	}
	err = dave_check_roster(mls_group_tree(c.next));
	if (!err)
		err = build_op28(&j->out, &c);
	if (!err)
		err = keep_own_commit(k, &c);
	if (err) {
		free(j->out.p);
		j->out = (struct dave_bytes){0};
		set_verdict(j, err == ENOMEM ? DAVE_REFUSED : DAVE_DONE, err);
	} else {
		keep_op28(k, j);
	}
	mls_commit_free(&c);
}

void dave_mls_state_handle_proposals(struct dave_mls_state *k, struct dave_job *j)
{
	struct rd r = rd_of(j->in.p, j->in.n), list;
	uint8_t kind = (uint8_t)rd_be(&r, 1);

	if (!k->group) {
		set_verdict(j, DAVE_IGNORED, ENOENT);
		return;
	}
	list = mls_rd_sub(&r);
	set_verdict(j, DAVE_DONE, 0);
	if (!r.ok || rd_left(&r) || kind > 1)
		set_verdict(j, DAVE_REFUSED, EBADMSG);
	else if (kind == 0)
		add_proposals(k, j, &list);
	else
		revoke_proposals(k, j, &list);
	if (j->verdict == DAVE_DONE)
		commit_proposals(k, j);
}

/* ---- op 29 ---- */

/* Checks the rules of DAVE: proposals by reference only. */
static int check_commit(const struct mls_public *m)
{
	struct rd r = rd_of(m->body.p, m->body.n), list;
	int err = 0;

	if (m->type != MLS_CONTENT_COMMIT || m->sender != MLS_SENDER_MEMBER)
		return EBADMSG;
	list = mls_rd_sub(&r);
	while (!err && rd_left(&list)) {
		struct mls_proposal_or_ref e;

		err = mls_proposal_or_ref_read(&e, &list);
		if (!err && !e.by_ref) {
			mls_proposal_free(&e.value);
			err = ENOTSUP;
		}
	}
	return err;
}

static bool committer_unchanged(const struct mls_group *before, const struct mls_group *after,
				uint32_t leaf)
{
	const struct mls_leaf *a = mls_tree_leaf(mls_group_tree(before), leaf);
	const struct mls_leaf *b = mls_tree_leaf(mls_group_tree(after), leaf);

	return a && b && mls_equal(a->credential, b->credential) &&
	       mls_equal(a->signature_key, b->signature_key);
}

/* Makes `next` the present group (taken over on success) and exports its epoch. */
static int adopt_group(struct dave_mls_state *k, struct dave_job *j, struct mls_group *next)
{
	int err = dave_epoch_alloc(&j->epoch, next);

	if (err)
		return err;
	j->epoch->serial = ++k->serial;
	dave_mls_state_set_group(k, next, true);
	return 0;
}

static struct dave_own_commit *find_own_commit(struct dave_mls_state *k, struct slice in)
{
	for (unsigned i = 0; i < k->n_own_commits; i++)
		if (mls_equal(in,
			      mls_slice(k->own_commits[i].message.p, k->own_commits[i].message.n)))
			return &k->own_commits[i];
	return NULL;
}

static int process_commit(struct dave_mls_state *k, struct dave_job *j, const struct mls_public *m,
			  struct slice in)
{
	struct mls_group *next = NULL;
	bool removed = false;
	int err = check_commit(m);

	if (!err)
		err = mls_group_process(&next, k->group, in, &removed);
	if (err && removed) {
		dave_mls_state_set_group(k, NULL, false);
		set_verdict(j, DAVE_IGNORED, err);
		return 0;
	}
	if (!err && !committer_unchanged(k->group, next, m->sender_index))
		err = EBADMSG;
	if (!err)
		err = adopt_group(k, j, next);
	if (err)
		mls_group_free(next);
	return err;
}

void dave_mls_state_handle_commit(struct dave_mls_state *k, struct dave_job *j)
{
	struct slice in = mls_slice(j->in.p, j->in.n);
	struct rd r = rd_of(j->in.p, j->in.n);
	struct dave_own_commit *own = find_own_commit(k, in);
	struct mls_public m;
	int err;

	set_verdict(j, DAVE_DONE, 0);
	if (own) {
		struct mls_group *next = own->next;

		own->next = NULL;
		err = adopt_group(k, j, next);
		if (err)
			own->next = next;
		else
			dave_mls_state_forget_packages(k); /* no welcome is for a member */
	} else if (!k->established) {
		/* We are not a member yet; a welcome will follow. */
		set_verdict(j, DAVE_IGNORED, ENOENT);
		return;
	} else {
		err = mls_public_read(&m, &r);
		if (!err && rd_left(&r))
			err = EBADMSG;
		if (!err)
			j->verdict = compare_epoch(k, &m, &err);
		if (!err)
			err = process_commit(k, j, &m, in);
	}
	if (err)
		set_verdict(j, j->verdict == DAVE_IGNORED ? DAVE_IGNORED : DAVE_INVALID, err);
}

/* ---- op 30 ---- */

static int join_group(struct dave_mls_state *k, struct dave_job *j, struct mls_group **out)
{
	int err = ENOENT;

	for (unsigned i = 0; i < DAVE_SENT_PACKAGES && err == ENOENT; i++)
		if (k->packages[i].package)
			err = mls_group_join(out, mls_slice(j->in.p, j->in.n), mls_slice(NULL, 0),
					     k->packages[i].package, &k->packages[i].init, &k->me);
	return err;
}

void dave_mls_state_handle_welcome(struct dave_mls_state *k, struct dave_job *j)
{
	uint8_t channel[DAVE_USER_BYTES];
	struct mls_group *g = NULL;
	int err;

	if (!k->sender.n) {
		set_verdict(j, DAVE_NO_SENDER, ENOENT);
		return;
	}
	err = join_group(k, j, &g);
	set_verdict(j, DAVE_DONE, 0);
	dave_write_be64(channel, k->channel);
	/* Unknown users in the roster are accepted, because the gateway may announce them later. */
	if (!err && (!mls_equal(mls_group_id(g), mls_slice(channel, sizeof channel)) ||
		     !has_our_external_sender(k, g)))
		err = EBADMSG;
	if (!err)
		err = adopt_group(k, j, g);
	if (!err) {
		dave_mls_state_forget_packages(k);
		return;
	}
	mls_group_free(g);
	/* It was repeated or is not for us; a working group is kept. */
	set_verdict(j, err == ENOENT && k->established ? DAVE_IGNORED : DAVE_INVALID, err);
}
