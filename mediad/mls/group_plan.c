/* The proposals of one commit together: which combinations are valid, and their effect on the tree
 * (RFC 9420 sections 12.2, 12.3). */
#include <errno.h>
#include <stdlib.h>

#include "mediad/mls/group_internal.h"

enum { CHANGES_FIRST = 8 };

int group_plan_put(struct group_plan *plan, const struct mls_proposal *p, uint32_t sender,
		   bool owned)
{
	if (plan->n == MLS_PROPOSALS_MAX)
		return EOVERFLOW;
	if (plan->n == plan->cap) {
		unsigned cap = plan->cap ? 2 * plan->cap : CHANGES_FIRST;
		struct group_change *more = realloc(plan->changes, cap * sizeof *more);

		if (!more)
			return ENOMEM;
		plan->changes = more;
		plan->cap = cap;
	}
	plan->changes[plan->n++] =
		(struct group_change){.proposal = *p, .owned = owned, .sender = sender};
	return 0;
}

void group_plan_free(struct group_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->changes[i].owned)
			mls_proposal_free(&plan->changes[i].proposal);
	free(plan->changes);
	plan->changes = NULL;
	plan->n = plan->cap = 0;
}

/* ---- the list ---- */

/* The leaf that a change removes or replaces. */
static bool find_touched_leaf(const struct group_change *c, uint32_t *leaf)
{
	if (c->proposal.type == MLS_PROPOSAL_UPDATE)
		*leaf = c->sender;
	else if (c->proposal.type == MLS_PROPOSAL_REMOVE)
		*leaf = c->proposal.removed;
	else
		return false;
	return true;
}

int group_plan_check(const struct group_plan *plan, const struct mls_group *g, uint32_t committer)
{
	bool touched[MLS_LEAVES_MAX] = {false}, extensions = false;

	for (unsigned i = 0; i < plan->n; i++) {
		const struct group_change *c = &plan->changes[i];
		uint32_t leaf;

		if (find_touched_leaf(c, &leaf)) {
			if (leaf == committer || !mls_tree_leaf(g->tree, leaf) || touched[leaf])
				return EBADMSG;
			touched[leaf] = true;
		} else if (c->proposal.type == MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS) {
			if (extensions)
				return EBADMSG;
			extensions = true;
		}
	}
	return 0;
}

bool group_plan_needs_path(const struct group_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->changes[i].proposal.type != MLS_PROPOSAL_ADD)
			return true;
	return plan->n == 0;
}

bool group_plan_removes(const struct group_plan *plan, uint32_t leaf)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->changes[i].proposal.type == MLS_PROPOSAL_REMOVE &&
		    plan->changes[i].proposal.removed == leaf)
			return true;
	return false;
}

/* ---- applying ---- */

static int apply_change(struct group_plan *plan, const struct group_change *c, struct mls_tree *t)
{
	const struct mls_proposal *p = &c->proposal;

	switch (p->type) {
	case MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS:
		plan->extensions = p->extensions;
		return 0;
	case MLS_PROPOSAL_UPDATE:
		return mls_tree_update(t, c->sender, p->leaf);
	case MLS_PROPOSAL_REMOVE:
		return mls_tree_remove(t, p->removed);
	case MLS_PROPOSAL_ADD:
		return mls_tree_add(t, p->key_package->leaf, &plan->added[plan->n_added++]);
	case MLS_PROPOSAL_PSK:
	case MLS_PROPOSAL_REINIT:
	case MLS_PROPOSAL_EXTERNAL_INIT:
		break;
	}
	return ENOTSUP;
}

int group_plan_apply(struct group_plan *plan, const struct mls_group *g, struct mls_tree *t)
{
	static const enum mls_proposal_type order[] = {MLS_PROPOSAL_GROUP_CONTEXT_EXTENSIONS,
						       MLS_PROPOSAL_UPDATE, MLS_PROPOSAL_REMOVE,
						       MLS_PROPOSAL_ADD};
	int err = 0;

	plan->extensions = g->context.extensions;
	plan->n_added = 0;
	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (unsigned i = 0; !err && i < plan->n; i++)
			if (plan->changes[i].proposal.type == order[k])
				err = apply_change(plan, &plan->changes[i], t);
	if (!err)
		err = mls_tree_unique_keys(t);
	return err ? err : group_supported(t, plan->extensions);
}
