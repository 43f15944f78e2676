/* Processes the commit of another member (RFC 9420 section 12.4.2). */
#include <errno.h>

#include "mediad/mls/group_internal.h"

/* A parsed commit. */
struct taking {
	const struct mls_group *g;
	struct mls_public message;
	struct group_plan plan;
	bool has_path;
	struct mls_path path;
};

static void taking_free(struct taking *t)
{
	group_plan_free(&t->plan);
	if (t->has_path)
		mls_path_free(&t->path);
}

/* ---- reading ---- */

static int take_known(struct taking *t, struct slice ref)
{
	const struct remembered *known = group_recall(t->g, ref);

	/* A duplicate reference touches the same leaf, key or extensions twice, which the plan
	 * refuses. */
	return known ? group_plan_put(&t->plan, &known->proposal, known->message.sender_index,
				      false)
		     : ENOENT;
}

/* An Update by value would be the committer's own, which the plan refuses; a committer updates its
 * leaf by the path. */
static int take_value(struct taking *t, struct mls_proposal *p)
{
	uint32_t sender = t->message.sender_index;
	int err = group_check_proposal(t->g, p, MLS_SENDER_MEMBER, sender);

	if (!err)
		err = group_plan_put(&t->plan, p, sender, true);
	if (err)
		mls_proposal_free(p);
	return err;
}

static int take_list(struct taking *t, struct rd *list)
{
	int err = 0;

	while (!err && rd_left(list)) {
		struct mls_proposal_or_ref p;

		err = mls_proposal_or_ref_read(&p, list);
		if (!err)
			err = p.by_ref ? take_known(t, p.ref) : take_value(t, &p.value);
	}
	return err;
}

/* mls_public_read has parsed the body already, so its form and end are valid. */
static int take_body(struct taking *t)
{
	struct rd r = rd_of(t->message.body.p, t->message.body.n), list = mls_rd_sub(&r);
	int err = take_list(t, &list);

	if (!err && mls_rd_optional(&r)) {
		err = mls_path_read(&t->path, &r);
		t->has_path = err == 0;
	}
	if (!err && !t->has_path && group_plan_needs_path(&t->plan))
		err = EBADMSG;
	return err ? err : group_plan_check(&t->plan, t->g, t->message.sender_index);
}

/* ---- the next state ---- */

static int take_path(struct mls_group *next, const struct taking *t,
		     uint8_t commit_secret[MLS_HASH])
{
	uint32_t sender = t->message.sender_index;
	struct slice group_id = t->g->context.group_id;
	int err;

	err = mls_leaf_validate(t->path.leaf, group_id, sender);
	if (!err)
		err = mls_path_merge(next->tree, sender, &t->path);
	if (!err)
		err = mls_tree_unique_keys(next->tree);
	if (!err)
		err = group_supported(next->tree, t->plan.extensions);
	if (err)
		return err;
	err = group_provisional(next, t->g, t->plan.extensions);
	if (err)
		return err;
	return mls_path_open(&next->keys, next->tree, sender, &t->path,
			     mls_out_view(&next->context_bytes),
			     (struct mls_leaf_set){t->plan.added, t->plan.n_added}, commit_secret);
}

static int enter_next_epoch(struct mls_group *next, struct taking *t)
{
	uint8_t commit_secret[MLS_HASH] = {0}, tag[MLS_HASH];
	struct slice told = t->message.confirmation_tag;
	int err;

	err = group_plan_apply(&t->plan, t->g, next->tree);
	if (!err && t->has_path)
		err = take_path(next, t, commit_secret);
	else if (!err)
		err = group_provisional(next, t->g, t->plan.extensions);
	if (!err)
		err = group_enter(next, t->g, commit_secret, mls_transcript_input(&t->message),
				  tag);
	if (!err && (told.n != MLS_HASH || !mls_same(told.p, tag, MLS_HASH)))
		err = EACCES;
	mls_wipe(commit_secret, sizeof commit_secret);
	return err;
}

static int read_commit(struct taking *t, struct slice message)
{
	struct rd r = rd_of(message.p, message.n);
	int err = mls_public_read(&t->message, &r);

	if (!err && (rd_left(&r) || t->message.type != MLS_CONTENT_COMMIT))
		err = EBADMSG;
	if (!err)
		err = group_authenticate(t->g, &t->message);
	if (!err && t->message.sender_index == t->g->keys.leaf)
		err = EINVAL;
	return err ? err : take_body(t);
}

int mls_group_process(struct mls_group **out, const struct mls_group *g, struct slice message,
		      bool *removed)
{
	struct taking t = {.g = g};
	struct mls_group *next = NULL;
	int err;

	*removed = false;
	err = read_commit(&t, message);
	if (err)
		goto out;
	if (group_plan_removes(&t.plan, g->keys.leaf)) {
		*removed = true;
		err = ENOENT;
		goto out;
	}
	err = group_successor(&next, g);
	if (!err)
		err = enter_next_epoch(next, &t);
	if (err)
		goto out;
	*out = next;
	next = NULL;
out:
	mls_group_free(next);
	taking_free(&t);
	return err;
}
